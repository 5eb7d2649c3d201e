// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "engine/lattice_pair.h"
#include "engine/lattice_transform.h"
#include "mechanism/atoms.h"
#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

using lattice::ComposedPair;
using lattice::Factor;
using lattice::Outline;
using lattice::Points;
using lattice::Reading;
using lattice::Spacing;
using lattice::Tilt;

constexpr double point_budget = 0x1p19;     // of profiles read in one discretisation, over all parts: about a second
constexpr double slow_seconds = 2;          // for profiles slower than a few microseconds, fewer points
constexpr double patience = 1.5;            // seconds after which no finer lattice is begun
constexpr unsigned largest_log2_size = 21;  // transforms then hold about 150 MB
constexpr unsigned smallest_log2_size = 6;
constexpr double transform_budget = 0x1p24;  // points of all forward transforms, one to a part: about two seconds
constexpr double first_points = 4096;        // of the first, coarse look
constexpr double smallest_tail = 1e-280;     // below this the masses would come near underflow
constexpr double farthest_loss = 4096;       // losses above this count as infinite (above) or are dropped (below)
constexpr double largest_index = 0x1p51;     // lattice indices of sums stay exact in a double
constexpr double widest_cell = 0.25;

/// Fewer bits, so that multiples of a step are exact.
double shortened(double step) {
  int exponent = 0;
  const double mantissa = std::frexp(step, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 20)), exponent - 20);
}

/// The largest number of which all the given ones are multiples, to rounding; nothing if it is small beside them.
std::optional<double> common_divisor(const std::vector<double>& numbers) {
  double divisor = 0, largest = 0;
  for (double a : numbers) {
    largest = std::max(largest, a);
    while (a > 1e-9 * largest) {  // Euclid; a remainder this small, or this close to the divisor, is rounding
      const double remainder = std::fmod(divisor, a);
      divisor = std::exchange(a, remainder > a * (1 - 1e-6) ? 0 : remainder);
    }
    if (divisor < 1e-4 * largest) return std::nullopt;
  }
  if (!(divisor > 0)) return std::nullopt;
  return largest / std::round(largest / divisor);
}

/// Of this process, so that a busy machine does not coarsen answers.
double seconds_since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

/// One direction of the composition: the lattice in use, the laws on it and the last transform. Guarded by its mutex.
class Scene {
 public:
  Scene(const Parts& parts, Direction direction, Tolerance tolerance) : parts_(parts), direction_(direction), tolerance_(tolerance) {
    for (const Part& part : parts) runs_ += static_cast<double>(part.times);
    const auto all_transforms = [&] { return std::ldexp(static_cast<double>(parts.size()), static_cast<int>(log2_limit_)); };
    while (log2_limit_ > smallest_log2_size && all_transforms() > transform_budget) --log2_limit_;
  }

  /// Encloses log delta(epsilon) of the composition.
  Interval log_delta(double epsilon) {
    const std::lock_guard lock(mutex_);
    if (factors_.empty() && !start()) return {-infinity, 0};
    const std::clock_t begin = std::clock();
    Answer answer = look(epsilon);
    Interval best = answer.log_delta;  // what any lattice has certified is certain
    for (int idle = 0; idle < 2 && !(best.width() <= tolerance_.relative) && seconds_since(begin) < patience;) {
      if (!refine(answer)) break;
      answer = look(epsilon);
      const Interval both = intersect(best, answer.log_delta);
      idle = both.width() < 0.9 * best.width() ? 0 : idle + 1;
      best = both;
    }
    return best;
  }

  [[nodiscard]] std::string describe() {
    const std::lock_guard lock(mutex_);
    if (!composed_) return "not asked yet";
    std::ostringstream text;
    text << points_ << " points of a lattice of step " << step_ << ", transforms of length " << composed_->above.law.size() << ", tilt "
         << composed_->above.tilt;
    return text.str();
  }

 private:
  struct Range {
    double low;
    double high;
  };

  struct Answer {
    Interval log_delta{-infinity, 0};
    double cut = 0;       // what moving far losses to infinity may have added, relative to delta
    double rounding = 0;  // of transforms, relative to delta
    double alias = 0;     // what folding may have added, relative to delta
    [[nodiscard]] double width() const { return log_delta.lo > -infinity ? log_delta.hi - log_delta.lo : infinity; }
  };

  /// Where the profile is neither 1 - exp(epsilon) nor flat, up to what is negligible after composition; to the last digit if it ends in
  /// a corner.
  [[nodiscard]] Range range(const Loss& loss) const {
    const auto above = [&](double epsilon) { return loss.delta(direction_, Interval::exactly(epsilon)).hi; };
    const double far = above(farthest_loss);
    const double right_allowed = tail_ / runs_, left_allowed = std::max(1e-15, 1e-3 * tolerance_.relative / runs_);
    const auto end = [&](double sign, auto&& is_beyond) {
      double inner = 0, outer = 0x1p-10;
      while (outer < farthest_loss && !is_beyond(sign * outer)) inner = std::exchange(outer, 2 * outer);
      for (int i = 0; i < 55; ++i) {
        const double middle = (inner + outer) / 2;
        (is_beyond(sign * middle) ? outer : inner) = middle;
      }
      return sign * outer;
    };
    return {end(-1, [&](double e) { return above(e) + std::expm1(e) <= left_allowed; }),
            end(1, [&](double e) { return above(e) - far <= right_allowed; })};
  }

  /// Losses at which a law ends in a corner, or has its atoms: a lattice through them all has no first-order error.
  void find_corners() {
    std::vector<double> corners;
    all_atoms_ = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Loss& loss = *parts_[i].loss;
      if (const Atoms* atoms = loss.atoms(direction_)) {
        for (const Atom& atom : atoms->finite) corners.push_back(std::abs(atom.loss.lo));
        continue;
      }
      all_atoms_ = false;
      // A corner: already just inside the range the profile is steep against the straight line outside, by the mass of an atom.
      const auto steepness = [&](double end, double line) {
        const auto above = [&](double e) { return loss.delta(direction_, Interval::exactly(e)).hi + line * std::expm1(e); };
        return std::abs(above(end * (1 - 2e-6)) - above(end * (1 - 1e-6))) / (1e-6 * std::abs(end));
      };
      constexpr double least_atom = 1e-3;  // smaller ones may lie between lattice points
      if (ranges_[i].high < farthest_loss && steepness(ranges_[i].high, 0) > least_atom) corners.push_back(ranges_[i].high);
      if (steepness(ranges_[i].low, 1) > least_atom) corners.push_back(-ranges_[i].low);
    }
    corner_ = common_divisor(corners);
    if (!corner_ && !corners.empty() && !all_atoms_) corner_ = corners.front();  // rather one than none
    all_atoms_ = all_atoms_ && corner_.has_value();
  }

  /// The finest step whose sums can still be indexed and whose period the longest transform can hold.
  [[nodiscard]] double finest_step() const {
    double reach = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      reach += static_cast<double>(parts_[i].times) * std::max(ranges_[i].high, -ranges_[i].low);
    }
    return std::max(reach / largest_index, std::ldexp(tilt_.period, -static_cast<int>(log2_limit_)));
  }

  void set_step(double wanted) {
    if (!corner_ || *corner_ <= wanted) {
      step_ = shortened(wanted);
      return;
    }
    // Two cells to a spacing of atoms let the chords beside an atom see the straight pieces between atoms: no error is left.
    // [dominated-pair]
    const bool exact = all_atoms_ && *corner_ / 2 >= finest_step();
    const double cells = exact ? std::max(2.0, std::ceil(*corner_ / widest_cell)) : std::floor(*corner_ / wanted);
    step_ = *corner_ / cells * (1 - 0x1p-40);  // so that a corner is certainly not left of its lattice point
  }

  [[nodiscard]] double points_affordable() const {
    return points_ > 0 && seconds_ > 0 ? std::min(point_budget, slow_seconds * points_ / seconds_) : point_budget;
  }

  void find_ranges() {
    ranges_.clear();
    for (const Part& part : parts_) ranges_.push_back(range(*part.loss));
    find_corners();
  }

  /// Lattice points over the range of part `i`, with 0 among them, as far apart as `spacing` wishes.
  [[nodiscard]] Points points(std::size_t i, const Spacing& spacing) const {
    const auto first = std::min<std::int64_t>(-1, static_cast<std::int64_t>(std::floor(ranges_[i].low / step_ + 1e-9)));
    const auto last = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(ranges_[i].high / step_ - 1e-9)));
    Points points{step_, {first}};
    std::size_t g = 0;  // the wishes at g - 1 and g are on either side
    const std::vector<double>&loss = spacing.loss, &width = spacing.width;
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
      std::int64_t next = here + std::max<std::int64_t>(1, static_cast<std::int64_t>(std::llround(std::min(wish, widest_cell) / step_)));
      if (here < 0) next = std::min<std::int64_t>(next, 0);
      points.index.push_back(std::min(next, last));
    }
    return points;
  }

  void discretise(const std::vector<Spacing>& spacings) {
    const std::clock_t begin = std::clock();
    factors_.clear();
    composed_.reset();
    points_ = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Points read_at = points(i, spacings[i]);
      points_ += static_cast<double>(read_at.index.size());
      factors_.push_back({lattice::discretise(*parts_[i].loss, direction_, read_at), static_cast<double>(parts_[i].times)});
    }
    outline_.emplace(factors_, step_);
    seconds_ = seconds_since(begin);
  }

  /// Every lattice point of every range.
  [[nodiscard]] std::vector<Spacing> even() const {
    std::vector<Spacing> spacings;
    for (const Range& one : ranges_) spacings.push_back({{one.low, one.high}, {step_, step_}});
    return spacings;
  }

  /// The first, coarse lattice, evenly read. False if even that one cannot index the sum.
  bool start() {
    find_ranges();
    double widest = 0;
    for (const Range& one : ranges_) widest = std::max(widest, one.high - one.low);
    const double wanted = std::max(finest_step(), std::min(widest * static_cast<double>(parts_.size()) / first_points, widest / 512));
    if (!(wanted < widest_cell)) return false;
    set_step(wanted);
    discretise(even());
    return true;
  }

  /// A lattice better suited to what was just answered: wider, or finer where it matters. False if nothing is left to gain.
  bool refine(const Answer& answer) {
    const double wanted = tolerance_.relative;
    const bool widen = answer.cut > wanted / 8 && tail_ > smallest_tail;
    if (widen) {
      // What is certain about delta says where to cut; if nothing is, twice as many digits.
      const double least = std::exp(answer.log_delta.lo);
      tail_ = std::max(smallest_tail, least > 0 ? std::min(1e-3 * tail_, wanted / 64 * least) : tail_ * tail_);
      find_ranges();
    }
    const double other = answer.cut + answer.rounding + answer.alias, discretisation = answer.width() - other;
    // No transform is long enough for this step: a coarser one, unless the law of a part would vanish in it.
    const bool coarsen = answer.alias > wanted / 8 && step_ < 0.9 * finest_step() && finest_step() < 100 * step_;
    if (!widen && !coarsen && (!(discretisation > wanted / 2) || all_atoms_)) return false;
    // The doubt is of second order in the widths; aim below what is asked, but from far away only part of the way, since the outline is
    // coarse.
    const double aim = 0.6 * std::max(wanted - other, wanted / 4);
    const double shrink = std::isfinite(discretisation) ? std::clamp(aim / discretisation, 1e-3, 1.0) : 1e-2;
    const double now = outline_->doubt(tilt_), doubt = shrink * now;
    // An even lattice would need the step sqrt(doubt / runs). A little finer costs little more in transforms and saves most of the points.
    const double step = std::max(finest_step(), 0.7 * std::sqrt(doubt / runs_));
    const std::vector<Spacing> spacings = outline_->spacing(tilt_, doubt, step, points_affordable());
    if (!widen && !coarsen && !(outline_->doubt(tilt_, spacings) < 0.8 * now)) return false;
    set_step(std::min(step, widest_cell));
    discretise(all_atoms_ ? even() : spacings);
    return true;
  }

  /// Reads delta off the last transform if that one is good at this epsilon, off a new one otherwise.
  [[nodiscard]] Answer look(double epsilon) {
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
    composed_ = lattice::compose_tilted(factors_, step_, *outline_, tilt, log2_size);
    if (log2_size < log2_limit_ && read(epsilon).alias > allowed) {  // delta was estimated too high, and the period too short
      composed_ = lattice::compose_tilted(factors_, step_, *outline_, tilt, log2_size + 1);
    }
    return read(epsilon);
  }

  [[nodiscard]] Answer read(double epsilon) const {
    const Reading above = lattice::read(composed_->above, epsilon), below = lattice::read(composed_->below, epsilon);
    const Interval infinite_above = composed_->above.infinite_total, infinite_below = composed_->below.infinite_total;
    Answer answer;
    answer.log_delta.hi = std::min(0.0, log_add_exp(above.log_finite, log(infinite_above)).hi);
    answer.log_delta.lo = std::min(answer.log_delta.hi, log_add_exp(below.log_finite, log(infinite_below)).lo);
    answer.cut = (infinite_above.hi - infinite_below.lo) / std::exp(answer.log_delta.hi);
    answer.rounding = above.rounding + below.rounding;
    answer.alias = above.alias + below.alias;
    return answer;
  }

  const Parts& parts_;
  Direction direction_;
  Tolerance tolerance_;
  double runs_ = 0;
  unsigned log2_limit_ = largest_log2_size;
  std::mutex mutex_;
  double tail_ = 1e-16;  // what may be moved to infinity, over all runs
  std::vector<Range> ranges_;
  std::optional<double> corner_;  // a number of which all corners and atoms are multiples
  bool all_atoms_ = false;        // nothing but atoms, and all on such a lattice
  Tilt tilt_;                     // of the last transform
  double step_ = 0;
  double points_ = 0;   // read by the last discretisation
  double seconds_ = 0;  // and how long that took
  std::vector<Factor> factors_;
  std::optional<Outline> outline_;
  std::optional<ComposedPair> composed_;
};

class LatticeLoss final : public Loss {
 public:
  LatticeLoss(const Parts& parts, Tolerance tolerance)
      : parts_(parts),
        symmetric_(std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->symmetric(); })),
        remove_(parts_, Direction::remove, tolerance),
        add_(parts_, Direction::add, tolerance) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return clamp(exp(log_delta(direction, epsilon)), 0, 1);
  }

  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return {bounds(direction, epsilon.hi).lo, bounds(direction, epsilon.lo).hi};
  }

  [[nodiscard]] bool symmetric() const override { return symmetric_; }

  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    Interval log_finite = Interval::exactly(0);
    for (const Part& part : parts_) {
      log_finite = log_finite + Interval::exactly(static_cast<double>(part.times)) * log1p(-part.loss->infinite_mass(direction));
    }
    return clamp(-expm1(log_finite), 0, 1);
  }

  void explain(std::vector<Step>& steps) const override {
    for (const Part& part : parts_) part.loss->explain(steps);
    steps.push_back({"dominating-pair", "every profile joined by chords between the points of a common lattice, from above"});
    steps.push_back({"dominated-pair", "the same chords lowered by the largest gap that convexity allows, from below"});
    steps.push_back({"tilted-fft", remove_.describe() + (symmetric_ ? "" : "; add: " + add_.describe())});
  }

 private:
  [[nodiscard]] Interval bounds(Direction direction, double epsilon) const {
    if (epsilon == infinity) return log(infinite_mass(direction));
    if (epsilon == -infinity) return Interval::exactly(0);
    const Interval found = (direction == Direction::add && !symmetric_ ? add_ : remove_).log_delta(epsilon);
    // A composition is at least as revealing as each of its parts, and no profile is below 1 - exp(epsilon).
    Interval least = log(Interval::exactly(epsilon < 0 ? (-expm1(Interval::exactly(epsilon))).lo : 0));
    for (const Part& part : parts_) least = max(least, part.loss->log_delta(direction, Interval::exactly(epsilon)));
    return {std::min(std::max(found.lo, least.lo), found.hi), found.hi};
  }

  Parts parts_;
  bool symmetric_;
  mutable Scene remove_;
  mutable Scene add_;
};

}  // namespace

LossPointer compose_by_lattice(const Parts& parts, Tolerance tolerance) { return std::make_shared<LatticeLoss>(parts, tolerance); }

}  // namespace tradeoff
