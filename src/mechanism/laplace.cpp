// SPDX-License-Identifier: Apache-2.0
#include "mechanism/laplace.h"

#include "loss/gaussian_profile.h"
#include "loss/key.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/arguments.h"

namespace tradeoff::detail {

// [laplace-profile] delta(e) = 1 - exp(min(e, (e - e0)/2)) where positive: the second form on [-e0, e0], the first below.
Interval LaplaceLoss::delta(Direction, Interval epsilon) const {
  cite();
  const auto at = [](double e, double e0) {
    if (e >= e0) return Interval::exactly(0);
    if (e == -infinity) return Interval::exactly(1);
    const Interval exponent = min(Interval::exactly(e), (Interval::exactly(e) - e0) / 2.0);
    return max(-expm1(exponent), Interval::exactly(0));
  };
  return {at(epsilon.hi, epsilon0_.lo).lo, at(epsilon.lo, epsilon0_.hi).hi};
}

std::optional<Interval> LaplaceLoss::closed_epsilon(Direction, Interval delta) const {
  cite();
  return max(epsilon0_ + 2.0 * log1p(-delta), Interval::exactly(0));
}

// The trade-off function has three branches; it is a minimum of maxima. Each branch decreases in alpha and in epsilon0.
std::optional<Interval> LaplaceLoss::closed_beta(Direction, Interval alpha) const {
  cite();
  const auto at = [](double a, double e0) {
    const Interval shrink = exp(Interval::exactly(-e0));
    const Interval point = Interval::exactly(a);
    if (a >= 0.5) return shrink * (1.0 - point);
    if (2 * a < shrink.lo) return 1.0 - point / shrink;
    const Interval middle = a > 0 ? shrink / (4.0 * point) : Interval{0, 1};
    return 2 * a > shrink.hi ? middle : hull(middle, 1.0 - point / shrink);
  };
  return clamp({at(alpha.hi, epsilon0_.hi).lo, at(alpha.lo, epsilon0_.lo).hi}, 0, 1);
}

// [laplace-mu] The transform of the profile to mu is largest at epsilon = 0, for every epsilon0.
std::optional<Interval> LaplaceLoss::closed_mu() const {
  static const Citation largest_at_zero("laplace-mu", "the least mu is that of delta at epsilon = 0");
  record(largest_at_zero);
  return tradeoff::detail::gaussian_mu(Interval::exactly(0), delta(Direction::remove, Interval::exactly(0)));
}

std::string LaplaceLoss::key() const { return make_key("laplace", {epsilon0_}); }

void LaplaceLoss::cite() const {
  static const Citation profile("laplace-profile", "Laplace noise has a closed profile and trade-off function");
  record(origin_);
  record(profile);
}

namespace {

LossPointer make_laplace(const Arguments& arguments, const WordContext&) {
  return std::make_shared<LaplaceLoss>(arguments.number("sensitivity") / arguments.number("scale"));
}

// [largest-loss] Every output outside the two answers has the loss sensitivity/scale or its negative.
std::optional<numeric::Rational> largest_loss_of_laplace(const Arguments& arguments) {
  return ratio(arguments.exact("sensitivity"), arguments.exact("scale"));
}

}  // namespace

Word laplace_word() {
  return {.role = Role::source,
          .name = "laplace",
          .meaning = "Laplace noise, l1 sensitivity",
          .parameters = {{"scale", Kind::number, "scale of the noise", range::positive, effect::safer}, sensitivity_parameter},
          .synonyms = {{"b=", "laplace takes its scale: laplace(scale=2)"},
                       {"sigma=", "laplace takes its scale; its standard deviation is sqrt(2) times the scale"},
                       {"epsilon=", "laplace takes its scale: sensitivity/epsilon"}},
          .norm = "l1",
          .make = make_laplace,
          .largest_loss = largest_loss_of_laplace};
}

}  // namespace tradeoff::detail
