// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sqlite3.h>
#if defined(__APPLE__)
#include <sys/mount.h>
#else
#include <sys/vfs.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>

#include "ledger/store.h"
#include "tradeoff/ledger.h"

namespace tradeoff::detail::ledger {
namespace {

constexpr int patience_ms = 120'000;  // how long a spend waits for other writers; each needs one write to the disk

/// SQLite's locks are not reliable on these.
bool is_network_file_system(const std::string& directory) {
  struct statfs about = {};
  if (statfs(directory.c_str(), &about) != 0) return false;
#if defined(__APPLE__)
  return (about.f_flags & MNT_LOCAL) == 0;
#else
  for (const unsigned kind : {0x6969U, 0x517BU, 0xFF534D42U, 0xFE534D42U, 0x5346414FU})  // NFS, SMB, CIFS, SMB2, AFS
    if (static_cast<unsigned>(about.f_type) == kind) return true;
  return false;
#endif
}

/// Returns 0, or -1 with an errno. On macOS fsync() leaves the bytes in the cache of the disk.
int bring_to_disk(int descriptor) {
#if defined(__APPLE__)
  return ::fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : ::fsync(descriptor);
#else
  return ::fdatasync(descriptor);
#endif
}

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, bool create) : path_(std::move(path)) {
    if (path_.empty()) throw DomainError("store: sqlite: needs the path of a file, for example sqlite:budget.db");
    const std::filesystem::path directory = std::filesystem::path(path_).parent_path();
    if (is_network_file_system(directory.empty() ? "." : directory.string()))
      throw StoreError("'" + path_ + "' is on a network file system, where the locks of SQLite are not reliable; use postgresql://");
    std::error_code ignored;
    if (!create && !std::filesystem::exists(path_, ignored))
      throw StoreError("there is no ledger at '" + path_ + "'; `tradeoff ledger create` makes one");
    create_ = create;
    SqliteStore::reconnect();
  }
  ~SqliteStore() override { close(); }

  std::vector<Row> run(const std::string& sql, const std::vector<std::string>& parameters) override {
    std::vector<Row> rows;
    SqliteStore::each(sql, parameters, [&](const RowView& row) { rows.emplace_back(row.begin(), row.end()); });
    return rows;
  }

  void each(const std::string& sql, const std::vector<std::string>& parameters, const std::function<void(const RowView&)>& see) override {
    sqlite3_stmt* const statement = prepared(sql);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      sqlite3_bind_text(statement, static_cast<int>(i) + 1, parameters[i].data(), static_cast<int>(parameters[i].size()), SQLITE_TRANSIENT);
    RowView row(static_cast<std::size_t>(sqlite3_column_count(statement)));
    int code = SQLITE_ROW;
    try {
      while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < static_cast<int>(row.size()); ++i) {
          const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
          row[static_cast<std::size_t>(i)] = {bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, i))};
        }
        see(row);
      }
    } catch (...) {
      finish(statement);
      throw;
    }
    const std::string message = code == SQLITE_DONE ? "" : sqlite3_errmsg(connection_);
    finish(statement);
    if (code != SQLITE_DONE) fail(code, message);
  }

  Row begin_write() override {
    run("BEGIN IMMEDIATE", {});
    writes_ = true;
    if (!has_tables_ && !has_tables()) return {};
    std::vector<Row> head = run(select_head, {});
    if (head.size() != 1) throw StoreError("the store '" + path_ + "' has lost the head of its log");
    return std::move(head[0]);
  }
  void begin_read() override {
    run("BEGIN", {});
    writes_ = false;
  }
  /// With synchronous = FULL, a commit that writes is on the disk when it returns.
  void commit() override {
    try {
      run("COMMIT", {});
    } catch (const StoreError& error) {
      std::string message = error.what();
      if (const std::size_t end = message.rfind("; nothing was charged"); end != std::string::npos) message.resize(end);
      throw StoreError(message + "; whether this was charged is unknown: repeat it with the same key");
    }
  }
  /// What another process wrote before it was killed may be in the log without being on the disk; who reads it brings it there.
  void make_durable() override {
    if (writes_) return;
    const int log = ::open(sqlite3_filename_wal(sqlite3_db_filename(connection_, "main")), O_RDONLY | O_CLOEXEC);
    if (log < 0) {
      if (errno == ENOENT) return;  // SQLite has moved everything into the file itself, and synchronised that
      throw StoreError("the store '" + path_ + "' cannot be brought to the disk");
    }
    const int code = bring_to_disk(log);
    ::close(log);
    if (code != 0) throw StoreError("the store '" + path_ + "' cannot be brought to the disk");
  }
  void roll_back() noexcept override {
    if (connection_ != nullptr && process_ == getpid() && sqlite3_get_autocommit(connection_) == 0)
      sqlite3_exec(connection_, "ROLLBACK", nullptr, nullptr, nullptr);
  }

  bool has_tables() override {
    has_tables_ = !run("SELECT 1 FROM sqlite_master WHERE name = 'tradeoff_meta'", {}).empty();
    return has_tables_;
  }

  std::vector<std::string> schema() const override {
    std::vector<std::string> all = tables("INTEGER", " STRICT");
    for (const char* table : {"tradeoff_entry", "tradeoff_charge"})
      for (const char* change : {"UPDATE", "DELETE"})
        all.push_back(std::string("CREATE TRIGGER ") + table + "_no_" + change + " BEFORE " + change + " ON " + table +
                      " BEGIN SELECT RAISE(ABORT, 'entries of the ledger are never changed'); END");
    return all;
  }

  std::string own_check() override {
    const std::vector<Row> found = run("PRAGMA integrity_check", {});
    return found.size() == 1 && found[0][0] == "ok" ? "" : found.empty() ? "no answer" : found[0][0];
  }

  void reconnect() override {
    close();
    process_ = getpid();
    const int flags = SQLITE_OPEN_READWRITE | (create_ ? SQLITE_OPEN_CREATE : 0);
    if (const int code = sqlite3_open_v2(path_.c_str(), &connection_, flags, nullptr); code != SQLITE_OK)
      fail(code, connection_ == nullptr ? "out of memory" : sqlite3_errmsg(connection_));
    sqlite3_extended_result_codes(connection_, 1);
    sqlite3_busy_timeout(connection_, patience_ms);
    if (sqlite3_db_readonly(connection_, "main") == 1) throw StoreError("the store '" + path_ + "' is read-only");
    use_write_ahead_log();
    run("PRAGMA synchronous = FULL", {});  // every commit is brought to the disk
    run("PRAGMA fullfsync = ON", {});      // past its cache; only macOS makes a difference
    run("PRAGMA trusted_schema = OFF", {});
    if (run("PRAGMA synchronous", {})[0][0] != "2") throw StoreError("the store '" + path_ + "' does not bring commits to the disk");
  }

 private:
  /// The switch to the log takes a lock for which SQLite does not wait by itself.
  void use_write_ahead_log() {
    for (int attempt = 0;; ++attempt) {
      try {
        if (run("PRAGMA journal_mode = WAL", {})[0][0] == "wal") return;
        throw StoreError("the store '" + path_ + "' cannot keep a write-ahead log on this file system");
      } catch (const StoreError&) {
        if ((sqlite3_errcode(connection_) & 0xff) != SQLITE_BUSY || attempt >= 1000) throw;
        sqlite3_sleep(10);
      }
    }
  }

  static void finish(sqlite3_stmt* statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
  }

  sqlite3_stmt* prepared(const std::string& sql) {
    sqlite3_stmt*& known = statements_[sql];
    if (known == nullptr) {
      const int code = sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &known, nullptr);
      if (code != SQLITE_OK) {
        const std::string message = sqlite3_errmsg(connection_);
        statements_.erase(sql);
        fail(code, message);
      }
    }
    return known;
  }

  [[noreturn]] void fail(int code, const std::string& message) const {
    const int kind = code & 0xff;
    std::string why = message;
    if (kind == SQLITE_NOTADB) why = "this file is not a ledger";
    if (kind == SQLITE_READONLY) why = "it is read-only";
    if (kind == SQLITE_FULL) why = "the disk is full";
    if (kind == SQLITE_BUSY) why = "other programs have used it for two minutes without a pause";
    throw StoreError("the store '" + path_ + "' cannot be used: " + why + "; nothing was charged");
  }

  /// After a fork, an idle connection is closed in the child: otherwise SQLite would believe that this process holds the locks of its
  /// parent. One in a transaction belongs to a thread of the parent, and closing it would undo that thread's work: it is left alone.
  void close() noexcept {
    if (connection_ != nullptr && (process_ == getpid() || sqlite3_get_autocommit(connection_) != 0)) {
      for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
      sqlite3_close(connection_);
    }
    statements_.clear();
    connection_ = nullptr;
  }

  std::string path_;
  bool create_ = false;
  int process_ = 0;  // that opened the connection
  bool has_tables_ = false;
  bool writes_ = false;  // the transaction, or the last one
  sqlite3* connection_ = nullptr;
  std::map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace

std::unique_ptr<Store> open_sqlite(const std::string& path, bool create) { return std::make_unique<SqliteStore>(path, create); }

}  // namespace tradeoff::detail::ledger
