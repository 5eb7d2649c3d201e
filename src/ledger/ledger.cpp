// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/ledger.h"

#include <algorithm>
#include <map>
#include <random>

#include "ledger/canonical.h"
#include "ledger/state.h"
#include "noise/digest.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "plan/neighbours.h"
#include "report/json.h"
#include "tradeoff/analyze.h"

namespace tradeoff {

using namespace detail;          // NOLINT(google-build-using-namespace): for the public functions below
using namespace detail::ledger;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t longest_name = 200;
constexpr Units share_of_slack = 16;  // a plan that states no slack may use this part of the account's reserve

/// Names and keys are written into every receipt and typed by people: printable ASCII without commas.
void require_word(const std::string& text, const char* what) {
  const bool fits = !text.empty() && text.size() <= longest_name && text.front() != ' ' && text.back() != ' ' &&
                    std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != ','; });
  if (!fits)
    throw DomainError(std::string(what) + ": '" + text.substr(0, 60) +
                      "' is not allowed; write 1 to 200 printable ASCII characters without commas, not starting or ending with a blank");
}

/// A record is in one block, so that adding or removing it changes one block. Replacing it may change two.
void require_block(const AccountTerms& terms) {
  require_word(terms.block_of, "block_of");
  if (terms.block_of == terms.name) throw DomainError("block_of: '" + terms.name + "' cannot be a block of itself");
  if (terms.neighbours == Neighbours::replace_one)
    throw DomainError("block_of: blocks need add-remove or zero-out neighbours; who replaces a record may move it to another block");
}

std::vector<std::string> sorted_names(const Spend& request) {
  std::vector<std::string> names = request.accounts;
  for (const std::string& name : names) require_word(name, "account");
  std::sort(names.begin(), names.end());
  if (names.empty()) throw DomainError("account: name at least one");
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    throw DomainError("account: '" + *twice + "' is named twice");
  return names;
}

std::string digest_of(const std::string& kind, const std::vector<std::string>& names, const std::string& plan,
                      const std::optional<Number>& slack) {
  report::JsonWriter out;
  out.begin_array().text(kind).text(plan).text(slack ? slack->text : "");
  for (const std::string& name : names) out.text(name);
  return noise::sha256(out.end_array().str());
}

/// A line without the `repeat` at its end, and how often it is run.
std::pair<Line, std::optional<numeric::Rational>> single_step(Line line) {
  std::optional<numeric::Rational> times = numeric::Rational{1, 1};
  while (!line.operators.empty() && line.operators.back().name == "repeat") {
    const auto* count =
        line.operators.back().arguments.empty() ? nullptr : std::get_if<Number>(&line.operators.back().arguments[0].value.content);
    const auto units = count == nullptr ? std::nullopt : to_units(*count, 0, Round::up);
    times = units ? numeric::product(times, static_cast<std::uint64_t>(*units)) : std::nullopt;
    line.operators.pop_back();
  }
  return {std::move(line), times};
}

/// What the steps of the plan would cost if each were charged by itself, without slack; nothing if that has no price.
std::optional<std::string> cost_of_steps(const Plan& plan, Neighbours neighbours, const AccountCurrency& currency) {
  constexpr std::size_t most_lines = 16;  // each is measured by itself
  if (plan.lines.size() > most_lines) return std::nullopt;
  std::optional<numeric::Rational> total = numeric::Rational{};
  try {
    for (const Line& line : plan.lines) {
      const auto [step, times] = single_step(line);
      const Plan alone{{step}};
      const Price price = currency.row->measure({alone, neighbours, exact_number(0), 0, currency.order});
      const auto cost = numeric::Rational{static_cast<numeric::Bits128>(price.amount), 1};
      total = times ? numeric::sum(total, numeric::ratio(cost, numeric::Rational{times->denominator, times->numerator})) : std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  const auto units = total ? to_units(*total, 0, Round::up) : std::nullopt;
  return units ? std::optional(to_decimal(*units, amount_places)) : std::nullopt;
}

/// A name that no other process has.
std::string new_mark() {
  std::random_device random;
  std::string digits;
  for (int i = 0; i < 4; ++i) digits += std::to_string(random()) + ".";
  return noise::sha256(digits);
}

StoredCharge to_stored(const std::string& account, const Price& price) {
  return {account, price.amount, price.slack, numeric::to_text_below(price.value.lo), numeric::to_text_above(price.value.hi)};
}

constexpr std::size_t most_prices = 1000;  // that are remembered

/// The value for the key, computed if it is not remembered. Other threads may compute it at the same time.
template <class Value, class Compute>
Value remembered(LedgerState& state, std::map<std::string, Value>& known, const std::string& key, const Compute& compute) {
  {
    const std::lock_guard lock(state.mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Value value = compute();
  const std::lock_guard lock(state.mutex);
  if (known.size() >= most_prices) known.clear();
  return known.insert_or_assign(key, std::move(value)).first->second;
}

/// A spend on its way: what is decided before the transaction.
struct Draft {
  std::vector<std::string> names;
  Plan plan;
  std::string text;
  std::string digest;
  std::vector<AccountRow> accounts = {};
  std::optional<Receipt> before = {};  ///< of an earlier spend with this key
};

Draft make_draft(const std::string& kind, const Spend& request) {
  require_word(request.key, "key");
  std::vector<std::string> names = sorted_names(request);
  Plan plan = with_tables(parse(request.plan));
  std::string text = to_string(plan), digest = digest_of(kind, names, canonical_text(plan), request.slack);
  return {std::move(names), std::move(plan), std::move(text), std::move(digest)};
}

/// All accounts that the names stand for, each once. [parallel-composition]
void take_accounts(Draft& draft, const std::function<std::vector<AccountRow>(const std::string& name)>& accounts_of) {
  draft.accounts.clear();
  for (const std::string& name : draft.names)
    for (AccountRow& row : accounts_of(name)) draft.accounts.push_back(std::move(row));
  std::sort(draft.accounts.begin(), draft.accounts.end(), [](const AccountRow& a, const AccountRow& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(draft.accounts.begin(), draft.accounts.end(),
                                        [](const AccountRow& a, const AccountRow& b) { return a.name == b.name; });
  if (twice != draft.accounts.end())
    throw DomainError("account: '" + twice->name + "' is a block of '" + twice->block_of + "': named twice");
}

/// Finds the accounts, in memory if all are remembered. Under the lock.
bool remember_accounts(LedgerState& state, Draft& draft) {
  for (const std::string& name : draft.names)
    if (!state.terms.contains(name)) return false;
  take_accounts(draft, [&](const std::string& name) { return state.terms.at(name); });
  return true;
}

/// Inside a transaction.
void look_up(LedgerState& state, const Spend& request, Draft& draft) {
  take_accounts(draft, [&](const std::string& name) { return state.terms[name] = state.accounts_of(name); });
  draft.before = state.replay(draft.accounts, request.key, draft.digest);
}

/// Measures the plan for every account, in the neighbours and the currency of each.
PricedSpend price_spend(LedgerState& state, const std::string& kind, const Spend& request, const Draft& draft) {
  PricedSpend priced{
      .kind = kind, .key = request.key, .digest = draft.digest, .plan = draft.text, .names = draft.names, .accounts = draft.accounts};
  for (const AccountRow& account : draft.accounts) {
    const AccountCurrency currency = read_currency(account.currency);
    const Units usual = account.slack_cap / share_of_slack;
    const std::string key = account.currency + "," + account.neighbours + "," + std::to_string(usual) + "," +
                            (request.slack ? request.slack->text : "") + "," + draft.text;
    priced.charges.push_back(to_stored(account.name, remembered(state, state.prices, key, [&] {
                                         return currency.row->measure(
                                             {draft.plan, neighbours_of(account), request.slack, usual, currency.order});
                                       })));
  }
  const AccountRow& first = draft.accounts.front();
  priced.step_by_step = remembered(state, state.step_prices, first.currency + "," + first.neighbours + "," + draft.text,
                                   [&] { return cost_of_steps(draft.plan, neighbours_of(first), read_currency(first.currency)); });
  if (priced.step_by_step == to_decimal(priced.charges.front().amount, amount_places)) priced.step_by_step.reset();  // nothing gained
  return priced;
}

Receipt charge_now(LedgerState& state, const std::string& kind, const Spend& request) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return charge_now(state, kind, request); });

  Draft draft = make_draft(kind, request);
  while (true) {
    {
      const std::lock_guard lock(state.mutex);
      if (!remember_accounts(state, draft)) state.transact(Access::glance, [&] { look_up(state, request, draft); });
      if (draft.before) {  // it is told again, so it must be durable
        state.transact(Access::read, [&] { look_up(state, request, draft); });
        return *draft.before;
      }
    }
    const PricedSpend spend = price_spend(state, kind, request, draft);
    try {
      Receipt receipt = state.charge_in_turn(spend);
      if (!receipt.replayed) receipt.step_by_step = spend.step_by_step;
      return receipt;
    } catch (const PriceIsOld&) {
      const std::lock_guard lock(state.mutex);
      state.terms.clear();
    }
  }
}

}  // namespace

Ledger::Ledger(const std::string& url, Open open) : Ledger(open_store(url, open == Open::or_create), open) {}
Ledger::Ledger(std::unique_ptr<Store> store, Open open) : state_(std::make_unique<LedgerState>(std::move(store))) {
  state_->prepare(open == Open::or_create);
}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Account Ledger::create(const AccountTerms& terms) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return create(terms); });

  require_word(terms.name, "account");
  if (!terms.block_of.empty()) require_block(terms);
  if (terms.neighbours == Neighbours::unstated) throw DomainError("neighbours: an account states them: " + all_neighbours_words());
  const AccountCurrency currency = read_currency(terms.currency);
  const Cap cap = currency.row->cap(terms.cap, currency.order);
  AccountRow row{.name = terms.name,
                 .currency = terms.currency,
                 .neighbours = to_word(terms.neighbours),
                 .unit = terms.unit,
                 .block_of = terms.block_of,
                 .stated = cap.stated,
                 .cap = cap.amount,
                 .slack_cap = cap.slack};
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::write, [&] {
    if (const auto found = state_->find_account(terms.name)) {
      if (detail_of(*found) == detail_of(row) && found->entries == 0) return void(row = *found);  // repeated after a lost connection
      throw DomainError("account: '" + terms.name + "' exists already; `tradeoff ledger cap` changes its cap");
    }
    if (!state_->store->run("SELECT 1 FROM tradeoff_account WHERE block_of = $1 LIMIT 1", {terms.name}).empty())
      throw DomainError("account: '" + terms.name + "' is the name of a group of blocks");
    if (!terms.block_of.empty() && state_->find_account(terms.block_of))
      throw DomainError("block_of: '" + terms.block_of + "' is an account, not a group of blocks; name a group that only has blocks");
    row.head = state_->append({.kind = "create", .detail = detail_of(row)}).second;
    state_->store->run(
        std::string("INSERT INTO tradeoff_account (") + account_columns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        {row.name, row.currency, row.neighbours, row.unit, row.block_of, row.stated, std::to_string(row.cap), "0",
         std::to_string(row.slack_cap), "0", "0", row.head});
  });
  return to_account(row);
}

Account Ledger::change_cap(const std::string& account, const StatedCap& stated) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return change_cap(account, stated); });

  AccountRow row;
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::write, [&] {
    row = state_->known_account(account);
    const AccountCurrency currency = read_currency(row.currency);
    const Cap cap = currency.row->cap(stated, currency.order);
    if (cap.amount < row.spent || cap.slack < row.slack_spent)
      throw DomainError("cap: " + to_decimal(row.spent, amount_places) + " is spent already (slack " +
                        to_decimal(row.slack_spent, slack_places) + "), more than the new cap of " + to_decimal(cap.amount, amount_places) +
                        " (slack " + to_decimal(cap.slack, slack_places) + "); nothing was changed");
    row.cap = cap.amount;
    row.slack_cap = cap.slack;
    row.stated = cap.stated;
    row.head = state_->append({.kind = "cap", .detail = detail_of(row)}).second;
    state_->store->run("UPDATE tradeoff_account SET cap = $1, slack_cap = $2, stated = $3, head = $4 WHERE name = $5",
                       {std::to_string(row.cap), std::to_string(row.slack_cap), row.stated, row.head, row.name});
  });
  return to_account(row);
}

Receipt Ledger::spend(const Spend& request) { return charge_now(*state_, "spend", request); }
Receipt Ledger::reserve(const Spend& request) { return charge_now(*state_, "reserve", request); }

std::vector<std::variant<Receipt, std::string>> Ledger::spend_all(const std::vector<Spend>& requests) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return spend_all(requests); });

  using Outcome = std::variant<Receipt, std::string>;
  std::vector<Outcome> outcomes(requests.size());
  // Runs a step of every request that has not failed; an error that is not of the store is the outcome of its request.
  std::vector<bool> settled(requests.size(), false);
  const auto for_each = [&](const std::function<void(std::size_t)>& step) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (settled[i]) continue;
      try {
        step(i);
      } catch (const StoreError&) {
        throw;
      } catch (const Error& error) {
        outcomes[i] = std::string(error.what());
        settled[i] = true;
      }
    }
  };
  std::vector<std::optional<Draft>> drafts(requests.size());
  for_each([&](std::size_t i) { drafts[i] = make_draft("spend", requests[i]); });
  while (std::find(settled.begin(), settled.end(), false) != settled.end()) {
    {
      const std::lock_guard lock(state_->mutex);
      bool remembers = true;
      for_each([&](std::size_t i) { remembers = remember_accounts(*state_, *drafts[i]) && remembers; });
      if (!remembers) state_->transact(Access::read, [&] { for_each([&](std::size_t i) { look_up(*state_, requests[i], *drafts[i]); }); });
    }
    std::vector<std::optional<PricedSpend>> priced(requests.size());
    for_each([&](std::size_t i) {
      if (drafts[i]->before)
        outcomes[i] = *drafts[i]->before, settled[i] = true;
      else
        priced[i] = price_spend(*state_, "spend", requests[i], *drafts[i]);
    });
    std::vector<LedgerState::Waiting> waiting(requests.size());
    std::vector<LedgerState::Waiting*> all;
    for_each([&](std::size_t i) {
      waiting[i].spend = &*priced[i];
      all.push_back(&waiting[i]);
    });
    if (!all.empty()) state_->charge_together(all);
    for_each([&](std::size_t i) {
      try {
        if (waiting[i].error) std::rethrow_exception(waiting[i].error);
        outcomes[i] = waiting[i].receipt;
        settled[i] = true;
      } catch (const PriceIsOld&) {
        const std::lock_guard lock(state_->mutex);
        state_->terms.clear();
      }
    });
  }
  return outcomes;
}

Receipt Ledger::use(const std::string& account, const std::string& key) {
  Receipt receipt;
  const std::string mark = new_mark();  // tells our use from that of another process, if the connection breaks after the commit
  std::string mine;                     // the number of the entry that we have tried to write
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::write, [&] {
    std::vector<Row> rows;
    for (const AccountRow& one : state_->accounts_of(account))  // a spend on a group is charged to all blocks that it had
      if (rows.empty()) rows = state_->store->run("SELECT seq FROM tradeoff_charge WHERE account = $1 AND idem_key = $2", {one.name, key});
    if (rows.empty()) throw KeyError("key '" + key.substr(0, 60) + "' has no reservation on account '" + account + "'");
    receipt = state_->receipt_at(static_cast<std::uint64_t>(whole(rows[0][0])), false);
    if (receipt.token == TokenState::none)
      throw KeyError("key '" + key.substr(0, 60) + "' was spent without a token; noise is drawn against a reservation only");
    if (!mine.empty() && receipt.token == TokenState::used &&
        !state_->store->run("SELECT 1 FROM tradeoff_entry WHERE seq = $1 AND digest = $2", {mine, mark}).empty())
      return;  // our first try was committed
    if (receipt.token == TokenState::used)
      throw KeyError("the token of key '" + key.substr(0, 60) +
                     "' is used up: its noise was drawn before. A second draw needs another key and is charged");
    state_->store->run("UPDATE tradeoff_token SET state = 'used' WHERE seq = $1", {rows[0][0]});
    mine = std::to_string(state_->append({.kind = "use", .digest = mark, .detail = rows[0][0]}).first.sequence);
    receipt.token = TokenState::used;
  });
  return receipt;
}

namespace {

/// Inside a transaction: the accounts, with what is reserved and not drawn yet.
std::vector<Account> with_planned(LedgerState& state, const std::vector<AccountRow>& rows) {
  std::map<std::string, Units> planned;
  for (const Row& row : state.store->run("SELECT c.account, SUM(c.amount) FROM tradeoff_token t JOIN tradeoff_charge c ON c.seq = t.seq "
                                         "WHERE t.state = 'open' GROUP BY c.account"))
    planned[row[0]] = whole(row[1]);
  std::vector<Account> all;
  for (const AccountRow& row : rows) {
    all.push_back(to_account(row));
    all.back().planned = to_decimal(planned[row.name], amount_places);
  }
  return all;
}

}  // namespace

std::vector<Account> Ledger::accounts() {
  std::vector<Account> all;
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::read, [&] {
    std::vector<AccountRow> rows;
    for (const Row& row : state_->store->run(std::string("SELECT ") + account_columns + " FROM tradeoff_account ORDER BY name"))
      rows.push_back(account_of(row));
    all = with_planned(*state_, rows);
  });
  return all;
}

std::vector<Account> Ledger::accounts(const std::string& name) {
  std::vector<Account> all;
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::read, [&] { all = with_planned(*state_, state_->accounts_of(name)); });
  return all;
}

Account Ledger::account(const std::string& name) {
  Account found;
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::read, [&] { found = with_planned(*state_, {state_->known_account(name)}).front(); });
  return found;
}

std::vector<HistoryEntry> Ledger::history(const std::string& account) {
  std::vector<HistoryEntry> all;
  const std::lock_guard lock(state_->mutex);
  state_->transact(Access::read, [&] {
    all.clear();
    const AccountRow row = state_->known_account(account);
    for (const Row& one :
         state_->store->run("SELECT c.seq, c.account, c.amount, c.slack, c.low, c.high, c.idem_key, e.time, e.kind, e.plan, e.hash, "
                            "COALESCE((SELECT t.state FROM tradeoff_token t WHERE t.seq = c.seq), '') "
                            "FROM tradeoff_charge c JOIN tradeoff_entry e ON e.seq = c.seq WHERE c.account = $1 ORDER BY c.seq",
                            {account})) {
      const StoredCharge stored = charge_of(one);
      const Charge charge = to_charge(stored, row.currency);
      all.push_back({static_cast<std::uint64_t>(whole(one[0])), one[7], one[8], one[6], one[9], charge, one[10],
                     one[11].empty()     ? TokenState::none
                     : one[11] == "open" ? TokenState::open
                                         : TokenState::used});
    }
  });
  return all;
}

}  // namespace tradeoff
