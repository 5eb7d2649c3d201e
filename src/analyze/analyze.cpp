// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/analyze.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "analyze/older_theorems.h"
#include "analyze/parts_of_plan.h"
#include "analyze/with_vocabulary.h"
#include "curve/curve_state.h"
#include "engine/compose.h"
#include "loss/budgeted_profile.h"
#include "loss/question_scope.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/rational.h"
#include "operators/algebra.h"
#include "operators/group.h"
#include "operators/refine.h"
#include "plan/arguments.h"
#include "plan/number.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

const char* name_of(Neighbours neighbours) { return neighbours == Neighbours::add_remove ? "add-remove" : "replace-one"; }

/// Collects the neighbouring relation of a plan: the one the caller stated, then the one each operator needs. Two different ones are an
/// error.
class NeighbourRule {
 public:
  explicit NeighbourRule(Neighbours stated) : agreed_(stated) {}
  void demand(Neighbours wanted, const std::string& by) {
    if (wanted == Neighbours::unstated || wanted == agreed_) return;
    if (agreed_ != Neighbours::unstated)
      throw DomainError("neighbours: " + by + " needs " + name_of(wanted) + "; " + (by_.empty() ? "you stated " : by_ + " needs ") +
                        name_of(agreed_) + ". A plan has one neighbour relation");
    agreed_ = wanted;
    by_ = by;
  }
  [[nodiscard]] Neighbours agreed() const { return agreed_; }

 private:
  Neighbours agreed_;
  std::string by_;  // the operator that needs them; empty if the caller stated them
};

using Visit = std::function<void(const Call&)>;
void visit_calls(const Plan& plan, const Visit& visit);

void visit_calls(const Value& value, const Visit& visit) {
  if (const auto* plan = std::get_if<Plan>(&value.content)) visit_calls(*plan, visit);
  if (const auto* tuple = std::get_if<Tuple>(&value.content))
    for (const Value& item : tuple->items) visit_calls(item, visit);
  if (const auto* list = std::get_if<List>(&value.content))
    for (const Value& item : list->items) visit_calls(item, visit);
}

void visit_calls(const std::variant<Call, Plan>& source, const Visit& visit) {
  if (const auto* inner = std::get_if<Plan>(&source)) visit_calls(*inner, visit);
  if (const auto* call = std::get_if<Call>(&source)) {
    visit(*call);
    for (const Argument& argument : call->arguments) visit_calls(argument.value, visit);
  }
}

/// Visits every source and every operator of a plan, nested plans included.
void visit_calls(const Plan& plan, const Visit& visit) {
  for (const Line& line : plan.lines) {
    visit_calls(line.source, visit);
    for (const Call& operation : line.operators) visit(operation);
  }
}

void collect_neighbours(const Plan& plan, const Vocabulary& vocabulary, NeighbourRule& rule) {
  const Word* other_changes = nullptr;
  visit_calls(plan, [&](const Call& call) {
    if (const Word* word = vocabulary.find(Role::operation, call.name)) rule.demand(word->neighbours, call.name);
    if (const Word* word = vocabulary.find(Role::source, call.name)) {
      rule.demand(word->neighbours, call.name);
      if (!word->changes.empty()) other_changes = word;
    }
  });
  if (other_changes != nullptr && rule.agreed() != Neighbours::unstated)
    throw DomainError("neighbours: " + std::string(other_changes->name) + " covers " + std::string(other_changes->changes) + ", not " +
                      name_of(rule.agreed()) + " neighbours; state none, give no direction and sample nothing");
}

Neighbours agreed_neighbours(const Plan& plan, const Vocabulary& vocabulary, Neighbours stated) {
  NeighbourRule rule(stated);
  collect_neighbours(plan, vocabulary, rule);
  return rule.agreed();
}

/// The group size that the operator states.
std::uint64_t records_of(const Call& operation, const Vocabulary& vocabulary) {
  const Word* word = vocabulary.find(Role::operation, operation.name);
  return word != nullptr && word->records != nullptr ? word->records(Arguments(operation, vocabulary)) : 1;
}

bool holds_group(const std::variant<Call, Plan>& source, const Vocabulary& vocabulary) {
  bool found = false;
  visit_calls(source, [&](const Call& call) { found = found || records_of(call, vocabulary) > 1; });
  return found;
}

/// [poisson-subsampling] [fixed-size-subsampling] [replacement-subsampling] Each theorem is about a single record.
void refuse_sample_of_groups(const Call& operation) {
  throw UnsupportedError(operation.name + ": records are sampled one by one, so a group of them is not sampled as a whole; write `... | " +
                         operation.name + "(...) | group(size)`, with the group last");
}

/// [renyi-conversion] Bounds on Renyi divergences add, and the sum is tighter than the composition of their profiles.
void merge_renyi_bounds(Parts& parts) {
  const auto bound_of = [](const Part& part) { return part.loss->capabilities(Direction::remove).renyi_bound; };
  std::vector<std::pair<const RenyiBound*, std::uint64_t>> bounds;
  for (const Part& part : parts)
    if (const RenyiBound* bound = bound_of(part); bound != nullptr && part.times > 0) bounds.emplace_back(bound, part.times);
  if (bounds.empty()) return;
  LossPointer sum = sum_of_renyi_bounds(bounds);
  std::erase_if(parts, [&](const Part& part) { return bound_of(part) != nullptr; });
  parts.push_back({std::move(sum), 1});
}

/// Turns a plan into a list of parts to compose.
class Analyst final : public SourceContext {
 public:
  Analyst(const Vocabulary& vocabulary, Neighbours neighbours, Tolerance tolerance)
      : vocabulary_(vocabulary), neighbours_(neighbours), tolerance_(tolerance) {}

  [[nodiscard]] Neighbours neighbours() const override { return neighbours_; }
  [[nodiscard]] LossPointer pair_of(const Plan& plan) const override { return pair_of(parts_of(plan)); }

  [[nodiscard]] Parts parts_of(const Plan& plan) const {
    Parts parts;
    for (const Line& line : plan.lines) {
      Parts more = parts_of(line);
      parts.insert(parts.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return parts;
  }

  /// The composition as questions see it: never worse than by an older theorem. [older-theorems]
  [[nodiscard]] Composition answered(Parts parts, const Composition* shorter = nullptr) const {
    Parts covered;
    Composition composition = whole(std::move(parts), shorter, &covered);
    if (is_one_step(covered) || composition.loss->cost() != Cost::engine) return composition;
    const auto states_divergences = [](const Part& part) { return part.loss->capabilities(Direction::remove).renyi_bound != nullptr; };
    const bool stated = std::any_of(covered.begin(), covered.end(), states_divergences);
    const auto bounded = stated ? smaller_of_pair_and_divergences : never_worse;
    composition.loss = bounded(std::move(composition.loss), merge_equal(std::move(covered)), tolerance_);
    return composition;
  }

  /// `covered` receives the composed parts; bounds are as stated, not refined.
  [[nodiscard]] Composition whole(Parts parts, const Composition* shorter = nullptr, Parts* covered = nullptr) const {
    std::erase_if(parts, [](const Part& part) { return part.times == 0; });
    merge_renyi_bounds(parts);
    Parts stated = parts;
    parts = in_either_order(std::move(parts), neighbours_);
    if (covered != nullptr) *covered = parts;
    const auto same_loss = [](const Part& one, const Part& other) { return one.loss == other.loss; };
    const bool as_stated = std::equal(parts.begin(), parts.end(), stated.begin(), stated.end(), same_loss);
    for (Part& part : parts)
      if (!is_one_step(parts) && !part.loss->is_pair()) part.loss = refine(std::move(part.loss));  // only pairs compose
    const LossPointer alone = is_one_step(parts) ? parts.front().loss : nullptr;
    Composition composition = compose(std::move(parts), tolerance_, as_stated ? shorter : nullptr);
    if (!as_stated) composition.parts = std::move(stated);                     // `extend` starts from the stated parts
    if (alone && group_sides_of(*alone) != nullptr) composition.loss = alone;  // the single part has more capabilities than its composition
    return composition;
  }

 private:
  /// The same for the base of an operator, which must be a pair.
  [[nodiscard]] LossPointer pair_of(Parts parts) const {
    const bool alone = parts.size() == 1 && parts.front().times == 1;  // a single part keeps its own distribution, with its atoms
    if (!alone) {
      Composition composed = whole(std::move(parts));
      const bool slow = composed.loss->cost() == Cost::engine;
      LossPointer loss =
          slow ? budgeted(std::move(composed.loss)) : std::move(composed.loss);  // an operator may evaluate it thousands of times
      return loss->is_pair() ? loss : refine(std::move(loss));                   // merged bounds are refined together
    }
    LossPointer loss = std::move(parts.front().loss);
    return loss->is_pair() ? loss : refine(std::move(loss));
  }

  [[nodiscard]] static bool is_one_step(const Parts& parts) { return parts.size() == 1 && parts.front().times == 1; }

  [[nodiscard]] Parts parts_of(const Line& line) const {
    Parts parts =
        std::holds_alternative<Plan>(line.source) ? parts_of(std::get<Plan>(line.source)) : Parts{{source(std::get<Call>(line.source)), 1}};
    bool of_groups = holds_group(line.source, vocabulary_);
    for (const Call& operation : line.operators) {
      parts = apply(operation, std::move(parts), of_groups);
      of_groups = of_groups || records_of(operation, vocabulary_) > 1;
    }
    return parts;
  }

  [[nodiscard]] LossPointer source(const Call& call) const {
    const Word* word = vocabulary_.find(Role::source, call.name);
    if (word == nullptr) throw UnsupportedError(call.name + ": there is no such source");
    LossPointer loss = word->make(Arguments(call, vocabulary_), *this);
    if (holds_plans(*word)) return loss;  // its inner sources were handled already
    // Under replace-one neighbours each line may see the change in either order, so a loss that is not symmetric is replaced by its
    // symmetric pair.
    return neighbours_ == Neighbours::replace_one && loss->is_pair() ? symmetric_loss(std::move(loss)) : loss;
  }

  [[nodiscard]] Parts apply(const Call& operation, Parts parts, bool of_groups) const {
    const Word* word = vocabulary_.find(Role::operation, operation.name);
    if (word == nullptr) throw UnsupportedError(operation.name + ": there is no such operator");
    const Arguments arguments(operation, vocabulary_);
    if (word->times != nullptr) return repeated(std::move(parts), word->times(arguments), operation.name);
    if (word->samples && of_groups) refuse_sample_of_groups(operation);
    return {{word->apply(arguments, pair_of(std::move(parts))), 1}};
  }

  [[nodiscard]] static Parts repeated(Parts parts, std::uint64_t times, const std::string& by) {
    for (Part& part : parts) {
      if (times != 0 && part.times > range::most_steps / times)
        throw TooLargeError(by + ": more than " + std::to_string(range::most_steps) + " steps in all are not supported");
      part.times *= times;
    }
    return parts;
  }

  const Vocabulary& vocabulary_;
  Neighbours neighbours_;
  Tolerance tolerance_;
};

}  // namespace

Neighbours neighbours_of(const Plan& plan, Neighbours stated) { return agreed_neighbours(plan, vocabulary(), stated); }

namespace {

/// The parts as the plan states them, before they are prepared for composition.
PlanParts stated_parts(const Plan& plan, const Vocabulary& vocabulary, Neighbours neighbours, Tolerance tolerance) {
  if (plan.lines.empty()) throw DomainError("plan: the plan is empty; give at least one source");
  const Neighbours agreed = agreed_neighbours(plan, vocabulary, neighbours);
  return {Analyst(vocabulary, agreed, tolerance).parts_of(plan), agreed};
}

}  // namespace

PlanParts detail::parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  PlanParts found = stated_parts(plan, vocabulary(), neighbours, tolerance);
  found.parts = in_either_order(std::move(found.parts), found.neighbours);
  return found;
}

namespace {

Curve curve_of(Composition composition, Neighbours neighbours, Tolerance tolerance, std::vector<WrittenGuarantee> stated,
               const std::optional<numeric::Rational>& largest_loss) {
  auto exact = largest_loss ? std::optional(make_number(to_quotient(*largest_loss), 0)) : std::nullopt;
  const auto kept = std::make_shared<const Composition>(std::move(composition));
  return curve_from(kept->loss, neighbours, tolerance, std::move(stated), std::move(exact), kept);
}

}  // namespace

Curve detail::analyze(const Plan& given, const Vocabulary& words, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return analyze(given, words, neighbours, tolerance); });

  const Unrecorded in_advance;  // an answer records the part of this that it uses
  const QuestionScope question;
  const Plan plan = with_tables(given);
  PlanParts found = stated_parts(plan, words, neighbours, tolerance);
  Composition composition = Analyst(words, found.neighbours, tolerance).answered(std::move(found.parts));
  // Equal plans have equal distributions only if they use the same vocabulary.
  if (&words == &vocabulary()) composition.plan = std::make_shared<const Plan>(plan);
  return curve_of(std::move(composition), found.neighbours, tolerance, stated_guarantees(plan, words), exact_largest_loss(plan, words));
}

Curve analyze(const Plan& plan, Neighbours neighbours, Tolerance tolerance) { return analyze(plan, vocabulary(), neighbours, tolerance); }

Curve extend(const Curve& curve, const Plan& more) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return extend(curve, more); });

  const Unrecorded in_advance;
  const QuestionScope question;
  PlanParts found = stated_parts(more, vocabulary(), curve.neighbours(), curve.tolerance());
  if (found.neighbours != curve.neighbours())
    throw DomainError(std::string("neighbours: the new lines need ") + name_of(found.neighbours) +
                      " neighbours, and those of the curve are not stated; state them when the first lines are analysed");
  const Composition* const shorter = detail::CurveState::of(curve).composition.get();
  Parts parts = shorter != nullptr ? shorter->parts : Parts{{loss_of(curve), 1}};
  parts.insert(parts.end(), std::make_move_iterator(found.parts.begin()), std::make_move_iterator(found.parts.end()));
  const std::optional<Number> before = curve.pure_epsilon();
  return curve_of(Analyst(vocabulary(), curve.neighbours(), curve.tolerance()).answered(std::move(parts), shorter), curve.neighbours(),
                  curve.tolerance(), {}, before ? sum(exact_rational(*before), exact_largest_loss(more, vocabulary())) : std::nullopt);
}

}  // namespace tradeoff
