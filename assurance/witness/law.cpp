// SPDX-License-Identifier: Apache-2.0
#include "law.h"

#include "tradeoff/error.h"

namespace tradeoff::detail::witness {
namespace {

constexpr std::size_t most_atoms = 100'000;  // about a second of work

}  // namespace

Real Atoms::loss(const Place& place, const std::vector<Real>& units) {
  Real sum;
  for (const auto& [unit, count] : place) sum += units[unit] * Real(count);
  return sum;
}

Atoms convolve(const Atoms& a, const Atoms& b) {
  Atoms result;
  for (const auto& [place_a, mass_a] : a.masses()) {
    for (const auto& [place_b, mass_b] : b.masses()) {
      Place place = place_a;
      for (const auto& [unit, count] : place_b) {
        const auto at = place.try_emplace(unit, 0).first;
        at->second += count;
        if (at->second == 0) place.erase(at);
      }
      result.add(place, mass_a * mass_b);
    }
    if (result.masses().size() > most_atoms) throw UnsupportedError("witness: the plan has too many point masses");
  }
  return result;
}

Atoms convolve_power(const Atoms& atoms, unsigned long times) {
  Atoms result;
  result.add({}, Real(1));
  for (unsigned long step = 0; step < times; ++step) result = convolve(result, atoms);
  return result;
}

}  // namespace tradeoff::detail::witness
