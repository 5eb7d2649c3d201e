// SPDX-License-Identifier: Apache-2.0
#include "transform/atoms_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "transform/nodes.h"

namespace tradeoff {
namespace {

constexpr std::size_t most_atoms = 400;    // for more atoms a lattice is cheaper
constexpr double most_atom_width = 1e-11;  // relative, of masses and losses
constexpr double most_loss = 600;          // its exponential must not overflow

/// The atoms under Q, given that the loss is finite: W = mass exp(-loss) / (1 - infinite mass). [atoms-transform]
class AtomNodes final : public NodeLaw {
 public:
  explicit AtomNodes(const Atoms& atoms) {
    const Interval finite = 1.0 - atoms.infinite;
    Interval total = Interval::exactly(0), total_under_p = total;
    for (auto atom = atoms.finite.rbegin(); atom != atoms.finite.rend(); ++atom) {  // losses increase
      const Interval weight = atom->mass * exp(-atom->loss) / finite;
      const double middle = 0.5 * (weight.lo + weight.hi), loss = 0.5 * (atom->loss.lo + atom->loss.hi);
      nodes_.weight.push_back(middle);
      nodes_.log_weight.push_back(std::log(middle));
      nodes_.log_weight_error.push_back((weight.hi - weight.lo) / middle + 4 * unit_roundoff * (1 + std::abs(nodes_.log_weight.back())));
      nodes_.loss.push_back(loss);
      nodes_.loss_error.push_back(atom->loss.hi - atom->loss.lo + unit_roundoff * std::abs(loss));
      nodes_.loss_tail.push_back(exponential_tail(loss));
      total = total + weight;
      total_under_p = total_under_p + atom->mass / finite;
    }
    // The exact sums are 1; the difference is the width of the inputs.
    const auto away = [](Interval sum) { return std::max(std::abs(sum.lo - 1), std::abs(sum.hi - 1)); };
    width_ = std::max(away(total), away(total_under_p));
  }

  // The sum is exactly the expectation.
  [[nodiscard]] double log_error(double, double, const Sum&) const override { return -infinity; }
  [[nodiscard]] double unit_error() const override { return 0; }
  [[nodiscard]] double width() const { return width_; }

 private:
  double width_ = 0;
};

class AtomTilt final : public NodeTilt {
 public:
  AtomTilt(const AtomNodes& nodes, double order) : NodeTilt(nodes, 1 + order, 1, 0) {}
  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    return std::hypot(1 + value.real_less_one, value.imaginary) + value.error;
  }
  [[nodiscard]] Decay decay(double) const override { return {1, 0, infinity}; }
};

class AtomMoments final : public Moments {
 public:
  explicit AtomMoments(const AtomNodes& nodes) : nodes_(nodes) {}
  [[nodiscard]] Cumulant cumulant(double order) const override { return nodes_.cumulant(1 + order); }
  [[nodiscard]] double log_moment_above(double order) const override { return nodes_.log_moment_above(1 + order); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override { return std::make_unique<AtomTilt>(nodes_, order); }

 private:
  const AtomNodes& nodes_;
};

class AtomsTransform final : public Transform {
 public:
  explicit AtomsTransform(const Atoms& atoms) : nodes_(atoms), infinite_(atoms.infinite), largest_(atoms.finite.front().loss.hi) {}
  [[nodiscard]] Interval infinite_mass() const override { return infinite_; }
  [[nodiscard]] double largest_loss() const override { return largest_; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange&) const override {
    return std::make_unique<AtomMoments>(nodes_);
  }
  [[nodiscard]] bool usable() const { return nodes_.width() < most_atom_width; }

 private:
  AtomNodes nodes_;
  Interval infinite_;
  double largest_;
};

}  // namespace

std::shared_ptr<const Transform> atoms_transform(const Atoms& atoms) {
  const auto wide = [](const Atom& atom) {
    return !(atom.mass.lo > 0) || !(atom.mass.hi - atom.mass.lo <= most_atom_width * atom.mass.lo) ||
           !(std::abs(atom.loss.lo) < most_loss) || !(std::abs(atom.loss.hi) < most_loss) ||
           !(atom.loss.hi - atom.loss.lo <= most_atom_width * (std::abs(atom.loss.lo) + 1e-3));
  };
  const bool same_infinite = atoms.mirrored || (atoms.infinite.hi == 0 && atoms.other_infinite.hi == 0);
  if (atoms.finite.empty() || atoms.finite.size() > most_atoms || !same_infinite || atoms.slack != 0 || !(atoms.infinite.hi < 1) ||
      std::any_of(atoms.finite.begin(), atoms.finite.end(), wide))
    return nullptr;
  auto transform = std::make_shared<const AtomsTransform>(atoms);
  return transform->usable() ? transform : nullptr;
}

}  // namespace tradeoff
