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

std::string to_csv(const CurveTable& table) {
  const std::string quantity(table.quantity);
  std::string text = std::string(table.argument) + "," + quantity + "_lo," + quantity + "_hi\n";
  for (const auto& [at, value] : table.rows) {
    JsonWriter shortest;
    text += shortest.number(at).str() + "," + numeric::to_text_below(value.lo) + "," + numeric::to_text_above(value.hi) + "\n";
  }
  return text;
}

std::string to_json(const CurveTable& table) {
  JsonWriter out;
  out.begin_array();
  for (const auto& [at, value] : table.rows) {
    out.begin_object().key(table.argument).number(at).key(table.quantity).interval(value).end_object();
  }
  return out.end_array().str();
}

}  // namespace tradeoff::detail::report
