// SPDX-License-Identifier: Apache-2.0
#include "inquiry.h"
#include "report/claim.h"
#include "report/json.h"
#include "streams.h"

namespace tradeoff::cli {
namespace {

std::string to_json(const std::string& plan, const Curve& curve) {
  report::JsonWriter out;
  out.begin_object().key("answer").begin_object().key("plan").text(plan).key("neighbours").text(report::to_word(curve.neighbours()));
  return out.end_object().key("method").text(curve.method()).key("steps").steps(curve.steps()).end_object().str() + "\n";
}

std::string to_lines(const std::string& plan, const Curve& curve, const std::string& remark) {
  std::string text = plan + "\n\n";
  for (const Step& step : curve.steps()) text += "  [" + step.theorem + "]  " + step.detail + "\n";
  return text + "\n(" + remark + ")\n";
}

}  // namespace

ExitCode run_explain(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  const std::string plan = to_string(question.plan());
  const auto curve = question.curve();
  write_out(options.json ? to_json(plan, *curve) : to_lines(plan, *curve, stopwatch.remark(curve->neighbours(), curve->method())));
  return ExitCode::done;
}

}  // namespace tradeoff::cli
