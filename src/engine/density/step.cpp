// SPDX-License-Identifier: Apache-2.0
#include "engine/density/step.h"

#include <algorithm>
#include <cmath>

#include "numeric/arithmetic.h"

namespace tradeoff::detail::density {
namespace {

double relative_width(Interval x) { return x.hi > 0 ? x.width() / x.hi : 0; }

/// log(1 - rate + rate e^x).
double sampled_loss(double rate, double x) { return std::log1p(rate * std::expm1(x)); }

}  // namespace

// [density-powers] With w = 1 - q + q e^x the density d e^(-x/2) dx of x under Q is d sqrt(q) w (w - 1 + q)^(-3/2) dl, and w times that
// under P.
std::optional<Step> step_of(const Loss& loss, Direction direction) {
  const Capabilities known = loss.capabilities(direction);
  const Loss& base = known.sampled ? *known.sampled->base : loss;
  const LaplaceShape* shape = base.capabilities(Direction::remove).laplace_shape;
  if (shape == nullptr || shape->infinite.hi > 0) return std::nullopt;
  const Interval rate = known.sampled ? known.sampled->rate : Interval::exactly(1);
  const bool fixed = known.sampled && known.sampled->sampling == SampledBy::fixed;
  const double a = middle_of(shape->largest), q = middle_of(rate), atom = middle_of(shape->atom), other = atom * std::exp(-a);
  if (!(a > 0 && a < 40) || !(q > 0 && q <= 1)) return std::nullopt;
  const double high = sampled_loss(q, a), low = fixed ? 0 : sampled_loss(q, -a);
  Step step;
  step.rate = q;
  step.step = high - low;
  step.coefficient = middle_of(shape->density) * std::sqrt(q);
  if (!(step.step > 0)) return std::nullopt;
  const auto positive = [&](double start) { return Piece{start, step.step, 2}; };
  const auto negative = [&](double start) { return Piece{start, -step.step, 1}; };
  if (fixed) {
    // the Q mass of x > 0 is other + 2 d (1 - e^(-a/2)), and what has neither sign has loss 0
    const double above = other - 2 * middle_of(shape->density) * std::expm1(-a / 2);
    step.offset = -high;
    step.atoms = {other, (1 - q) * (1 - 2 * above), other * std::exp(high)};
    step.pieces = {negative(high), positive(0)};
  } else if (direction == Direction::remove || !known.sampled) {
    step.offset = low;
    step.atoms = {atom * std::exp(low), other * std::exp(high)};
    step.pieces = {positive(low)};
  } else {
    step.offset = -high;
    step.atoms = {other, atom};
    step.pieces = {negative(high)};
  }
  // One step has its losses within these of the exact ones: |dl/dx| <= 1, |dl/dq| q <= |w - 1|/w, and each formula has a few roundings.
  const double largest = std::max(std::abs(low), std::abs(high));
  step.loss_error = 1.1 * (relative_width(shape->largest) * a + relative_width(rate) * std::expm1(largest) + 8 * unit_roundoff * largest);
  step.weight_error = 2 * (relative_width(shape->atom) + relative_width(shape->density) + relative_width(rate)) + 4 * step.loss_error +
                      32 * unit_roundoff * (1 + a);
  return step;
}

Step refined(const Step& step, std::size_t parts) {
  if (parts <= 1) return step;
  Step finer = step;
  const auto count = static_cast<double>(parts);
  finer.step = step.step / count;
  finer.stride = parts;
  finer.pieces.clear();
  for (const Piece& piece : step.pieces)
    for (std::size_t k = 0; k < parts; ++k)
      finer.pieces.push_back({piece.start + piece.slope * static_cast<double>(k) / count, piece.slope / count, piece.exponent});
  finer.loss_error += 4 * unit_roundoff * (std::abs(step.offset) + step.step);
  return finer;
}

}  // namespace tradeoff::detail::density
