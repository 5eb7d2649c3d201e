// SPDX-License-Identifier: Apache-2.0
#include "mechanism/discrete_laplace.h"

#include <algorithm>

#include "loss/key.h"
#include "mechanism/finite.h"
#include "mechanism/scaled_noise.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/arguments.h"

namespace tradeoff::detail {
namespace {

/// 1 - r^n with r = exp(-1/scale).
Interval one_minus_power(Interval scale, std::uint64_t n) { return -expm1(-(Interval::exactly(n) / scale)); }
/// r^n.
Interval ratio_power(Interval scale, std::uint64_t n) { return exp(-(Interval::exactly(n) / scale)); }

/// The loss of outcome y, (shift - 2 min(max(y, 0), shift)) / scale; y is counted from the side that favours P.
Interval loss_at(Interval scale, std::uint64_t shift, std::uint64_t y) {
  const double steps = static_cast<double>(shift) - 2 * static_cast<double>(y);
  return Interval::exactly(steps) / scale;
}

}  // namespace

// [discrete-laplace] All outcomes y <= 0 share the largest loss, all y >= shift the smallest; the others have one each.
LossPointer discrete_laplace(Interval scale, std::uint64_t sensitivity) {
  const Interval ratio = ratio_power(scale, 1);
  const Interval whole = 1.0 + ratio;
  std::vector<Atom> atoms;
  if (sensitivity == 0) {
    atoms.push_back({Interval::exactly(0), Interval::exactly(1)});
  } else {
    atoms.push_back({loss_at(scale, sensitivity, 0), 1.0 / whole});
    for (std::uint64_t y = 1; y < sensitivity; ++y)
      atoms.push_back({loss_at(scale, sensitivity, y), ratio_power(scale, y) * one_minus_power(scale, 1) / whole});
    atoms.push_back({loss_at(scale, sensitivity, sensitivity), ratio_power(scale, sensitivity) / whole});
  }
  const Interval none = Interval::exactly(0);
  return finite_loss(make_atoms(std::move(atoms), none, none, true), make_key("discrete_laplace", {scale, Interval::exactly(sensitivity)}),
                     {Citation("discrete-laplace", "the loss takes sensitivity + 1 values on a lattice")});
}

// [discrete-laplace] As above, but outcomes below shift - bound have infinite loss, and those above bound do not occur.
LossPointer truncated_discrete_laplace(Interval scale, std::uint64_t bound, std::uint64_t sensitivity) {
  const Interval ratio = ratio_power(scale, 1);
  // Sum of r^|k| over {-bound..bound} times (1 - r): 1 + r - 2 r^(bound+1), as a sum of positive terms.
  const Interval whole = one_minus_power(scale, bound + 1) + ratio * one_minus_power(scale, bound);
  std::vector<Atom> atoms;
  Interval infinite = Interval::exactly(1);
  if (sensitivity == 0) {
    atoms.push_back({Interval::exactly(0), Interval::exactly(1)});
    infinite = Interval::exactly(0);
  } else if (sensitivity <= bound) {
    const Interval flank = one_minus_power(scale, bound - sensitivity + 1);
    atoms.push_back({loss_at(scale, sensitivity, 0), flank / whole});
    atoms.push_back({loss_at(scale, sensitivity, sensitivity), ratio_power(scale, sensitivity) * flank / whole});
    infinite = ratio_power(scale, bound - sensitivity + 1) * one_minus_power(scale, sensitivity) / whole;
  } else if (sensitivity <= 2 * bound) {
    infinite = (ratio * one_minus_power(scale, bound) + one_minus_power(scale, sensitivity - bound)) / whole;
  }
  if (sensitivity > 0 && sensitivity <= 2 * bound) {
    const std::uint64_t first = sensitivity > bound ? sensitivity - bound : 1;
    for (std::uint64_t y = first; y <= std::min(sensitivity - 1, bound); ++y)
      atoms.push_back({loss_at(scale, sensitivity, y), ratio_power(scale, y) * one_minus_power(scale, 1) / whole});
  }
  return finite_loss(
      make_atoms(std::move(atoms), infinite, infinite, true),
      make_key("truncated_discrete_laplace", {scale, Interval::exactly(bound), Interval::exactly(sensitivity)}),
      {Citation("discrete-laplace", "outcomes that only one side can produce have infinite loss; the rest lie on a lattice")});
}

namespace {

LossPointer make_discrete_laplace(const Arguments& arguments, const WordContext&) {
  return discrete_laplace(arguments.number("scale"), arguments.whole("sensitivity"));
}

// [largest-loss] Every integer beyond the two answers has the loss sensitivity/scale or its negative.
std::optional<numeric::Rational> largest_loss_of_discrete_laplace(const Arguments& arguments) {
  return ratio(arguments.exact("sensitivity"), arguments.exact("scale"));
}

/// Neighbouring integers differ by 1/scale in the logarithm of either probability.
std::optional<numeric::Rational> loss_step_of_discrete_laplace(const Arguments& arguments) {
  return ratio(numeric::Rational{1, 1}, arguments.exact("scale"));
}

LossPointer make_truncated_discrete_laplace(const Arguments& arguments, const WordContext&) {
  return truncated_discrete_laplace(arguments.number("scale"), arguments.whole("bound"), arguments.whole("sensitivity"));
}

// [parameter-calibration] As for truncated_laplace, with sums in the place of integrals.
ScaledNoise scaled_truncated_discrete_laplace(const Arguments& arguments) {
  const Interval bound = arguments.positive("bound");
  const auto tail_of = [bound](double given) -> ScaledNoise::Tail {
    return [bound, scale = Interval::exactly(given)](double reach) {
      const Interval all = mass_below(bound + 1.0, scale) + exp(-(1.0 / scale)) * mass_below(bound, scale);
      const Interval top = exp(-(Interval::exactly(reach) / scale)) * mass_below(bound + 1.0 - reach, scale);
      return all.lo > 0 ? top / all : Interval{0, 0.5};
    };
  };
  return {.whole = true, .bound = bound, .tail = tail_of, .output_of_loss = laplace_output_of_loss};
}

}  // namespace

Word discrete_laplace_word() {
  return {.role = Role::source,
          .name = "discrete_laplace",
          .meaning = "Laplace noise on the integers, l1 sensitivity",
          .parameters = {{"scale", Kind::number, "scale of the noise, in steps of the grid", range::positive, effect::safer},
                         grid_sensitivity_parameter},
          .synonyms = {{"geometric"}},
          .norm = "l1",
          .make = make_discrete_laplace,
          .largest_loss = largest_loss_of_discrete_laplace,
          .loss_step = loss_step_of_discrete_laplace};
}

Word truncated_discrete_laplace_word() {
  return {.role = Role::source,
          .name = "truncated_discrete_laplace",
          .meaning = "Laplace noise on the integers -bound..bound, on a single value",
          .parameters = {{"scale", Kind::number, "scale of the noise, in steps of the grid", range::positive, effect::mostly_safer},
                         {"bound", Kind::integer, "largest absolute value of the noise", range::whole(1, range::most_steps)},
                         grid_sensitivity_parameter},
          .make = make_truncated_discrete_laplace,
          .noise = scaled_truncated_discrete_laplace};
}

}  // namespace tradeoff::detail
