// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/compose.h"
#include "loss/atoms.h"
#include "loss/key.h"
#include "mechanism/adaptive_choice.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/discrete_laplace.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr std::uint64_t most_partitions_of_gaussian = 10'000;  // each number of new partitions is one formula
constexpr std::uint64_t most_partitions_of_others = 64;        // each is a composition
constexpr double most_contribution = 100'000;                  // of discrete noise, in steps

const Citation& threshold_citation() {
  static const Citation released("thresholded-counts", "noisy counts above a threshold; any of the user's partitions may be new");
  return released;
}

// [thresholded-counts] With j new partitions: remove 1 - e^(jl) + e^(jl) delta(e - jl), add delta(e + jl), delta that of noise on the
// other partitions, l the logarithm of the probability that a new partition stays hidden. The largest over j; both fall in l.
class ThresholdLoss final : public Loss {
 public:
  /// `kept[i]` is the pair of noise on i partitions.
  ThresholdLoss(std::vector<LossPointer> kept, Interval log_hidden, std::string key)
      : kept_(std::move(kept)), log_hidden_(min(log_hidden, Interval::exactly(0))), key_(std::move(key)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    record(threshold_citation());
    Interval worst = Interval::exactly(0);
    for (std::size_t fresh = 0; fresh < kept_.size(); ++fresh) {
      const double below = at(direction, fresh, Interval::exactly(epsilon.hi), Interval::exactly(log_hidden_.hi)).lo;
      const double above = at(direction, fresh, Interval::exactly(epsilon.lo), Interval::exactly(log_hidden_.lo)).hi;
      worst = max(worst, {below, std::max(below, above)});
    }
    return worst;
  }
  [[nodiscard]] bool symmetric() const override { return log_hidden_.lo == 0; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    if (direction == Direction::add) return Interval::exactly(0);
    return clamp(-expm1(static_cast<double>(kept_.size() - 1) * log_hidden_), 0, 1);
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    Cost cost = Cost::formula;
    for (const LossPointer& loss : kept_) cost = std::max(cost, loss->cost());
    return {.cost = cost};
  }
  void cite() const override {
    for (const LossPointer& loss : kept_) loss->cite();
    record(threshold_citation());
  }
  [[nodiscard]] std::string key() const override { return key_; }

 private:
  [[nodiscard]] Interval at(Direction direction, std::size_t fresh, Interval epsilon, Interval log_hidden) const {
    const Loss& others = *kept_[kept_.size() - 1 - fresh];
    const Interval hidden = fresh == 0 ? Interval::exactly(0) : static_cast<double>(fresh) * log_hidden;
    if (direction == Direction::add) return others.delta(direction, epsilon.lo == infinity ? epsilon : epsilon + hidden);
    const Interval rest = others.delta(direction, epsilon.lo == -infinity ? epsilon : epsilon - hidden);
    return clamp(-expm1(hidden) + exp(hidden) * rest, 0, 1);
  }

  std::vector<LossPointer> kept_;
  Interval log_hidden_;
  std::string key_;
};

/// P[Z >= least] for probabilities proportional to exp(-y^2 / (2 sigma^2)) on the integers, least >= 1. [thresholded-counts]
Interval discrete_gaussian_tail(Interval sigma, double least) {
  const Interval spread = 2.0 * square(sigma);
  const auto mass = [&](double y) { return exp(-square(Interval::exactly(y)) / spread); };
  // The masses after y fall by at least the ratio of the next two: a geometric series bounds the rest.
  const auto sum_from = [&](double first) {
    Interval sum = Interval::exactly(0);
    for (double y = first;; ++y) {
      const Interval term = mass(y);
      sum = sum + term;
      if (term.hi > 0x1p-70 * sum.hi && term.hi > 1e-300) continue;
      const Interval ratio = exp(-Interval::exactly(2 * y + 1) / spread);
      return Interval{sum.lo, (sum + term * ratio / (1.0 - ratio)).hi};
    }
  };
  return clamp(sum_from(least) / (1.0 + 2.0 * sum_from(1)), 0, 1);
}

/// P[Z >= least] for probabilities proportional to exp(-|y| / scale) on the integers, least >= 1. [thresholded-counts]
Interval discrete_laplace_tail(Interval scale, double least) {
  return clamp(exp(-Interval::exactly(least) / scale) / (1.0 + exp(-1.0 / scale)), 0, 1);
}

/// log P[Z < least], the noise symmetric on the integers with this tail.
template <class TailOf>
Interval log_below(double least, TailOf&& tail) {
  return least >= 1 ? log1p(-tail(least)) : log(tail(1 - least));
}

/// One kind of noise: the pair of one partition, and the probability that a new one stays hidden.
struct ThresholdNoise {
  LossPointer pair;
  Interval log_hidden;
};

/// The whole number of users of one partition that a release with discrete noise compares with: the threshold rounded up.
double steps_above(const Arguments& arguments, std::uint64_t contribution) {
  const Interval above = arguments.number("above");
  const double up = std::ceil(above.hi);
  if (std::ceil(above.lo) != up || std::abs(up) > 0x1p50)
    arguments.refuse("above", arguments.written("above").text, "a number below 2^50 whose rounding up is certain; write a whole number");
  return up - static_cast<double>(contribution);
}

std::uint64_t whole_contribution(const Arguments& arguments) {
  const Interval contribution = arguments.number("contribution");
  if (!(contribution.lo == contribution.hi && contribution.lo == std::floor(contribution.lo) && contribution.lo <= most_contribution))
    arguments.refuse("contribution", arguments.written("contribution").text,
                     "a whole number up to 100000, because the noise is on the integers");
  return static_cast<std::uint64_t>(contribution.lo);
}

// [thresholded-counts]
ThresholdNoise noise_of(const Arguments& arguments, std::string_view noise) {
  const Interval scale = arguments.number("scale");
  if (noise == "discrete_gaussian" || noise == "discrete_laplace") {
    const std::uint64_t contribution = whole_contribution(arguments);
    const double least = steps_above(arguments, contribution);
    if (noise == "discrete_laplace")
      return {discrete_laplace(scale, contribution), log_below(least, [&](double y) { return discrete_laplace_tail(scale, y); })};
    if (scale.hi > widest_discrete_gaussian)
      arguments.refuse("scale", arguments.written("scale").text, "at most 10000 for discrete_gaussian; use gaussian for wider noise");
    return {discrete_gaussian(scale, contribution), log_below(least, [&](double y) { return discrete_gaussian_tail(scale, y); })};
  }
  const Interval contribution = arguments.number("contribution");
  const Interval distance = (arguments.number("above") - contribution) / scale;
  if (noise == "gaussian") return {gaussian_loss(contribution / scale), log_normal_cdf(distance)};
  // The tail of Laplace noise changes its form at 0; the probability to stay hidden grows with the distance.
  const auto log_hidden = [](double d) {
    return d >= 0 ? log1p(-exp(Interval::exactly(-d)) / 2.0) : Interval::exactly(d) - log(Interval::exactly(2));
  };
  return {std::make_shared<LaplaceLoss>(contribution / scale), {log_hidden(distance.lo).lo, log_hidden(distance.hi).hi}};
}

/// A user with new partitions only: something of them is shown, or nothing with the probability e^log_hidden.
LossPointer shown_or_hidden(Interval log_hidden, std::string key) {
  const Interval none = Interval::exactly(0), hidden = min(log_hidden, none);
  return finite_loss(make_atoms({{hidden, exp(hidden)}}, clamp(-expm1(hidden), 0, 1), none, false), std::move(key), {threshold_citation()});
}

LossPointer make_threshold(const Arguments& arguments, const WordContext& context) {
  const std::string_view noise = arguments.choice("noise");
  const std::uint64_t partitions = arguments.whole("partitions");
  if (noise != "gaussian" && partitions > most_partitions_of_others)
    throw TooLargeError("threshold: partitions = " + std::to_string(partitions) + " is not supported with noise=" + std::string(noise) +
                        ", whose compositions are computed one by one; at most " + std::to_string(most_partitions_of_others) +
                        ", or noise=gaussian");
  const ThresholdNoise one = noise_of(arguments, noise);
  std::vector<LossPointer> kept{gaussian_loss(Interval::exactly(0))};
  for (std::uint64_t i = 1; i <= partitions; ++i) {
    if (const auto mu = one.pair->gaussian_mu())
      kept.push_back(i == 1 ? one.pair : gaussian_loss(*mu * sqrt(Interval::exactly(i))));
    else
      kept.push_back(i == 1 ? one.pair : compose({{one.pair, i}}, Tolerance{}).loss);
  }
  const std::string key = make_key("threshold_" + std::string(noise), {arguments.number("scale"), arguments.number("above"),
                                                                       arguments.number("contribution"), Interval::exactly(partitions)});
  const LossPointer worst = std::make_shared<ThresholdLoss>(kept, one.log_hidden, key);
  const auto use = [&](LossPointer pair) {
    return std::make_shared<AdaptiveChoice>(std::move(pair), std::make_shared<ChosenOnce>(key, worst));
  };
  const auto new_keys = [&] { return use(shown_or_hidden(Interval::exactly(partitions) * one.log_hidden, key + " new")); };
  return context.bracket([&] { return use(worst); }, {[&] { return use(kept.back()); }, new_keys});
}

std::string promise_of_threshold(const Arguments& arguments) {
  return "In `threshold`, a user counts in at most " + std::to_string(arguments.whole("partitions")) + " partitions, by at most " +
         arguments.written("contribution").text +
         " in each, after contributions are bounded by a rule that does not look at other users. A partition without users is never "
         "released, each noise is fresh, and the threshold does not depend on the data. A record of the data is a user, with all their "
         "rows.";
}

}  // namespace

Word threshold_word() {
  return {.role = Role::source,
          .name = "threshold",
          .meaning = "keys and noisy counts of partitions, released above a threshold",
          .parameters = {{.name = "noise",
                          .kind = Kind::choice,
                          .meaning = "gaussian or laplace; discrete_gaussian or discrete_laplace on whole counts",
                          .choices = "gaussian|laplace|discrete_gaussian|discrete_laplace"},
                         {"scale", Kind::number, "sigma or scale of the noise on each count", range::positive},
                         {"above", Kind::number, "a count is released if it is at least this after the noise", range::any, effect::safer},
                         {"partitions", Kind::integer, "partitions of one user, at most", range::whole(1, most_partitions_of_gaussian),
                          effect::riskier, "1"},
                         {"contribution", Kind::number, "how much one user adds to one partition, at most", range::positive,
                          effect::riskier, "1"}},
          .neighbours = {Neighbours::add_remove},
          .promise = promise_of_threshold,
          .make = make_threshold,
          .of_users = true};
}

}  // namespace tradeoff::detail
