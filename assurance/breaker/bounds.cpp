// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "checks.h"
#include "limited.h"
#include "outcomes.h"
#include "rewrite.h"
#include "tradeoff/error.h"
#include "witness.h"

// Independent numbers: true values in ball arithmetic, valid upper and lower bounds.
namespace tradeoff::detail::breaker {
namespace {

using witness::Real;

constexpr double ball_seconds = 0.3;  // processor time of the witness for one plan; it answers most short plans within it
constexpr slong ball_bits = 640;      // closed forms cancel

Real exactly(double value) {
  const witness::WithPrecision more(ball_bits);
  return witness::exact(exact_number(value));
}

Interval ends(const Real& ball) { return {ball.lower(), ball.upper()}; }

// a: the witness
bool ball(Examination& exam) {
  const double epsilon = exam.trial().epsilon;
  const Direction direction = both_directions[exam.pick(2)];
  const Neighbours neighbours = exam.trial().neighbours;
  if (neighbours == Neighbours::replace_one && mentions(exam.plan(), {"pair", "poisson", "invert"})) return false;
  const auto truth =
      within(ball_seconds, [&] { return ends(witness::Witness(exam.plan(), neighbours).delta(exactly(epsilon), direction)); });
  if (!truth) return false;
  exam.require_meet(exam.answers().delta(epsilon, direction), *truth, "delta meets the ball around the true value");
  return true;
}

// a: delta in balls on both sides of epsilon
bool ball_epsilon(Examination& exam) {
  const double delta = exam.trial().delta;
  const Neighbours neighbours = exam.trial().neighbours;
  if (neighbours == Neighbours::replace_one && mentions(exam.plan(), {"pair", "poisson", "invert"})) return false;
  const Interval epsilon = exam.answers().epsilon(delta);
  const auto at = [&](double end) {
    return within(ball_seconds, [&] { return ends(witness::Witness(exam.plan(), neighbours).delta(exactly(end))); });
  };
  bool spoke = false;
  if (epsilon.hi < infinite) {
    if (const auto truth = at(epsilon.hi))
      spoke = true, exam.require_at_most(truth->lo, delta, "the true delta at the upper end of epsilon is small enough");
  }
  if (epsilon.lo > 0 && epsilon.lo < infinite) {
    if (const auto truth = at(epsilon.lo))
      spoke = true, exam.require_at_most(delta, truth->hi, "the true delta at the lower end of epsilon is large enough");
  }
  return spoke;
}

/// delta of N(mu, 1) against N(0, 1).
Real gaussian_delta(const Real& mu, const Real& epsilon) {
  return normal_above(epsilon / mu - mu / 2) - exp(epsilon) * normal_above(epsilon / mu + mu / 2);
}

/// mu of a plan that is plain Gaussians, or 0.
Real total_mu(const Plan& plan) {
  Real squares;
  for (const Line& line : plan.lines) {
    const auto* call = std::get_if<Call>(&line.source);
    if (call == nullptr || (call->name != "gaussian" && call->name != "gdp")) return Real(0);
    Real mu = call->name == "gdp" ? witness::exact(*number(*call, "mu")) : Real(1) / witness::exact(*number(*call, "sigma"));
    if (const Number* sensitivity = number(*call, "sensitivity")) mu *= witness::exact(*sensitivity);
    Real times(1);
    for (const Call& operation : line.operators) {
      if (operation.name != "repeat" && operation.name != "group") return Real(0);
      if (operation.name == "repeat")
        times *= witness::exact(*number(operation, "times"));
      else
        mu *= witness::exact(*number(operation, "size"));
    }
    squares += mu * mu * times;
  }
  return sqrt(squares);
}

/// The composition of randomised responses by Kairouz, Oh and Viswanath: each of `times` losses is +-epsilon, and infinite with probability
/// delta.
std::optional<Real> response_composition(const Plan& plan, const Real& epsilon) {
  const auto* call = std::get_if<Call>(&plan.lines.front().source);
  if (plan.lines.size() != 1 || call == nullptr || call->name != "dp" || plan.lines[0].operators.size() > 1) return {};
  const double times = repetitions(plan.lines[0]);
  if (times > 3000 || (times == 1) != plan.lines[0].operators.empty()) return {};
  const auto count = static_cast<unsigned long>(times);
  const Real each = witness::exact(*number(*call, "epsilon"));
  const Number* given = number(*call, "delta");
  const Real kept = power(Real(1) - (given == nullptr ? Real(0) : witness::exact(*given)), count);
  const Real likely = Real(1) / (Real(1) + exp(-each)), rare = Real(1) - likely;
  Real sum, choose(1);
  for (unsigned long k = 0; k <= count; ++k) {  // k losses are negative
    const Real gain = Real(1) - exp(epsilon - each * (Real(count) - Real(2 * k)));
    if (!(gain.upper() > 0)) break;
    sum += choose * power(likely, count - k) * power(rare, k) * max(gain, Real(0));
    choose = choose * Real(count - k) / Real(k + 1);
  }
  return Real(1) - kept + kept * sum;
}

// T5, T19
bool closed_forms(Examination& exam) {
  const witness::WithPrecision more(ball_bits);
  const Real epsilon = exactly(exam.trial().epsilon);
  const Interval answer = exam.answers().delta(exam.trial().epsilon);
  if (const Real mu = total_mu(exam.plan()); mu.positive()) {
    exam.require_meet(answer, ends(gaussian_delta(mu, epsilon)), "Gaussians compose to one by their squares");
    return true;
  }
  const std::optional<Real> composed = response_composition(exam.plan(), epsilon);
  if (composed) exam.require_meet(answer, ends(*composed), "delta is what Kairouz, Oh and Viswanath say");
  return composed.has_value();
}

/// delta of one Gaussian or Laplace mechanism.
std::optional<Real> source_delta(const Call& call, const Real& epsilon) {
  const Number* sensitivity = number(call, "sensitivity");
  const Real shift = sensitivity == nullptr ? Real(1) : witness::exact(*sensitivity);
  if (call.name == "gdp") return gaussian_delta(witness::exact(*number(call, "mu")), epsilon);
  if (call.name == "gaussian") return gaussian_delta(shift / witness::exact(*number(call, "sigma")), epsilon);
  if (call.name == "laplace") return max(Real(0), Real(1) - exp((epsilon - shift / witness::exact(*number(call, "scale"))) / 2));
  return {};
}

// c: an attack on one sampled step, with the record against without it, or against another: rate * delta(log(1 + (exp(epsilon) - 1)/rate))
bool one_step(Examination& exam) {
  const witness::WithPrecision more(ball_bits);
  const Real epsilon = exactly(exam.trial().epsilon);
  bool spoke = false;
  for (const Line& line : exam.plan().lines) {
    const auto* call = std::get_if<Call>(&line.source);
    if (call == nullptr || line.operators.empty() || repetitions(line) < 1) continue;
    const Call& operation = line.operators.front();
    if (line.operators.size() > 2 || (line.operators.size() == 2 && line.operators[1].name != "repeat")) continue;
    if (operation.name != "poisson" && operation.name != "sample") continue;
    const Number* size = number(operation, "size");
    const Real rate =
        size != nullptr ? witness::exact(*size) / witness::exact(*number(operation, "of")) : witness::exact(*number(operation, "rate"));
    if (!rate.positive()) continue;
    const std::optional<Real> base = source_delta(*call, log(Real(1) + (exp(epsilon) - 1) / rate));
    if (!base || !(*base).finite()) continue;
    const Interval step = ends(rate * *base), whole = exam.answers().delta(exam.trial().epsilon);
    exam.require_order(step, whole, "one sampled step costs no more than all");
    const bool alone = exam.plan().lines.size() == 1 && line.operators.size() == 1;
    if (alone) exam.require_meet(step, whole, "delta of one sampled step is what the formula says");
    spoke = true;
  }
  return spoke;
}

// b: a plan that is mu-GDP has at most the delta of the Gaussian
bool gaussian_claim(Examination& exam) {
  const Interval mu = exam.answers().mu();
  exam.require_at_most(0, mu.lo, "mu is not negative");
  exam.require_at_most(mu.lo, mu.hi, "the ends of mu are in order");
  if (!(mu.hi > 0 && mu.hi < 1e6)) return false;
  const witness::WithPrecision more(ball_bits);
  for (const double epsilon : {0.0, exam.trial().epsilon})
    exam.require_order(exam.answers().delta(epsilon), ends(gaussian_delta(exactly(mu.hi), exactly(epsilon))),
                       "a mu-GDP plan costs no more than the Gaussian");
  return true;
}

// b, c: losses rounded down and up
bool grid(Examination& exam) {
  if (exam.trial().neighbours != Neighbours::add_remove) return false;
  std::optional<std::vector<Steps>> steps = events_of(exam.plan());
  if (!steps) return false;
  double times = 0;
  for (const Steps& each : *steps) times += each.times;
  if (times > 500) return false;
  const Direction direction = both_directions[exam.pick(2)];
  if (direction == Direction::add)
    for (Steps& each : *steps) each.events = exchanged(std::move(each.events));
  const double epsilon = exam.trial().epsilon;
  const Bracket bracket = delta_on_grid(*steps, epsilon);
  const Interval delta = exam.answers().delta(epsilon, direction);
  constexpr double rounding = 1e-11;  // rounding of probabilities and losses in doubles, over at most 500 steps
  exam.require_at_most(bracket.low * (1 - 1e-9) - rounding, delta.hi, "delta is at least what losses rounded down give");
  exam.require_at_most(delta.lo, bracket.high * (1 + 1e-9) + rounding, "delta is at most what losses rounded up give");
  return true;
}

// b, c: outcomes that only one side can produce, over all steps
bool revealed(Examination& exam) {
  if (exam.trial().neighbours != Neighbours::add_remove) return false;
  const std::optional<std::vector<Steps>> steps = events_of(exam.plan());
  if (!steps) return false;
  const Direction direction = both_directions[exam.pick(2)];
  double log_kept_surely = 0, log_kept_perhaps = 0;
  for (const Steps& each : *steps) {
    double surely = 0, perhaps = 0;
    for (const Event& event : direction == Direction::add ? exchanged(each.events) : each.events) {
      if (event.low == infinite) surely += event.p;
      if (event.high == infinite) perhaps += event.p;
    }
    log_kept_surely += each.times * std::log1p(-std::min(1.0, surely));
    log_kept_perhaps += each.times * std::log1p(-std::min(1.0, perhaps));
  }
  const double low = -std::expm1(log_kept_surely), high = -std::expm1(log_kept_perhaps), far = 1e6;
  constexpr double rounding = 1e-9;  // rounding of probabilities that are differences, relative to the minuends
  exam.require_at_most(low * (1 - rounding) - 1e-14, exam.answers().delta(infinite, direction).hi, "what is revealed is part of delta");
  exam.require_at_most(low * (1 - rounding) - 1e-14, exam.answers().delta(far, direction).hi,
                       "what is revealed is part of delta at any epsilon");
  exam.require_at_most(exam.answers().delta(infinite, direction).lo, high * (1 + rounding) + 1e-14,
                       "no more is revealed than one side alone can produce");
  return true;
}

// b: one moment of the loss bounds every tail; this covers Chernoff's bound and the conversion of a Renyi divergence
bool moments(Examination& exam) {
  if (exam.trial().neighbours != Neighbours::add_remove) return false;
  std::optional<std::vector<Steps>> steps = events_of(exam.plan());
  if (!steps) return false;
  double times = 0;
  for (const Steps& each : *steps) times += each.times;
  const double epsilon = exam.trial().epsilon;
  const double rounding = 1e-9 + 1e-13 * times;
  if (rounding > 1) return false;
  for (const Direction direction : both_directions) {
    const MomentBound bound = moment_bound(*steps, epsilon);
    const Interval log_delta = exam.answers().log_delta(epsilon, direction);
    const double revealed = bound.revealed * (1 + 1e-9) + 1e-15 * times;  // the probabilities of cells are differences of rounded ones
    exam.require_at_most(std::exp(log_delta.lo),
                         std::exp(std::min(0.0, bound.log_delta + rounding * (1 + std::abs(bound.log_delta)))) + revealed,
                         "delta is at most what a moment of the loss allows");
    for (Steps& each : *steps) each.events = exchanged(std::move(each.events));
  }
  return true;
}

/// log E exp(order L) over the finite losses of all steps, and the probability of an infinite loss, by the distributions of the witness.
Interval transform_bound(const Plan& plan, Neighbours neighbours, double epsilon) {
  const witness::Laws laws = witness::read(plan, neighbours);
  Real kept(1);
  for (const witness::Part& part : laws.parts) kept *= power(Real(1) - part.revealed, part.times);
  double best = 0;
  for (const double order : {0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0}) {
    const Real o(order);
    Real log_delta = o * log(o) - (o + 1) * log(o + 1) - o * Real(epsilon);
    for (const witness::Part& part : laws.parts) {
      Real moment = part.density ? part.density->at(o) : Real(0);
      for (const auto& [place, mass] : part.atoms.masses()) moment += mass * exp(o * witness::Atoms::loss(place, laws.units));
      log_delta += Real(part.times) * log(moment);
    }
    best = std::min(best, log_delta.upper());
  }
  return {best, (Real(1) - kept).upper()};
}

// b: the same in balls, for any number of steps and any distribution that the witness can read
bool transforms(Examination& exam) {
  const double epsilon = exam.trial().epsilon;
  if (exam.trial().neighbours == Neighbours::replace_one && mentions(exam.plan(), {"pair", "poisson", "cyclic", "allocate", "invert"}))
    return false;
  const auto bound = within(ball_seconds, [&] { return transform_bound(exam.plan(), exam.trial().neighbours, epsilon); });
  if (!bound) return false;
  const Interval log_delta = exam.answers().log_delta(epsilon, Direction::remove);
  if (bound->hi == 0)
    exam.require_at_most(log_delta.lo, bound->lo, "log delta is at most what a moment of the loss allows");
  else
    exam.require_at_most(std::exp(log_delta.lo) * (1 - 1e-12), std::exp(bound->lo) + bound->hi,
                         "delta is at most what a moment of the loss allows");
  return true;
}

/// The least pure epsilon that a mechanism states, and its delta.
std::optional<std::pair<double, double>> stated(const Call& call) {
  const auto value = [&](const char* name, double fallback) {
    const Number* found = number(call, name);
    return found == nullptr ? fallback : found->value.hi;
  };
  if (call.name == "dp") return std::pair(value("epsilon", 0), value("delta", 0));
  if (call.name == "randomized_response") return std::pair(value("epsilon", 0), 0.0);
  if (call.name == "laplace" || call.name == "discrete_laplace")
    return std::pair(value("sensitivity", 1) / number(call, "scale")->value.lo, 0.0);
  return {};
}

// b: sums of epsilons, and the advanced theorem of Dwork, Rothblum and Vadhan
bool classical(Examination& exam) {
  double sum = 0, sum_of_deltas = 0, squares = 0, drift = 0;
  for (const Line& line : exam.plan().lines) {
    const auto* call = std::get_if<Call>(&line.source);
    const auto guarantee = call == nullptr ? std::nullopt : stated(*call);
    if (!guarantee) return false;
    auto [epsilon, delta] = *guarantee;
    double times = 1;
    for (const Call& operation : line.operators) {
      if (operation.name == "repeat") {
        times *= number(operation, "times")->value.hi;
      } else if (operation.name == "poisson" && times == 1) {  // amplification by sampling
        const double rate = number(operation, "rate")->value.hi;
        epsilon = std::log1p(rate * std::expm1(epsilon)), delta *= rate;
      } else {
        return false;
      }
    }
    sum += times * epsilon, sum_of_deltas += times * delta, squares += times * epsilon * epsilon,
        drift += times * epsilon * std::expm1(epsilon);
  }
  constexpr double rounding = 1 + 1e-12;
  const Interval basic = exam.answers().delta(sum * rounding + 1e-300);
  exam.require_at_most(basic.lo, sum_of_deltas * rounding, "epsilons and deltas add up");
  const double slack = exam.trial().delta, advanced = (drift + std::sqrt(2 * squares * -std::log(slack))) * rounding;
  if (std::isfinite(advanced))
    exam.require_at_most(exam.answers().delta(advanced).lo, (slack + sum_of_deltas) * rounding,
                         "delta is at most what advanced composition says");
  return true;
}

/// Every Renyi order of a sampled Gaussian that is a whole number, by the binomial theorem (Mironov, Talwar and Zhang).
// b
bool binomial(Examination& exam) {
  double epsilon = exam.trial().epsilon, best = 0;
  std::vector<std::array<double, 3>> lines;  // mu, rate, times
  for (const Line& line : exam.plan().lines) {
    const auto* call = std::get_if<Call>(&line.source);
    if (call == nullptr || call->name != "gaussian") return false;
    std::array<double, 3> found{1 / number(*call, "sigma")->value.lo, 1, 1};
    if (const Number* sensitivity = number(*call, "sensitivity")) found[0] *= sensitivity->value.hi;
    for (const Call& operation : line.operators) {
      if (operation.name == "poisson" && found[1] == 1 && found[2] == 1)
        found[1] = number(operation, "rate")->value.hi;
      else if (operation.name == "repeat")
        found[2] *= number(operation, "times")->value.hi;
      else
        return false;
    }
    lines.push_back(found);
  }
  for (int order = 2; order <= 256; order = order < 16 ? order + 1 : order * 2) {
    const double lambda = order - 1;
    double log_delta = lambda * std::log(lambda) - order * std::log(order) - lambda * epsilon, size = 0;
    for (const auto& [mu, rate, times] : lines) {
      double largest = 0;
      std::vector<double> terms;
      for (int k = 0; k <= order; ++k) {
        const double chance = std::lgamma(order + 1.0) - std::lgamma(k + 1.0) - std::lgamma(order - k + 1.0) +
                              (k == 0 ? 0 : k * std::log(rate)) + (k == order ? 0 : (order - k) * std::log1p(-rate));
        terms.push_back(chance + 0.5 * k * (k - 1.0) * mu * mu);
        largest = std::max(largest, terms.back());
      }
      // The terms k = 0, 1 and the excess of the others over a binomial distribution: log1p is accurate for a tiny rate.
      double excess = 0;
      for (int k = 2; k <= order; ++k) {
        const double moved = 0.5 * k * (k - 1.0) * mu * mu, chance = terms[static_cast<std::size_t>(k)] - moved;
        excess += largest < 600 ? std::exp(chance) * std::expm1(moved) : 0;
      }
      double sum = 0;
      for (const double term : terms) sum += std::exp(term - largest);
      const double log_moment = largest < 600 ? std::log1p(excess) : largest + std::log(sum);
      log_delta += times * log_moment, size += times * log_moment;
    }
    best = std::min(best, log_delta + 1e-9 * (1 + std::abs(size)));
  }
  const Interval log_delta = exam.answers().log_delta(epsilon, Direction::remove);
  exam.require_at_most(log_delta.lo, best, "log delta is at most what a Renyi divergence of whole order allows");
  return true;
}

constexpr Check all_bounds[] = {
    {"ball", "a T5", 0.15, ball, "delta meets the witness's ball"},
    {"ball_epsilon", "a T5", 0.05, ball_epsilon, "epsilon meets the witness's balls"},
    {"closed_forms", "a T5 T19", 1, closed_forms, "Gaussians and randomised responses are what their formulas say"},
    {"one_step", "c T5", 1, one_step, "one sampled step costs no more than all, and what its formula says"},
    {"mu", "b T19", 0.02, gaussian_claim, "a plan that is mu-GDP costs no more than the Gaussian"},
    {"grid", "b c", 1, grid, "delta lies between losses rounded down and up"},
    {"revealed", "b c", 1, revealed, "the chance of an infinite loss is what one side alone can produce"},
    {"moments", "b T4", 1, moments, "delta is at most what moments of discretised losses allow"},
    {"transforms", "b T4", 0.1, transforms, "delta is at most what exact moments allow, in balls"},
    {"classical", "b", 1, classical, "basic and advanced composition hold"},
    {"binomial", "b T4", 1, binomial, "Renyi divergences of whole orders hold"},
};

}  // namespace

std::span<const Check> bounds() { return all_bounds; }

}  // namespace tradeoff::detail::breaker
