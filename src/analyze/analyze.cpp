// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/analyze.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "analyze/parts_of_plan.h"
#include "curve/curve_state.h"
#include "engine/compose.h"
#include "loss/budgeted_profile.h"
#include "loss/question_scope.h"
#include "mechanism/renyi_bound.h"
#include "mechanism/sources.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/algebra.h"
#include "operators/group.h"
#include "operators/mixture.h"
#include "operators/rectify.h"
#include "operators/refine.h"
#include "operators/subsampled.h"
#include "operators/subsampled_gaussian.h"
#include "operators/with_replacement.h"
#include "plan/vocabulary.h"
#include "tradeoff/error.h"

namespace tradeoff {
namespace {

// More steps than any training run takes; beyond it the answer is refused at once rather than after minutes.
constexpr std::uint64_t most_steps = 1'000'000'000'000;

// Draws with replacement need one group profile each; more would make a single question slow.
constexpr std::uint64_t most_draws = 10'000;

const char* name_of(Neighbours neighbours) { return neighbours == Neighbours::add_remove ? "add-remove" : "replace-one"; }

/// The neighbours a plan speaks of: what the caller stated, then what each operator fixes; two that differ are an error.
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
  std::string by_;  // the operator that fixed them; empty for the caller
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

/// Every source and every operator of a plan, however deep.
void visit_calls(const Plan& plan, const Visit& visit) {
  for (const Line& line : plan.lines) {
    visit_calls(line.source, visit);
    for (const Call& operation : line.operators) visit(operation);
  }
}

void collect_neighbours(const Plan& plan, NeighbourRule& rule) {
  bool cloaked = false;
  visit_calls(plan, [&](const Call& call) {
    if (const Word* word = find_word(Role::operation, call.name)) rule.demand(word->neighbours, call.name);
    cloaked = cloaked || call.name == "icea";
  });
  // [naive-profile] The encoder hands over the exact sum.
  if (cloaked && rule.agreed() != Neighbours::unstated)
    throw DomainError(std::string("neighbours: icea speaks of changes that keep the sum of all inputs, not of ") + name_of(rule.agreed()) +
                      " neighbours; state none, give no direction and sample nothing");
}

/// Whether the operator speaks of more than one record.
bool is_group(const Call& operation) { return operation.name == "group" && Arguments(operation).count("size", 1, most_steps) > 1; }

bool holds_group(const std::variant<Call, Plan>& source) {
  bool found = false;
  visit_calls(source, [&](const Call& call) { found = found || is_group(call); });
  return found;
}

/// [poisson-subsampling] [fixed-size-subsampling] [replacement-subsampling] Each speaks of one record.
void refuse_sample_of_groups(const Call& operation) {
  throw UnsupportedError(operation.name + ": records are sampled one by one, so a group of them is not sampled as a whole; write `... | " +
                         operation.name + "(...) | group(size)`, with the group last");
}

/// [renyi-conversion] Bounds on divergences add, and what they add up to says more than their profiles composed.
void merge_renyi_bounds(Parts& parts) {
  std::vector<std::pair<const RenyiBoundLoss*, std::uint64_t>> bounds;
  for (const Part& part : parts)
    if (const auto* bound = dynamic_cast<const RenyiBoundLoss*>(part.loss.get()); bound != nullptr && part.times > 0)
      bounds.emplace_back(bound, part.times);
  if (bounds.empty()) return;
  LossPointer sum = RenyiBoundLoss::sum(bounds);
  std::erase_if(parts, [](const Part& part) { return dynamic_cast<const RenyiBoundLoss*>(part.loss.get()) != nullptr; });
  parts.push_back({std::move(sum), 1});
}

/// Walks a plan and turns it into parts to compose.
class Analyst {
 public:
  Analyst(Neighbours neighbours, Tolerance tolerance) : neighbours_(neighbours), tolerance_(tolerance) {}

  [[nodiscard]] Parts parts_of(const Plan& plan) const {
    Parts parts;
    for (const Line& line : plan.lines) {
      Parts more = parts_of(line);
      parts.insert(parts.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return parts;
  }

  [[nodiscard]] Composition whole(Parts parts, const Composition* shorter = nullptr) const {
    std::erase_if(parts, [](const Part& part) { return part.times == 0; });
    merge_renyi_bounds(parts);
    Parts stated = parts;
    parts = in_either_order(std::move(parts), neighbours_);
    const auto same_loss = [](const Part& one, const Part& other) { return one.loss == other.loss; };
    const bool as_stated = std::equal(parts.begin(), parts.end(), stated.begin(), stated.end(), same_loss);
    for (Part& part : parts)
      if (!is_one_step(parts) && !part.loss->is_pair()) part.loss = refine(std::move(part.loss));  // only pairs compose
    const LossPointer alone = is_one_step(parts) ? parts.front().loss : nullptr;
    Composition composition = compose(std::move(parts), tolerance_, as_stated ? shorter : nullptr);
    if (!as_stated) composition.parts = std::move(stated);                     // what a longer plan begins with
    if (alone && group_sides_of(*alone) != nullptr) composition.loss = alone;  // it knows more than its law
    return composition;
  }
  /// The same as the base of an operator that needs a pair.
  [[nodiscard]] LossPointer pair_of(Parts parts) const {
    const bool alone = parts.size() == 1 && parts.front().times == 1;  // its own law is kept, atoms and all
    if (!alone) {
      Composition composed = whole(std::move(parts));
      const bool slow = composed.loss->cost() == Cost::engine;
      LossPointer loss =
          slow ? budgeted(std::move(composed.loss)) : std::move(composed.loss);  // an operator may read it thousands of times
      return loss->is_pair() ? loss : refine(std::move(loss));                   // bounds that were merged into one
    }
    LossPointer loss = std::move(parts.front().loss);
    return loss->is_pair() ? loss : refine(std::move(loss));
  }

 private:
  [[nodiscard]] static bool is_one_step(const Parts& parts) { return parts.size() == 1 && parts.front().times == 1; }

  [[nodiscard]] Parts parts_of(const Line& line) const {
    Parts parts =
        std::holds_alternative<Plan>(line.source) ? parts_of(std::get<Plan>(line.source)) : Parts{{source(std::get<Call>(line.source)), 1}};
    bool of_groups = holds_group(line.source);
    for (const Call& operation : line.operators) {
      parts = apply(operation, std::move(parts), of_groups);
      of_groups = of_groups || is_group(operation);
    }
    return parts;
  }

  [[nodiscard]] LossPointer source(const Call& call) const {
    if (call.name == "mixture") return mixture(Arguments(call));
    if (call.name == "strongest") return strongest_loss(pairs_of(Arguments(call), "guarantees"));
    if (call.name == "weakest") return weakest_loss(pairs_of(Arguments(call), "mechanisms"));
    const SourceFactory make = find_source(call.name);
    if (make == nullptr) throw UnsupportedError(call.name + ": this source is not implemented yet");
    LossPointer loss = make(Arguments(call));
    // Under replace-one either order may occur in each line, so a directed loss may enter only by its symmetric pair.
    return neighbours_ == Neighbours::replace_one && loss->is_pair() ? symmetric_loss(std::move(loss)) : loss;
  }

  /// A mixture holds whole plans, which only the analyst can turn into losses.
  [[nodiscard]] LossPointer mixture(const Arguments& arguments) const {
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
      parts.push_back({pair_of(parts_of(std::get<Plan>(pair->items[1].content))), 1});
    }
    parts = in_either_order(std::move(parts), neighbours_);
    std::vector<MixtureComponent> components;
    for (std::size_t i = 0; i < parts.size(); ++i) components.push_back({weights[i], std::move(parts[i].loss)});
    return mixture_loss(std::move(components));
  }

  /// The plans of a list, each a pair.
  [[nodiscard]] std::vector<LossPointer> pairs_of(const Arguments& arguments, std::string_view name) const {
    std::vector<LossPointer> pairs;
    const auto* list = std::get_if<List>(&arguments.value(name).content);
    if (list == nullptr || list->items.empty()) arguments.refuse(name, "that", "a list [source, ...]");
    for (const Value& item : list->items) {
      const auto* plan = std::get_if<Plan>(&item.content);
      if (plan == nullptr) arguments.refuse(name, "entry " + std::to_string(pairs.size() + 1), "a source");
      pairs.push_back(pair_of(parts_of(*plan)));
    }
    return pairs;
  }

  [[nodiscard]] Parts apply(const Call& operation, Parts parts, bool of_groups) const;

  [[nodiscard]] static Parts repeat(const Arguments& arguments, Parts parts) {
    const std::uint64_t times = arguments.count("times", 0, most_steps);
    for (Part& part : parts) {
      if (times != 0 && part.times > most_steps / times)
        throw TooLargeError("repeat: more than " + std::to_string(most_steps) + " steps in all are not supported");
      part.times *= times;
    }
    return parts;
  }

  [[nodiscard]] static LossPointer poisson(const Arguments& arguments, LossPointer base) {
    const Interval rate = arguments.probability("rate");
    if (rate.hi == 0) return compose({}, {}).loss;
    if (rate.lo == 1) return base;
    if (const auto mu = base->gaussian_mu(); mu && mu->lo > 0 && rate.lo > 0 && rate.hi < 1) return subsampled_gaussian(*mu, rate);
    return std::make_shared<PoissonLoss>(std::move(base), rate);
  }

  [[nodiscard]] static LossPointer sample(const Arguments& arguments, LossPointer base) {
    Interval rate;
    if (arguments.has("rate")) {
      rate = arguments.probability("rate");
    } else {
      const std::uint64_t size = arguments.count("size", 1, most_steps);
      const std::uint64_t of = arguments.count("of", 1, most_steps);
      if (size > of) arguments.refuse("size", std::to_string(size), "at most of = " + std::to_string(of));
      rate = Interval::exactly(static_cast<double>(size)) / Interval::exactly(static_cast<double>(of));
    }
    if (rate.hi == 0) return compose({}, {}).loss;
    if (rate.lo >= 1) return base;
    return std::make_shared<SampledLoss>(std::move(base), rate);
  }

  [[nodiscard]] static LossPointer replacement(const Arguments& arguments, LossPointer base) {
    return sample_with_replacement(std::move(base), arguments.count("draws", 1, most_draws), arguments.count("of", 1, most_steps));
  }

  [[nodiscard]] static LossPointer group(const Arguments& arguments, LossPointer base) {
    return group_loss(std::move(base), arguments.count("size", 1, most_steps));
  }

  [[nodiscard]] static LossPointer inversion(const Arguments&, LossPointer base) { return inverse_loss(std::move(base)); }

  [[nodiscard]] static LossPointer refinement(const Arguments&, LossPointer base) { return refine(std::move(base)); }

  [[nodiscard]] static LossPointer rectification(const Arguments& arguments, LossPointer base) {
    const Interval low = arguments.number("low");
    const Interval high = arguments.number("high");
    if (!(low.hi < high.lo)) arguments.refuse("high", arguments.written("high").text, "above low");
    return rectify(std::move(base), arguments.positive("epsilon"));
  }

  Neighbours neighbours_;
  Tolerance tolerance_;
};

Parts Analyst::apply(const Call& operation, Parts parts, bool of_groups) const {
  const Arguments arguments(operation);
  if (operation.name == "repeat") return repeat(arguments, std::move(parts));
  using Operator = LossPointer (*)(const Arguments&, LossPointer);
  struct Entry {
    std::string_view name;
    Operator apply;
    bool samples = false;
  };
  static constexpr std::array operators{
      Entry{"poisson", poisson, true}, Entry{"sample", sample, true}, Entry{"sample_with_replacement", replacement, true},
      Entry{"group", group},           Entry{"refine", refinement},   Entry{"rectify", rectification},
      Entry{"invert", inversion}};
  for (const Entry& entry : operators) {
    if (entry.name != operation.name) continue;
    if (entry.samples && of_groups) refuse_sample_of_groups(operation);
    return {{entry.apply(arguments, pair_of(std::move(parts))), 1}};
  }
  throw UnsupportedError(operation.name + ": this operator is not implemented yet");
}

}  // namespace

Neighbours neighbours_of(const Plan& plan, Neighbours stated) {
  NeighbourRule rule(stated);
  collect_neighbours(plan, rule);
  return rule.agreed();
}

namespace {

/// The parts as the plan states them, before they stand side by side.
PlanParts stated_parts(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (plan.lines.empty()) throw DomainError("plan: an empty plan says nothing; give at least one source");
  const Neighbours agreed = neighbours_of(plan, neighbours);
  return {Analyst(agreed, tolerance).parts_of(plan), agreed};
}

}  // namespace

PlanParts parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  PlanParts found = stated_parts(plan, neighbours, tolerance);
  found.parts = in_either_order(std::move(found.parts), found.neighbours);
  return found;
}

namespace {

Curve curve_of(Composition composition, Neighbours neighbours, Tolerance tolerance, std::vector<WrittenGuarantee> stated) {
  const auto kept = std::make_shared<const Composition>(std::move(composition));
  return curve_from(kept->loss, neighbours, tolerance, std::move(stated), kept);
}

}  // namespace

Curve analyze(const Plan& given, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return analyze(given, neighbours, tolerance); });

  const Unrecorded in_advance;  // an answer records what it uses of this
  const QuestionScope question;
  const Plan plan = with_tables(given);
  PlanParts found = stated_parts(plan, neighbours, tolerance);
  Composition composition = Analyst(found.neighbours, tolerance).whole(std::move(found.parts));
  composition.plan = std::make_shared<const Plan>(plan);
  return curve_of(std::move(composition), found.neighbours, tolerance, stated_guarantees(plan));
}

Curve extend(const Curve& curve, const Plan& more) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return extend(curve, more); });

  const Unrecorded in_advance;
  const QuestionScope question;
  PlanParts found = stated_parts(more, curve.neighbours(), curve.tolerance());
  if (found.neighbours != curve.neighbours())
    throw DomainError(std::string("neighbours: the new lines speak of ") + name_of(found.neighbours) +
                      " neighbours and the curve so far of none; state them when the first lines are analysed");
  const Composition* const shorter = detail::CurveState::of(curve).composition.get();
  Parts parts = shorter != nullptr ? shorter->parts : Parts{{loss_of(curve), 1}};
  parts.insert(parts.end(), std::make_move_iterator(found.parts.begin()), std::make_move_iterator(found.parts.end()));
  return curve_of(Analyst(curve.neighbours(), curve.tolerance()).whole(std::move(parts), shorter), curve.neighbours(), curve.tolerance(),
                  {});
}

}  // namespace tradeoff
