// SPDX-License-Identifier: Apache-2.0
#include "train/certificate.h"

#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::train {
namespace {

using numeric::to_text_above;
using numeric::to_text_below;

const char* word_of(Neighbours neighbours) { return neighbours == Neighbours::add_remove ? "add-remove" : "replace-one"; }

std::string text_of(Interval interval) { return "[" + to_text_below(interval.lo) + ", " + to_text_above(interval.hi) + "]"; }

std::string lines_of(const Guarantee& guarantee) {
  std::string text = "plan = " + guarantee.stated + "\ndrawn = " + guarantee.drawn + "\n";
  for (const Guarantee::Point& point : guarantee.epsilons)
    text += "epsilon at delta " + point.delta + " = " + text_of(point.epsilon) + "\n";
  for (const GdpPair& pair : guarantee.mu_with_slack)
    text += "mu with slack " + to_text_above(pair.slack.hi) + " = " + text_of(pair.mu) + "\n";
  if (guarantee.steps > 0) text += "advantage = " + text_of(guarantee.advantage) + "\n";
  for (const Guarantee::Error& error : guarantee.tradeoff)
    text += "type II error at type I error " + error.alpha + " = " + text_of(error.beta) + "\n";
  return text;
}

bool meets(TrainingTerms terms, double noise, const Targets& targets) {
  terms.noise = exact_number(noise);
  return meets(curve_of(terms), targets) == Met::yes;
}

}  // namespace

Curve curve_of(const TrainingTerms& terms) { return analyze(parse(drawn_plan(terms, terms.steps)), neighbours_of(terms)); }

Guarantee guarantee_of(const TrainingTerms& terms, std::uint64_t steps, const std::vector<std::string>& deltas) {
  Guarantee found;
  found.steps = steps;
  found.stated = stated_plan(terms, steps);
  found.drawn = drawn_plan(terms, steps);
  if (steps == 0) {  // nothing was released but weights that do not depend on data
    for (const std::string& delta : deltas) found.epsilons.push_back({delta, Interval::exactly(0)});
    return found;
  }
  const Plan plan = parse(found.drawn);
  const Curve curve = analyze(plan, neighbours_of(terms));
  for (const std::string& delta : deltas) found.epsilons.push_back({delta, curve.epsilon_at(read_number(delta).value)});
  std::vector<Interval> slacks;
  for (const char* slack : certified_slacks) slacks.push_back(read_number(slack).value);
  found.mu_with_slack = measure_mu(curve, slacks).with_slack;
  found.limit = central_limit(plan, neighbours_of(terms)).mu;
  found.advantage = curve.advantage();
  for (const char* alpha : {"0.001", "0.01", "0.05", "0.1", "0.25", "0.5"})
    found.tradeoff.push_back({alpha, curve.beta_at(read_number(alpha).value)});
  found.curve = curve;
  return found;
}

Interval epsilon_so_far(const TrainingTerms& terms, std::uint64_t steps, const std::string& delta) {
  if (steps == 0) return Interval::exactly(0);
  return analyze(parse(drawn_plan(terms, steps)), neighbours_of(terms)).epsilon_at(read_number(delta).value);
}

std::string statement_of(const TrainingTerms& terms, const Guarantee& done, const Guarantee& planned) {
  const DrawnStep drawn = drawn_step(terms);
  std::string text = "tradeoff training certificate\n";
  text += std::string("neighbours = ") + word_of(neighbours_of(terms)) + "\n";
  text += "a step = the sum of clipped gradients of a batch, in multiples of 2^" + std::to_string(drawn.grid.exponent()) +
          ", each of norm at most " + std::to_string(drawn.grid.bound()) + " steps (clip = " + terms.clip.text + "), sensitivity " +
          std::to_string(drawn.sensitivity) + " steps, plus rounded gaussian noise of scale " + std::to_string(drawn.scale.numerator) +
          " * 2^" + std::to_string(-drawn.scale.exponent) + " steps on each of " + std::to_string(Model(terms.shape).weights().size()) +
          " weights, divided by the batch size\n";
  text += "steps done = " + std::to_string(done.steps) + " of " + std::to_string(planned.steps) + "\n";
  text += lines_of(done);
  if (done.steps != planned.steps)
    text += "The run was stopped early. If the moment was chosen by looking at results, only the guarantee of the planned run holds:\n" +
            lines_of(planned);
  return text;
}

Number calibrated_noise(TrainingTerms terms, const Targets& targets) {
  if (targets.empty()) throw DomainError("train: noise can only be found for a target");
  for (const StatedTarget& target : targets) tradeoff::check(target.target);
  double above = 1;
  while (!meets(terms, above, targets)) {
    above *= 2;
    if (above > largest_noise)
      throw DomainError("train: no noise up to 1000000 clipping norms meets " + to_string(targets) +
                        "; ask for less or train for fewer steps");
  }
  double below = above == 1 ? 0.5 : above / 2;
  while (below > smallest_noise && meets(terms, below, targets)) {
    above = below;
    below /= 2;
  }
  while (above - below > 1e-4 * above) {  // a difference in noise that nobody can see
    const double middle = below + (above - below) / 2;
    (meets(terms, middle, targets) ? above : below) = middle;
  }
  terms.noise = read_number(to_text_above(above, 6));  // fewer digits, more noise
  if (meets(curve_of(terms), targets) != Met::yes)
    throw DomainError("train: no noise was found that certainly meets " + to_string(targets));
  return terms.noise;
}

}  // namespace tradeoff::train
