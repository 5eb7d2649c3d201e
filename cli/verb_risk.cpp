// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "inquiry.h"
#include "numeric/number_text.h"
#include "risk.h"
#include "streams.h"

namespace tradeoff::cli {
namespace {

constexpr std::array<const char*, 4> shown_rates = {"1e-4", "0.001", "0.01", "0.1"};  // false-positive rates that attack papers report
constexpr std::array<const char*, 3> shown_priors = {"0.01", "0.1", "0.5"};           // from rare disease to a coin toss

void write_rows(report::JsonWriter& out, const char* given_name, const char* value_name, const std::vector<RiskRow>& rows) {
  out.begin_array();
  for (const RiskRow& row : rows) out.begin_object().key(given_name).raw(row.given).key(value_name).interval(row.value).end_object();
  out.end_array();
}

}  // namespace

Risk find_risk(const Curve& curve, Direction direction) {
  Risk risk;
  risk.advantage = curve.advantage();
  for (const char* rate : shown_rates) risk.rates.push_back({rate, curve.tpr_at(*numeric::enclose_decimal(rate), direction)});
  for (const char* prior : shown_priors) {
    const Posterior posterior = curve.posterior_at(*numeric::enclose_decimal(prior));
    risk.accuracies.push_back({prior, posterior.accuracy});
    risk.posteriors.push_back({prior, posterior.largest});
  }
  return risk;
}

void write_json(const Risk& risk, report::JsonWriter& out) {
  out.begin_object().key("advantage").interval(risk.advantage);
  write_rows(out.key("tpr"), "fpr", "tpr", risk.rates);
  write_rows(out.key("accuracy"), "prior", "accuracy", risk.accuracies);
  write_rows(out.key("posterior"), "prior", "largest", risk.posteriors);
  out.end_object();
}

std::string to_lines(const Risk& risk, const report::Style& style) {
  using report::Claim;
  using report::SafeEnd;
  const report::Style row_style{style.quiet, ""};
  std::string text = "What the best possible attacker can learn about one person:\n";
  text += "  " + to_text(Claim{"advantage", risk.advantage, SafeEnd::hi, "over a guess (true minus false positives)", {}}, row_style);
  for (const RiskRow& row : risk.rates) {
    text += "  " +
            to_text(Claim{"true-positive rate", row.value, SafeEnd::hi, std::string("at false-positive rate ") + row.given, {}}, row_style);
  }
  for (const RiskRow& row : risk.accuracies) {
    text +=
        "  " + to_text(Claim{"accuracy of the best guess", row.value, SafeEnd::hi, std::string("at prior ") + row.given, {}}, row_style);
  }
  for (const RiskRow& row : risk.posteriors) {
    text += "  " + to_text(Claim{"posterior", row.value, SafeEnd::hi, std::string("at prior ") + row.given, {}}, row_style);
  }
  if (!style.quiet) text += "(" + style.remark + ")\n";
  return text;
}

ExitCode run_risk(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  const auto curve = question.curve();
  const Risk risk = find_risk(*curve, question.direction());
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
