// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tradeoff::detail::ledger {

/// The connection to the store broke. A transaction that was not committed is undone; whether a commit succeeded is unknown.
class ConnectionLost final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Row = std::vector<std::string>;
using RowView = std::vector<std::string_view>;

/// A database in SQL. Statements are the same for all stores; parameters are $1, $2, ...; values are text. Where the stores differ, this
/// interface has a function. Errors are StoreError or ConnectionLost.
class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual std::vector<Row> run(const std::string& sql, const std::vector<std::string>& parameters = {}) = 0;
  /// For a statement without rows inside a transaction: it is run before the next one, and that one may report its error.
  virtual void run_later(const std::string& sql, const std::vector<std::string>& parameters) { run(sql, parameters); }
  /// Calls `see` with each row; a view is good until `see` returns.
  virtual void each(const std::string& sql, const std::vector<std::string>& parameters, const std::function<void(const RowView&)>& see);

  /// Starts a transaction in which no other one writes: what is read stays as it is until it ends. Returns the head of the log, its
  /// sequence number and hash; nothing if there are no tables yet.
  virtual Row begin_write() = 0;
  /// Starts a transaction that sees one state of the store.
  virtual void begin_read() = 0;
  /// Ends the transaction: the transactions after it see what it wrote.
  virtual void commit() = 0;
  /// Returns only after everything that this connection has committed or read is durable.
  virtual void make_durable() = 0;
  virtual void roll_back() noexcept = 0;

  [[nodiscard]] virtual bool has_tables() = 0;
  /// The statements that make the tables, triggers included.
  [[nodiscard]] virtual std::vector<std::string> schema() const = 0;
  /// What the store itself says about its files; empty if nothing is wrong.
  [[nodiscard]] virtual std::string own_check() = 0;

  /// Connects again: after a lost connection, and after a fork, where the connection of the parent process is left alone.
  virtual void reconnect() = 0;
};

/// `sqlite:PATH` or `postgresql://...`; a SQLite file that does not exist is made only if `create` is set.
[[nodiscard]] std::unique_ptr<Store> open_store(const std::string& url, bool create);
[[nodiscard]] std::unique_ptr<Store> open_sqlite(const std::string& path, bool create);
[[nodiscard]] std::unique_ptr<Store> open_postgresql(const std::string& url);

/// The tables in SQL; `integer` is the type of 64 bits, `ending` what follows a table.
[[nodiscard]] std::vector<std::string> tables(const std::string& integer, const std::string& ending);

/// Reads the head of the log.
inline constexpr const char* select_head = "SELECT seq, hash FROM tradeoff_chain WHERE one = 1";

inline constexpr const char* schema_version = "2";

}  // namespace tradeoff::detail::ledger
