// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <map>

#include "ledger/store.h"
#include "tradeoff/ledger.h"

// libpq is loaded when the first postgresql:// store is opened, so that nobody needs it for SQLite (docs/adr/0014).
namespace tradeoff::detail::ledger {
namespace {

#if defined(__APPLE__)
constexpr const char* libpq_name = "libpq.5.dylib";
#else
constexpr const char* libpq_name = "libpq.so.5";
#endif

struct PgConnection;
struct PgResult;

/// The functions of libpq that are used, and their numbers from libpq-fe.h, which are part of its binary interface.
struct Libpq {
  PgConnection* (*PQconnectdbParams)(const char* const*, const char* const*, int);
  int (*PQstatus)(const PgConnection*);
  int (*PQsocket)(const PgConnection*);
  char* (*PQerrorMessage)(const PgConnection*);
  void (*PQfinish)(PgConnection*);
  PgResult* (*PQexec)(PgConnection*, const char*);
  PgResult* (*PQexecParams)(PgConnection*, const char*, int, const unsigned*, const char* const*, const int*, const int*, int);
  PgResult* (*PQprepare)(PgConnection*, const char*, const char*, int, const unsigned*);
  PgResult* (*PQexecPrepared)(PgConnection*, const char*, int, const char* const*, const int*, const int*, int);
  int (*PQresultStatus)(const PgResult*);
  char* (*PQresultErrorField)(const PgResult*, int);
  int (*PQntuples)(const PgResult*);
  int (*PQnfields)(const PgResult*);
  char* (*PQgetvalue)(const PgResult*, int, int);
  int (*PQgetlength)(const PgResult*, int, int);
  void (*PQclear)(PgResult*);

  // Several statements with one message; null in libpq before version 14.
  int (*PQenterPipelineMode)(PgConnection*);
  int (*PQexitPipelineMode)(PgConnection*);
  int (*PQpipelineSync)(PgConnection*);
  int (*PQsendQueryParams)(PgConnection*, const char*, int, const unsigned*, const char* const*, const int*, const int*, int);
  int (*PQsendQueryPrepared)(PgConnection*, const char*, int, const char* const*, const int*, const int*, int);
  PgResult* (*PQgetResult)(PgConnection*);

  static constexpr int connection_ok = 0, command_ok = 1, tuples_ok = 2, pipeline_sync = 10, state_field = 'C', message_field = 'M';
};

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw StoreError(std::string("libpq has no function ") + name);
}

const Libpq& libpq() {
  static const Libpq loaded = [] {
    void* const library = dlopen(libpq_name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      throw StoreError(std::string("postgresql:// needs the client library ") + libpq_name +
                       ", which is not installed; on Debian: apt install libpq5");
    Libpq table{};
    look_up(library, "PQconnectdbParams", table.PQconnectdbParams);
    look_up(library, "PQstatus", table.PQstatus);
    look_up(library, "PQsocket", table.PQsocket);
    look_up(library, "PQerrorMessage", table.PQerrorMessage);
    look_up(library, "PQfinish", table.PQfinish);
    look_up(library, "PQexec", table.PQexec);
    look_up(library, "PQexecParams", table.PQexecParams);
    look_up(library, "PQprepare", table.PQprepare);
    look_up(library, "PQexecPrepared", table.PQexecPrepared);
    look_up(library, "PQresultStatus", table.PQresultStatus);
    look_up(library, "PQresultErrorField", table.PQresultErrorField);
    look_up(library, "PQntuples", table.PQntuples);
    look_up(library, "PQnfields", table.PQnfields);
    look_up(library, "PQgetvalue", table.PQgetvalue);
    look_up(library, "PQgetlength", table.PQgetlength);
    look_up(library, "PQclear", table.PQclear);
    look_up(library, "PQsendQueryParams", table.PQsendQueryParams);
    look_up(library, "PQsendQueryPrepared", table.PQsendQueryPrepared);
    look_up(library, "PQgetResult", table.PQgetResult);
    if (dlsym(library, "PQenterPipelineMode") != nullptr) {
      look_up(library, "PQenterPipelineMode", table.PQenterPipelineMode);
      look_up(library, "PQexitPipelineMode", table.PQexitPipelineMode);
      look_up(library, "PQpipelineSync", table.PQpipelineSync);
    }
    return table;
  }();
  return loaded;
}

std::string first_line(const char* text) {
  const std::string all = text == nullptr ? "" : text;
  return all.substr(0, all.find('\n'));
}

class PostgresqlStore final : public Store {
 public:
  explicit PostgresqlStore(std::string url) : url_(std::move(url)) {
    try {
      PostgresqlStore::reconnect();
    } catch (const ConnectionLost& lost) {
      throw StoreError(std::string("the store cannot be reached: ") + lost.what());
    }
  }
  ~PostgresqlStore() override { close(); }

  std::vector<Row> run(const std::string& sql, const std::vector<std::string>& parameters) override {
    later_.push_back({sql, parameters});
    return run_waiting();
  }
  void run_later(const std::string& sql, const std::vector<std::string>& parameters) override { later_.push_back({sql, parameters}); }

  Row begin_write() override {
    later_.clear();
    std::string begin = "BEGIN ISOLATION LEVEL READ COMMITTED; ";
    if (!has_tables_ && !has_tables()) {
      execute(begin + "SELECT pg_advisory_xact_lock(8246115)");  // any number; only one process makes the tables
      if (!has_tables()) return {};
      begin.clear();
    }
    std::vector<Row> head = execute(begin + select_head + " FOR UPDATE");  // one row, so that no order of locks can block
    if (head.size() != 1) throw StoreError("the store has lost the head of its log");
    return std::move(head[0]);
  }
  void begin_read() override {
    later_.clear();
    execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
  void commit() override { run("COMMIT", {}); }
  /// Commits are asynchronous, so that the lock on the head is not held while the disk works, and many clients share one write of it. A
  /// later record that is durable makes all commits before it durable: PostgreSQL writes its log in order, and so it returns here.
  void make_durable() override {
    if (is_standby_) return;  // what a standby shows was written by its primary
    execute("BEGIN; SET LOCAL synchronous_commit = " + durable_ + "; SELECT pg_logical_emit_message(true, 'tradeoff', ''); COMMIT");
  }
  void roll_back() noexcept override {
    later_.clear();
    if (connection_ == nullptr || process_ != getpid()) return;
    if (PgResult* result = libpq().PQexec(connection_, "ROLLBACK")) libpq().PQclear(result);
  }

  bool has_tables() override {
    has_tables_ = run("SELECT to_regclass('tradeoff_meta') IS NOT NULL", {})[0][0] == "t";
    return has_tables_;
  }

  std::vector<std::string> schema() const override {
    std::vector<std::string> all = tables("BIGINT", "");
    all.emplace_back(
        "CREATE FUNCTION tradeoff_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RAISE EXCEPTION ''entries of the ledger are never changed''; END'");
    for (const char* table : {"tradeoff_entry", "tradeoff_charge"})
      all.push_back(std::string("CREATE TRIGGER ") + table + "_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON " + table +
                    " FOR EACH STATEMENT EXECUTE FUNCTION tradeoff_refuse()");
    return all;
  }

  std::string own_check() override { return {}; }

  void reconnect() override {
    close();
    later_.clear();
    process_ = getpid();
    // What comes before the URL is a default that the URL may change: an unreachable host or a dead connection is an error after seconds.
    constexpr const char* names[] = {"connect_timeout", "tcp_user_timeout", "fallback_application_name", "dbname", nullptr};
    const char* const values[] = {"10", "30000", "tradeoff", url_.c_str(), nullptr};
    connection_ = libpq().PQconnectdbParams(names, values, 1);
    if (connection_ == nullptr || libpq().PQstatus(connection_) != Libpq::connection_ok) {
      const std::string why = connection_ == nullptr ? "out of memory" : first_line(libpq().PQerrorMessage(connection_));
      close();
      throw ConnectionLost(why);
    }
    run("SET client_min_messages = error", {});
    if (run("SHOW fsync", {})[0][0] != "on") throw StoreError("the PostgreSQL server runs with fsync off: a crash would lose spends");
    is_standby_ = run("SELECT pg_is_in_recovery()", {})[0][0] == "t";
    durable_ = run("SHOW synchronous_commit", {})[0][0];
    if (durable_ == "off" || durable_ == "local") durable_ = "on";
    run("SET synchronous_commit = off", {});
  }

 private:
  struct Statement {
    std::string sql;
    std::vector<std::string> parameters;
  };

  /// The arguments of a statement as libpq wants them.
  struct Values {
    explicit Values(const Statement& of) {
      for (const std::string& one : of.parameters) {
        if (one.find('\0') != std::string::npos) throw DomainError("a text for PostgreSQL cannot hold a zero byte");
        texts.push_back(one.c_str());
        lengths.push_back(static_cast<int>(one.size()));
      }
    }
    [[nodiscard]] int count() const { return static_cast<int>(texts.size()); }
    std::vector<const char*> texts;
    std::vector<int> lengths;
  };

  /// Statements in one text, without parameters; returns the rows of the last one that has any.
  std::vector<Row> execute(const std::string& sql) { return rows_of(libpq().PQexec(connection_, sql.c_str())); }

  /// Runs the statements that wait, with one message if libpq can; returns the rows of the last.
  std::vector<Row> run_waiting() {
    std::vector<Statement> waiting;
    waiting.swap(later_);
    if (waiting.size() > 1 && libpq().PQenterPipelineMode != nullptr) return run_together(waiting);
    std::vector<Row> rows;
    for (const Statement& one : waiting) rows = rows_of(run_alone(one));
    return rows;
  }

  PgResult* run_alone(const Statement& one) {
    const Values values(one);
    if (one.parameters.empty()) return libpq().PQexecParams(connection_, one.sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
    return libpq().PQexecPrepared(connection_, prepared(one).c_str(), values.count(), values.texts.data(), values.lengths.data(), nullptr,
                                  0);
  }

  std::vector<Row> run_together(const std::vector<Statement>& all) {
    const Libpq& pq = libpq();
    for (const Statement& one : all)
      if (!one.parameters.empty()) prepared(one);
    bool sent = pq.PQenterPipelineMode(connection_) == 1;
    for (std::size_t i = 0; i < all.size() && sent; ++i) {
      const Values values(all[i]);
      sent = (all[i].parameters.empty() ? pq.PQsendQueryParams(connection_, all[i].sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0)
                                        : pq.PQsendQueryPrepared(connection_, prepared(all[i]).c_str(), values.count(), values.texts.data(),
                                                                 values.lengths.data(), nullptr, 0)) == 1;
    }
    if (!sent || pq.PQpipelineSync(connection_) != 1) throw ConnectionLost(first_line(pq.PQerrorMessage(connection_)));
    PgResult* last = nullptr;  // the first that failed, otherwise the last one
    bool failed = false;
    while (true) {
      PgResult* const result = pq.PQgetResult(connection_);
      if (result == nullptr) {  // ends the results of one statement
        if (pq.PQstatus(connection_) != Libpq::connection_ok) break;
        continue;
      }
      const int status = pq.PQresultStatus(result);
      if (status == Libpq::pipeline_sync || failed) {
        pq.PQclear(result);
        if (status == Libpq::pipeline_sync) break;
        continue;
      }
      pq.PQclear(last);
      last = result;
      failed = status != Libpq::command_ok && status != Libpq::tuples_ok;
    }
    pq.PQexitPipelineMode(connection_);
    return rows_of(last);
  }

  /// Takes the result over. Throws if it is an error.
  std::vector<Row> rows_of(PgResult* result) {
    const Libpq& pq = libpq();
    const int status = pq.PQresultStatus(result);
    if (status != Libpq::command_ok && status != Libpq::tuples_ok) fail(result);
    std::vector<Row> rows(static_cast<std::size_t>(pq.PQntuples(result)));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (int j = 0; j < pq.PQnfields(result); ++j)
        rows[i].emplace_back(pq.PQgetvalue(result, static_cast<int>(i), j),
                             static_cast<std::size_t>(pq.PQgetlength(result, static_cast<int>(i), j)));
    pq.PQclear(result);
    return rows;
  }

  /// The name of the statement at the server, which parses it once for each connection.
  const std::string& prepared(const Statement& one) {
    const auto found = statements_.find(one.sql);
    if (found != statements_.end()) return found->second;
    const std::string name = "ledger" + std::to_string(statements_.size());
    PgResult* const result =
        libpq().PQprepare(connection_, name.c_str(), one.sql.c_str(), static_cast<int>(one.parameters.size()), nullptr);
    if (libpq().PQresultStatus(result) != Libpq::command_ok) fail(result);
    libpq().PQclear(result);
    return statements_[one.sql] = name;
  }

  [[noreturn]] void fail(PgResult* result) {
    const Libpq& pq = libpq();
    const char* given = result == nullptr ? nullptr : pq.PQresultErrorField(result, Libpq::state_field);
    const std::string state = given == nullptr ? "" : given;
    const std::string message =
        state.empty() ? first_line(pq.PQerrorMessage(connection_)) : first_line(pq.PQresultErrorField(result, Libpq::message_field));
    pq.PQclear(result);
    const std::string kind = state.substr(0, 2);
    // the server shuts down, starts, or asks for a repetition
    if (state.empty() || pq.PQstatus(connection_) != Libpq::connection_ok || kind == "57" || kind == "08" || kind == "40")
      throw ConnectionLost(message);
    const std::string why = state == "25006" ? "it is read-only" : state == "53100" ? "the disk of the server is full" : message;
    throw StoreError("the PostgreSQL store cannot be used: " + why + "; nothing was charged");
  }

  void close() noexcept {
    if (connection_ != nullptr) {
      if (process_ == getpid())
        libpq().PQfinish(connection_);
      else
        ::close(libpq().PQsocket(connection_));  // our copy of it; the parent process keeps its connection
    }
    connection_ = nullptr;
    statements_.clear();
  }

  std::string url_;
  PgConnection* connection_ = nullptr;
  int process_ = 0;  // that opened the connection
  bool has_tables_ = false;
  bool is_standby_ = false;
  std::string durable_ = "on";  // the synchronous_commit that makes commits durable
  std::vector<Statement> later_;
  std::map<std::string, std::string> statements_;
};

}  // namespace

std::unique_ptr<Store> open_postgresql(const std::string& url) { return std::make_unique<PostgresqlStore>(url); }

}  // namespace tradeoff::detail::ledger
