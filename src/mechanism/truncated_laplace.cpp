// SPDX-License-Identifier: Apache-2.0
#include "mechanism/truncated_laplace.h"

#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "mechanism/scaled_noise.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "plan/arguments.h"

namespace tradeoff::detail {
namespace {

/// delta at 0 <= epsilon <= largest loss: (2 (1 - e^{(eps - e0)/2}) + e^{-reach}(e^eps - 1)) / (2 (1 - e^{-reach})). Both terms of the sum
/// are non-negative, so there is no cancellation.
Interval inside(Interval epsilon, Interval epsilon0, Interval reach) {
  const Interval shortfall = -2.0 * expm1((epsilon - epsilon0) / 2.0);
  const Interval overhang = exp(epsilon - reach) * -expm1(-epsilon);
  return clamp((shortfall + overhang) / (-2.0 * expm1(-reach)), 0, 1);
}

}  // namespace

// [truncated-laplace-profile] Beyond the largest finite loss min(e0, 2 reach - e0) the profile stays at the infinite mass.
TruncatedLaplaceLoss::TruncatedLaplaceLoss(Interval epsilon0, Interval reach)
    : epsilon0_(epsilon0),
      reach_(reach),
      largest_loss_(max(min(epsilon0, 2.0 * reach - epsilon0), Interval::exactly(0))),
      transform_(truncated_laplace_transform(epsilon0, reach)),
      corners_{-largest_loss_.lo, largest_loss_.lo} {}

Interval TruncatedLaplaceLoss::delta(Direction, Interval epsilon) const {
  cite();
  const auto at = [this](double e) {
    if (e == -infinity) return Interval::exactly(1);
    const Interval there = inside(min(Interval::exactly(std::abs(e)), largest_loss_), epsilon0_, reach_);
    return e >= 0 ? there : mirrored_delta(e, there);
  };
  if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
  return {at(epsilon.hi).lo, at(epsilon.lo).hi};
}

Interval TruncatedLaplaceLoss::infinite_mass(Direction) const { return inside(largest_loss_, epsilon0_, reach_); }

std::string TruncatedLaplaceLoss::key() const { return make_key("truncated_laplace", {epsilon0_, reach_}); }

void TruncatedLaplaceLoss::cite() const {
  static const Citation profile("truncated-laplace-profile",
                                "truncated Laplace noise has a closed profile; its mass at infinite loss is kept apart");
  record(profile);
}

namespace {

LossPointer make_truncated_laplace(const Arguments& arguments, const WordContext&) {
  const Interval scale = arguments.number("scale");
  return std::make_shared<TruncatedLaplaceLoss>(arguments.number("sensitivity") / scale, arguments.number("bound") / scale);
}

// [parameter-calibration] P(X >= x) is e^(-x/scale) (1 - e^(-(bound - x)/scale)) over 2 (1 - e^(-bound/scale)).
ScaledNoise scaled_truncated_laplace(const Arguments& arguments) {
  const Interval bound = arguments.positive("bound");
  const auto tail_of = [bound](double given) -> ScaledNoise::Tail {
    return [bound, scale = Interval::exactly(given)](double reach) {
      const Interval all = 2.0 * mass_below(bound, scale);
      const Interval top = exp(-(Interval::exactly(reach) / scale)) * mass_below(bound - reach, scale);
      return all.lo > 0 ? top / all : Interval{0, 0.5};
    };
  };
  return {.whole = false, .bound = bound, .tail = tail_of, .output_of_loss = laplace_output_of_loss};
}

}  // namespace

Word truncated_laplace_word() {
  return {.role = Role::source,
          .name = "truncated_laplace",
          .meaning = "Laplace noise restricted to [-bound, bound], on a single value",
          .parameters = {{"scale", Kind::number, "scale of the noise", range::positive, effect::mostly_safer},
                         {"bound", Kind::number, "largest absolute value of the noise", range::positive},
                         sensitivity_parameter},
          .make = make_truncated_laplace,
          .noise = scaled_truncated_laplace};
}

}  // namespace tradeoff::detail
