// SPDX-License-Identifier: Apache-2.0
#include "transform/iterated_curve.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "transform/zcdp_nodes.h"

// [group-transform]
namespace tradeoff::detail {
namespace {

using Region = IteratedCurve::Region;

const Interval zero = Interval::exactly(0), log_half = tradeoff::log(Interval::exactly(0.5));
constexpr double narrowest = 1e-4;  // the largest relative error of the length of a piece

/// log(1 - e^v).
template <class T>
T log_complement(T log_mass) {
  using std::expm1, std::log;
  if constexpr (std::is_same_v<T, Interval>)
    return log1mexp(min(log_mass, zero));
  else
    return log(-expm1(log_mass));
}

Level<Interval> on_side(Level<Interval> level, bool left) {
  return level.left == left ? level : Level<Interval>{left, log_complement(level.log_mass)};
}
Level<Interval> mirrored(Level<Interval> level) { return {!level.left, level.log_mass}; }
/// From the nearer end of the unit interval.
Level<Interval> from_nearer_end(Level<Interval> level) {
  return middle_of(level.log_mass) <= log_half.hi ? level : on_side(level, !level.left);
}
Level<Interval> hull_of(Level<Interval> a, Level<Interval> b) { return {a.left, hull(a.log_mass, on_side(b, a.left).log_mass)}; }

}  // namespace

template <>
const SteepHalf<double>& IteratedCurve::half<double>() const {
  return rough_;
}
template <>
const SteepHalf<Interval>& IteratedCurve::half<Interval>() const {
  return proved_;
}
template <>
const SteepHalf<Disc>& IteratedCurve::half<Disc>() const {
  return analytic_;
}

bool IteratedCurve::Piece::is_constant() const {
  return std::none_of(regions.begin(), regions.end(), [](Region region) { return region == Region::steep || region == Region::flat; });
}

bool IteratedCurve::is_known(const SampledCurve& curve) {
  constexpr double least_rho = 1e-8, most_rho = 20;  // beyond them the pair reveals nothing or everything
  const bool has_rate = curve.rate.lo > 0 && curve.rate.hi <= 1;
  if (curve.rho) return has_rate && curve.rho->lo >= least_rho && curve.rho->hi <= most_rho;
  if (curve.base.mu) return has_rate && curve.base.mu->lo > 0;
  return has_rate && curve.base.atom.lo > 0;
}

IteratedCurve::IteratedCurve(const SampledCurve& curve, std::size_t size)
    : rough_(curve), proved_(curve), analytic_(curve), size_(size), infinite_mass_(zero) {
  find_borders(curve);
  middle_ = size % 2 == 0 ? Level<Interval>{true, log_half} : Level<Interval>{true, tradeoff::log((1.0 - shift_) / 2.0)};
  middle_ = preimage(middle_, size / 2);
  if (infinite_.hi > 0) {
    Level<Interval> jump{true, tradeoff::log(infinite_)};
    for (std::size_t i = 1; i < size; ++i) jump = link(jump).next;
    infinite_mass_ = clamp(tradeoff::exp(on_side(jump, true).log_mass), 0, 1);
  }
  find_pieces();
}

double IteratedCurve::largest_loss() const { return (Interval::exactly(static_cast<double>(size_)) * largest_).hi; }

// [group-transform] The halves meet where the loss of the base is 0, or changes sign: Q and P have masses a and 1 - a beyond that point, so
// that h - alpha is rate (1 - 2a) there.
void IteratedCurve::find_borders(const SampledCurve& curve) {
  const SampledBase& base = curve.base;
  const Interval low = curve.rho ? zcdp_start(*curve.rho) : base.mu ? *base.mu / 2.0 : zero;
  const bool atom = !curve.rho && !base.mu, whole = curve.rate == Interval::exactly(1);
  least_parameter_ = low.lo;
  largest_parameter_ = atom ? base.largest.hi : infinity;
  const Interval star = proved_.log_false(low), mass = tradeoff::exp(star);
  shift_ = curve.rate * (1.0 - 2.0 * mass);
  infinite_ = atom ? curve.rate * base.missing : zero;
  largest_ = atom ? proved_.loss(base.largest) : Interval::exactly(infinity);
  const Interval log_true_star = tradeoff::log(mass + shift_);
  const auto add = [&](Level<Interval> level, Region before, Region after) {
    borders_.push_back({on_side(level, true).log_mass, on_side(level, false).log_mass, before, after});
  };
  const Interval top = atom ? tradeoff::log(base.atom) - base.largest : zero;
  const Interval true_top = atom ? tradeoff::log(infinite_ + tradeoff::exp(top + largest_)) : zero;
  if (atom) add({true, top}, Region::top, Region::steep);
  if (whole) {
    add({true, star}, Region::steep, Region::flat);
  } else {
    add({true, star}, Region::steep, Region::zero);
    add({false, log_true_star}, Region::zero, Region::flat);
  }
  if (atom) add({false, true_top}, Region::flat, Region::bottom);
}

/// Newton's method inside a bracket that shrinks.
double IteratedCurve::rough_inverse(bool of_true, double log_mass, double guess) const {
  double low = least_parameter_ - 1e-9 * (1 + least_parameter_), high = largest_parameter_ * (1 + 1e-9);
  if (least_parameter_ > 0) low = std::max(low, 0.5 * least_parameter_);
  double x = std::clamp(guess, low, high);
  for (int i = 0; i < 100; ++i) {
    const double excess = (of_true ? rough_.log_true(x) : rough_.log_false(x)) - log_mass;
    const double hazard = of_true ? rough_.true_hazard(x) : rough_.false_hazard(x);
    (excess > 0 ? low : high) = x;
    double next = x + excess / hazard;
    if (!(next > low) || !(next < high)) next = high < infinity ? 0.5 * (low + high) : 2 * x + 1;
    const double move = std::abs(next - x);
    x = next;
    if (!(move > 1e-9 * (1 + std::abs(x)))) break;  // the next step would be of the size of its square
  }
  return x;
}

/// [group-transform] The parameter at which a mass is reached; around a double by Newton's operator on intervals, and on discs because the
/// hazard there keeps away from 0.
template <class T>
T IteratedCurve::inverse(bool of_true, T log_mass, std::optional<double> guess) const {
  const double x = rough_inverse(of_true, centre_of(log_mass), guess ? *guess : rough_.guess(centre_of(log_mass)));
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    const Interval here = Interval::exactly(x);
    const Interval value = of_true ? proved_.log_true(here) : proved_.log_false(here);
    const auto hazard = [&](T at) { return of_true ? half<T>().true_hazard(at) : half<T>().false_hazard(at); };
    if constexpr (std::is_same_v<T, Interval>) {
      const Interval residual = value - log_mass;
      double reach = 2 * std::max(std::abs(residual.lo), std::abs(residual.hi)) / centre_of(hazard(here)) + 1e-300;
      for (int i = 0; i < 8; ++i, reach *= 4) {
        const Interval around = here + Interval{-reach, reach};
        const Interval slope = hazard(around);
        if (!(slope.lo > 0)) break;
        const Interval root = here + residual / slope;
        if (root.lo >= around.lo && root.hi <= around.hi) return root;
      }
      return Interval::whole();
    } else {
      const double reach = (log_mass - Disc::around(value)).largest();
      double radius = 1.02 * reach / hazard(Disc{x, 0}).least();
      for (int i = 0; i < 24 && radius < infinity; ++i, radius *= 1.15)
        if (hazard(Disc{x, radius}).least() * radius * (1 - 1e-12) >= reach) return Disc{x, radius};
      return Disc{0, infinity};
    }
  }
}

/// Describes the level from the other end of the unit interval if necessary.
template <class T>
void IteratedCurve::turn(State<T>& state, bool left) const {
  using std::exp;
  if (state.level.left == left) return;
  const T mass = state.level.log_mass, other = log_complement(mass);
  if constexpr (!std::is_same_v<T, Interval>) state.slope = -(state.slope * exp(mass - other));
  state.level = {left, other};
}

// [group-transform] log Q(X > x) grows by `gain` from the first parameter to the next.
template <class T>
IteratedCurve::Moved<T> IteratedCurve::moved(T first, T gain) const {
  const SteepHalf<T>& curve = half<T>();
  const T x = inverse<T>(false, curve.log_false(first) + gain, centre_of(first));
  if constexpr (std::is_same_v<T, double>) return {x, curve.false_hazard(first) / curve.false_hazard(x)};
  return {x, {}};
}

/// On a disc the next parameter moves with the first one, and their distance changes little.
template <>
IteratedCurve::Moved<Disc> IteratedCurve::moved(Disc first, Disc gain) const {
  const double c = first.centre, r = first.radius;
  const Interval start = proved_.log_false(Interval::exactly(c));
  const double x = rough_inverse(false, middle_of(start) + gain.centre, c), distance = std::abs(x - c);
  const Disc between{0.5 * (c + x), (r + 0.5 * distance) * (1 + 1e-12)};
  const double turn = analytic_.false_hazard(between).largest() * analytic_.hazard_bend(between).largest();  // of the hazard
  const Disc residual = Disc::around(proved_.log_false(Interval::exactly(x)) - start) - gain;
  const double reach = (distance * r * turn + residual.largest()) * (1 + 1e-12);
  double change = 1.02 * reach / rough_.false_hazard(x);
  for (int i = 0; i < 24 && change < infinity; ++i, change *= 1.15) {
    const Disc next{x, (r + change) * (1 + 1e-12)};
    if (!(analytic_.false_hazard(next).least() * change * (1 - 1e-12) >= reach)) continue;
    const Disc point = analytic_.false_hazard(Disc{c, 0}) / analytic_.false_hazard(Disc{x, 0});
    const double log_change = distance * r * analytic_.bend_slope(between).largest() + change * analytic_.hazard_bend(next).largest();
    return {next, point * exp(Disc{0, log_change * (1 + 1e-12)})};
  }
  return {{0, infinity}, {0, infinity}};
}

/// One iteration inside the steep half.
template <class T>
void IteratedCurve::advance_steep(State<T>& state) const {
  constexpr bool with_slope = !std::is_same_v<T, Interval>;
  const SteepHalf<T>& curve = half<T>();
  Moved<T> here;
  if (!state.steep) {
    turn(state, true);
    here.parameter = state.first = inverse<T>(false, state.level.log_mass);
    here.ratio = state.ratio = number_from<T>(Interval::exactly(1));
    if constexpr (with_slope) state.first_slope = -(state.slope / curve.false_hazard(state.first));
    state.gain = number_from<T>(zero);
    state.steep = true;
  } else {
    here = moved(state.first, state.gain);
  }
  const T x = here.parameter, gain = curve.gain(x);
  state.loss = state.loss + curve.loss(x);
  state.gain = state.gain + gain;
  state.whole_gain = state.whole_gain + gain;
  if constexpr (with_slope) {
    state.loss_slope = state.loss_slope + curve.loss_slope(x) * (state.first_slope * state.ratio * here.ratio);
    state.ratio = state.ratio * curve.hazard_ratio(x);
  }
}

template <class T>
void IteratedCurve::leave_steep(State<T>& state) const {
  if (!state.steep) return;
  const SteepHalf<T>& curve = half<T>();
  state.steep = false;
  state.level = {true, curve.log_false(state.first) + state.gain};
  if constexpr (!std::is_same_v<T, Interval>) state.slope = -(state.first_slope * curve.false_hazard(state.first) * state.ratio);
}

/// One iteration: adds the loss and goes on to h(alpha).
template <class T>
void IteratedCurve::advance(Region region, State<T>& state) const {
  using std::exp, std::log, std::log1p;
  constexpr bool with_slope = !std::is_same_v<T, Interval>;
  if (region == Region::steep) return advance_steep(state);
  leave_steep(state);
  state.gains = state.gains && region != Region::flat && region != Region::bottom;
  if (region != Region::zero) turn(state, region == Region::top);
  T& mass = state.level.log_mass;
  const T before = mass, largest = number_from<T>(largest_);
  switch (region) {
    case Region::top:
      state.loss = state.loss + largest;
      mass = infinite_.hi > 0 ? log(number_from<T>(infinite_) + exp(mass + largest)) : mass + largest;
      state.whole_gain = infinite_.hi > 0 ? state.whole_gain + (mass - before) : state.whole_gain + largest;
      if constexpr (with_slope) state.slope = state.slope * exp(before + largest - mass);
      return;
    case Region::bottom:
      state.loss = state.loss - largest;
      mass = infinite_.hi > 0 ? log(exp(mass) - number_from<T>(infinite_)) - largest : mass - largest;
      if constexpr (with_slope) state.slope = state.slope * exp(before - largest - mass);
      return;
    case Region::zero: {
      const T share = number_from<T>(shift_) * exp(-mass), gain = log1p(state.level.left ? share : -share);
      mass = mass + gain;
      state.gains = state.gains && state.level.left;
      state.whole_gain = state.whole_gain + gain;
      if constexpr (with_slope) state.slope = state.slope * exp(before - mass);
      return;
    }
    default:
      break;
  }
  const SteepHalf<T>& curve = half<T>();
  const T x = inverse<T>(true, mass);
  state.loss = state.loss - curve.loss(x);
  mass = curve.log_false(x);
  if constexpr (with_slope) {
    const T move = -(state.slope / curve.true_hazard(x));
    state.loss_slope = state.loss_slope - curve.loss_slope(x) * move;
    state.slope = -(curve.false_hazard(x) * move);
  }
}

template <class T>
IteratedCurve::Along<T> IteratedCurve::along(const Piece& piece, T parameter) const {
  using std::log;
  const T none = number_from<T>(zero);
  State<T> state{};
  state.loss = state.loss_slope = state.whole_gain = none;
  T log_density = none, density_slope = none;
  std::size_t first = 0;
  if (piece.is_steep()) {
    const SteepHalf<T>& curve = half<T>();
    log_density = curve.log_density(parameter);
    state.steep = true;
    state.first = parameter;
    state.loss = curve.loss(parameter);
    state.gain = state.whole_gain = curve.gain(parameter);
    if constexpr (!std::is_same_v<T, Interval>) {
      density_slope = curve.density_slope(parameter);
      state.first_slope = number_from<T>(Interval::exactly(1));
      state.ratio = curve.hazard_ratio(parameter);
      state.loss_slope = curve.loss_slope(parameter);
    }
    first = 1;
  } else {
    state.level = {true, log(parameter)};
    if constexpr (!std::is_same_v<T, Interval>) state.slope = 1.0 / parameter;
  }
  for (std::size_t i = first; i < size_; ++i) advance(piece.regions[i], state);
  if (!state.gains) {
    leave_steep(state);
    turn(state, true);
    state.whole_gain = state.level.log_mass - (piece.is_steep() ? half<T>().log_false(parameter) : log(parameter));
  }
  return {state.loss, log_density, state.loss_slope, density_slope, state.whole_gain};
}

template IteratedCurve::Along<double> IteratedCurve::along(const Piece&, double) const;
template IteratedCurve::Along<Interval> IteratedCurve::along(const Piece&, Interval) const;
template IteratedCurve::Along<Disc> IteratedCurve::along(const Piece&, Disc) const;

Region IteratedCurve::region_of(Level<double> level) const {
  for (const Border& border : borders_)
    if (level.left ? level.log_mass < middle_of(border.log_left) : level.log_mass > middle_of(border.log_right)) return border.before;
  return borders_.back().after;
}

std::optional<Region> IteratedCurve::sure_region(Level<Interval> level) const {
  for (const Border& border : borders_) {
    const Interval at = level.left ? border.log_left : -border.log_right, mass = level.left ? level.log_mass : -level.log_mass;
    if (mass.hi < at.lo) return border.before;
    if (!(mass.lo > at.hi)) return std::nullopt;
  }
  return borders_.back().after;
}

IteratedCurve::Slope IteratedCurve::rough_loss(double log_alpha) const {
  State<double> state{};
  state.level = {true, log_alpha};
  state.slope = 1;
  for (std::size_t i = 0; i < size_; ++i) {
    const Level<double> level = state.steep ? Level<double>{true, rough_.log_false(state.first) + state.gain} : state.level;
    advance(region_of(level), state);
  }
  return {state.loss, state.loss_slope};
}

IteratedCurve::Link IteratedCurve::link_in(Region region, Level<double> level) const {
  State<Interval> state{};
  state.level = {level.left, Interval::exactly(level.log_mass)};
  state.loss = state.whole_gain = zero;
  advance(region, state);
  leave_steep(state);
  if (region == Region::bottom && !(tradeoff::exp(Interval::exactly(level.log_mass)).lo > infinite_.hi))
    state.loss.lo = -infinity;  // the curve has reached 1
  return {state.loss, from_nearer_end(state.level)};
}

/// h is continuous and increases, and the loss falls: where rounding hides on which side of a border the level lies, both ends of the
/// border bound it.
IteratedCurve::Link IteratedCurve::link_at(Level<double> level) const {
  for (const Border& border : borders_) {
    const Interval at = level.left ? border.log_left : border.log_right;
    if (!at.contains(level.log_mass)) continue;
    const double before = level.left ? at.lo : at.hi, after = level.left ? at.hi : at.lo;
    const Link one = link_in(border.before, {level.left, before}), other = link_in(border.after, {level.left, after});
    return {hull(one.loss, other.loss), hull_of(one.next, other.next)};
  }
  return link_in(region_of(level), level);
}

IteratedCurve::Link IteratedCurve::link(Level<Interval> level) const {
  const Link one = link_at({level.left, level.log_mass.lo});
  if (level.log_mass.lo == level.log_mass.hi) return one;
  const Link other = link_at({level.left, level.log_mass.hi});
  return {hull(one.loss, other.loss), hull_of(one.next, other.next)};
}

IteratedCurve::Chain IteratedCurve::chain(Level<Interval> start) const {
  Chain chain{{}, start};
  for (std::size_t i = 0; i < size_; ++i) {
    const Link next = link(chain.end);
    chain.losses.push_back(next.loss);
    chain.end = next.next;
  }
  return chain;
}

/// The inverse of h is its mirror image: 1 - h^-1(u) = h(1 - u).
Level<Interval> IteratedCurve::preimage(Level<Interval> level, std::size_t times) const {
  for (std::size_t i = 0; i < times; ++i) level = mirrored(link(mirrored(level)).next);
  return level;
}

/// The levels, left of the middle and it, at which a chain passes from one region to another, as logarithms of alpha.
std::vector<Interval> IteratedCurve::breaks() const {
  const Interval end = on_side(middle_, true).log_mass;
  std::vector<Interval> found{end};
  for (const Border& border : borders_) {
    Level<Interval> level = from_nearer_end({true, border.log_left});
    if (!level.left) level = {false, border.log_right};
    for (std::size_t i = 0; i < size_; ++i, level = preimage(level, 1)) {
      const Interval left = on_side(level, true).log_mass;
      if (middle_of(left) < middle_of(end)) found.push_back(left);
    }
  }
  std::sort(found.begin(), found.end(), [](Interval a, Interval b) { return middle_of(a) < middle_of(b); });
  return found;
}

std::optional<std::vector<Region>> IteratedCurve::regions_from(double log_alpha) const {
  std::vector<Region> regions;
  Level<Interval> level{true, Interval::exactly(log_alpha)};
  for (std::size_t i = 0; i < size_; ++i) {
    const auto region = sure_region(level);
    if (!region) return std::nullopt;
    regions.push_back(*region);
    level = link(level).next;
  }
  return regions;
}

Interval IteratedCurve::parameter_at(Interval log_alpha, bool steep) const {
  return steep ? inverse<Interval>(false, log_alpha) : tradeoff::exp(log_alpha);
}

/// Continues a piece over the gap right of it, which is too narrow for a piece of its own.
void IteratedCurve::absorb(Piece& neighbour, const Gap& gap) {
  const bool steep = neighbour.is_steep();
  const Interval from = parameter_at(gap.from, steep), to = parameter_at(gap.to, steep);
  (steep ? neighbour.from : neighbour.to) = to;
  neighbour.continued = true;
  const Chain one = chain({true, gap.from}), other = chain({true, gap.to});
  Interval most = zero, least = zero;
  for (const Interval loss : one.losses) most = most + loss;
  for (const Interval loss : other.losses) least = least + loss;
  const Interval continued = along(neighbour, hull(from, to)).loss, loss = hull(hull(most, least), continued);
  slivers_.push_back({(tradeoff::exp(gap.to) - tradeoff::exp(gap.from)).hi, loss.width(), loss});
}

void IteratedCurve::find_pieces() {
  const std::vector<Interval> levels = breaks();
  Interval before = Interval::exactly(-infinity);
  for (const Interval level : levels) {
    const Gap gap{before, level};
    before = level;
    const bool first = gap.from.lo == -infinity;
    const double inside = first ? gap.to.lo - 1 : 0.5 * (gap.from.hi + gap.to.lo);
    const double doubt = first ? 0 : gap.from.width() + gap.to.width();
    auto regions = doubt <= narrowest * (middle_of(gap.to) - middle_of(gap.from)) ? regions_from(inside) : std::nullopt;
    if (!regions && pieces_.empty()) return;
    if (!regions) {
      absorb(pieces_.back(), gap);
      continue;
    }
    Piece piece{std::move(*regions), {}, {}};
    const bool steep = piece.is_steep();
    const Interval left = first ? (steep ? Interval::exactly(infinity) : zero) : parameter_at(gap.from, steep);
    const Interval right = parameter_at(gap.to, steep);
    piece.from = steep ? right : left;
    piece.to = steep ? left : right;
    pieces_.push_back(std::move(piece));
  }
}

// [group-transform] Losses fall along the chain, so the loss is at most `size` times the first one, and log w <= log w(X) + y - y(X).
double IteratedCurve::log_tail(double power, double parameter) const {
  return rough_.log_tail(power * static_cast<double>(size_), parameter);
}

}  // namespace tradeoff::detail
