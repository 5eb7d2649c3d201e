// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "command_request.h"
#include "numeric/plain_text.h"
#include "report/claim.h"
#include "report/json.h"
#include "report/label.h"
#include "stopwatch.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/research.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::array<ask::Field, 1> explain_fields = {{{"delta", "where epsilon is explained", ask::Kind::number, ask::probability}}};
constexpr ask::Question explain_row{.name = "explain", .meaning = "the theorems of an answer", .fields = explain_fields};

/// The measured mu of Gaussian DP; nothing if no theorem covers the plan.
std::optional<Explained<GdpMeasurement>> measured(const Curve& curve) {
  try {
    return explained([&] { return measure_mu(curve); });
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string verdict_of(const GdpMeasurement& found) {
  if (found.verdict == GdpVerdict::gdp) return "mu " + report::between(found.mu);
  return found.verdict == GdpVerdict::not_gdp ? "not Gaussian-DP for any mu" : "mu undecided";
}

void write_gdp(report::JsonWriter& out, const Curve& curve) {
  const auto measurement = measured(curve);
  if (!measurement) return;
  const GdpMeasurement& found = measurement->value;
  out.key("gdp").begin_object().key("verdict").text(found.verdict == GdpVerdict::gdp       ? "gdp"
                                                    : found.verdict == GdpVerdict::not_gdp ? "not_gdp"
                                                                                           : "undecided");
  out.key("mu").interval(found.mu).key("evaluations").integer(found.evaluations).key("tail").text(found.tail.kind);
  out.key("method").text(to_string(measurement->method)).key("steps").steps(measurement->steps);
  out.key("tail_hint").begin_object().key("label").text("hint, not proof: epsilon / sqrt(-2 log delta)").key("series").begin_array();
  for (const TailHint& hint : tail_hint(curve))
    out.begin_object().key("epsilon").number(hint.epsilon).key("value").interval(hint.value).end_object();
  out.end_array().end_object().end_object();
}

std::string lines_of(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += "  [" + step.theorem + "]\n      " + report::wrapped(step.detail, 6, 6);
  return text;
}

std::string gdp_lines(const Curve& curve) {
  const auto measurement = measured(curve);
  if (!measurement) return {};
  const GdpMeasurement& found = measurement->value;
  std::string text =
      "\n" + report::wrapped(verdict_of(found) + ", with " + std::to_string(found.evaluations) + " evaluations of the profile, by", 4, 0);
  text += lines_of(measurement->steps) + "  what is known for large epsilon: " + found.tail.kind + "\n";
  std::string hints = "hint, not proof: epsilon / sqrt(-2 log delta) is";
  for (const TailHint& hint : tail_hint(curve)) {
    numeric::PlainText item;
    item << (hint.epsilon > 1 ? ", " : " ") << (hint.value.lo + hint.value.hi) / 2 << " at " << hint.epsilon;
    hints += item.str();
  }
  return text + "  " + report::wrapped(hints, 4, 2);
}

/// The question whose theorems are printed: epsilon at one delta.
struct Explanation {
  std::string plan;
  std::string delta;
  Explained<Interval> epsilon;
  std::string exact;  ///< epsilon as an exact number, where it is known
};

std::string to_json(const Explanation& found, const Curve& curve) {
  report::JsonWriter out;
  out.begin_object().key("answer").begin_object().key("plan").text(found.plan).key("neighbours").text(report::to_word(curve.neighbours()));
  out.key("delta").text(found.delta).key("epsilon").interval(found.epsilon.value);
  write_gdp(out, curve);
  out.end_object().key("method").text(to_string(found.epsilon.method)).key("steps").steps(found.epsilon.steps);
  return out.end_object().str() + "\n";
}

std::string to_lines(const Explanation& found, const Curve& curve, bool quiet, const std::string& remark) {
  const report::Claim epsilon{"epsilon", found.epsilon.value, report::SafeEnd::hi, "", {}, found.exact};
  std::string text = report::printable_lines(found.plan) + "\n\nepsilon at delta = " + found.delta + " " + proof_of(epsilon) + ", by\n";
  text += lines_of(found.epsilon.steps);
  return quiet ? text : text + gdp_lines(curve) + "\n(" + remark + ")\n";
}

}  // namespace

ExitCode run_explain(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  ask::CurveCache curves;
  const ask::Request request = to_request(explain_row, options, curves);
  const Number delta = request.has("delta") ? request.number("delta") : read_number("1e-5");
  const auto curve = request.curve();
  const auto pure = curve->pure_epsilon();
  const Explanation found{to_string(request.plan()), delta.text, explained([&] { return curve->epsilon_at(delta, request.direction()); }),
                          pure && delta.value.hi == 0 ? pure->text : ""};
  const std::string remark = stopwatch.remark(curve->neighbours(), to_string(found.epsilon.method));
  write_out(options.json ? to_json(found, *curve) : to_lines(found, *curve, options.quiet, remark));
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
