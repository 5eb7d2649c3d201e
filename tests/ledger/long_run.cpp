// SPDX-License-Identifier: Apache-2.0
// The long run: 32 clients, a thousand kills, a given number of spends on each store; prints what happened. Exit code 1 if a promise was
// broken.
//     ledger_long SPENDS
#include <iostream>

#include "race.h"

namespace tradeoff::detail::test {
namespace {

bool run_on(const std::string& kind, int spends) {
  Place place(kind);
  const std::string log = (std::filesystem::temp_directory_path() / ("ledger_long_" + kind + std::to_string(getpid()))).string();
  constexpr int clients = 32, kills = 1000, batch = 50;
  const Race race{.clients = clients, .kills = kills, .total = spends, .batch = batch, .shared = 100, .cap = "1000"};
  const RaceResult result = run_race(place, race, log, 4);
  Ledger ledger = place.open();
  const auto start = std::chrono::steady_clock::now();
  const Verification found = ledger.verify();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << kind << ": " << result.acknowledged << " spends acknowledged, " << result.refused << " refused or in conflict, "
            << result.kills << " kills, " << clients << " clients, " << result.seconds << " s, " << found.entries << " entries verified in "
            << seconds << " s, " << result.violations.size() << " violations" << std::endl;  // seen before the next store begins
  for (const std::string& violation : result.violations) std::cout << "  " << violation << "\n";
  return result.violations.empty() && found.intact;
}

}  // namespace
}  // namespace tradeoff::detail::test

int main(int count, char** values) {
  const int spends = count > 1 ? std::atoi(values[1]) : 1'000'000;
  bool good = true;
  for (const std::string& kind : tradeoff::detail::test::tested_stores()) good = tradeoff::detail::test::run_on(kind, spends) && good;
  return good ? 0 : 1;
}
