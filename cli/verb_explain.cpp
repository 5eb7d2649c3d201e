// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "inquiry.h"
#include "numeric/plain_text.h"
#include "report/claim.h"
#include "report/json.h"
#include "report/label.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"

namespace tradeoff::cli {
namespace {

/// Gaussian DP as it was measured; nothing where no theorem covers the plan.
std::optional<GdpMeasurement> measured(const Curve& curve) {
  try {
    return measure_mu(curve);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string verdict_of(const GdpMeasurement& found) {
  if (found.verdict == GdpVerdict::gdp) return "mu " + report::between(found.mu);
  return found.verdict == GdpVerdict::not_gdp ? "not Gaussian-DP for any mu" : "mu undecided";
}

void write_gdp(report::JsonWriter& out, const Curve& curve) {
  const auto found = measured(curve);
  if (!found) return;
  out.key("gdp").begin_object().key("verdict").text(found->verdict == GdpVerdict::gdp       ? "gdp"
                                                    : found->verdict == GdpVerdict::not_gdp ? "not_gdp"
                                                                                            : "undecided");
  out.key("mu").interval(found->mu).key("evaluations").integer(found->evaluations).key("tail").text(found->tail.kind);
  out.key("tail_hint").begin_object().key("label").text("hint, not proof: epsilon / sqrt(-2 log delta)").key("series").begin_array();
  for (const TailHint& hint : tail_hint(curve))
    out.begin_object().key("epsilon").number(hint.epsilon).key("value").interval(hint.value).end_object();
  out.end_array().end_object().end_object();
}

std::string gdp_lines(const Curve& curve) {
  const auto found = measured(curve);
  if (!found) return {};
  std::string text =
      "  [chord-bound]  " + verdict_of(*found) + ", by " + std::to_string(found->evaluations) + " evaluations of the profile\n";
  text += "  [tail-model]  what is known for large epsilon: " + found->tail.kind + "\n";
  text += "  hint, not proof: epsilon / sqrt(-2 log delta) is";
  for (const TailHint& hint : tail_hint(curve)) {
    numeric::PlainText item;
    item << (hint.epsilon > 1 ? ", " : " ") << (hint.value.lo + hint.value.hi) / 2 << " at " << hint.epsilon;
    text += item.str();
  }
  return text + "\n";
}

std::string to_json(const std::string& plan, const Curve& curve) {
  report::JsonWriter out;
  out.begin_object().key("answer").begin_object().key("plan").text(plan).key("neighbours").text(report::to_word(curve.neighbours()));
  write_gdp(out, curve);
  return out.end_object().key("method").text(curve.method()).key("steps").steps(curve.steps()).end_object().str() + "\n";
}

std::string to_lines(const std::string& plan, const Curve& curve, bool quiet, const std::string& remark) {
  std::string text = report::printable_lines(plan) + "\n\n";
  for (const Step& step : curve.steps()) text += "  [" + step.theorem + "]  " + step.detail + "\n";
  return text + (quiet ? std::string() : gdp_lines(curve)) + "\n(" + remark + ")\n";
}

}  // namespace

ExitCode run_explain(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  const std::string plan = to_string(question.plan());
  const auto curve = question.curve();
  write_out(options.json ? to_json(plan, *curve)
                         : to_lines(plan, *curve, options.quiet, stopwatch.remark(curve->neighbours(), curve->method())));
  return ExitCode::done;
}

}  // namespace tradeoff::cli
