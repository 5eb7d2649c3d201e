// SPDX-License-Identifier: Apache-2.0
#include "loss/atoms.h"

#include <algorithm>
#include <string>

#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {

namespace {

void check(const Atom& atom) {
  const bool sound = atom.mass.hi >= 0 && atom.mass.lo <= atom.mass.hi && atom.mass.hi < infinity && atom.loss.lo <= atom.loss.hi &&
                     atom.loss.lo > -infinity && atom.loss.hi < infinity;
  if (!sound) throw DomainError("atoms: a mass must lie in [0, 1] and a loss must be finite");
}

/// The gain (1 - exp(e - loss))+ of a test that rejects at this loss, for one end of each interval; 0 if the gain is not positive.
Interval gain(Interval epsilon, Interval loss) {
  const Interval excess = max(loss - epsilon, Interval::exactly(0));
  return -expm1(-excess);
}

void check_distribution(const std::vector<Interval>& masses, const char* name) {
  Interval total = Interval::exactly(0);
  for (const Interval mass : masses) {
    if (!(mass.lo >= 0 && mass.hi <= 1)) throw DomainError("pair: every entry of " + std::string(name) + " must lie in [0, 1]");
    total = total + mass;
  }
  if (!total.contains(1)) {
    throw DomainError("pair: the entries of " + std::string(name) + " sum to " + std::to_string(total.lo) + ", they must sum to 1");
  }
}

}  // namespace

Atoms make_atoms(std::vector<Atom> finite, Interval infinite, Interval other_infinite, bool mirrored) {
  std::for_each(finite.begin(), finite.end(), check);
  std::stable_sort(finite.begin(), finite.end(),
                   [](const Atom& a, const Atom& b) { return a.loss.lo != b.loss.lo ? a.loss.lo > b.loss.lo : a.loss.hi > b.loss.hi; });
  Atoms atoms{{}, clamp(infinite, 0, 1), clamp(other_infinite, 0, 1), mirrored, 0};
  for (Atom& atom : finite) {
    atom.mass.lo = std::max(atom.mass.lo, 0.0);  // a product that underflows may be rounded below 0
    if (atom.mass.hi == 0) continue;
    if (!atoms.finite.empty() && atoms.finite.back().loss == atom.loss) {
      atoms.finite.back().mass = atoms.finite.back().mass + atom.mass;
    } else {
      atoms.finite.push_back(atom);
    }
  }
  for (Atom& atom : atoms.finite) atom.mass = clamp(atom.mass, 0, 1);
  return atoms;
}

Atoms atoms_of_pair(const std::vector<Interval>& p, const std::vector<Interval>& q) {
  if (p.size() != q.size() || p.empty()) throw DomainError("pair: p and q must have the same positive number of entries");
  check_distribution(p, "p");
  check_distribution(q, "q");
  std::vector<Atom> finite;
  Interval only_p = Interval::exactly(0);
  Interval only_q = Interval::exactly(0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i].hi == 0) {
      only_q = only_q + q[i];
    } else if (q[i].hi == 0) {
      only_p = only_p + p[i];
    } else if (p[i].lo > 0 && q[i].lo > 0) {
      // The loss of two equal entries is exactly 0. A decimal that is read twice gives the same enclosure, and the enclosure of log(p/q)
      // then contains 0.
      finite.push_back({p[i].lo == p[i].hi && p[i] == q[i] ? Interval::exactly(0) : log(p[i] / q[i]), p[i]});
    } else {
      throw DomainError("pair: an entry is either 0 or has a positive enclosure");
    }
  }
  return make_atoms(std::move(finite), only_p, only_q, false);
}

Interval mass_under_q(const Atoms& atoms, std::size_t index) {
  const Atom& atom = atoms.finite[index];
  const Atom& image = atoms.finite[atoms.finite.size() - 1 - index];
  constexpr double near_overflow = -700;  // e^-loss overflows below -709
  if (atoms.mirrored && atom.loss.lo < near_overflow && image.loss == -atom.loss) return image.mass;
  return clamp(atom.mass * exp(-atom.loss), 0, 1);
}

Atoms swapped(const Atoms& atoms) {
  std::vector<Atom> finite;
  finite.reserve(atoms.finite.size());
  for (std::size_t i = 0; i < atoms.finite.size(); ++i) finite.push_back({-atoms.finite[i].loss, mass_under_q(atoms, i)});
  std::reverse(finite.begin(), finite.end());
  Atoms other = make_atoms(std::move(finite), atoms.other_infinite, atoms.infinite, atoms.mirrored);
  other.slack = atoms.slack;
  return other;
}

Interval delta_of(const Atoms& atoms, Interval epsilon) {
  // delta does not increase in epsilon: each end of the result comes from one end of `epsilon`.
  const auto at = [&](double e) {
    Interval sum = atoms.infinite;
    for (const Atom& atom : atoms.finite) sum = sum + atom.mass * gain(Interval::exactly(e), atom.loss);
    return clamp(sum, 0, 1);
  };
  return {(at(epsilon.hi) * (1 - Interval::exactly(atoms.slack))).lo, at(epsilon.lo).hi};
}

Interval log_delta_of(const Atoms& atoms, Interval epsilon) {
  const auto at = [&](double e) {
    Interval sum = log(atoms.infinite);
    for (const Atom& atom : atoms.finite) sum = log_add_exp(sum, log(atom.mass) + log(gain(Interval::exactly(e), atom.loss)));
    return min(sum, Interval::exactly(0));
  };
  return {(at(epsilon.hi) + log1p(-Interval::exactly(atoms.slack))).lo, at(epsilon.lo).hi};
}

}  // namespace tradeoff::detail
