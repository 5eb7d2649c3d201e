// SPDX-License-Identifier: Apache-2.0
#include "engine/exact.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "engine/exact_table.h"
#include "mechanism/atoms.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"

namespace tradeoff {

namespace {

using exact::Law;
using exact::Masses;
using exact::Table;

struct FinitePart {
  const Atoms* atoms;
  std::uint64_t times;
};

/// Randomised responses with the same epsilon are one part whatever they reveal: only the finite law, normalised, counts.
bool same_finite_law(const Atoms& a, const Atoms& b) {
  return a.mirrored && b.mirrored && a.finite.size() == 2 && b.finite.size() == 2 && a.finite.front().loss == b.finite.front().loss;
}

std::vector<FinitePart> finite_parts(const Parts& parts, Direction direction) {
  std::vector<FinitePart> result;
  for (const Part& part : parts) {
    const Atoms* atoms = part.loss->atoms(direction);
    const auto same = std::find_if(result.begin(), result.end(), [&](const FinitePart& other) { return same_finite_law(*other.atoms, *atoms); });
    if (same != result.end()) {
      same->times += part.times;
    } else if (!atoms->finite.empty() && part.times > 0) {
      result.push_back({atoms, part.times});
    }
  }
  return result;
}

Masses masses_of(const Parts& parts, Direction direction) {
  Interval kept = Interval::exactly(0);
  Interval other_kept = Interval::exactly(0);
  Interval slack = Interval::exactly(0);
  for (const Part& part : parts) {
    const Atoms& atoms = *part.loss->atoms(direction);
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    kept = kept + times * log1p(-atoms.infinite);
    other_kept = other_kept + times * log1p(-atoms.other_infinite);
    slack = slack - times * log1p(-Interval::exactly(atoms.slack));
  }
  return {-expm1(kept), -expm1(other_kept), exp(kept), slack.hi};
}

bool all_finite(const Parts& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->atoms(Direction::remove) != nullptr; });
}

Law compose_finite(const std::vector<FinitePart>& parts) {
  std::vector<Law> laws;
  for (const FinitePart& part : parts) laws.push_back(exact::power(*part.atoms, part.times));
  std::sort(laws.begin(), laws.end(), [](const Law& a, const Law& b) { return a.points.size() < b.points.size(); });
  Law sum{{{0, 1}}, 0, 0, 0, 0, 0};
  for (const Law& law : laws) sum = sum.points.size() == 1 && sum.points.front().loss == 0 && sum.shift == 0 ? law : product(sum, law);
  return sum;
}

/// The composition as a loss: one table a direction, or one for both.
class ExactLoss final : public Loss {
 public:
  ExactLoss(const Parts& parts, bool symmetric)
      : symmetric_(symmetric), remove_(compose_finite(finite_parts(parts, Direction::remove)), masses_of(parts, Direction::remove)) {
    if (!symmetric) {
      add_ = std::make_unique<Table>(compose_finite(finite_parts(parts, Direction::add)), masses_of(parts, Direction::add));
    }
    if (small(remove_) && (!add_ || small(*add_))) {
      atoms_ = make(remove_);
      if (add_) add_atoms_ = make(*add_);
    }
    for (const Part& part : parts) part.loss->explain(steps_);
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return table(direction).delta(epsilon); }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override { return table(direction).log_delta(epsilon); }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return table(direction).masses().infinite; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval target) const override {
    return table(direction).epsilon(target);
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override { return table(direction).beta(alpha); }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override { return table(direction).test(epsilon); }
  [[nodiscard]] const Atoms* atoms(Direction direction) const override {
    if (!atoms_) return nullptr;
    return direction == Direction::add && add_atoms_ ? &*add_atoms_ : &*atoms_;
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    std::vector<Guarantee> list;
    for (const auto& [epsilon, delta] : table(direction).corners()) list.push_back({epsilon, delta});
    return list;
  }
  void explain(std::vector<Step>& steps) const override {
    steps.insert(steps.end(), steps_.begin(), steps_.end());
    std::ostringstream detail;
    detail << remove_.law().points.size() << " atoms, losses within " << remove_.law().shift << ", masses within a factor 1 +- "
           << remove_.law().spread;
    steps.push_back({"exact-composition", detail.str()});
  }

 private:
  /// Laws up to this size are handed on to mixtures and to further composition.
  static constexpr std::size_t most_atoms = 4096;

  /// Few atoms, each with a mass that a double holds to full precision.
  [[nodiscard]] static bool small(const Table& table) {
    const auto& points = table.law().points;
    return points.size() <= most_atoms && table.masses().finite.lo > 1e-100 &&
           std::all_of(points.begin(), points.end(), [](const exact::Point& point) { return point.mass > 1e-200L; });
  }

  [[nodiscard]] const Table& table(Direction direction) const { return direction == Direction::add && add_ ? *add_ : remove_; }

  [[nodiscard]] Atoms make(const Table& table) const {
    std::vector<Atom> finite;
    const Law& law = table.law();
    for (const exact::Point& point : law.points) {
      const Interval mass = Interval::exactly(static_cast<double>(point.mass)) * exp(Interval{-law.spread, law.spread});
      finite.push_back({point.loss + Interval{-law.shift, law.shift},
                        table.masses().finite * Interval{numeric::next_down(mass.lo), numeric::next_up(mass.hi)}});
    }
    Atoms atoms = make_atoms(std::move(finite), table.masses().infinite, table.masses().other_infinite, symmetric_);
    atoms.slack = -std::expm1(-table.masses().slack) * (1 + 0x1p-50);
    return atoms;
  }

  bool symmetric_;
  Table remove_;
  std::unique_ptr<Table> add_;
  std::optional<Atoms> atoms_;
  std::optional<Atoms> add_atoms_;
  std::vector<Step> steps_;
};

}  // namespace

ExactSize exact_size(const Parts& parts) {
  if (!all_finite(parts)) return {infinity, infinity, false};
  ExactSize total{1, 0, true};
  for (const FinitePart& part : finite_parts(parts, Direction::remove)) {
    const exact::Size size = exact::power_size(*part.atoms, part.times);
    total.atoms *= size.points;
    total.terms += size.terms;
  }
  total.terms += total.atoms;
  total.fits = exact::Size{total.atoms, total.terms}.fits();
  return total;
}

LossPointer compose_exactly(const Parts& parts, Tolerance) {
  if (!all_finite(parts)) return nullptr;
  const ExactSize size = exact_size(parts);
  if (!size.fits) {
    std::ostringstream message;
    message << "exact composition would take " << size.atoms << " atoms and " << size.terms << " multiplications; the limits are "
            << exact::most_points << " and " << exact::most_terms;
    throw TooLargeError(message.str());
  }
  const bool symmetric = std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->symmetric(); });
  return std::make_shared<ExactLoss>(parts, symmetric);
}

}  // namespace tradeoff
