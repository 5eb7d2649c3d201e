// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/compose.h"
#include "loss/forwarding_loss.h"
#include "loss/gaussian_profile.h"
#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/allocation/contour.h"
#include "operators/allocation/price.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using allocation::Option;

constexpr double usual_width = 0.8e-6;   // of delta, relative
constexpr double rough_width = 0.02;     // for searches
constexpr double wanted_epsilon = 1e-6;  // relative
constexpr double finest_width = 2e-8;    // about the accuracy of a line
constexpr double least_log_delta = -600;
constexpr double near = 150;       // values of one group of strikes differ by at most this factor
constexpr double least_mu = 1e-4;  // outside these the bounds by Gaussians are the answer: a summand leaves the range of doubles,
constexpr double largest_mu = 12;  // or its cells the accuracy of positions
constexpr double largest_epsilon = 500;
constexpr double replace_width = 0.8e-6;  // every value needs its own distributions
constexpr std::uint64_t most_allocated_steps = 10'000'000;

// [random-allocation]
class AllocationLoss final : public Loss, public ClosedForms, public BatchProfile {
 public:
  AllocationLoss(Interval mu, std::uint64_t steps, const std::string& draws)
      : mu_(mu),
        steps_(static_cast<double>(steps)),
        pair_("random-allocation", draws + "exact dominating pair of one step in " + std::to_string(steps)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    if (!std::isfinite(epsilon.lo) || !std::isfinite(epsilon.hi)) return {at(direction, epsilon.hi).lo, at(direction, epsilon.lo).hi};
    std::array<Interval, 2> ends;
    const std::array<double, 2> points{epsilon.lo, epsilon.hi};
    deltas(direction, std::span(points).first(epsilon.lo == epsilon.hi ? 1 : 2), {usual_width}, ends);
    return epsilon.lo == epsilon.hi ? ends[0] : Interval{ends[1].lo, ends[0].hi};
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const Interval bound = log_bounds(direction, epsilon);
    if (epsilon.lo >= 0 && bound.hi < least_log_delta) return by_gaussian(bound);
    return intersect(log(delta(direction, epsilon)), bound);
  }
  void deltas(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const override;

  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  // One Gaussian per epoch dominates, and a T-th part of it at epsilon + log T is dominated: the limit of the tail is mu.
  // [random-allocation]
  [[nodiscard]] Tail tail() const override { return gdp_tail(mu_); }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .batch = this, .cost = Cost::engine, .atomless = true};
  }
  [[nodiscard]] std::string key() const override { return make_key("allocate", {mu_, Interval::exactly(steps_)}); }
  void cite() const override { record(pair_); }

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    const Unrecorded steering;
    if (!std::isfinite(epsilon)) return std::nullopt;
    Interval value;
    deltas(direction, {&epsilon, 1}, {rough_width}, {&value, 1});
    return value.lo > 0 ? std::sqrt(value.lo * value.hi) : value.hi / 2;
  }

 private:
  [[nodiscard]] Interval at(Direction direction, double epsilon) const {
    if (epsilon == infinity) return Interval::exactly(0);
    if (epsilon == -infinity) return Interval::exactly(1);
    Interval value;
    deltas(direction, {&epsilon, 1}, {usual_width}, {&value, 1});
    return value;
  }

  /// The value of an option that is worth nothing at the mean: calls for the remove direction, puts for the add direction, epsilon >= 0.
  void price(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const;
  /// One Gaussian per epoch above; below, in the remove direction, one step with probability 1/T, shown.
  [[nodiscard]] Interval log_bounds(Direction direction, Interval epsilon) const {
    const Interval count = log(Interval::exactly(steps_));
    Interval bound{-infinity, std::min(0.0, log_gaussian_delta(mu_, epsilon).hi)};
    if (direction == Direction::remove) bound.lo = std::min(bound.hi, (log_gaussian_delta(mu_, epsilon + count) - count).lo);
    return bound;
  }
  [[nodiscard]] Interval by_gaussian(Interval value) const {
    static const Citation bound("random-allocation", "far in the tail: at most the Gaussian of one step, at least its share of one in T");
    cite();
    record(bound);
    return value;
  }
  /// About delta at epsilon >= 0: for searches.
  [[nodiscard]] double rough_value(Direction direction, double epsilon) const {
    const double mu = middle_of(mu_);
    if (direction == Direction::remove) return std::exp(allocation::rough_log_option(mu, steps_, Option::call, steps_ * std::exp(epsilon)));
    return std::exp(epsilon + allocation::rough_log_option(mu, steps_, Option::put, steps_ * std::exp(-epsilon)));
  }
  void price_groups(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const;
  [[nodiscard]] bool can_price(double epsilon) const { return mu_.lo >= least_mu && mu_.hi <= largest_mu && epsilon <= largest_epsilon; }
  struct Guess {
    double epsilon;
    double slope;  // minus the derivative of log delta
  };
  [[nodiscard]] std::optional<Guess> approach(Direction direction, double log_target, double highest) const;

  Interval mu_;
  double steps_;
  Citation pair_;
};

void AllocationLoss::price(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const {
  const bool remove = direction == Direction::remove;
  const Interval count = Interval::exactly(steps_);
  // Every strike between two doubles; the values increase from one end to the other.
  std::vector<std::pair<double, std::size_t>> order;
  std::vector<Interval> strikes(epsilon.size());
  for (std::size_t i = 0; i < epsilon.size(); ++i) {
    const Interval point = Interval::exactly(epsilon[i]);
    strikes[i] = count * exp(remove ? point : -point);
    order.emplace_back(strikes[i].lo, i);
    order.emplace_back(strikes[i].hi, i + epsilon.size());
  }
  std::sort(order.begin(), order.end());
  std::vector<double> sorted;
  for (const auto& [strike, place] : order) sorted.push_back(strike);
  const double floor = width.absolute / width.relative * (remove ? 1 : std::exp(-epsilon.back()));
  const std::vector<Interval> values =
      allocation::lognormal_options(mu_, steps_, remove ? Option::call : Option::put, sorted, width.relative, floor);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const bool upper_strike = order[n].second >= epsilon.size();
    const std::size_t i = upper_strike ? order[n].second - epsilon.size() : order[n].second;
    // Calls fall and puts rise with the strike.
    if (upper_strike == remove)
      out[i].lo = values[n].lo;
    else
      out[i].hi = values[n].hi;
  }
  for (std::size_t i = 0; i < epsilon.size(); ++i) {
    Interval value = remove ? out[i] : exp(Interval::exactly(epsilon[i])) * out[i];
    const Interval bound = exp(log_bounds(direction, Interval::exactly(epsilon[i])));
    out[i] = clamp(intersect(value, bound), 0, 1);
  }
}

void AllocationLoss::deltas(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const {
  cite();
  for (const bool mirrored : {false, true}) {
    const Direction side = mirrored ? opposite(direction) : direction;
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < epsilon.size(); ++i) {
      if ((epsilon[i] < 0) != mirrored) continue;
      const double point = std::abs(epsilon[i]);
      const Interval bound = log_bounds(side, Interval::exactly(point));
      out[i] = clamp(exp(bound), 0, 1);
      if (can_price(point) && bound.hi >= least_log_delta) order.emplace_back(point, i);
    }
    std::sort(order.begin(), order.end());
    std::vector<double> points;
    for (const auto& [point, place] : order) points.push_back(point);
    std::vector<Interval> found(points.size());
    if (!points.empty()) price_groups(side, points, width, found);
    for (std::size_t n = 0; n < order.size(); ++n) out[order[n].second] = found[n];
    if (mirrored)
      for (std::size_t i = 0; i < epsilon.size(); ++i)
        if (epsilon[i] < 0) out[i] = mirrored_delta(epsilon[i], out[i]);
  }
}

/// Neighbouring strikes share a line or transforms as long as the values at the ends of a group do not differ too much. Beyond the first
/// value that is narrow by being small, that value bounds the others.
void AllocationLoss::price_groups(Direction direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const {
  const auto one = [&](std::size_t i) { price(direction, epsilon.subspan(i, 1), width, out.subspan(i, 1)); };
  if (epsilon.size() < 3 && !(epsilon.back() - epsilon.front() > 1e-9 * epsilon.back())) return price(direction, epsilon, width, out);
  if (epsilon.size() < 3) {
    for (std::size_t i = 0; i < epsilon.size(); ++i) one(i);
    return;
  }
  std::size_t count = epsilon.size();
  if (rough_value(direction, epsilon.back()) <= width.absolute / 4) {
    std::size_t before = 0;
    while (count - before > 1) {
      const std::size_t middle = before + (count - before) / 2;
      (rough_value(direction, epsilon[middle]) <= width.absolute / 4 ? count : before) = middle;
    }
    if (count < epsilon.size()) one(count);
    for (std::size_t i = count; i < epsilon.size(); ++i)
      out[i] = {std::min(out[count].hi, exp(log_bounds(direction, Interval::exactly(epsilon[i]))).lo), out[count].hi};
  }
  const auto divide = [&](const auto& self, std::size_t from, std::size_t to, double at_from, double at_last) -> void {
    if (to - from < 3 || at_from < at_last * near)
      return price(direction, epsilon.subspan(from, to - from), width, out.subspan(from, to - from));
    const std::size_t middle = from + (to - from) / 2;
    const double at_middle = rough_value(direction, epsilon[middle]);
    self(self, from, middle, at_from, at_middle);
    self(self, middle, to, at_middle, at_last);
  };
  if (count > 0) divide(divide, 0, count, rough_value(direction, epsilon.front()), rough_value(direction, epsilon[count - 1]));
}

/// An epsilon at which log delta is about the target, and the slope of log delta there: first by rough values, then by secants through
/// proved ones.
std::optional<AllocationLoss::Guess> AllocationLoss::approach(Direction direction, double log_target, double highest) const {
  const Unrecorded steering;
  const auto rough = [&](double epsilon) { return std::log(rough_value(direction, epsilon)) - log_target; };
  double low = 0, high = highest;
  for (int i = 0; i < 60 && high - low > 1e-3 * high; ++i) (rough(low + (high - low) / 2) > 0 ? low : high) = low + (high - low) / 2;
  double here = high, slope = (rough(0.999 * high) - rough(high)) / (0.001 * high);
  if (!(slope > 0)) return std::nullopt;
  std::optional<std::pair<double, double>> before;
  double width = rough_width;
  for (int i = 0; i < 12; ++i) {
    Interval value;
    deltas(direction, {&here, 1}, {width}, {&value, 1});
    if (!(value.lo > 0.5 * value.hi)) return std::nullopt;
    const double excess = 0.5 * (std::log(value.lo) + std::log(value.hi)) - log_target;
    if (before && std::abs(here - before->first) > 1e-6 * here)
      if (const double secant = (before->second - excess) / (here - before->first); secant > 0) slope = secant;
    const double wanted = std::clamp(5 * wanted_epsilon * here * slope, 10 * finest_width, rough_width);
    if (width <= wanted && std::abs(excess) < 10 * wanted) return Guess{std::max(0.0, here + excess / slope), slope};
    before = {here, excess};
    here = std::clamp(here + excess / slope, 0.2 * here, 5 * here);
    width = std::abs(excess) < 0.5 ? wanted : rough_width;
  }
  return std::nullopt;
}

// [profile-inversion] delta decreases: a proved value at an end proves that end. All ends share the transforms.
std::optional<Interval> AllocationLoss::closed_epsilon(Direction direction, Interval delta) const {
  static const Citation inversion("profile-inversion", "each end of epsilon is proved by the value of the profile there");
  if (!(delta.lo > 0) || !can_price(0) || !(delta.lo > 1e-250)) return std::nullopt;
  Interval at_zero;
  const double zero = 0;
  for (const double width : {rough_width, usual_width}) {  // most targets need no more than a rough value
    deltas(direction, {&zero, 1}, {width}, {&at_zero, 1});
    if (at_zero.hi <= delta.lo) return Interval::exactly(0);
    if (at_zero.lo > delta.hi) break;
  }
  const double highest = gaussian_epsilon(mu_, delta).hi;
  if (!can_price(highest)) return std::nullopt;
  const auto guess = approach(direction, std::log(delta.lo), highest);
  if (!guess) return std::nullopt;
  const double width = std::clamp(0.5 * wanted_epsilon * guess->epsilon * guess->slope, finest_width, 1e-3), unit = width / guess->slope;
  std::vector<double> ends;
  // Close together near the guess, then further and further apart: a poor guess gives a wider interval with both ends.
  for (int i = -70; i <= 70; ++i) {
    const double away = std::abs(i) <= 40 ? i : std::copysign(40 * std::pow(1.3, std::abs(i) - 40), i);
    if (const double end = guess->epsilon + 0.3 * unit * away; end > 0 && end <= highest) ends.push_back(end);
  }
  std::vector<Interval> values(ends.size());
  deltas(direction, ends, {width}, values);
  Interval found{0, highest};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (values[i].hi <= delta.lo) found.hi = std::min(found.hi, ends[i]);
    if (values[i].lo > delta.hi) found.lo = std::max(found.lo, ends[i]);
  }
  record(inversion);
  return found;
}

// [allocation-replace-one]
class AllocationReplaceLoss final : public Loss {
 public:
  AllocationReplaceLoss(Interval mu, std::uint64_t steps, const std::string& draws)
      : mu_(mu),
        steps_(static_cast<double>(steps)),
        to_nothing_(allocation_loss(mu, steps)),
        pair_("allocation-replace-one", draws + "a record and its replacement pull in opposite directions; clipped contributions") {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  // Showing the step leaves a Gaussian of 2 mu; a record that is replaced by nothing has the limit mu.
  [[nodiscard]] Tail tail() const override {
    Tail tail = gdp_tail(2.0 * mu_);
    tail.limit.lo = mu_.lo;
    return tail;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.cost = Cost::engine, .atomless = true}; }
  [[nodiscard]] std::string key() const override { return make_key("allocate-replace", {mu_, Interval::exactly(steps_)}); }
  void cite() const override { record(pair_); }

 private:
  [[nodiscard]] Interval at(double epsilon) const {
    if (epsilon == infinity) return Interval::exactly(0);
    if (epsilon == -infinity) return Interval::exactly(1);
    return epsilon >= 0 ? positive(epsilon) : mirrored_delta(epsilon, positive(-epsilon));
  }
  [[nodiscard]] Interval positive(double epsilon) const {
    static const Citation bound("allocation-replace-one", "at most the Gaussian of the shown step");
    cite();
    const Interval point = Interval::exactly(epsilon);
    Interval value{0, gaussian_delta(2.0 * mu_, point).hi};
    if (mu_.lo >= least_mu && mu_.hi <= largest_mu && epsilon < 30 && value.hi > 1e-200) {
      value = intersect(value, allocation::expected_excess(mu_, steps_, exp(point), replace_width));
    } else {
      record(bound);
    }
    // A replacement that contributes nothing is one of those that are covered.
    if (!(value.lo > 0.9 * value.hi))
      value.lo = std::min(
          value.hi, std::max({value.lo, to_nothing_->delta(Direction::remove, point).lo, to_nothing_->delta(Direction::add, point).lo}));
    return clamp(value, 0, 1);
  }

  Interval mu_;
  double steps_;
  LossPointer to_nothing_;
  Citation pair_;
};

}  // namespace

LossPointer with_theorem(LossPointer loss, Citation citation) {
  class CitedLoss final : public ForwardingLoss {
   public:
    CitedLoss(LossPointer one, Citation by) : loss_(std::move(one)), by_(std::move(by)) {}

   private:
    [[nodiscard]] const Loss& base() const override { return *loss_; }
    void note() const override { record(by_); }
    LossPointer loss_;
    Citation by_;
  };
  return std::make_shared<CitedLoss>(std::move(loss), std::move(citation));
}

LossPointer allocation_loss(Interval mu, std::uint64_t steps, std::string draws) {
  if (steps == 1) return gaussian_loss(mu);
  return std::make_shared<AllocationLoss>(mu, steps, draws);
}

LossPointer allocation_replace_loss(Interval mu, std::uint64_t steps, std::string draws) {
  if (steps == 1) return gaussian_loss(2.0 * mu);
  return std::make_shared<AllocationReplaceLoss>(mu, steps, draws);
}

namespace {

std::string plural(std::uint64_t count, const char* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); }

/// [random-allocation] [allocation-replace-one] [allocation-blocks]
Parts expand_allocate(const Arguments& arguments, const LossPointer& base, const WordContext& context) {
  const auto mu = base->gaussian_mu();
  if (!mu)
    throw UnsupportedError(
        "allocate: proved for Gaussian noise only, directly after it; write gaussian(...) | allocate(...), and no other sampling before "
        "it");
  const std::uint64_t steps = arguments.whole("steps"), passes = arguments.whole("passes"), times = arguments.whole("times");
  if (times > steps) arguments.refuse("times", std::to_string(times), "at most steps = " + std::to_string(steps));
  if (mu->hi == 0) return {{base, 1}};
  const Interval scaled = passes == 1 ? *mu : *mu * sqrt(Interval::exactly(passes));
  const std::string draws = "each record takes part exactly " + plural(times * passes, "time") + " in " + plural(steps * passes, "step") +
                            ", redrawn every " + plural(steps * passes, "step") + "; ";
  const bool replaced = context.neighbours() == Neighbours::replace_one;
  const bool clipped = base->capabilities(Direction::remove).clipped;
  static const Citation shown("allocation-replace-one",
                              "the drawn steps are shown, because only a distance is known, not the norm of a contribution");
  static const Citation always("random-allocation", "every record takes part in every step");
  if (times == steps) return {{gaussian_loss(scaled * sqrt(Interval::exactly(times)), {always}), 1}};
  if (replaced && !clipped) return {{gaussian_loss(scaled * sqrt(Interval::exactly(times)), {shown}), 1}};
  const auto one = [&](std::uint64_t among) {
    return replaced ? allocation_replace_loss(scaled / 2.0, among, draws) : allocation_loss(scaled, among, draws);
  };
  if (times == 1) return {{one(steps), 1}};
  // [allocation-blocks] One step in each of `times` random blocks is above; one of the drawn steps alone is below.
  static const Citation blocks("allocation-blocks",
                               "above: one step in each of several random blocks, shown; below: one of the drawn steps alone");
  const std::uint64_t longer = steps % times, length = steps / times;
  const auto block = [&](std::uint64_t among) { return with_theorem(one(among), blocks); };
  const auto nothing = [] { return compose({}, {}).loss; };
  Parts parts{{context.bracket([&] { return block(length); }, {[&] { return with_theorem(one(steps), blocks); }}), 1}};
  if (times - longer > 1) parts.push_back({context.bracket([&] { return block(length); }, {nothing}), times - longer - 1});
  if (longer > 0) parts.push_back({context.bracket([&] { return block(length + 1); }, {nothing}), longer});
  return parts;
}

}  // namespace

Word allocate_word() {
  return {.role = Role::operation,
          .name = "allocate",
          .meaning = "each record takes part in one step of an epoch, drawn uniformly",
          .parameters = {{"steps", Kind::integer, "steps of an epoch", range::whole(1, most_allocated_steps)},
                         {.name = "passes",
                          .kind = Kind::integer,
                          .meaning = "passes that reuse the same draw",
                          .range = range::whole(1, 1'000'000),
                          .fallback = "1"},
                         {.name = "times",
                          .kind = Kind::integer,
                          .meaning = "steps that a record takes part in",
                          .range = range::whole(1, most_allocated_steps),
                          .fallback = "1"}},
          .synonyms = {{"balls_and_bins"}, {"balls_in_bins"}, {"random_allocation"}},
          .neighbours = {Neighbours::add_remove, Neighbours::zero_out, Neighbours::replace_one},
          .sentence =
              "In `allocate`, every record draws its step of an epoch uniformly, independently of the data, of the outputs and of all "
              "other records, and takes part in no other step; a fresh draw for each repetition, the same draw in all passes.",
          .expand = expand_allocate,
          .samples = true};
}

}  // namespace tradeoff::detail
