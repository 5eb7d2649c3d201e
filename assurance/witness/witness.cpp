// SPDX-License-Identifier: Apache-2.0
#include "witness.h"

#include "inversion.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::witness {
namespace {

constexpr slong exact_bits = 640;  // finite sums of closed forms cancel

}  // namespace

Witness::Witness(const Plan& plan, Neighbours neighbours) : laws_(witness::read(plan, neighbours)) {
  unsigned long steps = 0;
  for (const Part& part : laws_.parts) steps += part.times;
  const bool is_open = neighbours == Neighbours::unstated && !laws_.sampled;
  if (laws_.directed && (neighbours == Neighbours::replace_one || (is_open && steps > 1)))
    throw UnsupportedError("witness: directed mechanisms where a record may be replaced are not supported; state add-remove neighbours");
  const WithPrecision more(exact_bits);
  Real p_left(1);
  Real q_left(1);
  unsigned long without_atoms = 0;
  for (const Part& part : laws_.parts) {
    p_left *= power(Real(1) - part.revealed, part.times);
    q_left *= power(Real(1) - part.excluded, part.times);
    if (!part.density) continue;
    dense_steps_ += part.times;
    if (part.atoms.empty()) without_atoms += part.times;
  }
  revealed_ = Real(1) - p_left;
  excluded_ = Real(1) - q_left;
  // With two densities without point masses the transform decays; with one too, unless it is the only step.
  split_ = without_atoms == 0 || dense_steps_ == 1;
}

Real Witness::read_exactly(Side side, const Real& e) const {
  if (!split_) return Real(0);
  const WithPrecision more(exact_bits);
  const Part* chosen = nullptr;  // the step that contributes its density; null for none
  Real sum;
  const auto add_terms = [&] {
    Atoms atoms;
    atoms.add({}, chosen != nullptr ? Real(chosen->times) : Real(1));
    for (const Part& part : laws_.parts) atoms = convolve(atoms, convolve_power(part.atoms, part.times - (&part == chosen ? 1 : 0)));
    for (const auto& [at, mass] : atoms.masses()) {
      const Real threshold = e - Atoms::loss(at, laws_.units);
      const Real gain = side == Side::call ? Real(1) - exp(threshold) : exp(threshold) - 1;
      sum += mass * (chosen != nullptr ? chosen->density->read(side, threshold) : max(gain, Real(0)));
    }
  };
  add_terms();
  for (const Part& part : laws_.parts) {
    if (!part.density) continue;
    chosen = &part;
    add_terms();
  }
  return sum;
}

Real Witness::read(Side side, const Real& e) const {
  const Real exactly = read_exactly(side, e);
  if (split_ && dense_steps_ <= 1) return exactly;
  return exactly + invert(Transform(laws_, split_), side, e, exactly);
}

Real Witness::delta(const Real& epsilon, Direction direction) const {
  if (direction == Direction::remove) return revealed_ + read(Side::call, epsilon);
  if (direction == Direction::add) return excluded_ + exp(epsilon) * read(Side::put, -epsilon);
  const Real remove = delta(epsilon, Direction::remove);
  return laws_.directed ? max(remove, delta(epsilon, Direction::add)) : remove;
}

}  // namespace tradeoff::detail::witness
