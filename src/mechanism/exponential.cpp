// SPDX-License-Identifier: Apache-2.0
#include "mechanism/exponential.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loss/key.h"
#include "mechanism/adaptive_choice.h"
#include "mechanism/adaptive_range.h"
#include "mechanism/choices_gaussian.h"
#include "mechanism/randomized_response.h"
#include "mechanism/selection_arguments.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/arguments.h"

namespace tradeoff::detail {
namespace {

/// The law has no atoms; its density is that of Laplace noise between the atoms, in another proportion.
LaplaceTransform bounded_range_transform(Interval range) {
  const Interval density = 0.5 / (expm1(range / 2.0) - expm1(-range / 2.0));
  return LaplaceTransform({range, Interval::exactly(0), density, Interval::exactly(0)});
}

}  // namespace

BoundedRangeLoss::BoundedRangeLoss(Interval range, Citations origin)
    : range_(range), transform_(bounded_range_transform(range)), origin_(std::move(origin)) {}

// [bounded-range-profile] delta(e) = (1 - e^((e - range)/2))^2 / (1 - e^-range) on [-range, range]; it grows with the range.
Interval BoundedRangeLoss::delta(Direction, Interval epsilon) const {
  cite();
  const auto at = [](double e, double range) {
    if (e >= range) return Interval::exactly(0);
    if (e == -infinity) return Interval::exactly(1);
    if (e <= -range) return -expm1(Interval::exactly(e));
    const Interval shortfall = -expm1((Interval::exactly(e) - range) / 2.0), whole = -expm1(Interval::exactly(-range));
    return clamp(shortfall * (shortfall / whole), 0, 1);
  };
  return {at(epsilon.hi, range_.lo).lo, at(epsilon.lo, range_.hi).hi};
}

std::optional<Interval> BoundedRangeLoss::closed_epsilon(Direction, Interval delta) const {
  cite();
  const auto at = [](double level, double range) {
    const Interval root = sqrt(Interval::exactly(level) * -expm1(Interval::exactly(-range)));
    return Interval::exactly(range) + 2.0 * log1p(-root);
  };
  return max({at(delta.hi, range_.lo).lo, at(delta.lo, range_.hi).hi}, Interval::exactly(0));
}

// (1 - a) / (1 - a + e^range a) falls in a and in the range.
std::optional<Interval> BoundedRangeLoss::closed_beta(Direction, Interval alpha) const {
  cite();
  const auto at = [](double a, double range) {
    return (1.0 - Interval::exactly(a)) / (1.0 + Interval::exactly(a) * expm1(Interval::exactly(range)));
  };
  return clamp({at(alpha.hi, range_.hi).lo, at(alpha.lo, range_.lo).hi}, 0, 1);
}

Capabilities BoundedRangeLoss::capabilities(Direction) const {
  if (!(range_.lo > 0)) return {.closed_forms = this};
  return {.transform = &transform_, .break_points = this, .closed_forms = this, .laplace_shape = &transform_.shape(), .atomless = true};
}

// E e^(sL) = (e^((s + 1/2) r) - e^(-(s + 1/2) r)) / ((2s + 1) (e^(r/2) - e^(-r/2))).
std::optional<BreakExpansion> BoundedRangeLoss::expansion(Direction, ParameterEnd end) const {
  const double range = end == ParameterEnd::worse ? range_.hi : range_.lo;
  const Interval up = 1.0 / -expm1(Interval::exactly(-range)), down = -1.0 / expm1(Interval::exactly(range)), none = Interval::exactly(0);
  return BreakExpansion{.terms = {{range, up, none, up}, {-range, down, none, down}}, .infinite_mass = none};
}

std::string BoundedRangeLoss::key() const { return make_key("bounded_range", {range_}); }

void BoundedRangeLoss::cite() const {
  static const Citation profile("bounded-range-profile",
                                "losses in an interval of known length are dominated by a shifted logistic distribution");
  record(origin_);
  record(profile);
}

namespace {

/// Uses of the same range. Seen from below, a single use is randomised response with half the range: the choice of the middle.
class RangeUses final : public AdaptiveUses {
 public:
  RangeUses(Interval range, bool from_below, Citations origin) : range_(range), from_below_(from_below), origin_(std::move(origin)) {}

  [[nodiscard]] std::string name() const override { return make_key("bounded_range", {range_}); }
  [[nodiscard]] LossPointer together(std::uint64_t uses) const override {
    if (uses == 1) return std::make_shared<BoundedRangeLoss>(range_, origin_);
    if (LossPointer exact = adaptive_range_loss({{range_, uses}}, origin_)) return exact;
    return from_below_ || !(uses >= few_for_gaussian) ? nullptr : choices_gaussian({{range_, uses}}, origin_);
  }
  [[nodiscard]] bool joins(const AdaptiveUses& other) const override { return dynamic_cast<const RangeUses*>(&other) != nullptr; }
  [[nodiscard]] LossPointer jointly(const std::vector<Share>& all) const override {
    std::vector<UsesOfRange> ranges;
    Citations origin;
    for (const Share& share : all) {
      const auto& one = dynamic_cast<const RangeUses&>(*share.of);
      ranges.push_back({one.range_, share.uses});
      origin.insert(origin.end(), one.origin_.begin(), one.origin_.end());
    }
    if (LossPointer exact = adaptive_range_loss(ranges, origin)) return exact;
    return from_below_ || !gaussian_is_better(ranges) ? nullptr : choices_gaussian(ranges, origin);
  }
  // The variances of the losses are uses range^2/3 in the product and at most uses range^2/4 in a block.
  [[nodiscard]] double gain(std::uint64_t uses) const override { return static_cast<double>(uses) * range_.hi * range_.hi; }
  [[nodiscard]] LossPointer of_group(std::uint64_t size) const override {
    Citations origin = origin_;
    origin.emplace_back("bounded-range-profile", std::to_string(size) + " records change together: their ranges add");
    return step(Interval::exactly(static_cast<double>(size)) * range_, from_below_, origin);
  }

  /// One use with its dominating pair, or the one from below.
  [[nodiscard]] static LossPointer step(Interval range, bool from_below, const Citations& origin) {
    auto uses = std::make_shared<RangeUses>(range, from_below, origin);
    LossPointer pair = from_below ? randomized_response(range / 2.0, 2) : std::make_shared<BoundedRangeLoss>(range, origin);
    return std::make_shared<AdaptiveChoice>(std::move(pair), std::move(uses));
  }

 private:
  static constexpr std::uint64_t few_for_gaussian = 32;  // with fewer uses, products of pairs are as good

  /// [choices-gaussian] Than a block of the first range beside products of the pairs of all others, whose variance is a third larger than
  /// it need be.
  [[nodiscard]] static bool gaussian_is_better(const std::vector<UsesOfRange>& all) {
    if (uses_that_count(all) < static_cast<double>(few_for_gaussian)) return false;
    if (adaptive_range_loss({all.front()}, {}) == nullptr) return true;
    const auto variance = [](const UsesOfRange& one) { return static_cast<double>(one.uses) * one.range.hi * one.range.hi; };
    double sum = 0;
    for (const UsesOfRange& one : all) sum += variance(one);
    return excess_of_choices_gaussian(all) < (1 - variance(all.front()) / sum) / 3;
  }

  Interval range_;
  bool from_below_;
  Citations origin_;
};

}  // namespace

// [adaptive-block]
LossPointer bounded_range_step(Interval range, const WordContext& context, const Citations& origin) {
  const auto above = [range, origin] { return RangeUses::step(range, false, origin); };
  const auto below = [range, origin] { return RangeUses::step(range, true, origin); };
  return context.bracket(above, {below});
}

namespace {

LossPointer make_exponential(const Arguments& arguments, const WordContext& context) {
  if (arguments.has("epsilon")) return bounded_range_step(arguments.number("epsilon"), context);
  return bounded_range_step(arguments.number("weight") * shift_of_utilities(arguments, context), context);
}

// [largest-loss] The two-point laws with the largest loss t exist for every t up to the range.
std::optional<numeric::Rational> largest_loss_of_exponential(const Arguments& arguments) {
  if (arguments.has("epsilon")) return arguments.exact("epsilon");
  return product_of(arguments.exact("weight"), exact_shift_of_utilities(arguments));
}

}  // namespace

Word exponential_word() {
  return {.role = Role::source,
          .name = "exponential",
          .meaning = "the exponential mechanism: a choice, likelier the better it is",
          .parameters = {{.name = "epsilon",
                          .kind = Kind::number,
                          .meaning = "length of the interval that holds all privacy losses; the usual epsilon of the mechanism",
                          .range = range::non_negative,
                          .effect = effect::riskier.up_to(effect::largest_epsilon),
                          .form = 1},
                         {.name = "weight",
                          .kind = Kind::number,
                          .meaning = "factor of the utility in the exponent",
                          .range = range::non_negative,
                          .effect = effect::riskier,
                          .form = 2},
                         in_form(utility_sensitivity_parameter, 2),
                         in_form(monotone_parameter, 2)},
          .synonyms = {{"exponential_mechanism"}},
          .sentence = selection_sentence,
          .make = make_exponential,
          .largest_loss = largest_loss_of_exponential};
}

}  // namespace tradeoff::detail
