// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include "streams.h"
#include "tradeoff/error.h"
#include "verb.h"

#ifdef TRADEOFF_WITH_LEDGER
#include "ledger/present.h"
#include "ledger_charge.h"
#include "output_file.h"
#include "plan/did_you_mean.h"
#include "plan/neighbours.h"
#include "report/json.h"

namespace tradeoff::detail::cli {
namespace {

using ledger::to_text;

/// The words after `ledger`: the action, then what it needs.
struct Words {
  std::string action;
  std::string account;
  std::string plan;
};

struct Action {
  std::string_view name;
  bool takes_account;
  bool account_may_be_absent;
  bool takes_plan;
  std::string_view options;  ///< those that it reads, each between blanks
  ExitCode (*run)(const Words& words, const Options& options);
};

[[noreturn]] void misuse(const std::string& message) { throw DomainError("ledger: " + message + "; see tradeoff ledger --help"); }

Ledger open_ledger(const Options& options, Ledger::Open open = Ledger::Open::existing) {
  const std::string* url = options.find("store");
  return Ledger(url == nullptr ? default_store : *url, open);
}

void print(const report::JsonWriter& out) { write_out(out.str() + "\n"); }

StatedCap read_cap(const Options& options) {
  const auto number = [&](std::string_view name) {
    const std::string* text = options.find(name);
    return text == nullptr ? std::optional<Number>() : std::optional(read_ledger_number(name, *text));
  };
  return {number("mu"), number("rho"), number("divergence"), number("advantage"), number("epsilon"), number("delta"), number("slack")};
}

Neighbours read_account_neighbours(const Options& options) {
  const std::string* given = options.find("neighbours");
  for (const auto& [word, value] : neighbours_words)
    if (given != nullptr && *given == word) return value;
  return Neighbours::add_remove;
}

ExitCode show_account(const Account& account, const Options& options) {
  if (!options.json) {
    write_out(to_text(std::vector<Account>{account}));
    return ExitCode::done;
  }
  report::JsonWriter out;
  ledger::write_account(account, out);
  print(out);
  return ExitCode::done;
}

ExitCode run_create(const Words& words, const Options& options) {
  const std::string *currency = options.find("currency"), *unit = options.find("unit"), *group = options.find("block-of");
  return show_account(open_ledger(options, Ledger::Open::or_create)
                          .create({words.account, currency == nullptr ? "gdp" : *currency, read_cap(options),
                                   read_account_neighbours(options), unit == nullptr ? "" : *unit, group == nullptr ? "" : *group}),
                      options);
}

ExitCode run_cap(const Words& words, const Options& options) {
  return show_account(open_ledger(options).change_cap(words.account, read_cap(options)), options);
}

ExitCode show_receipt(const Receipt& receipt, const Options& options) {
  if (options.json) {
    report::JsonWriter out;
    ledger::write_receipt(receipt, out);
    print(out);
  } else {
    write_out(to_text(receipt));
  }
  return ExitCode::done;
}

template <class Charge>
ExitCode run_charge(const Words& words, const Options& options, Charge&& charge) {
  const std::string *key = options.find("key"), *slack = options.find("slack");
  if (key == nullptr) misuse("a spend needs --key KEY: the same key is charged once, however often the command is repeated");
  Spend request{names_in(words.account), *key, read_plan_argument(words.plan)};
  if (slack != nullptr) request.slack = read_ledger_number("slack", *slack);
  Ledger ledger = open_ledger(options);
  return show_receipt(charge(ledger, request), options);
}

ExitCode run_spend(const Words& words, const Options& options) {
  return run_charge(words, options, [](Ledger& ledger, const Spend& request) { return ledger.spend(request); });
}
ExitCode run_reserve(const Words& words, const Options& options) {
  return run_charge(words, options, [](Ledger& ledger, const Spend& request) { return ledger.reserve(request); });
}

ExitCode run_use(const Words& words, const Options& options) {
  const std::string* key = options.find("key");
  if (key == nullptr) misuse("use needs --key KEY, the key of the reservation");
  return show_receipt(open_ledger(options).use(words.account, *key), options);
}

ExitCode run_status(const Words& words, const Options& options) {
  Ledger ledger = open_ledger(options);
  const std::vector<Account> accounts = words.account.empty() ? ledger.accounts() : ledger.accounts(words.account);
  const std::string *format = options.find("format"), *file = options.find("out");
  if (format != nullptr && *format == "svg") {
    write_result(file, ledger::to_svg(accounts));
  } else if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("accounts").begin_array();
    for (const Account& account : accounts) ledger::write_account(account, out);
    out.end_array().end_object();
    write_result(file, out.str() + "\n");
  } else {
    write_result(file, to_text(accounts));
  }
  return ExitCode::done;
}

ExitCode run_history(const Words& words, const Options& options) {
  const std::vector<HistoryEntry> entries = open_ledger(options).history(words.account);
  if (options.json) {
    report::JsonWriter out;
    ledger::write_history(entries, out);
    print(out);
    return ExitCode::done;
  }
  std::string text;
  for (const HistoryEntry& entry : entries)
    text += std::to_string(entry.sequence) + "  " + entry.time + "  " + entry.kind + "  " + entry.key + "  " + entry.charge.amount +
            (entry.charge.slack == "0" ? "" : " slack " + entry.charge.slack) + "  " + entry.plan + "\n";
  write_out(text.empty() ? "no entries\n" : text);
  return ExitCode::done;
}

ExitCode run_verify_ledger(const Words&, const Options& options) {
  const std::string* expected = options.find("expect-head");
  if (expected != nullptr && (expected->size() != 64 || expected->find_first_not_of("0123456789abcdef") != std::string::npos))
    misuse("--expect-head needs the head of a receipt, 64 hexadecimal digits");
  const Verification found = open_ledger(options).verify(expected == nullptr ? "" : *expected);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("intact").boolean(found.intact).key("entries").integer(found.entries).key("head").text(found.head);
    out.key("faults").begin_array();
    for (const std::string& fault : found.faults) out.text(fault);
    out.end_array().end_object();
    print(out);
  } else {
    std::string text = found.intact ? "intact: " + std::to_string(found.entries) + " entries, head " + found.head + "\n"
                                    : "the log does not hold together\n";
    for (const std::string& fault : found.faults) text += fault + "\n";
    write_out(text);
  }
  return found.intact ? ExitCode::done : ExitCode::check_failed;
}

ExitCode run_ledger_report(const Words& words, const Options& options) {
  Ledger ledger = open_ledger(options);
  const std::vector<Account> accounts = ledger.accounts(words.account);
  const ledger::AccountReport report = accounts.front().name == words.account
                                           ? ledger::make_report(accounts.front(), ledger.history(words.account))
                                           : ledger::make_report(words.account, accounts);
  if (options.json) {
    report::JsonWriter out;
    write_report(report, out);
    print(out);
  } else {
    write_out(to_text(report));
  }
  return ExitCode::done;
}

ExitCode run_export(const Words&, const Options& options) {
  std::string lines;
  open_ledger(options).export_lines([&](std::string_view line) {
    lines.append(line).append("\n");
    if (lines.size() > 1 << 20) {
      write_out(lines);
      lines.clear();
    }
  });
  write_out(lines);
  return ExitCode::done;
}

constexpr std::string_view cap_words = " store mu rho divergence advantage epsilon delta slack currency neighbours unit block-of ";
constexpr std::array<Action, 10> actions = {{
    {"create", true, false, false, cap_words, run_create},
    {"cap", true, false, false, " store mu rho divergence advantage epsilon delta slack ", run_cap},
    {"spend", true, false, true, " store key slack ", run_spend},
    {"reserve", true, false, true, " store key slack ", run_reserve},
    {"use", true, false, false, " store key ", run_use},
    {"status", true, true, false, " store format out ", run_status},
    {"history", true, false, false, " store ", run_history},
    {"verify", false, false, false, " store expect-head ", run_verify_ledger},
    {"report", true, false, false, " store ", run_ledger_report},
    {"export", false, false, false, " store ", run_export},
}};

const Action& find_action(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Action& action : actions) {
    if (action.name == name) return action;
    names.push_back(action.name);
  }
  std::string known;
  for (const std::string_view one : names) known.append(known.empty() ? "" : ", ").append(one);
  misuse("'" + name.substr(0, 40) + "' is not one of " + known + did_you_mean(name, names, ""));
}

}  // namespace

ExitCode run_ledger(const Verb&, const Options& options) {
  const std::vector<std::string>& given = options.further;
  if (given.empty()) misuse("say what to do: create, spend, status, ...");
  const Action& action = find_action(given[0]);
  const std::string name(action.name);
  for (const auto& [option, value] : options.values)
    if (action.options.find(" " + std::string(option->name) + " ") == std::string_view::npos)
      misuse(name + " has no option --" + std::string(option->name));
  const std::size_t most = 1U + (action.takes_account ? 1U : 0U) + (action.takes_plan ? 1U : 0U);
  const std::size_t least = action.account_may_be_absent ? most - 1 : most;
  if (given.size() < least) misuse(name + " needs " + (given.size() == 1 ? "an account" : "a plan, for example 'gaussian(sigma=10)'"));
  if (given.size() > most) misuse("unexpected word '" + given[most].substr(0, 40) + "' after " + name);
  const Words words{name, given.size() > 1 ? given[1] : "", given.size() > 2 ? given[2] : ""};
  return action.run(words, options);
}

}  // namespace tradeoff::detail::cli
#else
namespace tradeoff::detail::cli {

ExitCode run_ledger(const Verb&, const Options&) {
  throw UnsupportedError("ledger: this program was built without it (TRADEOFF_LEDGER=OFF)");
}

}  // namespace tradeoff::detail::cli
#endif
