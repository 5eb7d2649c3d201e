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
#include "engine/adaptive_block.h"
#include "engine/compose.h"
#include "loss/budgeted_profile.h"
#include "loss/question_scope.h"
#include "mechanism/adaptive_choice.h"
#include "mechanism/renyi_bound.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/rational.h"
#include "operators/algebra.h"
#include "operators/bracketed.h"
#include "operators/group.h"
#include "operators/refine.h"
#include "operators/sampled_group.h"
#include "plan/arguments.h"
#include "plan/exact_pair.h"
#include "plan/neighbours.h"
#include "plan/number.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

bool holds_under(const Word& word, Neighbours neighbours) {
  return word.neighbours.empty() || std::find(word.neighbours.begin(), word.neighbours.end(), neighbours) != word.neighbours.end();
}

/// Collects the neighbouring relation of a plan: the one the caller stated, otherwise the first one of each word. Two different ones are an
/// error.
class NeighbourRule {
 public:
  explicit NeighbourRule(Neighbours stated) : agreed_(stated) {}
  void demand(const Word& word) {
    if (word.neighbours.empty()) return;
    const std::string by(word.name);
    if (by_ == nullptr && agreed_ != Neighbours::unstated) {
      if (!holds_under(word, agreed_))
        throw DomainError("neighbours: " + by + " needs " + relations_of(word) + "; you stated " + to_word(agreed_) +
                          ". A plan has one neighbour relation");
    } else if (by_ == nullptr) {
      agreed_ = word.neighbours.front();
      by_ = &word;
    } else if (word.neighbours.front() != agreed_) {
      throw DomainError("neighbours: " + by + " needs " + relations_of(word) + "; " + std::string(by_->name) + " needs " +
                        relations_of(*by_) + ". A plan has one neighbour relation" + common_with(word));
    }
  }
  [[nodiscard]] Neighbours agreed() const { return agreed_; }

 private:
  [[nodiscard]] std::string common_with(const Word& word) const {
    for (const Neighbours one : word.neighbours)
      if (holds_under(*by_, one)) return std::string("; state ") + to_word(one) + " if that is meant";
    return {};
  }

  Neighbours agreed_;
  const Word* by_ = nullptr;  // the first word that needs them; null if the caller stated them
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
    if (const Word* word = vocabulary.find(Role::operation, call.name)) rule.demand(*word);
    if (const Word* word = vocabulary.find(Role::source, call.name)) {
      rule.demand(*word);
      if (!word->changes.empty()) other_changes = word;
    }
  });
  if (other_changes != nullptr && rule.agreed() != Neighbours::unstated)
    throw DomainError("neighbours: " + std::string(other_changes->name) + " covers " + std::string(other_changes->changes) + ", not " +
                      to_word(rule.agreed()) + " neighbours; state none, give no direction and sample nothing");
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

/// For the source of a line, or a plan.
template <class Part>
bool holds_group(const Part& part, const Vocabulary& vocabulary) {
  bool found = false;
  visit_calls(part, [&](const Call& call) { found = found || records_of(call, vocabulary) > 1; });
  return found;
}

/// The records that one user owns at most, if the operator states it.
std::uint64_t examples_of(const Word& word, const Call& operation, const Vocabulary& vocabulary) {
  return word.examples == nullptr ? 1 : word.examples(Arguments(operation, vocabulary));
}

/// [user-level-poisson] Noise that is added once moves by what all records of a user contribute, which the default of `sensitivity` does
/// not say. A line that samples a user's examples states what one of them contributes.
void check_sensitivities(const Plan& plan, const Vocabulary& vocabulary, const std::string& users) {
  const auto inner_plans = [&](const auto& self, const Value& value) -> void {
    if (const auto* inner = std::get_if<Plan>(&value.content)) check_sensitivities(*inner, vocabulary, users);
    if (const auto* tuple = std::get_if<Tuple>(&value.content))
      for (const Value& item : tuple->items) self(self, item);
    if (const auto* list = std::get_if<List>(&value.content))
      for (const Value& item : list->items) self(self, item);
  };
  for (const Line& line : plan.lines) {
    const bool samples_examples = std::any_of(line.operators.begin(), line.operators.end(), [&](const Call& call) {
      const Word* word = vocabulary.find(Role::operation, call.name);
      return word != nullptr && examples_of(*word, call, vocabulary) > 1;
    });
    if (samples_examples) continue;
    if (const auto* inner = std::get_if<Plan>(&line.source)) {
      check_sensitivities(*inner, vocabulary, users);
      continue;
    }
    const Call& call = std::get<Call>(line.source);
    const Word* word = vocabulary.find(Role::source, call.name);
    if (word == nullptr) continue;
    for (const Argument& argument : call.arguments) inner_plans(inner_plans, argument.value);
    const auto is_sensitivity = [](const Parameter& parameter) { return parameter.name == "sensitivity" && !parameter.fallback.empty(); };
    if (std::none_of(word->parameters.begin(), word->parameters.end(), is_sensitivity)) continue;
    const Arguments arguments(call, vocabulary);
    const bool has_clip = std::any_of(word->parameters.begin(), word->parameters.end(),
                                      [&](const Parameter& parameter) { return parameter.name == "clip" && arguments.has("clip"); });
    if (!has_clip && !arguments.has("sensitivity"))
      throw DomainError(
          "plan: " + users + " protects users, but " + call.name +
          " leaves its sensitivity to the default of one record; state sensitivity, by which all records of one user move the "
          "result");
  }
}

/// [user-level-poisson] A plan about users has no line about single records or about groups of them.
void check_unit(const Plan& plan, const Vocabulary& vocabulary) {
  std::string users, records;  // the words that speak of each
  visit_calls(plan, [&](const Call& call) {
    if (const Word* source = vocabulary.find(Role::source, call.name); source != nullptr && source->of_users) users = call.name;
    const Word* word = vocabulary.find(Role::operation, call.name);
    if (word == nullptr || !(word->samples || word->records != nullptr)) return;
    const std::uint64_t examples = examples_of(*word, call, vocabulary);
    if (examples > 1)
      users = call.name + " with examples=" + std::to_string(examples);
    else if (word->samples || records_of(call, vocabulary) > 1)
      records = call.name + (word->samples ? " without examples" : "");
  });
  if (!users.empty() && !records.empty())
    throw DomainError("plan: " + users + " protects users, but " + records +
                      " protects records. A plan has one unit of privacy; give `examples` in every line that samples, and no group");
  if (!users.empty()) check_sensitivities(plan, vocabulary, users);
}

/// [poisson-subsampling] [fixed-size-subsampling] [replacement-subsampling] Each theorem is about a single record.
void refuse_sample_of_groups(const Call& operation) {
  throw UnsupportedError(operation.name + ": records are sampled one by one, so a group of them is not sampled as a whole; write `... | " +
                         operation.name + "(...) | group(size)`, with the group last");
}

bool holds_matrix(const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.loss->capabilities(Direction::remove).matrix != nullptr; });
}

/// [matrix-mechanism] A sample of the records for all steps at once is not what a sampler of steps draws.
void refuse_sample_of_matrix(const Call& operation) {
  throw UnsupportedError(operation.name +
                         ": amplification by sampling is not proved for noise that is correlated over steps, except for a banded matrix "
                         "and cyclic(groups, rate, steps); state the participations in the matrix and leave " +
                         operation.name + " out");
}

/// [matrix-mechanism] One record more or fewer may change the steps of all others.
void refuse_matrix_under_add_remove() {
  throw DomainError(
      "neighbours: matrix needs zero-out or replace-one, because one record more or fewer may change the steps in which others take part; "
      "add-remove is proved for a banded matrix followed by cyclic(groups, rate, steps)");
}

bool state_divergences(const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.loss->capabilities(Direction::remove).renyi_bound != nullptr; });
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

/// [group-zcdp] A group of k records of what is rho-zCDP is k^2 rho-zCDP, for any mix of additions and removals. Empty if the parts state
/// anything else.
std::optional<Parts> group_of_zcdp(Parts parts, std::uint64_t size) {
  merge_renyi_bounds(parts);
  const RenyiBound* const bound = is_one_step(parts) ? parts.front().loss->capabilities(Direction::remove).renyi_bound : nullptr;
  const std::optional<Interval> rho = bound != nullptr ? bound->rho() : std::nullopt;
  if (!rho) return std::nullopt;
  Citations origin = bound->origin;
  origin.emplace_back("group-zcdp", std::to_string(size) + " records: rho is multiplied by the square of the size");
  return Parts{{zcdp_bound(square(Interval::exactly(static_cast<double>(size))) * *rho, std::move(origin)), 1}};
}

/// Turns a plan into a list of parts to compose.
class Analyst final : public WordContext {
 public:
  Analyst(const Vocabulary& vocabulary, Neighbours neighbours, Tolerance tolerance)
      : vocabulary_(vocabulary), neighbours_(neighbours), tolerance_(tolerance) {}

  /// How the guarantee for a group of sampled records is found. [sampled-group]
  enum class GroupRule {
    iterated,   ///< from the curve of one record
    exact,      ///< by the pairs of one mix of additions and removals, which are exact
    bracketed,  ///< from above by the curve of one record, from below by the exact pair of one kind of change
  };
  [[nodiscard]] Analyst with_groups(GroupRule rule, std::size_t mix = 0) const {
    Analyst analyst = *this;
    analyst.group_rule_ = rule;
    analyst.mix_ = mix;
    return analyst;
  }
  /// The size of the groups that have exact pairs; 0 if there are none. Meaningful after `parts_of`.
  [[nodiscard]] std::uint64_t exact_group() const { return exact_group_; }
  /// There are such groups of several sizes, so their mixes need not agree.
  [[nodiscard]] bool groups_differ() const { return groups_differ_; }
  /// There are groups of groups: the mixes within each of them need not agree either.
  [[nodiscard]] bool groups_nested() const { return groups_nested_; }

  /// The analyst of one of the pairs below: words that have several use the one of this index, or their last. [bracketed-pair]
  [[nodiscard]] Analyst from_below(std::size_t index) const {
    Analyst analyst = *this;
    analyst.below_ = index;
    return analyst;
  }
  /// The largest number of pairs below that a word gave; 0 if every pair was known. Meaningful after `parts_of`.
  [[nodiscard]] std::size_t pairs_below() const { return pairs_below_; }

  [[nodiscard]] Neighbours neighbours() const override { return neighbours_; }
  [[nodiscard]] LossPointer pair_of(const Plan& plan) const override { return pair_of(parts_of(plan)); }
  [[nodiscard]] LossPointer bracket(const Maker& above, const std::vector<Maker>& below) const override {
    pairs_below_ = std::max(pairs_below_, below.size());
    bracketed_ = true;
    return below_ && !below.empty() ? below[std::min(*below_, below.size() - 1)]() : above();
  }

  [[nodiscard]] bool is_from_below() const override { return below_.has_value(); }

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
    Parts covered, alone = parts;
    std::erase_if(alone, [](const Part& part) { return part.times == 0; });
    Composition composition = whole(std::move(parts), shorter, &covered);
    if (is_one_step(covered)) {
      if (const RenyiBound* const bound = composition.loss->capabilities(Direction::remove).renyi_bound) {
        alone = merge_equal(std::move(alone));
        // The orders of one part may end before those of another, and a sum ends with the first: then one guarantee each may be better.
        const bool ends = !bound->rho() && !is_one_step(alone);
        composition.loss = smallest_of_stated(std::move(composition.loss), alone, tolerance_);
        if (ends) composition.loss = never_worse(std::move(composition.loss), alone, tolerance_, alone);
      }
      return composition;
    }
    // A list of atoms is exact, but its mu may be wide, as a truncated list says nothing of large losses, and the masses of a long list may
    // have few digits: then the parts are asked.
    if (composition.loss->gaussian_mu()) return composition;
    // [adaptive-block] Older theorems bound fixed pairs from above; from below, a block of choices can exceed such a bound.
    if (below_ && holds_choices(covered)) return composition;
    const bool stated = state_divergences(covered);
    // Of a pair below only the lower ends are used, and older theorems bound from above; with slow parts they take minutes.
    const auto is_slow = [](const Part& part) { return part.loss->cost() != Cost::formula; };
    if (below_ && !stated && std::any_of(covered.begin(), covered.end(), is_slow)) return composition;
    covered = merge_equal(std::move(covered));
    composition.loss =
        stated ? smaller_of_pair_and_divergences(std::move(composition.loss), std::move(covered), merge_equal(std::move(alone)), tolerance_)
               : never_worse(std::move(composition.loss), std::move(covered), tolerance_, below_ ? Parts{} : merge_equal(std::move(alone)));
    return composition;
  }

  /// `covered` receives the composed parts; bounds are as stated, not refined.
  [[nodiscard]] Composition whole(Parts parts, const Composition* shorter = nullptr, Parts* covered = nullptr) const {
    std::erase_if(parts, [](const Part& part) { return part.times == 0; });
    if (!is_one_step(parts))
      for (Part& part : parts) part.loss = in_composition(std::move(part.loss));
    merge_renyi_bounds(parts);
    Parts stated = parts;
    parts = below_ ? in_one_order(std::move(parts)) : in_either_order(std::move(parts), neighbours_);
    if (covered != nullptr) *covered = parts;
    const auto same_loss = [](const Part& one, const Part& other) { return one.loss == other.loss; };
    const bool as_stated = std::equal(parts.begin(), parts.end(), stated.begin(), stated.end(), same_loss);
    for (Part& part : parts) {
      if (is_one_step(parts)) break;
      if (!part.loss->is_pair()) part.loss = refine(std::move(part.loss));  // only pairs compose
    }
    const LossPointer alone = is_one_step(parts) ? parts.front().loss : nullptr;
    Composition composition = compose(std::move(parts), tolerance_, as_stated ? shorter : nullptr);
    if (!as_stated) composition.parts = std::move(stated);                     // `extend` starts from the stated parts
    if (alone && group_sides_of(*alone) != nullptr) composition.loss = alone;  // the single part has more capabilities than its composition
    return composition;
  }

 private:
  /// The same for the base of an operator, which must be a pair.
  [[nodiscard]] LossPointer pair_of(Parts parts) const {
    const bool alone = is_one_step(parts);  // a single part keeps its own distribution, with its atoms
    if (!alone) {
      // [adaptive-block] The worst profile of several choices is not that of a pair that one analyst realises: from below the choices are
      // fixed, because the operator may be applied, and its result composed, as if it were one.
      for (Part& part : parts)
        if (below_) part.loss = without_choice(std::move(part.loss));
      Composition composed = whole(std::move(parts));
      const bool slow = composed.loss->cost() == Cost::engine;
      LossPointer loss =
          slow ? budgeted(std::move(composed.loss)) : std::move(composed.loss);  // an operator may evaluate it thousands of times
      return loss->is_pair() ? loss : refine(std::move(loss));                   // merged bounds are refined together
    }
    LossPointer loss = in_composition(std::move(parts.front().loss));
    return loss->is_pair() ? loss : refine(std::move(loss));
  }

  /// The pair that stands for a bound that is known point by point; any other loss itself.
  [[nodiscard]] static LossPointer in_composition(LossPointer loss) {
    const StandIn* const known = loss->capabilities(Direction::remove).stand_in;
    return known != nullptr ? known->pair() : loss;
  }

  [[nodiscard]] static bool holds_choices(const Parts& parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [](const Part& part) { return part.loss->capabilities(Direction::remove).adaptive != nullptr; });
  }

  [[nodiscard]] Parts parts_of(const Line& line) const {
    Parts parts = std::holds_alternative<Plan>(line.source) ? parts_of(std::get<Plan>(line.source)) : source(std::get<Call>(line.source));
    if (holds_matrix(parts) && neighbours_ == Neighbours::add_remove && std::holds_alternative<Call>(line.source) &&
        !starts_with_cycle(line))
      refuse_matrix_under_add_remove();
    bool of_groups = holds_group(line.source, vocabulary_);
    for (const Call& operation : line.operators) {
      parts = apply(operation, std::move(parts), of_groups);
      of_groups = of_groups || records_of(operation, vocabulary_) > 1;
    }
    return parts;
  }

  [[nodiscard]] Parts source(const Call& call) const {
    const Word* word = vocabulary_.find(Role::source, call.name);
    if (word == nullptr) throw UnsupportedError(call.name + ": there is no such source");
    const Arguments arguments(call, vocabulary_);
    const bool outer = std::exchange(bracketed_, false);
    LossPointer loss = word->make(arguments, *this);
    const bool pair_below = below_ && bracketed_;
    bracketed_ = outer || bracketed_;
    // Under replace-one neighbours each line may see the change in either order, so a loss that is not symmetric is replaced by its
    // symmetric pair. The inner sources of a plan were handled already. A pair below is what one order shows, and stays. [bracketed-pair]
    if (!holds_plans(*word) && !pair_below && neighbours_ == Neighbours::replace_one && loss->is_pair())
      loss = symmetric_loss(std::move(loss));
    return {{std::move(loss), word->uses == nullptr ? 1 : word->uses(arguments)}};
  }

  [[nodiscard]] Parts apply(const Call& operation, Parts parts, bool of_groups) const {
    const Word* word = vocabulary_.find(Role::operation, operation.name);
    if (word == nullptr) throw UnsupportedError(operation.name + ": there is no such operator");
    const Arguments arguments(operation, vocabulary_);
    if (word->times != nullptr) return repeated(std::move(parts), word->times(arguments), operation.name);
    if (word->samples && of_groups) refuse_sample_of_groups(operation);
    if (word->samples && holds_matrix(parts) && !(word->takes_matrices && is_one_step(parts))) refuse_sample_of_matrix(operation);
    if (const std::uint64_t size = records_of(operation, vocabulary_); size > 1 && group_rule_ != GroupRule::iterated) {
      groups_nested_ = groups_nested_ || of_groups;
      if (auto grouped = of_groups ? std::nullopt : sampled_groups(parts, size)) return *std::move(grouped);
    }
    if (const std::uint64_t size = records_of(operation, vocabulary_); size > 1 && size <= range::most_steps)
      if (auto grouped = group_of_zcdp(parts, size)) return *std::move(grouped);
    if (word->select != nullptr)  // [best-of-runs]
      return {{word->select(arguments, [&](std::uint64_t runs) { return pair_of(repeated(parts, runs, operation.name)); }, *this), 1}};
    LossPointer base = pair_of(std::move(parts));
    // A search over groups reads thousands of values, of which each takes milliseconds.
    if (records_of(operation, vocabulary_) > 1 && base->capabilities(Direction::remove).batch != nullptr) base = budgeted(std::move(base));
    if (word->expand != nullptr) return word->expand(arguments, base, *this);
    return {{word->apply(arguments, std::move(base), *this), 1}};
  }

  /// Whether the first operator samples the steps of a matrix.
  [[nodiscard]] bool starts_with_cycle(const Line& line) const {
    const Word* word = line.operators.empty() ? nullptr : vocabulary_.find(Role::operation, line.operators.front().name);
    return word != nullptr && word->takes_matrices;
  }

  /// [sampled-group] Empty if the parts have no exact pairs.
  [[nodiscard]] std::optional<Parts> sampled_groups(const Parts& parts, std::uint64_t size) const {
    const auto grouped = [&](std::uint64_t leaving) { return sampled_group(parts, neighbours_, size, leaving); };
    auto one_kind = grouped(size);
    if (!one_kind) return std::nullopt;
    if (group_rule_ == GroupRule::bracketed)
      return Parts{{bracket([&] { return group_loss(pair_of(parts), size); }, {[&] { return pair_of(*one_kind); }}), 1}};
    groups_differ_ = groups_differ_ || (exact_group_ != 0 && exact_group_ != size);
    exact_group_ = size;
    const std::uint64_t leaving = size - std::min<std::uint64_t>(mix_, size);
    if (leaving == size || neighbours_ == Neighbours::replace_one) return one_kind;
    if (2 * leaving >= size) return grouped(leaving);
    Parts mirrored = *grouped(size - leaving);
    for (Part& part : mirrored) part.loss = inverse_loss(std::move(part.loss));
    return mirrored;
  }

  [[nodiscard]] static Parts repeated(Parts parts, std::uint64_t times, const std::string& by) {
    if (times > 1 &&
        std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->capabilities(Direction::remove).shares_order; }))
      throw UnsupportedError(by +
                             ": passes that reuse one order are stated by shuffle(passes=..., reuse=true); repeating them is not proved");
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
  std::optional<std::size_t> below_;     // which of the pairs below is composed; empty for the pair above
  mutable std::size_t pairs_below_ = 0;  // set while the words of the plan are made
  mutable bool bracketed_ = false;       // whether the source that is made lies between pairs
  GroupRule group_rule_ = GroupRule::iterated;
  std::size_t mix_ = 0;                    // so many of the records of each group enter, the others leave
  mutable std::uint64_t exact_group_ = 0;  // set while the words of the plan are made
  mutable bool groups_differ_ = false;
  mutable bool groups_nested_ = false;
};

}  // namespace

Neighbours neighbours_of(const Plan& plan, Neighbours stated) { return agreed_neighbours(plan, vocabulary(), stated); }

namespace {

/// The parts of the plan with all pairs below.
PlanParts parts_by(const Analyst& analyst, const Plan& plan) {
  PlanParts found{analyst.parts_of(plan), analyst.neighbours()};
  for (std::size_t i = 0; i < analyst.pairs_below(); ++i) found.below.push_back(analyst.from_below(i).parts_of(plan));
  return found;
}

/// The parts as the plan states them, before they are prepared for composition.
PlanParts stated_parts(const Plan& plan, const Vocabulary& vocabulary, Neighbours neighbours, Tolerance tolerance) {
  if (plan.lines.empty()) throw DomainError("plan: the plan is empty; give at least one source");
  const Neighbours agreed = agreed_neighbours(plan, vocabulary, neighbours);
  check_unit(plan, vocabulary);
  return parts_by(Analyst(vocabulary, agreed, tolerance), plan);
}

/// Composes the plan with the pairs above, and again with each of the pairs below if there are any.
Composition answered(const Analyst& analyst, PlanParts found, const Composition* shorter = nullptr) {
  const Parts above = found.below.empty() ? Parts{} : found.parts;
  Composition composition = analyst.answered(std::move(found.parts), shorter);
  if (found.below.empty()) return composition;
  // [adaptive-block] One block with fixed pairs is the exact worst case: the pairs above and below are the same.
  if (std::all_of(found.below.begin(), found.below.end(), [&](const Parts& parts) { return equal_with_block(above, parts); })) {
    composition.below = std::move(found.below);
    return composition;
  }
  std::vector<LossPointer> below;
  for (std::size_t i = 0; i < found.below.size(); ++i) {
    Composition one = analyst.from_below(i).answered(std::move(found.below[i]));
    below.push_back(std::move(one.loss));
    composition.below.push_back(std::move(one.parts));
  }
  composition.loss = bracketed(std::move(composition.loss), std::move(below), state_divergences(above));
  return composition;
}

/// [sampled-group] Whether a group is the last word of the only line, apart from repetitions and inversions: then a direction speaks of one
/// kind of change.
bool is_one_group(const Plan& plan, const Vocabulary& vocabulary) {
  if (plan.lines.size() != 1) return false;
  const Line& line = plan.lines.front();
  const auto last = std::find_if(line.operators.rbegin(), line.operators.rend(), [&](const Call& call) {
    const Word* word = vocabulary.find(Role::operation, call.name);
    return word == nullptr || (word->times == nullptr && word->name != "invert");
  });
  if (last != line.operators.rend()) return records_of(*last, vocabulary) > 1;
  const auto* inner = std::get_if<Plan>(&line.source);
  return inner != nullptr && is_one_group(*inner, vocabulary);
}

/// [sampled-group] The composition of a plan with groups of sampled records: exactly, the worst over all mixes of additions and removals,
/// or between two pairs. Empty if there are no such groups. `stated` are the parts with iterated groups.
std::optional<Composition> grouped_composition(const Analyst& analyst, const Plan& plan, const Vocabulary& vocabulary,
                                               const Parts& stated) {
  const Analyst exact = analyst.with_groups(Analyst::GroupRule::exact);
  Parts one_kind = exact.parts_of(plan);
  const std::uint64_t size = exact.exact_group();
  if (size == 0 || exact.groups_nested()) return std::nullopt;
  Composition composition;
  if (exact.groups_differ() || exact.pairs_below() > 0) {
    const Analyst between = analyst.with_groups(Analyst::GroupRule::bracketed);
    composition = answered(between, parts_by(between, plan));
  } else {
    composition = exact.answered(std::move(one_kind));
    std::vector<LossPointer> mixes{composition.loss};
    // Where everything is one group, exchanging additions and removals exchanges the directions only.
    const bool one_group = is_one_group(plan, vocabulary);
    const std::uint64_t most = analyst.neighbours() == Neighbours::replace_one ? 0 : one_group ? size / 2 : size;
    for (std::uint64_t mix = 1; mix <= most; ++mix) {
      const Analyst one = analyst.with_groups(Analyst::GroupRule::exact, static_cast<std::size_t>(mix));
      mixes.push_back(one.answered(one.parts_of(plan)).loss);
    }
    composition.loss = worst_of_group(std::move(mixes), size, one_group);
  }
  composition.parts = stated;
  composition.contour = nullptr;
  composition.from_plan = true;
  return composition;
}

/// The parts of the first lines of a plan, followed by those of further lines.
PlanParts joined(const Composition* first, const LossPointer& loss, PlanParts more) {
  PlanParts all{first != nullptr ? first->parts : Parts{{loss, 1}}, more.neighbours,
                first != nullptr ? first->below : std::vector<Parts>{}};
  const auto append = [](Parts& parts, const Parts& others) { parts.insert(parts.end(), others.begin(), others.end()); };
  const Parts above = all.parts;
  const std::size_t below = std::max(all.below.size(), more.below.size());
  all.below.resize(below, all.below.empty() ? above : all.below.back());
  more.below.resize(below, more.below.empty() ? more.parts : more.below.back());
  for (std::size_t i = 0; i < below; ++i) append(all.below[i], more.below[i]);
  append(all.parts, more.parts);
  return all;
}

}  // namespace

PlanParts detail::parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  PlanParts found = stated_parts(plan, vocabulary(), neighbours, tolerance);
  found.parts = in_either_order(std::move(found.parts), found.neighbours);
  return found;
}

Parts detail::parts_of_known_pairs(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  PlanParts found = parts_of_plan(plan, neighbours, tolerance);
  if (!found.below.empty())
    throw UnsupportedError(
        "plan: a mechanism of this plan is known only to lie between two pairs of distributions, so its moments are not known; ask for "
        "epsilon, delta or beta");
  return std::move(found.parts);
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
  const Neighbours agreed = found.neighbours;
  const Analyst analyst(words, agreed, tolerance);
  auto grouped = holds_group(plan, words) ? grouped_composition(analyst, plan, words, found.parts) : std::nullopt;
  Composition composition = grouped ? *std::move(grouped) : answered(analyst, std::move(found));
  // Equal plans have equal distributions only if they use the same vocabulary.
  if (&words == &vocabulary()) composition.plan = std::make_shared<const Plan>(plan);
  std::vector<WrittenGuarantee> stated = stated_guarantees(plan, words);
  for (WrittenGuarantee& one : computed_guarantees(plan, words)) stated.push_back(std::move(one));
  return curve_of(std::move(composition), agreed, tolerance, std::move(stated), exact_largest_loss(plan, words));
}

Curve analyze(const Plan& plan, Neighbours neighbours, Tolerance tolerance) { return analyze(plan, vocabulary(), neighbours, tolerance); }

Curve extend(const Curve& curve, const Plan& more) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return extend(curve, more); });

  const Unrecorded in_advance;
  const QuestionScope question;
  PlanParts found = stated_parts(more, vocabulary(), curve.neighbours(), curve.tolerance());
  if (found.neighbours != curve.neighbours())
    throw DomainError(std::string("neighbours: the new lines need ") + to_word(found.neighbours) +
                      " neighbours, and those of the curve are not stated; state them when the first lines are analysed");
  const Composition* const shorter = detail::CurveState::of(curve).composition.get();
  if (shorter != nullptr && shorter->plan != nullptr && (shorter->from_plan || holds_group(more, vocabulary()))) {
    Plan whole = *shorter->plan;  // its groups are exact only as a whole
    whole.lines.insert(whole.lines.end(), more.lines.begin(), more.lines.end());
    return analyze(whole, curve.neighbours(), curve.tolerance());
  }
  PlanParts all = joined(shorter, loss_of(curve), std::move(found));
  const std::optional<Number> before = curve.pure_epsilon();
  const Analyst analyst(vocabulary(), curve.neighbours(), curve.tolerance());
  return curve_of(answered(analyst, std::move(all), shorter), curve.neighbours(), curve.tolerance(), {},
                  before ? sum(exact_rational(*before), exact_largest_loss(more, vocabulary())) : std::nullopt);
}

}  // namespace tradeoff
