// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/price.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>

#include "engine/lattice/outline.h"
#include "engine/lattice/transform.h"
#include "loss/recording.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"
#include "operators/allocation/contour.h"
#include "operators/allocation/jump.h"
#include "operators/allocation/large_step.h"
#include "operators/allocation/laws.h"

namespace tradeoff::detail::allocation {
namespace {

using lattice::Composed;

constexpr unsigned smallest_log2_size = 8;
constexpr unsigned largest_log2_size = 21;
constexpr double alias_share = 0.02;  // of the wanted width
constexpr double cut_share = 0.05;    // the same for what is cut off a summand
constexpr double first_cells = 1500;  // of the first, coarse lattice
constexpr int most_lattices = 6;
constexpr double most_law_cells = 0x1p20;
constexpr double many_steps = 500;
constexpr double finest_lattice = 2e-7;  // finer lattices are slow, and rounding limits them
constexpr double farthest = 700;         // weights e^-x beyond it are left out
constexpr double cell_price = 0.35;      // microseconds of a cell of the laws and the transform

/// Encloses E (R - strike)+ of a composed law of whole numbers R. The strikes decrease.
class CallReader {
 public:
  explicit CallReader(const Composed& composed)
      : composed_(composed), size_(static_cast<std::int64_t>(composed.law.size())), period_(static_cast<double>(size_)) {
    share_ = -1 / std::expm1(-composed.tilt * period_);
    copies_ = period_ * std::exp(-composed.tilt * period_) * share_ * share_;
  }

  struct Reading {
    Interval value{0, infinity};
    double rounding = 0;  ///< the part of the width that a finer lattice does not improve
  };
  [[nodiscard]] Reading at(double strike);

 private:
  [[nodiscard]] double mass(std::int64_t index) const {
    const std::int64_t place = (index - composed_.origin) % size_;
    return composed_.law[static_cast<std::size_t>(place < 0 ? place + size_ : place)];
  }
  void start(double strike);
  void move_to(double strike);
  [[nodiscard]] double transform_error() const;
  [[nodiscard]] double alias(double strike, Interval unit) const;

  const Composed& composed_;
  std::int64_t size_;
  double period_;
  double share_;   // sum over l >= 0 of e^{-tilt l n}
  double copies_;  // sum over l >= 0 of l n e^{-tilt l n}
  bool started_ = false;
  double strike_ = 0;
  std::int64_t next_ = 0;  // the first index above the strike
  // The sums over all x > 0 of mass e^{-tilt x} and mass e^{-tilt x} x, and the same of absolute masses; copies of the period are included.
  double zeroth_ = 0, first_ = 0, absolute_zeroth_ = 0, absolute_first_ = 0;
  double roundings_ = 0;  // relative to the absolute sums, in units of roundoff
};

/// A class of residues modulo the period contributes the kernel e^{-tilt x} x summed over x, x + n, x + 2n, ...
void CallReader::start(double strike) {
  constexpr std::int64_t block = 64;
  std::array<double, block> decay{};
  for (std::int64_t i = 0; i < block; ++i) decay[static_cast<std::size_t>(i)] = std::exp(-composed_.tilt * static_cast<double>(i));
  next_ = static_cast<std::int64_t>(std::floor(strike)) + 1;
  strike_ = strike;
  const double begin = static_cast<double>(next_) - strike;
  for (std::int64_t from = 0; from < size_; from += block) {
    const double x0 = begin + static_cast<double>(from), argument = composed_.tilt * x0;
    if (argument > farthest) break;
    const double factor = std::exp(-argument);
    double zeroth = 0, first = 0, absolute_zeroth = 0, absolute_first = 0;
    for (std::int64_t i = 0; i < std::min(block, size_ - from); ++i) {
      const double weight = factor * decay[static_cast<std::size_t>(i)], part = mass(next_ + from + i) * weight;
      const double reach = (x0 + static_cast<double>(i)) * share_ + copies_;
      zeroth += part * share_;
      first += part * reach;
      absolute_zeroth += std::abs(part) * share_;
      absolute_first += std::abs(part) * reach;
    }
    zeroth_ += zeroth, first_ += first, absolute_zeroth_ += absolute_zeroth, absolute_first_ += absolute_first;
  }
  roundings_ = 120 + 4 * farthest + period_ / 64;  // exponentials, their arguments, products, 64 sums; the sums of blocks
  started_ = true;
}

void CallReader::move_to(double strike) {
  const double distance = strike_ - strike, shrink = std::exp(-composed_.tilt * distance);
  first_ = shrink * (first_ + distance * zeroth_);
  absolute_first_ = shrink * (absolute_first_ + distance * absolute_zeroth_);
  zeroth_ *= shrink, absolute_zeroth_ *= shrink;
  const auto begin = static_cast<std::int64_t>(std::floor(strike)) + 1;
  for (std::int64_t index = begin; index < next_; ++index) {
    const double x = static_cast<double>(index) - strike, part = mass(index) * std::exp(-composed_.tilt * x);
    zeroth_ += part, first_ += part * x, absolute_zeroth_ += std::abs(part), absolute_first_ += std::abs(part) * x;
  }
  roundings_ += 20 + 4 * composed_.tilt * distance + static_cast<double>(next_ - begin);
  next_ = begin;
  strike_ = strike;
}

/// The weights e^{-tilt x}(share x + copies) over x, x + 1, ...: a sum of values of a function with one maximum is at most its integral and
/// that maximum, for the weights and for their squares.
double CallReader::transform_error() const {
  const double c = composed_.tilt;
  const double sum = share_ * (1 / (c * c) + 1 / (std::numbers::e * c)) + copies_ * (1 / c + 1);
  const double square = 2 * share_ * share_ * (1 / (4 * c * c * c) + 1 / (std::numbers::e * c * std::numbers::e * c)) +
                        2 * copies_ * copies_ * (1 / (2 * c) + 1);
  return (composed_.entry_error * sum + composed_.norm_error * std::sqrt(square)) * (1 + 1e-9);
}

/// x <= e^{s x} / (e s): Chernoff's bound of the copies on either side. They only add to the sums.
double CallReader::alias(double strike, Interval unit) const {
  double sum = 0;
  for (const Composed::Chernoff& side : {composed_.left, composed_.right}) {
    const double distance = std::abs(side.s - composed_.tilt) * period_ * (1 - 1e-12);
    if (!(side.s > 0 && distance > 0)) return infinity;
    const Interval exponent = Interval::exactly(side.log_moment) - Interval::exactly(side.s) * Interval::exactly(strike) - distance -
                              log1mexp(Interval::exactly(-distance)) - 1.0 - log(Interval::exactly(side.s));
    sum += exp(exponent - unit).hi * (1 + 1e-9);
  }
  return sum;
}

CallReader::Reading CallReader::at(double strike) {
  if (!composed_.known || !(std::abs(strike) < 0x1p50)) return {};
  if (std::floor(strike) + 1 > static_cast<double>(composed_.top) || composed_.finite_total.hi <= 0) return {{0, 0}};
  if (started_)
    move_to(strike);
  else
    start(strike);
  const double underflow = 1e-290 * period_ * period_;  // of weights beyond `farthest`
  const double error = (unit_roundoff * roundings_ * absolute_first_ + transform_error() + underflow) * (1 + 1e-9);
  const Interval unit = composed_.log_scale - Interval::exactly(composed_.tilt) * Interval::exactly(strike), scale = exp(unit);
  const double copies = alias(strike, unit);
  const Interval input = exp(Interval{-composed_.log_input_error, composed_.log_input_error});
  const Interval folded = Interval{std::max(0.0, first_ - error), std::max(0.0, first_ + error)} * input;
  if (!(folded.hi < infinity && scale.hi < infinity && copies < infinity)) return {};
  return {{std::max(0.0, (scale * (Interval::exactly(folded.lo) - copies)).lo), (scale * folded).hi}, (copies + 2 * error) * scale.hi};
}

/// The tilt near the saddle point of E (R - strike)+, and the period at which the copies are as small as wanted against `log_least`.
lattice::Tilt find_tilt(const lattice::Outline& outline, double strike, double log_least, double log_share) {
  const auto rises = [&](double c) { return outline.moment(c).mean - strike - 2 / c > 0; };
  const double saddle = numeric::bisect_ratio(rises, {0x1p-50, 0x1p10}, 60).before;
  const lattice::Moment at = outline.moment(saddle);
  const double value =
      at.log - saddle * strike - 2 * std::log(saddle) - 0.5 * std::log(2 * std::numbers::pi * (at.variance + 2 / (saddle * saddle)));
  const double target = std::max(value, log_least) + log_share;
  const auto length = [&](double s, double tilt) {
    return (outline.moment(s).log - s * strike - 1 - std::log(s) - target) / std::abs(s - tilt);
  };
  lattice::Tilt best;
  best.period = infinity;
  for (const double part : {1.0, 0.85, 0.7, 0.5}) {
    const double tilt = part * saddle;
    lattice::Tilt one{tilt, saddle, 0, 0, 0};
    double left = infinity, right = infinity;
    for (const double share : {0.02, 0.1, 0.25, 0.5, 0.75}) {
      const double here = length(share * tilt, tilt);
      if (here < left) left = here, one.left = share * tilt;
    }
    for (const double share : {1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0, 30.0}) {
      const double here = length(share * tilt, tilt);
      if (here < right) right = here, one.right = share * tilt;
    }
    one.period = std::max({left, right, 0.0});
    if (one.period < best.period) best = one;
  }
  return best;
}

/// The normal variable at which a lognormal summand is m.
Interval cut_at(const Summand& summand, double m) {
  const Interval s = Interval::exactly(summand.s());
  return log(Interval::exactly(m)) / s + s / 2.0;
}

class Pricer {
 public:
  Pricer(Interval mu, double steps, Option option, std::span<const double> strikes, double wanted, double floor)
      : above_(mu.hi, 0), below_(mu.lo, 0), steps_(steps), option_(option), strikes_(strikes), wanted_(wanted), floor_(floor) {}
  /// The expected excess over 0 of sums of summands with a negative part; more of that part makes it smaller.
  Pricer(Interval mu, double steps, Interval kappa, double wanted)
      : above_(mu.hi, kappa.lo), below_(mu.lo, kappa.hi), steps_(steps), option_(Option::call), strikes_(zero), wanted_(wanted) {}

  [[nodiscard]] std::vector<Interval> values();

 private:
  static constexpr std::array<double, 1> zero{0};
  [[nodiscard]] double guess() const;
  [[nodiscard]] Cut cut(double size) const;
  /// A product of laws, and how often it occurs.
  struct Term {
    std::vector<lattice::Factor> factors;
    Interval weight;
  };
  [[nodiscard]] double split_at(double size) const;
  [[nodiscard]] std::vector<Term> split_terms(const LatticeLaw& up, const LatticeLaw& down, double h, double b, double& rest) const;
  [[nodiscard]] bool price(double h, const Cut& cut, double size, bool split);
  [[nodiscard]] bool is_call() const { return option_ == Option::call; }

  Summand above_;
  Summand below_;
  double steps_;
  Option option_;
  std::span<const double> strikes_;
  double wanted_;
  double floor_ = 0;
  std::vector<Interval> values_;
  double slope_ = 0;          // the tilt of the last lattice, per unit of a summand
  double excess_period_ = 0;  // of the last lattice, as a share of the longest transform
  double rounding_ = 0;       // of the last lattice, relative to the value
};

/// A rough size of a call at the largest strike: one large summand, or a Gaussian sum.
double Pricer::guess() const {
  const double k = strikes_.back() + steps_ * above_.kappa(), s = above_.s();
  const double deviation = std::sqrt(steps_ * std::expm1(std::min(s * s, 600.0))), z = (k - steps_) / deviation;
  const double bulk = deviation / steps_ * (std::exp(-z * z / 2) / 2.5066282746310002 - z * 0.5 * std::erfc(z / std::numbers::sqrt2));
  const double one = above_.call(std::max(k - steps_ + 1, 0.0)).hi;
  return std::max({bulk, one, 1e-300});
}

Cut Pricer::cut(double size) const {
  const double largest = strikes_.back();
  Cut cut{above_.value(-36), 0, false, !is_call()};
  if (is_call()) {
    const auto is_small = [&](double z) { return below_.call(below_.value(z)).hi <= cut_share * wanted_ * size; };
    cut.high = below_.value(numeric::bisect(is_small, {-5, 38}, 40).beyond);
    cut.restricted = above_.kappa() == 0 && cut.high >= largest;
    if (cut.restricted) cut.high = largest;
    if (above_.kappa() != 0) {  // a summand below this leaves no excess, because the others cannot make up for it
      const double others = std::sqrt(steps_ * std::expm1(std::min(above_.s() * above_.s(), 600.0)));
      cut.low = std::max(above_.value(-36), -(4 * cut.high + 12 * others));
    }
  } else {
    const auto is_small = [&](double z) {  // the tilt of the last lattice makes large summands rare
      return steps_ * 0.5 * std::erfc(z / std::numbers::sqrt2) * std::exp(-slope_ * std::max(0.0, above_.value(z) - 1)) <=
             cut_share * wanted_;
    };
    cut.high = std::min(largest, above_.value(numeric::bisect(is_small, {-5, 38}, 40).beyond));
  }
  return cut;
}

/// Mirrors the law of a summand, so that a put becomes a call.
void mirror(lattice::Law& law) {
  std::reverse(law.index.begin(), law.index.end());
  std::reverse(law.mass.begin(), law.mass.end());
  for (std::int64_t& index : law.index) index = -index;
}

/// The atoms of a law up to a position, or beyond it.
lattice::Law part_of(const lattice::Law& law, double last_index, bool beyond) {
  lattice::Law part;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    if ((static_cast<double>(law.index[i]) > last_index) != beyond) continue;
    part.index.push_back(law.index[i]);
    part.mass.push_back(law.mass[i]);
  }
  double sum = 0;
  for (const double mass : part.mass) sum += mass;
  part.finite_total = {sum * (1 - 1e-9), sum * (1 + 1e-9)};
  return part;
}

/// If at most two summands exceed b: the terms with none, one and two of them, each under its own tilt, and a bound of the rest.
/// [allocation-price]
std::vector<Pricer::Term> Pricer::split_terms(const LatticeLaw& up, const LatticeLaw& down, double h, double b, double& rest) const {
  const double up_last = std::floor(b / h), down_last = std::floor((b - down.origin) / h);
  const lattice::Pair small{part_of(up.law, up_last, false), part_of(down.law, down_last, false)};
  const lattice::Pair large{part_of(up.law, up_last, true), part_of(down.law, down_last, true)};
  std::vector<Term> terms;
  const Interval count = Interval::exactly(steps_);
  terms.push_back({{{small, steps_, false}}, Interval::exactly(1)});
  if (steps_ > 1) terms.push_back({{{small, steps_ - 1, false}, {large, 1, false}}, count});
  if (steps_ == 2) terms.back().factors[0].times = 1;
  if (steps_ > 2) terms.push_back({{{small, steps_ - 2, false}, {large, 2, false}}, count * (count - 1.0) / 2.0});
  // E (S; three or more beyond) / T.
  Interval mean = Interval::exactly(0);
  for (std::size_t i = 0; i < large.above.mass.size(); ++i)
    mean = mean + Interval::exactly(large.above.mass[i]) * (Interval::exactly(h) * Interval::exactly(large.above.index[i]));
  const Interval many = count * large.above.finite_total;
  rest = (2.0 * (mean * square(many) / 2.0 + square(many) * many / 6.0)).hi;
  return terms;
}

/// The least b with a negligible chance of three summands beyond it.
double Pricer::split_at(double size) const {
  const double allowed = 0.02 * wanted_ * size;
  const auto is_small = [&](double z) {
    const double many = steps_ * 0.5 * std::erfc(z / std::numbers::sqrt2);
    const double mean = 0.5 * std::erfc((z - above_.s()) / std::numbers::sqrt2);
    return mean * many * many + many * many * many / 3 <= allowed;
  };
  return above_.value(numeric::bisect(is_small, {-5, 38}, 40).beyond);
}

bool Pricer::price(double h, const Cut& cut, double size, bool split) {
  LatticeLaw up = spread_law(above_, h, cut), down = contracted_law(below_, h, cut);
  if (up.law.mass.empty()) return false;
  if (!is_call()) mirror(up.law), mirror(down.law);
  const bool has_lower = !down.law.mass.empty();
  std::optional<Jump> jump_above, jump_below;
  if (cut.restricted) {
    jump_above.emplace(above_.s(), steps_, cut_at(above_, up.top));
    jump_below.emplace(below_.s(), steps_, cut_at(below_, has_lower ? down.top : cut.high));
  }
  double moved = is_call() && !cut.restricted ? above_.call(up.top).hi : 0, rest = 0;
  std::vector<Term> terms{{{{{up.law, down.law}, steps_, false}}, Interval::exactly(1)}};
  if (const double b = split && is_call() && has_lower && above_.kappa() == 0 ? split_at(size) : infinity; b < cut.high)
    terms = split_terms(up, down, h, b, rest);
  moved = numeric::add_up(moved, rest);
  // Strikes in units of the lattices.
  const auto strike_of = [&](double k, const LatticeLaw& law) {
    const Interval strike = (Interval::exactly(k) - Interval::exactly(steps_) * Interval::exactly(law.origin)) / Interval::exactly(h);
    return is_call() ? strike : -strike;
  };
  const Interval unit = Interval::exactly(h) / Interval::exactly(steps_);
  const std::size_t count = strikes_.size();
  std::vector<double> high(count), low(count), rounding(count);
  excess_period_ = 0;
  for (const Term& term : terms) {
    const lattice::Outline outline(term.factors, 1);
    const double least = std::log(size / (unit * term.weight).hi);
    const lattice::Tilt tilt = find_tilt(outline, strike_of(strikes_[count / 2], up).lo, least, std::log(alias_share * wanted_));
    unsigned log2_size = smallest_log2_size;
    while (log2_size < largest_log2_size && std::ldexp(1.0, static_cast<int>(log2_size)) < tilt.period) ++log2_size;
    excess_period_ = std::max(excess_period_, std::ldexp(tilt.period, -static_cast<int>(largest_log2_size)));
    const lattice::ComposedPair composed = lattice::compose_tilted(term.factors, 1, outline, tilt, log2_size);
    slope_ = tilt.value / h;
    Work::count(cell_price * (std::ldexp(1.0, static_cast<int>(log2_size)) + static_cast<double>(up.law.mass.size())));
    CallReader read_above(composed.above), read_below(composed.below);
    const Interval share = unit * term.weight;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = is_call() ? count - 1 - n : n;  // from the largest strike down; puts are mirrored
      const CallReader::Reading reading = read_above.at(strike_of(strikes_[i], up).lo);
      high[i] = numeric::add_up(high[i], (share * reading.value).hi);
      rounding[i] += share.hi * reading.rounding;
      if (has_lower) low[i] = numeric::add_down(low[i], (share * read_below.at(strike_of(strikes_[i], down).hi).value).lo);
    }
  }
  rounding_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (jump_above) {
      high[i] = numeric::add_up(high[i], jump_above->at(strikes_[i]).hi);
      low[i] = numeric::add_down(low[i], jump_below->at(strikes_[i]).lo);
    }
    high[i] = numeric::add_up(high[i], moved);
    values_[i] = intersect(values_[i], {std::max(low[i], 0.0), high[i]});
    rounding_ = std::max(rounding_, rounding[i] / std::max(high[i], floor_));
  }
  return true;
}

std::vector<Interval> Pricer::values() {
  values_.assign(strikes_.size(), {0, infinity});
  double size = guess(), h = 0;
  bool split = false;
  for (int i = 0; i < most_lattices; ++i) {
    const Cut here = cut(size);
    if (i == 0) {
      const double s = above_.s();
      const double deviation = std::min((1 + above_.kappa()) * std::sqrt(std::expm1(std::min(s * s, 600.0))), here.high - here.low);
      h = std::max((here.high - here.low) / first_cells, std::sqrt(steps_) * deviation / 200);
    }
    h = std::max(h, (here.high - here.low) / most_law_cells);
    if (!price(short_step(h), here, i == 0 ? std::max(floor_, 1e-300) : size, split)) break;
    double width = 0;
    for (const Interval& value : values_) width = std::max(width, (value.hi - value.lo) / std::max({value.lo, floor_, 1e-300}));
    if (width <= wanted_ || (split && rounding_ > 0.5 * width)) break;
    // The error is of second order in the step.
    const double next = width < 100 ? std::clamp(std::sqrt(0.6 * wanted_ / width), 0.01, 0.8) : 0.25;
    split = split || rounding_ / next > 0.2 * wanted_;
    const Interval last = is_call() ? values_.back() : values_.front();
    size = std::max(floor_, last.lo > 0 ? std::sqrt(last.lo * last.hi) : std::max(std::min(size, last.hi) / 100, 1e-4 * last.hi));
    const double wanted_step = std::max({h * next, h * excess_period_, (here.high - here.low) / most_law_cells});
    if (!(wanted_step < 0.95 * h) && i > 1) break;
    h = std::min(h, wanted_step);
  }
  return values_;
}

// [allocation-laws] [allocation-jump] [allocation-price] [allocation-contour]
void record_lattices(bool ratio) {
  static const Citations of_ratio{
      {"allocation-laws", "the likelihood ratio is a sum of lognormal variables, each between two distributions on a lattice",
       Method::lattice},
      {"allocation-jump", "steps with a large likelihood ratio are summed in closed form", Method::lattice},
      {"allocation-price", "the expected excess of the sum by tilted transforms", Method::lattice}};
  static const Citations of_difference{
      {"allocation-laws", "the difference of the likelihoods is a sum over the steps, each term between two distributions on a lattice",
       Method::lattice},
      {"allocation-price", "the expected excess of the sum by tilted transforms", Method::lattice}};
  record(ratio ? of_ratio : of_difference);
}
void record_large_step() {
  static const Citation far("allocation-large-step", "far in the tail: one step has a large likelihood ratio, the others their mean",
                            Method::closed_form);
  record(far);
}
void record_line(bool ratio) {
  static const Citations of_ratio{
      {"allocation-contour", "the expected excess of a sum of lognormal variables on a vertical line", Method::contour},
      {"allocation-jump", "steps with a large likelihood ratio are summed in closed form", Method::contour}};
  static const Citations of_difference{
      {"allocation-contour", "the expected excess of a sum of differences of likelihoods on a vertical line", Method::contour}};
  record(ratio ? of_ratio : of_difference);
}

}  // namespace

std::vector<Interval> options_on_a_line(Interval mu, double steps, Option option, std::span<const double> strikes, double wanted,
                                        double floor) {
  std::vector<Interval> values = contour_options(mu, steps, option, strikes, wanted, floor);
  if (std::any_of(values.begin(), values.end(), [](Interval value) { return value.hi < infinity; })) record_line(true);
  return values;
}

std::vector<Interval> lognormal_options(Interval mu, double steps, Option option, std::span<const double> strikes, double wanted,
                                        double floor) {
  const auto is_narrow = [&](Interval value) { return value.hi - value.lo <= wanted * std::max(value.lo, floor); };
  if (option == Option::call) {
    std::vector<Interval> far(strikes.size(), Interval{0, infinity});
    // The bounds are narrower at larger strikes.
    for (std::size_t i = 0; i < far.size() && (i == 0 || is_narrow(far[i - 1])); ++i) far[i] = large_step_call(mu, steps, strikes[i]);
    if (is_narrow(far.back())) {
      record_large_step();
      return far;
    }
  }
  std::vector<Interval> values = options_on_a_line(mu, steps, option, strikes, wanted, floor);
  if (std::all_of(values.begin(), values.end(), is_narrow)) return values;
  // With many steps a line that is almost narrow enough is better than what lattices can do in seconds.
  const auto is_useful = [&](Interval value) { return value.hi - value.lo <= 100 * wanted * std::max(value.lo, floor); };
  if (steps >= many_steps && std::all_of(values.begin(), values.end(), is_useful)) return values;
  record_lattices(true);
  const std::vector<Interval> others = Pricer(mu, steps, option, strikes, std::max(wanted, finest_lattice), floor).values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = intersect(others[i], values[i]);
  return values;
}

Interval expected_excess(Interval mu, double steps, Interval kappa, double wanted) {
  const Interval value = contour_excess(mu, steps, kappa, wanted);
  if (value.hi < infinity) record_line(false);
  if (value.hi - value.lo <= wanted * value.lo) return value;
  record_lattices(false);
  return intersect(Pricer(mu, steps, kappa, wanted).values().front(), value);
}

}  // namespace tradeoff::detail::allocation
