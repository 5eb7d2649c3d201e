// SPDX-License-Identifier: Apache-2.0
#include "mechanism/constraints.h"

#include <algorithm>
#include <compare>

#include "loss/key.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/plain_text.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "plan/exact_pair.h"
#include "plan/number.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {

namespace {

std::string shown(const Guarantee& constraint) {
  numeric::PlainText text;
  text << "(" << constraint.epsilon.hi << ", " << constraint.delta.hi << ")";
  return text.str();
}

void check_constraint(const Guarantee& constraint) {
  const auto [epsilon, delta] = constraint;
  if (!(epsilon.lo >= 0 && epsilon.lo <= epsilon.hi && epsilon.hi < infinity))
    throw DomainError("constraints: epsilon in " + shown(constraint) + " must be at least 0 and finite");
  if (!(delta.lo >= 0 && delta.lo <= delta.hi && delta.hi <= 1))
    throw DomainError("constraints: delta in " + shown(constraint) + " must lie in [0, 1]");
}

/// (1 + E) t, where t is the abscissa at which the lines of `steep` and `flat` cross and E = exp(epsilon) of one of them. Written so that
/// no exponential overflows.
Interval scaled_crossing(const Guarantee& steep, const Guarantee& flat, const Guarantee& scale) {
  const Interval rise = max(flat.delta - steep.delta, Interval::exactly(0));
  const Interval gap = max(steep.epsilon - flat.epsilon, Interval::exactly(0));
  const Interval one_plus = 1 + exp(-scale.epsilon);
  return &scale == &steep ? rise * one_plus / -expm1(-gap) : rise * one_plus / expm1(gap);
}

/// The weight of `middle` between its neighbours: the length of its segment times (1 + E). If it is not positive, the constraint is
/// redundant.
Interval weight_between(const Guarantee* steeper, const Guarantee& middle, const Guarantee* flatter) {
  const Interval end = flatter != nullptr ? scaled_crossing(middle, *flatter, middle) : 1 - middle.delta;
  return steeper != nullptr ? end - scaled_crossing(*steeper, middle, middle) : end;
}

/// The stack of active constraints, built from the steepest to the flattest.
class Envelope {
 public:
  explicit Envelope(CanonicalConstraints& result) : result_(result) {}

  void add(const Guarantee& next) {
    if (!stack_.empty() && overlaps(stack_.back().epsilon, next.epsilon)) return join(next);
    while (!stack_.empty() && !(stack_.back().delta.hi < next.delta.lo)) {
      // A smaller epsilon with no larger delta is the stronger constraint. If rounding hides which delta is larger, both are within the
      // hull.
      const Guarantee dominated = stack_.back();
      drop(dominated, Interval::exactly(0));
      stack_.pop_back();
      if (dominated.delta.lo < next.delta.hi) return add({next.epsilon, hull(dominated.delta, next.delta)});
    }
    while (stack_.size() >= 2) {
      const Interval weight = weight_between(&stack_[stack_.size() - 2], stack_.back(), &next);
      if (weight.lo > 0) break;
      drop(stack_.back(), weight);
      stack_.pop_back();
    }
    stack_.push_back(next);
  }

  /// The flattest lines may be the largest only beyond the diagonal, where the mirror image is larger still.
  std::vector<Guarantee> finish() {
    while (stack_.size() >= 2) {
      const Interval weight = weight_between(&stack_[stack_.size() - 2], stack_.back(), nullptr);
      if (weight.lo > 0) break;
      drop(stack_.back(), weight);
      stack_.pop_back();
    }
    return std::move(stack_);
  }

 private:
  static bool overlaps(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }

  /// For equal epsilons (within rounding) the smaller delta is kept.
  void join(const Guarantee& next) {
    Guarantee& top = stack_.back();
    result_.notes.push_back(shown(top.delta.hi > next.delta.hi ? top : next) + " is implied by another with the same epsilon");
    top = {hull(top.epsilon, next.epsilon), min(top.delta, next.delta)};
  }

  void drop(const Guarantee& constraint, Interval weight) {
    result_.notes.push_back(shown(constraint) + " is implied by the others");
    result_.slack = numeric::add_up(result_.slack, std::max(weight.hi, 0.0));
  }

  CanonicalConstraints& result_;
  std::vector<Guarantee> stack_;
};

}  // namespace

CanonicalConstraints canonical_constraints(std::vector<Guarantee> constraints) {
  std::for_each(constraints.begin(), constraints.end(), check_constraint);
  std::erase_if(constraints, [](const Guarantee& c) { return c.delta.lo == 1; });  // delta = 1 is always satisfied
  std::stable_sort(constraints.begin(), constraints.end(), [](const Guarantee& a, const Guarantee& b) {
    return a.epsilon.hi != b.epsilon.hi ? a.epsilon.hi > b.epsilon.hi : a.delta.hi < b.delta.hi;
  });
  CanonicalConstraints result;
  Envelope envelope(result);
  for (const Guarantee& constraint : constraints) envelope.add(constraint);
  result.active = envelope.finish();
  const std::size_t count = result.active.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Guarantee* steeper = i > 0 ? &result.active[i - 1] : nullptr;
    const Guarantee* flatter = i + 1 < count ? &result.active[i + 1] : nullptr;
    result.weights.push_back(clamp(weight_between(steeper, result.active[i], flatter), 0, 1));
  }
  return result;
}

Atoms atoms_of(const CanonicalConstraints& constraints) {
  if (constraints.active.empty()) return make_atoms({}, Interval::exactly(1), Interval::exactly(1), true);
  std::vector<Atom> finite;
  for (std::size_t i = 0; i < constraints.active.size(); ++i) {
    const Interval epsilon = constraints.active[i].epsilon;
    const Interval weight = constraints.weights[i];
    if (epsilon.hi == 0) {
      finite.push_back({Interval::exactly(0), weight});
      continue;
    }
    const Interval odds = exp(-epsilon);
    finite.push_back({epsilon, weight / (1 + odds)});
    finite.push_back({-epsilon, weight * odds / (1 + odds)});
  }
  const Interval revealed = constraints.active.front().delta;
  Atoms atoms = make_atoms(std::move(finite), revealed, revealed, true);
  atoms.slack = constraints.slack;
  return atoms;
}

ConstraintsLoss::ConstraintsLoss(std::vector<Guarantee> constraints, bool floor_is_meant, Citations origin)
    : canonical_(canonical_constraints(std::move(constraints))),
      atoms_(atoms_of(canonical_)),
      floor_is_meant_(floor_is_meant),
      citations_(std::move(origin)) {
  citations_.emplace_back("canonical-constraints", "a mixture of " + std::to_string(canonical_.active.size()) + " randomised responses");
  for (const std::string& note : canonical_.notes) citations_.emplace_back("canonical-constraints", note);
}

std::string ConstraintsLoss::key() const {
  std::string key = make_key(floor_is_meant_ ? "constraints" : "profile", {});
  for (const Guarantee& constraint : canonical_.active) key += make_key("", {constraint.epsilon, constraint.delta});
  return key;
}

namespace {

LossPointer make_dp(const Arguments& arguments, const WordContext&) {
  return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{arguments.number("epsilon"), arguments.number("delta")}});
}

std::vector<WrittenGuarantee> guarantees_of_dp(const Arguments& arguments) {
  return {{arguments.written("epsilon"), arguments.written("delta")}};
}

/// Everything is revealed with probability delta, and nothing otherwise.
std::optional<ExactPair> outcomes_of_dp(const Arguments& arguments) {
  const auto epsilon = exact_rational(arguments.written("epsilon")), delta = exact_rational(arguments.written("delta"));
  const auto rest = complement(delta);
  if (!epsilon || epsilon->numerator != 0 || !rest) return std::nullopt;
  constexpr numeric::Rational zero{};
  return ExactPair{{*delta, zero}, {*rest, *rest}, {zero, *delta}};
}

LossPointer make_constraints(const Arguments& arguments, const WordContext&) {
  std::vector<Guarantee> all;
  for (const auto& [epsilon, delta] : arguments.pairs("points")) all.push_back({epsilon.value, delta.value});
  if (all.empty()) arguments.refuse("points", "[]", "a list of at least one pair (epsilon, delta)");
  return std::make_shared<ConstraintsLoss>(std::move(all));
}

std::vector<WrittenGuarantee> guarantees_of_constraints(const Arguments& arguments) {
  std::vector<WrittenGuarantee> guarantees;
  for (auto& [epsilon, delta] : arguments.pairs("points")) guarantees.push_back({epsilon, delta});
  return guarantees;
}

// [largest-loss] Near alpha = 0 the trade-off function is that of the least epsilon whose delta is 0.
std::optional<numeric::Rational> least_pure_epsilon(const std::vector<WrittenGuarantee>& guarantees) {
  const Number* least = nullptr;
  for (const auto& [epsilon, delta, computed] : guarantees) {
    if (delta.value.lo == 0 && delta.value.hi > 0) return std::nullopt;  // perhaps 0
    if (delta.value.hi > 0) continue;
    if (least == nullptr) {
      least = &epsilon;
      continue;
    }
    const auto order = exact_order(epsilon, *least);
    if (!order) return std::nullopt;
    if (*order == std::strong_ordering::less) least = &epsilon;
  }
  return least == nullptr ? std::nullopt : exact_rational(*least);
}

std::optional<numeric::Rational> largest_loss_of_dp(const Arguments& arguments) { return least_pure_epsilon(guarantees_of_dp(arguments)); }

/// The least private mechanism has the losses +-epsilon, and infinite ones. [canonical-constraints]
std::optional<numeric::Rational> loss_step_of_dp(const Arguments& arguments) { return arguments.exact("epsilon"); }

std::optional<numeric::Rational> largest_loss_of_constraints(const Arguments& arguments) {
  return least_pure_epsilon(guarantees_of_constraints(arguments));
}

}  // namespace

Word dp_word() {
  return {.role = Role::source,
          .name = "dp",
          .meaning = "anything known only to be (epsilon, delta)-DP",
          .parameters = {{"epsilon", Kind::number, "the epsilon of the guarantee", range::non_negative,
                          effect::riskier.up_to(effect::largest_epsilon)},
                         {"delta", Kind::number, "the delta of the guarantee", range::probability, effect::riskier, "0"}},
          .stated = true,
          .make = make_dp,
          .guarantees = guarantees_of_dp,
          .largest_loss = largest_loss_of_dp,
          .loss_step = loss_step_of_dp,
          .outcomes = outcomes_of_dp};
}

Word constraints_word() {
  return {.role = Role::source,
          .name = "constraints",
          .meaning = "anything that satisfies all of these (epsilon, delta) at once",
          .parameters = {{"points", Kind::pairs, "list of (epsilon, delta)"}},
          .stated = true,
          .make = make_constraints,
          .guarantees = guarantees_of_constraints,
          .largest_loss = largest_loss_of_constraints};
}

}  // namespace tradeoff::detail
