// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/grid.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "loss/atoms.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"

namespace tradeoff::detail::lattice {
namespace {

constexpr double point_budget = 0x1p19;    // profile evaluations in one discretisation, over all parts
constexpr double slow_budget = 2e6;        // work of evaluations, for profiles that cost more than `usual_price`
constexpr double first_look_budget = 1e6;  // the same for the first, coarse lattice
constexpr double range_readings = 130;     // approximate number of evaluations while the range of a profile is determined
constexpr double even_budget = 3e4;        // work of evaluating every point of a lattice
constexpr double usual_price = 0.5;        // cost of evaluating a profile that is a formula
constexpr double atom_price = 0.01;        // cost per atom that an evaluation sums
constexpr double slow_price = 16;          // slower than any formula, even on a busy machine
constexpr double transform_price = 0.06;   // cost per cell of a transform and its powers
constexpr unsigned largest_log2_size = has_little_memory ? 20 : 21;  // transforms then use about 75 or 150 MB
constexpr unsigned smallest_log2_size = 6;
constexpr double transform_budget = 0x1p24;  // points of all forward transforms, one per part
constexpr double first_points = 4096;        // points of the first, coarse lattice
constexpr double smallest_tail = 1e-280;     // below it the masses would come close to underflow
constexpr double farthest_loss = 4096;       // losses above this count as infinite (above) or are dropped (below)
constexpr double largest_index = 0x1p51;     // lattice indices of sums stay exact in a double
constexpr double widest_cell = 0.25;
constexpr double batch_price = 10;          // cost of a point of a profile that is evaluated at many points together
constexpr double first_value_width = 3e-3;  // of values of profiles that are evaluated at many points together, on the first lattice
constexpr double least_value_width = 2e-8;
constexpr double range_value_width = 0.05;  // the same while the range is determined
constexpr std::size_t most_atoms = 4096;    // evaluated one by one
constexpr std::size_t most_corners = 6;     // corners that a lattice can approximate at once

/// Keeps fewer bits, so that multiples of a step are exact.
double shortened(double step) {
  int exponent = 0;
  const double mantissa = std::frexp(step, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 20)), exponent - 20);
}

/// The largest number of which all the given ones are multiples, within rounding; empty if it is small compared with them.
std::optional<double> common_divisor(const std::vector<double>& numbers) {
  double divisor = 0, largest = 0;
  for (double a : numbers) {
    largest = std::max(largest, a);
    while (a > 1e-9 * largest) {  // Euclid's algorithm; a remainder this small, or this close to the divisor, is rounding
      const double remainder = std::fmod(divisor, a);
      divisor = std::exchange(a, remainder > a * (1 - 1e-6) ? 0 : remainder);
    }
    if (divisor < 1e-4 * largest) return std::nullopt;
  }
  if (!(divisor > 0)) return std::nullopt;
  return largest / std::round(largest / divisor);
}

}  // namespace

double Answer::width() const { return log_delta.lo > -infinity ? log_delta.hi - log_delta.lo : infinity; }

Grid::Grid(const PartProfiles& profiles, Tolerance tolerance)
    : profiles_(&profiles),
      parts_(&profiles.parts()),
      direction_(profiles.direction()),
      tolerance_(tolerance),
      log2_limit_(largest_log2_size),
      price_(usual_price),
      value_width_{first_value_width, 0} {
  for (std::size_t i = 0; i < parts_->size(); ++i) {
    runs_ += static_cast<double>((*parts_)[i].times);
    if (profiles[i].batches()) price_ = std::max(price_, batch_price);
    price_ = std::max(price_, usual_price + atom_price * static_cast<double>(profiles[i].atoms_summed()));
  }
  const auto all_transforms = [&] { return std::ldexp(static_cast<double>(parts_->size()), static_cast<int>(log2_limit_)); };
  while (log2_limit_ > smallest_log2_size && all_transforms() > transform_budget) --log2_limit_;
}

Evaluation Grid::evaluation(Direction direction, double epsilon, const Answer& answer) const {
  Evaluation found{"tilted-fft", direction, epsilon, answer.log_delta};
  if (!composed_) return found;
  found.counts = {{"points", static_cast<std::uint64_t>(points_)}, {"transform length", composed_->above.law.size()}};
  found.settings = {{"step", step_}, {"tilt", composed_->above.tilt}};
  const double share = std::exp(answer.width());  // from the upper end to the lower one
  found.errors = {{"cut", answer.cut * share}, {"rounding", answer.rounding * share}, {"alias", answer.alias * share}};
  return balanced(std::move(found), "discretisation");
}

double Grid::largest_loss() const {
  double sum = 0;
  for (std::size_t i = 0; i < parts_->size(); ++i) sum += static_cast<double>((*parts_)[i].times) * ranges_[i].high;
  return sum;
}

// [tilted-fft]
void Grid::compose(const Tilt& tilt, unsigned log2_size) {
  composed_ = std::make_shared<const ComposedPair>(compose_tilted(factors_, step_, *outline_, tilt, log2_size));
  const double work = transform_price * std::ldexp(static_cast<double>(parts_->size() + 2), static_cast<int>(log2_size));
  work_ += work;
  Work::count(work);
}

/// Losses at which a distribution ends in a corner, or has its atoms: a lattice that contains them all has no first-order error.
void Grid::find_corners() {
  std::vector<double> corners;  // of densities
  std::vector<double> places;   // of atoms of finite laws
  all_atoms_ = true;
  for (std::size_t i = 0; i < parts_->size(); ++i) {
    const Loss& loss = *(*parts_)[i].loss;
    if (const Atoms* atoms = loss.atoms(direction_)) {
      for (const Atom& atom : atoms->finite) places.push_back(std::abs(atom.loss.lo));
      continue;
    }
    all_atoms_ = false;
    if (const std::span<const double> known = loss.corners(direction_); !known.empty()) {
      for (const double corner : known)
        if (std::abs(corner) <= farthest_loss) corners.push_back(std::abs(corner));  // corners beyond it are outside every range
      continue;
    }
    if (loss.capabilities(direction_).atomless) continue;
    // A corner: just inside the range the profile is steeper than the straight line outside by the mass of an atom.
    const auto steepness = [&](double end, double line) {
      const auto above = [&](double e) { return loss.delta(direction_, Interval::exactly(e)).hi + line * std::expm1(e); };
      return std::abs(above(end * (1 - 2e-6)) - above(end * (1 - 1e-6))) / (1e-6 * std::abs(end));
    };
    constexpr double least_atom = 1e-3;  // smaller atoms may lie between lattice points
    if (ranges_[i].high < farthest_loss && steepness(ranges_[i].high, 0) > least_atom) corners.push_back(ranges_[i].high);
    if (steepness(ranges_[i].low, 1) > least_atom) corners.push_back(-ranges_[i].low);
  }
  std::vector<double> all = places;
  all.insert(all.end(), corners.begin(), corners.end());
  corner_ = common_divisor(all);
  other_corners_.clear();
  if (!corner_ && !corners.empty()) {  // the finite distributions exactly, or else one corner exactly and the others approximately
    std::sort(corners.begin(), corners.end(), std::greater<>());
    corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
    corner_ = common_divisor(places).value_or(corners.front());
    if (corners.size() <= most_corners) other_corners_ = corners;
  }
  all_atoms_ = all_atoms_ && corner_.has_value();
}

/// The finest step whose sums can still be indexed and whose period the longest transform can hold.
double Grid::finest_step() const {
  double reach = 0;
  for (std::size_t i = 0; i < parts_->size(); ++i) {
    reach += static_cast<double>((*parts_)[i].times) * std::max(ranges_[i].high, -ranges_[i].low);
  }
  return std::max(reach / largest_index, std::ldexp(tilt_.period, -static_cast<int>(log2_limit_)));
}

/// From `least` on, but not much more: the number of cells up to the first corner for which the other corners lie nearest to lattice
/// points. The error of an atom next to a lattice point is proportional to their distance; that of a density, to the square of the step.
double Grid::nearest_cells(double least) const {
  double best = least, best_distance = infinity;
  const double most = other_corners_.empty() ? least : least + std::min(std::ceil(0.25 * least), 20000.0);
  for (double cells = least; cells <= most && cells < 0x1p53; ++cells) {  // beyond, adding one cell changes nothing
    double distance = 0;
    for (const double corner : other_corners_) {
      const double place = corner / *corner_ * cells;
      distance += std::abs(place - std::round(place));
    }
    if (distance < best_distance) best = cells, best_distance = distance;
  }
  return best;
}

void Grid::set_step(double wanted) {
  if (!corner_ || *corner_ <= wanted) {
    step_ = shortened(wanted);
    return;
  }
  // With two cells per spacing of atoms, the chords next to an atom coincide with the straight segments between atoms: no error is left.
  // [dominated-pair]
  const bool exact = all_atoms_ && *corner_ / 2 >= finest_step();
  const double cells = exact ? std::max(2.0, std::ceil(*corner_ / widest_cell)) : nearest_cells(std::floor(*corner_ / wanted));
  step_ = *corner_ / cells * (1 - 0x1p-40);  // so that a corner is certainly not left of its lattice point
}

double Grid::points_affordable() const { return price_ > usual_price ? std::min(point_budget, slow_budget / price_) : point_budget; }

void Grid::find_ranges() {
  value_width_.absolute = tail_ / runs_;
  ranges_.clear();
  const double left = std::max(1e-15, 1e-3 * tolerance_.relative / runs_), right = tail_ / runs_;
  for (std::size_t i = 0; i < parts_->size(); ++i)
    ranges_.push_back((*profiles_)[i].range({left, right, {range_value_width, 0.1 * right}}, farthest_loss));
  count_readings(range_readings * static_cast<double>(parts_->size()));
  find_corners();
}

/// Lattice points over the range of part `i`, including 0, at the distances of `spacing`.
Points Grid::points(std::size_t i, const Spacing& spacing) const {
  const auto first = std::min<std::int64_t>(-1, static_cast<std::int64_t>(std::floor(ranges_[i].low / step_ + 1e-9)));
  const auto last = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(ranges_[i].high / step_ - 1e-9)));
  Points points{step_, {first}};
  std::size_t g = 0;  // the requested spacings at g - 1 and g are on either side
  const std::vector<double>&loss = spacing.loss, &width = spacing.width;
  // The spacing may come from another range; a slow profile is not evaluated more often than the budget allows.
  const double least =
      price_ > slow_price ? (ranges_[i].high - ranges_[i].low) * static_cast<double>(parts_->size()) / points_affordable() : 0;
  while (points.index.back() < last) {
    const std::int64_t here = points.index.back();
    const double at = step_ * static_cast<double>(here);
    while (g < loss.size() && loss[g] <= at) ++g;
    double wish = 0;
    if (g == 0)
      wish = width.front() + (loss.front() - at) / 2;
    else if (g == loss.size())
      wish = width.back() + (at - loss.back()) / 2;
    else
      wish = width[g - 1] + (width[g] - width[g - 1]) * ((at - loss[g - 1]) / (loss[g] - loss[g - 1]));
    wish = std::max(wish, least);
    std::int64_t next = here + std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(std::min(wish, widest_cell) / step_)));
    if (here < 0) next = std::min<std::int64_t>(next, 0);
    points.index.push_back(std::min(next, last));
  }
  return points;
}

/// If the distribution of part `i` is finite and its atoms lie on the lattice: those points and their neighbours, between which the profile
/// is linear, and more points to keep neighbours close. [dominated-pair]
std::optional<Points> Grid::exact_points(std::size_t i) const {
  const Atoms* atoms = (*parts_)[i].loss->atoms(direction_);
  if (atoms == nullptr || !corner_ || !(*corner_ > 2 * step_) || atoms->finite.size() > most_atoms) return std::nullopt;
  Points points{step_, {-1, 0, 1}};
  for (const Atom& atom : atoms->finite) {
    const double place = atom.loss.lo / step_, nearest = std::round(place);
    if (!(std::abs(place - nearest) < 1e-4)) return std::nullopt;
    if (atom.loss.lo < ranges_[i].low - step_ || atom.loss.lo > ranges_[i].high + step_) continue;  // negligible: cut off
    for (const int beside : {-1, 0, 1}) points.index.push_back(static_cast<std::int64_t>(nearest) + beside);
  }
  std::sort(points.index.begin(), points.index.end());
  const auto widest = std::max<std::int64_t>(1, static_cast<std::int64_t>(widest_cell / step_));
  const std::vector<std::int64_t> sparse = std::exchange(points.index, {});
  for (const std::int64_t index : sparse) {
    while (!points.index.empty() && index - points.index.back() > widest) points.index.push_back(points.index.back() + widest);
    if (points.index.empty() || index > points.index.back()) points.index.push_back(index);
  }
  return points;
}

void Grid::discretise(const std::vector<Spacing>& spacings) {
  factors_.clear();
  composed_.reset();
  points_ = 0;
  const std::uint64_t begin = Work::now();
  for (std::size_t i = 0; i < parts_->size(); ++i) {
    const auto exact = exact_points(i);
    // A distribution on the last lattice but not on this one has no spacing yet: start with the initial one.
    const auto& [low, high] = ranges_[i];
    const double width = std::max(step_, (high - low) / first_points);
    const bool no_wish = spacings[i].loss.empty();
    const Points read_at = exact ? *exact : points(i, no_wish ? Spacing{{low, high}, {width, width}} : spacings[i]);
    points_ += static_cast<double>(read_at.index.size());
    factors_.push_back({(*profiles_)[i].discretise(read_at, value_width_), static_cast<double>((*parts_)[i].times), exact.has_value()});
  }
  outline_.emplace(factors_, step_);
  work_ += Work::since(begin);  // of profiles that count their own
  count_readings(points_);
}

/// Evaluations of formulas are counted here; slower profiles count their own work.
void Grid::count_readings(double readings) {
  work_ += price_ * readings;
  Work::count(std::min(price_, slow_price) * readings);
}

/// Every lattice point of every range.
std::vector<Spacing> Grid::even() const {
  std::vector<Spacing> spacings;
  for (const Range& one : ranges_) spacings.push_back({{one.low, one.high}, {step_, step_}});
  return spacings;
}

bool Grid::start() {
  // Formulas have one price. A much slower profile (a composition inside an operator) counts its own work: it is measured once while the
  // range is determined, so that the first lattice is affordable, and once on that lattice.
  std::uint64_t begin = Work::now();
  const auto price_of = [&begin](double readings) { return Work::since(begin) / readings; };
  find_ranges();
  const double price_of_range = price_of(range_readings * static_cast<double>(parts_->size()));
  double widest = 0;
  for (const Range& one : ranges_) widest = std::max(widest, one.high - one.low);
  const auto part_count = static_cast<double>(parts_->size());
  double wanted = std::max(finest_step(), std::min(widest * part_count / first_points, widest / 512));
  bool batches = false;
  for (std::size_t i = 0; i < parts_->size(); ++i) batches = batches || (*profiles_)[i].batches();
  if (price_of_range > slow_price && !batches)
    wanted = std::max(wanted, std::min(widest * part_count * price_of_range / first_look_budget, widest / 64));
  if (!(wanted < widest_cell)) {
    // A wide range has more points than usual, if they are affordable.
    constexpr double wide = 0.9 * widest_cell;
    if (!(finest_step() <= wide && points_of_even(wide) * std::max(price_, price_of_range) <= first_look_budget)) return false;
    wanted = wide;
  }
  set_step(wanted);
  begin = Work::now();
  discretise(even());
  if (const double price = price_of(points_); price > slow_price && !batches) price_ = price;
  return true;
}

double Grid::points_of_even(double step) const {
  double points = 0;
  for (const Range& one : ranges_) points += (one.high - one.low) / step;
  return points;
}

bool Grid::refine(const Answer& answer) {
  const double wanted = tolerance_.relative;
  // If nothing is known, epsilon is taken near the largest kept loss.
  const bool widen = (answer.cut > wanted / 8 || !(answer.rounding < infinity)) && tail_ > smallest_tail;
  if (widen) {
    // A proved bound of delta determines where to cut; without one, twice as many digits are kept.
    const double least = std::exp(answer.log_delta.lo);
    tail_ = std::max(smallest_tail, least > 0 ? std::min(1e-3 * tail_, wanted / 64 * least) : tail_ * tail_);
    find_ranges();
  }
  const double other = answer.cut + answer.rounding + answer.alias, discretisation = answer.width() - other;
  // No transform is long enough for this step: use a coarser step, unless the distribution of a part would then fall into one cell.
  const bool coarsen = answer.alias > wanted / 8 && step_ < 0.9 * finest_step() && finest_step() < 100 * step_;
  if (!widen && !coarsen && (!(discretisation > wanted / 2) || all_atoms_)) return false;
  // The error is of second order in the widths. Aim below the target, further below if it is far, because the outline is coarse and a
  // lattice that misses the target is made again; and only part of the way if it is very far.
  const double share = discretisation > 10 * wanted ? 0.3 : 0.6;
  const double aim = share * std::max(wanted - other, wanted / 4);
  const double shrink = std::isfinite(discretisation) ? std::clamp(aim / discretisation, 1e-3, 1.0) : 1e-2;
  const double now = outline_->doubt(tilt_), doubt = shrink * now;
  value_width_.relative = std::max(least_value_width, shrink * value_width_.relative);
  value_width_.absolute = std::max(tail_, 1e-3 * wanted * std::exp(answer.log_delta.lo)) / runs_;
  // An even lattice needs the step sqrt(doubt / runs); if it is affordable, it is the simplest and the most reliable.
  const double even_step = std::max(finest_step(), 0.95 * std::sqrt(doubt / runs_));
  if (runs_ * even_step * even_step < 0.8 * now && points_of_even(even_step) * price_ <= even_budget) {
    set_step(std::min(even_step, widest_cell));
    discretise(even());
    return true;
  }
  // Otherwise a slightly finer step costs little more in transforms and saves most of the points.
  const double step = std::max(finest_step(), 0.7 * std::sqrt(doubt / runs_));
  const std::vector<Spacing> spacings = outline_->spacing(tilt_, doubt, step, points_affordable());
  if (!widen && !coarsen && !(outline_->doubt(tilt_, spacings) < 0.8 * now)) return false;
  set_step(std::min(step, widest_cell));
  discretise(all_atoms_ ? even() : spacings);
  return true;
}

Answer Grid::look(double epsilon) {
  if (!(std::abs(epsilon) / step_ < largest_index)) return {};
  const double allowed = 0.1 * tolerance_.relative;
  if (composed_) {
    const Answer answer = read(epsilon);
    if (answer.rounding + answer.alias <= std::max(allowed, 0.02 * answer.width())) return answer;
  }
  const Tilt tilt = outline_->tilt(epsilon, std::log(tolerance_.relative) - 5);
  if (composed_ && std::abs(tilt.value - composed_->above.tilt) <= 0.01 * std::abs(tilt.value)) return read(epsilon);
  tilt_ = tilt;
  unsigned log2_size = smallest_log2_size;
  while (log2_size < log2_limit_ && std::ldexp(step_, static_cast<int>(log2_size)) < tilt.period) ++log2_size;
  compose(tilt, log2_size);
  if (log2_size < log2_limit_ && read(epsilon).alias > allowed) {  // delta was estimated too large, and the period too short
    compose(tilt, log2_size + 1);
  }
  return read(epsilon);
}

Answer Grid::read(double epsilon) const {
  if (!composed_ || !(std::abs(epsilon) / step_ < largest_index)) return {};  // nothing was computed yet, or epsilon is outside its indices
  const Reading above = lattice::read(composed_->above, epsilon), below = lattice::read(composed_->below, epsilon);
  const Interval infinite_above = composed_->above.infinite_total, infinite_below = composed_->below.infinite_total;
  Answer answer;
  answer.log_delta.hi = std::min(0.0, log_add_exp(above.log_finite, log(infinite_above)).hi);
  answer.log_delta.lo = std::min(answer.log_delta.hi, log_add_exp(below.log_finite, log(infinite_below)).lo);
  answer.cut = (infinite_above.hi - infinite_below.lo) / std::exp(answer.log_delta.hi);
  answer.rounding = above.rounding + below.rounding;
  answer.alias = above.alias + below.alias;
  answer.slope = -std::max(tilt_.saddle, 1e-6);
  return answer;
}

}  // namespace tradeoff::detail::lattice
