// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/analyze.h"

#include <array>
#include <iterator>
#include <utility>

#include "curve/algebra.h"
#include "curve/group.h"
#include "curve/mixture.h"
#include "curve/parts_of_plan.h"
#include "curve/rectify.h"
#include "curve/refine.h"
#include "curve/with_replacement.h"
#include "engine/choose.h"
#include "mechanism/bracketed.h"
#include "mechanism/renyi_bound.h"
#include "mechanism/sources.h"
#include "mechanism/subsampled.h"
#include "mechanism/subsampled_gaussian.h"
#include "mechanism/vocabulary.h"
#include "numeric/arithmetic.h"
#include "numeric/usual_arithmetic.h"
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
  explicit NeighbourRule(Neighbours stated) : agreed_(stated), by_(stated == Neighbours::unstated ? "" : "the caller") {}
  void demand(Neighbours wanted, const std::string& by) {
    if (wanted == Neighbours::unstated || wanted == agreed_) return;
    if (agreed_ != Neighbours::unstated)
      throw DomainError("neighbours: " + by + " speaks of " + name_of(wanted) + " neighbours, but " + by_ + " of " + name_of(agreed_) +
                        "; a plan has one neighbour relation");
    agreed_ = wanted;
    by_ = by;
  }
  [[nodiscard]] Neighbours agreed() const { return agreed_; }

 private:
  Neighbours agreed_;
  std::string by_;
};

void collect_neighbours(const Plan& plan, NeighbourRule& rule);

void collect_neighbours(const Value& value, NeighbourRule& rule) {
  if (const auto* plan = std::get_if<Plan>(&value.content)) collect_neighbours(*plan, rule);
  if (const auto* tuple = std::get_if<Tuple>(&value.content))
    for (const Value& item : tuple->items) collect_neighbours(item, rule);
  if (const auto* list = std::get_if<List>(&value.content))
    for (const Value& item : list->items) collect_neighbours(item, rule);
}

void collect_neighbours(const Plan& plan, NeighbourRule& rule) {
  for (const Line& line : plan.lines) {
    if (const auto* inner = std::get_if<Plan>(&line.source)) collect_neighbours(*inner, rule);
    if (const auto* call = std::get_if<Call>(&line.source))
      for (const Argument& argument : call->arguments) collect_neighbours(argument.value, rule);
    for (const Call& operation : line.operators)
      if (const Word* word = find_word(Role::operation, operation.name)) rule.demand(word->neighbours, operation.name);
  }
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
    merge_renyi_bounds(parts);
    std::uint64_t steps = 0;
    for (const Part& part : parts) steps += part.times;
    // Only pairs compose; a lone bound stays what was stated.
    for (Part& part : parts)
      if (steps != 1 && !part.loss->is_pair()) part.loss = refine(std::move(part.loss));
    const LossPointer alone = steps == 1 && parts.size() == 1 ? parts.front().loss : nullptr;
    Composition composition = compose(std::move(parts), tolerance_, shorter);
    if (alone && one_kind_of(*alone) != nullptr) composition.loss = alone;  // it knows more than its law
    return composition;
  }
  /// The same as the base of an operator that needs a pair.
  [[nodiscard]] LossPointer pair_of(Parts parts) const {
    const bool alone = parts.size() == 1 && parts.front().times == 1;  // its own law is kept, atoms and all
    if (!alone) {
      Composition composed = whole(std::move(parts));
      const bool quick = composed.method == "closed form" || composed.method == "exact";
      return quick ? std::move(composed.loss) : bracketed(std::move(composed.loss));  // an operator may read it thousands of times
    }
    LossPointer loss = std::move(parts.front().loss);
    return loss->is_pair() ? loss : refine(std::move(loss));
  }

 private:
  [[nodiscard]] Parts parts_of(const Line& line) const {
    Parts parts =
        std::holds_alternative<Plan>(line.source) ? parts_of(std::get<Plan>(line.source)) : Parts{{source(std::get<Call>(line.source)), 1}};
    for (const Call& operation : line.operators) parts = apply(operation, std::move(parts));
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
    if (neighbours_ == Neighbours::replace_one && !loss->symmetric()) loss = std::make_shared<SymmetrizedLoss>(std::move(loss));
    return loss;
  }

  /// A mixture holds whole plans, which only the analyst can turn into losses.
  [[nodiscard]] LossPointer mixture(const Arguments& arguments) const {
    const auto* list = std::get_if<List>(&arguments.value("components").content);
    if (list == nullptr || list->items.empty()) arguments.refuse("components", "that", "a list [(weight, source), ...]");
    std::vector<MixtureComponent> components;
    for (const Value& item : list->items) {
      const auto* pair = std::get_if<Tuple>(&item.content);
      const bool sound = pair != nullptr && pair->items.size() == 2 && std::holds_alternative<Number>(pair->items[0].content) &&
                         std::holds_alternative<Plan>(pair->items[1].content);
      if (!sound) arguments.refuse("components", "entry " + std::to_string(components.size() + 1), "a pair (weight, source)");
      components.push_back({std::get<Number>(pair->items[0].content).value, pair_of(parts_of(std::get<Plan>(pair->items[1].content)))});
    }
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

  [[nodiscard]] Parts apply(const Call& operation, Parts parts) const;

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

Parts Analyst::apply(const Call& operation, Parts parts) const {
  const Arguments arguments(operation);
  if (operation.name == "repeat") return repeat(arguments, std::move(parts));
  using Operator = LossPointer (*)(const Arguments&, LossPointer);
  struct Entry {
    std::string_view name;
    Operator apply;
  };
  static constexpr std::array operators{
      Entry{"poisson", poisson}, Entry{"sample", sample},     Entry{"sample_with_replacement", replacement},
      Entry{"group", group},     Entry{"refine", refinement}, Entry{"rectify", rectification},
      Entry{"invert", inversion}};
  for (const Entry& entry : operators)
    if (entry.name == operation.name) return {{entry.apply(arguments, pair_of(std::move(parts))), 1}};
  throw UnsupportedError(operation.name + ": this operator is not implemented yet");
}

}  // namespace

PlanParts parts_of_plan(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (plan.lines.empty()) throw DomainError("plan: an empty plan says nothing; give at least one source");
  const Neighbours agreed = neighbours_of(plan, neighbours);
  return {Analyst(agreed, tolerance).parts_of(plan), agreed};
}

Neighbours neighbours_of(const Plan& plan, Neighbours stated) {
  NeighbourRule rule(stated);
  collect_neighbours(plan, rule);
  return rule.agreed();
}

namespace {

Curve curve_of(Composition composition, Neighbours neighbours, Tolerance tolerance, std::vector<WrittenGuarantee> stated) {
  std::vector<Step> steps;
  composition.loss->explain(steps);
  const auto kept = std::make_shared<const Composition>(std::move(composition));
  return {kept->loss, neighbours, kept->method, std::move(steps), tolerance, std::move(stated), kept};
}

}  // namespace

Curve analyze(const Plan& plan, Neighbours neighbours, Tolerance tolerance) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return analyze(plan, neighbours, tolerance); });

  PlanParts found = parts_of_plan(plan, neighbours, tolerance);
  Composition composition = Analyst(found.neighbours, tolerance).whole(std::move(found.parts));
  return curve_of(std::move(composition), found.neighbours, tolerance, stated_guarantees(plan));
}

Curve extend(const Curve& curve, const Plan& more) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return extend(curve, more); });

  PlanParts found = parts_of_plan(more, curve.neighbours(), curve.tolerance());
  if (found.neighbours != curve.neighbours())
    throw DomainError(std::string("neighbours: the new lines speak of ") + name_of(found.neighbours) +
                      " neighbours and the curve so far of none; state them when the first lines are analysed");
  const Composition* const shorter = curve.composition().get();
  Parts parts = shorter != nullptr ? shorter->parts : Parts{{curve.loss(), 1}};
  parts.insert(parts.end(), std::make_move_iterator(found.parts.begin()), std::make_move_iterator(found.parts.end()));
  return curve_of(Analyst(curve.neighbours(), curve.tolerance()).whole(std::move(parts), shorter), curve.neighbours(), curve.tolerance(),
                  {});
}

}  // namespace tradeoff
