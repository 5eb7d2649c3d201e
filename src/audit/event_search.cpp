// SPDX-License-Identifier: Apache-2.0
#include "audit/event_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "numeric/normal.h"

namespace tradeoff::detail::audit {
namespace {

constexpr std::size_t most_thresholds = 200;  // of a score; more change the chosen rates by less than their error
constexpr double caution = 1;                 // standard deviations by which estimated rates are moved towards the claim
constexpr double band_deviations = 4;         // about the half-width of the intervals of a band

struct Estimate {
  double rate;
  double deviation;
};

Estimate estimate(Count count) {
  const double n = static_cast<double>(count.samples), rate = (static_cast<double>(count.hits) + 0.5) / (n + 1);
  return {rate, std::sqrt(rate * (1 - rate) / n)};
}

double first_below(Count count, double deviations) {
  const Estimate found = estimate(count);
  return std::max(0.0, found.rate - deviations * found.deviation);
}
double second_above(Count count, double deviations) {
  const Estimate found = estimate(count);
  return std::min(1.0, found.rate + deviations * found.deviation);
}

std::vector<double> values_of(const Score& score, Rows rows) {
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.size(); ++i) values.push_back(score.at(rows.row(i)));
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> thresholds_of(const std::vector<double>& one, const std::vector<double>& other) {
  std::vector<double> all = one;
  all.insert(all.end(), other.begin(), other.end());
  std::sort(all.begin(), all.end());
  std::vector<double> chosen;
  const std::size_t n = all.size();
  for (std::size_t i = 0; i < most_thresholds; ++i) chosen.push_back(all[i * (n - 1) / (most_thresholds - 1)]);
  for (std::size_t i = 1; i < n; i *= 2) {  // the extremes: small probabilities
    chosen.push_back(all[i - 1]);
    chosen.push_back(all[n - i]);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::uint64_t hits(const std::vector<double>& sorted, double threshold, bool above) {
  if (above) return static_cast<std::uint64_t>(sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), threshold));
  return static_cast<std::uint64_t>(std::upper_bound(sorted.begin(), sorted.end(), threshold) - sorted.begin());
}

}  // namespace

std::vector<Candidate> candidates(const std::vector<Score>& scores, Rows with, Rows without) {
  std::vector<Candidate> found;
  for (std::size_t s = 0; s < scores.size(); ++s) {
    const std::size_t first = scores[s].is_learned() ? with.size() / 2 : 0;  // the first half was used to learn it
    const std::vector<double> one = values_of(scores[s], with.from(first)), other = values_of(scores[s], without.from(first));
    for (const double threshold : thresholds_of(one, other)) {
      for (const bool above : {true, false}) {
        const Count a{one.size(), hits(one, threshold, above)}, b{other.size(), hits(other, threshold, above)};
        found.push_back({{s, threshold, above, Order::with_over_without}, a, b});
        found.push_back({{s, threshold, above, Order::without_over_with}, b, a});
      }
    }
  }
  return found;
}

std::vector<BetOnEvent> choose_bets(const std::vector<Candidate>& found, const Claim& claim) {
  std::map<std::size_t, std::pair<double, BetOnEvent>> best;  // by score
  for (const Candidate& one : found) {
    const double first = first_below(one.first, caution), second = second_above(one.second, caution);
    for (const Line& line : claim.of(one.event.order)) {
      const double growth = rough_growth(line, first, second);
      auto& place = best[one.event.score];
      if (growth > place.first) place = {growth, {one, Bet{.line = line}}};
    }
  }
  std::vector<BetOnEvent> bets;
  double most = 0;
  for (auto& [score, entry] : best) {
    if (!(entry.first > 0)) continue;
    const Candidate& on = entry.second.on;
    entry.second.bet = make_bet(entry.second.bet.line, first_below(on.first, caution), second_above(on.second, caution));
    if (!(entry.second.bet.growth > 0)) continue;
    most = std::max(most, entry.second.bet.growth);
    bets.push_back(entry.second);
  }
  std::erase_if(bets, [&](const BetOnEvent& one) { return one.bet.growth < most / 4; });  // a share of the wealth that would lie idle
  return bets;
}

std::vector<Candidate> choose_for_band(const std::vector<Candidate>& found) {
  constexpr std::array<double, 9> slopes = {1, 1.3, 1.7, 2.7, 5, 10, 30, 100, 1000};
  std::vector<Candidate> chosen;
  const auto add_best = [&](Order order, const auto& value) {
    const Candidate* best = nullptr;
    double most = 0;
    for (const Candidate& one : found) {
      if (one.event.order != order) continue;
      const double at = value(first_below(one.first, band_deviations), second_above(one.second, band_deviations));
      if (at > most) {
        most = at;
        best = &one;
      }
    }
    if (best == nullptr) return;
    const auto same = [&](const Candidate& other) {
      return std::tie(other.event.score, other.event.threshold, other.event.above, other.event.order) ==
             std::tie(best->event.score, best->event.threshold, best->event.above, best->event.order);
    };
    if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(*best);
  };
  for (const Order order : {Order::with_over_without, Order::without_over_with}) {
    for (const double slope : slopes) add_best(order, [&](double p, double q) { return p - slope * q; });
    add_best(order, [](double p, double q) {
      return p > q && p > 1e-6 && q < 1 ? middle_of(normal_quantile(p)) - middle_of(normal_quantile(q)) : 0.0;
    });
  }
  if (chosen.empty() && !found.empty()) {  // nothing stands out: the best guess without caution
    const auto gap = [](const Candidate& one) { return estimate(one.first).rate - estimate(one.second).rate; };
    chosen.push_back(
        *std::max_element(found.begin(), found.end(), [&](const Candidate& a, const Candidate& b) { return gap(a) < gap(b); }));
  }
  return chosen;
}

}  // namespace tradeoff::detail::audit
