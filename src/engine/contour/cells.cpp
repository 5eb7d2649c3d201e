// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/cells.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "loss/evaluation.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

// [two-step-cells]
namespace tradeoff::detail {
namespace {

// About a quarter of a second of evaluations; the width decreases with the square of this number.
constexpr std::size_t most_cells = 20'000;

/// The probabilities of a half line of the first loss under P and Q.
struct CellMasses {
  Interval p = Interval::exactly(0);
  Interval q = Interval::exactly(0);
};

/// A cut of the loss axis: the masses above and below it, and the second profile there.
struct Edge {
  double loss;
  CellMasses above;
  CellMasses below;
  double profile_above;  // an upper bound of the second delta at epsilon - loss
};

struct Cell {
  Edge low;
  Edge high;
  double below = 0;
  double above = 0;

  [[nodiscard]] double gap() const { return above - below; }
};

/// The difference of two nested half lines, computed on the side where both are small.
Interval difference(Interval larger, Interval smaller) { return max(larger - smaller, Interval::exactly(0)); }

class CellSum {
 public:
  CellSum(const Loss& first, const Loss& second, Direction direction, double epsilon)
      : first_(first), second_(second), direction_(direction), epsilon_(epsilon) {}

  /// Encloses the average; refines where the two bounds differ most.
  [[nodiscard]] Interval run(double tolerance) {
    std::vector<Cell> cells = start();
    for (;;) {
      Interval total = Interval::exactly(0);
      for (const Cell& cell : cells) total = total + Interval{cell.below, cell.above};
      cells_ = cells.size();
      Work::count(6 * static_cast<double>(cells_));  // a test and a profile value at each edge
      if (total.width() <= 0.5 * tolerance * total.lo || cells.size() >= most_cells || !(total.width() > 0)) return clamp(total, 0, 1);
      const double threshold = total.width() / (2 * static_cast<double>(cells.size()));
      const std::size_t count = cells.size();
      for (std::size_t i = 0; i < count; ++i) {
        if (cells[i].gap() > threshold) split(cells, i);
      }
      if (cells.size() == count) return clamp(total, 0, 1);
    }
  }
  /// The number of cells of the last average.
  [[nodiscard]] std::size_t cells() const { return cells_; }

 private:
  /// Losses from 1e-4 to 1e3 on either side of 0 and of epsilon, where the second profile has its kink.
  [[nodiscard]] std::vector<Cell> start() const {
    std::vector<double> losses{0};
    if (epsilon_ != 0) losses.push_back(epsilon_);
    for (double size = 1e-4; size < 1e3; size *= 1.5) {
      for (const double centre : {0.0, epsilon_}) {
        losses.push_back(centre + size);
        losses.push_back(centre - size);
      }
    }
    std::sort(losses.begin(), losses.end());
    losses.erase(std::unique(losses.begin(), losses.end()), losses.end());
    std::vector<Cell> cells;
    Edge low = edge(-infinity);
    for (const double loss : losses) {
      const Edge high = edge(loss);
      cells.push_back(bounded({low, high}));
      low = high;
    }
    cells.push_back(bounded({low, edge(infinity)}));
    return cells;
  }

  [[nodiscard]] Edge edge(double loss) const {
    Edge result{loss, {}, {}, 1};
    const Interval all = Interval::exactly(1);
    if (loss == infinity) {
      // Infinite losses lie above every finite cut and belong to the last cell.
      result.below = {all, all};
    } else if (loss == -infinity) {
      result.above = {all, all};
      result.profile_above = second_.delta(direction_, Interval::exactly(infinity)).hi;
    } else {
      const auto upper = first_.test_at(direction_, loss);
      const auto lower = first_.test_at(opposite(direction_), -loss);
      result.above = upper ? CellMasses{upper->true_positive, upper->false_positive} : CellMasses{{0, 1}, {0, 1}};
      result.below = lower ? CellMasses{lower->false_positive, lower->true_positive} : CellMasses{{0, 1}, {0, 1}};
      result.profile_above = second_.delta(direction_, Interval::exactly(epsilon_) - loss).hi;
    }
    return result;
  }

  /// Merging the cell into one outcome is a lower bound (Jensen), the chord between its ends an upper one.
  [[nodiscard]] Cell bounded(Cell cell) const {
    const bool right = cell.low.above.p.hi < 0.5;
    const Interval p = right ? difference(cell.low.above.p, cell.high.above.p) : difference(cell.high.below.p, cell.low.below.p);
    const Interval q =
        cell.low.above.q.hi < 0.5 ? difference(cell.low.above.q, cell.high.above.q) : difference(cell.high.below.q, cell.low.below.q);
    cell.below = cell.above = 0;
    if (!(p.hi > 0)) return cell;
    if (p.lo > 0) {
      const Interval merged = Interval::exactly(epsilon_) + log(Interval::exactly(q.hi)) - log(Interval::exactly(p.lo));
      const double value = merged.hi == -infinity ? 1 : second_.delta(direction_, Interval::exactly(merged.hi)).lo;
      cell.below = numeric::multiply_down(p.lo, std::max(0.0, value));
    }
    // [two-step-cells] x = e^-L ranges from e^-high to e^-low; `share` is the least weight of the far end, where the profile is smaller.
    const double near = std::min(1.0, cell.high.profile_above);
    const double far = std::min(near, cell.low.profile_above);
    const double share = far_share(cell, p.hi, q.lo);
    cell.above = std::min(numeric::multiply_up(p.hi, near), ((1 - share) * near + share * far) * p.hi * (1 + 0x1p-50) + 0x1p-1070);
    return cell;
  }

  [[nodiscard]] static double far_share(const Cell& cell, double p, double q) {
    if (!(q > 0) || cell.low.loss == -infinity) return 0;
    const Interval log_ratio = log(Interval::exactly(q)) - log(Interval::exactly(p));
    Interval share = exp(log_ratio + cell.low.loss);
    if (cell.high.loss < infinity) {
      share = expm1(log_ratio + cell.high.loss) / expm1(Interval::exactly(cell.high.loss) - cell.low.loss);
    }
    return std::clamp(share.lo, 0.0, 1.0);
  }

  void split(std::vector<Cell>& cells, std::size_t index) const {
    const Cell cell = cells[index];
    double middle = cell.low.loss / 2 + cell.high.loss / 2;
    if (cell.low.loss == -infinity) middle = 2 * std::min(cell.high.loss, -1.0);
    if (cell.high.loss == infinity) middle = 2 * std::max(cell.low.loss, 1.0);
    if (!(middle > cell.low.loss && middle < cell.high.loss)) return;
    const Edge at = edge(middle);
    const Cell left = bounded({cell.low, at});
    const Cell right = bounded({at, cell.high});
    // For tiny cells the rounding of the differences may dominate; then the coarser cell is kept.
    if (!(left.gap() + right.gap() < cell.gap())) return;
    cells[index] = left;
    cells.push_back(right);
  }

  const Loss& first_;
  const Loss& second_;
  Direction direction_;
  double epsilon_;
  std::size_t cells_ = 0;
};

class TwoStepLoss final : public Loss, public Evaluable {
 public:
  TwoStepLoss(LossPointer first, LossPointer second, Tolerance tolerance)
      : first_(std::move(first)),
        second_(std::move(second)),
        tolerance_(tolerance),
        laws_(citations_of_laws({{first_, 1}, {second_, 1}})) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const auto at = [&](double e) {
      if (e == infinity) return infinite_mass(direction);
      if (e == -infinity) return Interval::exactly(1);
      return CellSum(*first_, *second_, direction, e).run(tolerance_.relative);
    };
    cite();
    record(cells());
    const Unrecorded inside;  // both steps are formulas whose theorems were recorded already
    if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
    return {at(epsilon.hi).lo, at(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return first_->symmetric() && second_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    return clamp(1.0 - (1.0 - first_->infinite_mass(direction)) * (1.0 - second_->infinite_mass(direction)), 0, 1);
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.evaluable = this, .cost = Cost::engine}; }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    cite();
    record(cells());
    const Unrecorded inside;
    CellSum sum(*first_, *second_, direction, epsilon);
    const Interval log_delta = log(sum.run(tolerance_.relative));
    found.push_back(balanced({cells().step().theorem, direction, epsilon, log_delta, {{"cells", sum.cells()}}}, "cells"));
  }

 private:
  [[nodiscard]] static const Citation& cells() {
    static const Citation average("two-step-cells", "an average of one step's profile over the other's loss, bracketed cell by cell",
                                  Method::lattice);
    return average;
  }

  LossPointer first_;
  LossPointer second_;
  Tolerance tolerance_;
  Citations laws_;
};

/// The tests of a loss without atoms: P(L > l) and P(L < l) are complements, so cells may be measured from either side.
bool has_continuous_tests(const Loss& loss) {
  return loss.capabilities(Direction::remove).atomless && loss.test_at(Direction::remove, 0).has_value();
}

}  // namespace

LossPointer compose_by_cells(const Parts& parts, Tolerance tolerance) {
  std::vector<LossPointer> steps;
  for (const Part& part : parts) {
    for (std::uint64_t k = 0; k < part.times; ++k) {
      if (steps.size() == 2) return nullptr;
      steps.push_back(part.loss);
    }
  }
  if (steps.size() != 2) return nullptr;
  if (!has_continuous_tests(*steps[0])) std::swap(steps[0], steps[1]);
  if (!has_continuous_tests(*steps[0])) return nullptr;
  return std::make_shared<const TwoStepLoss>(steps[0], steps[1], tolerance);
}

}  // namespace tradeoff::detail
