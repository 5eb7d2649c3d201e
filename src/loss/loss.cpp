// SPDX-License-Identifier: Apache-2.0
#include "loss/loss.h"

#include "loss/atoms.h"
#include "numeric/arithmetic.h"

namespace tradeoff {

Interval Loss::log_delta(Direction direction, Interval epsilon) const { return log(delta(direction, epsilon)); }

double Loss::rough_delta(Direction direction, double epsilon) const {
  const Unrecorded steering;
  const Interval value = delta(direction, Interval::exactly(epsilon));
  return 0.5 * (value.lo + value.hi);
}

Interval Loss::infinite_mass(Direction direction) const { return delta(direction, Interval::exactly(infinity)); }

// [tail-model]
Tail Loss::tail() const {
  if (const auto mu = gaussian_mu()) return gdp_tail(*mu);
  const Interval remove = infinite_mass(Direction::remove);
  const Interval add = symmetric() ? remove : infinite_mass(Direction::add);
  if (remove.lo > 0 || add.lo > 0) return heavy_tail(TailKind::floor);
  const Atoms* atoms_remove = atoms(Direction::remove);
  const Atoms* atoms_add = atoms(Direction::add);
  if (remove.hi > 0 || add.hi > 0 || atoms_remove == nullptr || atoms_add == nullptr) return {};
  const auto largest_of = [](const Atoms& law) {
    Interval largest = Interval::exactly(0);
    for (const Atom& atom : law.finite) {
      const bool certain = atom.mass.lo > 0 && law.slack == 0;
      largest = max(largest, {certain ? atom.loss.lo : 0, atom.loss.hi});
    }
    return largest;
  };
  return pure_tail({largest_of(*atoms_remove), largest_of(*atoms_add)});
}

}  // namespace tradeoff
