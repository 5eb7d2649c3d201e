// SPDX-License-Identifier: Apache-2.0
#include "mechanism/shuffled_reports.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "loss/atoms.h"
#include "loss/forwarding_loss.h"
#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "loss/work.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/lattice_pair.h"
#include "mechanism/randomized_response.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/binomial.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t fine_cells = 1200;          // relative width of delta about 1e-5 at a million users and more
constexpr std::size_t coarse_cells = 120;         // for the points of a finite pair; their errors matter less in a composition
constexpr std::size_t cells_of_few = 200;         // the same for fewer users, whose sums depend more on the number of reports
constexpr std::size_t cells_of_others = 200;      // numbers of other reports, before they are moved to the knots
constexpr std::size_t cells_of_binary = 600;      // of the witness with two values
constexpr std::uint64_t most_listed_users = 120;  // up to here every number of reports of each kind is listed
constexpr std::uint64_t many_users = 1'000'000;
constexpr std::size_t nodes_of_pair = 320;  // points of a finite pair up to where delta is negligible_delta
constexpr double negligible_delta = 1e-22;  // delta beyond the points of a finite pair; a revelation of this size is charged
constexpr std::uint64_t few_users = 5000;   // fewer: the number of other reports matters more, so it is split more finely

const Citation& shuffled_citation() {
  static const Citation reports("shuffled-reports",
                                "other users' reports hide one user's report: sums over the number of reports that can");
  return reports;
}

/// E(alpha u - alpha M/2 - gamma)+ for u ~ Bin(M, 1/2) and gamma >= 0. [shuffled-reports] Every threshold gives a lower bound, and the
/// right one gives the value: all thresholds that rounding allows are tried.
Interval hinge(std::uint64_t reports, Interval alpha, Interval gamma) {
  if (reports == 0) return Interval::exactly(0);
  gamma = max(gamma, Interval::exactly(0));
  const double count = static_cast<double>(reports);
  const Interval threshold = Interval::exactly(count) / 2.0 + gamma / alpha;
  const double first = std::max(std::ceil(threshold.lo), std::ceil(count / 2));
  const double last = std::min(std::ceil(threshold.hi), first + 4);
  const double scale = (alpha.hi * count);  // of the largest value
  Interval found = Interval::exactly(0);
  if (std::ceil(threshold.hi) > last) return {0, scale};  // not known where the threshold lies
  for (double at = first; at <= last && at <= count; ++at) {
    const auto least = static_cast<std::uint64_t>(at);
    const Interval mass = numeric::binomial_mass(reports - 1, Interval::exactly(0.5), least - 1);
    const Interval ratio = numeric::binomial_tail_ratio(reports - 1, Interval::exactly(1), least - 1);
    const Interval value = mass * ((alpha * count / 2.0 - gamma) / 2.0 - gamma * ratio);
    found = max(found, value);
  }
  return max(found, Interval::exactly(0));
}

/// A law above that of the number of other reports that count, minus its mean, in convex order: offsets with their weights.
struct Offset {
  Interval value;
  double weight = 0;
};

using Offsets = std::vector<Offset>;

/// Sums over the number of reports that may be mistaken for the one in question.
struct ReportGrid {
  numeric::BinomialCells reports;
  std::vector<Offsets> offsets;  ///< the finest first; empty if the number of other reports that count is certain or not needed
  double outside_offsets = 0;
};

/// Values between which the number of other reports is split: whole or half standard deviations near the mean, and both ends.
std::vector<double> knots_of(double left, double right, double mean, double deviation, bool few) {
  std::vector<double> knots{left};
  const double gap = std::max(1.0, std::floor(few ? deviation / 2 : deviation)), reach = (few ? 8 : 5) * deviation;
  for (double at = std::floor(mean - reach); at < std::min(right, mean + reach); at += gap)
    if (at > left) knots.push_back(at);
  knots.push_back(right);
  return knots;
}

/// Moves the probability of each cell to its left end, and then to the two knots around it with the same mean. [shuffled-reports]
Offsets offsets_of(const numeric::BinomialCells& cells, std::uint64_t trials, Interval chance) {
  const Interval mean = Interval::exactly(trials) * chance;
  const auto left = static_cast<double>(cells.cells.front().first), right = static_cast<double>(cells.cells.back().first);
  Offsets found;
  if (left == right) return {{Interval::exactly(left) - mean, cells.cells.front().mass.hi}};
  const std::vector<double> knots = knots_of(left, right, middle_of(mean), std::sqrt(middle_of(mean * (1.0 - chance))), trials < few_users);
  for (const double knot : knots) found.push_back({Interval::exactly(knot) - mean, 0});
  std::size_t next = 1;
  for (const auto& cell : cells.cells) {
    while (next + 1 < knots.size() && knots[next] < static_cast<double>(cell.first)) ++next;
    const double from = knots[next - 1];
    const Interval further = clamp((Interval::exactly(cell.first) - from) / Interval::exactly(knots[next] - from), 0, 1);
    found[next - 1].weight = numeric::add_up(found[next - 1].weight, ((1.0 - further) * cell.mass).hi);
    found[next].weight = numeric::add_up(found[next].weight, (further * cell.mass).hi);
  }
  return found;
}

/// Moves every second one to its neighbours with the same mean, which makes the law larger in the convex order. The ends stay.
Offsets coarser(const Offsets& offsets) {
  Offsets kept;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (i % 2 == 0 || i + 1 == offsets.size()) kept.push_back(offsets[i]);
  for (std::size_t i = 1; i + 1 < offsets.size(); i += 2) {
    Offset &left = kept[i / 2], &right = kept[i / 2 + 1];
    const Interval further = clamp((offsets[i].value - left.value) / (right.value - left.value), 0, 1);
    left.weight = numeric::add_up(left.weight, ((1.0 - further) * offsets[i].weight).hi);
    right.weight = numeric::add_up(right.weight, (further * offsets[i].weight).hi);
  }
  return kept;
}

/// Whether reports of other values count, and their number is random.
bool others_vary(const ReportLaw& law) { return !(law.chance.lo == 1 || law.cost.hi == 0 || law.chance.hi == 0); }
bool is_listed(const ReportLaw& law) { return others_vary(law) && law.users <= most_listed_users; }

ReportGrid grid_below(const ReportLaw& law, std::size_t cells) {
  return {numeric::binomial_cells(law.users, clamp(2.0 * law.share, 0, 1), cells), {}, 0};
}
ReportGrid grid_above(const ReportLaw& law, std::size_t cells) {
  ReportGrid grid = grid_below(law, cells);
  if (!others_vary(law) || is_listed(law)) return grid;
  const std::uint64_t most = law.users - grid.reports.cells.front().first;
  const numeric::BinomialCells others = numeric::binomial_cells(most, law.chance, cells_of_others);
  grid.offsets.push_back(offsets_of(others, most, law.chance));
  while (grid.offsets.back().size() > 3) grid.offsets.push_back(coarser(grid.offsets.back()));
  grid.outside_offsets = others.outside;
  return grid;
}

/// The numbers of one epsilon >= 0.
struct ReportPoint {
  Interval alpha;  ///< (E - 1)(x + 1)
  Interval drift;  ///< (x - 1)(E + 1)/2
  Interval cost;   ///< (x - 1) cost
};

/// The expected value for exactly so many reports, every number of other reports listed.
Interval listed_value(const ReportLaw& law, std::uint64_t reports, const ReportPoint& at) {
  const std::uint64_t left = law.users - reports;
  Interval sum = Interval::exactly(0);
  for (std::uint64_t others = 0; others <= left; ++others) {
    const Interval gamma = Interval::exactly(reports) * at.drift + at.cost * Interval::exactly(others);
    sum = sum + numeric::binomial_mass(left, law.chance, others) * hinge(reports, at.alpha, gamma);
  }
  return sum;
}

/// The offsets for one epsilon: coarser ones where what they add to the variance of the sum changes delta by little.
const Offsets* offsets_for(const ReportLaw& law, const ReportGrid& grid, const ReportPoint& at) {
  constexpr double little = 2e-7;  // of the variance; delta changes by some ten times as much where it is small
  const double variance = 0.5 * static_cast<double>(law.users) * law.share.hi * at.alpha.hi * at.alpha.hi;
  const Offsets* chosen = nullptr;
  for (const Offsets& offsets : grid.offsets) {
    double gap = 0;
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i].weight + offsets[i - 1].weight > 1e-12) gap = std::max(gap, offsets[i].value.hi - offsets[i - 1].value.lo);
    const double step = at.cost.hi * gap;
    if (chosen != nullptr && step * step > 4 * little * variance) break;
    chosen = &offsets;
  }
  return chosen;
}

/// The largest expected value in a cell of numbers of reports. [shuffled-reports]
double value_above(const ReportLaw& law, const ReportGrid& grid, const Offsets* offsets, const numeric::BinomialCell& cell,
                   const ReportPoint& at) {
  if (is_listed(law)) return listed_value(law, cell.first, at).hi;
  const Interval drift = Interval::exactly(cell.first) * at.drift;
  const Interval others = Interval::exactly(law.users - cell.last) * law.chance;
  if (offsets == nullptr) return hinge(cell.last, at.alpha, drift + at.cost * (law.chance.lo == 1 ? others : Interval::exactly(0))).hi;
  double sum = numeric::multiply_up(grid.outside_offsets, hinge(cell.last, at.alpha, drift).hi);
  for (const Offset& offset : *offsets) {
    if (offset.weight == 0) continue;
    const Interval gamma = drift + at.cost * (others + offset.value);
    const double more = std::max(0.0, -gamma.lo);  // (a + b)+ <= (a)+ + b for b >= 0
    sum = numeric::add_up(sum, numeric::multiply_up(offset.weight, numeric::add_up(hinge(cell.last, at.alpha, gamma).hi, more)));
  }
  return sum;
}

/// The least: by Jensen's inequality the other reports count by their mean. [shuffled-reports]
double value_below(const ReportLaw& law, const numeric::BinomialCell& cell, const ReportPoint& at) {
  if (is_listed(law)) return listed_value(law, cell.first, at).lo;
  const Interval others = Interval::exactly(law.users - cell.first) * law.chance;
  return hinge(cell.first, at.alpha, Interval::exactly(cell.last) * at.drift + at.cost * others).lo;
}

ReportPoint point_at(const ReportLaw& law, double epsilon) {
  const Interval x = exp(Interval::exactly(epsilon)), more = expm1(Interval::exactly(epsilon));
  return {expm1(law.epsilon) * (x + 1.0), more * (exp(law.epsilon) + 1.0) / 2.0, more * law.cost};
}

// [shuffled-reports]
double delta_above(const ReportLaw& law, const ReportGrid& grid, double epsilon) {
  if (epsilon >= law.epsilon.hi) return 0;
  const ReportPoint at = point_at(law, epsilon);
  const Offsets* const offsets = offsets_for(law, grid, at);
  double sum = 0;
  for (const numeric::BinomialCell& cell : grid.reports.cells)
    sum = numeric::add_up(sum, numeric::multiply_up(cell.mass.hi, value_above(law, grid, offsets, cell, at)));
  Work::count(0.3 * static_cast<double>(grid.reports.cells.size() * (offsets == nullptr ? 1 : offsets->size())));
  // Outside the cells the sum is at most (E - x) times half the number of reports, on average.
  const Interval outside =
      max(exp(law.epsilon) - exp(Interval::exactly(epsilon)), Interval::exactly(0)) / 2.0 * Interval::exactly(grid.reports.outside);
  return std::min(1.0, (Interval::exactly(sum) / Interval::exactly(law.users) + outside).hi);
}

// [shuffled-reports]
double delta_below(const ReportLaw& law, const ReportGrid& grid, double epsilon) {
  if (epsilon >= law.epsilon.hi) return 0;
  const ReportPoint at = point_at(law, epsilon);
  double sum = 0;
  for (const numeric::BinomialCell& cell : grid.reports.cells)
    sum = numeric::add_down(sum, numeric::multiply_down(cell.mass.lo, value_below(law, cell, at)));
  Work::count(0.3 * static_cast<double>(grid.reports.cells.size()));
  return std::max(0.0, (Interval::exactly(sum) / Interval::exactly(law.users)).lo);
}

/// Cells for a finite pair.
std::size_t cells_of_pair(const ReportLaw& law) { return law.users >= many_users ? coarse_cells : cells_of_few; }

/// A profile at multiples of a step, up to where it is negligible_delta or ends. [lattice-pair]
struct SampledDeltas {
  double step = 0;
  std::vector<Interval> deltas;
};

template <class DeltaAt>
SampledDeltas sampled_deltas(double end, DeltaAt&& delta_at) {
  double reach = end;
  for (int i = 0; i < 60 && delta_at(reach / 2).hi < negligible_delta; ++i) reach /= 2;
  // a step of 30 bits, so that its multiples are exact
  const int exponent = std::ilogb(reach / nodes_of_pair) - 30;
  SampledDeltas found{std::ldexp(std::ceil(std::ldexp(reach / nodes_of_pair, -exponent)), exponent), {}};
  for (std::size_t i = 0; i <= nodes_of_pair; ++i) found.deltas.push_back(delta_at(static_cast<double>(i) * found.step));
  return found;
}

Citations origin_of_pair() {
  return {shuffled_citation(), Citation("lattice-pair", std::to_string(nodes_of_pair) + " points of the profile, joined")};
}

/// A grid that is made when it is needed first.
class LazyGrid {
 public:
  LazyGrid(const ReportLaw& law, ReportGrid (*make)(const ReportLaw&, std::size_t), std::size_t cells)
      : law_(law), make_(make), cells_(cells) {}
  [[nodiscard]] const ReportGrid& get() const {
    std::call_once(made_, [this] { grid_ = make_(law_, cells_); });
    return grid_;
  }

 private:
  const ReportLaw& law_;
  ReportGrid (*make_)(const ReportLaw&, std::size_t);
  std::size_t cells_;
  mutable std::once_flag made_;
  mutable ReportGrid grid_;
};

/// [shuffled-reports] Symmetric: the two values change places if the two inputs do. One of its two ends is used, and computed on a fine
/// grid.
class ShuffledLoss final : public Loss, public ClosedForms, public ComposedForm {
 public:
  ShuffledLoss(const ReportLaw& law, ComposedBy side)
      : law_(law),
        side_(side),
        above_(law_, grid_above, is_above() ? fine_cells : coarse_cells),
        below_(law_, grid_below, is_above() ? coarse_cells : fine_cells),
        coarse_(law_, is_above() ? grid_above : grid_below, coarse_cells) {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    record(shuffled_citation());
    return {end_below(epsilon.hi), end_above(epsilon.lo)};
  }
  /// [profile-inversion] The end that is used is found on the coarse grid first, and moved by what the fine one shows there.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction, Interval delta) const override {
    if (!(delta.lo > 0 && delta.hi < coarse_delta(0))) return std::nullopt;
    record(shuffled_citation());
    const double guess = coarse_epsilon(delta.lo), slope = coarse_slope(guess);
    double shift = 0, margin = 1e-9;
    for (int attempt = 0; attempt < 6; ++attempt, margin *= 8) {
      const double at = guess * (1 + shift + (is_above() ? margin : -margin));
      if (is_above() && !(at < law_.epsilon.hi) && guess > 0.99 * law_.epsilon.hi) return Interval{0, law_.epsilon.hi};
      if (!(at > 0 && at < law_.epsilon.hi)) return std::nullopt;
      const double value = is_above() ? delta_above(law_, above_.get(), at) : delta_below(law_, below_.get(), at);
      const bool proved = is_above() ? value <= delta.lo : value > delta.hi;
      // once more if the first one is proved but far from the end
      const double step = std::log(value / delta.lo) / slope;
      if (proved && (std::abs(step) < 1e-6 || attempt > 1)) return is_above() ? Interval{0, at} : Interval{at, law_.epsilon.hi};
      shift = at / guess - 1 + step;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override {
    const LargestLoss bound = pure_tail({law_.epsilon, law_.epsilon}).largest.as_bound();
    return pure_tail(bound);
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .composed_form = this, .cost = Cost::engine};
  }
  void cite() const override { record(shuffled_citation()); }
  [[nodiscard]] std::optional<double> rough_delta(Direction, double epsilon) const override {
    const double found = coarse_delta(std::abs(epsilon));
    return epsilon >= 0 ? found : rough_mirrored_delta(epsilon, found);
  }
  [[nodiscard]] std::string key() const override {
    return make_key(is_above() ? "shuffled_reports" : "shuffled_reports_below",
                    {law_.epsilon, Interval::exactly(law_.users), law_.share, law_.cost, law_.chance});
  }
  [[nodiscard]] LossPointer composed_form() const override {
    std::call_once(made_, [this] { finite_ = make_composed_form(); });
    return finite_;
  }

 private:
  [[nodiscard]] bool is_above() const { return side_ == ComposedBy::pair_above; }
  [[nodiscard]] double end_above(double epsilon) const {
    if (epsilon == infinity) return 0;
    const double found = delta_above(law_, above_.get(), std::abs(epsilon));
    return epsilon >= 0 ? found : mirrored_delta(epsilon, Interval::exactly(found)).hi;
  }
  [[nodiscard]] double end_below(double epsilon) const {
    if (epsilon == infinity) return 0;
    const double found = delta_below(law_, below_.get(), std::abs(epsilon));
    return epsilon >= 0 ? found : mirrored_delta(epsilon, Interval::exactly(found)).lo;
  }
  /// The end that is used, on the coarse grid; for searches.
  [[nodiscard]] double coarse_delta(double epsilon) const {
    return is_above() ? delta_above(law_, coarse_.get(), epsilon) : delta_below(law_, coarse_.get(), epsilon);
  }
  /// Where it is about `delta`.
  [[nodiscard]] double coarse_epsilon(double delta) const {
    double low = 0, high = law_.epsilon.hi;
    while (high > 1e-300 && coarse_delta(high / 2) < delta) high /= 2;
    low = high / 2;
    double value_low = std::log(coarse_delta(low) / delta), value_high = -40;  // of the logarithm of delta at the ends
    for (int i = 0; i < 24 && high - low > 1e-7 * high; ++i) {
      const double share = i % 4 == 3 ? 0.5 : std::clamp(value_low / (value_low - value_high), 0.05, 0.95);
      const double at = low + share * (high - low), value = std::log(std::max(coarse_delta(at), 1e-300) / delta);
      (value > 0 ? low : high) = at;
      (value > 0 ? value_low : value_high) = value;
    }
    return low + (high - low) * value_low / (value_low - value_high);
  }
  /// Minus the derivative of log delta by log epsilon, about.
  [[nodiscard]] double coarse_slope(double epsilon) const {
    constexpr double step = 1e-3;
    const double fall = std::log(coarse_delta(epsilon) / coarse_delta(epsilon * (1 + step))) / step;
    return std::isfinite(fall) && fall > 0 ? fall : 1;
  }

  // [lattice-pair] Of the pair above the lower ends are not used.
  [[nodiscard]] LossPointer make_composed_form() const {
    const ReportGrid above = grid_above(law_, cells_of_pair(law_));
    const SampledDeltas found = sampled_deltas(law_.epsilon.hi, [&](double epsilon) {
      const double low = is_above() ? 0 : delta_below(law_, above, epsilon);
      return Interval{low, std::max(low, delta_above(law_, above, epsilon))};
    });
    const SampledProfile profile{found.step, found.deltas};
    if (is_above()) return lattice_pair_above(profile, key() + "above", origin_of_pair(), tail());
    return lattice_pair_below(profile, key() + "below", origin_of_pair());
  }

  ReportLaw law_;
  ComposedBy side_;
  LazyGrid above_, below_, coarse_;
  mutable std::once_flag made_;
  mutable LossPointer finite_;
};

/// A finite pair with many losses that are not on a lattice, those of its ends hardly known. It is asked itself: the exact engine would add
/// the largest error of all losses to each. [lattice-pair]
class BinaryWitness final : public ForwardingLoss, public ComposedForm {
 public:
  BinaryWitness(LossPointer pair, double largest) : pair_(std::move(pair)), largest_(largest) {}
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.composed_form = this, .cost = Cost::engine}; }
  [[nodiscard]] LossPointer composed_form() const override {
    std::call_once(made_, [this] {
      const auto found = sampled_deltas(largest_, [&](double e) { return pair_->delta(Direction::remove, Interval::exactly(e)); });
      finite_ = lattice_pair_below({found.step, found.deltas}, pair_->key() + "below", origin_of_pair());
    });
    return finite_;
  }

 private:
  [[nodiscard]] const Loss& base() const override { return *pair_; }
  LossPointer pair_;
  double largest_;
  mutable std::once_flag made_;
  mutable LossPointer finite_;
};

}  // namespace

// [shuffled-reports]
ReportLaw clone_law(Interval epsilon, std::uint64_t users) { return {epsilon, users, 1.0 / (exp(epsilon) + 1.0)}; }

ReportLaw blanket_law(Interval epsilon, std::uint64_t users, std::uint64_t choices) {
  const Interval share = 1.0 / (exp(epsilon) + static_cast<double>(choices - 1));
  ReportLaw law{epsilon, users, share};
  if (choices == 2) return law;
  law.cost = Interval::exactly(1);
  law.chance = clamp(static_cast<double>(choices - 2) * share / (1.0 - 2.0 * share), 0, 1);
  return law;
}

ReportLaw witness_law(Interval epsilon, std::uint64_t users, std::uint64_t choices) {
  // Their values have the mean -(x - 1)(choices - 2) share / (1 - 2 share); a law with one value has the same mean and is smaller.
  const Interval share = 1.0 / (exp(epsilon) + static_cast<double>(choices - 1));
  return {epsilon, users, share, static_cast<double>(choices - 2) * share / (1.0 - 2.0 * share), Interval::exactly(1)};
}

LossPointer shuffled_loss(const ReportLaw& law, ComposedBy side) { return std::make_shared<ShuffledLoss>(law, side); }

namespace {

/// Encloses the mean of the values of a cell. If the masses in it differ by a factor of at most r, it is within a share (1 - r^(1/2))/(1 +
/// r^(1/2)) of half the width from the middle: the masses with the farthest mean have two values.
Interval mean_of_cell(const numeric::BinomialCell& cell, std::uint64_t trials, Interval rate) {
  const Interval first = Interval::exactly(cell.first), last = Interval::exactly(cell.last);
  const Interval one = numeric::binomial_mass(trials, rate, cell.first), other = numeric::binomial_mass(trials, rate, cell.last);
  const Interval mode = Interval::exactly(trials + 1) * rate;
  const bool monotone = last.hi < mode.lo - 1 || first.lo > mode.hi;
  const double least = std::min(one.lo, other.lo), most = std::max(one.hi, other.hi);
  if (!monotone || !(least > 0)) return {first.lo, last.hi};
  const Interval root = sqrt(Interval::exactly(least) / most), width = (last - first + 1.0) / 2.0;
  const Interval middle = (first + last) / 2.0, shift = width * ((1.0 - root) / (1.0 + root));
  return {std::max(first.lo, (middle - shift.hi).lo), std::min(last.hi, (middle + shift.hi).hi)};
}

}  // namespace

// [shuffled-reports] With v the common value of the others, the number u of reports of the other value is Bin(n, share) if the record has
// the value v, and its law has the density (E u + (n - u)/E)/n with respect to that otherwise.
LossPointer binary_witness(Interval epsilon, std::uint64_t users) {
  const Interval n = Interval::exactly(users), local = exp(epsilon), share = 1.0 / (local + 1.0);
  numeric::BinomialCells bins = numeric::binomial_cells(users, share, cells_of_binary);
  bins.cells.front().first = 0;
  bins.cells.back().last = users;
  for (numeric::BinomialCell* end : {&bins.cells.front(), &bins.cells.back()})
    end->mass = clamp(end->mass + Interval{0, bins.outside}, 0, 1);
  // Outcomes of a cell are not told apart: the mean of the density, which is linear in u, over the cell.
  const auto density_at = [&](Interval u) { return (local * u + (n - u) / local) / n; };
  std::vector<Atom> atoms;
  for (const numeric::BinomialCell& bin : bins.cells) {
    const Interval density = density_at(mean_of_cell(bin, users, share)), loss = log(density);
    atoms.push_back({loss, density * bin.mass / 2.0});
    atoms.push_back({-loss, bin.mass / 2.0});
  }
  const Interval none = Interval::exactly(0);
  return std::make_shared<BinaryWitness>(
      finite_loss(make_atoms(std::move(atoms), none, none, true), make_key("shuffled_reports_binary", {epsilon, n}), {shuffled_citation()}),
      epsilon.hi);
}

namespace {

LossPointer make_shuffled_reports(const Arguments& arguments, const WordContext& context) {
  const bool response = arguments.choice("randomizer") == "randomized_response";
  if (!response && arguments.has("choices"))
    throw DomainError(
        "shuffled_reports: choices belongs to randomizer=randomized_response; for any other randomizer leave choices out, because only its "
        "epsilon counts");
  const Interval epsilon = arguments.number("epsilon");
  const std::uint64_t users = arguments.whole("users"), choices = response && arguments.has("choices") ? arguments.whole("choices") : 2;
  if (epsilon.hi == 0) return gaussian_loss(Interval::exactly(0), {shuffled_citation()});
  if (users == 1) return randomized_response(epsilon, choices);  // nothing is shuffled, and the worst randomiser has two outputs
  const auto pair = [=](const ReportLaw& law, ComposedBy side) { return [=] { return shuffled_loss(law, side); }; };
  const auto binary = [=] { return binary_witness(epsilon, users); };
  if (!response) {
    const auto clones = pair(clone_law(epsilon, users), ComposedBy::pair_above);
    // Which randomiser is the better witness changes at e^epsilon = 2, by the variance of its loss.
    if (epsilon.hi < 0.693) return context.bracket(clones, {binary});
    return context.bracket(clones, {pair(witness_law(epsilon, users, 3), ComposedBy::pair_below)});
  }
  const auto blanket = pair(blanket_law(epsilon, users, choices), ComposedBy::pair_above);
  if (choices == 2) return context.bracket(blanket, {binary});
  return context.bracket(blanket, {pair(witness_law(epsilon, users, choices), ComposedBy::pair_below)});
}

std::string promise_of_reports(const Arguments& arguments) {
  return "In `shuffled_reports`, at least " + std::to_string(arguments.whole("users")) +
         " honest users, the one in question included, surely send exactly one report each. All of them use the same randomiser, with "
         "fresh "
         "randomness, and it does not depend on other reports. A trusted shuffler removes the order and every other trace of the sender. A "
         "record of the data is a user.";
}

}  // namespace

Word shuffled_reports_word() {
  constexpr std::uint64_t most_users = 1'000'000'000;
  constexpr double most_epsilon = 500;  // beyond it e^epsilon leaves the range of double; nothing is protected long before
  return {.role = Role::source,
          .name = "shuffled_reports",
          .meaning = "local reports of many users, sent through a shuffler",
          .parameters = {{"epsilon", Kind::number, "epsilon of the local randomiser of every user", Range{.least = 0, .most = most_epsilon},
                          effect::riskier.up_to(most_epsilon)},
                         {"users", Kind::integer, "honest users who surely report", range::whole(1, most_users), effect::safer},
                         {.name = "randomizer",
                          .kind = Kind::choice,
                          .meaning = "any, or randomized_response: its curve is better",
                          .fallback = "any",
                          .choices = "any|randomized_response"},
                         {.name = "choices",
                          .kind = Kind::integer,
                          .meaning = "number of possible answers of randomized_response; 2 by default",
                          .range = range::whole(2, 1'000'000),
                          .optional = true}},
          .synonyms = {{"shuffle_model"},
                       {"shuffler"},
                       {"delta=",
                        "a local randomiser with delta above 0 is not supported: the proof needs each report to be at least 1/e^epsilon as "
                        "likely for every other input, everywhere. Use a randomiser that is epsilon-DP"}},
          .neighbours = {Neighbours::replace_one},
          .promise = promise_of_reports,
          .make = make_shuffled_reports,
          .of_users = true};
}

}  // namespace tradeoff::detail
