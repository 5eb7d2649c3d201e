// SPDX-License-Identifier: Apache-2.0
#include "ask/compare.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <tuple>

#include "limit/classical.h"
#include "plan/did_you_mean.h"
#include "report/exact_numbers.h"
#include "report/label.h"
#include "tradeoff/research.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 5> compare_fields = {{
    {"delta", "where epsilon is compared; one number, or several on the command line", Kind::numbers, probability},
    {"method", "these methods alone", Kind::words},
    {"people", "also the chance that an allowed mechanism publishes one of so many people", Kind::number,
     whole_numbers("a whole number from 1 to 1e15", 1, 1e15)},
    {"epsilon_max", "instead of delta: compare ways to measure mu up to this epsilon", Kind::number, above_zero},
    {"width", "with epsilon_max: how narrow the measurements should be; 0.01 by default", Kind::number, above_zero},
}};

std::vector<std::string> methods_of(const Request& request) {
  if (!request.has("method")) return {};
  const std::vector<std::string>& known = comparison_methods();
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::vector<std::string> wanted = request.words("method");
  for (const std::string& name : wanted)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list = "one of";
      for (const std::string& one : known) list += " " + one;
      request.refuse("method", list + did_you_mean(name, names));
    }
  return wanted;
}

void write_row(report::JsonWriter& out, const MethodRow& row) {
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

}  // namespace

namespace {

/// At delta 0 the methods that add up largest losses agree; at other deltas the loss alone is bounded by one of its values.
std::string exact_of(const MethodRow& row, const Request& request, const Number& delta, const std::string& epsilon) {
  constexpr std::array<std::string_view, 6> adding = {"exact", "basic", "kairouz", "murtagh_vadhan", "loss_tail", "loss_pair"};
  if (row.kind != RowKind::bound) return {};
  if (row.method == "exact") return epsilon;
  if (delta.value.hi == 0) return std::find(adding.begin(), adding.end(), row.method) != adding.end() ? epsilon : std::string();
  return row.method == "loss_tail" ? report::exact_loss(request.plan(), row.epsilon) : std::string();
}

}  // namespace

Compared compare_at(const Request& request, const Number& delta) {
  request.require_both_directions("the theorems cover both directions at once");
  Compared made{
      delta, compare_methods(request.plan(), delta.value, request.neighbours(), request.tolerance(), methods_of(request)), {}, {}};
  const std::string epsilon = report::exact_epsilon(request.plan(), delta, made.found.epsilon);
  for (const MethodRow& row : made.found.rows) made.exact.push_back(exact_of(row, request, delta, epsilon));
  if (made.found.epsilon.hi < Interval::whole().hi) made.exact_epsilon = epsilon;
  return made;
}

std::uint64_t people_of(const Request& request) { return request.has("people") ? request.whole("people") : 0; }

void write_compared(report::JsonWriter& out, const Compared& one, std::uint64_t people) {
  out.begin_object();
  for (const MethodRow& row : one.found.rows) write_row(out, row);
  out.key("best").begin_object().key("method").text(one.found.best).key("epsilon").interval(one.found.epsilon).end_object();
  out.key("remarks").begin_object();
  for (const MethodRow& row : one.found.rows)
    if (row.kind != RowKind::refused) out.key(row.method).text(row.remark);
  out.end_object().key("warnings").begin_array();
  for (const std::string& warning : one.found.warnings) out.text(warning);
  out.end_array();
  if (people > 0) out.key("name_and_shame").interval(name_and_shame(one.delta.value, people));
  out.end_object();
}

namespace {

constexpr int cell_digits = 6;  // enough for a decision; four columns fit on a line

/// A column of its own has room for ten digits.
std::string cell(const Compared& column, std::size_t i, bool alone) {
  const MethodRow& row = column.found.rows[i];
  switch (row.kind) {
    case RowKind::bound:
      if (const std::string& exact = column.exact[i]; !exact.empty()) return claimed(row.epsilon, report::SafeEnd::hi, exact);
      return alone ? report::claimed_briefly(row.epsilon, report::SafeEnd::hi)
                   : report::safe_end(row.epsilon, report::SafeEnd::hi, cell_digits);
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

/// The indices of the rows: first the bounds, from the smallest epsilon to the largest, then the other rows in the order of the methods.
std::vector<std::size_t> best_first(const std::vector<MethodRow>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&rows](std::size_t i) {
    const bool is_bound = rows[i].kind == RowKind::bound;
    return std::tuple(!is_bound, is_bound ? rows[i].epsilon.hi : 0, i);
  };
  std::sort(order.begin(), order.end(), [&rank](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

}  // namespace

std::string table_of(const std::vector<Compared>& columns, std::uint64_t people, const report::Style& style, bool refusals) {
  std::string text = padded("epsilon at delta =", 22);
  const bool alone = columns.size() == 1;
  std::size_t cells = 10;  // the width of a column
  for (const Compared& column : columns)
    for (std::size_t i = 0; i < column.found.rows.size(); ++i) cells = std::max(cells, cell(column, i, alone).size() + 2);
  for (const Compared& column : columns) text += padded(column.delta.text, cells);
  text += "\n";
  std::string refused;
  std::size_t silent = 0;  // methods without a row
  for (const std::size_t i : best_first(columns.front().found.rows)) {
    const MethodRow& first = columns.front().found.rows[i];
    const auto spoke =
        std::find_if(columns.begin(), columns.end(), [i](const Compared& column) { return column.found.rows[i].kind != RowKind::refused; });
    for (const Compared& column : columns)
      if (const MethodRow& row = column.found.rows[i];
          row.kind == RowKind::refused && (spoke != columns.end() || &column == &columns.front()))
        refused += "  " + padded(row.method, 20) +
                   report::wrapped((spoke != columns.end() ? "at " + column.delta.text + ": " : "") + row.remark, 22, 22);
    if (spoke == columns.end()) {
      ++silent;
      continue;
    }
    text += padded("  " + first.method, 22);
    for (const Compared& column : columns) text += padded(cell(column, i, alone), cells);
    const std::size_t used = 22 + cells * columns.size();
    text +=
        alone ? report::wrapped(spoke->found.rows[i].remark, used, used) : "\n      " + report::wrapped(spoke->found.rows[i].remark, 6, 6);
  }
  if (style.quiet) text.clear();
  for (const Compared& column : columns) {
    const std::string by = column.found.best.empty() ? "" : "; by " + column.found.best;
    const report::Claim claim{"epsilon", column.found.epsilon, report::SafeEnd::hi, "at delta = " + column.delta.text,
                              {},        column.exact_epsilon};
    text += to_text(claim, {style.quiet, style.remark + by});
  }
  if (!style.quiet) {
    if (refusals && !refused.empty()) text += "refused:\n" + refused;
    if (!refusals && silent > 0)
      text += std::to_string(silent) + (silent == 1 ? " method does" : " methods do") + " not cover this plan; --all says why\n";
    for (const Compared& column : columns)
      for (const std::string& warning : column.found.warnings) text += "warning: at delta = " + column.delta.text + " " + warning + "\n";
  }
  if (people > 0)
    for (const Compared& column : columns)
      text += "delta = " + column.delta.text + " allows a mechanism that publishes one of " + std::to_string(people) +
              " people with probability " + report::claimed(name_and_shame(column.delta.value, people), report::SafeEnd::hi) + "\n";
  return text;
}

namespace {

/// The methods of measuring the head on [0, epsilon_max], and the cost of each.
Answer answer_head_methods(const Request& request) {
  if (request.has("delta")) request.refuse("delta", "left out when epsilon_max is given: that compares ways to measure mu");
  const double width = request.has("width") ? request.value("width").lo : 0.01;
  const auto curve = request.curve();
  const std::vector<std::string> methods = request.has("method") ? request.words("method") : std::vector<std::string>{};
  const auto rows = compare_head_methods(*curve, request.value("epsilon_max").hi, width, methods);
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
          [rows, condition = "for epsilon <= " + request.text("epsilon_max") + " alone"](const report::Style& style) {
            std::string text = padded("mu " + condition, 52) + padded("evaluations", 13) + "searches\n";
            for (const HeadMethod& row : rows)
              text += padded("  " + row.method, 16) + padded(row.refusal.empty() ? report::between(row.mu) : "-", 36) +
                      padded(std::to_string(row.evaluations), 13) + padded(std::to_string(row.searches), 10) + row.refusal + "\n";
            return style.quiet ? text : text + "(" + style.remark + ")\n";
          },
          curve};
}

Answer answer_compare(const Request& request) {
  request.require_both_directions("the theorems cover both directions at once");
  if (request.has("epsilon_max")) return answer_head_methods(request);
  if (request.numbers("delta").size() != 1) request.refuse("delta", "one number");
  const auto one = std::make_shared<const Compared>(compare_at(request, request.number("delta")));
  const std::uint64_t people = people_of(request);
  return {[one, people](report::JsonWriter& out) { write_compared(out, *one, people); },
          [one, people](const report::Style& style) { return table_of({*one}, people, style); }, request.curve()};
}

}  // namespace

constinit const Question compare_question{.name = "compare",
                                          .meaning = "epsilon by every method, from basic composition to the exact answer",
                                          .fields = compare_fields,
                                          .answer = answer_compare};

}  // namespace tradeoff::detail::ask
