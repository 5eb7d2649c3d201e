// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "asks.h"
#include "inquiry.h"
#include "limit/classical.h"
#include "nearest.h"
#include "progress.h"
#include "streams.h"
#include "tradeoff/compare.h"
#include "tradeoff/gdp.h"

namespace tradeoff::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> items;
  std::size_t from = 0;
  for (std::size_t comma = 0; comma != std::string::npos; from = comma + 1) {
    comma = text.find(',', from);
    std::string item = text.substr(from, comma == std::string::npos ? comma : comma - from);
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<std::string> methods_of(const Question& question) {
  if (!question.has("method")) return {};
  const std::vector<std::string>& known = comparison_methods();
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::vector<std::string> wanted = split(question.text("method"));
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list = "one of";
      for (const std::string& one : known) list += " " + one;
      question.refuse("method", list + did_you_mean(name, names));
    }
  return wanted;
}

struct Compared {
  std::string delta;  ///< as it was written
  Interval value;
  Comparison found;
};

Compared compared(const Question& question) {
  const Interval delta = question.probability("delta");
  return {question.text("delta"), delta,
          compare_methods(question.plan(), delta, question.neighbours(), question.tolerance(), methods_of(question))};
}

/// How many people `name and shame` is asked about; 0 if it is not.
std::uint64_t people_of(const Question& question) {
  if (!question.has("people")) return 0;
  const Interval people = question.number("people");
  if (!(people.lo >= 1 && people.hi <= 1e15 && people.lo == people.hi && people.lo == std::floor(people.lo)))
    question.refuse("people", "a whole number from 1 to 1e15");
  return static_cast<std::uint64_t>(people.lo);
}

void write(report::JsonWriter& out, const MethodRow& row) {
  out.key(row.method);
  switch (row.kind) {
    case RowKind::bound:
      out.interval(row.epsilon);
      return;
    case RowKind::estimate:
      out.begin_object().key("estimate").number(row.epsilon.lo).end_object();
      return;
    case RowKind::at_least:
      out.begin_object().key("at_least").interval(row.epsilon).end_object();
      return;
    case RowKind::refused:
      out.begin_object().key("refused").text(row.remark).end_object();
  }
}

void write(report::JsonWriter& out, const Compared& one, std::uint64_t people) {
  out.begin_object();
  for (const MethodRow& row : one.found.rows) write(out, row);
  out.key("best").begin_object().key("method").text(one.found.best).key("epsilon").interval(one.found.epsilon).end_object();
  out.key("remarks").begin_object();
  for (const MethodRow& row : one.found.rows)
    if (row.kind != RowKind::refused) out.key(row.method).text(row.remark);
  out.end_object().key("warnings").begin_array();
  for (const std::string& warning : one.found.warnings) out.text(warning);
  out.end_array();
  if (people > 0) out.key("name_and_shame").interval(name_and_shame(one.value, people));
  out.end_object();
}

constexpr int cell_digits = 6;  // more than a decision needs, few enough for four columns

std::string cell(const MethodRow& row) {
  switch (row.kind) {
    case RowKind::bound:
      return report::safe_end(row.epsilon, report::SafeEnd::hi, cell_digits);
    case RowKind::estimate:
      return "~" + report::safe_end(row.epsilon, report::SafeEnd::hi, cell_digits);
    case RowKind::at_least:
      return ">" + report::safe_end(row.epsilon, report::SafeEnd::lo, cell_digits);
    case RowKind::refused:
      break;
  }
  return "-";
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string text_of(const std::vector<Compared>& columns, std::uint64_t people, const report::Style& style) {
  std::string text = padded("epsilon at delta =", 22);
  for (const Compared& column : columns) text += padded(column.delta, 10);
  text += "\n";
  std::string refused;
  for (std::size_t i = 0; i < columns.front().found.rows.size(); ++i) {
    const MethodRow& first = columns.front().found.rows[i];
    const auto spoke =
        std::find_if(columns.begin(), columns.end(), [i](const Compared& column) { return column.found.rows[i].kind != RowKind::refused; });
    for (const Compared& column : columns)
      if (const MethodRow& row = column.found.rows[i];
          row.kind == RowKind::refused && (spoke != columns.end() || &column == &columns.front()))
        refused += "  " + padded(row.method, 20) + (spoke != columns.end() ? "at " + column.delta + ": " : "") + row.remark + "\n";
    if (spoke == columns.end()) continue;
    text += padded("  " + first.method, 22);
    for (const Compared& column : columns) text += padded(cell(column.found.rows[i]), 10);
    text += spoke->found.rows[i].remark + "\n";
  }
  for (const Compared& column : columns) {
    const std::string by = column.found.best.empty() ? "" : "; by " + column.found.best;
    const report::Claim claim{"epsilon", column.found.epsilon, report::SafeEnd::hi, "at delta = " + column.delta, {}};
    text += to_text(claim, {style.quiet, style.remark + by});
  }
  if (!style.quiet) {
    if (!refused.empty()) text += "refused:\n" + refused;
    for (const Compared& column : columns)
      for (const std::string& warning : column.found.warnings) text += "warning: at delta = " + column.delta + " " + warning + "\n";
  }
  if (people > 0)
    for (const Compared& column : columns)
      text += "delta = " + column.delta + " allows a mechanism that publishes one of " + std::to_string(people) +
              " people with probability " + report::safe_end(name_and_shame(column.value, people), report::SafeEnd::hi, 4) + "\n";
  return text;
}

/// The ways to measure the head on [0, epsilon_max], and what each costs.
Answer answer_head_methods(const Question& question) {
  if (!(question.at_least_zero("epsilon_max").lo > 0)) question.refuse("epsilon_max", "above 0");
  if (question.has("width") && !(question.at_least_zero("width").lo > 0)) question.refuse("width", "above 0");
  if (question.has("delta")) question.refuse("delta", "left out when epsilon_max is given: that compares ways to measure mu");
  const double width = question.has("width") ? question.number("width").lo : 0.01;
  const auto curve = question.curve();
  const std::vector<std::string> methods = question.has("method") ? split(question.text("method")) : std::vector<std::string>{};
  const auto rows = compare_head_methods(*curve, question.number("epsilon_max").hi, width, methods);
  return {[rows](report::JsonWriter& out) {
            out.begin_object();
            for (const HeadMethod& row : rows) {
              out.key(row.method).begin_object();
              if (row.refusal.empty())
                out.key("mu").interval(row.mu);
              else
                out.key("refused").text(row.refusal);
              out.key("evaluations").integer(row.evaluations).key("searches").integer(row.searches).end_object();
            }
            out.end_object();
          },
          [rows, condition = "for epsilon <= " + question.text("epsilon_max") + " alone"](const report::Style& style) {
            std::string text = padded("mu " + condition, 52) + padded("evaluations", 13) + "searches\n";
            for (const HeadMethod& row : rows)
              text += padded("  " + row.method, 16) + padded(row.refusal.empty() ? report::between(row.mu) : "-", 36) +
                      padded(std::to_string(row.evaluations), 13) + padded(std::to_string(row.searches), 10) + row.refusal + "\n";
            return style.quiet ? text : text + "(" + style.remark + ")\n";
          },
          curve};
}

}  // namespace

Answer answer_compare(const Question& question) {
  if (question.direction() != Direction::worst) question.refuse("direction", "worst: the theorems speak of both orders at once");
  if (question.has("epsilon_max")) return answer_head_methods(question);
  const auto one = std::make_shared<const Compared>(compared(question));
  const std::uint64_t people = people_of(question);
  return {[one, people](report::JsonWriter& out) { write(out, *one, people); },
          [one, people](const report::Style& style) { return text_of({*one}, people, style); }, question.curve()};
}

ExitCode run_compare(const Verb& verb, const Options& options) {
  if (options.find("epsilon-max") != nullptr) return run_ask(verb, options);
  if (options.find("delta") == nullptr)
    throw RequestError("parse", "give --delta, or --epsilon-max to compare ways to measure mu", "delta", 0);
  const Stopwatch stopwatch;
  CurveCache curves;
  std::vector<Compared> columns;
  std::uint64_t people = 0;
  Neighbours neighbours = Neighbours::unstated;
  const std::vector<std::string> deltas = split(*options.find("delta"));
  const Provenance provenance = provenance_of([&] {
    for (const std::string& delta : deltas) {
      Progress::report(columns.size(), deltas.size());
      Request request = to_request("compare", options);
      for (Request::Field& field : request.fields)
        if (field.name == "delta") field.text = delta;
      const Question question(request, curves);
      if (question.direction() != Direction::worst) question.refuse("direction", "worst: the theorems speak of both orders at once");
      columns.push_back(compared(question));
      people = people_of(question);
      neighbours = question.curve()->neighbours();
    }
  });
  if (!options.json) {
    write_out(text_of(columns, people, {options.quiet, stopwatch.remark(neighbours, to_string(provenance.method))}));
    return ExitCode::done;
  }
  report::JsonWriter out;
  out.begin_object().key("answer").begin_array();
  for (const Compared& column : columns) {
    out.begin_object().key("delta").text(column.delta).key("epsilon");
    write(out, column, people);
    out.end_object();
  }
  write_out(out.end_array().key("method").text(to_string(provenance.method)).key("steps").steps(provenance.steps).end_object().str() +
            "\n");
  return ExitCode::done;
}

}  // namespace tradeoff::cli
