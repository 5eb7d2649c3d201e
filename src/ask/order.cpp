// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "ask/request.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 2> order_fields = {{
    {"other", "the plan it is compared with", Kind::plan, any_number, true},
    {"tolerance", "ignore what happens with at most this probability", Kind::number, probability},
}};

const char* order_word(Order verdict) { return verdict == Order::yes ? "yes" : verdict == Order::no ? "no" : "undecided"; }

/// The verdict and, if it is no, the values of both curves that prove it.
struct Ordered {
  OrderAnswer order;
  Interval beta, other_beta;    ///< at the witness alpha
  Interval delta, other_delta;  ///< at the witness epsilon
  std::string tolerance;        ///< as it was stated; empty if it was not
};

Ordered compare_curves(const Curve& one, const Curve& other, std::string tolerance) {
  Ordered found{at_least_as_private(one, other), {}, {}, {}, {}, std::move(tolerance)};
  if (found.order.alpha) {
    found.beta = one.beta_at(*found.order.alpha);
    found.other_beta = other.beta_at(*found.order.alpha);
  }
  if (found.order.epsilon) {
    found.delta = one.delta_at(*found.order.epsilon);
    found.other_delta = other.delta_at(*found.order.epsilon);
  }
  return found;
}

void write_json(const Ordered& found, report::JsonWriter& out) {
  out.begin_object().key("verdict").text(order_word(found.order.verdict));
  if (found.order.alpha)
    out.key("alpha").number(*found.order.alpha).key("beta").interval(found.beta).key("other_beta").interval(found.other_beta);
  if (!found.tolerance.empty()) out.key("tolerance").text(found.tolerance);
  if (found.order.epsilon)
    out.key("epsilon").number(*found.order.epsilon).key("delta").interval(found.delta).key("other_delta").interval(found.other_delta);
  out.end_object();
}

/// The attack whose errors, or whose success beyond a factor e^epsilon, show the violation.
std::string attack_lines(const Ordered& found, const std::string& second) {
  const auto at = [](double value) { return report::safe_end(Interval::exactly(value), report::SafeEnd::hi, 4); };
  std::string text;
  if (found.order.alpha)
    text += "  the attack that decides, with type I error " + at(*found.order.alpha) + ",\n    has type II error at most " +
            report::safe_end(found.beta, report::SafeEnd::hi, 6) + ";\n    against " + second + ", at least " +
            report::safe_end(found.other_beta, report::SafeEnd::lo, 6) + "\n";
  if (found.order.epsilon)
    text += std::string(found.order.alpha ? "  " : "  the attack that decides: say \"took part\" where the loss is above epsilon;\n  ") +
            "at epsilon " + at(*found.order.epsilon) + " the first needs delta of at least " +
            report::safe_end(found.delta, report::SafeEnd::lo, 6) + ",\n    " + second + " at most " +
            report::safe_end(found.other_delta, report::SafeEnd::hi, 6) + "\n";
  return text;
}

std::string to_lines(const Ordered& found, const report::Style& style) {
  const bool exact = found.tolerance.empty();
  const std::string up_to = exact ? "" : ", up to probability " + found.tolerance;
  std::string text;
  if (found.order.verdict == Order::yes)
    text = std::string("yes: the first plan is at least as private as the second") +
           (exact ? ";\n  " : ",\n  up to probability " + found.tolerance + "; ") + "no attack does better against it\n";
  else if (found.order.verdict == Order::undecided)
    text = "undecided: neither an order nor a violation of it could be proved" + up_to + "\n";
  else
    text = "no: some attack does better against the first plan\n  than any attack does against the second" + up_to + "\n";
  if (style.quiet) {  // one line for programs
    const std::size_t broken = text.find("\n  ");
    return broken == std::string::npos ? text : text.replace(broken, 3, " ");
  }
  text += attack_lines(found, exact ? "the second" : "the second with " + found.tolerance);
  const double differs = found.order.epsilon ? found.delta.hi : 1;
  constexpr double negligible = 1e-12;  // less than any delta that is used
  if (exact && found.order.verdict == Order::no && differs < negligible)
    text += "  both deltas are below " + report::safe_end(found.delta, report::SafeEnd::hi, 2) +
            " there; --tolerance ignores such differences\n";
  return text + "(" + style.remark + ")\n";
}

Outcome outcome_of(Order verdict) {
  return verdict == Order::yes ? Outcome::answered : verdict == Order::no ? Outcome::no : Outcome::undecided;
}

// [privacy-order]
Answer answer_order(const Request& request) {
  request.require_both_directions("the order is that of symmetric curves");
  const auto curve = request.curve();
  const auto other = request.curve_of("other");
  // With a tolerance the second plan may also reveal everything with that probability. [revealing-composition]
  const bool tolerant = request.has("tolerance");
  const auto found = std::make_shared<const Ordered>(compare_curves(
      *curve, tolerant ? with_revealing(*other, request.value("tolerance")) : *other, tolerant ? request.number("tolerance").text : ""));
  return {[found](report::JsonWriter& out) { write_json(*found, out); },
          [found](const report::Style& style) { return to_lines(*found, style); },
          curve,
          {},
          outcome_of(found->order.verdict)};
}

}  // namespace

constinit const Question order_question{
    .name = "order", .meaning = "whether the plan is at least as private as another one", .fields = order_fields, .answer = answer_order};

}  // namespace tradeoff::detail::ask
