// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/remainder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "engine/contour/line.h"
#include "engine/epsilon_search.h"
#include "engine/saddle_point.h"
#include "loss/evaluation.h"
#include "loss/mirrored_delta.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"

// [contour-remainder]
namespace tradeoff::detail {
namespace remainder_line {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

constexpr double most_listed = 4000;       // sums of atoms,
constexpr double most_powers = 20000;      // and those of one item before equal ones are merged
constexpr std::uint64_t most_runs = 400;   // of all parts
constexpr double most_line_nodes = 30000;  // of a line
constexpr double most_products = 8e7;      // nodes times points
constexpr double largest_tilt = 200;       // the order, times the largest loss of a step
constexpr double smallest_order = 1e-3;
constexpr double usual_loss = 0.05;  // of a step without a largest one

/// s^s/(1 + s)^(1 + s), its logarithm: the maximum of (1 - e^-x)+ e^-sx.
double log_of_kappa(double s) { return s > 0 ? s * std::log(s) - (1 + s) * std::log1p(s) : 0; }

/// An atom in doubles, with bounds of the errors.
struct KnownAtom {
  double loss, mass;
  double loss_error, mass_error;  // the second relative
};

/// Sums of atoms: the probability of each list of atoms that the steps may draw, and the sum of its losses.
struct SumOfAtoms {
  double loss, mass;
};
using SumsOfAtoms = std::vector<SumOfAtoms>;

/// All sums of `times` atoms, by the number of times that each is drawn.
SumsOfAtoms power_of(const std::vector<KnownAtom>& atoms, std::uint64_t times) {
  SumsOfAtoms found;
  const auto choose = [&](const auto& self, std::size_t first, std::uint64_t left, SumOfAtoms sum) -> void {
    const KnownAtom& atom = atoms[first];
    if (first + 1 == atoms.size()) {
      const auto count = static_cast<double>(left);
      found.push_back({sum.loss + count * atom.loss, sum.mass * std::pow(atom.mass, count)});
      return;
    }
    double weight = 1;  // of this many of the first atom: the binomial coefficient times its power
    for (std::uint64_t k = 0; k <= left; ++k) {
      self(self, first + 1, left - k, {sum.loss + static_cast<double>(k) * atom.loss, sum.mass * weight});
      weight *= static_cast<double>(left - k) / static_cast<double>(k + 1) * atom.mass;
    }
  };
  if (atoms.empty()) return times == 0 ? SumsOfAtoms{{0, 1}} : SumsOfAtoms{};
  choose(choose, 0, times, {0, 1});
  return found;
}

double count_of(std::size_t atoms, std::uint64_t times) {
  double count = 1;
  for (std::size_t k = 1; k < atoms; ++k) count *= (static_cast<double>(times) + static_cast<double>(k)) / static_cast<double>(k);
  return count;
}

/// Sums that may be equal become one: each moves by at most `error`.
SumsOfAtoms merged(SumsOfAtoms sums, double error) {
  std::sort(sums.begin(), sums.end(), [](const SumOfAtoms& a, const SumOfAtoms& b) { return a.loss < b.loss; });
  SumsOfAtoms found;
  for (const SumOfAtoms& sum : sums)
    if (!found.empty() && sum.loss - found.back().loss <= error)
      found.back().mass += sum.mass;
    else
      found.push_back(sum);
  return found;
}

SumsOfAtoms product_of(const SumsOfAtoms& a, const SumsOfAtoms& b) {
  SumsOfAtoms found;
  found.reserve(a.size() * b.size());
  for (const SumOfAtoms& x : a)
    for (const SumOfAtoms& y : b) found.push_back({x.loss + y.loss, x.mass * y.mass});
  return found;
}

/// The atoms of a step in doubles; atoms with the same enclosure of their loss are one. Empty if one is not known well enough.
std::optional<std::vector<KnownAtom>> known_atoms(const Transform& transform) {
  std::vector<Atom> atoms;
  for (const Atom& atom : transform.atoms()) {
    const auto same = std::find_if(atoms.begin(), atoms.end(), [&](const Atom& other) { return other.loss == atom.loss; });
    if (same == atoms.end())
      atoms.push_back(atom);
    else
      same->mass = same->mass + atom.mass;
  }
  std::vector<KnownAtom> found;
  for (const Atom& atom : atoms) {
    constexpr double most_error = 1e-9;  // of a mass, relative
    const double loss = middle_of(atom.loss), mass = middle_of(atom.mass), error = mass > 0 ? atom.mass.width() / mass : infinity;
    if (!(error < most_error) || !(std::abs(loss) < infinity)) return std::nullopt;
    found.push_back({loss, mass, 0.5 * atom.loss.width() + unit_roundoff * std::abs(loss), error + unit_roundoff});
  }
  return found;
}

/// The plan in one direction, and its terms with at most one loss from a density.
struct RemainderPlan {
  ContourPlan contour;
  std::vector<std::vector<KnownAtom>> atoms;  // of each item
  SumsOfAtoms all;                            // sums of atoms of all steps,
  std::vector<SumsOfAtoms> but_one;           // and of all but one of each item
  double loss_error = 0;                      // of every sum of atoms
  double mass_error = 0;                      // of every probability of one, relative
  double largest_step = 0;                    // the largest loss of one step, about
};

std::optional<RemainderPlan> remainder_plan(const Parts& parts, Direction direction) {
  RemainderPlan plan;
  if (!collect(parts, direction, plan.contour) || plan.contour.gaussian.hi > 0 || plan.contour.infinite_mass.hi > 0) return std::nullopt;
  for (const Part& part : parts)
    if (const Atoms* atoms = part.loss->atoms(direction); atoms != nullptr && atoms->slack > 0) return std::nullopt;
  double size = 0, weight = 0, steps = 0;
  for (const ContourPlan::Item& item : plan.contour.items) {
    auto atoms = known_atoms(*item.transform);
    if (!atoms) return std::nullopt;
    double largest = 0, doubt = 0, relative = 0;
    for (const KnownAtom& atom : *atoms) {
      largest = std::max(largest, std::abs(atom.loss));
      doubt = std::max(doubt, atom.loss_error);
      relative = std::max(relative, atom.mass_error);
    }
    if (!(count_of(atoms->size(), static_cast<std::uint64_t>(item.times)) <= most_powers)) return std::nullopt;
    plan.loss_error += item.times * doubt;
    size += item.times * largest;
    weight += item.times * relative;
    steps += item.times;
    const double bound = item.transform->largest_loss();
    plan.largest_step = std::max(plan.largest_step, bound < infinity ? bound : usual_loss);
    plan.atoms.push_back(std::move(*atoms));
  }
  if (!(steps >= 2 && steps <= static_cast<double>(most_runs))) return std::nullopt;
  // Positions: each step and each sum rounds. Masses: powers, coefficients and products, a few roundings for each step.
  const auto items = static_cast<double>(plan.atoms.size());
  plan.loss_error = plan.loss_error * (1 + 1e-9) + 16 * (items + 4) * unit_roundoff * size;
  plan.mass_error = std::expm1(weight + 8 * (steps + items + 8) * unit_roundoff) * (1 + 1e-9);
  // all powers before the sums that leave out one step
  std::vector<SumsOfAtoms> powers, lower;
  for (std::size_t i = 0; i < plan.atoms.size(); ++i) {
    const auto times = static_cast<std::uint64_t>(plan.contour.items[i].times);
    powers.push_back(merged(power_of(plan.atoms[i], times), plan.loss_error));
    lower.push_back(merged(power_of(plan.atoms[i], times - 1), plan.loss_error));
  }
  const auto product = [&](std::size_t less) {
    SumsOfAtoms result{{0, 1}};
    for (std::size_t i = 0; i < powers.size(); ++i) result = merged(product_of(result, i == less ? lower[i] : powers[i]), plan.loss_error);
    return result;
  };
  double listed = 1;
  for (const SumsOfAtoms& power : powers) listed *= static_cast<double>(std::max<std::size_t>(power.size(), 1));
  if (!(listed <= most_listed)) return std::nullopt;
  plan.all = product(powers.size());
  for (std::size_t i = 0; i < powers.size(); ++i) plan.but_one.push_back(product(i));
  plan.loss_error *= 1 + 2 * items;                           // each merging moves a loss by as much
  plan.mass_error += (listed + most_powers) * unit_roundoff;  // every sum of as many masses
  return plan;
}

/// What at least two losses from densities add to the profile, along the line Re s = order.
class RemainderLine {
 public:
  RemainderLine(const RemainderPlan& plan, const ContourMoments& moments, double order, double epsilon, double listed,
                const RemainderAccuracy& accuracy);
  /// The profile of the remainder is in exp(base) [value - nodes - truncation - alias, value + nodes + truncation].
  struct Value {
    Interval base;
    double value = 0;
    double nodes = 0, truncation = 0, alias = 0;  // errors
  };
  [[nodiscard]] Value at(double epsilon) const;
  [[nodiscard]] double order() const { return order_; }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] std::size_t nodes() const { return times_.size(); }
  [[nodiscard]] std::size_t points() const { return points_; }
  /// The t up to which nodes are wanted.
  [[nodiscard]] double reach() const { return reach_; }
  /// Whether so many nodes can leave little of the sum.
  [[nodiscard]] bool hopeful() const { return hopeful_; }
  /// Sums the nodes up to this t, whose transforms are those of `moments`.
  void sum(const ContourMoments& moments, double furthest);

 private:
  struct Item {
    double times = 1;
    Interval log_moment;
    double centre = 0;
    Decay decay;
    double atoms = 0;  // an upper bound of their tilted mass
    std::vector<KnownAtom> tilted;
  };
  struct OrderBound {
    double order, cumulant;
  };
  void weigh(const std::vector<std::unique_ptr<const TiltedLoss>>& tilts);
  [[nodiscard]] double beyond_one(double t) const;
  [[nodiscard]] double rest_after(double t) const;
  [[nodiscard]] double alias(double epsilon, double base, double window) const;

  const RemainderPlan& plan_;
  double order_;
  double step_ = 0, window_ = 0, reach_ = 0;
  std::vector<Item> items_;
  std::vector<OrderBound> left_, right_;
  Interval cumulant_;
  double mean_ = 0, mean_error_ = 0;
  double truncation_ = infinity;
  bool hopeful_ = false;
  std::size_t points_ = 0;
  std::vector<double> times_;
  std::vector<Complex> terms_;  // the remainder times the kernel, twice for t > 0
  double fixed_ = 0, moving_ = 0, size_ = 0;
};

void RemainderLine::weigh(const std::vector<std::unique_ptr<const TiltedLoss>>& tilts) {
  items_.clear();
  cumulant_ = Interval::exactly(0);
  mean_ = 0;
  points_ = 0;
  double mean_size = 0;
  for (std::size_t i = 0; i < tilts.size(); ++i) {
    Item item;
    item.times = plan_.contour.items[i].times;
    item.log_moment = tilts[i]->log_moment();
    item.centre = tilts[i]->centre();
    item.decay = tilts[i]->decay(0.1);
    const double level = middle_of(item.log_moment);
    for (const KnownAtom& atom : plan_.atoms[i]) {
      const double exponent = order_ * atom.loss - level, mass = atom.mass * std::exp(exponent);
      const double error = 1.01 * (atom.mass_error + order_ * atom.loss_error + item.log_moment.width() +
                                   8 * unit_roundoff * (2 + std::abs(order_ * atom.loss) + std::abs(level)));
      item.tilted.push_back({atom.loss, mass, atom.loss_error, error});
      item.atoms += mass * (1 + error);
    }
    item.atoms *= 1 + 1e-12;
    cumulant_ = cumulant_ + Interval::exactly(item.times) * item.log_moment;
    mean_ += item.times * item.centre;
    mean_size += std::abs(item.times * item.centre);
    points_ += tilts[i]->size();
    items_.push_back(std::move(item));
  }
  mean_error_ = (static_cast<double>(items_.size()) + 4) * unit_roundoff * mean_size;
}

/// A bound of the modulus of the remainder at t and at every later time: at least two factors are those of densities. It falls with t.
double RemainderLine::beyond_one(double t) const {
  double log_product = 0, growth = 0, alone = 1;
  double without = 0;  // steps whose law has no known atoms
  for (const Item& item : items_) {
    const double rest = item.tilted.empty() ? std::min(item.decay.rest, item.decay.atoms) : item.decay.rest;
    const double bound = std::min({1.0, rest + item.decay.variation / t, item.decay.whole_variation / t}) * (1 + 1e-9);
    if (item.tilted.empty()) {
      without += item.times;
      alone *= std::exp(item.times * std::log(bound));
      continue;
    }
    log_product += item.times * std::log(item.atoms);
    growth += item.times * std::log1p(bound / item.atoms);
  }
  const double product = std::exp(log_product) * (1 + 1e-9);
  // e^y - 1 - y >= prod (1 + x_i)^T_i - 1 - sum T_i x_i, y = sum T_i log(1 + x_i) <= sum T_i x_i
  if (without >= 2) return alone * product * std::exp(growth) * (1 + 1e-9);
  const double rise = std::expm1(growth) * (1 + 1e-9);
  if (without == 1) return alone * product * rise * (1 + 1e-9);
  const double second = growth < 1e-2 ? 0.5 * growth * growth * std::exp(growth) : rise - growth * (1 - 1e-12);
  return product * second * (1 + 1e-9);
}

// The nodes beyond t, as an integral: the bound falls, and so does the kernel, which is at most 1/t^2.
double RemainderLine::rest_after(double t) const {
  double sum = 0;
  constexpr int doublings = 60;
  for (int i = 0; i < doublings; ++i, t *= 2) sum += beyond_one(t) / (2 * pi * t);
  return (sum + beyond_one(t) / (pi * t)) * (1 + 1e-9);
}

// [contour-alias] The remainder is a part of the whole law, so that its aliases are at most those of the whole law.
double RemainderLine::alias(double epsilon, double base, double window) const {
  const auto least = [&](const std::vector<OrderBound>& bounds) {
    double best = infinity;
    for (const auto& [order, cumulant] : bounds) {
      const double exponent = log_of_kappa(order) + cumulant - order * epsilon - base, away = std::abs(order - order_) * window;
      const double rounding =
          64 * unit_roundoff *
          (1 + order * (1 + std::log1p(order)) + std::abs(cumulant) + std::abs(order * epsilon) + std::abs(base) + away);
      best = std::min(best, exponent + rounding - (away > 40 ? away : std::log(std::expm1(away))));
    }
    return std::exp(best) * (1 + 1e-9);
  };
  const bool ends = window * (1 - 1e-9) > plan_.contour.largest_loss - epsilon;  // no loss is so large
  return least(left_) + (ends ? 0 : least(right_));
}

RemainderLine::RemainderLine(const RemainderPlan& plan, const ContourMoments& moments, double order, double epsilon, double listed,
                             const RemainderAccuracy& accuracy)
    : plan_(plan), order_(order) {
  weigh(moments.tilt(order));
  const double base = middle_of(cumulant_) - order * epsilon;
  const Cumulant k = moments.cumulant(order);
  const SaddlePoint saddle = saddle_point(order, k.value, k.mean, k.variance);
  const double reference = std::max(1 / (order * (order + 1) * std::sqrt(2 * pi * saddle.curvature)), listed * std::exp(-base));
  for (const double share : {0.0, 0.3, 0.6, 0.8}) left_.push_back({share * order, share > 0 ? moments.cumulant_above(share * order) : 0});
  for (const double share : {1.15, 1.5, 2.0, 3.0})
    if (share * order <= moments.reach().largest) right_.push_back({share * order, moments.cumulant_above(share * order)});
  double window = 4 * std::sqrt(k.variance);
  for (int i = 0; i < 80 && !(alias(epsilon, base, window) < accuracy.alias * reference); ++i) window *= 1.1;
  step_ = 2 * pi / window;
  step_ = std::ldexp(std::floor(std::ldexp(step_, 24 - std::ilogb(step_))), std::ilogb(step_) - 24);  // few bits, so that kh is exact
  window_ = 2 * pi / step_ * (1 - 8 * unit_roundoff);
  const double target = accuracy.truncation * reference, furthest = most_line_nodes * step_;
  reach_ = 8 * step_;
  while (reach_ < furthest && !(rest_after(reach_) < target)) reach_ *= 1.2;
  reach_ = std::min(reach_, furthest);
  constexpr double most_left = 1e-6;
  hopeful_ = rest_after(reach_) < most_left * reference;
}

// Every difference of two products is a sum of differences of one factor, the others bounded by their moduli.
void RemainderLine::sum(const ContourMoments& moments, double furthest) {
  const auto tilts = moments.tilt(order_);
  weigh(tilts);
  const std::size_t count = 1 + static_cast<std::size_t>(std::min(furthest / step_, most_products / static_cast<double>(points_ + 1)));
  times_.resize(count);
  for (std::size_t k = 0; k < count; ++k) times_[k] = static_cast<double>(k) * step_;
  std::vector<std::vector<CharacteristicValue>> values(items_.size(), std::vector<CharacteristicValue>(count));
  constexpr std::size_t block = 32;
  for (std::size_t i = 0; i < items_.size(); ++i)
    for (std::size_t k = 0; k < count; k += block) {
      const std::size_t length = std::min(block, count - k);
      tilts[i]->characteristic_function({&times_[k], length}, {&values[i][k], length});
    }
  terms_.resize(count);
  fixed_ = moving_ = size_ = 0;
  const std::size_t n = items_.size();
  std::vector<Complex> whole(n), atoms(n);
  std::vector<double> whole_error(n), atom_error(n), whole_size(n), atom_size(n), rest_size(n);
  // the product of all powers, with one factor of item `less` taken out
  const auto product = [&](const std::vector<Complex>& factors, std::size_t less) {
    Complex result = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double power = items_[i].times - (i == less ? 1 : 0);
      if (power > 0) result *= std::polar(std::pow(std::abs(factors[i]), power), power * std::arg(factors[i]));
    }
    return result;
  };
  const auto size_of = [&](const std::vector<double>& sizes, std::size_t less, std::size_t also) {
    double result = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double power = items_[i].times - (i == less ? 1 : 0) - (i == also ? 1 : 0);
      if (power > 0) result *= std::pow(sizes[i], power);
      if (power < 0) result = 0;
    }
    return result;
  };
  double steps = 0;
  for (const Item& item : items_) steps += item.times;
  const double rounding = 16 * (steps + static_cast<double>(n) + 8) * unit_roundoff;
  for (std::size_t k = 0; k < count; ++k) {
    const double t = times_[k];
    for (std::size_t i = 0; i < n; ++i) {
      const CharacteristicValue& value = values[i][k];
      whole[i] = {1 + value.real_less_one, value.imaginary};
      whole_error[i] = value.error + 4 * unit_roundoff;
      atoms[i] = 0;
      atom_error[i] = 0;
      for (const KnownAtom& atom : items_[i].tilted) {
        const double away = atom.loss - items_[i].centre;
        atoms[i] += std::polar(atom.mass, t * away);
        atom_error[i] += atom.mass * (atom.mass_error + t * atom.loss_error +
                                      8 * unit_roundoff * (1 + t * (std::abs(atom.loss) + std::abs(items_[i].centre))));
      }
      atom_error[i] *= 1 + 1e-9;
      whole_size[i] = std::abs(whole[i]) + whole_error[i];
      atom_size[i] = std::abs(atoms[i]) + atom_error[i];
      rest_size[i] = std::abs(whole[i] - atoms[i]) + whole_error[i] + atom_error[i];
    }
    Complex remainder = product(whole, n) - product(atoms, n);
    double error = rounding * (size_of(whole_size, n, n) + size_of(atom_size, n, n));
    for (std::size_t i = 0; i < n; ++i) {
      const double times = items_[i].times;
      remainder -= times * product(atoms, i) * (whole[i] - atoms[i]);
      const double others = size_of(atom_size, i, n);
      error += times * (whole_error[i] * size_of(whole_size, i, n) + atom_error[i] * others);
      error += times * (others * (whole_error[i] + atom_error[i]) + rounding * others * rest_size[i]);
      for (std::size_t j = 0; j < n; ++j) {
        const double more = items_[j].times - (j == i ? 1 : 0);
        if (more > 0) error += times * rest_size[i] * more * atom_error[j] * size_of(atom_size, i, j);
      }
    }
    error *= 1 + 1e-9;
    const Complex s(order_, t), kernel = (k == 0 ? 1.0 : 2.0) / (s * (s + 1.0));
    terms_[k] = remainder * kernel;
    const double modulus = std::abs(kernel), height = (std::abs(remainder) + error) * modulus;
    fixed_ += error * modulus;
    moving_ += height * t;
    size_ += height;
  }
  truncation_ = rest_after(times_.back());
}

RemainderLine::Value RemainderLine::at(double epsilon) const {
  Value result;
  result.base = cumulant_ - Interval::exactly(order_) * Interval::exactly(epsilon);
  const double drift = mean_ - epsilon;
  double sum = 0;
  for (std::size_t k = 0; k < times_.size(); ++k) {
    const double angle = times_[k] * drift;
    sum += terms_[k].real() * std::cos(angle) - terms_[k].imag() * std::sin(angle);
  }
  const double scale = step_ / (2 * pi), drift_error = mean_error_ + 4 * unit_roundoff * (std::abs(mean_) + std::abs(epsilon));
  result.value = scale * sum;
  result.nodes = scale * (fixed_ + moving_ * drift_error + (static_cast<double>(times_.size()) + 64) * unit_roundoff * size_) * (1 + 1e-9);
  result.truncation = truncation_;
  result.alias = alias(epsilon, result.base.lo, window_);
  return result;
}

class RemainderLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  RemainderLoss(RemainderPlan remove, RemainderPlan add, const Parts& parts, const RemainderAccuracy& accuracy)
      : plans_{std::move(remove), std::move(add)},
        symmetric_(are_symmetric(parts)),
        accuracy_(accuracy),
        tail_(tail_of(parts)),
        laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return delta_by_logarithm(*this, direction, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    const QuestionScope question;
    cite();
    record(remainder());
    const Interval above = at(direction, epsilon.lo).log_delta;
    return epsilon.lo == epsilon.hi ? above : Interval{at(direction, epsilon.hi).log_delta.lo, above.hi};
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    if (!(delta.lo > 0)) return std::nullopt;
    const QuestionScope question;
    constexpr double error_of_guess = 0.05;
    return epsilon_by_values(*this, direction, delta, guess(side(direction), std::log(delta.hi)), error_of_guess);
  }
  /// A line for another epsilon is often accurate enough.
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    constexpr double rough_width = 1e-4;
    if (epsilon < 0) {
      const auto mirrored = rough_delta(opposite(direction), -epsilon);
      return mirrored ? std::optional(rough_mirrored_delta(epsilon, *mirrored)) : std::nullopt;
    }
    const QuestionScope question;
    const Interval found = at(direction, epsilon, rough_width).log_delta;
    return found.hi == -infinity          ? std::optional(0.0)
           : found.width() <= rough_width ? std::optional(std::exp(middle_of(found)))
                                          : std::nullopt;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 private:
  static constexpr double good_width = 1e-9;  // of log delta: lines this accurate are used again,
  static constexpr double as_good = 10;       // or nearly as accurate as where they were made
  static constexpr int most_failures = 3;     // lines with too many nodes, for one question
  static constexpr double least_share = 0.05;
  static constexpr double same_order = 1e-2;  // relative

  struct Made {
    std::shared_ptr<const RemainderLine> line;
    double width = 0;
  };
  struct Known {
    std::array<std::vector<Made>, 2> lines;
    std::array<std::shared_ptr<const ContourMoments>, 2> rough;
    std::array<int, 2> failures{};
    std::array<double, 2> share{1, 1};  // of the wanted nodes, for which there are quadratures
  };
  struct Answer {
    Interval log_delta{-infinity, 0};
    std::shared_ptr<const RemainderLine> line{};
    RemainderLine::Value value{};
  };
  [[nodiscard]] static const Citation& remainder() {
    static const Citation citation("contour-remainder", "at most one loss from a density is summed over the atoms, the rest is inverted",
                                   Method::contour);
    return citation;
  }
  [[nodiscard]] std::size_t side(Direction direction) const { return direction == Direction::add ? 1 : 0; }
  [[nodiscard]] double largest_order(std::size_t side) const { return largest_tilt / std::max(plans_[side].largest_step, 1e-9); }
  [[nodiscard]] const ContourMoments* rough(std::size_t side) const;
  [[nodiscard]] double saddle(std::size_t side, double epsilon) const;
  [[nodiscard]] double guess(std::size_t side, double log_delta) const;
  [[nodiscard]] Interval listed(Direction direction, double epsilon) const;
  [[nodiscard]] Answer bounded(const std::shared_ptr<const RemainderLine>& line, Interval listed, double epsilon) const;
  [[nodiscard]] Answer at(Direction direction, double epsilon, double wanted_width = good_width) const;

  std::array<RemainderPlan, 2> plans_;
  bool symmetric_;
  RemainderAccuracy accuracy_;
  Tail tail_;
  Citations laws_;
  std::uint64_t number_ = QuestionScope::new_owner();
};

/// For searches only; null if there are none.
const ContourMoments* RemainderLoss::rough(std::size_t side) const {
  auto& known = QuestionScope::state_of<Known>(number_).rough[side];
  for (double largest = largest_order(side); known == nullptr && largest > 2; largest *= 0.5)
    known = ContourMoments::prepare(plans_[side].contour, {-1, largest, 1, 0, true, 0, 0});
  return known.get();
}

/// The minimum of K(c) - c epsilon - log c (c + 1).
double RemainderLoss::saddle(std::size_t side, double epsilon) const {
  const ContourMoments* moments = rough(side);
  if (moments == nullptr) return 1;
  const auto falls = [&](double x) {
    const double c = std::exp(x);
    return moments->cumulant(c).mean - epsilon - 1 / c - 1 / (c + 1) >= 0;
  };
  return std::exp(numeric::bisect(falls, {std::log(smallest_order), std::log(0.99 * moments->reach().largest)}, 20).beyond);
}

/// An epsilon at which delta is about e^log_delta, by the saddle-point approximation.
double RemainderLoss::guess(std::size_t side, double log_delta) const {
  const ContourMoments* moments = rough(side);
  if (moments == nullptr) return 1;
  double epsilon = 0;
  const auto is_smaller = [&](double x) {
    const double c = std::exp(x);
    const Cumulant k = moments->cumulant(c);
    const SaddlePoint here = saddle_point(c, k.value, k.mean, k.variance);
    epsilon = here.epsilon;
    return here.log_delta <= log_delta;
  };
  (void)numeric::bisect(is_smaller, {std::log(smallest_order), std::log(0.99 * moments->reach().largest)}, 20);
  const double largest = plans_[side].contour.largest_loss;
  return std::clamp(epsilon, 1e-4 * std::min(largest, 1.0), std::max(largest, 1e-4));
}

/// The terms with at most one loss from a density: the sum over the items of T times the profile of one step beside atoms of all others,
/// less all but one of the sums over atoms alone, each of which was counted once for every step.
Interval RemainderLoss::listed(Direction direction, double epsilon) const {
  const RemainderPlan& plan = plans_[side(direction)];
  const Interval doubt{1 - plan.mass_error, 1 + plan.mass_error};
  const auto beyond = [&](double loss) {  // epsilon less the exact sum of losses
    return Interval::exactly(epsilon) - (Interval::exactly(loss) + Interval{-plan.loss_error, plan.loss_error});
  };
  Interval total = Interval::exactly(0);
  double steps = 0;
  for (std::size_t i = 0; i < plan.but_one.size(); ++i) {
    const ContourPlan::Item& item = plan.contour.items[i];
    const double largest = item.transform->largest_loss(),
                 other_largest = plans_[1 - side(direction)].contour.items[i].transform->largest_loss();
    Interval sum = Interval::exactly(0);
    for (const auto& [loss, mass] : plan.but_one[i]) {
      const Interval rest = beyond(loss);
      if (!(rest.lo < largest) || !(mass > 0)) continue;
      // if every loss is larger, delta is 1 - e^epsilon
      const bool all_larger = rest.hi < -other_largest;
      sum = sum + Interval::exactly(mass) * (all_larger ? -expm1(rest) : item.loss->delta(direction, rest));
    }
    total = total + Interval::exactly(item.times) * sum;
    steps += item.times;
    Work::count(0.5 * static_cast<double>(plan.but_one[i].size()));
  }
  Interval alone = Interval::exactly(0);
  for (const auto& [loss, mass] : plan.all) {
    const Interval rest = beyond(loss);
    if (rest.lo < 0) alone = alone + Interval::exactly(mass) * max(-expm1(rest), Interval::exactly(0));
  }
  constexpr double underflow = 1e-280;  // of all products that are smaller than every double
  return max(total * doubt - Interval::exactly(steps - 1) * alone * doubt + Interval{-underflow, underflow}, Interval::exactly(0));
}

RemainderLoss::Answer RemainderLoss::bounded(const std::shared_ptr<const RemainderLine>& line, Interval listed, double epsilon) const {
  Answer answer{{-infinity, 0}, line, line->at(epsilon)};
  const RemainderLine::Value& found = answer.value;
  const double errors = found.nodes + found.truncation;
  if (!(errors < infinity) || !(found.alias < infinity)) return answer;
  const Interval rest{std::max(0.0, found.value - errors - found.alias), std::max(0.0, found.value + errors)};
  answer.log_delta = log(clamp(listed + exp(found.base) * rest, 0, 1));
  return answer;
}

RemainderLoss::Answer RemainderLoss::at(Direction direction, double epsilon, double wanted_width) const {
  const std::size_t place = side(direction);
  const RemainderPlan& plan = plans_[place];
  if (epsilon >= plan.contour.largest_loss) return {Interval::exactly(-infinity)};
  const Interval exact = listed(direction, epsilon);
  auto& known = QuestionScope::state_of<Known>(number_).lines[place];
  int& failures = QuestionScope::state_of<Known>(number_).failures[place];
  double& share = QuestionScope::state_of<Known>(number_).share[place];
  Answer best;
  for (const auto& [line, width] : known) {
    Work::count(10 + 0.03 * static_cast<double>(line->nodes()));
    Answer here = bounded(line, exact, epsilon);
    if (here.log_delta.width() <= std::max(wanted_width, as_good * width)) return here;
    if (best.line == nullptr || here.log_delta.width() < best.log_delta.width()) best = std::move(here);
  }
  if (failures >= most_failures) return best;
  const double order = saddle(place, epsilon);
  // the largest order is that of many epsilon; a second line would round as much
  const auto is_here = [&](const Made& made) { return std::abs(made.line->order() / order - 1) < same_order; };
  if (std::any_of(known.begin(), known.end(), is_here) && best.value.nodes > best.value.truncation) return best;
  TransformRange reach{0, 3 * order + 1e-9, 1, 0, false, order, 0};
  const auto first = ContourMoments::prepare(plan.contour, reach);
  if (first == nullptr) return best;
  const auto line = std::make_shared<RemainderLine>(plan, *first, order, epsilon, exact.lo, accuracy_);
  ++failures;
  if (!line->hopeful()) return best;
  std::unique_ptr<const ContourMoments> moments;
  for (; share > least_share; share *= 0.6) {  // where quadratures for all nodes would be too large, for fewer
    reach.longest = share * line->reach();
    moments = ContourMoments::prepare(plan.contour, reach);
    if (moments != nullptr) break;
  }
  if (moments == nullptr) return best;
  --failures;
  line->sum(*moments, reach.longest);
  Work::count(200 + 5e-3 * static_cast<double>(line->nodes() * line->points()));
  Answer here = bounded(line, exact, epsilon);
  known.push_back({line, here.log_delta.width()});
  return best.line == nullptr || here.log_delta.width() < best.log_delta.width() ? here : best;
}

void RemainderLoss::evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const {
  if (epsilon < 0) return evaluate(opposite(direction), -epsilon, found);  // [two-directions]
  const QuestionScope question;
  const Answer answer = at(direction, epsilon);
  cite();
  record(remainder());
  Evaluation one{"contour-remainder", direction, epsilon, answer.log_delta};
  if (answer.line != nullptr) {
    one.counts = {{"nodes", answer.line->nodes()}, {"points", answer.line->points()}, {"atoms", plans_[side(direction)].all.size()}};
    one.settings = {{"order", answer.line->order()}, {"step", answer.line->step()}};
    const RemainderLine::Value& value = answer.value;
    const double scale = std::exp(value.base.hi - answer.log_delta.lo) * (1 + 1e-9);
    one.errors = {{"alias", value.alias * scale}, {"truncation", 2 * value.truncation * scale}, {"nodes", 2 * value.nodes * scale}};
  }
  found.push_back(balanced(std::move(one), "atoms"));
}

}  // namespace
}  // namespace remainder_line

std::optional<double> losses_from_densities(const Parts& parts) {
  ContourPlan plan;
  if (!collect(parts, Direction::remove, plan)) return std::nullopt;
  double losses = 0;
  bool mixed = false;  // some law has both
  for (const ContourPlan::Item& item : plan.items) {
    double atoms = 0;
    for (const Atom& atom : item.transform->atoms()) atoms += middle_of(atom.mass);
    losses += item.times * std::max(0.0, 1 - atoms);
    mixed = mixed || (atoms > 0 && atoms < 1 - 1e-9);
  }
  return mixed ? std::optional(losses) : std::nullopt;
}

LossPointer compose_by_remainder(const Parts& parts, const RemainderAccuracy& accuracy) {
  auto remove = remainder_line::remainder_plan(parts, Direction::remove), add = remainder_line::remainder_plan(parts, Direction::add);
  if (!remove || !add) return nullptr;
  return std::make_shared<const remainder_line::RemainderLoss>(std::move(*remove), std::move(*add), parts, accuracy);
}

}  // namespace tradeoff::detail
