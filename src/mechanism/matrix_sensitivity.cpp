// SPDX-License-Identifier: Apache-2.0
#include "mechanism/matrix_sensitivity.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "numeric/arithmetic.h"
#include "numeric/conversions.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr std::uint64_t most_comb_work = 400'000'000;     // additions of intervals: some seconds
constexpr std::uint64_t most_bound_steps = 20'000;        // a general matrix needs time n^2 k
constexpr std::uint64_t most_bound_work = 6'000'000'000;  // about ten seconds
constexpr std::uint64_t most_tree_work = 2'000'000'000;
constexpr std::uint64_t most_stored = 50'000'000;  // numbers kept at once

[[noreturn]] void refuse_size(const std::string& what) { throw TooLargeError("matrix: " + what); }

/// Doubles near the entries of a column, the norm of these doubles and that of what they miss; both rounded up.
struct NearColumn {
  std::vector<double> values;
  double norm = 0;
  double missed = 0;
};

NearColumn near_column(std::span<const Interval> entries) {
  NearColumn near;
  Interval norm = Interval::exactly(0), missed = Interval::exactly(0);
  for (const Interval& entry : entries) {
    near.values.push_back(middle_of(entry));
    const Interval value = Interval::exactly(near.values.back());
    norm = norm + square(value);
    missed = missed + square(entry - value);
  }
  near.norm = sqrt(norm).hi;
  near.missed = sqrt(missed).hi;
  return near;
}

/// [matrix-sensitivity] Bounds |sum a_i b_i - computed| for a sum of `terms` products of the near doubles, in any order, rounded to
/// nearest: 2 (terms + 2) u times the sum of their sizes, and the numbers that the doubles miss. Both by the Cauchy-Schwarz inequality.
double error_of_product(const NearColumn& a, const NearColumn& b, std::size_t terms) {
  const Interval rounding = Interval::exactly(2 * static_cast<double>(terms + 2) * unit_roundoff);
  const Interval a_norm = Interval::exactly(a.norm), b_norm = Interval::exactly(b.norm);
  const Interval a_missed = Interval::exactly(a.missed), b_missed = Interval::exactly(b.missed);
  const double underflow = static_cast<double>(terms + 1) * 0x1p-1021;  // of products that are no normal numbers
  return (rounding * a_norm * b_norm + a_norm * b_missed + a_missed * b_norm + a_missed * b_missed + underflow).hi;
}

/// The sum of the products, by four sums that can run side by side.
double rounded_product(const double* a, const double* b, std::size_t terms) {
  double sums[4] = {0, 0, 0, 0};
  for (std::size_t i = 0; i < terms; ++i) sums[i % 4] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// An upper bound of a sum of non-negative numbers, computed with at most `roundings` roundings to nearest on the way to each of its terms.
double above_rounded(double computed, std::uint64_t roundings) {
  const double excess = 2 * static_cast<double>(roundings) * unit_roundoff;  // (1 - u)^-r <= 1 + 2 r u as long as r u <= 1/2
  return numeric::multiply_up(computed, numeric::add_up(1, excess));
}

/// What the general bounds need from a matrix: its entries, and the sizes of G = C^T C.
struct Columns {
  using UseRow = std::function<void(std::size_t column, std::size_t from, std::span<const double> sizes)>;

  std::size_t steps = 0;
  std::function<Interval(std::size_t row, std::size_t column)> at;
  /// One more than the last row in which the column is not 0.
  std::function<std::size_t(std::size_t column)> end_of;
  /// Calls its argument for every column t, in any order, with sizes[s] >= |G_st| for all s <= t; those with s < from are 0.
  std::function<void(const UseRow&)> for_each_row;
};

using Steps = std::vector<std::size_t>;

/// A set of steps and an upper bound of sum |G_st| over all allowed sets.
struct BoundAndSteps {
  double bound = 0;
  Steps steps;
};

// [matrix-sensitivity] For s_1 < ... < s_r allowed, sum |G| = sum_j (|G_jj| + 2 sum_{i<j} |G_ij|), and s_1, ..., s_{j-1} is an allowed set
// of j - 1 steps before s_j: each row is bounded on its own, then the sum of the bounds.
BoundAndSteps ranked_rows_bound(const Columns& matrix, std::size_t count, std::size_t separation) {
  const std::size_t n = matrix.steps;
  std::vector<double> ranked(n * count);  // of step t as the (j+1)-th of its set
  std::vector<double> fewer(n), more(n);
  matrix.for_each_row([&](std::size_t t, std::size_t from, std::span<const double> sizes) {
    double* const row = &ranked[t * count];
    std::fill(row, row + count, sizes[t]);
    if (t < from + separation) return;
    const std::size_t last = t - separation;  // the latest step before t
    std::fill(fewer.begin() + static_cast<std::ptrdiff_t>(from), fewer.begin() + static_cast<std::ptrdiff_t>(last) + 1, 0.0);
    for (std::size_t j = 1; j < count; ++j) {
      double best = 0;
      for (std::size_t s = from; s <= last; ++s) {
        best = std::max(best, sizes[s] + (s >= from + separation ? fewer[s - separation] : 0.0));
        more[s] = best;
      }
      row[j] = sizes[t] + 2 * best;
      std::swap(fewer, more);
      if (from + j * separation > last) {  // there is no room for more
        std::fill(row + j + 1, row + count, row[j]);
        break;
      }
    }
  });
  // best[j][t]: the largest sum over sets of j + 1 steps, none after t.
  std::vector<std::vector<double>> best(count, std::vector<double>(n, -infinity));
  for (std::size_t j = 0; j < count; ++j)
    for (std::size_t t = j * separation; t < n; ++t) {
      const double with = ranked[t * count + j] + (j == 0 ? 0.0 : best[j - 1][t - separation]);
      best[j][t] = std::max(with, t > 0 ? best[j][t - 1] : -infinity);
    }
  std::size_t most = 0;
  for (std::size_t j = 1; j < count; ++j)
    if (best[j][n - 1] > best[most][n - 1]) most = j;
  BoundAndSteps found{above_rounded(best[most][n - 1], 2 * count + 4), {}};
  for (std::size_t j = most + 1, t = n - 1; j-- > 0;) {
    while (t > 0 && best[j][t] == best[j][t - 1]) --t;
    found.steps.push_back(t);
    if (j > 0) t -= separation;
  }
  std::reverse(found.steps.begin(), found.steps.end());
  return found;
}

/// The same over the sets i, i + separation, ...: the sums themselves.
BoundAndSteps comb_rows_bound(const Columns& matrix, std::size_t count, std::size_t separation) {
  std::vector<double> sums(matrix.steps, 0.0);
  matrix.for_each_row([&](std::size_t t, std::size_t, std::span<const double> sizes) {
    double before = 0;
    for (std::size_t j = 0; j < count && j * separation <= t; ++j) {
      const std::size_t first = t - j * separation;
      if (j > 0) before += sizes[first];
      sums[first] += sizes[t] + 2 * before;
    }
  });
  const auto worst = std::max_element(sums.begin(), sums.end());
  BoundAndSteps found{above_rounded(*worst, 2 * count + 4), {}};
  for (auto t = static_cast<std::size_t>(worst - sums.begin()); t < matrix.steps && found.steps.size() < count; t += separation)
    found.steps.push_back(t);
  return found;
}

/// Signs that make |sum of the signed columns| large: a search, which proves nothing.
std::vector<double> good_signs(const Columns& matrix, const Steps& steps) {
  std::vector<double> signs(steps.size(), 0.0);
  std::vector<double> sum(matrix.steps, 0.0);
  constexpr int sweeps = 4;  // the first chooses all signs, the others improve them
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t j = 0; j < steps.size(); ++j) {
      const std::size_t column = steps[j];
      double overlap = 0;
      for (std::size_t row = column; row < matrix.end_of(column); ++row) {
        const double entry = middle_of(matrix.at(row, column));
        sum[row] -= signs[j] * entry;
        overlap += sum[row] * entry;
      }
      signs[j] = overlap < 0 ? -1 : 1;
      for (std::size_t row = column; row < matrix.end_of(column); ++row) sum[row] += signs[j] * middle_of(matrix.at(row, column));
    }
  }
  return signs;
}

/// [matrix-sensitivity] The squared norm of one signed sum of columns: a lower bound.
double attained(const Columns& matrix, const Steps& steps) {
  const std::vector<double> signs = good_signs(matrix, steps);
  std::vector<Interval> sum(matrix.steps, Interval::exactly(0));
  for (std::size_t j = 0; j < steps.size(); ++j)
    for (std::size_t row = steps[j]; row < matrix.end_of(steps[j]); ++row)
      sum[row] = signs[j] > 0 ? sum[row] + matrix.at(row, steps[j]) : sum[row] - matrix.at(row, steps[j]);
  Interval squared = Interval::exactly(0);
  for (const Interval& one : sum) squared = squared + square(one);
  return squared.lo;
}

Steps comb_from(std::size_t first, std::size_t count, const Participation& allowed) {
  Steps steps;
  for (std::size_t j = 0; j < count && first + j * allowed.separation < allowed.steps; ++j) steps.push_back(first + j * allowed.separation);
  return steps;
}

/// [matrix-sensitivity] Bounds for any matrix: sum |G| above, one signed sum of columns below. They agree up to rounding if the worst set
/// is found and no entry of G that it uses is negative.
MatrixSensitivity general_sensitivity(const Columns& matrix, const Participation& allowed) {
  const std::uint64_t count = allowed.largest_count();
  if (matrix.steps > most_bound_steps)
    refuse_size(std::to_string(matrix.steps) + " steps are too many for coefficients that do not fall to 0 or for a full matrix; at most " +
                std::to_string(most_bound_steps) + " are supported");
  if (count * matrix.steps > most_stored || count * matrix.steps * matrix.steps / 2 > most_bound_work)
    refuse_size("steps * steps * participations is too large for coefficients that do not fall to 0 or for a full matrix");
  const std::size_t k = numeric::to_size(count);
  const std::size_t b = numeric::to_size(allowed.separation);
  const BoundAndSteps above = allowed.every ? comb_rows_bound(matrix, k, b) : ranked_rows_bound(matrix, k, b);
  double below = attained(matrix, above.steps);
  if (!allowed.every) below = std::max(below, attained(matrix, comb_from(0, k, allowed)));
  return {sqrt(Interval{below, std::max(below, above.bound)}), "bounded by the sizes of the entries of C^T C"};
}

/// Sums of the leading squares: the squared norms of the columns of a Toeplitz matrix, from the last column on.
std::vector<Interval> leading_squares(std::span<const Interval> coefficients) {
  std::vector<Interval> sums{Interval::exactly(0)};
  sums.reserve(coefficients.size() + 1);
  for (const Interval& one : coefficients) sums.push_back(sums.back() + square(one));
  return sums;
}

/// The rows of the Gram matrix of a Toeplitz matrix, from the last column to the first: G_{t-d,t} = sum_{m < n-t} c_m c_{m+d}.
void for_each_toeplitz_row(std::span<const Interval> c, std::size_t n, const Columns::UseRow& use) {
  const std::size_t width = std::min(c.size(), n);
  const NearColumn near = near_column(c.first(width));
  const double error = error_of_product(near, near, width);
  std::vector<double> diagonals(width, 0.0), sizes(n, 0.0);
  for (std::size_t t = n; t-- > 0;) {
    const std::size_t m = n - 1 - t;
    if (m < width) {
      const double factor = near.values[m];
      for (std::size_t d = 0; d < width - m; ++d) diagonals[d] += factor * near.values[m + d];
    }
    const std::size_t from = t + 1 > width ? t + 1 - width : 0;
    if (from > 0) sizes[from - 1] = 0;
    for (std::size_t s = from; s <= t; ++s)
      sizes[s] = (std::abs(diagonals[t - s]) + error) * (1 + 0x1p-51);  // the factor covers the addition
    use(t, from, sizes);
  }
}

/// [matrix-sensitivity] Coefficients that fall to 0: the norm of the sum of the columns 0, b, 2b, ...
Interval comb_norm(std::span<const Interval> c, const Participation& allowed) {
  const std::uint64_t n = allowed.steps, b = allowed.separation, k = allowed.largest_count(), m = c.size();
  const std::uint64_t rows = std::min(n, (k - 1) * b + m);  // (k - 1) b < n
  const bool endless = m == n && k == (n - 1) / b + 1;      // a column never ends, so the sum of a row continues that of row - b
  if (!endless && rows * std::min(k, m / b + 1) > most_comb_work) refuse_size("steps * participations is too large");
  std::vector<Interval> sums(endless ? numeric::to_size(n) : 0);
  Interval squared = Interval::exactly(0);
  for (std::uint64_t row = 0; row < rows; ++row) {
    Interval sum = Interval::exactly(0);
    if (endless) {
      sum = row >= b ? sums[row - b] + c[row] : c[row];
      sums[row] = sum;
    } else {
      const std::uint64_t first = row >= m ? (row - m) / b + 1 : 0;  // columns that ended before this row are left out
      for (std::uint64_t j = first; j < k && j * b <= row; ++j) sum = sum + c[row - j * b];
    }
    squared = squared + square(sum);
  }
  return sqrt(squared);
}

// --- the complete binary tree: the squared sensitivity is the largest sum over all nodes of (participations below the node)^2 ---

/// The participations that leaves of a node of this size can have at most.
std::uint64_t most_below(std::uint64_t leaves, const Participation& allowed) {
  return std::min(allowed.largest_count(), (leaves - 1) / allowed.separation + 1);
}

/// The sum over all nodes for the set first, first + b, ...
std::uint64_t tree_sum_of_comb(std::uint64_t first, const Participation& allowed) {
  const std::uint64_t b = allowed.separation;
  const std::uint64_t count = std::min(allowed.largest_count(), (allowed.steps - 1 - first) / b + 1);
  std::uint64_t sum = 0;
  for (std::uint64_t size = 1; size <= allowed.steps; size *= 2) {
    for (std::uint64_t j = 0; j < count;) {
      const std::uint64_t end = ((first + j * b) / size + 1) * size;  // of the node that contains this step
      const std::uint64_t here = std::min(count - j, (end - 1 - (first + j * b)) / b + 1);
      sum += here * here;
      j += here;
    }
  }
  return sum;
}

/// [tree-sensitivity] At each level no node has more than r participations and all together have k, so the sum of their squares is largest
/// if as many nodes as possible have r.
std::uint64_t tree_sum_above(const Participation& allowed) {
  const std::uint64_t k = allowed.largest_count();
  std::uint64_t sum = 0;
  for (std::uint64_t size = 1; size <= allowed.steps; size *= 2) {
    const std::uint64_t r = most_below(size, allowed);
    sum += k / r * r * r + (k % r) * (k % r);
  }
  return sum;
}

/// The best sum below one node for each number of participations, if none of them is among the first `front` or the last `back` leaves.
class TreeTable {
 public:
  TreeTable(std::size_t most, std::size_t separation)
      : separation_(separation), values_(numeric::to_size(std::uint64_t{most + 1} * separation * separation), impossible), most_(most) {}

  static constexpr std::int64_t impossible = std::numeric_limits<std::int64_t>::min() / 4;
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::int64_t& at(std::size_t count, std::size_t front, std::size_t back) {
    return values_[(count * separation_ + front) * separation_ + back];
  }
  [[nodiscard]] std::int64_t at(std::size_t count, std::size_t front, std::size_t back) const {
    return values_[(count * separation_ + front) * separation_ + back];
  }

 private:
  std::size_t separation_;
  std::vector<std::int64_t> values_;
  std::size_t most_;
};

/// The best sum for two subtrees of this size below one node, without the node itself.
std::int64_t joined(const TreeTable& half, std::uint64_t size, std::size_t separation, std::size_t count, std::size_t front,
                    std::size_t back) {
  std::int64_t best = TreeTable::impossible;
  const std::size_t b = separation;
  if (count <= half.most()) {
    best = std::max(best, half.at(count, front > size ? front - numeric::to_size(size) : 0, back));  // all on the right
    best = std::max(best, half.at(count, front, back > size ? back - numeric::to_size(size) : 0));   // all on the left
  }
  for (std::size_t left = count > half.most() ? count - half.most() : 1; left <= half.most() && left < count; ++left)
    for (std::size_t gap = 0; gap < b; ++gap)  // the last on the left and the first on the right are at least b apart
      best = std::max(best, half.at(left, front, gap) + half.at(count - left, b - 1 - gap, back));
  return best;
}

std::uint64_t tree_table_work(const Participation& allowed) {
  const double b = static_cast<double>(allowed.separation);
  double work = 0;
  for (std::uint64_t size = 1; size < allowed.steps; size *= 2) {
    const auto k = static_cast<double>(most_below(size, allowed));
    const bool last = 2 * size >= allowed.steps;
    work += k * k * b * (last ? 1 : b * b);
  }
  return work > 1e18 ? std::uint64_t{1'000'000'000'000'000'000} : static_cast<std::uint64_t>(work);
}

/// [tree-sensitivity] Exactly, from the leaves up: all nodes of one level have the same table.
std::uint64_t tree_sum_by_table(const Participation& allowed) {
  const std::size_t b = numeric::to_size(allowed.separation);
  TreeTable below(1, b);
  below.at(1, 0, 0) = 1;
  for (std::size_t front = 0; front < b; ++front)
    for (std::size_t back = 0; back < b; ++back) below.at(0, front, back) = 0;
  for (std::uint64_t size = 1; size < allowed.steps; size *= 2) {
    const bool root = 2 * size >= allowed.steps;
    TreeTable node(numeric::to_size(most_below(2 * size, allowed)), b);
    for (std::size_t count = 0; count <= node.most(); ++count)
      for (std::size_t front = 0; front < (root ? 1 : b); ++front)
        for (std::size_t back = 0; back < (root ? 1 : b); ++back) {
          const std::int64_t halves = count == 0 ? 0 : joined(below, size, b, count, front, back);
          const auto own = static_cast<std::int64_t>(std::uint64_t{count} * count);
          node.at(count, front, back) = halves < 0 ? TreeTable::impossible : halves + own;
        }
    below = std::move(node);
  }
  std::int64_t best = 0;
  for (std::size_t count = 0; count <= below.most(); ++count) best = std::max(best, below.at(count, 0, 0));
  return static_cast<std::uint64_t>(best);
}

Interval root_of_whole(std::uint64_t value) { return sqrt(Interval::exactly(value)); }

}  // namespace

std::uint64_t Participation::largest_count() const { return std::min(most, (steps - 1) / separation + 1); }

LowerTriangle::LowerTriangle(std::vector<Interval> entries, std::size_t rows) : entries_(std::move(entries)), rows_(rows) {
  if (rows == 0 || entries_.size() != rows * (rows + 1) / 2) throw std::invalid_argument("LowerTriangle: the number of entries is wrong");
  for (std::size_t column = 0; column < rows; ++column) {
    std::size_t end = rows;
    while (end > column + 1 && at(end - 1, column) == Interval::exactly(0)) --end;
    ends_.push_back(end);
    bandwidth_ = std::max(bandwidth_, end - column);
  }
}

MatrixSensitivity toeplitz_sensitivity(std::span<const Interval> coefficients, bool falling, const Participation& allowed) {
  const std::size_t width = std::min<std::uint64_t>(coefficients.size(), allowed.steps);
  const std::span<const Interval> c = coefficients.first(width);
  if (falling) return {comb_norm(c, allowed), "exactly, because the coefficients fall to 0"};
  const std::uint64_t count = allowed.largest_count();
  if (count == 1 || width <= allowed.separation) {
    const std::vector<Interval> squares = leading_squares(c);
    Interval sum = Interval::exactly(0);
    for (std::uint64_t j = 0; j < count; ++j) sum = sum + squares[std::min<std::uint64_t>(width, allowed.steps - j * allowed.separation)];
    return {sqrt(sum), count == 1 ? "exactly, as the largest norm of a column" : "exactly, because the columns of a record are orthogonal"};
  }
  if (allowed.steps > most_bound_steps)
    refuse_size(std::to_string(allowed.steps) + " steps are too many for coefficients that do not fall to 0; at most " +
                std::to_string(most_bound_steps) + " are supported");
  const std::size_t n = numeric::to_size(allowed.steps);
  return general_sensitivity({.steps = n,
                              .at = [c](std::size_t row, std::size_t column) { return c[row - column]; },
                              .end_of = [c, n](std::size_t column) { return std::min(n, column + c.size()); },
                              .for_each_row = [c, n](const Columns::UseRow& use) { for_each_toeplitz_row(c, n, use); }},
                             allowed);
}

MatrixSensitivity triangle_sensitivity(const LowerTriangle& matrix, const Participation& allowed) {
  const std::size_t n = matrix.rows();
  if (allowed.steps != n) throw std::invalid_argument("triangle_sensitivity: the matrix has another number of rows");
  const std::uint64_t count = allowed.largest_count();
  if (count > 1 && matrix.bandwidth() > allowed.separation) {
    const auto for_each_row = [&matrix, n](const Columns::UseRow& use) {
      std::vector<NearColumn> columns;
      for (std::size_t t = 0; t < n; ++t) {
        std::vector<Interval> entries;
        for (std::size_t row = t; row < matrix.end_of(t); ++row) entries.push_back(matrix.at(row, t));
        columns.push_back(near_column(entries));
      }
      std::vector<double> sizes(n, 0.0);
      for (std::size_t t = 0; t < n; ++t) {
        for (std::size_t s = 0; s <= t; ++s) {
          const std::size_t end = std::min(matrix.end_of(s), matrix.end_of(t));
          const std::size_t terms = end > t ? end - t : 0;  // the columns overlap in rows t, ..., end - 1
          const double product = terms == 0 ? 0.0 : rounded_product(&columns[s].values[t - s], columns[t].values.data(), terms);
          const double error = terms == 0 ? 0.0 : error_of_product(columns[s], columns[t], terms);
          sizes[s] = (std::abs(product) + error) * (1 + 0x1p-51);  // the factor covers the addition
        }
        use(t, 0, sizes);
      }
    };
    return general_sensitivity({.steps = n,
                                .at = [&matrix](std::size_t row, std::size_t column) { return matrix.at(row, column); },
                                .end_of = [&matrix](std::size_t column) { return matrix.end_of(column); },
                                .for_each_row = for_each_row},
                               allowed);
  }
  // Orthogonal columns: squared norms add.
  std::vector<Interval> squares;
  for (const Interval& norm : triangle_norms(matrix)) squares.push_back(square(norm));
  const std::size_t b = numeric::to_size(std::min<std::uint64_t>(allowed.separation, n));
  Interval best = Interval::exactly(0);
  if (allowed.every) {
    for (std::size_t first = 0; first < n; ++first) {
      Interval sum = Interval::exactly(0);
      for (const std::size_t t : comb_from(first, numeric::to_size(count), allowed)) sum = sum + squares[t];
      best = max(best, sum);
    }
  } else {
    std::vector<Interval> fewer(n + b, Interval::exactly(0)), more(n + b, Interval::exactly(0));  // the first b are before step 0
    for (std::uint64_t j = 0; j < count; ++j) {
      for (std::size_t t = 0; t < n; ++t) more[t + b] = max(t > 0 ? more[t + b - 1] : Interval::exactly(0), squares[t] + fewer[t]);
      std::swap(fewer, more);
    }
    best = fewer[n + b - 1];
  }
  return {sqrt(best), count == 1 ? "exactly, as the largest norm of a column" : "exactly, because the columns of a record are orthogonal"};
}

MatrixSensitivity tree_sensitivity(const Participation& allowed) {
  if (!std::has_single_bit(allowed.steps)) throw std::invalid_argument("tree_sensitivity: the number of leaves is not a power of two");
  const std::uint64_t count = allowed.largest_count();
  constexpr std::uint64_t most_count = 10'000'000;  // then every sum of squares is below 2^53 and needs no more than seconds
  if (count > most_count) refuse_size("more than 10000000 participations of one record are not supported");
  if (count == 1)
    return {root_of_whole(static_cast<std::uint64_t>(std::countr_zero(allowed.steps)) + 1), "exactly, as the depth of the tree"};
  const auto levels = static_cast<std::uint64_t>(std::countr_zero(allowed.steps)) + 1;
  if (allowed.every) {
    const std::uint64_t last = count == (allowed.steps - 1) / allowed.separation + 1 ? allowed.separation : allowed.steps;
    if (static_cast<double>(last) * static_cast<double>(count) * static_cast<double>(levels) <= static_cast<double>(most_tree_work)) {
      std::uint64_t best = 0;
      for (std::uint64_t first = 0; first < std::min(last, allowed.steps); ++first) best = std::max(best, tree_sum_of_comb(first, allowed));
      return {root_of_whole(best), "exactly, over all first steps"};
    }
  } else if (tree_table_work(allowed) <= most_tree_work) {
    return {root_of_whole(tree_sum_by_table(allowed)), "exactly, over all sets of steps"};
  }
  std::uint64_t below = 0;
  constexpr std::uint64_t tried = 16;
  for (std::uint64_t first = 0; first < std::min(tried, allowed.steps); ++first) below = std::max(below, tree_sum_of_comb(first, allowed));
  return {hull(root_of_whole(below), root_of_whole(tree_sum_above(allowed))), "bounded level by level"};
}

std::vector<Interval> square_root_coefficients(std::size_t count) {
  std::vector<Interval> c{Interval::exactly(1)};
  c.reserve(count);
  for (std::size_t j = 1; j < count; ++j) c.push_back(c.back() * Interval::exactly(2 * j - 1) / Interval::exactly(2 * j));
  return c;
}

std::vector<Interval> buffered_coefficients(std::span<const Interval> scales, std::span<const Interval> decays, std::size_t count) {
  std::vector<Interval> c{Interval::exactly(1)};
  c.reserve(count);
  std::vector<Interval> terms(scales.begin(), scales.end());
  while (c.size() < count) {
    Interval sum = Interval::exactly(0);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      sum = sum + terms[i];
      terms[i] = terms[i] * decays[i];
    }
    c.push_back(sum);
  }
  return c;
}

std::vector<Interval> toeplitz_norms(std::span<const Interval> coefficients, std::size_t steps) {
  const std::vector<Interval> squares = leading_squares(coefficients.first(std::min(coefficients.size(), steps)));
  std::vector<Interval> norms;
  norms.reserve(steps);
  for (std::size_t t = 0; t < steps; ++t) norms.push_back(sqrt(squares[std::min(squares.size() - 1, steps - t)]));
  return norms;
}

std::vector<Interval> triangle_norms(const LowerTriangle& matrix) {
  std::vector<Interval> norms;
  for (std::size_t column = 0; column < matrix.rows(); ++column) {
    Interval sum = Interval::exactly(0);
    for (std::size_t row = column; row < matrix.end_of(column); ++row) sum = sum + square(matrix.at(row, column));
    norms.push_back(sqrt(sum));
  }
  return norms;
}

}  // namespace tradeoff::detail
