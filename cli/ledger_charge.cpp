// SPDX-License-Identifier: Apache-2.0
#include "ledger_charge.h"

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
  const Neighbours protects = budget.account(*options.find("account")).neighbours;
  if (neighbours != Neighbours::unstated && neighbours != protects)
    throw DomainError(std::string(verb) + ": the account protects " + to_word(protects) + " neighbours, and this is about " +
                      to_word(neighbours));
  const Spend request{{*options.find("account")}, *options.find("key"), drawn_plan};
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
