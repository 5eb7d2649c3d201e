// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/split_plan.h"

#include "numeric/normal.h"

// [rare-losses]
namespace tradeoff::detail::rare {
namespace {

using std::numbers::pi;

constexpr double widest_window = 1.5;  // in deviations of the noise
constexpr double far_width = 0.75;     // the same, of a window beyond all noise that matters

/// n times a logarithm, rounded up.
double many_above(double n, double log, double units) { return n * log + (n * units + units / 2) * unit_roundoff * (1 + std::abs(log)); }

}  // namespace

double noise_at(const RareKind& kind, double loss) {
  const double odds = loss > 30 ? loss : std::log(std::expm1(loss) + kind.rate);
  return (odds - std::log(kind.rate)) / kind.mu + kind.mu / 2;
}

/// The width up to which a window outweighs w^power beyond it: far out w is q e^(mu z - mu^2/2), and the window falls like
/// e^(-(z - centre)^2 / (2 width^2)).
double widest_at(const RareKind& kind, double centre, double power) {
  constexpr double share = 0.7;
  const double log_odds = std::log(kind.rate) + kind.mu * (centre - kind.mu / 2);
  return log_odds < 0 ? share * std::sqrt(-2 * log_odds / std::max(power, 1.0)) / kind.mu : infinity;
}

Windows windows_at(const Kinds& kinds, double loss, double width, double power) {
  Windows windows;
  for (const RareKind& kind : kinds) {
    const double centre = noise_at(kind, loss);
    windows.push_back({centre, std::min({width / kind.mu, widest_window, widest_at(kind, centre, power)})});
  }
  return windows;
}

Windows far_windows(const Kinds& kinds, double log_probability, double power) {
  double steps = 0;
  for (const RareKind& kind : kinds) steps += kind.times;
  // Phi(-x) is about e^(-x^2/2); the convolution with the window makes the noise wider.
  const double log_share = log_probability - std::log(2 * steps);
  Windows windows;
  for (const RareKind& kind : kinds) {
    const double absent = std::sqrt(std::max(0.0, -2 * log_share));
    const double present = kind.mu + std::sqrt(std::max(0.0, -2 * (log_share - std::log(kind.rate))));
    const double centre = std::max(absent, present), width = std::min(far_width, widest_at(kind, 1.1 * centre, power));
    windows.push_back({centre * std::sqrt(1 + width * width), width});
  }
  return windows;
}

Windows upper_windows(const Kinds& kinds, double log_probability, double largest_power) {
  constexpr double widest_upper = 0.3, most_moved = 2;  // a power moves the noise below a window by power mu width^2
  Windows windows = far_windows(kinds, log_probability, 0);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const double width = std::min(widest_upper, std::sqrt(most_moved / (largest_power * kinds[i].mu)));
    windows[i] = {windows[i].centre / std::sqrt(1 + windows[i].width * windows[i].width) * std::sqrt(1 + width * width), width};
  }
  return windows;
}

SplitPlan::SplitPlan(const Kinds& kinds, Windows windows, double largest_power, const RareAccuracy& accuracy, Windows uppers)
    : kinds_(kinds), windows_(std::move(windows)), uppers_(std::move(uppers)), accuracy_(accuracy) {
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const double narrowest = uppers_.empty() ? windows_[i].width : std::min(windows_[i].width, uppers_[i].width);
    const double step = std::min({0.2, 0.25 / kinds_[i].mu, 0.39 * narrowest}) * accuracy_.coarseness;
    steps_.emplace_back(kinds_[i], windows_[i], upper(i), largest_power, step);
  }
}

bool SplitPlan::usable() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const SplitStep& step) { return step.usable(); });
}

std::optional<SplitPlan::Bulk> SplitPlan::fine_bulk(std::size_t kind, double power, double time_step, double longest) const {
  const RareKind& one = kinds_[kind];
  const double wanted = accuracy_.quadrature / one.times;
  const auto refine = [&]<class Tilt>(std::in_place_type_t<Tilt>, double fineness) -> std::optional<Bulk> {
    for (;; fineness *= 0.7) {
      const SplitStep finer(one, windows_[kind], upper(kind), 1, steps_[kind].step() * fineness);
      if (!finer.usable()) return std::nullopt;
      Tilt tilt(finer, power, time_step, longest);
      if (tilt.missed() < wanted) return tilt;
    }
  };
  // the phases at the window turn at most this fast
  const double turns = longest * one.mu * -std::expm1(-steps_[kind].loss_at(windows_[kind].centre)) * 1.6;
  const double coarsest = 2 * pi / (turns + 20 / windows_[kind].width) / steps_[kind].step() * accuracy_.coarseness;
  auto found = refine(std::in_place_type<SplitStep::BulkTilt>, std::min(1.0, coarsest));
  return found ? std::move(found) : refine(std::in_place_type<SplitStep::RaisedBulk>, 1);
}

double SplitPlan::log_rare(double order) const {
  double bulk = 0, tail = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double less_one = steps_[i].bulk_less_one(1 + order);
    bulk += kinds_[i].times * std::log1p(less_one);
    tail += kinds_[i].times * std::log1p(std::exp(steps_[i].log_tail(1 + order)) / (1 + less_one));
  }
  return bulk + log_expm1_of(tail);
}

double SplitPlan::log_bulk(double order) const {
  double bulk = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) bulk += kinds_[i].times * std::log1p(steps_[i].bulk_less_one(1 + order));
  return bulk;
}

SplitPlan::RareMoments SplitPlan::rare_above(double order) const {
  double all = 0, bulks = 0, tails = -infinity, shares = -infinity;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double bulk = steps_[i].log_moment_above(Share::bulk, 1 + order), tail = steps_[i].log_moment_above(Share::tail, 1 + order);
    const double whole = log_add(bulk, tail), n = kinds_[i].times, log_n = std::log(n);
    all += many_above(n, whole, 16);
    bulks += many_above(n, bulk, 16);
    shares = log_add(shares, log_n + tail - whole);
    tails = log_add(tails, log_n + tail - bulk);
  }
  return {bulks + tails + 1e-9, all + 2 * shares - std::log(2.0) + 1e-9, all + shares + 1e-9};
}

double SplitPlan::log_bulk_above(double order) const {
  double all = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) all += many_above(kinds_[i].times, steps_[i].log_moment_above(Share::bulk, 1 + order), 8);
  return all + 1e-9;
}

double SplitPlan::log_rare_beyond(double order, double t) const {
  double all = 0, tails = -infinity;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const double bulk = steps_[i].log_moment_above(Share::bulk, 1 + order), tail = steps_[i].log_moment_above(Share::tail, 1 + order);
    const double whole = log_add(bulk, tail);
    all += many_above(kinds_[i].times, whole, 16);
    tails = log_add(tails, std::log(kinds_[i].times) + steps_[i].log_beyond(Share::tail, 1 + order, t) - whole);
  }
  return all + tails + 1e-9;
}

double SplitPlan::log_bulk_beyond(double order, double t) const {
  double all = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) all += many_above(kinds_[i].times, steps_[i].log_beyond(Share::bulk, 1 + order, t), 8);
  return all + 1e-9;
}

// Under P the noise is N(0,1), or N(mu,1) with the rate; smoothing by the window adds its variance.
double SplitPlan::log_probability_above(const Windows& windows) const {
  Interval sum = Interval::exactly(-infinity);  // logarithms: the probabilities may be below all doubles
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const RareKind& kind = kinds_[i];
    const auto about = [](double value, double relative) { return Interval{value * (1 - 2 * relative), value * (1 + 2 * relative)}; };
    const Interval deviation = sqrt(Interval::exactly(1) + square(Interval::exactly(windows[i].width)));
    const Interval centre = Interval::exactly(windows[i].centre), rate = about(kind.rate, kind.relative_rate);
    const Interval large = log_add_exp(log(clamp(1.0 - rate, 0, 1)) + log_normal_cdf(-centre / deviation),
                                       log(rate) + log_normal_cdf((about(kind.mu, kind.relative_mu) - centre) / deviation));
    sum = log_add_exp(sum, log(Interval::exactly(kind.times)) + large);
  }
  return sum.hi;
}

}  // namespace tradeoff::detail::rare
