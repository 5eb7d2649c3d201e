// SPDX-License-Identifier: Apache-2.0
#include "report/curve_table.h"

#include <cmath>

#include "curve/cached_profile.h"
#include "loss/question_scope.h"
#include "numeric/number_text.h"
#include "report/json.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail::report {
namespace {

constexpr double least_delta = 1e-10;    // beyond the epsilon of this delta a plot shows nothing
constexpr double fallback_epsilon = 10;  // if there is no such epsilon

double position(std::size_t index, std::size_t points) {
  return points < 2 ? 0 : static_cast<double>(index) / static_cast<double>(points - 1);
}

template <typename Value>
CurveTable sample_epsilons(std::size_t points, double last, std::string_view quantity, Value value_at) {
  CurveTable table{"epsilon", quantity, {}};
  for (std::size_t i = 0; i < points; ++i) {
    const double epsilon = last * position(i, points);
    table.rows.push_back({epsilon, value_at(Interval::exactly(epsilon))});
  }
  return table;
}

}  // namespace

double tradeoff_place(std::size_t index, std::size_t points) {
  const double t = position(index, points);
  return t * t * t;  // a hundred points reach down to one in a million
}

CurveTable sample_tradeoff(const Curve& asked, Direction direction, std::size_t points) {
  const QuestionScope together;
  const Curve curve = cached_curve(asked);
  CurveTable table{"alpha", "beta", {}};
  for (std::size_t i = 0; i < points; ++i) {
    const double alpha = tradeoff_place(i, points);
    table.rows.push_back({alpha, curve.beta_at(Interval::exactly(alpha), direction)});
  }
  return table;
}

double last_epsilon(const Curve& curve, Direction direction) {
  const double found = curve.epsilon_at(Interval::exactly(least_delta), direction).hi;
  return std::isfinite(found) && found > 0 ? found : fallback_epsilon;
}

CurveTable sample_profile(const Curve& asked, Direction direction, std::size_t points) {
  const QuestionScope together;
  const Curve curve = cached_curve(asked);
  return sample_epsilons(points, last_epsilon(curve, direction), "delta",
                         [&](Interval epsilon) { return curve.delta_at(epsilon, direction); });
}

CurveTable sample_gdp_transform(const Curve& asked, Direction direction, std::size_t points) {
  const QuestionScope together;
  const Curve curve = cached_curve(asked);
  return sample_epsilons(points, last_epsilon(curve, direction), "mu",
                         [&](Interval epsilon) { return gdp_transform_at(curve, epsilon, direction); });
}

CurveTable sample_at(const Curve& asked, View view, Direction direction, const std::vector<Number>& places) {
  const QuestionScope together;
  const Curve curve = cached_curve(asked);
  CurveTable table{view == View::tradeoff ? "alpha" : "epsilon",
                   view == View::tradeoff  ? "beta"
                   : view == View::profile ? "delta"
                                           : "mu",
                   {}};
  for (const Number& place : places) {
    const Interval at = place.value;
    table.rows.push_back({at.lo,
                          view == View::tradeoff  ? curve.beta_at(place, direction)
                          : view == View::profile ? curve.delta_at(place, direction)
                                                  : gdp_transform_at(curve, at, direction),
                          place.text});
  }
  return table;
}

namespace {

std::string header_of(const CurveTable& table) {
  const std::string quantity(table.quantity);
  return std::string(table.argument) + "," + quantity + "_lo," + quantity + "_hi\n";
}

std::string place_of(const CurveTable::Row& row) {
  if (!row.text.empty()) return row.text;
  JsonWriter shortest;
  return shortest.number(row.at).str();
}

std::string line_of(const CurveTable::Row& row) {
  return place_of(row) + "," + numeric::to_text_below(row.value.lo) + "," + numeric::to_text_above(row.value.hi) + "\n";
}

/// One cell: in quotes, each quote inside doubled.
std::string csv_cell(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c == '\n' ? ';' : c);
  return cell + "\"";
}

}  // namespace

std::string to_csv(const CurveTable& table) {
  std::string text = header_of(table);
  for (const CurveTable::Row& row : table.rows) text += line_of(row);
  return text;
}

std::string to_csv(const std::vector<std::pair<std::string, CurveTable>>& tables) {
  if (tables.empty()) return {};
  std::string text = "plan," + header_of(tables.front().second);
  for (const auto& [plan, table] : tables)
    for (const CurveTable::Row& row : table.rows) text += csv_cell(plan) + "," + line_of(row);
  return text;
}

std::string to_json(const CurveTable& table) {
  JsonWriter out;
  out.begin_array();
  for (const CurveTable::Row& row : table.rows)
    out.begin_object().key(table.argument).number(row.at).key(table.quantity).interval(row.value).end_object();
  return out.end_array().str();
}

}  // namespace tradeoff::detail::report
