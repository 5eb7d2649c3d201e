// SPDX-License-Identifier: Apache-2.0
#include "plan/exact_pair.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/arguments.h"
#include "plan/number.h"
#include "plan/vocabulary.h"

namespace tradeoff::detail {
// [finite-pair]
namespace {

using numeric::complement;
using numeric::difference;
using numeric::product;
using numeric::ratio;
using numeric::Rational;
using numeric::sum;
using Exact = std::optional<Rational>;

constexpr Rational zero{0, 1}, one{1, 1};
constexpr std::size_t most_outcomes = 256;  // more digits than 128 bits hold are needed long before

bool less(const Rational& a, const Rational& b) { return numeric::compare(a, b) == std::strong_ordering::less; }

std::optional<ExactPair> product_of(const ExactPair& a, const ExactPair& b) {
  if (a.size() * b.size() > most_outcomes) return std::nullopt;
  ExactPair all;
  for (const ExactOutcome& first : a)
    for (const ExactOutcome& second : b) {
      const Exact with = product(first.with, second.with), without = product(first.without, second.without);
      if (!with || !without) return std::nullopt;
      if (with->numerator != 0 || without->numerator != 0) all.push_back({*with, *without});
    }
  return all;
}

std::optional<ExactPair> pair_of(const Line& line, const Vocabulary& vocabulary) {
  std::optional<ExactPair> pair;
  if (const auto* call = std::get_if<Call>(&line.source)) {
    const Word* word = vocabulary.find(Role::source, call->name);
    if (word != nullptr && word->outcomes != nullptr) pair = word->outcomes(Arguments(*call, vocabulary));
  } else {
    pair = exact_pair(std::get<Plan>(line.source), vocabulary);
  }
  for (const Call& operation : line.operators) {
    const Word* word = vocabulary.find(Role::operation, operation.name);
    if (!pair || word == nullptr) return std::nullopt;
    if (word->name == "invert") {
      for (ExactOutcome& outcome : *pair) std::swap(outcome.with, outcome.without);
    } else if (word->times != nullptr) {
      const std::uint64_t times = word->times(Arguments(operation, vocabulary));
      const ExactPair single = *pair;
      if (times == 0 || times > most_outcomes) return std::nullopt;
      for (std::uint64_t i = 1; pair && i < times; ++i) pair = product_of(*pair, single);
    } else {
      return std::nullopt;
    }
  }
  return pair;
}

/// The corners of (with, without) as null and alternative are named: reject from the largest ratio on.
std::optional<ExactCorners> corners_of(ExactPair pair) {
  std::vector<std::pair<Exact, ExactOutcome>> sorted;  // the ratio; empty for an infinite one
  Exact beta = zero;
  ExactCorners corners;
  for (const ExactOutcome& outcome : pair) {
    beta = outcome.without.numerator == 0 ? beta : sum(beta, outcome.with);
    if (outcome.without.numerator == 0) continue;
    sorted.emplace_back(ratio(outcome.with, outcome.without), outcome);
    if (!sorted.back().first) return std::nullopt;
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return less(*b.first, *a.first); });
  Exact alpha = zero;
  if (!beta) return std::nullopt;
  corners.emplace_back(zero, *beta);
  for (const auto& [likelihood, outcome] : sorted) {
    if (outcome.with.numerator == 0) break;
    alpha = sum(alpha, outcome.without);
    beta = beta ? difference(*beta, outcome.with) : std::nullopt;
    if (!alpha || !beta) return std::nullopt;
    corners.emplace_back(*alpha, *beta);
  }
  return corners;
}

/// How steeply the line from a to b falls; empty if it is not known.
Exact fall(const std::pair<Rational, Rational>& a, const std::pair<Rational, Rational>& b) {
  const Exact run = difference(b.first, a.first), drop = difference(a.second, b.second);
  return run && drop ? ratio(drop, run) : std::nullopt;
}

}  // namespace

std::optional<ExactPair> exact_pair(const Plan& plan, const Vocabulary& vocabulary) {
  std::optional<ExactPair> all = ExactPair{{one, one}};
  for (const Line& line : plan.lines) {
    const auto next = pair_of(line, vocabulary);
    all = next ? product_of(*all, *next) : std::nullopt;
    if (!all) break;
  }
  return all;
}

std::optional<ExactCorners> hull_of(ExactCorners points, const ExactCorners& other) {
  points.insert(points.end(), other.begin(), other.end());
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return less(a.first, b.first) || (a.first == b.first && less(a.second, b.second)); });
  ExactCorners hull;
  for (const auto& point : points) {
    if (!hull.empty() && !less(point.second, hull.back().second)) continue;  // not below what is reached already
    while (hull.size() >= 2) {
      const Exact before = fall(hull[hull.size() - 2], hull.back()), after = fall(hull.back(), point);
      if (!before || !after) return std::nullopt;
      if (less(*after, *before)) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

std::optional<ExactCorners> exact_corners(const ExactPair& pair, Direction direction) {
  ExactPair swapped = pair;
  for (ExactOutcome& outcome : swapped) std::swap(outcome.with, outcome.without);
  if (direction == Direction::remove) return corners_of(pair);
  auto add = corners_of(std::move(swapped));
  if (direction == Direction::add || !add) return add;
  auto remove = corners_of(pair);
  return remove ? hull_of(*std::move(remove), *add) : std::nullopt;
}

std::optional<ExactCorners> larger_of(const ExactCorners& one_curve, const ExactCorners& other) {
  std::vector<Rational> places;
  for (const ExactCorners* curve : {&one_curve, &other})
    for (const auto& corner : *curve) places.push_back(corner.first);
  std::sort(places.begin(), places.end(), less);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  ExactCorners larger;
  Exact first_before, second_before;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Exact first = exact_beta(one_curve, places[i]), second = exact_beta(other, places[i]);
    if (!first || !second) return std::nullopt;
    if (i > 0 && less(*first, *second) != less(*first_before, *second_before) && *first != *second && *first_before != *second_before) {
      // They cross where the differences of both ends are in proportion.
      const bool rises = less(*first_before, *second_before);
      const Exact here = rises ? difference(*first, *second) : difference(*second, *first);
      const Exact there = rises ? difference(*second_before, *first_before) : difference(*first_before, *second_before);
      const Exact share = ratio(there, sum(here, there)), run = difference(places[i], places[i - 1]);
      const Exact alpha = sum(places[i - 1], product(share, run));
      const Exact beta = alpha ? exact_beta(one_curve, *alpha) : std::nullopt;
      if (!beta) return std::nullopt;
      larger.emplace_back(*alpha, *beta);
    }
    larger.emplace_back(places[i], less(*first, *second) ? *second : *first);
    first_before = first;
    second_before = second;
  }
  return hull_of(std::move(larger), {});
}

std::optional<ExactPair> pair_with(const ExactCorners& corners) {
  const Exact revealed = complement(corners.front().second), rest = complement(corners.back().first);
  if (!revealed || !rest) return std::nullopt;
  ExactPair pair{{*revealed, zero}, {zero, *rest}};
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Exact with = difference(corners[i - 1].second, corners[i].second), without = difference(corners[i].first, corners[i - 1].first);
    if (!with || !without) return std::nullopt;
    pair.push_back({*with, *without});
  }
  return pair;
}

std::optional<Rational> exact_beta(const ExactCorners& corners, Rational alpha) {
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (corners[i].first == alpha) return corners[i].second;
    if (i == 0 || !less(alpha, corners[i].first)) continue;
    const Exact run = difference(alpha, corners[i - 1].first), drop = product(fall(corners[i - 1], corners[i]), run);
    return drop ? difference(corners[i - 1].second, *drop) : std::nullopt;
  }
  return zero;
}

std::optional<Rational> exact_delta(const ExactCorners& corners, Rational odds) {
  Exact least = one;
  for (const auto& [alpha, beta] : corners) {
    const Exact errors = sum(beta, product(odds, alpha));
    if (!errors) return std::nullopt;
    if (less(*errors, *least)) least = errors;
  }
  return complement(least);
}

std::optional<Rational> largest_ratio(const ExactCorners& corners) {
  if (corners.front().second != one || corners.size() < 2) return std::nullopt;
  return fall(corners[0], corners[1]);
}

std::vector<Rational> ratios_of(const ExactCorners& corners) {
  std::vector<Rational> ratios;
  for (std::size_t i = 1; i < corners.size(); ++i)
    if (const Exact slope = fall(corners[i - 1], corners[i])) ratios.push_back(*slope);
  return ratios;
}

std::optional<Rational> exact_chi_square(const ExactCorners& corners) {
  if (corners.front().second != one) return std::nullopt;
  Exact second = zero;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    const Exact with = difference(corners[i - 1].second, corners[i].second);
    second = sum(second, product(with, fall(corners[i - 1], corners[i])));
  }
  return second ? difference(*second, one) : std::nullopt;
}

namespace {

bool is_one_pair(const Plan& plan, const Vocabulary& vocabulary);

/// Whether all plans in the value are such plans.
bool are_one_pair(const Value& value, const Vocabulary& vocabulary) {
  if (const auto* inner = std::get_if<Plan>(&value.content)) return is_one_pair(*inner, vocabulary);
  const auto* list = std::get_if<List>(&value.content);
  return list == nullptr ||
         std::all_of(list->items.begin(), list->items.end(), [&](const Value& item) { return are_one_pair(item, vocabulary); });
}

/// Whether every neighbouring relation asks for the listed pair, in the worse of both orders: not where several pairs are combined, each of
/// which may be seen in either order. The larger and the smaller of curves keep the worse order.
bool is_one_pair(const Plan& plan, const Vocabulary& vocabulary) {
  if (plan.lines.size() != 1) return false;
  const Line& line = plan.lines.front();
  if (std::any_of(line.operators.begin(), line.operators.end(), [](const Call& call) { return call.name != "invert"; })) return false;
  const auto* source = std::get_if<Call>(&line.source);
  if (source == nullptr) return is_one_pair(std::get<Plan>(line.source), vocabulary);
  const Word* word = vocabulary.find(Role::source, source->name);
  if (word == nullptr || (holds_plans(*word) && word->name != "strongest" && word->name != "weakest")) return false;
  return std::all_of(source->arguments.begin(), source->arguments.end(),
                     [&](const Argument& argument) { return are_one_pair(argument.value, vocabulary); });
}

}  // namespace

std::vector<WrittenGuarantee> computed_guarantees(const Plan& plan, const Vocabulary& vocabulary) {
  if (!is_one_pair(plan, vocabulary)) return {};
  const auto pair = exact_pair(plan, vocabulary);
  const auto corners = pair ? exact_corners(*pair, Direction::worst) : std::nullopt;
  const Exact advantage = corners ? exact_delta(*corners, one) : std::nullopt;
  if (!advantage) return {};
  const auto number = [](const Rational& value) { return make_number(numeric::to_quotient(value), 0); };
  std::vector<WrittenGuarantee> found{{number(zero), number(*advantage), true}};
  const Exact revealed = complement(corners->front().second);
  if (!revealed || revealed->numerator == 0 || corners->size() < 2) return found;
  const Exact ratio = fall(corners->at(0), corners->at(1));
  if (!ratio) return found;
  const double loss = log(numeric::enclose(numeric::to_quotient(*ratio))).hi;
  found.push_back({make_number({numeric::exact_decimal(std::max(0.0, loss)), numeric::exact_decimal(1)}, 0), number(*revealed), true});
  return found;
}

}  // namespace tradeoff::detail
