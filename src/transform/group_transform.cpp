// SPDX-License-Identifier: Apache-2.0
#include "transform/group_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"
#include "transform/group_nodes.h"

// [group-transform]
namespace tradeoff::detail {
namespace {

class GroupTilt final : public NodeTilt {
 public:
  GroupTilt(const GroupNodes& nodes, double power, double negligible, bool lists_atoms)
      : NodeTilt(nodes, power, 1, negligible),
        decay_{std::min(1.0, relative(nodes.log_atoms(power))), relative(nodes.log_variation(power)), infinity,
               lists_atoms ? std::min(1.0, relative(nodes.log_rest(power))) : 1.0} {}

  [[nodiscard]] double modulus_above(double t) const override {
    CharacteristicValue value;
    characteristic_function({&t, 1}, {&value, 1});
    const double seen = std::hypot(1 + value.real_less_one, value.imaginary) + value.error + 1e-12;
    const double bound = (decay_.atoms + decay_.variation / t) * (1 + 1e-9);
    return std::min(seen < 1 ? seen : 1, bound < 1 ? bound : 1);
  }
  [[nodiscard]] Decay decay(double) const override { return decay_; }

 private:
  Decay decay_;
};

class GroupMoments final : public Moments {
 public:
  GroupMoments(std::unique_ptr<const GroupNodes> nodes, double steps, bool lists_atoms)
      : nodes_(std::move(nodes)), negligible_(1e-18 / steps), lists_atoms_(lists_atoms) {}

  [[nodiscard]] Cumulant cumulant(double order) const override { return nodes_->cumulant(1 + order); }
  [[nodiscard]] double log_moment_above(double order) const override { return nodes_->log_moment_above(1 + order); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<GroupTilt>(*nodes_, 1 + order, negligible_, lists_atoms_);
  }

 private:
  std::unique_ptr<const GroupNodes> nodes_;
  double negligible_;
  bool lists_atoms_;
};

class GroupTransform final : public Transform {
 public:
  explicit GroupTransform(const IteratedCurve& curve) : curve_(curve) {}

  [[nodiscard]] Interval infinite_mass() const override { return curve_.infinite_mass(); }
  [[nodiscard]] double largest_loss() const override { return curve_.largest_loss(); }
  [[nodiscard]] std::vector<Atom> atoms() const override {
    std::vector<Atom> atoms;
    if (!lists_atoms()) return atoms;
    const Interval finite = 1.0 - curve_.infinite_mass();
    for (const IteratedCurve::Piece& piece : curve_.pieces()) {
      if (!piece.is_constant()) continue;
      const auto here = curve_.along(piece, 0.5 * (piece.from + piece.to));
      const Interval mass = max((piece.to - piece.from) * exp(here.log_density), Interval::exactly(0)) / finite;  // under Q
      atoms.push_back({here.loss, mass * exp(here.loss)});
      atoms.push_back({-here.loss, mass});
    }
    return atoms;
  }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    // The error, multiplied by the number of steps, must stay below 1e-13; a search needs only one per cent. Each increment of effort
    // covers a longer t.
    const GroupNodes::Range range{1 + reach.least,
                                  1 + reach.largest,
                                  1 + reach.order,
                                  reach.longest * std::pow(1.5, reach.effort),
                                  std::log(reach.steps) + (reach.rough ? 8 : 36),
                                  reach.steps,
                                  reach.rough};
    auto nodes = std::make_unique<const GroupNodes>(curve_, range);
    if (nodes->nodes().loss.empty()) return nullptr;
    return std::make_unique<GroupMoments>(std::move(nodes), reach.steps, lists_atoms());
  }

 private:
  /// A piece that is continued over a sliver has a little more mass than its atom.
  [[nodiscard]] bool lists_atoms() const { return curve_.slivers().empty(); }

  const IteratedCurve& curve_;
};

}  // namespace

std::unique_ptr<const Transform> group_transform(const IteratedCurve& curve) {
  constexpr std::size_t most_records = 24;  // every point of a panel is a chain of as many steps
  if (curve.pieces().empty() || curve.size() > most_records) return nullptr;
  return std::make_unique<GroupTransform>(curve);
}

}  // namespace tradeoff::detail
