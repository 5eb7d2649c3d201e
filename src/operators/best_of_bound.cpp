// SPDX-License-Identifier: Apache-2.0
#include "operators/best_of_bound.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "loss/atoms.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail {
namespace {

// Accuracy only; no bound depends on these.
constexpr double gap_for_formula = 1e-5, gap_for_engine = 1e-4;  // relative change of phi'(w) by one more reading of the base
constexpr std::size_t readings_of_formula = 3000, readings_of_engine = 240;
constexpr double cell_step = 0.02;  // relative change of phi' over a cell
constexpr std::size_t most_cells = 9000;
constexpr double near_largest = 0.9;  // cells with such a share of the largest ratio are cut again
constexpr int cuts_near_largest = 16;
constexpr double chord_excess = 5e-4;   // of a chord over the largest line, relative
constexpr double largest_start = 1e30;  // a larger z0 improves nothing
constexpr int split_count = 20;
constexpr std::size_t atoms_to_read = 400;

}  // namespace

double ReadProfile::read(double epsilon) const { return std::min(1.0, base_->delta(direction_, Interval::exactly(epsilon)).hi); }

double ReadProfile::entry(long long place) {
  const auto known = table_.find(place);
  if (known != table_.end()) return known->second;
  return table_.emplace(place, read(static_cast<double>(place) * step_)).first->second;
}

double ReadProfile::above(double epsilon) {
  if (step_ == 0) return read(epsilon);
  const double place = std::floor(epsilon / step_);
  if (!(std::abs(place) < 1e9)) return read(epsilon);
  const auto left = static_cast<long long>(place);
  const Interval start = Interval::exactly(place) * step_, from = Interval::exactly(entry(left)), to = Interval::exactly(entry(left + 1));
  if (to.hi >= from.hi) return from.hi;
  const Interval share = clamp(expm1(Interval::exactly(epsilon) - start) / expm1(Interval::exactly(step_)), 0, 1);
  return std::min(from.hi, (from - share * (from - to)).hi);
}

double SelectionBound::Cell::largest_ratio() const {
  const auto ratio = [](double above, double below) { return below > 0 ? numeric::divide_up(above, below) : above > 0 ? infinity : 0; };
  return std::max(ratio(above_left, below_left), ratio(above_right, below_right));
}

SelectionBound::SelectionBound(const Loss& base, Direction direction, const RunsLaw& law) : law_(law), mean_(law.mean().hi) {
  read_supports(base, direction);
  cut_cells();
  make_splits();
}

// [best-of-runs] P(B) <= delta(e) + e^e Q(B), so Q(B) >= e^-e (u - delta(e)) if P(B) >= u, for every real e.
void SelectionBound::read_supports(const Loss& base, Direction direction) {
  const bool slow = base.cost() != Cost::formula;
  ReadProfile profile(base, direction);
  const auto support_at = [&](double epsilon) { return Support{epsilon, exp(Interval::exactly(-epsilon)).lo, profile.above(epsilon)}; };
  const auto sort = [this] {
    std::sort(supports_.begin(), supports_.end(), [](const Support& one, const Support& other) { return one.epsilon > other.epsilon; });
    const auto equal = [](const Support& one, const Support& other) { return one.epsilon == other.epsilon; };
    supports_.erase(std::unique(supports_.begin(), supports_.end(), equal), supports_.end());
  };
  supports_ = {{infinity, 0, 0}};
  for (double epsilon = 0; epsilon <= 64; epsilon += epsilon < 2 ? 0.5 : epsilon < 16 ? 1 : 8)
    for (const double signed_epsilon : {epsilon, -epsilon}) supports_.push_back(support_at(signed_epsilon));
  const LargestLoss largest = base.tail().largest;
  const bool adds = direction == Direction::add;
  for (const double end : {adds ? largest.add.hi : largest.remove.hi, adds ? -largest.remove.hi : -largest.add.hi})
    if (std::abs(end) > 0 && std::abs(end) < 600) supports_.push_back(support_at(end));
  if (const Atoms* const atoms = base.atoms(direction); atoms != nullptr && atoms->finite.size() <= atoms_to_read)  // the corners of w
    for (const Atom& atom : atoms->finite)
      if (std::abs(atom.loss.hi) < 600) supports_.push_back(support_at(atom.loss.hi));
  sort();
  const double tolerated = slow ? gap_for_engine : gap_for_formula;
  const std::size_t most = slow ? readings_of_engine : readings_of_formula;
  for (bool more = true; more && supports_.size() < most;) {
    std::vector<double> next;
    for (std::size_t i = 1; i + 1 < supports_.size(); ++i)
      if (weight_of_gap(i) > tolerated && supports_[i].epsilon - supports_[i + 1].epsilon > 1e-7)
        next.push_back((supports_[i].epsilon + supports_[i + 1].epsilon) / 2);
    more = !next.empty();
    for (const double epsilon : next)
      if (supports_.size() < most) supports_.push_back(support_at(epsilon));
    sort();
  }
}

/// Where the lines of two adjacent supports cross; the true curve is at most a chord above that point.
double SelectionBound::crossing(std::size_t left) const {
  const Support &one = supports_[left], &other = supports_[left + 1];
  return std::clamp((other.ratio * other.delta - one.ratio * one.delta) / (other.ratio - one.ratio), 0.0, 1.0);
}

/// How much a reading between two supports can change phi'(w), relatively.
double SelectionBound::weight_of_gap(std::size_t left) const {
  const double here = crossing(left), before = here - crossing(left - 1);
  const double after = (left + 2 < supports_.size() ? crossing(left + 1) : 1) - here;
  if (!(before > 0 && after > 0)) return 0;
  const double gap = (supports_[left + 1].ratio - supports_[left].ratio) * before * after / (before + after);
  const Interval w = Interval::exactly(std::clamp(supports_[left].ratio * (here - supports_[left].delta), 0.0, 1.0));
  return gap * law_.curvature(w).hi / (law_.slope(w).hi + 1e-4 * law_.slope(Interval::exactly(here)).hi);
}

/// The supports that are the largest somewhere on [0, 1]. It decides about accuracy only: each support is a bound everywhere.
std::vector<std::size_t> SelectionBound::envelope() const {
  std::vector<std::size_t> kept;
  const auto meet = [&](std::size_t i, std::size_t j) {
    return (supports_[j].ratio * supports_[j].delta - supports_[i].ratio * supports_[i].delta) / (supports_[j].ratio - supports_[i].ratio);
  };
  for (std::size_t i = 0; i < supports_.size(); ++i) {
    if (!(supports_[i].ratio * (1 - supports_[i].delta) > 0) && i > 0) continue;
    if (!kept.empty() && !(supports_[i].ratio > supports_[kept.back()].ratio)) continue;
    while (kept.size() >= 2 && meet(kept.back(), i) <= meet(kept[kept.size() - 2], kept.back())) kept.pop_back();
    kept.push_back(i);
  }
  return kept;
}

void SelectionBound::cut_cells() {
  const std::vector<std::size_t> kept = envelope();
  for (double step = cell_step;; step *= 2) {
    cells_.clear();
    double from = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const Support& one = supports_[kept[i]];
      double to = 1;
      if (i + 1 < kept.size()) {
        const Support& next = supports_[kept[i + 1]];
        to = std::clamp((next.ratio * next.delta - one.ratio * one.delta) / (next.ratio - one.ratio), from, 1.0);
        if (i == 0) to = std::min(1.0, to + 4e-16 * (1 + to));  // so that the next line has begun to be positive
      }
      if (to > from) cut_piece(kept[i], from, to, step);
      from = std::max(from, to);
    }
    if (cells_.size() <= most_cells || step > 1e6) break;  // a piece has at least one cell
  }
  recut_near_largest();
  for (const Cell& cell : cells_) largest_ratio_ = std::max(largest_ratio_, cell.largest_ratio());
}

/// The relative rate of change of phi'(u) and phi'(w(u)).
double SelectionBound::steepness(const Support& support, double u) const {
  const double floor = 1e-30 * mean_;
  const Interval here = Interval::exactly(u), w = Interval::exactly(std::clamp(support.ratio * (u - support.delta), 0.0, 1.0));
  return std::max(law_.curvature(here).hi / (law_.slope(here).hi + floor),
                  support.ratio * law_.curvature(w).hi / (law_.slope(w).hi + floor));
}

void SelectionBound::cut_piece(std::size_t support, double from, double to, double step) {
  const Support& line = supports_[support];
  while (from < to && (cells_.size() <= most_cells || step > 1e6)) {
    double width = std::min(to - from, step / std::max(steepness(line, from), step));
    while (width > 1e-15 && steepness(line, std::min(1.0, from + width)) * width > 2 * step) width /= 2;
    const double end = from + width < to && from + width > from ? from + width : to;
    cells_.push_back(make_cell(support, from, end));
    from = end;
  }
}

// [best-of-runs] phi' is convex: it lies below its chord and above its tangents.
SelectionBound::Cell SelectionBound::make_cell(std::size_t support, double from, double to) const {
  const Support& line = supports_[support];
  const auto below = [&](double u) { return std::min(1.0, numeric::multiply_down(line.ratio, numeric::add_down(u, -line.delta))); };
  Cell cell{from, to, support, law_.slope(Interval::exactly(from)).hi, law_.slope(Interval::exactly(to)).hi, 0, 0};
  double w_left = below(from), w_right = below(to);
  if (!(w_left >= 0 && w_right >= w_left)) w_left = w_right = 0;
  const Interval middle = Interval::exactly(w_left + (w_right - w_left) / 2);
  const Interval slope = law_.slope(middle), curvature = law_.curvature(middle);
  cell.below_left = (Interval::exactly(slope.lo) - Interval::exactly(curvature.hi) * (middle - w_left)).lo;
  cell.below_right = (Interval::exactly(slope.lo) + Interval::exactly(curvature.lo) * (Interval::exactly(w_right) - middle)).lo;
  if (!(cell.below_left >= 0)) {  // the tangent at the left end instead
    const Interval left = Interval::exactly(w_left);
    cell.below_left = std::max(0.0, law_.slope(left).lo);
    cell.below_right = (Interval::exactly(cell.below_left) +
                        Interval::exactly(std::max(0.0, law_.curvature(left).lo)) * (Interval::exactly(w_right) - left))
                           .lo;
  }
  cell.below_right = std::max(cell.below_right, cell.below_left);
  return cell;
}

/// The largest ratio decides about the smallest delta, so it is found more accurately.
void SelectionBound::recut_near_largest() {
  double largest = 0;
  for (const Cell& cell : cells_) largest = std::max(largest, cell.largest_ratio());
  if (!(largest < infinity)) return;
  std::vector<Cell> cut;
  for (const Cell& cell : cells_) {
    const bool again = cell.largest_ratio() >= near_largest * largest && cell.to - cell.from > 1e-9;
    const int count = again ? cuts_near_largest : 1;
    double from = cell.from;
    for (int i = 1; i <= count; ++i) {
      const double to = i == count ? cell.to : cell.from + (cell.to - cell.from) * i / count;
      cut.push_back(count == 1 ? cell : make_cell(cell.support, from, to));
      from = to;
    }
  }
  cells_ = std::move(cut);
}

void SelectionBound::make_splits() {
  const double most = std::min(largest_ratio_ * (1 + 1e-12), largest_start);
  const double reach = std::log(std::max(most, 1.0));
  splits_.push_back(split_at(most));
  for (int i = split_count - 1; i >= 1; --i) {
    const double share = static_cast<double>(i) / split_count;
    const double start = std::exp(reach * (1 - std::pow(1 - share, 1.5)));
    if (start < most) splits_.push_back(split_at(start));
  }
}

namespace {

struct FallingLine {
  double above;
  double below;
};

/// Plain arithmetic on these lines loses less than this share of `above` where the result is positive.
constexpr double line_safety = 0x1p-49;

/// The lines that are the largest somewhere at z >= 0, with intercepts raised so that no dropped line exceeds the rest.
std::vector<FallingLine> upper_lines(std::vector<FallingLine> lines) {
  std::sort(lines.begin(), lines.end(),
            [](const FallingLine& a, const FallingLine& b) { return a.below != b.below ? a.below < b.below : a.above > b.above; });
  const auto meet = [](const FallingLine& a, const FallingLine& b) { return (b.above - a.above) / (b.below - a.below); };
  std::vector<FallingLine> kept;
  for (const FallingLine& line : lines) {
    if (!kept.empty() && !(line.above > kept.back().above)) continue;  // below a line that falls more slowly: never the largest
    while (kept.size() >= 2 && meet(kept.back(), line) >= meet(kept[kept.size() - 2], kept.back())) kept.pop_back();
    kept.push_back(line);
  }
  // A line with a slope between those of two neighbours exceeds their maximum most where these two meet; at any other place its excess
  // over one of them is larger.
  std::vector<double> excess(kept.size(), 0.0);
  std::size_t right = 0;
  for (const FallingLine& line : lines) {
    while (right + 1 < kept.size() && kept[right].below < line.below) ++right;
    const FallingLine& next = kept[right];
    const std::size_t left = right > 0 ? right - 1 : right;
    const FallingLine& before = kept[left];
    if (line.above <= before.above && line.below >= before.below) continue;
    if (next.above >= line.above && next.below <= line.below) continue;
    const Interval place = Interval::exactly(left == right ? 0 : std::max(0.0, meet(before, next)));
    double over = 0;
    for (const FallingLine* other : {&before, &next})
      over = std::max(over, (Interval::exactly(line.above) - other->above - (Interval::exactly(line.below) - other->below) * place).hi);
    excess[left] = std::max(excess[left], over);
    excess[right] = std::max(excess[right], over);
  }
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i].above = numeric::multiply_up(numeric::add_up(kept[i].above, excess[i]), 1 + line_safety);
  return kept;
}

/// About the largest line at z, or 0, by halving, because the lines are sorted and each is the largest on one range; for searches.
double rough_largest_line(const std::vector<FallingLine>& lines, double z) {
  std::size_t low = 0, high = lines.empty() ? 0 : lines.size() - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const bool rises = lines[middle + 1].above - lines[middle].above > (lines[middle + 1].below - lines[middle].below) * z;
    (rises ? low : high) = rises ? middle + 1 : middle;
  }
  return lines.empty() ? 0 : std::max(0.0, lines[low].above - lines[low].below * z);
}

constexpr std::size_t block_size = 64;

/// For each block of lines, one that is at least as large as all of them at z >= 0.
std::vector<FallingLine> lines_above_blocks(const std::vector<FallingLine>& lines) {
  std::vector<FallingLine> blocks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i % block_size == 0) blocks.push_back(lines[i]);
    blocks.back().above = std::max(blocks.back().above, lines[i].above);
    blocks.back().below = std::min(blocks.back().below, lines[i].below);
  }
  return blocks;
}

/// At least the largest line at z, or 0. Rounding is monotone, so a block below another line has no larger value.
double largest_line(const std::vector<FallingLine>& lines, const std::vector<FallingLine>& blocks, double z) {
  const auto at = [z](const FallingLine& line) { return line.above - line.below * z; };
  double highest = rough_largest_line(lines, z);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    if (at(blocks[block]) <= highest) continue;
    const std::size_t end = std::min(lines.size(), (block + 1) * block_size);
    for (std::size_t i = block * block_size; i < end; ++i) highest = std::max(highest, at(lines[i]));
  }
  return highest;
}

}  // namespace

// [best-of-runs] (phi'(u) - phi'(w) z)+ <= (A - C z0)+ + [(A - C z)+ - (A - C z0)+]; the bracket is at most min(C (z0 - z), (A - C z)+).
SelectionBound::Split SelectionBound::split_at(double start) const {
  Split split{0, {}};
  std::vector<FallingLine> lines;
  lines.reserve(2 * cells_.size());
  for (const Cell& cell : cells_) {
    const auto left_over = [&](double above, double below) { return numeric::add_up(above, -numeric::multiply_down(below, start)); };
    const double left = left_over(cell.above_left, cell.below_left), right = left_over(cell.above_right, cell.below_right);
    if (left > 0 || right > 0) {  // the positive part of a line lies below the chord of its positive parts
      const Interval area =
          (Interval::exactly(std::max(left, 0.0)) + std::max(right, 0.0)) / 2.0 * (Interval::exactly(cell.to) - cell.from);
      split.integral = numeric::add_up(split.integral, area.hi);
      lines.push_back({numeric::multiply_up(cell.below_right, start), cell.below_right});
    }
    if (left <= 0) lines.push_back({cell.above_left, cell.below_left});
    if (right <= 0) lines.push_back({cell.above_right, cell.below_right});
  }
  lines = upper_lines(std::move(lines));

  // The maximum of the lines, cut off at z0, lies below its chords between some z; they are chosen for accuracy only.
  std::vector<std::pair<double, double>> corners{{start, 0}};
  const std::vector<FallingLine> blocks = lines_above_blocks(lines);
  const double at_zero = largest_line(lines, blocks, 0);
  double step = 0.3;
  while (corners.back().first > 0) {
    const auto [z, value] = corners.back();
    if (corners.size() > 1 && value >= at_zero * (1 - chord_excess)) step = infinity;
    double next = 0, next_value = at_zero;
    for (step = std::min(2 * step, 3.0);; step /= 2) {
      next = step >= 3 && at_zero <= value * (1 + chord_excess) ? 0 : z * std::exp(-step);
      next_value = rough_largest_line(lines, next);
      if (step < 1e-7 || (value + next_value) / 2 <= rough_largest_line(lines, (z + next) / 2) * (1 + chord_excess)) break;
    }
    corners.emplace_back(next, largest_line(lines, blocks, next));
    if (corners.size() > 2000) corners.emplace_back(0, at_zero);
  }
  double slope_before = 0;
  for (std::size_t i = 0; i + 1 < corners.size(); ++i) {
    const auto [z, value] = corners[i];
    const Interval drop = Interval::exactly(corners[i + 1].second) - value, run = Interval::exactly(z) - corners[i + 1].first;
    const Interval slope = drop / run;
    const double weight = (Interval::exactly(z) * (slope - slope_before)).hi;
    if (weight > 0) split.sticks.push_back({log(Interval::exactly(z)).hi, weight, 0});
    slope_before = slope.lo;
  }
  double sum = 0;
  for (auto stick = split.sticks.rbegin(); stick != split.sticks.rend(); ++stick)
    stick->weights_from_here = sum = numeric::add_up(sum, stick->weight);
  return split;
}

double SelectionBound::rough_base(double epsilon) const {
  const auto after = std::lower_bound(supports_.begin() + 1, supports_.end(), epsilon,
                                      [](const Support& support, double at) { return support.epsilon > at; });
  if (after == supports_.end()) return 1;
  if (after == supports_.begin() + 1) return after->delta;
  const Support &right = *std::prev(after), &left = *after;  // right has the larger epsilon
  const double share = (epsilon - left.epsilon) / (right.epsilon - left.epsilon);
  if (!(right.delta > 0)) return left.delta * (1 - share);
  return std::exp(std::log(left.delta) * (1 - share) + std::log(right.delta) * share);
}

double SelectionBound::rough_sum(const Split& split, double epsilon) const {
  double sum = split.integral;
  for (const Stick& stick : split.sticks) sum += stick.weight * rough_base(epsilon - stick.log_ratio);
  return sum;
}

/// The sum with proved values of the base; it stops where the rest matters little, and counts it fully.
double SelectionBound::proved_sum(const Split& split, double epsilon, double enough, ReadProfile& profile) {
  double sum = split.integral;
  for (const Stick& stick : split.sticks) {
    const double value = profile.above((Interval::exactly(epsilon) - stick.log_ratio).lo);
    const double rest = numeric::multiply_up(stick.weights_from_here, value);
    if (rest <= 1e-5 * sum || sum > enough) return numeric::add_up(sum, rest);
    sum = numeric::add_up(sum, numeric::multiply_up(stick.weight, value));
  }
  return sum;
}

double SelectionBound::delta(double epsilon, ReadProfile& profile) const {
  std::vector<std::pair<double, const Split*>> order;
  for (const Split& split : splits_) order.emplace_back(rough_sum(split, epsilon), &split);
  std::sort(order.begin(), order.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
  double best = numeric::next_up(1 - law_.phi(Interval::exactly(0)).lo);
  for (std::size_t i = 0; i < std::min<std::size_t>(2, order.size()); ++i)
    if (i == 0 || order[i].first < 1.1 * order[0].first) best = std::min(best, proved_sum(*order[i].second, epsilon, best, profile));
  return std::min(best, 1.0);
}

double SelectionBound::excess() const {
  return largest_ratio_ < infinity ? log(Interval::exactly(std::max(largest_ratio_, 1.0))).hi : infinity;
}

double SelectionBound::least_other(double u) const {
  double largest = 0;
  for (const Support& support : supports_)
    if (u > support.delta) largest = std::max(largest, numeric::multiply_down(support.ratio, numeric::add_down(u, -support.delta)));
  return largest;
}

}  // namespace tradeoff::detail
