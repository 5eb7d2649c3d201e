// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <unordered_map>

#include "ledger/state.h"
#include "noise/digest.h"
#include "report/json.h"

namespace tradeoff {

using namespace detail;          // NOLINT(google-build-using-namespace): for the public functions below
using namespace detail::ledger;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t most_faults = 100;
constexpr int page_size = 5000;  // entries that are held in memory at once

/// Calls `see` with every entry, its charges and the hash that the store holds, in the order of the log. A charge that does not fit its
/// entry is left out.
void each_entry(Store& store, const std::function<void(const Entry&, std::string_view hash)>& see) {
  const std::string page =
      "SELECT e.seq, e.time, e.kind, e.idem_key, e.digest, e.plan, e.detail, e.previous, e.hash, c.account, c.amount, "
      "c.slack, c.low, c.high, c.idem_key, c.position FROM (SELECT * FROM tradeoff_entry WHERE seq > $1 ORDER BY seq LIMIT " +
      std::to_string(page_size) + ") e LEFT JOIN tradeoff_charge c ON c.seq = e.seq ORDER BY e.seq, c.position";
  Entry entry;
  std::string hash;
  bool is_open = false;
  std::uint64_t last = 0;
  const auto close = [&] {
    if (is_open) see(entry, hash);
    is_open = false;
  };
  while (true) {
    const std::uint64_t before = last;
    store.each(page, {std::to_string(last)}, [&](const RowView& row) {
      const auto sequence = static_cast<std::uint64_t>(whole(row[0]));
      if (!is_open || sequence != entry.sequence) {
        close();
        entry.sequence = last = sequence;
        entry.time = row[1];
        entry.kind = row[2];
        entry.key = row[3];
        entry.digest = row[4];
        entry.plan = row[5];
        entry.detail = row[6];
        entry.previous = row[7];
        entry.charges.clear();
        hash = row[8];
        is_open = true;
      }
      if (!row[9].empty() && row[14] == entry.key && row[15] == std::to_string(entry.charges.size()))
        entry.charges.push_back({std::string(row[9]), whole(row[10]), whole(row[11]), std::string(row[12]), std::string(row[13])});
    });
    close();
    if (last == before) return;
  }
}

/// The state that the log implies, computed from its entries alone.
class Auditor {
 public:
  explicit Auditor(std::string expected) : expected_(std::move(expected)) {}

  void see(const Entry& entry, std::string_view hash) {
    const std::uint64_t before = result.entries;
    result.entries = entry.sequence;  // faults name it
    if (entry.sequence != before + 1) blame_entry("follows entry " + std::to_string(before) + ": entries are missing");
    if (entry.previous != result.head) blame_entry("does not continue the entry before it");
    if (hash_of(entry) != hash) blame_entry("was changed: its content does not have its hash");
    result.head = hash;
    found_ = found_ || hash == expected_;
    if (entry.kind == "create" || entry.kind == "cap") see_account(entry);
    if (entry.kind == "reserve") tokens_[entry.sequence] = "open";
    if (entry.kind == "use") see_use(entry);
    for (const StoredCharge& charge : entry.charges) see_charge(charge);
  }

  /// Compares the tables that are not part of the log with what the log implies.
  void compare(Store& store) {
    compare_accounts(store);
    std::map<std::uint64_t, std::string> tokens;
    for (const Row& row : store.run("SELECT seq, state FROM tradeoff_token")) tokens[static_cast<std::uint64_t>(whole(row[0]))] = row[1];
    if (tokens != tokens_) blame("the tokens are not those of the log");
    const std::vector<Row> chain = store.run("SELECT seq, hash FROM tradeoff_chain");
    if (chain.size() != 1 || chain[0][0] != std::to_string(result.entries) || chain[0][1] != result.head)
      blame("the head of the log is not its last entry");
    if (const auto count = store.run("SELECT COUNT(*) FROM tradeoff_charge")[0][0]; count != std::to_string(charges_))
      blame("there are " + count + " charges, and the log has " + std::to_string(charges_));
    for (const Row& twice :
         store.run("SELECT account, idem_key FROM tradeoff_charge GROUP BY account, idem_key HAVING COUNT(*) > 1 LIMIT 10"))
      blame("account '" + twice[0] + "' was charged twice for key '" + twice[1] + "'");
    if (!expected_.empty() && !found_)
      blame("the log does not contain the expected head " + expected_ + ": it was cut, replaced or restored from an older copy");
  }

  Verification result{.intact = true, .entries = 0, .head = first_hash(), .faults = {}};

  void blame(const std::string& fault) {
    result.intact = false;
    if (result.faults.size() < most_faults) result.faults.push_back(fault);
  }

 private:
  void blame_entry(const std::string& fault) { blame("entry " + std::to_string(result.entries) + " " + fault); }

  void see_account(const Entry& entry) {
    // The detail is compared as a whole with that of the table; only the name and the caps are read from it.
    const std::string start = "{\"account\":";
    const std::size_t end = entry.detail.find(",\"currency\":");  // a name has no comma
    if (entry.detail.rfind(start, 0) != 0 || end == std::string::npos) return blame_entry("describes no account");
    const std::string name = entry.detail.substr(start.size() + 1, end - start.size() - 2);
    AccountRow& account = accounts_[name];
    account.cap = number_in(entry.detail, ",\"cap\":\"");
    account.slack_cap = number_in(entry.detail, ",\"slack_cap\":\"");
    if ((entry.kind == "create") != account.head.empty())
      blame_entry("creates account '" + name + "' twice, or changes one that does not exist");
    account.stated = entry.detail;
    account.head = result.head;
  }

  /// The whole number after the mark; the text before it may hold no such mark, because quotes within it are escaped.
  static Units number_in(const std::string& detail, const std::string& mark) {
    const std::size_t at = detail.find(mark);
    if (at == std::string::npos) return 0;
    const std::size_t start = at + mark.size();
    return whole(std::string_view(detail).substr(start, detail.find('"', start) - start));
  }

  void see_charge(const StoredCharge& charge) {
    ++charges_;
    AccountRow*& known = charged_[charge.account];
    if (known == nullptr) known = &accounts_[report_name(charge.account)];
    AccountRow& account = *known;
    if (account.head.empty()) blame_entry("charges account '" + charge.account + "', which did not exist");
    if (charge.amount < 0 || charge.slack < 0 || charge.amount > most_units || charge.slack > most_units)
      return blame_entry("charges less than nothing, or more than any account can hold");
    account.spent = std::min(account.spent + charge.amount, most_units);
    account.slack_spent = std::min(account.slack_spent + charge.slack, most_units);
    if (account.spent > account.cap || account.slack_spent > account.slack_cap)
      blame_entry("charges account '" + charge.account + "' beyond the cap that it had");
    ++account.entries;
    account.head = result.head;
  }

  void see_use(const Entry& entry) {
    const auto token = tokens_.find(static_cast<std::uint64_t>(whole(entry.detail)));
    if (token == tokens_.end() || token->second != "open") return blame_entry("uses a token that is not open");
    token->second = "used";
  }

  void compare_accounts(Store& store) {
    std::size_t count = 0;
    for (const Row& row : store.run(std::string("SELECT ") + account_columns + " FROM tradeoff_account")) {
      const AccountRow account = account_of(row);
      const auto found = accounts_.find(report_name(account.name));
      ++count;
      if (found == accounts_.end()) {
        blame("account '" + account.name + "' is not in the log");
        continue;
      }
      const AccountRow& logged = found->second;
      if (detail_of(account) != logged.stated) blame("account '" + account.name + "' differs from what the log says about it");
      if (account.spent != logged.spent || account.slack_spent != logged.slack_spent || account.entries != logged.entries)
        blame("account '" + account.name + "': the entries do not add up to what it has spent");
      if (account.head != logged.head) blame("account '" + account.name + "' does not name its last entry");
      if (account.spent > account.cap || account.slack_spent > account.slack_cap)
        blame("account '" + account.name + "' has spent more than its cap");
    }
    if (count != accounts_.size())
      blame("the log knows " + std::to_string(accounts_.size()) + " accounts, the store " + std::to_string(count));
  }

  /// The name as the log spells it.
  static std::string report_name(const std::string& name) {
    report::JsonWriter out;
    out.text(name);
    return out.str().substr(1, out.str().size() - 2);
  }

  std::string expected_;
  bool found_ = false;
  std::uint64_t charges_ = 0;
  std::map<std::string, AccountRow> accounts_;            // by the name as the log spells it
  std::unordered_map<std::string, AccountRow*> charged_;  // by the name itself
  std::map<std::uint64_t, std::string> tokens_;
};

}  // namespace

Verification Ledger::verify(const std::string& expected_head) {
  Verification result;
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::read, [&] {
    Auditor auditor(expected_head);
    try {
      if (const std::string own = state_->store->own_check(); !own.empty()) auditor.blame("the store finds damage: " + own);
      each_entry(*state_->store, [&](const Entry& entry, std::string_view hash) { auditor.see(entry, hash); });
      auditor.compare(*state_->store);
    } catch (const StoreError& error) {
      auditor.blame(error.what());
    }
    result = auditor.result;
  });
  return result;
}

void Ledger::export_lines(const std::function<void(std::string_view)>& line) {
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::read, [&] {
    each_entry(*state_->store, [&](const Entry& entry, std::string_view hash) {
      report::JsonWriter out;
      line(out.begin_object().key("hash").text(hash).key("body").text(body_of(entry)).end_object().str());
    });
  });
}

}  // namespace tradeoff
