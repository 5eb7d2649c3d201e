// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mechanism/finite.h"
#include "mechanism/sparse_vector.h"
#include "mechanism/test_polygon.h"
#include "numeric/arithmetic.h"
#include "numeric/binomial.h"

// Streams of two kinds of queries that move relative to each other: which kind is answered "above" tells about the record whatever the
// noise of the threshold is. They show what a sparse vector with many answers "above" reveals at least. [sparse-vector-witness]
namespace tradeoff::detail {
namespace {

Citations origin_of(const char* kinds) {
  return {{"sparse-vector-witness", std::string("lower ends: explicit streams of two kinds of queries, ") + kinds +
                                        "; what any other stream reveals is not covered"}};
}

/// The chance of the larger loss t of the two-point law with losses t and t - shift.
Interval chance_of_larger(Interval t, Interval shift) { return clamp(expm1(t - shift) / expm1(-shift), 0, 1); }

/// The best common t for so many answers at this epsilon, about: one of those at which a sum of losses reaches it. [bounded-range-adaptive]
double best_loss(double shift, double answers, double epsilon) {
  double best = shift / 2, found = -1;
  for (double falls = 0; falls < answers; falls = std::ceil(falls * 1.15 + 0.5)) {
    const double t = std::min(shift, (epsilon + (falls + 1) * shift) / (answers + 1));
    const Interval p = chance_of_larger(Interval::exactly(t), Interval::exactly(shift)), q = p * exp(-Interval::exactly(t));
    const auto count = static_cast<std::uint64_t>(answers), least = static_cast<std::uint64_t>(answers - falls);
    const double value = middle_of(numeric::binomial_tail(count, clamp(p, 0, 1), least)) -
                         std::exp(epsilon) * middle_of(numeric::binomial_tail(count, clamp(q, 0, 1), least));
    if (value > found) found = value, best = t;
  }
  return best;
}

}  // namespace

// [sparse-vector-witness]
LossPointer sparse_vector_rare_answers(const SparseVector& vector, double share, bool ordered) {
  const double shift = vector.query_shift().lo, answers = static_cast<double>(vector.positives);
  const double epsilon = share * answers * shift;
  constexpr double small_share = 0.3;  // up to it the symmetric choice is about as strong, and needs no coin
  const bool symmetric = !ordered && share < small_share;
  const double t = symmetric ? shift / 2 : best_loss(shift, answers, epsilon);
  const Interval s = Interval::exactly(shift), p = chance_of_larger(Interval::exactly(t), s);
  std::vector<Atom> atoms;
  for (std::uint64_t falls = 0; falls <= vector.positives; ++falls) {
    const Interval mass = numeric::binomial_mass(vector.positives, clamp(1.0 - p, 0, 1), falls);
    atoms.push_back({Interval::exactly(answers) * t - Interval::exactly(falls) * s, mass});
  }
  const Interval none = Interval::exactly(0);
  const Atoms found = make_atoms(std::move(atoms), none, none, symmetric);
  return finite_loss(ordered || symmetric ? found : either_order(found), {}, origin_of("at levels where answers above are rare"));
}

namespace {

/// log(S/(1 - S)) of the survival S of Laplace noise of scale 1.
Interval log_odds(Interval y) {
  const auto at = [](double x) {
    const Interval size = Interval::exactly(std::abs(x)), found = -size - log(2.0 - exp(-size));
    return x >= 0 ? found : -found;
  };
  return {at(y.hi).lo, at(y.lo).hi};
}

/// P(R <= r) of Laplace noise of scale 1.
Interval laplace_distribution(Interval r) {
  const auto at = [](double x) { return x < 0 ? exp(Interval::exactly(x)) / 2.0 : 1.0 - exp(Interval::exactly(-x)) / 2.0; };
  return {at(r.lo).lo, at(r.hi).hi};
}

/// Pairs of queries of both kinds near one level, in units of the noise of a query. The noise of the threshold lies in one of the cells.
class PairedQueries {
 public:
  PairedQueries(const SparseVector& vector, double level)
      : shift_(Interval::exactly(vector.query_shift().lo)), before_(vector.movement == Movement::any ? 0.5 : 0), level_(level) {
    const Interval ratio = vector.threshold_scale / vector.query_scale;
    constexpr std::array<double, 15> ends{-30, -12, -8, -5, -3, -1.5, -0.5, 0, 0.5, 1.5, 3, 5, 8, 12, 30};
    Interval below = Interval::exactly(0);
    Interval left{-infinity, -infinity};
    for (const double end : ends) {
      const Interval reached = laplace_distribution(Interval::exactly(end)), right = level + end * ratio;
      cells_.push_back({left, right, clamp(reached - below, 0, 1)});
      below = reached;
      left = right;
    }
    cells_.push_back({left, {infinity, infinity}, clamp(1.0 - below, 0, 1)});
    limit_pairs(vector.positives);
  }

  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }

  /// Of so many pairs with different answers, at least `least` have the query of the first kind above: its probability with the record, and
  /// at most that without it.
  [[nodiscard]] TestPoint test(std::uint64_t least) const {
    Interval without = Interval::exactly(0);
    for (const Cell& cell : cells_)
      without = without + cell.chance * numeric::binomial_tail(pairs_, clamp(1.0 / (1.0 + exp(least_log_ratio(cell))), 0, 1), least);
    const Interval with = numeric::binomial_tail(pairs_, Interval::exactly(0.5), least);
    return {std::clamp(without.hi, 0.0, 1.0), std::clamp(numeric::multiply_down(complete_, with.lo), 0.0, 1.0)};
  }

 private:
  struct Cell {
    Interval left, right;  // the distance of the threshold from the level
    Interval chance;
  };

  /// The log-odds of both kinds differ by at least this much without the record. They fall the less the farther the queries are from the
  /// threshold, and never less than by the shift.
  [[nodiscard]] Interval least_log_ratio(const Cell& cell) const {
    const auto at = [&](Interval center) { return log_odds(center - shift_ / 2.0) - log_odds(center + shift_ / 2.0); };
    if (!(cell.left.lo > -infinity && cell.right.hi < infinity)) return Interval::exactly(shift_.lo);
    const double least = std::min(at(cell.left).lo, at(cell.right).lo);
    return Interval::exactly(std::max(least, shift_.lo));
  }

  /// As many pairs with different answers as are likely to be complete before the last answer above.
  void limit_pairs(std::uint64_t positives) {
    const double most = static_cast<double>(positives), p = 0.5 * std::exp(-level_), each = 1 / (1 - p);
    const double spread = 2 * std::sqrt(p / (2 - p)) / (2 * (1 - p) / (2 - p));
    double pairs = most / each;
    for (int i = 0; i < 20; ++i) pairs = std::max(1.0, (most - 1.3 * spread * std::sqrt(pairs)) / each);
    pairs_ = static_cast<std::uint64_t>(std::max(1.0, std::floor(std::min(pairs, most - 1))));
    // Of pairs with an answer above, some have two. Fewer of them if the threshold is farther to the right. The last answer above may end a
    // pair early, so it is not used.
    const std::uint64_t doubles = (positives - 1 - std::min(pairs_, positives - 1)) / 2;
    double sum = 0;
    for (const Cell& cell : cells_) {
      if (!(cell.left.lo > -infinity)) continue;
      const Interval place = cell.left - (before_ > 0 ? Interval::exactly(0) : shift_ / 2.0);
      const Interval odds = exp(log_odds(place)), above = odds / (1.0 + odds);
      const Interval different = clamp(2.0 * (1.0 - above) / (2.0 - above), 0, 1);
      sum = numeric::add_down(sum, (cell.chance * numeric::binomial_tail(pairs_ + doubles, different, pairs_)).lo);
    }
    complete_ = std::max(0.0, sum);
  }

  Interval shift_;
  double before_;  // which part of the shift the queries of the second kind make
  double level_;
  std::vector<Cell> cells_;
  std::uint64_t pairs_ = 1;
  double complete_ = 0;  // at least so likely
};

std::vector<TestPoint> tests_at(const PairedQueries& queries, std::size_t count) {
  std::vector<TestPoint> points;
  const double most = static_cast<double>(queries.pairs());
  for (std::size_t i = 0; i <= count; ++i)
    points.push_back(
        queries.test(static_cast<std::uint64_t>(std::round(most * (0.3 + 0.7 * static_cast<double>(i) / static_cast<double>(count))))));
  return points;
}

}  // namespace

// [sparse-vector-witness]
LossPointer sparse_vector_paired_queries(const SparseVector& vector, bool ordered) {
  double best = -1, level = 0;
  for (const double one : {0.0, 0.3, 0.8, 1.6}) {
    double found = 0;
    for (const auto& [without, with] : tests_at(PairedQueries(vector, one), 8)) found = std::max(found, with - without);
    if (found > best) best = found, level = one;
  }
  const std::vector<TestPoint> tests = polygon_over(tests_at(PairedQueries(vector, level), 40));
  const Atoms atoms = ordered             ? atoms_of_polygon(tests)
                      : vector.directed() ? symmetric_atoms_of_polygon(tests)
                                          : either_order(atoms_of_polygon(tests));
  return finite_loss(atoms, {}, origin_of("in pairs near the threshold"));
}

}  // namespace tradeoff::detail
