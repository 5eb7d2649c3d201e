// SPDX-License-Identifier: Apache-2.0
#include "inquiry.h"
#include "report/claim.h"
#include "report/json.h"
#include "streams.h"

namespace tradeoff::cli {
namespace {

struct Verdict {
  const char* word;
  const char* sentence;
  ExitCode code;
};

/// Certain only where the plan says so itself, or the whole interval lies on one side of the whole target.
Verdict compare(Interval delta, Interval allowed, bool stated) {
  if (delta.hi <= allowed.lo || stated) return {"within", "certainly within the budget", ExitCode::done};
  if (delta.lo > allowed.hi) return {"exceeded", "certainly not within the budget", ExitCode::check_failed};
  return {"undecided", "undecided", ExitCode::undecided};
}

}  // namespace

ExitCode run_check(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  question.require_both_directions("a budget binds in both directions");
  const Interval epsilon = question.at_least_zero("epsilon");
  const Interval allowed = question.probability("delta");
  const auto curve = question.curve();
  const auto [delta, method, steps] = explained([&] { return curve->delta_at(epsilon); });
  const auto log10 = report::log10_if_tiny(delta);
  const bool stated = curve->states({question.text("epsilon"), epsilon}, {question.text("delta"), allowed});
  const Verdict verdict = compare(delta, allowed, stated);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("answer").begin_object().key("verdict").text(verdict.word).key("delta").interval(delta, log10).end_object();
    write_out(out.key("method").text(to_string(method)).key("steps").steps(steps).end_object().str() + "\n");
  } else {
    const report::Claim claim{"delta", delta, report::SafeEnd::hi, "at epsilon = " + question.text("epsilon"), log10};
    const report::Style style{options.quiet, stopwatch.remark(curve->neighbours(), to_string(method))};
    write_out(std::string(verdict.sentence) + (options.quiet ? "\n" : ": " + to_text(claim, style)));
  }
  return verdict.code;
}

}  // namespace tradeoff::cli
