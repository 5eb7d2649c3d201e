// SPDX-License-Identifier: Apache-2.0
#include "ledger_charge.h"

#include <algorithm>

#include "tradeoff/error.h"

#ifdef TRADEOFF_WITH_LEDGER
#include "ledger/present.h"
#include "plan/neighbours.h"
#include "report/json.h"
#endif

namespace tradeoff::detail::cli {

Number read_ledger_number(std::string_view name, const std::string& text) {
  try {
    return read_number(text);
  } catch (const ParseError&) {
    throw DomainError("ledger: --" + std::string(name) + " = " + text.substr(0, 40) + " is not a number");
  }
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    names.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

bool names_ledger(const Options& options, const char* verb) {
  int given = 0;
  for (const char* name : {"ledger", "account", "key"}) given += options.find(name) != nullptr ? 1 : 0;
  if (given != 0 && given != 3) throw DomainError(std::string(verb) + ": --ledger, --account and --key go together");
  return given == 3;
}

#ifdef TRADEOFF_WITH_LEDGER
std::string charge_ledger(const Options& options, const char* verb, const std::string& drawn_plan, Neighbours neighbours) {
  if (!names_ledger(options, verb)) return {};
  Ledger budget(*options.find("ledger"));
  const Spend request{names_in(*options.find("account")), *options.find("key"), drawn_plan};
  for (const std::string& name : request.accounts)
    for (const Account& account : budget.accounts(name))
      if (neighbours != Neighbours::unstated && neighbours != account.neighbours)
        throw DomainError(std::string(verb) + ": the account '" + account.name + "' protects " + to_word(account.neighbours) +
                          " neighbours, and this is about " + to_word(neighbours));
  Receipt receipt = budget.reserve(request);
  receipt.token = budget.use(request.accounts.front(), request.key).token;  // from here on, this key draws no more noise
  report::JsonWriter out;
  ledger::write_receipt(receipt, out);
  return out.str();
}
#else
std::string charge_ledger(const Options& options, const char* verb, const std::string&, Neighbours) {
  if (!names_ledger(options, verb)) return {};
  throw UnsupportedError(std::string(verb) + ": this program was built without the ledger (TRADEOFF_LEDGER=OFF)");
}
#endif

}  // namespace tradeoff::detail::cli
