// SPDX-License-Identifier: Apache-2.0
#include "operators/finite_part.h"

#include "loss/atoms.h"
#include "mechanism/finite.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"

namespace tradeoff::detail {
namespace {

/// (delta - d)/(1 - d); the mirror at negative e is the mirror of the rest as well.
class RestLoss final : public Loss {
 public:
  RestLoss(LossPointer base, Interval revealed, Tail tail) : base_(std::move(base)), revealed_(revealed), tail_(tail) {}
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo >= tail_.zero_from) return Interval::exactly(0);
    return clamp((base_->delta(direction, epsilon) - revealed_) / (1.0 - revealed_), 0, 1);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return tail_; }

 private:
  LossPointer base_;
  Interval revealed_;
  Tail tail_;
};

}  // namespace

// [berry-esseen] f = f' (x) f_{0, d}.
FinitePart finite_part(LossPointer loss) {
  if (!loss->symmetric()) loss = std::make_shared<SymmetrizedLoss>(std::move(loss));
  const Interval revealed = clamp(loss->infinite_mass(Direction::remove), 0, 1);
  // If only the upper end is positive, it is the bound of a truncated tail, not an infinite loss.
  if (!(revealed.lo > 0) || revealed.lo == 1) return {revealed.lo == 1 ? revealed : Interval::exactly(0), std::move(loss)};
  if (const Atoms* atoms = loss->atoms(Direction::remove); atoms != nullptr && atoms->mirrored && atoms->slack == 0) {
    std::vector<Atom> kept = atoms->finite;
    for (Atom& atom : kept) atom.mass = clamp(atom.mass / (1.0 - revealed), 0, 1);
    const Interval none = Interval::exactly(0);
    return {revealed,
            finite_loss(make_atoms(std::move(kept), none, none, true), "", {Citation("berry-esseen", "given that the loss is finite")})};
  }
  const auto largest = loss->capabilities(Direction::remove).largest_finite_loss;
  const Tail tail = largest ? zero_tail(largest->hi) : Tail{};
  return {revealed, std::make_shared<RestLoss>(std::move(loss), revealed, tail)};
}

}  // namespace tradeoff::detail
