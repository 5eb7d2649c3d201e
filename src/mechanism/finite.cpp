// SPDX-License-Identifier: Apache-2.0
#include "mechanism/finite.h"

#include <utility>

#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

/// Two or three losses that are mirror images of each other always lie on a lattice.
std::optional<LossLattice> lattice_of(const Atoms& atoms) {
  if (!atoms.mirrored || atoms.finite.empty() || !(atoms.finite.front().loss.lo > 0)) return std::nullopt;
  const Interval largest = atoms.finite.front().loss;
  if (atoms.finite.size() == 2 && atoms.finite[1].loss == -largest) return LossLattice{2.0 * largest, true};
  if (atoms.finite.size() == 3 && atoms.finite[1].loss == Interval::exactly(0) && atoms.finite[2].loss == -largest)
    return LossLattice{largest, false};
  return std::nullopt;
}

class FiniteLoss final : public Loss {
 public:
  FiniteLoss(Atoms remove, std::string key, Citations origin, std::optional<Tail> tail, const std::optional<LossLattice>& lattice)
      : remove_(std::move(remove)),
        add_(remove_.mirrored ? remove_ : swapped(remove_)),
        key_(std::move(key)),
        origin_(std::move(origin)),
        tail_(tail),
        lattice_(lattice ? lattice : lattice_of(remove_)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    FiniteLoss::cite();
    return delta_of(law(direction), epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    FiniteLoss::cite();
    return log_delta_of(law(direction), epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return remove_.mirrored; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return law(direction).infinite; }
  [[nodiscard]] Tail tail() const override { return tail_ ? *tail_ : Loss::tail(); }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override { return {.atoms = &law(direction), .lattice = lattice_}; }
  [[nodiscard]] std::string key() const override { return key_; }
  void cite() const override { record(origin_); }

 private:
  [[nodiscard]] const Atoms& law(Direction direction) const { return direction == Direction::add ? add_ : remove_; }

  Atoms remove_;
  Atoms add_;
  std::string key_;
  Citations origin_;
  std::optional<Tail> tail_;
  std::optional<LossLattice> lattice_;
};

}  // namespace

LossPointer finite_loss(Atoms remove, std::string key, Citations origin, std::optional<Tail> tail, std::optional<LossLattice> lattice) {
  return std::make_shared<FiniteLoss>(std::move(remove), std::move(key), std::move(origin), tail, lattice);
}

}  // namespace tradeoff::detail
