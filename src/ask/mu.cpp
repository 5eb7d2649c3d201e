// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"
#include "numeric/conversions.h"
#include "report/exact_numbers.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 2> mu_fields = {{
    {"slack", "the pair (mu, slack) alone; several by default", Kind::number, probability},
    {"epsilon_max", "look at epsilon up to this one alone", Kind::number, above_zero},
}};

// From the slack of a survey to that of cryptography. Without a slack, DP-SGD is mu-GDP only for a mu too large to be useful.
constexpr std::array<const char*, 4> usual_slacks = {"1e-5", "1e-8", "1e-10", "1e-15"};

/// The double nearest to the decimal.
double nearest(const Number& slack) {
  double value = slack.value.hi;
  numeric::from_chars(slack.text.data(), slack.text.data() + slack.text.size(), value);
  return slack.value.contains(value) ? value : slack.value.hi;
}

/// The slack of the pair: the requested one, or the slightly larger one that rounding required.
double told(const Number& slack, const GdpPair& pair) { return pair.slack == slack.value ? nearest(slack) : pair.slack.hi; }

const char* word(GdpVerdict verdict) {
  return verdict == GdpVerdict::gdp ? "gdp" : verdict == GdpVerdict::not_gdp ? "not_gdp" : "undecided";
}

void write(report::JsonWriter& out, const TailSummary& tail) {
  out.begin_object().key("kind").text(tail.kind).key("from").number(tail.from).key("limit").interval(tail.limit).end_object();
}

void write(report::JsonWriter& out, const std::vector<std::string>& warnings) {
  out.key("warnings").begin_array();
  for (const std::string& warning : warnings) out.text(warning);
  out.end_array();
}

std::string text_of(const std::vector<std::string>& warnings, const report::Style& style) {
  std::string text;
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return style.quiet ? std::string() : text;
}

void write_place(report::JsonWriter& out, double at_epsilon) {
  out.key("at_epsilon");
  if (at_epsilon < Interval::whole().hi)
    out.number(at_epsilon);
  else
    out.text("inf");
}

Answer answer_head(const Request& request, const std::shared_ptr<const Curve>& curve) {
  const Interval last = request.value("epsilon_max");
  const HeadMu head = measure_head_mu(*curve, last);
  const std::string condition = "for epsilon <= " + request.text("epsilon_max") + " alone";
  return {[head, last](report::JsonWriter& out) {
            out.begin_object().key("verdict").text("head").key("mu").interval(head.mu);
            write_place(out, head.at_epsilon);
            out.key("epsilon_max")
                .number(last.hi)
                .key("residual")
                .interval(head.residual)
                .key("with_slack")
                .begin_array()
                .end_array()
                .key("evaluations")
                .integer(head.evaluations);
            write(out, head.warnings);
            out.end_object();
          },
          [head, condition](const report::Style& style) {
            return to_text(report::Claim{"mu", head.mu, report::SafeEnd::hi, condition, {}}, style) +
                   to_text(report::Claim{"delta left there", head.residual, report::SafeEnd::hi, "", {}}, {style.quiet, ""}) +
                   text_of(head.warnings, style);
          },
          curve};
}

std::string written(const Number& slack, const GdpPair& pair) {
  return pair.slack == slack.value ? slack.text : report::safe_end(pair.slack, report::SafeEnd::hi, 6);
}

/// `exact` is the mu of Gaussian noise, or empty. A slack lowers mu, so it stays a bound.
std::string text_of(const GdpMeasurement& found, const std::vector<Number>& slacks, const std::string& exact, const report::Style& style) {
  std::string text;
  if (found.verdict == GdpVerdict::gdp)
    text = to_text(report::Claim{"mu", found.mu, report::SafeEnd::hi, "", {}, exact}, style);
  else
    text = found.verdict == GdpVerdict::not_gdp ? "not Gaussian-DP for any mu\n" : "undecided: nothing is known about the tail\n";
  for (std::size_t i = 0; i < slacks.size(); ++i) {
    const GdpPair& pair = found.with_slack[i];
    report::Claim claim{"mu", pair.mu, report::SafeEnd::hi, "with slack " + written(slacks[i], pair), {}};
    if (pair.mu.contains(found.mu.lo)) claim.bound = exact;
    text += to_text(claim, {style.quiet, ""});
  }
  return text + text_of(found.warnings, style);
}

Answer answer_mu(const Request& request) {
  request.require_both_directions("mu covers both directions at once");
  const auto curve = request.curve();
  if (request.has("epsilon_max")) return answer_head(request, curve);
  std::vector<Number> slacks;
  if (request.has("slack"))
    slacks.push_back(request.number("slack"));
  else
    for (const char* text : usual_slacks) slacks.push_back({text, read_number(text).value});
  std::vector<Interval> values;
  for (const Number& slack : slacks) values.push_back(slack.value);
  const GdpMeasurement found = measure_mu(*curve, values);
  return {[found, slacks](report::JsonWriter& out) {
            out.begin_object().key("verdict").text(word(found.verdict)).key("mu").interval(found.mu);
            write_place(out, found.at_epsilon);
            out.key("tail");
            write(out, found.tail);
            out.key("with_slack").begin_array();
            for (std::size_t i = 0; i < slacks.size(); ++i)
              out.begin_object()
                  .key("slack")
                  .number(told(slacks[i], found.with_slack[i]))
                  .key("mu")
                  .interval(found.with_slack[i].mu)
                  .end_object();
            out.end_array().key("evaluations").integer(found.evaluations);
            write(out, found.warnings);
            out.end_object();
          },
          [found, slacks, exact = report::exact_mu(request.plan(), *curve)](const report::Style& style) {
            return text_of(found, slacks, exact, style);
          },
          curve};
}

}  // namespace

constinit const Question mu_question{.name = "mu",
                                     .meaning = "whether the plan is Gaussian-DP, the least mu, and pairs (mu, slack)",
                                     .fields = mu_fields,
                                     .answer = answer_mu};

}  // namespace tradeoff::detail::ask
