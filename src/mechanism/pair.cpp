// SPDX-License-Identifier: Apache-2.0
#include "mechanism/pair.h"

#include <algorithm>
#include <compare>
#include <optional>

#include "loss/key.h"
#include "mechanism/finite.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "plan/exact_pair.h"
#include "plan/number.h"
#include "plan/table_file.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

std::string key_of(const char* family, const std::vector<Interval>& first, const std::vector<Interval>& second) {
  std::string key = family;
  for (const auto* side : {&first, &second})
    for (const Interval& value : *side) key += make_key(";", {value});
  return key;
}

[[noreturn]] void refuse_curve_row(std::size_t row, const std::string& fault) {
  throw DomainError("curve: row " + std::to_string(row + 1) + ": " + fault);
}

void check_curve_row(const std::vector<std::pair<Interval, Interval>>& points, std::size_t row) {
  const auto [alpha, beta] = points[row];
  if (!(alpha.lo >= 0 && alpha.hi <= 1)) refuse_curve_row(row, "alpha must be between 0 and 1");
  if (!(beta.lo >= 0 && beta.hi <= 1)) refuse_curve_row(row, "beta must be between 0 and 1");
  if ((alpha + beta).lo > 1) refuse_curve_row(row, "beta lies above 1 - alpha, where no trade-off function is");
  if (row == 0) return;
  if (!(alpha.lo > points[row - 1].first.hi)) refuse_curve_row(row, "alpha must be larger than in the row before");
  if (beta.lo > points[row - 1].second.hi) refuse_curve_row(row, "beta must not rise");
}

}  // namespace

// [finite-pair]
LossPointer pair_loss(const std::vector<Interval>& p, const std::vector<Interval>& q) {
  return finite_loss(atoms_of_pair(p, q), key_of("pair", p, q),
                     {Citation("finite-pair", "the likelihood ratio takes finitely many values")});
}

// [finite-pair] Each edge of the polygon is an outcome: its Q mass is the change of alpha, its P mass the change of beta. The gap at alpha
// = 0 is mass at infinite loss; the part beyond the last point has P mass 0.
// [tradeoff-functions]
LossPointer polygon_loss(const std::vector<std::pair<Interval, Interval>>& points) {
  if (points.size() < 2) throw DomainError("curve: at least two points are needed");
  for (std::size_t row = 0; row < points.size(); ++row) check_curve_row(points, row);
  if (points.front().first.hi > 0) refuse_curve_row(0, "the first alpha must be 0");
  if (points.back().second.hi > 0) refuse_curve_row(points.size() - 1, "the last beta must be 0");
  std::vector<Interval> p{1.0 - points.front().second};
  std::vector<Interval> q{Interval::exactly(0)};
  Interval steeper = Interval::exactly(infinity);
  for (std::size_t row = 1; row < points.size(); ++row) {
    q.push_back(points[row].first - points[row - 1].first);
    p.push_back(max(points[row - 1].second - points[row].second, Interval::exactly(0)));
    const Interval slope = p.back() / q.back();
    if (slope.lo > steeper.hi) refuse_curve_row(row, "the curve is not convex there: it falls faster than before");
    steeper = slope;
  }
  p.push_back(Interval::exactly(0));
  q.push_back(max(1.0 - points.back().first, Interval::exactly(0)));
  return finite_loss(atoms_of_pair(p, q), key_of("curve", p, q),
                     {Citation("finite-pair", "a polygon is the trade-off function of a finite pair")});
}

namespace {

std::vector<Interval> values_of(const std::vector<Number>& numbers) {
  std::vector<Interval> values;
  for (const Number& number : numbers) values.push_back(number.value);
  return values;
}

LossPointer make_pair_source(const Arguments& arguments, const WordContext&) {
  return pair_loss(values_of(arguments.numbers("p")), values_of(arguments.numbers("q")));
}

std::optional<ExactPair> outcomes_of_pair(const Arguments& arguments) {
  const std::vector<Number> p = arguments.numbers("p"), q = arguments.numbers("q");
  std::optional<numeric::Rational> all_p = numeric::Rational{}, all_q = all_p;
  ExactPair outcomes;
  for (std::size_t i = 0; i < std::min(p.size(), q.size()); ++i) {
    const auto one = exact_rational(p[i]), other = exact_rational(q[i]);
    if (!one || !other) return std::nullopt;
    all_p = sum(all_p, one);
    all_q = sum(all_q, other);
    outcomes.push_back({*one, *other});
  }
  constexpr numeric::Rational one{1, 1};
  return p.size() == q.size() && all_p == one && all_q == one ? std::optional(outcomes) : std::nullopt;
}

LossPointer make_curve(const Arguments& arguments, const WordContext&) { return polygon_loss(rows_of(arguments)); }

std::optional<ExactPair> outcomes_of_curve(const Arguments& arguments) {
  if (!arguments.has("points")) return std::nullopt;
  ExactCorners corners;
  for (const auto& [alpha, beta] : arguments.pairs("points")) {
    const auto place = exact_rational(alpha), value = exact_rational(beta);
    if (!place || !value) return std::nullopt;
    corners.emplace_back(*place, *value);
  }
  const bool whole = !corners.empty() && corners.front().first.numerator == 0 && corners.back().second.numerator == 0;
  return whole ? pair_with(corners) : std::nullopt;
}

}  // namespace

Word pair_word() {
  return {.role = Role::source,
          .name = "pair",
          .meaning = "a finite pair of distributions",
          .parameters = {{"p", Kind::numbers, "probabilities with the record"}, {"q", Kind::numbers, "probabilities without the record"}},
          .make = make_pair_source,
          .outcomes = outcomes_of_pair};
}

Word curve_word() {
  return {.role = Role::source,
          .name = "curve",
          .meaning = "a trade-off function of your own",
          .parameters = {{.name = "file", .kind = Kind::text, .meaning = "table of alpha, beta", .form = 1},
                         {.name = "points", .kind = Kind::pairs, .meaning = "list of (alpha, beta)", .form = 2}},
          .stated = true,
          .make = make_curve,
          .outcomes = outcomes_of_curve};
}

}  // namespace tradeoff::detail
