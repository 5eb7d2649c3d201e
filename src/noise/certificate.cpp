// SPDX-License-Identifier: Apache-2.0
#include "noise/certificate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "curve/curve_state.h"
#include "loss/loss.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "plan/unknown.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

using noise::Instruction;
using noise::Quantity;

constexpr std::uint64_t most_rows = 100'000'000;  // all noise must fit in memory

std::string text_of(double value) { return std::isnan(value) ? "nan" : numeric::to_text_below(value); }

void check(const ReleaseTerms& terms) {
  if (terms.rows < 1 || terms.columns < 1 || terms.rows > most_rows / terms.columns)
    throw TooLargeError("release: between 1 and 100000000 values can be released at once");
  if (terms.bounds && !(std::isfinite(terms.bounds->low) && std::isfinite(terms.bounds->high) && terms.bounds->low <= terms.bounds->high))
    throw DomainError("release: low = " + text_of(terms.bounds->low) + ", high = " + text_of(terms.bounds->high) +
                      " is not allowed; bounds must be finite, the lower not above the upper");
  if (terms.clip && !terms.bounds) throw DomainError("release: clipping needs bounds");
}

/// The largest change by one record, in steps. [grid-release]
double contribution(const Instruction& instruction, const ReleaseTerms& terms, Neighbours neighbours) {
  const double step = std::ldexp(1.0, instruction.noise.grid_exponent);
  if (instruction.quantity == Quantity::count) return neighbours == Neighbours::replace_one ? 0 : 1 / step;
  if (!terms.bounds) throw DomainError("release: a sum needs bounds, low and high");
  const double low = std::ceil(terms.bounds->low / step), high = std::floor(terms.bounds->high / step);
  return neighbours == Neighbours::replace_one ? high - low : std::max(std::abs(low), std::abs(high));
}

void check_sensitivity(const std::vector<Instruction>& instructions, const ReleaseTerms& terms, Neighbours neighbours) {
  if (terms.aggregate == Aggregate::none) return;
  if (neighbours == Neighbours::unstated)
    throw DomainError("release: what one record can change depends on the neighbours; state add-remove, zero-out or replace-one");
  for (const Instruction& instruction : instructions) {
    const bool counts = instruction.quantity == Quantity::count;
    const double least = contribution(instruction, terms, neighbours), stated = instruction.noise.sensitivity;
    if (!(least <= stated))
      throw DomainError("release: one record can change the " + std::string(counts ? "count" : "sum") + " by " +
                        to_string(numeric::exact_decimal(least)) + " steps, more than the plan's sensitivity of " +
                        to_string(numeric::exact_decimal(stated)) + " steps");
  }
}

void check_bounds(const std::vector<Instruction>& instructions, const ReleaseTerms& terms) {
  for (const Instruction& instruction : instructions)
    if (const int grid = instruction.noise.grid_exponent;
        terms.bounds && !(std::ceil(std::ldexp(terms.bounds->low, -grid)) <= std::floor(std::ldexp(terms.bounds->high, -grid))))
      throw DomainError("release: no point of the grid, a multiple of 2^" + std::to_string(grid) + ", lies between the bounds");
}

/// The least mu, if it has a closed form; for rectified noise that of each run, composed. [gaussian-composition]
std::optional<Interval> find_mu(const Curve& curve, const std::vector<Instruction>& instructions) {
  if (const auto closed = loss_of(curve)->closed_mu()) return closed;
  const bool rectified =
      std::any_of(instructions.begin(), instructions.end(), [](const auto& one) { return one.rectification.has_value(); });
  if (!rectified) return std::nullopt;
  Interval squares = Interval::exactly(0);
  double least = 0;
  for (Instruction instruction : instructions) {
    const auto runs = static_cast<double>(std::exchange(instruction.runs, 1));
    const Interval one = measure_mu(analyze(noise::charged_plan({instruction}), curve.neighbours())).mu;
    if (!std::isfinite(one.hi)) return std::nullopt;
    squares = squares + Interval::exactly(runs) * square(one);
    least = std::max(least, one.lo);
  }
  return Interval{least, sqrt(squares).hi};
}

/// The noise to be drawn and its guarantee, before anything is returned.
struct Draft {
  Plan plan;
  std::vector<Instruction> instructions;
  std::optional<noise::KeyInstruction> keys;
  Plan drawn;
  Curve curve;
};

/// [key-release]
Draft draft_of_keys(const Plan& plan, const ReleaseTerms& terms) {
  if (terms.bounds || terms.grid_exponent || terms.rows_are == Rows::disjoint || terms.inputs == Inputs::on_grid || terms.rows != 1 ||
      terms.columns != 1)
    throw DomainError("release: bounds, a grid, rows and columns are for values; a release of keys has none of them");
  noise::KeyInstruction keys = noise::make_key_instruction(plan);
  Plan drawn = keys.charged;
  Curve curve = analyze(drawn, terms.neighbours);
  return {plan, {}, std::move(keys), std::move(drawn), std::move(curve)};
}

Draft make_draft(const Plan& plan, const ReleaseTerms& terms) {
  if (terms.aggregate == Aggregate::keys) return draft_of_keys(plan, terms);
  if (noise::releases_keys(plan))
    throw UnsupportedError(
        "release: threshold and partition_selection release the keys of a table of users and keys, not values; use "
        "`tradeoff release`, or Aggregate::keys and release_keys in C++");
  std::vector<Instruction> instructions = noise::make_instructions(plan, terms);
  check_bounds(instructions, terms);
  Plan drawn = noise::charged_plan(instructions);
  Curve curve = analyze(drawn, terms.neighbours);
  check_sensitivity(instructions, terms, curve.neighbours());
  return {plan, std::move(instructions), std::nullopt, std::move(drawn), std::move(curve)};
}

/// The targets that mu alone does not decide; if mu is known, no search for it is needed.
Targets still_open(const Draft& draft, const Targets& targets) {
  Targets open;
  for (const StatedTarget& target : targets) {
    const auto* wanted = std::get_if<MuTarget>(&target.target);
    const auto mu = wanted != nullptr ? find_mu(draft.curve, draft.instructions) : std::nullopt;
    if (!(mu && mu->hi <= wanted->mu.lo)) open.push_back(target);
  }
  return open;
}

void require_met(const Draft& draft, const ReleaseTerms& terms, const Targets& targets) {
  try {
    tradeoff::require_met(draft.curve, still_open(draft, targets));
  } catch (const UnmetError& unmet) {
    const bool rounded = terms.inputs == Inputs::rounded && terms.aggregate == Aggregate::none;
    throw UnmetError("release: " + std::string(unmet.what()) + (rounded ? ", rounding to the grid included" : "") +
                     "; nothing was released");
  }
}

/// `?` is solved for the plan that will be charged; slightly more noise makes up for the rounding to the grid. The certificate states a
/// short decimal, and that decimal was verified.
Draft calibrated_draft(const Plan& plan, const ReleaseTerms& terms, const Targets& targets) {
  const UnknownPlace place = find_unknown(plan);
  if (terms.aggregate == Aggregate::keys && !targets.empty()) {  // the least whole threshold
    const Calibration found = calibrate(plan, targets, terms.neighbours);
    Draft draft = make_draft(substitute(plan, read_number(found.printed)), terms);
    if (meets(draft.curve, still_open(draft, targets)) == Met::yes) return draft;
    throw DomainError("release: with " + place.parameter + " = " + found.printed + " the noise as it is drawn does not meet the target " +
                      to_string(targets) + "; state a larger threshold");
  }
  if (place.role != Role::source || place.parameter != noise::drawn_source(place.call).scale)
    throw UnsupportedError("release: " + place.call + ": " + place.parameter +
                           " = ? cannot be found for a release; only sigma, scale or the " + "epsilon of randomized_response can");
  if (targets.empty())
    throw DomainError("release: the plan holds a ?, but no target says what it must meet; state epsilon and delta, or mu");
  const Calibration found = calibrate(noise::charged_plan(plan, terms), targets, terms.neighbours);
  constexpr int attempts = 24, digits = 10;
  double widened = 0x1p-22;
  for (int i = 0; i < attempts; ++i, widened *= 2) {
    const std::string text = i == 0                 ? found.printed
                             : found.safe_end_is_hi ? numeric::to_text_above(found.value.hi * (1 + widened), digits)
                                                    : numeric::to_text_below(found.value.lo * (1 - widened), digits);
    Draft draft = make_draft(substitute(plan, read_number(text)), terms);
    if (meets(draft.curve, still_open(draft, targets)) == Met::yes) return draft;
  }
  throw DomainError("release: no noise on this grid meets the target " + to_string(targets) + "; choose a finer grid");
}

}  // namespace

Certificate certify(const Plan& plan, const ReleaseTerms& terms, const Targets& targets) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return certify(plan, terms, targets); });

  check(terms);
  const bool is_open = count_unknowns(plan) > 0;
  Draft draft = is_open ? calibrated_draft(plan, terms, targets) : make_draft(plan, terms);
  if (!is_open) require_met(draft, terms, targets);
  std::vector<DrawnMechanism> mechanisms;
  for (const Instruction& instruction : draft.instructions) mechanisms.push_back(noise::describe(instruction));
  if (draft.keys) mechanisms = noise::describe(*draft.keys);
  std::optional<Interval> mu;
  std::vector<Guarantee> guarantees;
  Provenance provenance = provenance_of([&] {
    mu = find_mu(draft.curve, draft.instructions);
    for (const char* text : certified_deltas) {
      const Interval delta = read_number(text).value;
      guarantees.push_back({draft.curve.epsilon_at(delta), delta});
    }
  });
  return detail::CertificateContent::make({std::move(draft.plan), std::move(draft.drawn), terms, std::move(draft.instructions),
                                           std::move(draft.keys), std::move(mechanisms), std::move(draft.curve), mu, std::move(guarantees),
                                           std::move(provenance)});
}

Certificate::Certificate(std::unique_ptr<detail::CertificateContent> content) : content_(std::move(content)) {}
Certificate::Certificate(Certificate&&) noexcept = default;
Certificate& Certificate::operator=(Certificate&&) noexcept = default;
Certificate::~Certificate() = default;

const Plan& Certificate::plan() const { return content_->plan; }
const Plan& Certificate::drawn_plan() const { return content_->drawn; }
const std::vector<DrawnMechanism>& Certificate::mechanisms() const { return content_->mechanisms; }
const ReleaseTerms& Certificate::terms() const { return content_->terms; }
const Curve& Certificate::curve() const { return content_->curve; }
std::optional<Interval> Certificate::mu() const { return content_->mu; }
const std::vector<Guarantee>& Certificate::guarantees() const { return content_->guarantees; }
const Provenance& Certificate::provenance() const { return content_->provenance; }

}  // namespace tradeoff
