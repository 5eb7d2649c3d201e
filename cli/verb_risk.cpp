// SPDX-License-Identifier: Apache-2.0
#include "inquiry.h"
#include "report/risk.h"
#include "streams.h"

namespace tradeoff::cli {

ExitCode run_risk(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  const auto curve = question.curve();
  const report::Risk risk = report::find_risk(*curve, question.direction());
  if (options.json) {
    report::JsonWriter out;
    write_json(risk, out.begin_object().key("answer"));
    write_out(out.key("method").text(curve->method()).key("steps").steps(curve->steps()).end_object().str() + "\n");
  } else {
    write_out(to_lines(risk, {options.quiet, stopwatch.remark(curve->neighbours(), curve->method())}));
  }
  return ExitCode::done;
}

}  // namespace tradeoff::cli
