// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/targets.h"

#include <algorithm>
#include <cmath>
#include <compare>

#include "calibrate/margin.h"
#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "plan/number.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

void require(bool holds, const char* what, const char* allowed) {
  if (!holds) throw DomainError(std::string("target: ") + what + " must be " + allowed);
}
void check_range(const Guarantee& target) {
  require(target.epsilon.lo >= 0 && target.epsilon.hi < infinity, "epsilon", "0 or above, and finite");
  require(target.delta.lo >= 0 && target.delta.hi < 1, "delta", "at least 0 and below 1");
}
void check_range(const AdvantageTarget& target) {
  require(target.advantage.lo > 0 && target.advantage.hi < 1, "advantage", "strictly between 0 and 1");
}
void check_range(const AttackTarget& target) {
  require(target.fpr.lo >= 0 && target.fpr.hi < 1, "fpr", "at least 0 and below 1");
  require(target.tpr.lo > target.fpr.hi && target.tpr.hi < 1, "tpr", "above fpr and below 1");
}
void check_range(const MuTarget& target) {
  require(target.mu.lo > 0 && target.mu.hi < infinity, "mu", "above 0 and finite");
  require(target.slack.lo >= 0 && target.slack.hi < 1, "slack", "at least 0 and below 1");
}

Margin measure(const Curve& curve, const Guarantee& target) {
  if (target.delta.hi == 0) return {curve.epsilon_at(target.delta), target.epsilon};  // [largest-loss]
  if (target.delta.lo < 1e-290) return {curve.log_delta_at(target.epsilon), log(target.delta), Margin::Scale::log_delta, target.epsilon};
  return {curve.delta_at(target.epsilon), target.delta, Margin::Scale::delta, target.epsilon};
}
Margin measure(const Curve& curve, const AdvantageTarget& target) { return {curve.advantage(), target.advantage}; }
Margin measure(const Curve& curve, const AttackTarget& target) { return {curve.tpr_at(target.fpr), target.tpr}; }
Margin measure(const Curve& curve, const MuTarget& target) {
  if (target.slack.hi == 0) return {measure_mu(curve).mu, target.mu};  // infinite if no mu is proved
  const std::vector<GdpPair> pairs = measure_mu(curve, {target.slack}).with_slack;
  const bool kept = !pairs.empty() && pairs.front().slack == target.slack;  // a pair with a raised slack does not decide about this slack
  return {kept ? pairs.front().mu : Interval{0, infinity}, target.mu};
}

/// The measured quantity, for the message.
std::string quantity_of(const Target& target, const Margin& margin) {
  struct Name {
    const char* operator()(const Guarantee&) const { return "delta at this epsilon"; }
    const char* operator()(const MuTarget& mu) const { return mu.slack.hi > 0 ? "the least mu with this slack" : "the least mu"; }
    const char* operator()(const AdvantageTarget&) const { return "the advantage of an attack"; }
    const char* operator()(const AttackTarget&) const { return "the true-positive rate at this false-positive rate"; }
  };
  return (margin.scale == Margin::Scale::log_delta ? "the natural logarithm of " : "") + std::string(std::visit(Name{}, target));
}

/// The message about the first target that is not proved to be met.
std::string complaint(const Curve& curve, const Targets& targets) {
  const auto missed = std::find_if(targets.begin(), targets.end(), [&](const auto& target) { return meets(curve, target) != Met::yes; });
  if (missed == targets.end()) return {};
  const Margin margin = margin_of(curve, missed->target);
  constexpr int digits = 6;
  return "the target " + to_string(*missed) + (margin.fails() ? " is not met: " : " is not certain to be met: ") +
         quantity_of(missed->target, margin) + " is between " + numeric::to_text_below(margin.value.lo, digits) + " and " +
         numeric::to_text_above(margin.value.hi, digits);
}

using TextOf = std::function<std::optional<std::string>(std::string_view)>;

/// Reads the numbers of one target and checks their ranges.
class Reader {
 public:
  Reader(const TextOf& text_of, std::string_view prefix) : text_of_(text_of), prefix_(prefix) {}

  [[nodiscard]] bool has(std::string_view word) const { return text_of_(word).has_value(); }
  /// The number of the word that `whose` needs.
  Interval number(std::string_view word, std::string_view whose, double most) {
    const std::optional<std::string> text = text_of_(word);
    // "train: --slack needs --mu": the text before the dashes appears once.
    if (!text) throw DomainError(name(whose) + " needs " + name(word).substr(prefix_.find_last_of(' ') + 1));
    const auto quotient = numeric::read_quotient(*text);
    const Interval value = quotient ? numeric::enclose(*quotient) : Interval{-1, -1};
    if (!(value.lo >= 0 && value.hi <= most))
      throw DomainError(name(word) + " = " + text->substr(0, 40) + " is not allowed; it must be a number " +
                        (most == 1 ? "between 0 and 1" : "of at least 0"));
    words_.emplace_back(word, Number{*text, value});
    return value;
  }
  void add(const Target& target) {
    validate(target);
    found_.push_back({target, std::exchange(words_, {})});
  }
  [[nodiscard]] Targets found() && { return std::move(found_); }

 private:
  [[nodiscard]] std::string name(std::string_view word) const { return std::string(prefix_) + std::string(word); }

  const TextOf& text_of_;
  std::string_view prefix_;
  std::vector<std::pair<std::string, Number>> words_;
  Targets found_;
};

}  // namespace

namespace {

/// A quantity on a scale on which it is about proportional to a power of every parameter: a delta by the mu of the Gaussian through it.
Interval scaled(const Margin& margin, Interval value) {
  constexpr Interval useful{1e-9, 1e9};  // outside a value says nothing
  switch (margin.scale) {
    case Margin::Scale::plain:
      break;
    case Margin::Scale::delta:
      return clamp(gaussian_mu(margin.epsilon, clamp(value, 0, 1)), useful.lo, useful.hi);
    case Margin::Scale::log_delta:
      return clamp(gaussian_mu_of_log(margin.epsilon, min(value, Interval::exactly(0))), useful.lo, useful.hi);
  }
  return value;
}

}  // namespace

double detail::Margin::excess() const {
  const Interval found = scaled(*this, value), allowed = scaled(*this, limit);
  const double middle = value.lo > 0 || scale == Scale::log_delta ? (std::log(found.hi) + std::log(found.lo)) / 2 : std::log(found.hi);
  return middle - std::log((allowed.lo + allowed.hi) / 2);
}

double detail::Margin::doubt() const {
  if (scale == Scale::delta && !(value.lo > 0)) return infinity;
  const Interval found = scaled(*this, value), allowed = scaled(*this, limit);
  return std::log1p(found.width() / found.lo) / 2 + allowed.width() / (allowed.lo + allowed.hi);
}

Margin detail::margin_of(const Curve& curve, const Target& target) {
  return std::visit([&](const auto& wanted) { return measure(curve, wanted); }, target);
}

bool detail::is_exactly_met(const Curve& curve, const StatedTarget& target) {
  if (!std::holds_alternative<Guarantee>(target.target) || target.words.size() != 2) return false;
  return curve.states(target.words[0].second, target.words[1].second);
}

Targets read_targets(const TextOf& text_of, std::string_view prefix) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return read_targets(text_of, prefix); });

  constexpr double largest = 1.7976931348623157e308;
  Reader reader(text_of, prefix);
  if (reader.has("epsilon") || reader.has("delta")) {
    const Interval epsilon = reader.number("epsilon", "delta", largest);
    reader.add(Guarantee{epsilon, reader.number("delta", "epsilon", 1)});
  }
  if (reader.has("mu") || reader.has("slack")) {
    const Interval mu = reader.number("mu", "slack", largest);
    reader.add(MuTarget{mu, reader.has("slack") ? reader.number("slack", "mu", 1) : Interval::exactly(0)});
  }
  if (reader.has("advantage")) reader.add(AdvantageTarget{reader.number("advantage", "advantage", 1)});
  if (reader.has("fpr") || reader.has("tpr")) {
    const Interval fpr = reader.number("fpr", "tpr", 1);
    reader.add(AttackTarget{fpr, reader.number("tpr", "fpr", 1)});
  }
  return std::move(reader).found();
}

std::string to_string(const StatedTarget& target) {
  std::string text;
  for (const auto& [word, number] : target.words) text += (text.empty() ? "" : ", ") + word + " = " + number.text;
  return text;
}

std::string to_string(const Targets& targets) {
  std::string text;
  for (const StatedTarget& target : targets) text += (text.empty() ? "" : " and ") + to_string(target);
  return text;
}

void validate(const Target& target) {
  std::visit([](const auto& wanted) { check_range(wanted); }, target);
}

namespace {

/// Whether epsilon is certainly below the exact largest loss, so that delta is positive. [largest-loss]
bool surely_below_pure(const Curve& curve, Level epsilon) {
  const auto pure = curve.pure_epsilon();
  if (!pure) return false;
  return epsilon.value().hi < pure->value.lo ||
         (epsilon.number() != nullptr && exact_order(*epsilon.number(), *pure) == std::strong_ordering::less);
}

}  // namespace

BudgetCheck check(const Curve& curve, Level epsilon, Level delta) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return check(curve, epsilon, delta); });

  const Guarantee budget{epsilon.value(), delta.value()};
  require(budget.epsilon.lo >= 0 && budget.epsilon.hi < infinity, "epsilon", "0 or above, and finite");
  require(budget.delta.lo >= 0 && budget.delta.hi <= 1, "delta", "between 0 and 1");
  const Interval found = curve.delta_at(epsilon);
  const bool stated = epsilon.number() != nullptr && delta.number() != nullptr && curve.states(*epsilon.number(), *delta.number());
  if (found.hi <= budget.delta.lo || stated) return {Met::yes, found};
  if (found.lo > budget.delta.hi || (budget.delta.hi == 0 && surely_below_pure(curve, epsilon))) return {Met::no, found};
  return {meets(curve, budget), found};
}

Met meets(const Curve& curve, const Target& target) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return meets(curve, target); });

  const Margin margin = margin_of(curve, target);
  return margin.meets() ? Met::yes : margin.fails() ? Met::no : Met::undecided;
}

Met meets(const Curve& curve, const StatedTarget& target) {
  const Met found = meets(curve, target.target);
  return found == Met::undecided && is_exactly_met(curve, target) ? Met::yes : found;
}

Met meets(const Curve& curve, const Targets& targets) {
  Met all = Met::yes;
  for (const StatedTarget& target : targets) {
    const Met one = meets(curve, target);
    if (one == Met::no) return Met::no;
    if (one == Met::undecided) all = Met::undecided;
  }
  return all;
}

void require_met(const Curve& curve, const Targets& targets) {
  const auto find = [&] { return complaint(curve, targets); };
  const std::string found = numeric::arithmetic_is_usual() ? find() : numeric::in_usual_arithmetic(find);
  if (!found.empty()) throw UnmetError(found);
}

}  // namespace tradeoff
