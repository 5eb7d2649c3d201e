// SPDX-License-Identifier: Apache-2.0
#include "loss/loss.h"

#include "loss/atoms.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {

Interval Loss::log_delta(Direction direction, Interval epsilon) const { return log(delta(direction, epsilon)); }

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

Capabilities Loss::capabilities(Direction /*direction*/) const { return {}; }

std::optional<LossLattice> Loss::lattice() const {
  const Capabilities known = capabilities(Direction::remove);
  if (known.lattice || known.atoms == nullptr || !known.atoms->mirrored || known.atoms->finite.size() != 2) return known.lattice;
  const Interval loss = known.atoms->finite.front().loss;
  return loss.lo > 0 && known.atoms->finite.back().loss == -loss ? std::optional(LossLattice{2.0 * loss, true}) : std::nullopt;
}

std::optional<BreakExpansion> Loss::break_points(Direction direction, ParameterEnd end) const {
  const BreakPoints* known = capabilities(direction).break_points;
  return known != nullptr ? known->expansion(direction, end) : std::nullopt;
}

std::optional<Interval> Loss::closed_epsilon(Direction direction, Interval delta) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->closed_epsilon(direction, delta) : std::nullopt;
}

std::optional<Interval> Loss::closed_beta(Direction direction, Interval alpha) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->closed_beta(direction, alpha) : std::nullopt;
}

std::optional<Interval> Loss::closed_mu() const {
  const Capabilities known = capabilities(Direction::remove);
  if (known.gaussian_mu) return known.gaussian_mu;
  return known.closed_forms != nullptr ? known.closed_forms->closed_mu() : std::nullopt;
}

std::optional<Interval> Loss::mu_above() const {
  const ClosedForms* known = capabilities(Direction::remove).closed_forms;
  return known != nullptr ? known->mu_above() : std::nullopt;
}

std::optional<NeededMu> Loss::mu_below() const {
  const ClosedForms* known = capabilities(Direction::remove).closed_forms;
  return known != nullptr ? known->mu_below() : std::nullopt;
}

std::optional<Loss::Test> Loss::test_at(Direction direction, double epsilon) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->test_at(direction, epsilon) : std::nullopt;
}

std::optional<std::vector<Guarantee>> Loss::guarantees(Direction direction) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->guarantees(direction) : std::nullopt;
}

Interval Loss::log_complement(Direction direction, double epsilon) const {
  if (const ClosedForms* known = capabilities(direction).closed_forms)
    if (const auto found = known->log_complement(direction, epsilon)) return *found;
  return log1p(-clamp(delta(direction, Interval::exactly(epsilon)), 0, 1));
}

std::optional<LogLine> Loss::log_line(LineOf of, Direction direction, double start, double end) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->log_line(of, direction, start, end) : std::nullopt;
}

std::optional<LogLine> Loss::divergence_line(Direction direction, double start, double end) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->divergence_line(direction, start, end) : std::nullopt;
}

std::optional<Arc> Loss::arc(Direction direction, double start, double end) const {
  const ClosedForms* known = capabilities(direction).closed_forms;
  return known != nullptr ? known->arc(direction, start, end) : std::nullopt;
}

double Loss::rough_delta(Direction direction, double epsilon) const {
  if (const ClosedForms* known = capabilities(direction).closed_forms)
    if (const auto rough = known->rough_delta(direction, epsilon)) return *rough;
  return middle_of_delta(*this, direction, epsilon);
}

double middle_of_delta(const Loss& loss, Direction direction, double epsilon) {
  const Unrecorded steering;
  const Interval value = loss.delta(direction, Interval::exactly(epsilon));
  return 0.5 * (value.lo + value.hi);
}

}  // namespace tradeoff::detail
