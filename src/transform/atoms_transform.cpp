// SPDX-License-Identifier: Apache-2.0
#include "transform/atoms_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "transform/nodes.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t most_atoms = 16000;    // for more atoms a lattice is cheaper
constexpr double negligible_mass = 1e-200;   // of infinite losses: far below the rounding of a sum of masses
constexpr double negligible_weight = 1e-22;  // of an atom under the tilted law
constexpr double most_loss_width = 1e-11;    // relative
constexpr double most_atom_width = 1e-9;     // of the sum of all masses: it is about the relative error of log M
constexpr double small_width = 1e-6;         // relative, of a mass: that of a wider one is taken from above
constexpr double least_mass = 1e-290;        // of a node: smaller ones are not known to full precision
constexpr double most_left_out = 1e-250;     // the mass of an atom that need not be known well
constexpr double most_loss = 600;            // its exponential must not overflow

/// Whether the loss is known well enough for a node, and the mass is not too small.
bool is_node(const Atom& atom) {
  return atom.mass.hi > least_mass && atom.mass.hi * std::exp(-atom.loss.hi) > least_mass &&
         atom.loss.hi - atom.loss.lo <= most_loss_width * (std::abs(atom.loss.lo) + 1e-3);
}

/// The atoms under Q, given that the loss is finite: W = mass exp(-loss) / (1 - Q(L = -infinity)). Both laws are divided by their finite
/// masses, which moves every loss by `shift`, so that both are probabilities. An atom of negligible mass may be no node: what it adds to a
/// sum is an error. [atoms-transform]
class AtomNodes final : public NodeLaw {
 public:
  explicit AtomNodes(const Atoms& atoms) {
    const bool alike = atoms.mirrored || (atoms.infinite.hi <= negligible_mass && atoms.other_infinite.hi <= negligible_mass);
    const Interval finite = 1.0 - (alike ? atoms.infinite : atoms.other_infinite), finite_under_p = 1.0 - atoms.infinite;
    if (!alike) shift_ = log1p(-atoms.other_infinite) - log1p(-atoms.infinite);
    const double move = middle_of(shift_);
    Interval total = Interval::exactly(0), total_under_p = total;
    for (auto atom = atoms.finite.rbegin(); atom != atoms.finite.rend(); ++atom) {  // losses increase
      if (!is_node(*atom)) {
        left_out_.push_back({(log(Interval::exactly(atom->mass.hi)) - atom->loss - log(finite)).hi, atom->loss + shift_});
        continue;
      }
      const Interval weight = atom->mass * exp(-atom->loss) / finite;
      const bool wide = weight.width() > small_width * weight.hi;
      const double middle = wide ? weight.hi : 0.5 * (weight.lo + weight.hi), loss = 0.5 * (atom->loss.lo + atom->loss.hi) + move;
      nodes_.weight.push_back(middle);
      nodes_.log_weight.push_back(std::log(middle));
      nodes_.log_weight_error.push_back((weight.hi - weight.lo) / middle + 4 * unit_roundoff * (1 + std::abs(nodes_.log_weight.back())));
      nodes_.loss.push_back(loss);
      nodes_.loss_error.push_back(atom->loss.hi - atom->loss.lo + shift_.width() + 2 * unit_roundoff * std::abs(loss));
      nodes_.loss_tail.push_back(exponential_tail(loss));
      total = total + weight;
      total_under_p = total_under_p + atom->mass / finite_under_p;
    }
    // The true sums are 1: what is left is the width of the inputs, and what was left out.
    const auto away = [](Interval sum) { return std::max(std::abs(sum.lo - 1), std::abs(sum.hi - 1)); };
    width_ = std::max(away(total), away(total_under_p));
    if (alike && !atoms.mirrored) unit_error_ = 2 * std::max(atoms.infinite.hi, atoms.other_infinite.hi);
    log_left_out_count_ = std::log(std::max(1.0, static_cast<double>(left_out_.size())));
    if (!left_out_.empty()) unit_error_ += std::exp(log_left_out(0)) + std::exp(log_left_out(1));
  }

  // The sum is the expectation itself, but for the atoms left out.
  [[nodiscard]] double log_error(double power, double, const Sum&) const override { return log_left_out(power); }
  [[nodiscard]] double unit_error() const override { return unit_error_; }
  [[nodiscard]] double width() const { return width_; }
  /// The number added to every loss, so that E_Q[w] = 1.
  [[nodiscard]] Interval shift() const { return shift_; }

 private:
  struct LeftOut {
    double log_weight;  // from above
    Interval loss;
  };
  [[nodiscard]] double log_left_out(double power) const {
    double largest = -infinity;
    for (const auto& [log_weight, loss] : left_out_) largest = std::max(largest, log_weight + std::max(power * loss.lo, power * loss.hi));
    return largest + log_left_out_count_ + bound_slack;
  }

  Interval shift_ = Interval::exactly(0);
  double width_ = 0;
  double unit_error_ = 0;
  std::vector<LeftOut> left_out_;
  double log_left_out_count_ = 0;
};

/// The loss is that of the nodes less the shift.
class AtomTilt final : public NodeTilt {
 public:
  AtomTilt(const AtomNodes& nodes, double order) : NodeTilt(nodes, 1 + order, 1, negligible_weight), order_(order), shift_(nodes.shift()) {}
  [[nodiscard]] Interval log_moment() const override { return NodeTilt::log_moment() - Interval::exactly(order_) * shift_; }
  [[nodiscard]] double centre() const override { return NodeTilt::centre() - middle_of(shift_); }
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    NodeTilt::characteristic_function(times, values);
    if (shift_ == Interval::exactly(0)) return;
    const double centre_error = shift_.width() + unit_roundoff * std::abs(centre());
    for (std::size_t k = 0; k < times.size(); ++k) values[k].error += 1.01 * times[k] * centre_error;
  }
  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    return std::hypot(1 + value.real_less_one, value.imaginary) + value.error;
  }
  [[nodiscard]] Decay decay(double) const override { return {1, 0, infinity, 0}; }

 private:
  double order_;
  Interval shift_;
};

class AtomMoments final : public Moments {
 public:
  explicit AtomMoments(const AtomNodes& nodes) : nodes_(nodes) {}
  [[nodiscard]] Cumulant cumulant(double order) const override {
    const Cumulant plain = nodes_.cumulant(1 + order);
    const double shift = middle_of(nodes_.shift());
    return {plain.value - order * shift, plain.mean - shift, plain.variance};
  }
  [[nodiscard]] double log_moment_above(double order) const override {
    return (Interval::exactly(nodes_.log_moment_above(1 + order)) - Interval::exactly(order) * nodes_.shift()).hi;
  }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override { return std::make_unique<AtomTilt>(nodes_, order); }

 private:
  const AtomNodes& nodes_;
};

class AtomsTransform final : public Transform {
 public:
  explicit AtomsTransform(const Atoms& atoms)
      : nodes_(atoms), infinite_(atoms.infinite), largest_(atoms.finite.front().loss.hi), atoms_(atoms.finite) {
    for (Atom& atom : atoms_) atom.mass = atom.mass / (1.0 - infinite_);
  }
  [[nodiscard]] Interval infinite_mass() const override { return infinite_; }
  [[nodiscard]] double largest_loss() const override { return largest_; }
  [[nodiscard]] std::vector<Atom> atoms() const override { return atoms_; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange&) const override {
    return std::make_unique<AtomMoments>(nodes_);
  }
  [[nodiscard]] bool usable() const { return nodes_.width() < most_atom_width; }

 private:
  AtomNodes nodes_;
  Interval infinite_;
  double largest_;
  std::vector<Atom> atoms_;
};

}  // namespace

std::shared_ptr<const Transform> atoms_transform(const Atoms& atoms) {
  const auto unusable = [](const Atom& atom) {
    return !(std::abs(atom.loss.lo) < most_loss) || !(std::abs(atom.loss.hi) < most_loss) ||
           (!is_node(atom) && !((atom.mass * exp(-atom.loss)).hi <= most_left_out && atom.mass.hi <= most_left_out));
  };
  constexpr double most_infinite = 0.5;  // a pair that reveals more is not divided by what is left
  const bool usable_masses =
      atoms.mirrored ? atoms.infinite.hi < 1 : atoms.infinite.hi < most_infinite && atoms.other_infinite.hi < most_infinite;
  if (atoms.finite.empty() || atoms.finite.size() > most_atoms || !usable_masses ||
      std::any_of(atoms.finite.begin(), atoms.finite.end(), unusable))
    return nullptr;
  auto transform = std::make_shared<const AtomsTransform>(atoms);
  return transform->usable() ? transform : nullptr;
}

}  // namespace tradeoff::detail
