// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cfenv>
#include <clocale>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "checks.h"
#include "rewrite.h"
#include "tradeoff/compare.h"
#include "tradeoff/error.h"
#include "tradeoff/limit.h"

// Theorems that relate two answers, checked on their intervals. No true value is needed.
namespace tradeoff::detail::breaker {
namespace {

Direction one_direction(const Examination& exam) { return std::array{Direction::worst, Direction::remove, Direction::add}[exam.pick(3)]; }

/// Operators such as `| invert()` change nothing under replace-one neighbours, where both directions are equal.
bool add_remove(const Examination& exam) { return exam.trial().neighbours == Neighbours::add_remove; }

/// A bound that is not the profile of a pair is answered as stated, but enters compositions by its refinement: two different questions.
bool states_a_bare_bound(const Plan& plan) {
  return mentions(plan, {"rectify", "log_family", "sqrt_log_family", "zcdp", "rdp", "icea"}) && !mentions(plan, {"refine"});
}

Plan with_line(const Plan& plan, std::size_t at, Line line) {
  Plan changed = plan;
  changed.lines[at] = std::move(line);
  return changed;
}

Plan plan_of(Line line) {
  Plan plan;
  plan.lines.push_back(std::move(line));
  return plan;
}

/// A line run `times` times.
Line repeated(Line line, double times) {
  line = without_repetition(std::move(line));
  line.operators.push_back(call_with("repeat", "times", exact_number(times).text));
  return line;
}

// T1, T3
bool range(Examination& exam) {
  const Answers& answers = exam.answers();
  const Direction direction = one_direction(exam);
  const double epsilon = exam.trial().epsilon;
  double before = 1;
  for (const double at : {-epsilon - 0.5, 0.0, epsilon / 2, epsilon, 2 * epsilon + 1, infinite}) {
    const Interval delta = answers.delta(at, direction);
    exam.require_at_most(0, delta.lo, "delta is not negative");
    exam.require_at_most(delta.lo, delta.hi, "the ends of delta are in order");
    exam.require_at_most(delta.hi, 1, "delta is at most 1");
    exam.require_at_most(delta.lo, before, "delta falls with epsilon");
    exam.require_at_most(-std::expm1(at) - 1e-15, delta.hi, "delta is at least 1 - exp(epsilon)");
    before = delta.hi;
  }
  const Interval delta = answers.delta(epsilon, direction), log_delta = answers.log_delta(epsilon, direction);
  exam.require_at_most(log_delta.lo, log_delta.hi, "the ends of log delta are in order");
  constexpr double rounding = 1e-12;  // of exp and log here
  exam.require_order({std::exp(log_delta.lo) * (1 - rounding), 1}, delta, "delta is what its logarithm says");
  exam.require_order(delta, {0, std::exp(log_delta.hi) * (1 + rounding) + 1e-307}, "delta is what its logarithm says");
  return true;
}

// T2 for several deltas, and both ways of asking
bool epsilons(Examination& exam) {
  const Answers& answers = exam.answers();
  const Direction direction = one_direction(exam);
  const double delta = exam.trial().delta;
  const Interval epsilon = answers.epsilon(delta, direction), looser = answers.epsilon(std::min(1.0, 2 * delta), direction);
  exam.require_at_most(0, epsilon.lo, "epsilon is not negative");
  exam.require_at_most(epsilon.lo, epsilon.hi, "the ends of epsilon are in order");
  exam.require_order(looser, epsilon, "epsilon falls with delta");
  if (epsilon.hi < infinite)
    exam.require_order(answers.delta(epsilon.hi, direction), {0, delta}, "delta at the upper end of epsilon is small enough");
  if (epsilon.lo > 0 && epsilon.lo < infinite)
    exam.require_order({delta, 1}, answers.delta(std::nextafter(epsilon.lo, 0), direction),
                       "delta below the lower end of epsilon is large enough");
  return true;
}

// T3, T7: convex, below the diagonal, and every test is an attack that delta must allow for.
bool duality(Examination& exam) {
  const Answers& answers = exam.answers();
  const Direction direction = one_direction(exam);
  const double alpha = exam.trial().alpha, epsilon = exam.trial().epsilon;
  const double left = alpha / 2, right = (1 + alpha) / 2;
  const Interval beta = answers.beta(alpha, direction), before = answers.beta(left, direction), after = answers.beta(right, direction);
  exam.require_at_most(0, beta.lo, "beta is not negative");
  exam.require_at_most(beta.lo, beta.hi, "the ends of beta are in order");
  exam.require_at_most(beta.lo, 1 - alpha + 1e-15, "beta is at most 1 - alpha");
  exam.require_order(beta, before, "beta falls with alpha");
  exam.require_order(after, beta, "beta falls with alpha");
  const double share = (right - alpha) / (right - left);
  exam.require_at_most(beta.lo, (share * before.hi + (1 - share) * after.hi) * (1 + 1e-14) + 1e-300, "beta is convex");
  for (const double at : {0.0, epsilon})
    exam.require_at_most(1 - beta.hi - std::exp(at) * alpha - 1e-14, answers.delta(at, direction).hi,
                         "delta allows for the test of size alpha");
  return true;
}

// T7: the inverse of a trade-off function exchanges the directions.
bool inverse(Examination& exam) {
  if (!add_remove(exam)) return false;
  const AnswersPointer turned = exam.answers_of(wrapped(exam.plan(), call_with("invert", "", "")));
  const double epsilon = exam.trial().epsilon;
  exam.require_meet(turned->delta(epsilon, Direction::remove), exam.answers().delta(epsilon, Direction::add),
                    "inverting exchanges the directions");
  exam.require_meet(turned->delta(epsilon, Direction::add), exam.answers().delta(epsilon, Direction::remove),
                    "inverting exchanges the directions");
  return true;
}

/// Arguments whose increase reduces privacy, and those whose increase improves it. Only where a theorem states it: a wider discrete
/// Gaussian, or truncated noise with another scale, need not be ordered.
struct Monotone {
  const char* name;
  const char* argument;
  bool costs;
};
constexpr Monotone monotone_arguments[] = {
    {"gaussian", "sigma", false}, {"gaussian", "sensitivity", true},
    {"laplace", "scale", false},  {"laplace", "sensitivity", true},
    {"gdp", "mu", true},          {"dp", "epsilon", true},
    {"poisson", "rate", true},    {"randomized_response", "epsilon", true},
    {"repeat", "times", true},    {"zcdp", "rho", true},
    {"group", "size", true},      {"discrete_laplace", "scale", false},
};

// T2
bool monotone(Examination& exam) {
  std::vector<std::pair<std::size_t, const Monotone*>> places;
  const std::vector<Call> all = calls(exam.plan());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Monotone& rule : monotone_arguments)
      if (all[i].name == rule.name && number(all[i], rule.argument) != nullptr) places.emplace_back(i, &rule);
  if (places.empty()) return false;
  const auto& [place, rule] = places[exam.pick(places.size())];
  std::size_t at = 0;
  const Plan changed = edited(exam.plan(), [&, which = place, changing = rule](Call& call) {
    if (at++ != which) return;
    Number* value = number(call, changing->argument);
    const bool whole = std::string(changing->argument) == "times" || std::string(changing->argument) == "size";
    const double larger = whole ? value->value.hi + 1 : value->value.hi * 1.1;
    *value = exact_number(std::string(changing->argument) == "rate" ? std::min(1.0, larger) : larger);
  });
  const AnswersPointer other = exam.answers_of(changed);
  const double epsilon = exam.trial().epsilon;
  const std::string claim = std::string("delta is monotone in ") + rule->argument + " of " + rule->name;
  const Interval here = exam.answers().delta(epsilon), there = other->delta(epsilon);
  rule->costs ? exam.require_order(here, there, claim) : exam.require_order(there, here, claim);
  return true;
}

/// The scale and the sensitivity of a plan of one step of this noise; null if it is another plan.
const Call* only_source(const Plan& plan, const char* name) {
  if (plan.lines.size() != 1 || !plan.lines[0].operators.empty()) return nullptr;
  const auto* call = std::get_if<Call>(&plan.lines[0].source);
  return call != nullptr && call->name == name ? call : nullptr;
}

// Sparse vector: below its largest loss, and not above what more answers or less noise cost.
bool sparse_vector(Examination& exam) {
  const Call* const noise = only_source(exam.plan(), "laplace");
  if (noise == nullptr) return false;
  Call asked = *noise;
  const Number* scale = number(asked, "scale");
  const Number* given = number(asked, "sensitivity");
  const double b = scale == nullptr ? 0 : scale->value.hi, sensitivity = given == nullptr ? 1 : given->value.hi;
  if (!(b > 0 && sensitivity > 0 && sensitivity / b < 20 && sensitivity / b > 1e-6)) return false;
  const auto vector = [&](double threshold, double query, int positives) {
    return exam.answers_of(parse("sparse_vector(threshold_scale=" + exact_number(threshold).text +
                                 ", query_scale=" + exact_number(query).text + ", positives=" + std::to_string(positives) +
                                 ", sensitivity=" + exact_number(sensitivity).text + ")"));
  };
  const double epsilon = std::min(exam.trial().epsilon, 2 * sensitivity / b);
  const Interval here = vector(b, 4 * b, 2)->delta(epsilon);
  const double pure = sensitivity / b * 2;
  exam.require_at_most(here.hi, std::expm1(pure - epsilon) / (std::exp(pure - epsilon) + std::exp(-epsilon)) + 1e-9,
                       "a sparse vector costs at most its largest loss");
  exam.require_at_most(vector(b, 4 * b, 1)->delta(epsilon).hi, here.hi + 1e-4, "more answers above cost more");
  exam.require_at_most(vector(b, 8 * b, 2)->delta(epsilon).hi, here.hi + 1e-4, "more noise on the queries costs less");
  exam.require_at_most(vector(2 * b, 4 * b, 2)->delta(epsilon).hi, here.hi + 1e-4, "more noise on the threshold costs less");
  return true;
}

// Secure aggregation: the noise of the one honest client that remains is the single noise; a second client adds to it.
bool aggregation(Examination& exam) {
  const Call* const noise = only_source(exam.plan(), "discrete_laplace");
  if (noise == nullptr) return false;
  const auto clients = [&](const char* honest, const char* dropouts) {
    return exam.answers_of(edited(exam.plan(), [&](Call& call) {
      call.name = "discrete_laplace_sum";
      for (const auto& [name, value] : {std::pair{"clients", "10"}, {"honest", honest}, {"dropouts", dropouts}})
        call.arguments.push_back({name, {read_number(value), 0}});
    }));
  };
  const double epsilon = exam.trial().epsilon;
  const Interval single = exam.answers().delta(epsilon), one = clients("0.5", "4")->delta(epsilon);
  exam.require_meet(one, single, "one honest client that remains is the single noise");
  exam.require_order(clients("0.5", "3")->delta(epsilon), one, "a further honest client hides more");
  return true;
}

// T17, T6
bool sampling(Examination& exam) {
  if (!mentions(exam.plan(), {"poisson"})) return false;
  const auto with_rate = [&](const char* rate) {
    return edited(exam.plan(), [&](Call& call) {
      if (call.name == "poisson") *number(call, "rate") = read_number(rate);
    });
  };
  Plan unsampled = exam.plan();
  for (Line& line : unsampled.lines) std::erase_if(line.operators, [](const Call& call) { return call.name == "poisson"; });
  const double epsilon = exam.trial().epsilon;
  const Interval whole = exam.answers_of(with_rate("1"))->delta(epsilon);
  exam.require_order(exam.answers().delta(epsilon), whole, "a sample tells no more than everything");
  if (!mentions(unsampled, {"poisson"})) exam.require_meet(exam.answers_of(unsampled)->delta(epsilon), whole, "rate 1 is no sampling");
  bool all_sampled = true;
  for (const Line& line : exam.plan().lines)
    all_sampled =
        all_sampled && std::any_of(line.operators.begin(), line.operators.end(), [](const Call& call) { return call.name == "poisson"; });
  if (all_sampled) exam.require_at_most(exam.answers_of(with_rate("0"))->delta(epsilon).hi, 0, "rate 0 tells nothing");
  return true;
}

// T6: replace-one costs at least as much as either direction of every mechanism.
bool neighbours(Examination& exam) {
  if (mentions(exam.plan(), {"poisson", "sample", "sample_with_replacement"})) return false;
  const auto delta = [&](Neighbours kind) {
    return exam.accountant().analyze(exam.plan(), kind, exam.tolerance())->delta(exam.trial().epsilon);
  };
  const Interval removed = delta(Neighbours::add_remove), replaced = delta(Neighbours::replace_one), open = delta(Neighbours::unstated);
  exam.require_order(removed, replaced, "replace-one costs at least what add-remove costs");
  exam.require_order(removed, open, "unstated neighbours cost at least what add-remove costs");
  exam.require_order(replaced, open, "unstated neighbours cost at least what replace-one costs");
  return true;
}

// T3, T7: the values at infinite epsilon and at both ends of the trade-off function, in every direction.
bool ends(Examination& exam) {
  const Answers& answers = exam.answers();
  const double delta = exam.trial().delta;
  constexpr double rounding = 1e-12;  // of exp and of differences here
  for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
    const Interval floor = answers.delta(infinite, direction), log_floor = answers.log_delta(infinite, direction);
    exam.require_order(floor, answers.delta(exam.trial().epsilon, direction), "delta falls to what it is at infinity");
    exam.require_meet({std::exp(log_floor.lo) * (1 - rounding), std::exp(log_floor.hi) * (1 + rounding)}, floor,
                      "delta at infinity is what its logarithm says");
    exam.require_meet(answers.beta(0, direction), {1 - floor.hi - rounding, 1 - floor.lo + rounding},
                      "beta at alpha 0 is what delta at infinity leaves");
    exam.require_at_most(answers.beta(1, direction).lo, 0, "beta at alpha 1 is 0");
    const Interval epsilon = answers.epsilon(delta, direction);
    if (delta > floor.hi) exam.require(epsilon.lo < infinite, "a delta above that at infinity has a finite epsilon");
    if (delta < floor.lo) exam.require(epsilon.hi == infinite, "a delta below that at infinity has no epsilon");
  }
  return true;
}

// T7: the refined plan is symmetric, and equals the worse direction.
bool symmetry(Examination& exam) {
  if (states_a_bare_bound(exam.plan())) return false;
  const AnswersPointer refined = exam.answers_of(wrapped(exam.plan(), call_with("refine", "", "")));
  for (const double epsilon : {0.0, exam.trial().epsilon, infinite}) {
    const Interval worst = exam.answers().delta(epsilon);
    for (const Direction direction : both_directions)
      exam.require_meet(refined->delta(epsilon, direction), worst, "a refined plan answers in both directions with the worse one");
  }
  return true;
}

// Records are sampled one by one: a guarantee for a group implies nothing for a sample of it.
bool one_by_one(Examination& exam) {
  const Plan group = wrapped(exam.plan(), call_with("group", "size", "2"));
  const Plan sampled = wrapped(group, add_remove(exam) ? call_with("poisson", "rate", "0.5") : call_with("sample", "rate", "0.5"));
  try {
    (void)exam.answers_of(sampled);
  } catch (const UnsupportedError&) {
    return true;
  }
  throw Broken("a sample of a group is refused");
}

// T8, T24
bool order(Examination& exam) {
  if (exam.plan().lines.size() < 2) return false;
  Plan turned = exam.plan();
  std::rotate(turned.lines.begin(), turned.lines.begin() + 1, turned.lines.end());
  const double epsilon = exam.trial().epsilon;
  exam.require_meet(exam.answers_of(turned)->delta(epsilon), exam.answers().delta(epsilon), "the order of lines does not matter");
  return true;
}

// T8: T steps are T - k steps and k more, a plan in parentheses is the plan, and a mechanism that reveals nothing adds nothing.
bool repetition(Examination& exam) {
  if (states_a_bare_bound(exam.plan())) return false;
  const std::size_t at = exam.pick(exam.plan().lines.size());
  const Line& line = exam.plan().lines[at];
  const double times = repetitions(line), epsilon = exam.trial().epsilon;
  const Interval delta = exam.answers().delta(epsilon);
  Plan nested = plan_of({exam.plan(), {}});
  nested.lines.push_back({call_with("dp", "epsilon", "0"), {}});
  exam.require_meet(exam.answers_of(nested)->delta(epsilon), delta, "parentheses and a line that tells nothing change nothing");
  if (times < 2 || times > 0x1p52) return true;
  const double some = std::floor(times / 3) + 1;
  Plan split = with_line(exam.plan(), at, repeated(line, some));
  split.lines.push_back(repeated(line, times - some));
  exam.require_meet(exam.answers_of(split)->delta(epsilon), delta, "steps may be split into two lines");
  return true;
}

// T9, T10, T23
bool again(Examination& exam) {
  const Answers& answers = exam.answers();
  const Direction direction = one_direction(exam);
  const double epsilon = exam.trial().epsilon;
  const Interval first = answers.delta(epsilon, direction);
  const auto refused = [&](double value, bool about_delta) {
    try {
      const Interval answer = about_delta ? answers.epsilon(value, direction) : answers.delta(value, direction);
      return answer.lo <= answer.hi && !std::isnan(value);  // NaN is not a valid question and gets no answer
    } catch (const DomainError&) {
      return true;
    }
  };
  exam.require(refused(std::nan(""), false) && refused(std::nan(""), true), "a question that is not a number is refused");
  exam.require(refused(-1, true) && refused(2, true), "a delta outside [0, 1] is refused or answered");
  exam.require_meet(answers.delta(epsilon, direction), first, "the same question has the same answer after refusals");
  const Interval fresh = exam.answers_of(exam.plan())->delta(epsilon, direction);
  exam.require(exam.answers_of(exam.plan())->delta(epsilon, direction) == fresh, "the same plan has the same answer");
  exam.require_meet(first, fresh, "what was asked before does not matter");
  return true;
}

// T11: merging outcomes reveals less.
bool coarsening(Examination& exam) {
  bool merged = false;
  const Plan coarse = edited(exam.plan(), [&](Call& call) {
    if (call.name != "pair") return;
    std::vector<std::vector<Value>*> rows;
    for (Argument& argument : call.arguments) rows.push_back(&std::get<List>(argument.value.content).items);
    if (rows.size() != 2 || rows[0]->size() < 3 || rows[0]->size() != rows[1]->size()) return;
    std::array<Number, 2> sums;
    for (std::size_t r = 0; r < 2; ++r) {  // a/n + b/n, in whole numbers
      const std::string a = std::get<Number>((*rows[r])[0].content).text, b = std::get<Number>((*rows[r])[1].content).text;
      const auto slash_a = a.find('/'), slash_b = b.find('/');
      if (slash_a == std::string::npos || slash_b == std::string::npos || a.substr(slash_a) != b.substr(slash_b)) return;
      sums[r] = read_number(std::to_string(std::stol(a) + std::stol(b)) + a.substr(slash_a));
    }
    for (std::size_t r = 0; r < 2; ++r) {
      rows[r]->erase(rows[r]->begin());
      rows[r]->front().content = sums[r];
    }
    merged = true;
  });
  if (!merged || mentions(exam.plan(), {"strongest"})) return false;
  const AnswersPointer less = exam.answers_of(coarse);
  for (const Direction direction : both_directions)
    for (const double epsilon : {0.0, exam.trial().epsilon})
      exam.require_order(less->delta(epsilon, direction), exam.answers().delta(epsilon, direction), "merging outcomes loses nothing");
  return true;
}

// T12
bool groups(Examination& exam) {
  const auto group = [&](const char* size) { return exam.answers_of(wrapped(exam.plan(), call_with("group", "size", size))); };
  const double epsilon = exam.trial().epsilon;
  const Interval one = exam.answers().delta(epsilon), two = group("2")->delta(epsilon);
  exam.require_meet(group("1")->delta(epsilon), one, "a group of one is one");
  exam.require_order(one, two, "a group of two costs at least what one costs");
  const auto* source = std::get_if<Call>(&exam.plan().lines.front().source);
  if (exam.plan().lines.size() > 1 || source == nullptr || source->name != "gdp" || !exam.plan().lines.front().operators.empty())
    return true;
  const double mu = number(*source, "mu")->value.lo;
  const Plan doubled = parse("gdp(mu=" + exact_number(mu).text + "); gdp(mu=" + exact_number(mu * std::sqrt(3.0)).text + ")");
  const Interval expected = exam.answers_of(doubled)->delta(epsilon);  // mu^2 + 3 mu^2 = (2 mu)^2, up to the rounding of the root
  exam.require_meet({two.lo * (1 - 1e-9), two.hi * (1 + 1e-9) + 1e-300}, expected, "a group of two is twice mu");
  return true;
}

// T13
bool scaling(Examination& exam) {
  bool scaled = false;
  const int power = exam.pick(2) == 0 ? 3 : -4;
  const Plan other = edited(exam.plan(), [&](Call& call) {
    if (call.name != "gaussian" && call.name != "laplace" && call.name != "truncated_laplace") return;
    scaled = true;
    if (number(call, "sensitivity") == nullptr) call.arguments.push_back({"sensitivity", Value{read_number("1")}});
    for (const char* argument : {"sigma", "scale", "bound", "sensitivity"})
      if (Number* value = number(call, argument)) *value = times_power_of_ten(*value, power);
  });
  if (!scaled) return false;
  const double epsilon = exam.trial().epsilon;
  exam.require_meet(exam.answers_of(other)->delta(epsilon), exam.answers().delta(epsilon),
                    "only the ratio of noise and sensitivity counts");
  return true;
}

// T14
bool refinement(Examination& exam) {
  const double epsilon = exam.trial().epsilon;
  const Interval coarse = exam.accountant().analyze(exam.plan(), exam.trial().neighbours, {1e-2})->delta(epsilon);
  const Interval fine = exam.accountant().analyze(exam.plan(), exam.trial().neighbours, {1e-8})->delta(epsilon);
  exam.require_meet(fine, coarse, "a finer answer meets the coarser one");
  exam.require_meet(fine, exam.answers().delta(epsilon), "a finer answer meets the usual one");
  return true;
}

// T15, T8
bool continuation(Examination& exam) {
  if (states_a_bare_bound(exam.plan())) return false;
  const Plan& plan = exam.plan();
  Plan first, more;
  if (plan.lines.size() > 1) {
    const std::size_t cut = 1 + exam.pick(plan.lines.size() - 1);
    first = part_of(plan, 0, cut), more = part_of(plan, cut, plan.lines.size());
  } else {
    const double times = repetitions(plan.lines[0]);
    if (times < 2 || times > 0x1p52) return false;
    first = plan_of(repeated(plan.lines[0], times - 1)), more = plan_of(repeated(plan.lines[0], 1));
  }
  const double epsilon = exam.trial().epsilon;
  const Interval delta = exam.answers().delta(epsilon);
  exam.require(parse(to_string(first) + "\n" + to_string(more)).lines.size() == first.lines.size() + more.lines.size(),
               "two files make one");
  exam.require_meet(exam.accountant().extended(first, more, exam.trial().neighbours, exam.tolerance())->delta(epsilon), delta,
                    "a plan that is gone on with is the whole plan");
  exam.require_meet(exam.accountant().multiplied(first, more, exam.trial().neighbours, exam.tolerance())->delta(epsilon), delta,
                    "the product of two curves is the curve of both plans");
  return true;
}

// T16: the delta of a mixture is the mixture of deltas, in each direction. Groups are skipped, because they may add and remove at once. A
// bound that is not a pair enters by its refinement.
bool mixtures(Examination& exam) {
  if (mentions(exam.plan(), {"group"}) || states_a_bare_bound(exam.plan())) return false;
  const auto component = [](const char* weight, const Plan& plan) { return Value{Tuple{{Value{read_number(weight)}, Value{plan}}}}; };
  const Plan other = parse("randomized_response(epsilon=1)");
  Call call;
  call.name = "mixture";
  call.arguments.push_back({"components", Value{List{{component("0.375", exam.plan()), component("0.625", other)}}}});
  const AnswersPointer mixed = exam.answers_of(plan_of({call, {}})), response = exam.answers_of(other);
  const double epsilon = exam.trial().epsilon;
  for (const Direction direction : both_directions) {
    const Interval one = exam.answers().delta(epsilon, direction), two = response->delta(epsilon, direction);
    const Interval expected{(0.375 * one.lo + 0.625 * two.lo) * (1 - 1e-14), (0.375 * one.hi + 0.625 * two.hi) * (1 + 1e-14) + 1e-300};
    exam.require_meet(mixed->delta(epsilon, direction), expected, "the delta of a mixture is the mixture of deltas");
  }
  return true;
}

// T4, T18: guarantees by other theorems hold, so the true value is not above them.
bool theorems(Examination& exam) {
  const Interval delta = Interval::exactly(exam.trial().delta), epsilon = exam.answers().epsilon(exam.trial().delta);
  const RenyiCurve renyi = renyi_curve(exam.plan(), exam.trial().neighbours, exam.tolerance());
  exam.require_order(epsilon, renyi.epsilon_at(delta).value, "epsilon is at most what Renyi divergences certify");
  try {
    exam.require_order(epsilon, berry_esseen(exam.plan(), exam.trial().neighbours, exam.tolerance()).epsilon_at(delta),
                       "epsilon is at most what the Berry-Esseen theorem certifies");
  } catch (const UnsupportedError&) {
    // The theorem does not cover this plan.
  }
  return true;
}

/// What (epsilon, delta)-DP implies for every other question: the trade-off function is at least
/// max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)). `slack` is for answers that are this tight, which are not compared
/// with other methods.
void require_as_private(Examination& exam, const Answers& answers, double epsilon, double delta, double slack, const std::string& method) {
  const double factor = std::exp(epsilon), rounding = 1e-14;
  // delta falls by at most the change of epsilon, of which the last units are rounding.
  const double last_units = delta > 1e-200 ? 4 * std::numeric_limits<double>::epsilon() * std::max(1.0, epsilon) : 1e-300;
  exam.require_at_most(answers.delta(epsilon).hi, delta * slack + last_units, "delta is at most that of " + method);
  const double gained = factor < infinite ? (factor - 1 + 2 * delta) / (factor + 1) : 1;
  exam.require_at_most(answers.delta(0).hi, gained * slack + rounding, "the advantage is at most that of " + method);
  for (const double alpha : {delta, 0.05, 0.5}) {
    const double beta = std::max({0.0, 1 - delta - factor * alpha, (1 - delta - alpha) / factor});
    exam.require_at_most(beta * (2 - slack) - rounding, answers.beta(alpha).lo, "beta is at least that of " + method);
  }
  const ClaimsAt at{};
  const Claims claims = answers.claims(at);
  const auto beta_above = [&](double alpha) { return std::max({0.0, 1 - delta - factor * alpha, (1 - delta - alpha) / factor}); };
  exam.require_at_most(claims.rate.hi, (1 - beta_above(at.false_positives)) * slack + rounding, "the rate is at most that of " + method);
  // The best guess at a prior is linear in both errors, so a corner of the function decides.
  double guess = 0;
  for (const double alpha : {0.0, (1 - delta) / (1 + factor), 1 - delta})
    guess = std::max(guess, at.prior * (1 - beta_above(alpha)) + (1 - at.prior) * (1 - alpha));
  exam.require_at_most(claims.accuracy.hi, guess * slack + rounding, "the accuracy of a guess is at most that of " + method);
}

/// delta of N(mu, 1) against N(0, 1), rounded; for epsilon beyond all losses 0.
double rough_gaussian_delta(double mu, double epsilon) {
  const auto above = [](double x) { return std::erfc(x / std::sqrt(2.0)) / 2; };
  const double second = above(epsilon / mu + mu / 2);
  return above(epsilon / mu - mu / 2) - (second > 0 ? std::exp(epsilon + std::log(second)) : 0);
}

/// mu is at most that of the row: then the Gaussian with this mu has at most the delta at the epsilon of the row.
void require_mu(Examination& exam, const Answers& answers, const MethodRow& row, double delta, double slack) {
  const double mu = answers.mu().hi;
  exam.require_at_most(mu, std::numeric_limits<double>::max(), "mu is finite where that of " + row.method + " is");
  if (!(mu < 30 && delta > 1e-12)) return;  // where the rounded formula has no digits left
  const double epsilon = row.epsilon.hi * slack * slack;
  exam.require_at_most(rough_gaussian_delta(mu / slack, epsilon), delta * (1 + 1e-6) + 1e-14, "mu is at most that of " + row.method);
}

/// The answers are at most every bound of a comparison, also where no engine is tight.
void require_older_theorems(Examination& exam, const Plan& plan, const Answers& answers) {
  const double delta = exam.trial().delta;
  const Comparison comparison = compare_methods(plan, Interval::exactly(delta), exam.trial().neighbours, exam.tolerance());
  const Interval epsilon = answers.epsilon(delta);
  const double slack = 1 + 1e-9 + exam.tolerance().relative;
  const MethodRow* best = nullptr;
  for (const MethodRow& row : comparison.rows) {
    if (row.kind != RowKind::bound || !(row.epsilon.hi < infinite)) continue;
    exam.require_at_most(epsilon.hi, row.epsilon.hi * slack + 1e-300, "epsilon is at most that of " + row.method);
    if (best == nullptr || row.epsilon.hi < best->epsilon.hi) best = &row;
    if (row.method == "gdp" && epsilon.hi > 0) require_mu(exam, answers, row, delta, slack);
  }
  // The largest loss of pure mechanisms bounds the posterior after any output.
  const Interval pure = answers.epsilon(0);
  if (const ClaimsAt at{}; pure.hi < infinite) {
    const double odds = at.prior / (1 - at.prior) * std::exp(pure.hi);
    if (odds < infinite)
      exam.require_at_most(answers.claims(at).posterior.hi, odds / (1 + odds) * slack + 1e-14,
                           "the posterior is at most that of epsilon at delta 0");
  }
  if (best != nullptr) require_as_private(exam, answers, best->epsilon.hi, delta, slack, best->method);
}

/// The plan without its refinements. [profile-refinement]
Plan as_stated(const Plan& plan) {
  Plan stated = plan;
  for (Line& line : stated.lines) {
    std::erase_if(line.operators, [](const Call& call) { return call.name == "refine"; });
    if (auto* inner = std::get_if<Plan>(&line.source)) *inner = as_stated(*inner);
  }
  return stated;
}

// T4. A stated bound is drawn with its refinement; the law holds without it too.
bool older_theorems(Examination& exam) {
  const double delta = exam.trial().delta;
  if (!(delta > 0 && delta < 1)) return false;
  require_older_theorems(exam, exam.plan(), exam.answers());
  if (const Plan stated = as_stated(exam.plan()); !(stated == exam.plan())) require_older_theorems(exam, stated, *exam.answers_of(stated));
  return true;
}

// T20
bool spelling(Examination& exam) {
  const Plan copy = parse(to_string(exam.plan()));
  exam.require(copy == exam.plan(), "a plan that is written and read is the plan");
  const Trial back = read_trial(to_text(exam.trial()));
  exam.require(back.plan == exam.plan() && back.epsilon == exam.trial().epsilon && back.delta == exam.trial().delta,
               "a trial that is written and read is the trial");
  const auto delta = [&](const Plan& plan) { return exam.answers_of(plan)->delta(exam.trial().epsilon); };
  exam.require(delta(copy) == delta(exam.plan()), "its answers are the same to the last bit");
  return true;
}

// T21: two threads ask one curve.
bool threads(Examination& exam) {
  const AnswersPointer shared = exam.answers_of(exam.plan());
  const double epsilon = exam.trial().epsilon;
  std::array<Interval, 2> found{};
  {
    std::jthread one([&] { found[0] = shared->delta(epsilon); });
    std::jthread other([&] { found[1] = shared->delta(epsilon); });
  }
  exam.require(found[0] == found[1] && found[0] == exam.answers_of(exam.plan())->delta(epsilon),
               "the number of threads does not change an answer");
  return true;
}

// T22
bool environment(Examination& exam) {
  const Interval expected = exam.answers_of(exam.plan())->delta(exam.trial().epsilon);
  const char* before = std::setlocale(LC_ALL, nullptr);
  const std::string kept = before == nullptr ? "C" : before;
  for (const char* name : {"de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    const Interval found = exam.answers_of(parse(to_string(exam.plan())))->delta(exam.trial().epsilon);
    std::setlocale(LC_ALL, kept.c_str());
    exam.require(found == expected, std::string("the locale ") + name + " changes nothing");
  }
  return true;
}

// c: more mechanisms never give more privacy: each line alone, and fewer steps of one.
bool parts(Examination& exam) {
  if (states_a_bare_bound(exam.plan())) return false;
  const std::size_t at = exam.pick(exam.plan().lines.size());
  const Line& line = exam.plan().lines[at];
  const double times = repetitions(line), epsilon = exam.trial().epsilon;
  const Direction direction = one_direction(exam);
  if (times < 2 && exam.plan().lines.size() < 2) return false;
  const Interval whole = exam.answers().delta(epsilon, direction);
  exam.require_order(exam.answers_of(plan_of(without_repetition(line)))->delta(epsilon, direction), whole,
                     "one step costs no more than all");
  if (exam.plan().lines.size() > 1)
    exam.require_order(exam.answers_of(plan_of(line))->delta(epsilon, direction), whole, "one line costs no more than all");
  if (times >= 2 && times < 0x1p52)
    exam.require_order(exam.answers_of(with_line(exam.plan(), at, repeated(line, std::floor(times / 2))))->delta(epsilon, direction), whole,
                       "half the steps cost no more than all");
  return true;
}

/// A matrix that is the identity, in the place of plain noise.
bool matrices(Examination& exam, const Line& line) {
  Line other = line;
  Call& source = std::get<Call>(other.source);
  if (exam.trial().neighbours != Neighbours::replace_one || source.name != "gaussian" || number(source, "clip") != nullptr) return false;
  if (number(source, "sensitivity") == nullptr) source.arguments.push_back({"sensitivity", Value{read_number("1")}});
  source.name = "matrix";
  source.arguments.push_back({"coefficients", Value{List{{Value{read_number("1")}}}}});
  source.arguments.push_back({"steps", Value{read_number("7")}});
  const double epsilon = exam.trial().epsilon;
  exam.require_meet(exam.answers_of(plan_of(other))->delta(epsilon), exam.answers().delta(epsilon),
                    "noise correlated by the identity is plain noise");
  return true;
}

/// At most 3 of 100 records: who is used displaces at most one other, and of the batches it is drawn for it stays in 3 of 100 at least.
void batches_that_are_full(Examination& exam, Line capped, const Line& line) {
  const double epsilon = exam.trial().epsilon;
  const Direction direction = one_direction(exam);
  const auto delta_of = [&](const Line& other) { return exam.answers_of(plan_of(other))->delta(epsilon, direction); };
  *number(capped.operators.front(), "at_most") = read_number("3");
  const Interval cut = delta_of(capped);
  Line displaced = line, rarer = line;
  if (Number* sigma = number(std::get<Call>(displaced.source), "sigma")) *sigma = exact_number(sigma->value.lo / 2);
  if (Number* rate = number(rarer.operators.front(), "rate")) *rate = exact_number(0.03 * rate->value.lo * (1 - 1e-12));
  exam.require_order(cut, delta_of(displaced), "a cap costs no more than twice the distance");
  exam.require_order(delta_of(rarer), cut, "a cap leaves a record its share of the batches");
}

// T6: samplers that are the Poisson sample of every step, or part of it.
bool samplers(Examination& exam) {
  if (exam.plan().lines.size() != 1 || !std::holds_alternative<Call>(exam.plan().lines[0].source)) return false;
  const Line& line = exam.plan().lines[0];
  if (line.operators.empty()) return matrices(exam, line);
  const Call& sampled = line.operators.front();
  const double times = repetitions(line);
  const bool fits = std::get<Call>(line.source).name == "gaussian" && sampled.name == "poisson" && sampled.arguments.size() == 1 &&
                    without_repetition(line).operators.size() == 1 && times >= 1 && times <= 1e12;
  if (!fits) return false;
  const double epsilon = exam.trial().epsilon;
  const Direction direction = one_direction(exam);
  const Interval plain = exam.answers().delta(epsilon, direction);
  Line capped = line;
  for (const char* name : {"of", "at_most"}) capped.operators.front().arguments.push_back({name, Value{read_number("100")}});
  exam.require_meet(exam.answers_of(plan_of(capped))->delta(epsilon, direction), plain, "a cap that no batch reaches changes nothing");
  const auto in_turns = [&](const char* groups) {
    Line cyclic = without_repetition(line);
    Call& operation = cyclic.operators.front();
    operation.name = "cyclic";
    operation.arguments.push_back({"groups", Value{read_number(groups)}});
    operation.arguments.push_back({"steps", Value{exact_number(times)}});
    return exam.answers_of(plan_of(cyclic))->delta(epsilon, direction);
  };
  if (exam.trial().neighbours == Neighbours::add_remove && times <= 1e4) {
    if (const Number* rate = number(sampled, "rate"); rate != nullptr && rate->value.lo > 0 && rate->value.hi < 1)
      batches_that_are_full(exam, capped, line);
    const auto of_a_user = [&](const char* examples, double share = 1) {
      Line user = line;
      Call& operation = user.operators.front();
      if (Number* rate = number(operation, "rate"); share != 1 && rate != nullptr) *rate = exact_number(share * rate->value.lo);
      operation.arguments.push_back({"examples", Value{read_number(examples)}});
      return exam.answers_of(plan_of(user))->delta(epsilon, direction);
    };
    const Interval two = of_a_user("2");
    exam.require_meet(of_a_user("1"), plain, "a user with one example is a record");
    exam.require_order(plain, two, "a user with two examples costs no less");
    exam.require_order(two, of_a_user("3"), "a third example costs no less");
    exam.require_order(of_a_user("2", 0.75), two, "examples of a user that are drawn less often cost no more");
  }
  exam.require_meet(in_turns("1"), plain, "one group that takes every turn is the whole data");
  exam.require_order(in_turns("3"), plain, "groups that take turns cost no more");
  return true;
}

/// The two-point laws with a largest loss of a quarter and of three quarters of the range, fixed for all steps, and the product of the
/// pairs that dominate single steps: a mixture is a mechanism of its own, which forms no block.
void between_fixed_choices_and_products(Examination& exam, const Line& line, double range, Interval adaptive) {
  constexpr double parts = 1e9;
  const auto quotient = [](double part) { return exact_number(part).text + "/1000000000"; };
  const double times = repetitions(line);
  for (const double share : {0.25, 0.75}) {
    const double p = std::floor(parts * std::expm1((share - 1) * range) / std::expm1(-range)),
                 q = std::ceil(parts * std::exp(-share * range) * std::expm1((share - 1) * range) / std::expm1(-range));
    if (!(q > 0 && p > q && p < parts)) continue;  // rounded into the range
    Plan fixed = parse("pair(p=[" + quotient(p) + ", " + quotient(parts - p) + "], q=[" + quotient(q) + ", " + quotient(parts - q) + "])");
    if (times > 1) fixed = plan_of(repeated(fixed.lines.front(), times));
    exam.require_order(exam.answers_of(fixed)->delta(exam.trial().epsilon), adaptive,
                       "adaptive choices cost at least fixed ones of their range");
  }
  Plan product = parse("mixture([(1, exponential(epsilon=" + exact_number(range).text + "))])");
  if (times > 1) product = plan_of(repeated(product.lines.front(), times));
  exam.require_at_most(adaptive.lo, exam.answers_of(product)->delta(exam.trial().epsilon).hi * (1 + 1e-9) + 1e-300,
                       "adaptive choices cost at most the product of their pairs");
}

// T6: an adaptive choice costs at least a fixed one, which is randomised response, and at most what its epsilon allows.
bool choices(Examination& exam) {
  if (exam.plan().lines.size() != 1 || !std::holds_alternative<Call>(exam.plan().lines[0].source)) return false;
  const Line& line = exam.plan().lines[0];
  const double times = repetitions(line);
  const Number* const epsilon_of_one = number(std::get<Call>(line.source), "epsilon");
  const Number* const answers_of_one = number(std::get<Call>(line.source), "choices");
  const bool fits = std::get<Call>(line.source).name == "randomized_response" && without_repetition(line).operators.empty() &&
                    epsilon_of_one != nullptr && (answers_of_one == nullptr || answers_of_one->value.hi == 2) && times >= 1 && times <= 50;
  if (!fits) return false;
  const auto chosen = [&](double range) {
    Line other = line;
    other.source = call_with("exponential", "epsilon", exact_number(range).text);
    return exam.answers_of(plan_of(other))->delta(exam.trial().epsilon);
  };
  const Interval fixed = exam.answers().delta(exam.trial().epsilon), adaptive = chosen(2 * epsilon_of_one->value.hi);
  exam.require_order(fixed, adaptive, "an adaptive choice costs at least a fixed one");
  between_fixed_choices_and_products(exam, line, 2 * epsilon_of_one->value.hi, adaptive);
  exam.require_order(chosen(epsilon_of_one->value.lo), fixed, "losses in an interval of length epsilon cost at most epsilon-DP");
  return true;
}

/// `(plan) | best_of(runs=law)`.
Plan best_of(const Plan& plan, const std::string& law) {
  return wrapped(plan, parse("gdp(0) | best_of(runs=" + law + ")").lines.front().operators.front());
}

// T8: the best of one run is the plan, and selecting is post-processing of all runs.
bool selection(Examination& exam) {
  if (mentions(exam.plan(), {"group", "matrix"}) || states_a_bare_bound(exam.plan())) return false;
  const double epsilon = exam.trial().epsilon;
  const Direction direction = one_direction(exam);
  const Interval plain = exam.answers().delta(epsilon, direction);
  exam.require_meet(exam.answers_of(best_of(exam.plan(), "exactly(1)"))->delta(epsilon, direction), plain,
                    "the best of one run is the run");
  const Interval best = exam.answers_of(best_of(exam.plan(), "exactly(3)"))->delta(epsilon, direction);
  exam.require_order(plain, best, "the best of three runs costs no less than one run");
  const Interval all = exam.answers_of(wrapped(exam.plan(), call_with("repeat", "times", "3")))->delta(epsilon, direction);
  exam.require_at_most(best.hi, all.hi * (1 + 1e-6) + 1e-12, "selecting costs no more than showing all runs");
  exam.require_order(exam.answers_of(best_of(exam.plan(), "poisson(mean=2)"))->delta(epsilon, direction),
                     exam.answers_of(best_of(exam.plan(), "poisson(mean=4)"))->delta(epsilon, direction), "more runs cost no less");
  return true;
}

/// Reports of users through a shuffler, in the place of the randomiser of one user.
bool shuffled(Examination& exam, const Call& source) {
  const Number *local = number(source, "epsilon"), *choices = number(source, "choices");
  const Neighbours stated = exam.trial().neighbours;
  const bool fits = stated == Neighbours::replace_one || stated == Neighbours::unstated;
  if (!fits || local == nullptr || local->value.hi > 500 || (choices != nullptr && choices->value.hi > 1e6)) return false;
  const double epsilon = exam.trial().epsilon;
  const auto among = [&](const char* users) {
    const std::string kind = choices != nullptr ? ", choices=" + choices->text : "";
    const Plan plan =
        parse("shuffled_reports(epsilon=" + local->text + ", users=" + users + ", randomizer=randomized_response" + kind + ")");
    return exam.answers_of(plan)->delta(epsilon);
  };
  const Interval one = among("1"), few = among("3");
  exam.require_meet(one, exam.answers().delta(epsilon), "one shuffled user is the local mechanism");
  exam.require_order(few, one, "more users cost no more");
  exam.require_order(among("20"), {0, few.hi}, "many users cost no more than a bound for few");
  return true;
}

// T6: a threshold that no new key passes, and one user alone.
bool keys(Examination& exam) {
  if (exam.plan().lines.size() != 1 || !exam.plan().lines[0].operators.empty()) return false;
  const auto* source = std::get_if<Call>(&exam.plan().lines[0].source);
  if (source != nullptr && source->name == "randomized_response") return shuffled(exam, *source);
  const Neighbours stated = exam.trial().neighbours;
  const bool fits = source != nullptr && (source->name == "gaussian" || source->name == "laplace") && number(*source, "clip") == nullptr &&
                    (stated == Neighbours::add_remove || stated == Neighbours::unstated);
  if (!fits) return false;
  const Number *scale = number(*source, source->name == "gaussian" ? "sigma" : "scale"), *moved = number(*source, "sensitivity");
  if (scale == nullptr || (moved != nullptr && !(moved->value.lo > 0))) return false;
  const double epsilon = exam.trial().epsilon;
  const Direction direction = one_direction(exam);
  const auto above = [&](const char* threshold) {
    const std::string contribution = moved != nullptr ? ", contribution=" + moved->text : "";
    const Plan plan = parse("threshold(noise=" + source->name + ", scale=" + scale->text + ", above=" + threshold + contribution + ")");
    return exam.answers_of(plan)->delta(epsilon, direction);
  };
  const Interval plain = exam.answers().delta(epsilon, direction);
  exam.require_meet(above("1e300"), plain, "a threshold that no new key passes is plain noise");
  exam.require_order(plain, above("5"), "a lower threshold costs no less");
  return true;
}

// T6: random allocation and shuffled batches of Gaussian noise, several epochs of it.
bool allocations(Examination& exam) {
  if (exam.trial().neighbours != Neighbours::add_remove || exam.plan().lines.size() != 1) return false;
  const Line& line = exam.plan().lines[0];
  const double epochs = repetitions(line);
  const auto* source = std::get_if<Call>(&line.source);
  const Number* sigma = source != nullptr ? number(*source, "sigma") : nullptr;
  if (sigma == nullptr || source->name != "gaussian" || source->arguments.size() != 1 || !without_repetition(line).operators.empty())
    return false;
  if (!(sigma->value.lo >= 0.3 && sigma->value.hi <= 20 && epochs >= 1 && epochs <= 20)) return false;
  const double epsilon = exam.trial().epsilon;
  const Direction direction = one_direction(exam);
  const auto with = [&](const Call& operation, Neighbours neighbours, double times) {
    Line other = without_repetition(line);
    other.operators.push_back(operation);
    if (times > 1) other = repeated(std::move(other), times);
    return exam.accountant().analyze(plan_of(other), neighbours, exam.tolerance())->delta(epsilon, direction);
  };
  const auto allocated = [&](const char* steps, double times) {
    return with(call_with("allocate", "steps", steps), Neighbours::add_remove, times);
  };
  const Interval shown = exam.answers().delta(epsilon, direction), eight = allocated("8", epochs);
  exam.require_meet(allocated("1", epochs), shown, "one step in one is every step");
  exam.require_order(eight, shown, "an allocated record costs no more than one Gaussian per epoch");
  exam.require_order(allocated("11", epochs), eight, "more steps cost no more");
  exam.require_order(eight, allocated("8", epochs + 1), "another epoch costs no less");
  Call again = call_with("allocate", "steps", "8");
  again.arguments.push_back({"passes", Value{read_number("2")}});
  exam.require_order(eight, with(again, Neighbours::add_remove, epochs), "a second pass costs no less");
  Call twice = call_with("allocate", "steps", "8");
  twice.arguments.push_back({"times", Value{read_number("2")}});
  const Interval two_steps = with(twice, Neighbours::add_remove, epochs);
  exam.require_order(eight, two_steps, "a second step costs no less");
  Line every = repeated(line, 2 * epochs);
  exam.require_order(two_steps, exam.answers_of(plan_of(every))->delta(epsilon, direction),
                     "two drawn steps cost no more than two shown ones");
  Line quieter = line;
  *number(std::get<Call>(quieter.source), "sigma") = exact_number(1.25 * sigma->value.hi);
  quieter = without_repetition(std::move(quieter));
  quieter.operators.push_back(call_with("allocate", "steps", "8"));
  if (epochs > 1) quieter = repeated(std::move(quieter), epochs);
  exam.require_order(exam.answers_of(plan_of(quieter))->delta(epsilon, direction), eight, "more noise costs no more");
  if (direction != Direction::add) {  // every epoch draws its first step with the chance 8^-epochs
    const Interval first = exam.answers().delta(epsilon + epochs * std::log(8.0) * (1 + 1e-12), Direction::remove);
    exam.require_at_most(first.lo * std::pow(8.0, -epochs) * (1 - 1e-9), eight.hi, "epochs cost at least their share of one Gaussian each");
  }
  Line clipped = without_repetition(line);
  std::get<Call>(clipped.source).arguments.push_back({"clip", Value{read_number("1")}});
  clipped.operators.push_back(call_with("allocate", "steps", "8"));
  if (epochs == 1)
    exam.require_order(eight, exam.accountant().analyze(plan_of(clipped), Neighbours::replace_one, exam.tolerance())->delta(epsilon),
                       "a replaced record costs no less than one that is removed");
  const Interval shuffled = with(call_with("shuffle", "batches", "8"), Neighbours::zero_out, epochs);
  exam.require_order(with(call_with("allocate", "steps", "8"), Neighbours::zero_out, epochs), shuffled,
                     "shuffled batches cost no less than allocation");
  exam.require_order(shuffled, shown, "shuffled batches cost no more than one Gaussian per epoch");
  return true;
}

// T2, T6: epochs of many steps with little noise, where one large step decides; any plan gives the question.
bool long_epochs(Examination& exam) {
  constexpr std::array sigmas{"0.35", "0.42", "0.55", "0.8", "3"};
  constexpr std::array counts{300, 3100, 8000, 20'000};
  const std::size_t place = exam.pick(sigmas.size());
  const int steps = counts[exam.pick(counts.size())], epochs = 2 + static_cast<int>(exam.pick(12));
  const bool replaced = exam.pick(3) == 0;
  const auto of = [&](const std::string& sigma, const std::string& rest, Neighbours neighbours) {
    const bool clipped = neighbours == Neighbours::replace_one;
    return exam.accountant().analyze(parse("gaussian(sigma=" + sigma + (clipped ? ", clip=1)" : ")") + rest), neighbours, exam.tolerance());
  };
  const auto allocated = [](int count, int times) {
    return " | allocate(steps=" + std::to_string(count) + ") | repeat(" + std::to_string(times) + ")";
  };
  const std::string sigma = sigmas[place];
  const Neighbours neighbours = replaced ? Neighbours::replace_one : Neighbours::add_remove;
  const AnswersPointer plan = of(sigma, allocated(steps, epochs), neighbours);
  // A question whose answer is neither 0 nor 1.
  const double delta = std::pow(10.0, -2.0 - static_cast<double>(exam.pick(9)));
  const double epsilon = plan->epsilon(delta, Direction::worst).hi;
  const Direction direction = replaced ? Direction::worst : one_direction(exam);
  const Interval here = plan->delta(epsilon, direction);
  exam.require_at_most(plan->delta(epsilon, Direction::worst).lo, delta * (1 + 1e-9), "epsilon is the inverse of delta");
  const auto compared = [&](const std::string& other_sigma, const std::string& rest) {
    return of(other_sigma, rest, neighbours)->delta(epsilon, direction);
  };
  exam.require_order(here, compared(sigma, " | repeat(" + std::to_string(epochs) + ")"), "at most one Gaussian per epoch");
  const std::size_t change = exam.pick(replaced ? 4 : 3);  // these take seconds
  if (change == 0) exam.require_order(compared(sigma, allocated(steps + steps / 3, epochs)), here, "more steps of an epoch cost no more");
  if (change == 1) exam.require_order(here, compared(sigma, allocated(steps, epochs + 1)), "another epoch costs no less");
  if (change == 2 && place + 1 < sigmas.size())
    exam.require_order(compared(sigmas[place + 1], allocated(steps, epochs)), here, "more noise costs no more");
  if (change == 3)
    exam.require_order(of(sigma, allocated(steps, epochs), Neighbours::zero_out)->delta(epsilon), here,
                       "a replaced record costs no less than one that contributes nothing");
  return true;
}

constexpr Check all_laws[] = {
    {"range", "T1 T3", 1, range, "ends are in order, delta lies in [max(0, 1 - exp(epsilon)), 1] and falls"},
    {"epsilons", "T2", 0.5, epsilons, "epsilon falls with delta, and is the inverse of delta"},
    {"duality", "T3 T7", 0.15, duality, "beta is convex and falls, and each of its tests is an attack"},
    {"inverse", "T7", 0.1, inverse, "inverting exchanges the directions"},
    {"monotone", "T2", 0.3, monotone, "less noise, larger samples, more steps cost more"},
    {"sampling", "T6 T17", 0.2, sampling, "sampling amplifies; rates 0 and 1 are nothing and everything"},
    {"sparse_vector", "T2 T4", 0.2, sparse_vector, "a sparse vector costs at most its largest loss, and less with more noise"},
    {"aggregation", "T2", 0.3, aggregation, "one honest client that remains is the single noise; more hide more"},
    {"samplers", "T6", 0.1, samplers,
     "one group, one example, an unreached cap and the identity matrix change nothing; more cost as they should"},
    {"choices", "T6", 0.1, choices, "the exponential mechanism costs at least a fixed choice, and at most its epsilon allows"},
    {"selection", "T8", 0.03, selection, "the best of one run is the run; more runs cost no less, and showing all of them costs most"},
    {"keys", "T6", 0.2, keys, "a threshold that no new key passes is plain noise; one shuffled user is the local mechanism"},
    {"allocations", "T6", 0.1, allocations, "allocated and shuffled records lie between their bounds, and more costs more"},
    {"long_epochs", "T2 T6", 0.002, long_epochs, "many steps with little noise: monotone in every parameter, below one Gaussian per epoch"},
    {"neighbours", "T6", 0.2, neighbours, "replace-one costs at least add-remove, and unstated neighbours at least both"},
    {"ends", "T3 T7", 0.2, ends, "delta at infinity is the limit, beta at 0 and 1 agree with it, in every direction"},
    {"symmetry", "T7", 0.1, symmetry, "a refined plan answers in both directions with the worse one"},
    {"one_by_one", "T17", 0.05, one_by_one, "a sample of a group is refused"},
    {"order", "T8 T24", 0.2, order, "the order of lines does not matter"},
    {"repetition", "T8", 0.2, repetition, "steps may be split, parentheses and empty lines change nothing"},
    {"again", "T9 T10 T23", 0.2, again, "answers are the same again, after refusals too"},
    {"coarsening", "T11", 0.5, coarsening, "merging outcomes loses nothing"},
    {"groups", "T12", 0.03, groups, "larger groups cost more, and twice mu for a Gaussian"},
    {"scaling", "T13", 0.2, scaling, "only the ratio of noise and sensitivity counts"},
    {"refinement", "T14", 0.03, refinement, "finer answers meet coarser ones"},
    {"continuation", "T8 T15", 0.05, continuation, "a plan in two halves is the plan"},
    {"mixtures", "T16", 0.05, mixtures, "the delta of a mixture is the mixture of deltas"},
    {"theorems", "T4 T18", 0.04, theorems, "Renyi and Berry-Esseen guarantees hold"},
    {"older_theorems", "T4", 0.02, older_theorems, "no answer is worse than a bound of a comparison"},
    {"spelling", "T20", 0.1, spelling, "writing and reading lose nothing"},
    {"threads", "T21", 0.02, threads, "two threads get the same answer"},
    {"environment", "T22", 0.02, environment, "a locale changes nothing"},
    {"parts", "c", 0.5, parts, "one step, one line, half the steps cost no more than all"},
};

}  // namespace

std::span<const Check> laws() { return all_laws; }

}  // namespace tradeoff::detail::breaker
