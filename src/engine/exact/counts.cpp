// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "engine/exact/wide_math.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

// [count-sums]
namespace tradeoff::detail::exact {
namespace {

constexpr std::size_t most_sums = 1 << 20;  // 16 MB, ten milliseconds
constexpr std::size_t most_terms_summed = 1 << 18;
constexpr double deviations = 20, few_counts = 16, rarest = 50;  // of all counts of a row, for estimates

/// Binomial probabilities from the mode outward; what is left out at either end is at most `dropped`.
struct Window {
  std::uint64_t first = 0;
  std::vector<double> mass;
  double dropped = 0;
};

// The ratio of neighbours falls from count to count, so what is left out is at most a geometric series.
Window window_of(std::uint64_t count, double odds, double least_share) {
  const auto n = static_cast<double>(count);
  const double mode = std::clamp(std::floor((n + 1) * (odds / (1 + odds))), 0.0, n);
  std::vector<double> down, up{1.0};
  double dropped = 0;
  for (double k = mode; k < n; ++k) {
    const double ratio = odds * (n - k) / (k + 1), next = up.back() * ratio;
    if (next < least_share && ratio < 1) {
      dropped += next / (1 - ratio);
      break;
    }
    up.push_back(next);
  }
  for (double k = mode; k > 0; --k) {
    const double ratio = k / (odds * (n - k + 1)), next = (down.empty() ? 1.0 : down.back()) * ratio;
    if (next < least_share && ratio < 1) {
      dropped += next / (1 - ratio);
      break;
    }
    down.push_back(next);
  }
  Window window{static_cast<std::uint64_t>(mode) - down.size(), {}, 0};
  window.mass.assign(down.rbegin(), down.rend());
  window.mass.insert(window.mass.end(), up.begin(), up.end());
  const double total = std::accumulate(window.mass.begin(), window.mass.end(), 0.0);
  for (double& mass : window.mass) mass /= total;
  window.dropped = dropped / total * (1 + 1e-6);
  return window;
}

/// The log error of the probabilities of a window for odds within e^(+-error). They add up to 1 without what is left out.
double window_spread(const Window& window, std::uint64_t count, double error) {
  if (!(window.dropped < 0.5)) return infinity;
  const auto length = static_cast<double>(window.mass.size());
  return (length + 2) * (4.1 * unit_roundoff + error) + static_cast<double>(count) * error * error + 2 * window.dropped;
}

TiltedPart tilted(const CountedPart& part, double order) {
  struct One {
    double loss;
    Wide weight;
    double error;
  };
  const double top = *std::max_element(part.losses.begin(), part.losses.end());
  std::vector<One> all;
  for (std::size_t i = 0; i < part.losses.size(); ++i) {
    const Wide exponent = static_cast<Wide>(order) * (static_cast<Wide>(part.losses[i]) - static_cast<Wide>(top));
    all.push_back({part.losses[i], middle(part.masses[i]) * wide_exp(exponent),
                   log_radius(part.masses[i]) + (20 + 4 * std::abs(static_cast<double>(exponent))) * wide_unit});
  }
  std::stable_sort(all.begin(), all.end(), [](const One& a, const One& b) { return a.weight < b.weight; });
  TiltedPart result{{}, {}, {}, part.times};
  Wide later = 0;
  double later_error = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (i + 1 < all.size()) {
      result.odds.push_back(static_cast<double>(all[i].weight / later));
      result.error.push_back(all[i].error + later_error + unit_roundoff + (static_cast<double>(all.size()) + 4) * wide_unit);
    }
    later += all[i].weight;
    later_error = std::max(later_error, all[i].error);
  }
  std::reverse(result.odds.begin(), result.odds.end());
  std::reverse(result.error.begin(), result.error.end());
  for (const One& one : all) result.losses.push_back(one.loss);
  return result;
}

/// The deviation of the count of a value with these odds.
double deviation_of(double times, double odds) { return std::sqrt(times * odds) / (1 + odds); }

/// The deviation of the last of the counts, given all others.
double last_deviation(const TiltedPart& part) {
  return part.odds.empty() ? 0 : deviation_of(static_cast<double>(part.times), part.odds.back());
}

/// Lists counts value by value, the rarest first.
struct Lister {
  const TiltedPart& part;
  std::size_t values;  // listed: all, or all but the last two
  const CountAccuracy& accuracy;
  double spread = 0, omitted = 0;
  bool fits = true;
  std::vector<double> worst{};  // log error of each value's window

  template <class Receive>
  void list(std::size_t value, std::uint64_t left, const Counted& so_far, const Receive& receive) {
    if (!fits) return;
    if (value == values) {
      fits = receive(so_far, left);
      return;
    }
    if (value + 1 == part.losses.size()) {  // all that are left
      fits = receive(Counted{so_far.loss + static_cast<Wide>(left) * static_cast<Wide>(part.losses[value]), so_far.mass}, 0);
      return;
    }
    const Window window = window_of(left, part.odds[value], accuracy.share);
    worst.resize(std::max(worst.size(), value + 1), 0.0);
    worst[value] = std::max(worst[value], window_spread(window, left, part.error[value]));
    omitted += so_far.mass * window.dropped;
    for (std::size_t i = 0; i < window.mass.size() && fits; ++i) {
      const std::uint64_t count = window.first + i;
      const Counted next{so_far.loss + static_cast<Wide>(count) * static_cast<Wide>(part.losses[value]), so_far.mass * window.mass[i]};
      if (next.mass < accuracy.mass)
        omitted += next.mass;
      else
        list(value + 1, left - count, next, receive);
    }
  }
  [[nodiscard]] double all_spread() const { return std::accumulate(worst.begin(), worst.end(), spread); }
};

}  // namespace

LogMoment log_moment(const CountedParts& parts, double order) {
  LogMoment all;
  for (const CountedPart& part : parts) {
    const double top = *std::max_element(part.losses.begin(), part.losses.end());
    double sum = 0, first = 0, second = 0, rise = 0;
    for (std::size_t i = 0; i < part.losses.size(); ++i) {
      const double mass = part.masses[i].hi, weight = mass * std::exp(order * (part.losses[i] - top));
      sum += weight;
      first += weight * part.losses[i];
      second += weight * part.losses[i] * part.losses[i];
      rise += mass * std::expm1(order * part.losses[i]);
    }
    const double times = static_cast<double>(part.times), mean = first / sum;
    all.value += times * (std::abs(rise) < 0.5 ? std::log1p(rise - part.infinite.hi) : order * top + std::log(sum));
    all.mean += times * mean;
    all.variance += times * std::max(0.0, second / sum - mean * mean);
  }
  return all;
}

namespace {

/// How many counts of a value are probable: standard deviations around the mean, or a few events of a rare one.
double probable_counts(double times, double odds) {
  const double expected = times * odds / (1 + odds);
  const double few = expected < 1 ? 1 + std::min(few_counts, rarest / -std::log(expected)) : 1 + few_counts;
  return std::min(times + 1, few + deviations * (expected < 1 ? 0 : deviation_of(times, odds)));
}

}  // namespace

double counts_listed(const CountedParts& parts) {
  double all = 1;
  for (const CountedPart& part : parts) {
    const auto times = static_cast<double>(part.times);
    double probable = 1, possible = 1;  // the latter without regard to probabilities
    std::size_t value = 0;
    for (const double odds : tilted(part, 0).odds) {
      probable *= probable_counts(times, odds);
      ++value;
      possible *= (times + static_cast<double>(value)) / static_cast<double>(value);
    }
    all *= std::min(probable, possible);
  }
  return all;
}

double counts_size(const CountedParts& parts) {
  double all = 1, longest = 1, stored = 1;
  for (const CountedPart& part : parts) {
    double own = 1, last = 1;
    for (const double odds : tilted(part, 0).odds) {
      last = probable_counts(static_cast<double>(part.times), odds);
      own *= last;
    }
    all *= own;
    if (last > longest) longest = last, stored = own;
  }
  return all / longest + stored / 4;
}

// [count-sums] 1 - e^-(x + s) = (1 - e^-x) + e^-x (1 - e^-s): all terms are positive.
void Counts::add_row(const TiltedPart& part, const Counted& others, std::uint64_t left) {
  const std::size_t last = part.losses.size() - 1;
  const bool rises = part.losses[last - 1] > part.losses[last];  // odds are those of the value before the last
  const double odds = rises ? part.odds.back() : 1 / part.odds.back();
  const Wide low = static_cast<Wide>(std::min(part.losses[last - 1], part.losses[last]));
  const Window window = window_of(left, odds, accuracy_.share);
  omitted_ += others.mass * window.dropped;
  spread_ = std::max(spread_, window_spread(window, left, part.error.back() + unit_roundoff) +
                                  10 * static_cast<double>(window.mass.size()) * unit_roundoff);
  const double fall = static_cast<double>(wide_exp(-static_cast<Wide>(order_) * step_)), more = static_cast<double>(wide_exp(-step_)),
               rise = static_cast<double>(-wide_expm1(-step_)), both = fall * more;
  const std::size_t begin = sums_.size(), size = window.mass.size();
  sums_.resize(begin + size);
  RowSum above{0, 0};
  for (std::size_t i = size; i-- > 0;) {
    above = {fall * (above.profile + rise * above.accused), window.mass[i] + both * above.accused};
    sums_[begin + i] = above;
  }
  rows_.push_back({others.loss + static_cast<Wide>(left) * low + static_cast<Wide>(window.first) * step_, others.mass, begin, size});
}

std::shared_ptr<const Counts> Counts::make(const CountedParts& parts, double order, const CountAccuracy& accuracy) {
  std::shared_ptr<Counts> counts(new Counts());
  counts->order_ = order;
  counts->accuracy_ = accuracy;
  counts->log_moment_ = Interval::exactly(0);
  std::vector<TiltedPart> all;
  for (const CountedPart& part : parts) {
    for (const Interval mass : part.masses)
      if (!(log_radius(mass) < 1e-9)) return nullptr;
    Interval rise = Interval::exactly(0);
    const Interval finite = 1.0 - part.infinite;
    for (std::size_t i = 0; i < part.losses.size(); ++i)
      rise = rise + part.masses[i] / finite * expm1(Interval::exactly(order) * Interval::exactly(part.losses[i]));
    if (!(rise.lo > -1) || !(rise.hi < infinity)) return nullptr;
    counts->log_moment_ = counts->log_moment_ + Interval::exactly(static_cast<double>(part.times)) * (log1p(rise) + log1p(-part.infinite));
    all.push_back(tilted(part, order));
    for (const double odds : all.back().odds)
      if (!(odds > 1e-280 && odds < 1e280)) return nullptr;
  }
  // The part with the longest rows is the one whose last count is not listed.
  const auto inner = std::max_element(all.begin(), all.end(),
                                      [](const TiltedPart& a, const TiltedPart& b) { return last_deviation(a) < last_deviation(b); });
  double spread = 0;
  counts->points_ = {{0, 1}};
  for (auto part = all.begin(); part != all.end(); ++part) {
    if (part == inner) continue;
    std::vector<Counted> longer;
    Lister lister{*part, part->losses.size(), accuracy};
    for (const Counted& point : counts->points_)
      lister.list(0, part->times, point, [&](const Counted& found, std::uint64_t) {
        longer.push_back(found);
        return longer.size() <= most_terms_summed;
      });
    if (!lister.fits) return nullptr;
    spread += lister.all_spread();
    counts->omitted_ += lister.omitted;
    counts->points_ = std::move(longer);
  }
  if (inner->odds.empty()) {  // every part has a single loss
    counts->step_ = 1;
    counts->sums_ = {{0, 1}};
    counts->rows_ = {{static_cast<Wide>(inner->times) * static_cast<Wide>(inner->losses.front()), 1, 0, 1}};
  } else {
    const std::size_t last = inner->losses.size() - 1;
    counts->step_ = std::abs(static_cast<Wide>(inner->losses[last - 1]) - static_cast<Wide>(inner->losses[last]));
    if (!(counts->step_ > 0)) return nullptr;
    Lister lister{*inner, last - 1, accuracy};
    lister.list(0, inner->times, {0, 1}, [&](const Counted& found, std::uint64_t left) {
      counts->add_row(*inner, found, left);
      return counts->sums_.size() <= most_sums && counts->terms() <= most_terms_summed;
    });
    if (!lister.fits) return nullptr;
    spread += lister.all_spread();
    counts->omitted_ += lister.omitted;
  }
  Work::count(10 + 0.01 * static_cast<double>(counts->sums_.size()) + 0.02 * static_cast<double>(counts->points_.size()));
  // exponentials of up to 745, the product of masses, and sums over rows and points
  const double sums = 2000 + 4 * static_cast<double>(parts.size()) + static_cast<double>(counts->rows_.size() + counts->points_.size());
  counts->spread_ = (counts->spread_ + spread + sums * unit_roundoff) * (1 + 1e-6);
  counts->omitted_ *= 1 + 1e-6;
  return counts;
}

// [averaged-counts]
std::optional<CountList> list_counts(const CountedParts& parts, const CountAccuracy& accuracy, std::size_t most) {
  CountList list{{{0, 1}}};
  double values = 0;
  for (const CountedPart& part : parts) {
    for (const Interval mass : part.masses)
      if (!(log_radius(mass) < 1e-9)) return std::nullopt;
    const TiltedPart one = tilted(part, 0);
    for (const double odds : one.odds)
      if (!(odds > 1e-280 && odds < 1e280)) return std::nullopt;
    std::vector<Counted> longer;
    Lister lister{one, one.losses.size(), accuracy};
    for (const Counted& point : list.points)
      lister.list(0, part.times, point, [&](const Counted& found, std::uint64_t) {
        longer.push_back(found);
        return longer.size() <= most;
      });
    if (!lister.fits) return std::nullopt;
    list.spread += lister.all_spread();
    list.omitted += lister.omitted;
    list.points = std::move(longer);
    values += static_cast<double>(one.losses.size());
  }
  list.spread = (list.spread + (2 * values + 8) * unit_roundoff) * (1 + 1e-6);  // each mass is a product of so many
  list.omitted *= 1 + 1e-6;
  return list;
}

Interval Counts::log_scale(double epsilon) const { return log_moment_ - Interval::exactly(order_) * Interval::exactly(epsilon); }

Counts::Sums Counts::at(double epsilon) const {
  Sums all;
  const auto step = static_cast<double>(step_);
  for (const Row& row : rows_) {
    Sums sum;
    for (const Counted& point : points_) {
      const Wide lowest = row.lowest + point.loss - static_cast<Wide>(epsilon);
      std::size_t first = 0;
      Wide above = lowest;
      if (lowest < 0) {
        const double steps = std::floor(static_cast<double>(-lowest) / step) + 1;
        if (!(steps <= static_cast<double>(row.size) + 1)) continue;
        first = static_cast<std::size_t>(steps);
        above = lowest + static_cast<Wide>(steps) * step_;
        // the quotient is rounded: the loss before may be above epsilon, or this one below it
        if (above > step_ && first > 0) --first, above -= step_;
        if (above < 0) ++first, above += step_;
        if (first >= row.size) continue;
      }
      const auto x = static_cast<double>(above);
      const RowSum& from = sums_[row.begin + first];
      const double fall = point.mass * std::exp(-order_ * x);
      sum.profile += fall * (from.profile - std::expm1(-x) * from.accused);
      sum.detected += fall * (from.profile + from.accused);
      sum.accused += fall * std::exp(-x) * from.accused;
    }
    all.profile += row.mass * sum.profile;
    all.detected += row.mass * sum.detected;
    all.accused += row.mass * sum.accused;
  }
  Work::count(1 + 0.05 * static_cast<double>(terms()));
  return all;
}

}  // namespace tradeoff::detail::exact
