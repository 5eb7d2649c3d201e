// SPDX-License-Identifier: Apache-2.0
#include "calibrate/summed.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyze/parts_of_plan.h"
#include "curve/curve_state.h"
#include "engine/average.h"
#include "mechanism/finite.h"
#include "numeric/arithmetic.h"
#include "plan/arguments.h"
#include "plan/unknown.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

// [parameter-calibration]
namespace tradeoff::detail {
namespace {

/// How often a line runs its source, and for how many records. Empty if it does anything else.
struct RunsAndRecords {
  std::uint64_t runs = 1, records = 1;
};
std::optional<RunsAndRecords> runs_and_records(const Line& line) {
  constexpr std::uint64_t most = 1'000'000'000;  // a product of two is a double exactly
  RunsAndRecords found;
  for (const Call& operation : line.operators) {
    const Word* word = vocabulary().find(Role::operation, operation.name);
    if (word == nullptr || (word->times == nullptr && word->records == nullptr)) return std::nullopt;
    const Arguments arguments(operation);
    std::uint64_t& count = word->times != nullptr ? found.runs : found.records;
    const std::uint64_t more = word->times != nullptr ? word->times(arguments) : word->records(arguments);
    if (more == 0 || more > most / count) return std::nullopt;
    count *= more;
  }
  return found;
}

/// Groups of sampled records have an exact curve only as a part of the whole plan.
bool is_plain(const Line& line) {
  const auto* source = std::get_if<Call>(&line.source);
  return source != nullptr &&
         std::none_of(source->arguments.begin(), source->arguments.end(),
                      [](const Argument& argument) {
                        return std::holds_alternative<Plan>(argument.value.content) || std::holds_alternative<List>(argument.value.content);
                      }) &&
         (runs_and_records(line) || std::none_of(line.operators.begin(), line.operators.end(), [](const Call& operation) {
            const Word* word = vocabulary().find(Role::operation, operation.name);
            return word == nullptr || word->records != nullptr;
          }));
}

/// Where the noise has a law of its sum.
std::optional<ScaledNoise::Sums> sums_of(const Call* source) {
  const Word* const word = source == nullptr ? nullptr : vocabulary().find(Role::source, source->name);
  if (word == nullptr || word->noise == nullptr) return std::nullopt;
  return word->noise(Arguments(*source)).sums;
}

/// Whether the composition of all parts is that of one fixed pair for each, in the same form as beside others.
bool is_one_pair(const PlanParts& plan) {
  return plan.below.empty() && std::all_of(plan.parts.begin(), plan.parts.end(), [](const Part& part) {
           const Capabilities known = part.loss->capabilities(Direction::remove);
           return part.loss->is_pair() && known.adaptive == nullptr && known.composed_form == nullptr && !known.shares_order;
         });
}

}  // namespace

std::optional<SummedNoise> SummedNoise::of(const Plan& plan) {
  const Call* const unknown = find_unknown_source(plan);
  const auto sums = sums_of(unknown);
  if (!sums) return std::nullopt;
  Plan others;
  std::optional<RunsAndRecords> own;
  for (const Line& line : plan.lines) {
    if (std::get_if<Call>(&line.source) == unknown) {
      own = runs_and_records(line);
    } else if (is_plain(line)) {
      others.lines.push_back(line);
    } else {
      return std::nullopt;
    }
  }
  const std::uint64_t sensitivity = Arguments(*unknown).whole("sensitivity");
  if (!own || sensitivity == 0) return std::nullopt;
  const double shift = static_cast<double>(own->records) * static_cast<double>(sensitivity);
  if (!(shift * static_cast<double>(own->runs) < 0x1p50)) return std::nullopt;  // whole numbers stay exact
  return SummedNoise(*sums, own->runs, shift, std::move(others));
}

std::optional<SummedNoise> SummedNoise::one_run_of(const Plan& plan) {
  const Call* const unknown = find_unknown_source(plan);
  const auto sums = sums_of(unknown);
  if (!sums) return std::nullopt;
  const std::uint64_t sensitivity = Arguments(*unknown).whole("sensitivity");
  if (sensitivity == 0 || sensitivity > 1'000'000'000) return std::nullopt;
  return SummedNoise(*sums, 1, static_cast<double>(sensitivity), {});
}

const SummedNoise::Law* SummedNoise::law(double scale) {
  const auto known = laws_.find(scale);
  if (known != laws_.end()) return known->second ? &*known->second : nullptr;
  if (laws_.size() > 16) laws_.clear();
  std::optional<Law> found;
  try {
    const WholeNoise noise = sums_.law(scale, runs_);
    Interval total = noise.before + noise.after, above = noise.after;
    for (const Interval& weight : noise.weights) total = total + weight;
    found = Law{-static_cast<double>(noise.weights.size() / 2), {}, 0};
    for (const Interval& weight : noise.weights)
      found->mass.push_back(std::max(0.0, (Interval::exactly(weight.lo) / Interval::exactly(total.hi)).lo));
    for (std::size_t i = noise.weights.size() / 2 + 1; i < noise.weights.size(); ++i) above = above + noise.weights[i];
    found->up_to_zero = std::max(0.0, (1.0 - above / total).lo);
  } catch (const TooLargeError&) {  // then nothing is excluded
  }
  const auto& place = laws_.emplace(scale, std::move(found)).first->second;
  return place ? &*place : nullptr;
}

// P(S <= k) rises with the scale for k < 0 and falls for k >= 0: the sums of these masses are below it for all scales.
SummedNoise::Law SummedNoise::weaker_law(double low, double high) {
  Law result;
  const Law* const at_low = low > 0 ? law(low) : nullptr;
  if (low > 0 && at_low == nullptr) return result;
  double below = 0;  // all masses of k < 0, rounded up
  if (at_low != nullptr) {
    result.first = at_low->first;
    result.mass.assign(at_low->mass.begin(), at_low->mass.begin() + static_cast<std::ptrdiff_t>(at_low->mass.size() / 2));
    for (const double mass : result.mass) below = numeric::add_up(below, mass);
  }
  const Law* const at_high = law(high);
  if (at_high == nullptr) return {};
  result.mass.push_back(std::max(0.0, numeric::add_down(at_high->up_to_zero, -below)));
  result.mass.insert(result.mass.end(), at_high->mass.begin() + static_cast<std::ptrdiff_t>(at_high->mass.size() / 2) + 1,
                     at_high->mass.end());
  return result;
}

std::vector<Atom> SummedNoise::weaker_outcomes(double low, double high, const Targets& targets, bool fine) {
  const Law masses = weaker_law(low, high);
  if (masses.mass.empty()) return {};
  const auto loss_at = [&](double sum) { return sums_.loss(shift_, runs_, high, sum); };
  const double half = static_cast<double>(runs_) * shift_ / 2;
  const double last =
      std::min(std::ceil(half) - 1, masses.first + static_cast<double>(masses.mass.size()) - 1);  // losses up to it are positive
  // Outcomes are joined, and one ends where the loss reaches a wanted epsilon: more of them change the answer by less than the range does.
  const double range = low > 0 ? (high - low) / high : 1, deviation = high * std::sqrt(static_cast<double>(runs_));
  const double pieces = fine ? std::clamp(std::sqrt(1.25 / range), 16.0, 400.0) : 8;
  const double width = std::max(1.0, std::floor(deviation / pieces));
  std::vector<double> ends;
  for (const StatedTarget& target : targets)
    if (const auto* pair = std::get_if<Guarantee>(&target.target))
      ends.push_back(std::clamp(std::ceil(half - pair->epsilon.lo * high * high / shift_) - 1, masses.first, last));
  for (double end = last; end >= masses.first; end -= width) ends.push_back(end);
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  const double fall = exp(-sums_.loss(shift_, 0, high, -1)).hi;  // of e^-loss from one sum to the one below
  std::vector<Atom> atoms;
  Interval rest = Interval::exactly(1);
  double smallest = infinity;  // loss so far
  double next = masses.first;
  for (const double end : ends) {
    double mass = 0, sum = 0, factor = 1;  // the mass under P, and under Q in units of e^-loss(end)
    for (double k = end; k >= next; --k, factor = numeric::multiply_up(factor, fall)) {
      const double one = masses.mass[static_cast<std::size_t>(k - masses.first)];
      mass = numeric::add_down(mass, one);
      sum = numeric::add_up(sum, numeric::multiply_up(one, factor));
    }
    next = end + 1;
    if (!(mass > 1e-300)) continue;
    const double loss = std::min(smallest, (loss_at(end) - log(Interval::exactly(sum) / Interval::exactly(mass))).lo);
    if (!(loss > 0)) break;
    // Both outcomes must fit into what is left: a part of an outcome is as valid as the whole.
    const Interval ratio = exp(-Interval::exactly(loss));
    const double most = (Interval::exactly(rest.lo) / (1.0 + ratio)).lo * (1 - 1e-15);
    const bool is_last = mass >= most;
    mass = std::min(mass, most);
    if (!(mass > 0)) break;
    rest = max(rest - mass - Interval::exactly(mass) * ratio, Interval::exactly(0));
    smallest = loss;
    atoms.push_back({Interval::exactly(loss), Interval::exactly(mass)});
    if (is_last) break;
  }
  return atoms;
}

LossPointer SummedNoise::weaker_loss(double low, double high, const Targets& targets, bool fine) {
  const std::vector<Atom> outcomes = weaker_outcomes(low, high, targets, fine);
  if (outcomes.empty()) return nullptr;
  std::vector<Atom> atoms;
  Interval rest = Interval::exactly(1);
  for (const Atom& outcome : outcomes) {
    const Interval other = outcome.mass * exp(-outcome.loss);
    rest = max(rest - outcome.mass - other, Interval::exactly(0));
    atoms.push_back(outcome);
    atoms.push_back({-outcome.loss, other});
  }
  atoms.push_back({Interval::exactly(0), rest});
  const Interval none = Interval::exactly(0);
  return finite_loss(make_atoms(std::move(atoms), none, none, true), {},
                     {Citation("parameter-calibration", "less revealing than the noise at any scale of a range")});
}

// Each p is rounded down and each q up, to whole multiples of 1e-18; what is left has the loss 0.
std::optional<Call> SummedNoise::weaker_source(double low, double high, const Targets& targets) {
  constexpr std::uint64_t unit = 1'000'000'000'000'000'000;
  double least = 1e-9;  // what is rarer hardly counts
  for (const StatedTarget& target : targets)
    if (const auto* pair = std::get_if<Guarantee>(&target.target)) least = std::min(least, 1e-3 * pair->delta.hi);
  least = std::max(least, 1e-14);  // a mass whose rounding hardly counts
  const auto number = [](std::uint64_t multiple) { return Value{read_number(std::to_string(multiple) + "e-18"), 0}; };
  List p, q;
  std::uint64_t left = unit;
  for (const Atom& outcome : weaker_outcomes(low, high, targets, true)) {
    const Interval other = outcome.mass * exp(-outcome.loss);
    if (!(outcome.mass.lo > least) || !(other.hi < outcome.mass.lo)) continue;
    const auto mass = static_cast<std::uint64_t>(std::floor(numeric::multiply_down(outcome.mass.lo, static_cast<double>(unit))));
    const auto mirrored = static_cast<std::uint64_t>(std::ceil(numeric::multiply_up(other.hi, static_cast<double>(unit))));
    if (mirrored >= mass || mass + mirrored > left) continue;
    left -= mass + mirrored;
    p.items.insert(p.items.end(), {number(mass), number(mirrored)});
    q.items.insert(q.items.end(), {number(mirrored), number(mass)});
  }
  if (p.items.empty()) return std::nullopt;
  p.items.push_back(number(left));
  q.items.push_back(number(left));
  return Call{"pair", {{"p", Value{std::move(p), 0}}, {"q", Value{std::move(q), 0}}}, 0};
}

// [averaged-profile] needs one pair beside the noise. Where the worst of several pairs counts, the whole is composed.
Curve SummedNoise::weaker_curve(const LossPointer& loss, Neighbours neighbours, Tolerance tolerance) {
  const Curve alone = curve_from(loss, neighbours, tolerance);
  if (is_alone()) return alone;
  if (!one_pair_) one_pair_ = is_one_pair(parts_of_plan(others_, neighbours, tolerance));
  if (!*one_pair_) return extend(alone, others_);
  if (!beside_) beside_ = analyze(others_, neighbours, tolerance);
  return curve_from(averaged_over(loss, loss_of(*beside_)), neighbours, tolerance);
}

}  // namespace tradeoff::detail
