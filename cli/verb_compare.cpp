// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "ask/compare.h"
#include "command_request.h"
#include "numeric/arithmetic.h"
#include "output_file.h"
#include "plan/neighbours.h"
#include "progress.h"
#include "report/claim.h"
#include "report/picture.h"
#include "report/svg.h"
#include "report/terminal_plot.h"
#include "sgd_run.h"
#include "stopwatch.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {
namespace {

/// The columns of a table: as wide as their longest entry, the last one not padded.
std::string padded_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += i + 1 < row.size() ? row[i] + std::string(widths[i] - row[i].size() + 2, ' ') : row[i];
    text += "\n";
  }
  return text;
}

std::string sampler_table(const std::vector<SamplerRow>& rows, const std::string& delta) {
  std::vector<std::vector<std::string>> table = {{"sampler", "neighbours", "epsilon", "at delta = " + delta}};
  for (const SamplerRow& row : rows) {
    const bool known = row.training.has_value();
    table.push_back({row.sampler, to_word(known ? row.training->neighbours : row.run.neighbours),
                     known ? "<= " + report::claimed(row.epsilon, report::SafeEnd::hi) : "refused",
                     known ? report::between(row.epsilon) : row.refused});
  }
  std::string text = padded_columns(table) + "\nEach assumes:\n";
  for (const SamplerRow& row : rows)
    if (row.training) text += "  " + row.training->remark + "\n    " + row.training->plan + "\n";
  return text;
}

/// The certified epsilon of each sampler, in the order of the table.
report::Figure sampler_figure(const std::vector<SamplerRow>& rows) {
  report::Picture picture{.title = "One training run, its batches drawn in different ways",
                          .x = {.label = "row of the table", .low = 0, .high = static_cast<double>(rows.size() + 1)},
                          .y = {.label = "epsilon"}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].curve || !(rows[i].epsilon.hi < infinity)) continue;
    const double x = static_cast<double>(i + 1);
    constexpr double half = 0.3;  // of the width of a bar
    report::Series bar{.label = rows[i].sampler + ", " + to_word(rows[i].training->neighbours)};
    for (const double side : {x - half, x + half}) bar.spots.push_back({side, rows[i].epsilon});
    bar.colour = i % report::palette_size;
    picture.series.push_back(std::move(bar));
  }
  return {picture.title, "The certified epsilon of one training run under several samplers.", {std::move(picture)}};
}

void write_samplers(const std::vector<SamplerRow>& rows, const std::string& delta, report::JsonWriter& out) {
  out.begin_object().key("delta").text(delta).key("samplers").begin_array();
  for (const SamplerRow& row : rows) {
    out.begin_object().key("sampler").text(row.sampler);
    out.key("neighbours").text(to_word(row.training ? row.training->neighbours : row.run.neighbours));
    if (row.training)
      out.key("plan").text(row.training->plan).key("assumes").text(row.training->remark).key("epsilon").interval(row.epsilon);
    else
      out.key("refused").text(row.refused);
    out.end_object();
  }
  out.end_array().end_object();
}

ExitCode compare_samplers_of(const Options& options) {
  for (const char* name : {"delta", "noise-multiplier", "examples"})
    if (options.find(name) == nullptr) throw DomainError(std::string("compare --sampling needs --") + name);
  for (const char* name : {"epsilon-max", "width", "method", "people", "all", "neighbours", "direction"})
    if (options.find(name) != nullptr) throw DomainError("compare --sampling has no use for --" + std::string(name));
  if (!options.plan.empty()) throw DomainError("compare --sampling takes a training run as options, as in sgd, and no plan");
  const Number delta = read_run_number(options, "delta");
  const SgdRun run = read_run(options);
  const bool has_sizes =
      options.find("examples") != nullptr && read_run_number(options, "examples").value.lo == static_cast<double>(run.examples);
  if (!has_sizes) throw DomainError("compare: --sampling needs --examples, and a --sample-rate that is a whole number of them");
  const std::vector<SamplerRow> rows = compare_samplers(run, delta);
  const std::string* format = options.find("format");
  std::string text;
  if (options.json) {
    report::JsonWriter out;
    write_samplers(rows, delta.text, out);
    text = out.str() + "\n";
  } else if (format != nullptr && *format == "svg") {
    text = report::to_svg(sampler_figure(rows));
  } else {
    text = sampler_table(rows, delta.text);
    if (format != nullptr) text += "\n" + report::to_terminal(sampler_figure(rows).panels.front());
  }
  write_result(options.find("out"), text);
  return ExitCode::done;
}

/// Options that describe a training run, without --sampling.
void refuse_run_options(const Options& options) {
  constexpr std::array<std::string_view, 10> of_runs = {"noise-multiplier", "batch",   "sample-rate", "examples", "epochs", "steps",
                                                        "groups",           "at-most", "format",      "out"};
  for (const std::string_view name : of_runs)
    if (options.find(name) != nullptr) throw DomainError("compare: --" + std::string(name) + " needs --sampling");
}

}  // namespace

ExitCode run_compare(const Verb& verb, const Options& options) {
  if (options.find("sampling") != nullptr) return compare_samplers_of(options);
  refuse_run_options(options);
  if (options.plan.empty())
    throw DomainError(
        "compare: plan is required, for example: tradeoff compare --delta 1e-5 'gaussian(sigma=1)'; or --sampling and a training run");
  if (options.find("epsilon-max") != nullptr) return run_ask(verb, options);
  if (options.find("delta") == nullptr)
    throw ask::RequestError("parse", "give --delta, or --epsilon-max to compare ways to measure mu", "delta", 0);
  const Stopwatch stopwatch;
  ask::CurveCache curves;
  const ask::Request request = to_request(ask::compare_question, options, curves);
  const std::uint64_t people = ask::people_of(request);
  std::vector<ask::Compared> columns;
  const Provenance provenance = provenance_of([&] {
    for (const Number& delta : request.numbers("delta")) {
      Progress::report(columns.size(), request.numbers("delta").size());
      columns.push_back(ask::compare_at(request, delta));
    }
  });
  if (!options.json) {
    const std::string remark = stopwatch.remark(request.curve()->neighbours(), to_string(provenance.method));
    write_out(ask::table_of(columns, people, {options.quiet, remark}, options.find("all") != nullptr));
    return ExitCode::done;
  }
  report::JsonWriter out;
  out.begin_object().key("answer").begin_array();
  for (const ask::Compared& column : columns) {
    out.begin_object().key("delta").text(column.delta.text).key("epsilon");
    ask::write_compared(out, column, people);
    out.end_object();
  }
  write_out(out.end_array().key("method").text(to_string(provenance.method)).key("steps").steps(provenance.steps).end_object().str() +
            "\n");
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
