// SPDX-License-Identifier: Apache-2.0
#include "operators/mixture.h"

#include <algorithm>
#include <compare>
#include <string>

#include "loss/atoms.h"
#include "loss/key.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "operators/algebra.h"
#include "operators/group.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "plan/exact_pair.h"
#include "plan/number.h"
#include "tradeoff/error.h"
#include "transform/atoms_transform.h"
#include "transform/weighted_transform.h"

namespace tradeoff::detail {

namespace {

/// [observed-mixture] The conjugate of an infimal convolution is the sum of the conjugates, so the weighted profiles add, and so do the
/// weighted distributions.
class MixtureLoss final : public Loss, public ClosedForms {
 public:
  explicit MixtureLoss(std::vector<MixtureComponent> components)
      : components_(std::move(components)),
        mixture_("observed-mixture", std::to_string(components_.size()) + " components, which one is run is public") {
    remove_ = join_atoms(Direction::remove);
    if (remove_ && !symmetric()) add_ = join_atoms(Direction::add);
    if (remove_) return;  // a finite distribution needs no other description
    drawn_ = join_draws();
    remove_transform_ = join_transforms(Direction::remove);
    if (remove_transform_ != nullptr && !symmetric()) add_transform_ = join_transforms(Direction::add);
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    Work::count(0.3 * static_cast<double>(components_.size()));
    Interval sum = Interval::exactly(0);
    for (const auto& [weight, loss] : components_) sum = sum + weight * loss->delta(direction, epsilon);
    record(mixture_);
    return clamp(sum, 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    Work::count(0.3 * static_cast<double>(components_.size()));
    Interval sum = Interval::exactly(-infinity);
    for (const auto& [weight, loss] : components_) sum = log_add_exp(sum, log(weight) + loss->log_delta(direction, epsilon));
    record(mixture_);
    return min(sum, Interval::exactly(0));
  }
  [[nodiscard]] bool symmetric() const override {
    return std::all_of(components_.begin(), components_.end(), [](const MixtureComponent& one) { return one.loss->symmetric(); });
  }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    Interval sum = Interval::exactly(0);
    for (const auto& [weight, loss] : components_) sum = sum + weight * loss->infinite_mass(direction);
    return clamp(sum, 0, 1);
  }
  [[nodiscard]] Tail tail() const override {
    std::vector<Tail> tails;
    for (const auto& [weight, loss] : components_) tails.push_back(loss->tail());
    return mixed_tail(tails);
  }
  /// The likelihood-ratio test of the mixture uses the same threshold for all components.
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    Test sum{Interval::exactly(0), Interval::exactly(0)};
    for (const auto& [weight, loss] : components_) {
      const auto test = loss->test_at(direction, epsilon);
      if (!test) return std::nullopt;
      sum.false_positive = sum.false_positive + weight * test->false_positive;
      sum.true_positive = sum.true_positive + weight * test->true_positive;
    }
    record(mixture_);
    return Test{clamp(sum.false_positive, 0, 1), clamp(sum.true_positive, 0, 1)};
  }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Cost largest = Cost::formula;
    for (const auto& [weight, loss] : components_) largest = std::max(largest, loss->cost());
    const auto& law = direction == Direction::add && add_ ? add_ : remove_;
    const auto& transform = direction == Direction::add && !symmetric() ? add_transform_ : remove_transform_;
    return {.atoms = law ? &*law : nullptr, .transform = transform.get(), .closed_forms = this, .drawn = drawn_, .cost = largest};
  }
  void cite() const override {
    for (const auto& [weight, loss] : components_) loss->cite();
    record(mixture_);
  }
  [[nodiscard]] std::string key() const override {
    std::string key = make_key("mixture", {});
    for (const auto& [weight, loss] : components_) {
      const std::string inner = loss->key();
      if (inner.empty()) return {};
      key += make_key("", {weight, Interval::exactly(static_cast<double>(inner.size()))}) + inner;
    }
    return key;
  }

 private:
  /// The weighted union of the atoms of the components.
  [[nodiscard]] std::optional<Atoms> join_atoms(Direction direction) const {
    std::vector<Atom> finite;
    Interval infinite = Interval::exactly(0);
    Interval other_infinite = Interval::exactly(0);
    bool mirrored = true;
    Interval slack = Interval::exactly(0);
    for (const auto& [weight, loss] : components_) {
      const Atoms* atoms = loss->atoms(direction);
      if (atoms == nullptr) return std::nullopt;
      for (const Atom& atom : atoms->finite) finite.push_back({atom.loss, weight * atom.mass});
      infinite = infinite + weight * atoms->infinite;
      other_infinite = other_infinite + weight * atoms->other_infinite;
      mirrored = mirrored && atoms->mirrored;
      slack = max(slack, Interval::exactly(atoms->slack));
    }
    Atoms joined = make_atoms(std::move(finite), infinite, other_infinite, mirrored);
    joined.slack = slack.hi;
    return joined;
  }

  /// [mixed-transform]
  [[nodiscard]] std::shared_ptr<const Transform> join_transforms(Direction direction) const {
    std::vector<WeightedTransform> each;
    for (const auto& [weight, loss] : components_) each.push_back({weight, transform_of(loss, direction)});
    return mixed_transform(std::move(each));
  }
  [[nodiscard]] static std::shared_ptr<const Transform> transform_of(const LossPointer& loss, Direction direction) {
    const Capabilities known = loss->capabilities(direction);
    if (known.transform != nullptr) return {loss, known.transform};  // lives as long as the loss
    if (known.atoms != nullptr) return atoms_transform(*known.atoms);
    if (!known.gaussian_mu) return nullptr;
    if (known.gaussian_mu->lo > 0) return gaussian_transform(*known.gaussian_mu);
    if (known.gaussian_mu->hi > 0) return nullptr;
    const Interval none = Interval::exactly(0);
    return atoms_transform(make_atoms({{none, Interval::exactly(1)}}, none, none, true));
  }

  /// If every component is the same Gaussian, nothing, or one of them by chance. [drawn-gaussians]
  [[nodiscard]] std::optional<DrawnGaussian> join_draws() const {
    DrawnGaussian joined{Interval::exactly(0), Interval::exactly(0)};
    for (const auto& [weight, loss] : components_) {
      const Capabilities known = loss->capabilities(Direction::remove);
      if (known.gaussian_mu && known.gaussian_mu->hi == 0) continue;
      if (!known.drawn && !known.gaussian_mu) return std::nullopt;
      const DrawnGaussian one = known.drawn ? *known.drawn : DrawnGaussian{Interval::exactly(1), *known.gaussian_mu};
      if (joined.chance.hi > 0 && joined.mu != one.mu) return std::nullopt;
      joined = {joined.chance + weight * one.chance, one.mu};
    }
    joined.chance = clamp(joined.chance, 0, 1);
    const bool useful = joined.chance.lo > 0 && joined.chance.hi < 1 && joined.mu.lo > 0 && joined.mu.hi < infinity;
    return useful ? std::optional(joined) : std::nullopt;
  }

  std::vector<MixtureComponent> components_;
  Citation mixture_;
  std::optional<DrawnGaussian> drawn_;
  std::shared_ptr<const Transform> remove_transform_;
  std::shared_ptr<const Transform> add_transform_;
  std::optional<Atoms> remove_;
  std::optional<Atoms> add_;
};

}  // namespace

LossPointer mixture_loss(std::vector<MixtureComponent> components) {
  if (components.empty()) throw DomainError("mixture: at least one component is needed");
  Interval total = Interval::exactly(0);
  for (MixtureComponent& component : components) {
    component.loss = mixed_changes_of(std::move(component.loss));
    if (!(component.weight.lo >= 0 && component.weight.hi <= 1)) throw DomainError("mixture: every weight must lie in [0, 1]");
    total = total + component.weight;
  }
  if (!total.contains(1)) throw DomainError("mixture: the weights sum to " + std::to_string(total.lo) + ", they must sum to 1");
  std::erase_if(components, [](const MixtureComponent& component) { return component.weight.hi == 0; });
  return std::make_shared<MixtureLoss>(std::move(components));
}

namespace {

LossPointer make_mixture(const Arguments& arguments, const WordContext& context) {
  const auto* list = std::get_if<List>(&arguments.value("components").content);
  if (list == nullptr || list->items.empty()) arguments.refuse("components", "that", "a list [(weight, source), ...]");
  std::vector<Interval> weights;
  Parts parts;
  for (const Value& item : list->items) {
    const auto* pair = std::get_if<Tuple>(&item.content);
    const bool sound = pair != nullptr && pair->items.size() == 2 && std::holds_alternative<Number>(pair->items[0].content) &&
                       std::holds_alternative<Plan>(pair->items[1].content);
    if (!sound) arguments.refuse("components", "entry " + std::to_string(weights.size() + 1), "a pair (weight, source)");
    weights.push_back(std::get<Number>(pair->items[0].content).value);
    parts.push_back({context.pair_of(std::get<Plan>(pair->items[1].content)), 1});
  }
  parts = context.is_from_below() ? in_one_order(std::move(parts)) : in_either_order(std::move(parts), context.neighbours());
  std::vector<MixtureComponent> components;
  for (std::size_t i = 0; i < parts.size(); ++i) components.push_back({weights[i], std::move(parts[i].loss)});
  return mixture_loss(std::move(components));
}

// [largest-loss] The largest of the components that can be chosen.
std::optional<numeric::Rational> largest_loss_of_mixture(const Arguments& arguments) {
  std::optional<numeric::Rational> largest;
  for (const Value& item : std::get<List>(arguments.value("components").content).items) {
    const std::vector<Value>& pair = std::get<Tuple>(item.content).items;
    const Interval weight = std::get<Number>(pair[0].content).value;
    if (weight.hi == 0) continue;
    const auto one = exact_largest_loss(std::get<Plan>(pair[1].content), arguments.vocabulary());
    if (!one || weight.lo == 0) return std::nullopt;
    if (!largest || numeric::compare(*one, *largest) == std::strong_ordering::greater) largest = one;
  }
  return largest;
}

/// Of every component, with the choice.
std::optional<ExactPair> outcomes_of_mixture(const Arguments& arguments) {
  ExactPair all;
  std::optional<numeric::Rational> weights = numeric::Rational{};
  for (const Value& item : std::get<List>(arguments.value("components").content).items) {
    const std::vector<Value>& component = std::get<Tuple>(item.content).items;
    const auto weight = exact_rational(std::get<Number>(component[0].content));
    const auto pair = exact_pair(std::get<Plan>(component[1].content), arguments.vocabulary());
    weights = sum(weights, weight);
    if (!pair || !weights) return std::nullopt;
    for (const ExactOutcome& outcome : *pair) {
      const auto with = product(weight, outcome.with), without = product(weight, outcome.without);
      if (!with || !without) return std::nullopt;
      all.push_back({*with, *without});
    }
  }
  return weights == numeric::Rational{1, 1} ? std::optional(all) : std::nullopt;
}

}  // namespace

Word mixture_word() {
  return {.role = Role::source,
          .name = "mixture",
          .meaning = "one of the sources, chosen by weight, the choice observed",
          .parameters = {{"components", Kind::components, "list of (weight, source)"}},
          .make = make_mixture,
          .largest_loss = largest_loss_of_mixture,
          .outcomes = outcomes_of_mixture};
}

}  // namespace tradeoff::detail
