// SPDX-License-Identifier: Apache-2.0
#include "train/certificate.h"

#include <algorithm>
#include <cmath>

#include "calibrate/margin.h"
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

/// How a run stands against its targets; `excess` is about how far the logarithm of its noise is from meeting them.
struct Standing {
  bool meets = true;
  double excess = -infinity;
};

Standing stand(TrainingTerms terms, double log_noise, const Targets& targets) {
  constexpr Tolerance rough{1e-2};  // enough to choose noise by; what is chosen is verified
  terms.noise = exact_number(std::exp(log_noise));
  const Curve curve = analyze(parse(drawn_plan(terms, terms.steps)), neighbours_of(terms), rough);
  Standing all;
  for (const StatedTarget& target : targets) {
    const Margin margin = margin_of(curve, target.target);
    all.meets = all.meets && margin.meets();
    all.excess = std::max(all.excess, margin.excess());
  }
  return all;
}

/// The logarithm of noise that meets the targets, at most `width` above one that does not: secants, since a target of mu is nearly a power
/// of the noise, with halving where they lead nowhere.
double search_noise(const TrainingTerms& terms, const Targets& targets, double width) {
  const double least = std::log(smallest_noise), most = std::log(largest_noise);
  double low = least, high = most, low_excess = 0, high_excess = 0, reach = 1;
  bool has_low = false, has_high = false;
  double x = 0;
  for (int i = 0; !(has_low && has_high && high - low <= width); ++i) {
    const Standing found = stand(terms, x, targets);
    (found.meets ? has_high : has_low) = true;
    (found.meets ? high : low) = x;
    (found.meets ? high_excess : low_excess) = found.excess;
    if (has_high && x <= least) return least;
    if (has_low && x >= most)
      throw DomainError("train: no noise up to 1000000 clipping norms meets " + to_string(targets) +
                        "; ask for less or train for fewer steps");
    if (!has_low || !has_high) {  // mu falls about as the noise grows
      x = std::clamp(x + std::clamp(1.02 * found.excess, -reach, reach) + (found.meets ? -0.02 : 0.02), least, most);
      reach *= 2;
      continue;
    }
    const double root = low + (high - low) * low_excess / (low_excess - high_excess);
    // Close to the root, on the side whose end is far from it yet.
    const double aside = 0.4 * width, wanted = high - root > width ? root + aside : root - aside;
    x = i % 3 != 2 && wanted > low && wanted < high ? wanted : low + (high - low) / 2;
  }
  return high;
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
  double noise = std::exp(search_noise(terms, targets, 1e-4));  // a difference in noise that nobody can see
  constexpr int attempts = 12;
  for (int i = 0; i < attempts; ++i, noise *= 1 + std::ldexp(1e-6, i)) {
    terms.noise = read_number(to_text_above(noise, 6));  // fewer digits, more noise
    if (meets(curve_of(terms), targets) == Met::yes) return terms.noise;
  }
  throw DomainError("train: no noise was found that certainly meets " + to_string(targets));
}

}  // namespace tradeoff::train
