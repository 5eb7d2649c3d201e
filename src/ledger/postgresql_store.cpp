// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <unistd.h>

#include <map>

#include "ledger/store.h"
#include "tradeoff/ledger.h"

// libpq is loaded when the first postgresql:// store is opened, so that nobody needs it for SQLite (docs/adr/0014).
namespace tradeoff::detail::ledger {
namespace {

struct PgConnection;
struct PgResult;

/// The functions of libpq that are used, and their numbers from libpq-fe.h, which are part of its binary interface.
struct Libpq {
  PgConnection* (*PQconnectdb)(const char*);
  int (*PQstatus)(const PgConnection*);
  int (*PQsocket)(const PgConnection*);
  char* (*PQerrorMessage)(const PgConnection*);
  void (*PQfinish)(PgConnection*);
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

  static constexpr int connection_ok = 0, command_ok = 1, tuples_ok = 2, state_field = 'C', message_field = 'M';
};

template <typename Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw StoreError(std::string("libpq has no function ") + name);
}

const Libpq& libpq() {
  static const Libpq loaded = [] {
    void* const library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      throw StoreError("postgresql:// needs the client library libpq.so.5, which is not installed; on Debian: apt install libpq5");
    Libpq table{};
    look_up(library, "PQconnectdb", table.PQconnectdb);
    look_up(library, "PQstatus", table.PQstatus);
    look_up(library, "PQsocket", table.PQsocket);
    look_up(library, "PQerrorMessage", table.PQerrorMessage);
    look_up(library, "PQfinish", table.PQfinish);
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
    std::vector<const char*> values;
    std::vector<int> lengths;
    for (const std::string& one : parameters) {
      if (one.find('\0') != std::string::npos) throw DomainError("a text for PostgreSQL cannot hold a zero byte");
      values.push_back(one.c_str());
      lengths.push_back(static_cast<int>(one.size()));
    }
    const Libpq& pq = libpq();
    PgResult* const result = parameters.empty()
                                 ? pq.PQexecParams(connection_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0)
                                 : pq.PQexecPrepared(connection_, prepared(sql, values.size()).c_str(), static_cast<int>(values.size()),
                                                     values.data(), lengths.data(), nullptr, 0);
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

  void begin_write() override {
    run("BEGIN ISOLATION LEVEL READ COMMITTED", {});
    if (has_tables_ || has_tables())
      run("SELECT seq FROM tradeoff_chain WHERE one = 1 FOR UPDATE", {});  // one row, so that no order of locks can block
    else
      run("SELECT pg_advisory_xact_lock(8246115)", {});  // any number; only one process makes the tables
  }
  void begin_read() override { run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {}); }
  void commit() override { run("COMMIT", {}); }
  void roll_back() noexcept override {
    if (connection_ == nullptr) return;
    if (PgResult* result = libpq().PQexecParams(connection_, "ROLLBACK", 0, nullptr, nullptr, nullptr, nullptr, 0)) libpq().PQclear(result);
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
    connection_ = libpq().PQconnectdb(url_.c_str());
    if (connection_ == nullptr || libpq().PQstatus(connection_) != Libpq::connection_ok) {
      const std::string why = connection_ == nullptr ? "out of memory" : first_line(libpq().PQerrorMessage(connection_));
      close();
      throw ConnectionLost(why);
    }
    run("SET client_min_messages = error", {});
    if (run("SHOW fsync", {})[0][0] != "on") throw StoreError("the PostgreSQL server runs with fsync off: a crash would lose spends");
    const std::string durable = run("SHOW synchronous_commit", {})[0][0];
    if (durable == "off" || durable == "local") run("SET synchronous_commit = on", {});
  }

  void abandon() noexcept override {
    if (connection_ != nullptr) ::close(libpq().PQsocket(connection_));  // our copy of it; the parent keeps its own
    connection_ = nullptr;
    statements_.clear();
  }

 private:
  /// The name of the statement at the server, which parses it once for each connection.
  const std::string& prepared(const std::string& sql, std::size_t count) {
    const auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second;
    const std::string name = "ledger" + std::to_string(statements_.size());
    PgResult* const result = libpq().PQprepare(connection_, name.c_str(), sql.c_str(), static_cast<int>(count), nullptr);
    if (libpq().PQresultStatus(result) != Libpq::command_ok) fail(result);
    libpq().PQclear(result);
    return statements_[sql] = name;
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
    if (connection_ != nullptr) libpq().PQfinish(connection_);
    connection_ = nullptr;
    statements_.clear();
  }

  std::string url_;
  PgConnection* connection_ = nullptr;
  bool has_tables_ = false;
  std::map<std::string, std::string> statements_;
};

}  // namespace

std::unique_ptr<Store> open_postgresql(const std::string& url) { return std::make_unique<PostgresqlStore>(url); }

}  // namespace tradeoff::detail::ledger
