// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>
#include <vector>

#include "engine/compose.h"
#include "loss/forwarding_loss.h"
#include "loss/gaussian_profile.h"
#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "loss/truncation.h"
#include "loss/work.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/root.h"
#include "operators/allocation/contour.h"
#include "operators/allocation/epoch_law.h"
#include "operators/allocation/price.h"
#include "operators/allocation/replaced_law.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr double least_mu = 1e-4;  // outside these the bounds by Gaussians are the answer: a law has too many points,
constexpr double largest_mu = 12;  // or the summands of a difference leave the range of doubles
constexpr double largest_epsilon = 500;
constexpr double least_log_delta = -600;
constexpr double tail_width = 1e-3;    // of delta, relative, where no law reaches
constexpr double excess_width = 1e-7;  // the same for one value without a law
constexpr double enough_width = 5e-7;  // of such a value: no law is needed
constexpr int most_lone_values = 16;   // of one question: a law gives any number of them
constexpr std::uint64_t slow_law_steps = 5000;
constexpr double usual_width = 0.8e-6;  // the same for a replaced record
constexpr double widest = 0.1;
constexpr std::uint64_t most_allocated_steps = 10'000'000;

/// Beyond a law of this level lies about this mass.
double log_mass_of(int level) { return -6 * level * std::numbers::ln10; }
/// The level at which what lies beyond the law is negligible against a delta.
int level_for(double log_delta) {
  constexpr double unseen = 1e-10;  // relative
  constexpr double highest = 50;    // 10^-300
  return static_cast<int>(std::clamp(std::ceil((std::log(unseen) + log_delta) / (-6 * std::numbers::ln10)), 2.0, highest));
}

/// One epoch, conditional on an event: only its transforms are used. [allocation-epochs]
class ConditionalEpoch final : public Loss {
 public:
  ConditionalEpoch(const std::shared_ptr<const allocation::EpochLaw>& law, Citations basis)
      : remove_(epoch_transform(law, Direction::remove)), add_(epoch_transform(law, Direction::add)), basis_(std::move(basis)) {}
  [[nodiscard]] Interval delta(Direction, Interval) const override { return {0, 1}; }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    return {.transform = direction == Direction::add ? add_.get() : remove_.get()};
  }
  void cite() const override { record(basis_); }

 private:
  std::unique_ptr<const Transform> remove_, add_;
  Citations basis_;
};

class TruncatedEpoch final : public TruncatedPair {
 public:
  TruncatedEpoch(std::shared_ptr<const allocation::EpochLaw> law, Citations basis)
      : law_(std::move(law)), inside_(std::make_shared<ConditionalEpoch>(law_, std::move(basis))) {}
  [[nodiscard]] LossPointer inside() const override { return inside_; }
  [[nodiscard]] Probabilities event() const override { return law_->event(); }
  [[nodiscard]] Interval log_ratio() const override { return law_->log_ratio(); }
  [[nodiscard]] Probabilities above() const override { return law_->outside(false); }
  [[nodiscard]] Probabilities below() const override { return law_->outside(true); }
  [[nodiscard]] double log_moment_above_event(double order) const override { return law_->log_moment_above_event(order); }

 private:
  std::shared_ptr<const allocation::EpochLaw> law_;
  LossPointer inside_;
};

/// An epsilon from values of delta and rough ones, at most `highest`. [profile-inversion] delta decreases: a proved value at an end proves
/// that end. All earlier values only guide the search.
template <class Value, class Rough>
std::optional<Interval> epsilon_of(const Value& value, const Rough& rough, Interval delta, double highest) {
  static const Citation inversion("profile-inversion", "each end of epsilon is proved by the value of the profile there");
  record(inversion);
  if (value(0).hi <= delta.lo) return Interval::exactly(0);
  const auto is_small = [&](double epsilon) { return rough(epsilon) <= delta.lo; };
  double epsilon = numeric::bisect(is_small, {0, highest}, 50).beyond, before = 0.9 * epsilon, slope = 0, width = 0;
  double excess_before = std::log(middle_of(value(before)) / middle_of(delta));
  for (int i = 0; i < 12; ++i) {
    const Interval here = value(epsilon);
    if (!(here.lo > 0)) return std::nullopt;
    const double excess = std::log(middle_of(here) / middle_of(delta));
    if (epsilon != before) slope = (excess_before - excess) / (epsilon - before);
    if (!(slope > 0)) return std::nullopt;
    width = here.width() / here.lo + delta.width() / delta.lo;
    before = std::exchange(epsilon, std::clamp(epsilon + excess / slope, 0.5 * epsilon, std::min(2 * epsilon, highest)));
    excess_before = excess;
    if (std::abs(epsilon - before) * slope < 0.05 * width || std::abs(epsilon - before) < 2 * unit_roundoff * epsilon) break;
  }
  Interval found{0, highest};
  const double margin = 0.6 * width / slope + 4 * unit_roundoff * epsilon;
  for (double factor = 1; factor < 1e8; factor *= 1.5)
    if (const double end = epsilon + factor * margin; end < highest && value(end).hi <= delta.lo) {
      found.hi = end;
      break;
    }
  for (double factor = 1; factor < 1e8 && factor * margin < epsilon; factor *= 1.5)
    if (const double end = epsilon - factor * margin; value(end).lo > delta.hi) {
      found.lo = end;
      break;
    }
  return found;
}

/// The same from the law of one epoch.
std::optional<Interval> epsilon_of(const allocation::EpochDensity& law, Direction direction, Interval delta, double highest) {
  return epsilon_of([&](double epsilon) { return law.delta(direction, epsilon); },
                    [&](double epsilon) { return law.rough_delta(direction, epsilon); }, delta, highest);
}

void record_excess() {
  static const Citation excess(
      "allocation-excess", "the expected excess of the likelihood of one epoch, an integral of characteristic functions", Method::contour);
  record(excess);
}

/// Whether a question may have another value without a law. By the key of the loss, because it may meet the same loss as several objects.
bool may_have_lone_value(const std::string& key) {
  static const std::uint64_t owner = QuestionScope::new_owner();
  const QuestionScope question;
  return QuestionScope::state_of<std::map<std::string, int>>(owner)[key]++ < most_lone_values;
}

// [random-allocation] [allocation-mean-law]
class AllocationLoss final : public Loss, public ClosedForms, public Truncation {
 public:
  AllocationLoss(Interval mu, std::uint64_t steps, const std::string& draws)
      : mu_(mu),
        steps_(steps),
        count_(Interval::exactly(static_cast<double>(steps))),
        pair_("random-allocation", draws + "exact dominating pair of one step in " + std::to_string(steps)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo == epsilon.hi) return at(direction, epsilon.lo);
    return {at(direction, epsilon.hi).lo, at(direction, epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  // One Gaussian per epoch dominates, and a T-th part of it at epsilon + log T is dominated: the limit of the tail is mu.
  // [random-allocation]
  [[nodiscard]] Tail tail() const override { return gdp_tail(mu_); }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .truncation = this, .cost = Cost::engine, .atomless = true};
  }
  [[nodiscard]] std::string key() const override { return make_key("allocate", {mu_, count_}); }
  void cite() const override { record(pair_); }

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override;
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    if (epsilon < 0) {  // the loss of one order is minus the loss of the other, with the two distributions exchanged
      const auto other = test_at(opposite(direction), -epsilon);
      return other ? std::optional(Test{1.0 - other->true_positive, 1.0 - other->false_positive}) : std::nullopt;
    }
    const auto known = density_for(direction, epsilon);
    if (known == nullptr) return std::nullopt;
    record_profile(*known);
    return known->test_at(direction, epsilon);
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    const Unrecorded steering;
    if (!std::isfinite(epsilon)) return std::nullopt;
    return middle_of(delta(direction, Interval::exactly(epsilon)));
  }
  [[nodiscard]] std::shared_ptr<const TruncatedPair> truncated(int level, Interval ends) const override;

 private:
  [[nodiscard]] Interval at(Direction direction, double epsilon) const {
    if (epsilon == infinity) return Interval::exactly(-infinity);
    if (epsilon == -infinity) return Interval::exactly(0);
    const Interval point = Interval::exactly(epsilon);
    cite();
    if (epsilon < 0) return log(mirrored_delta(epsilon, exp(at(opposite(direction), -epsilon))));
    const Interval bound = log_bounds(direction, point);
    const bool has_price = has_law() && epsilon <= largest_epsilon && bound.hi >= least_log_delta;
    Interval found{-infinity, 0};
    if (has_price && steps_ >= slow_law_steps && may_have_lone_value(key())) found = log(excess(direction, epsilon));
    if (!(found.width() <= enough_width)) {
      const auto known = density_for(direction, epsilon);
      if (known != nullptr) {
        record_profile(*known);
        found = intersect(found, log(known->delta(direction, epsilon)));
      }
    }
    if (!(found.width() <= tail_width) && has_price) found = intersect(found, log(price(direction, epsilon)));
    if (!(found.lo > bound.lo && found.hi < bound.hi)) record_bound();
    return intersect(found, bound);
  }
  /// By options on the sum of the likelihood ratios: slower, but far in the tail it needs no law. [allocation-price]
  [[nodiscard]] Interval price(Direction direction, double epsilon) const {
    const bool remove = direction == Direction::remove;
    const Interval point = Interval::exactly(epsilon), strike = count_ * exp(remove ? point : -point);
    const std::array ends{strike.lo, strike.hi};
    const auto option = remove ? allocation::Option::call : allocation::Option::put;
    const std::vector<Interval> values = allocation::lognormal_options(mu_, count_.lo, option, ends, tail_width);
    // Calls fall and puts rise with the strike.
    return clamp(remove ? Interval{values[1].lo, values[0].hi} : exp(point) * Interval{values[0].lo, values[1].hi}, 0, 1);
  }
  /// One value by a contour, if there is one. [allocation-excess] [allocation-contour]
  [[nodiscard]] Interval excess(Direction direction, double epsilon) const {
    const bool remove = direction == Direction::remove;
    const Interval point = Interval::exactly(epsilon);
    const auto value = remove ? allocation::removed_epoch_delta : allocation::added_epoch_delta;
    const Interval found = clamp(value(mu_, count_.lo, epsilon), 0, 1);
    if (found.lo > 0 && found.width() <= enough_width * found.lo) {
      record_excess();
      return found;
    }
    const Interval strike = count_ * exp(remove ? point : -point);
    const std::array ends{strike.lo, strike.hi};
    const auto values =
        allocation::options_on_a_line(mu_, count_.lo, remove ? allocation::Option::call : allocation::Option::put, ends, excess_width);
    return intersect(found, clamp(remove ? Interval{values[1].lo, values[0].hi} : exp(point) * Interval{values[0].lo, values[1].hi}, 0, 1));
  }
  [[nodiscard]] bool has_law() const { return mu_.lo >= least_mu && mu_.hi <= largest_mu; }
  /// Laws of many steps that reach far are slow to make.
  [[nodiscard]] int highest_level() const { return steps_ <= 1000 ? 50 : 8; }
  /// One Gaussian per epoch above; below, in the remove direction, one step with probability 1/T, shown.
  [[nodiscard]] Interval log_bounds(Direction direction, Interval epsilon) const {
    const Interval log_count = log(count_);
    Interval bound{-infinity, std::min(0.0, log_gaussian_delta(mu_, epsilon).hi)};
    if (direction == Direction::remove) bound.lo = std::min(bound.hi, (log_gaussian_delta(mu_, epsilon + log_count) - log_count).lo);
    return bound;
  }
  using Density = std::shared_ptr<const allocation::EpochDensity>;
  [[nodiscard]] Density density(int level) const;
  [[nodiscard]] double guess_log_delta(Direction direction, double epsilon) const;
  [[nodiscard]] Density density_for(Direction direction, double epsilon) const;
  [[nodiscard]] std::optional<Interval> epsilon_by_excess(Direction direction, Interval delta) const;
  static const Citations& methods() {
    static const Citations all{
        {"allocation-doubling", "the law of the likelihood ratio from those of halves of the steps", Method::exact},
        {"allocation-profile", "delta of an epoch, the integral of its density between even places by polynomials", Method::exact},
        {"allocation-epochs", "the transform of the privacy loss of an epoch, by its density on an even lattice", Method::contour},
        {"allocation-mean-law", "the law of the likelihood ratio, integrals of characteristic functions", Method::contour}};
    return all;
  }
  static const Citation& method_of(const allocation::EpochDensity& law) { return methods()[law.by_contour() ? 3 : 0]; }
  static void record_profile(const allocation::EpochDensity& law) {
    record(method_of(law));
    record(methods()[1]);
  }
  static void record_bound() {
    static const Citation bound("random-allocation", "far in the tail: at most the Gaussian of one step, at least its share of one in T");
    record(bound);
  }

  Interval mu_;
  std::uint64_t steps_;
  Interval count_;
  Citation pair_;
  mutable std::mutex lock_;
  mutable std::map<int, Density> kept_;  // for later questions, by level
};

AllocationLoss::Density AllocationLoss::density(int level) const {
  if (!has_law() || level > highest_level()) return nullptr;
  const std::lock_guard guard(lock_);
  Density& known = kept_[level];
  if (known == nullptr)
    known = std::make_shared<const allocation::EpochDensity>(mu_, steps_, log_mass_of(level));
  else
    Work::count(known->work());  // as if this question had made it
  return known->known() ? known : nullptr;
}

/// One step with a large likelihood ratio, or a Gaussian sum of the others: it decides how far a law must reach.
double AllocationLoss::guess_log_delta(Direction direction, double epsilon) const {
  const double s = middle_of(mu_), count = count_.lo;
  const auto tail = [](double z) { return middle_of(log_normal_cdf(-z)); };
  const bool remove = direction == Direction::remove;
  const double excess = remove ? std::expm1(std::min(epsilon, 600.0)) : -std::expm1(-epsilon),
               jump = std::log1p(count * excess) / s + s / 2;
  const double square = std::exp(std::min(s * s + tail(2 * s - jump), 600.0)), deviation = std::sqrt(std::max(square - 1, s * s) / count);
  const double bulk = tail(excess / deviation) + std::log(deviation);
  return remove ? std::max(bulk, tail(jump - s)) - 3 : bulk - 3;
}

AllocationLoss::Density AllocationLoss::density_for(Direction direction, double epsilon) const {
  constexpr int most_levels = 5;
  Density known;
  for (int i = 0, level = level_for(guess_log_delta(direction, epsilon)); i < most_levels; ++i) {
    Density next = density(level);
    if (next == nullptr && known == nullptr && level > 2) {
      level = std::min(level - 1, std::max(2, highest_level() / 2));
      continue;
    }
    if (next == nullptr) break;
    known = std::move(next);
    const double rough = known->rough_delta(direction, epsilon);
    const int needed = rough > 0 ? level_for(std::log(rough)) : 2 * level;
    if (needed <= level || level == level_for(-infinity)) break;
    level = needed;
  }
  return known;
}

std::optional<Interval> AllocationLoss::epsilon_by_excess(Direction direction, Interval delta) const {
  const bool remove = direction == Direction::remove;
  const auto value = [&](double epsilon) { return excess(direction, epsilon); };
  const auto rough = [&](double epsilon) {
    const double strike = count_.lo * std::exp(remove ? epsilon : -epsilon);
    const auto option = remove ? allocation::Option::call : allocation::Option::put;
    return std::exp((remove ? 0 : epsilon) + allocation::rough_log_option(mu_.hi, count_.lo, option, strike));
  };
  const double highest = gaussian_epsilon(mu_, delta).hi;
  if (!(highest <= largest_epsilon)) return std::nullopt;
  return epsilon_of(value, rough, delta, highest);
}

std::optional<Interval> AllocationLoss::closed_epsilon(Direction direction, Interval delta) const {
  if (!(delta.lo > 0)) return std::nullopt;
  if (steps_ >= slow_law_steps && has_law() && std::log(delta.lo) >= least_log_delta) {
    const RecordedSince before;
    if (const auto found = epsilon_by_excess(direction, delta); found && found->width() <= enough_width * found->hi) {
      cite();
      return found;
    }
    static_cast<void>(before.take_out());
  }
  Density known;
  for (int level = level_for(std::log(delta.lo)); known == nullptr && level >= 2; --level)
    known = density(std::min(level, highest_level()));
  if (known == nullptr) return std::nullopt;
  cite();
  record_profile(*known);
  return epsilon_of(*known, direction, delta, gaussian_epsilon(mu_, delta).hi);
}

std::shared_ptr<const TruncatedPair> AllocationLoss::truncated(int level, Interval ends) const {
  Density known = density(level);
  if (known == nullptr) return nullptr;
  const Citations basis{pair_, method_of(*known), methods()[2]};
  return std::make_shared<TruncatedEpoch>(std::make_shared<const allocation::EpochLaw>(std::move(known), ends), basis);
}

// [allocation-replace-one] [allocation-replaced-law]
class AllocationReplaceLoss final : public Loss, public BatchProfile, public ClosedForms, public Truncation {
 public:
  AllocationReplaceLoss(Interval mu, std::uint64_t steps, const std::string& draws)
      : mu_(mu),
        count_(steps),
        steps_(static_cast<double>(steps)),
        to_nothing_(allocation_loss(mu, steps)),
        pair_("allocation-replace-one", draws + "a record and its replacement pull in opposite directions; clipped contributions") {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo, usual_width, true);
    return {at(epsilon.hi, usual_width, true).lo, at(epsilon.lo, usual_width, true).hi};
  }
  /// Every value needs its own distributions, so a width that is not needed is not aimed at.
  void deltas(Direction, std::span<const double> epsilon, Width width, std::span<Interval> out) const override {
    for (std::size_t i = 0; i < epsilon.size(); ++i) out[i] = at(epsilon[i], std::clamp(width.relative, usual_width, widest), false);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  // Showing the step leaves a Gaussian of 2 mu; a record that is replaced by nothing has the limit mu.
  [[nodiscard]] Tail tail() const override {
    Tail tail = gdp_tail(2.0 * mu_);
    tail.limit.lo = mu_.lo;
    return tail;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .batch = this, .truncation = this, .cost = Cost::engine, .atomless = true};
  }
  [[nodiscard]] std::string key() const override { return make_key("allocate-replace", {mu_, Interval::exactly(steps_)}); }
  void cite() const override { record(pair_); }

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > 0)) return std::nullopt;
    if (has_law()) {
      const RecordedSince before;
      if (const auto found = epsilon_by_excess(delta); found && found->width() <= enough_width * found->hi) {
        cite();
        record_excess();
        return found;
      }
      static_cast<void>(before.take_out());
    }
    const Density known = density(level_for(std::log(delta.lo)));
    if (known == nullptr) return std::nullopt;
    cite();
    record_law();
    const auto found = epsilon_of(*known, direction, delta, gaussian_epsilon(2.0 * mu_, delta).hi);
    return found && found->width() <= tail_width * found->hi ? found : std::nullopt;
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    const Density known = epsilon >= 0 ? density_for(epsilon) : nullptr;
    if (known == nullptr) return std::nullopt;
    record_law();
    return known->test_at(direction, epsilon);
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    const Density known = epsilon >= 0 ? density_for(epsilon) : nullptr;
    return known != nullptr ? std::optional(known->rough_delta(direction, epsilon)) : std::nullopt;
  }
  [[nodiscard]] std::shared_ptr<const TruncatedPair> truncated(int level, Interval ends) const override {
    Density known = density(level);
    if (known == nullptr) return nullptr;
    return std::make_shared<TruncatedEpoch>(std::make_shared<const allocation::EpochLaw>(std::move(known), ends),
                                            Citations{pair_, methods()[0], methods()[2]});
  }

 private:
  using Density = std::shared_ptr<const allocation::EpochDensity>;
  [[nodiscard]] bool has_law() const { return mu_.lo >= least_mu && mu_.hi <= largest_mu; }
  [[nodiscard]] std::optional<Interval> epsilon_by_excess(Interval delta) const {
    const auto value = [&](double epsilon) { return clamp(allocation::replaced_epoch_delta(mu_, steps_, epsilon), 0, 1); };
    // Large steps as for a record that is removed; otherwise about a Gaussian of the same variance.
    const double square = mu_.hi * mu_.hi, bulk = std::min(2 * mu_.hi, std::sqrt(4 * std::sinh(std::min(square, 600.0)) / steps_));
    const auto rough = [&](double epsilon) {
      const double large = std::exp(allocation::rough_log_option(mu_.hi, steps_, allocation::Option::call, steps_ * std::exp(epsilon)));
      return square < 1 ? std::max(large, gaussian_delta(Interval::exactly(bulk), Interval::exactly(epsilon)).hi) : large;
    };
    const double highest = gaussian_epsilon(2.0 * mu_, delta).hi;
    if (!(highest <= largest_epsilon)) return std::nullopt;
    return epsilon_of(value, rough, delta, highest);
  }
  [[nodiscard]] Density density(int level) const {
    if (!has_law()) return nullptr;
    const std::lock_guard guard(lock_);
    Density& known = kept_[level];
    if (known == nullptr) {
      if (!law_) law_.emplace(middle_of(mu_), steps_);
      known = std::make_shared<const allocation::EpochDensity>(mu_, count_, log_mass_of(level), *law_);
    } else {
      Work::count(known->work());  // as if this question had made it
    }
    return known->known() ? known : nullptr;
  }
  [[nodiscard]] Density density_for(double epsilon) const {
    constexpr int most_levels = 5;
    Density known;
    for (int i = 0, level = level_for(0); i < most_levels; ++i) {
      Density next = density(level);
      if (next == nullptr || (known != nullptr && next->last_end() <= known->last_end())) break;
      known = std::move(next);
      const double rough = known->rough_delta(Direction::remove, epsilon);
      const int needed = rough > 0 ? level_for(std::log(rough)) : 2 * level;
      if (needed <= level || level == level_for(-infinity)) break;
      level = needed;
    }
    return known;
  }
  static const Citations& methods() {
    static const Citations all{
        {"allocation-replaced-law", "the density of the privacy loss of an epoch, an integral of characteristic functions",
         Method::contour},
        {"allocation-profile", "delta of an epoch, the integral of its density between even places by polynomials", Method::exact},
        {"allocation-epochs", "the transform of the privacy loss of an epoch, by its density on an even lattice", Method::contour}};
    return all;
  }
  static void record_law() {
    record(methods()[0]);
    record(methods()[1]);
  }
  [[nodiscard]] Interval at(double epsilon, double width, bool alone) const {
    if (epsilon == infinity) return Interval::exactly(0);
    if (epsilon == -infinity) return Interval::exactly(1);
    return epsilon >= 0 ? positive(epsilon, width, alone) : mirrored_delta(epsilon, positive(-epsilon, width, alone));
  }
  /// A value that is asked for alone needs no law.
  [[nodiscard]] Interval positive(double epsilon, double width, bool alone) const {
    static const Citation bound("allocation-replace-one", "at most the Gaussian of the shown step");
    cite();
    const Interval point = Interval::exactly(epsilon);
    Interval value{0, gaussian_delta(2.0 * mu_, point).hi};
    if (alone && has_law() && epsilon <= largest_epsilon && may_have_lone_value(key())) {
      const Interval found = allocation::replaced_epoch_delta(mu_, steps_, epsilon);
      if (found.lo > 0 && found.width() <= enough_width * found.lo) {
        record_excess();
        return clamp(found, 0, 1);
      }
    }
    const Density known = density_for(epsilon);
    if (known != nullptr) value = intersect(value, known->delta(Direction::remove, epsilon));
    if (value.width() <= std::max(width, tail_width) * value.lo) {
      record_law();
    } else if (has_law() && epsilon < 30 && value.hi > 1e-200) {
      value = intersect(value, allocation::expected_excess(mu_, steps_, exp(point), width));
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
  std::uint64_t count_;
  double steps_;
  LossPointer to_nothing_;
  Citation pair_;
  mutable std::mutex lock_;
  mutable std::optional<allocation::ReplacedLaw> law_;
  mutable std::map<int, Density> kept_;  // for later questions, by level
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

namespace {

/// The epochs that were asked for last: a plan is analysed once for a rough answer and once more for all digits, and their laws are slow.
/// Work is counted for every question as if its laws were new.
template <class Epoch>
LossPointer recent_epoch(Interval mu, std::uint64_t steps, const std::string& draws) {
  struct Recent {
    std::string key;
    LossPointer loss;
  };
  static std::mutex lock;
  static std::array<Recent, 4> recent;
  static std::size_t next = 0;
  std::string key = make_key("epoch", {mu, Interval::exactly(static_cast<double>(steps))}) + draws;
  const std::lock_guard guard(lock);
  for (const Recent& one : recent)
    if (one.key == key) return one.loss;
  Recent& place = recent[next++ % recent.size()];
  place = {std::move(key), std::make_shared<Epoch>(mu, steps, draws)};
  return place.loss;
}

}  // namespace

LossPointer allocation_loss(Interval mu, std::uint64_t steps, std::string draws) {
  if (steps == 1) return gaussian_loss(mu);
  return recent_epoch<AllocationLoss>(mu, steps, draws);
}

LossPointer allocation_replace_loss(Interval mu, std::uint64_t steps, std::string draws) {
  static const Citation two("allocation-replace-one",
                            "with two steps the loss is a function of the sum of the outputs, and the pair is Gaussian");
  if (steps == 1) return gaussian_loss(2.0 * mu);
  if (steps == 2) return gaussian_loss(sqrt(Interval::exactly(2)) * mu, {two});
  return recent_epoch<AllocationReplaceLoss>(mu, steps, draws);
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
  static const Citation half("allocation-blocks",
                             "with half of the steps the loss is a function of the sum of the outputs, and the pair is Gaussian");
  if (replaced && 2 * times == steps) return {{gaussian_loss(sqrt(Interval::exactly(steps)) * (scaled / 2.0), {half}), 1}};
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
