// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/lane_loops.h"
#include "numeric/root.h"

namespace tradeoff::detail {
namespace {

using std::numbers::pi;
// Nodes evaluated together share one quadrature bound, that of the last one: small blocks at first, where single nodes matter, then larger
// ones.
constexpr std::size_t short_block = 8, long_block = 16, first_nodes = 32;
constexpr std::size_t most_nodes = 12000;    // with more the line is abandoned
constexpr std::size_t most_marches = 20000;  // points of the march
constexpr double most_fading_nodes = 12000;  // summed instead of a march
constexpr std::size_t many_marches = 12;
constexpr double most_bridged = 10;                    // what single nodes may leave, in units of what the rest of the march leaves
constexpr std::size_t most_kept = 65536;               // nodes times items that a line keeps for longer plans: 1.5 MB
constexpr std::size_t most_recurrent_nodes = 1 << 18;  // of laws without decay: 25 MB
constexpr double most_recurrent_work = 1.2e8, much_recurrent_work = 1.5e7;  // as `recurrent_work` counts: a sixth of a second
constexpr double most_left = 4;                                             // in units of what is wanted, after much work
constexpr double margin = 4;                                                // of the logarithm of what is left out between stretches
constexpr double easing = 0.75, least_need = 2;  // what is left out may grow like this power of t, beside 1/t^2; and need not be smaller
constexpr double fewest_recurrent = 16, fewest_of_atoms = 8;        // steps of laws without decay for which a march gets anywhere
constexpr double fewest_periods = 50;                               // nodes in half the length of a march that ends before infinity
constexpr double few_runs = 200;                                    // of one law, for which a raised path is worth its time
constexpr double most_raised_nodes = 9000, furthest_raised = 4000;  // nodes and deviations; a march is shorter than more (measured)
constexpr double short_march = 1000;  // deviations: measured, with more steps than about a hundred marches are shorter

double log_kappa(double s) { return s <= 0 ? 0 : s * std::log(s) - (1 + s) * std::log1p(s); }

/// log(e^x - 1), x > 0.
double log_expm1(double x) { return x > 40 ? x : std::log(std::expm1(x)); }

/// The largest number of this many bits below x.
double truncated(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::floor(std::ldexp(fraction, bits)), exponent - bits);
}

/// The part of K that is known in closed form: plain Gaussians and infinite losses.
Interval known_cumulant(const ContourPlan& plan, double order) {
  return plan.gaussian * (Interval::exactly(order) * (Interval::exactly(order) + 1.0) / 2.0) + plan.log_survival;
}

/// An approximation of log |phi(t)| from the quadratures.
double log_modulus_near(const ContourPlan& plan, const std::vector<std::unique_ptr<const TiltedLoss>>& tilts, double t) {
  double sum = -0.5 * plan.gaussian.lo * t * t;
  for (std::size_t i = 0; i < tilts.size(); ++i) {
    CharacteristicValue value;
    tilts[i]->characteristic_function({&t, 1}, {&value, 1});
    sum += plan.items[i].times * std::log(std::min(1.0, std::hypot(1 + value.real_less_one, value.imaginary)));
  }
  return sum;
}

/// How far ahead -log |phi| of one run is at least `need` if N is `root` here. The caller checks it.
double step_ahead(double root, const std::vector<Spread>& spreads, double need) {
  const double fall = root - std::sqrt(std::max(0.0, -0.5 * std::expm1(-2 * need))) * (1 + 1e-11);
  double ahead = 0;
  if (fall > 0)
    for (const Spread& one : spreads) ahead = std::max(ahead, std::sqrt(std::max(0.0, 2 * (fall * fall - 2 * one.tail))) / one.deviation);
  return ahead * (1 - 1e-8);
}

/// Whether |phi| is small enough at t, and only its bound is not.
bool is_blind_at(const ContourPlan& plan, const std::vector<std::unique_ptr<const TiltedLoss>>& tilts, double t, double need) {
  double above = -0.5 * plan.gaussian.lo * t * t;
  for (std::size_t i = 0; i < tilts.size(); ++i) above += plan.items[i].times * std::log(std::min(1.0, tilts[i]->modulus_above(t)));
  return above > -need && log_modulus_near(plan, tilts, t) < -1.05 * need;
}

constexpr double exact_multiples = 0x1p26;  // of the step, which has 26 bits, are exact

/// The first multiple of the step beyond t.
double next_node(double t, double step) {
  double k = std::floor(t / step);
  while (k * step <= t) ++k;
  while ((k - 1) * step > t) --k;
  return k * step;
}

/// Beyond the nodes |phi| must be below exp of minus this, so that the truncation error stays below the wanted accuracy.
double needed_decay(double accuracy, double order, double deviation) {
  const double distance = std::min(std::abs(order), std::abs(order + 1));
  return -std::log(accuracy) + 2 + std::max(0.0, std::log(deviation / distance + 1));
}
/// [contour-recurrence] The kernel at the starts of windows as long as the march, T, adds up to this over T^2.
constexpr double recurrence_windows = 3;
constexpr double log_of_nothing = -700, rough_accuracy = 3e-7;  // smaller answers need fewer digits
constexpr double least_share = 1e-5;   // of what is usual at the saddle point: a line for a smaller answer is not worth its nodes
constexpr double endless = 1e7;        // deviations: far beyond what a march of the largest number of steps can reach
constexpr double furthest_start = 32;  // of a Gaussian guess; slower decay is left to later attempts
constexpr double sure_decay = 1.2;     // nodes are summed until |phi| is below exp of minus this multiple of the need

}  // namespace

std::unique_ptr<const ContourMoments> ContourMoments::prepare(const ContourPlan& plan, TransformRange reach,
                                                              const ContourMoments* earlier) {
  reach.steps = std::max(plan.steps, 1.0);
  std::unique_ptr<ContourMoments> moments(new ContourMoments(plan, reach));
  for (const ContourPlan::Item& item : plan.items) {
    const std::size_t i = moments->items_.size();
    if (earlier != nullptr && i < earlier->items_.size() && earlier->items_[i].loss == item.loss)
      moments->items_.push_back(earlier->items_[i]);
    else
      moments->items_.push_back({item.loss, item.transform, item.transform->prepare(reach)});
    if (moments->items_.back().moments == nullptr) return nullptr;
  }
  return moments;
}

Cumulant ContourMoments::cumulant(double order) const {
  const double variance = 0.5 * (plan_.gaussian.lo + plan_.gaussian.hi);
  Cumulant total{variance * order * (order + 1) / 2 + plan_.log_survival.lo, variance * (order + 0.5), variance};
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Cumulant one = items_[i].moments->cumulant(order);
    total.value += plan_.items[i].times * one.value;
    total.mean += plan_.items[i].times * one.mean;
    total.variance += plan_.items[i].times * one.variance;
  }
  return total;
}

std::vector<double> ContourMoments::log_moments_above(double order) const {
  std::vector<double> above;
  above.reserve(items_.size());
  for (const Ready& item : items_) above.push_back(item.moments->log_moment_above(order));
  return above;
}

double ContourMoments::cumulant_above(double order) const {
  const std::vector<double> above = log_moments_above(order);
  Interval total = known_cumulant(plan_, order);
  for (std::size_t i = 0; i < above.size(); ++i) total = total + Interval::exactly(plan_.items[i].times) * Interval::exactly(above[i]);
  return total.hi;
}

std::vector<std::unique_ptr<const TiltedLoss>> ContourMoments::tilt(double order) const {
  std::vector<std::unique_ptr<const TiltedLoss>> tilts;
  tilts.reserve(items_.size());
  for (const Ready& item : items_) tilts.push_back(item.moments->tilt(order));
  return tilts;
}

double ContourMoments::fading_time(double order, double start, double accuracy) const {
  const auto tilts = tilt(order);
  const double level = -sure_decay * needed_decay(accuracy, order, std::sqrt(cumulant(order).variance));
  double t = start;
  while (t < furthest_start * start && log_modulus_near(plan_, tilts, t) > level) t *= 1.25;
  return t;
}

ContourLine::ContourLine(const ContourMoments& moments, const ContourMoments& steering, double order, double epsilon, Accuracy accuracy)
    : order_(order), reach_(moments.reach()) {
  const ContourPlan& plan = moments.plan();
  const Tilts tilts = moments.tilt(order);
  for (std::size_t i = 0; i < tilts.size(); ++i) {
    items_.push_back(new_item(plan.items[i].loss, *tilts[i]));
    least_times_.push_back(plan.items[i].times);
  }
  weigh_items(plan);
  choose_step(moments, steering, epsilon, accuracy.alias);
  if (fold_)
    sum_folded(plan, tilts, accuracy.truncation);
  else if (step_ > 0)
    sum_and_march(plan, tilts, epsilon, accuracy);
  else
    profile_truncation_ = tail_truncation_ = infinity;
  gather();
  if (items_.size() * nodes_.size() > most_kept) items_.clear();
}

std::shared_ptr<ContourLine::Item> ContourLine::new_item(LossPointer loss, const TiltedLoss& tilt) {
  auto item = std::make_shared<Item>();
  item->loss = std::move(loss);
  item->log_moment = tilt.log_moment();
  item->centre = tilt.centre();
  item->deviation = tilt.deviation_above();
  item->points = tilt.size();
  return item;
}

/// K(order), the constant of the phase and the deviation of the whole plan.
void ContourLine::weigh_items(const ContourPlan& plan) {
  gaussian_ = 0.5 * (plan.gaussian.lo + plan.gaussian.hi);
  gaussian_error_ = plan.gaussian.hi - plan.gaussian.lo + 2 * unit_roundoff * gaussian_;
  cumulant_ = known_cumulant(plan, order_);
  mean_ = gaussian_ * (order_ + 0.5);
  double variance = gaussian_ + gaussian_error_, mean_size = std::abs(mean_);
  points_ = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = *items_[i];
    const double times = plan.items[i].times;
    cumulant_ = cumulant_ + Interval::exactly(times) * item.log_moment;
    mean_ += times * item.centre;
    mean_size += std::abs(times * item.centre);
    variance += times * item.deviation * item.deviation;
    points_ += item.points;
  }
  mean_error_ = (static_cast<double>(items_.size()) + 4) * unit_roundoff * mean_size;
  deviation_ = std::sqrt(variance);
}

/// Upper bounds of K at the orders of the alias bounds. At orders 0 and -1, where K vanishes, it is exact.
void ContourLine::weigh_chernoff(const ContourPlan& plan) {
  std::size_t place = 0;
  for (std::vector<Chernoff>* const bounds : {&left_, &right_})
    for (Chernoff& bound : *bounds) {
      if (bound.order == 0 || bound.order == -1) continue;
      Interval total = known_cumulant(plan, bound.order);
      for (std::size_t i = 0; i < items_.size(); ++i)
        total = total + Interval::exactly(plan.items[i].times) * Interval::exactly(items_[i]->chernoff[place]);
      bound.cumulant = total.hi;
      ++place;
    }
}

// [longer-plan] Additional factors have modulus at most 1 on the line, so the bound of the product beyond the nodes stays valid.
bool ContourLine::serves(const ContourPlan& plan) const {
  if (fold_ || plan.lattice) return false;  // the new steps may have another lattice
  if (items_.empty() || plan.items.size() < items_.size() || !(plan.gaussian.lo >= gaussian_ - gaussian_error_)) return false;
  if (plan.items.size() * nodes_.size() > most_kept) return false;
  for (std::size_t i = 0; i < items_.size(); ++i)
    if (items_[i]->loss != plan.items[i].loss || !(plan.items[i].times >= least_times_[i])) return false;
  return true;
}

std::shared_ptr<const ContourLine> ContourLine::extended(const ContourPlan& plan) const {
  if (!serves(plan)) return nullptr;
  auto line = std::make_shared<ContourLine>(*this);
  for (std::size_t i = items_.size(); i < plan.items.size(); ++i) {
    const auto moments = plan.items[i].transform->prepare(reach_);
    if (moments == nullptr) return nullptr;
    const auto tilt = moments->tilt(order_);
    auto item = new_item(plan.items[i].loss, *tilt);
    evaluate_item(*tilt, *item, 0);
    for (const std::vector<Chernoff>* const bounds : {&left_, &right_})
      for (const Chernoff& bound : *bounds)
        if (bound.order != 0 && bound.order != -1) item->chernoff.push_back(moments->log_moment_above(bound.order));
    line->items_.push_back(std::move(item));
    line->least_times_.push_back(0);
  }
  line->weigh_items(plan);
  line->weigh_chernoff(plan);
  line->weigh_nodes(plan, 0);
  line->gather();
  return line;
}

// [contour-alias] The window W = 2 pi/h is the shortest of a geometric list whose alias terms are below the wanted accuracy, judged by
// plain doubles; then the Chernoff bounds of the chosen orders are proved.
void ContourLine::choose_step(const ContourMoments& moments, const ContourMoments& steering, double epsilon, double accuracy) {
  const double c = order_, variance = deviation_ * deviation_, log_accuracy = std::log(accuracy);
  const double distance = std::min(std::abs(c), std::abs(c + 1));
  const double base = 0.5 * (cumulant_.lo + cumulant_.hi) - c * epsilon;
  if (!(std::abs(base) < infinity) || !(deviation_ > 0)) return;
  const double reference = -std::log(std::abs(c * (c + 1))) - 0.5 * std::log(2 * pi * (variance + 1 / (distance * distance)));
  const auto relative = [&](double order) {
    return (c > 0 ? log_kappa(order) : 0) + steering.cumulant(order).value - order * epsilon - base - reference;
  };
  const double least = c > 0 ? 0 : -1,
               largest = c > 0 ? std::min(moments.reach().largest, std::max(steering.reach().largest, 1.01 * c)) : 0;
  const double trivial_left = (c > 0 ? 0 : epsilon) - base - reference, trivial_right = -base - reference;
  double window = std::max(8.3 * deviation_, (1 - log_accuracy) / std::max(distance, 1e-300) * (c > 0 ? 0.2 : 0.1));
  double left_order = least, right_order = largest;
  std::array<double, 18> right_orders{};  // approaching c
  std::vector<double> right_values;       // their values, computed when needed
  for (std::size_t k = 0; k < right_orders.size(); ++k) right_orders[k] = c + std::pow(0.6, k) * (largest - c);
  std::size_t start = 0;
  for (int attempt = 0; attempt < 60; ++attempt, window *= 1.12) {
    const auto bound = [&](double order, double log_value) { return log_value - log_expm1(std::abs(order - c) * window); };
    left_order = std::max(least, c - window / variance);
    double left = bound(least, trivial_left);
    if (left_order > least) {
      const double inner = bound(left_order, relative(left_order));
      if (inner < left)
        left = inner;
      else
        left_order = least;
    }
    // Convex in the order, so the search downward from the furthest order stops at the first rise.
    double right = c < 0 ? bound(0, trivial_right) : infinity;
    right_order = largest;
    for (std::size_t k = start; k < right_orders.size() && right_orders[k] > c; ++k) {
      while (right_values.size() <= k) right_values.push_back(relative(right_orders[right_values.size()]));
      const double value = bound(right_orders[k], right_values[k]);
      if (value < right) {
        right = value;
        right_order = right_orders[k];
        start = k > 0 ? k - 1 : 0;
      } else if (right < infinity && right_order < largest) {
        break;
      }
    }
    if (std::exp(left) + std::exp(right) < accuracy) break;
  }
  step_ = truncated(2 * pi / window, 26);  // few bits, so that kh is exact
  window_ = 2 * pi / step_ * (1 - 8 * unit_roundoff);
  if (moments.plan().lattice) fold_step(*moments.plan().lattice, window);
  const auto add = [&](std::vector<Chernoff>& bounds, double order) {
    bounds.push_back({.order = order});
    const std::vector<double> above = moments.log_moments_above(order);
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i]->chernoff.push_back(above[i]);
  };
  left_.push_back({.order = least});
  if (left_order > least) add(left_, left_order);
  if (c < 0) right_.push_back({.order = 0});
  if (right_order > c && right_order != 0) {
    add(right_, right_order);
    const double nearer = c + 0.7 * (right_order - c);
    if (nearer > c && nearer != 0) add(right_, nearer);
  }
  for (std::vector<Chernoff>* const bounds : {&left_, &right_})
    for (Chernoff& one : *bounds) {
      one.log_kappa = log_kappa(one.order);
      one.log_decay = log_expm1(std::abs(one.order - order_) * (1 - 4 * unit_roundoff) * window_);
    }
  weigh_chernoff(moments.plan());
}

double ContourLine::alias(double epsilon, Interval base, Kernel kernel) const {
  const bool damped = kernel == Kernel::profile && order_ > 0;
  const auto least = [&](const std::vector<Chernoff>& bounds) {
    double best = infinity;
    for (const Chernoff& one : bounds) {
      // For s >= 0 the profile kernel is below kappa(s) e^(sx), the others below e^(sx); on the strip min(1, e^-x) <= e^(sx).
      const double kappa = damped ? one.log_kappa : 0, exponent = kappa + one.cumulant - one.order * epsilon - base.lo;
      const double rounding =
          64 * unit_roundoff * (1 + std::abs(kappa) + std::abs(one.cumulant) + std::abs(one.order * epsilon) + std::abs(base.lo));
      best = std::min(best, exponent + rounding - one.log_decay);
    }
    return std::exp(best) * (1 + 1e-9);
  };
  return least(left_) + least(right_);
}

/// Evaluates one run of the item at the nodes from `first` on.
void ContourLine::evaluate_item(const TiltedLoss& tilt, Item& item, std::size_t first) const {
  std::vector<double> times;
  for (std::size_t k = first; k < nodes_.size(); ++k) times.push_back(nodes_[k].t);
  std::vector<CharacteristicValue> values(times.size());
  tilt.characteristic_function(times, values);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const CharacteristicValue& value = values[k];
    const double real = value.real_less_one, imaginary = value.imaginary;
    const double excess = std::max(-1.0, 2 * real + real * real + imaginary * imaginary);  // |phi|^2 - 1
    // Where phi is small the excess is close to -1, and phi itself is more accurate.
    const bool small = excess < -0.75;
    double modulus = small ? std::hypot(1 + real, imaginary) : std::sqrt(1 + excess);
    // [folded-contour] |phi'| is at most the root mean square of L - centre.
    double error = value.error + 8 * unit_roundoff * (std::abs(real) + std::abs(imaginary)) + time_error_ * times[k] * item.deviation;
    if (small && modulus < error && error < 0.25) {  // indistinguishable from 0: any number that close has a logarithm and is as good
      modulus = error;
      error *= 3;
    }
    const double log_modulus = small ? std::log(modulus) : 0.5 * std::log1p(excess), angle = std::atan2(imaginary, 1 + real);
    // [contour-propagation] (|phi| + e)^T - |phi|^T without linearisation, and the rounding of log, atan2 and their multiples.
    const double ratio = error / modulus * (1 + 1e-9);
    const double growth = (ratio < 1e-8 ? ratio : std::log1p(ratio)) + 12 * unit_roundoff * (std::abs(log_modulus) + std::abs(angle));
    item.nodes.push_back({log_modulus, angle, growth});
  }
}

/// The product of all items at the nodes from `first` on.
void ContourLine::weigh_nodes(const ContourPlan& plan, std::size_t first) {
  const std::size_t count = nodes_.size() - first;
  std::vector<Item::Node> sums(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double t = nodes_[first + k].t;
    sums[k] = {-0.5 * gaussian_ * t * t, 0, gaussian_error_ * t * (0.5 * t + std::abs(order_) + 1) + 4 * unit_roundoff * gaussian_ * t * t};
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const double steps = plan.items[i].times;
    const Item::Node* const nodes = items_[i]->nodes.data() + first;
    for (std::size_t k = 0; k < count; ++k) {
      sums[k].log_modulus += steps * nodes[k].log_modulus;
      sums[k].argument += steps * nodes[k].argument;
      sums[k].growth += steps * nodes[k].growth;
    }
  }
  for (std::size_t k = 0; k < count; ++k) {
    Node& node = nodes_[first + k];
    const auto& [log_modulus, argument, growth] = sums[k];
    node.modulus = std::exp(log_modulus);
    node.argument = argument;
    node.growth = growth + (static_cast<double>(items_.size()) + 8) * unit_roundoff * (std::abs(log_modulus) + std::abs(argument));
    const double above = log_modulus + node.growth + 1e-6;
    node.upper = above < 0 ? std::exp(above) : 1;  // where phi vanishes this is NaN, and 1 is a bound
  }
}

void ContourLine::add_nodes(const ContourPlan& plan, const Tilts& tilts, std::size_t count) {
  const std::size_t first = nodes_.size();
  const Stretch last = stretches_.back();
  for (std::size_t k = first; k < first + count; ++k) {
    Node node;
    node.t = (last.number + static_cast<double>(k - last.first)) * step_;
    nodes_.push_back(node);
  }
  for (std::size_t i = 0; i < tilts.size(); ++i) evaluate_item(*tilts[i], *items_[i], first);
  weigh_nodes(plan, first);
}

// [contour-truncation] Nodes are summed until the product is small; from there a march proves that it stays small up to `end`, beyond which
// the decay of each factor proves it. If the march stops, the nodes up to that point are summed and the march starts again.
void ContourLine::sum_and_march(const ContourPlan& plan, const Tilts& tilts, double epsilon, Accuracy accuracy) {
  const double need = needed_decay(accuracy.truncation, order_, deviation_);
  const double wanted = std::exp(-need / std::max(plan.steps, 1.0));
  std::vector<Decay> decays;
  double whole_variation = infinity, whole_steps = 0;
  for (std::size_t i = 0; i < tilts.size(); ++i) {
    decays.push_back(tilts[i]->decay(wanted));
    atoms_alone_ = atoms_alone_ && !(decays.back().variation > 0);
    if (decays.back().whole_variation < infinity && plan.items[i].times > whole_steps) {
      whole_variation = decays.back().whole_variation;
      whole_steps = plan.items[i].times;
    }
  }
  bool far = false;  // for few runs: bounds along raised paths are slow, and end long marches much earlier
  const auto log_decay = [&](double t) {
    double sum = -0.5 * (gaussian_ - gaussian_error_) * t * t;
    for (std::size_t i = 0; i < decays.size(); ++i) {
      double after = tilts[i]->modulus_after(t);
      if (far && plan.items[i].times <= few_runs) after = std::min(after, tilts[i]->raised_modulus_after(t));
      sum += plan.items[i].times * std::log(std::min(after, (decays[i].atoms + decays[i].variation / t) * (1 + 1e-9)));
    }
    return sum;
  };
  const auto is_faded = [&](double t) { return log_decay(t) <= -need; };
  if (!is_faded(short_march / deviation_)) {
    far = true;
    far = is_faded(std::min(most_raised_nodes * step_, furthest_raised / deviation_));
  }
  // [contour-recurrence] Atoms do not decay: beyond the march |phi| is known only by its mean over windows.
  const double furthest = 1e18 / deviation_;
  if (log_decay(furthest) > -need) return sum_recurrent(plan, tilts, epsilon, accuracy.recurrence, log_decay);
  std::vector<double> times;
  for (const ContourPlan::Item& item : plan.items) times.push_back(item.times);
  const double low = 1e-3 / deviation_;
  double high = low;
  while (high < furthest && log_decay(high) > -need) high *= 4;
  if (log_decay(high) <= -need) high = numeric::bisect_ratio([&](double t) { return log_decay(t) <= -need; }, {low, high}, 40, 1.01).beyond;
  const double end = high;

  double until = 0;  // nodes are needed at least up to this t
  // A law that is known to decay fast needs no march: its nodes are summed until what its bound leaves up to the end is negligible.
  const auto fades = [&](const auto& tilt) { return tilt->modulus_after(end) < 1 || (far && tilt->raised_modulus_after(end) < 1); };
  Faded faded{infinity, 0, 0};
  if (end < most_fading_nodes * step_ && std::any_of(tilts.begin(), tilts.end(), fades))
    faded = fade_before(end, std::exp(-need) * flat_kernel(low), log_decay);
  if (faded.from / step_ * static_cast<double>(points_) < most_line_work) {
    while (nodes_.empty() || nodes_.back().t < faded.from) add_nodes(plan, tilts, nodes_.size() < first_nodes ? short_block : long_block);
    last_time_ = nodes_.back().t;
    close(std::max(end, last_time_), std::max(end, last_time_), need, whole_variation, whole_steps);
    profile_truncation_ += faded.profile;
    tail_truncation_ += faded.tail;
    return;
  }
  for (;;) {
    do add_nodes(plan, tilts, nodes_.size() < first_nodes ? short_block : long_block);
    while (nodes_.size() < most_nodes && static_cast<double>(nodes_.size() * points_) < most_line_work &&
           (nodes_.back().t < until || nodes_.back().modulus > std::exp(-sure_decay * need)));
    // Nodes smaller than the quadrature error add more error than they remove; the march does not need them.
    const std::size_t summed = nodes_.size();
    last_time_ = nodes_.back().t;
    while (nodes_.size() > 1 && nodes_.back().growth > 0.1 && nodes_.back().modulus < std::exp(-need)) nodes_.pop_back();
    for (const auto& item : items_) item->nodes.resize(nodes_.size());
    const double start = nodes_.back().t;
    bridge_ = {};
    until = march_from({tilts, times, start, end, need, true});
    if (until == infinity) return close(start, std::max(end, start), need, whole_variation, whole_steps);
    const bool much =
        nodes_.size() >= most_nodes || static_cast<double>(nodes_.size() * points_) >= most_line_work || march_ >= most_marches;
    // If the sums are small and only their error bound is large, finer quadratures help and more nodes do not.
    blind_ = nodes_.size() < summed || (!much && log_modulus_near(plan, tilts, until) < -1.05 * need);
    if (blind_ || much) break;
  }
  const double start = nodes_.back().t;
  // [contour-truncation] The bound of the decay holds from any t on; at worst it says |phi| <= 1.
  const auto rest = [&](double t) { return std::exp(std::min(0.0, log_decay(t))) / (pi * t); };
  profile_truncation_ = rest(start) * (1 + 1e-9);
  // If no march gets anywhere near the end, the decay beyond what it proved is all there is.
  if (end > endless / deviation_) {
    const double last = std::max(start, until - 2 * step_);
    const double marched = std::exp(-need) * flat_kernel(start) + step_ / pi * bridge_.profile + rest(last);
    profile_truncation_ = std::min(rest(start), marched) * (1 + 1e-9);
    exhausted_ = !blind_;
  }
  tail_truncation_ = infinity;
}

/// What nodes and marches took, about in nanoseconds.
double ContourLine::recurrent_work() const {
  const double points = 2 * static_cast<double>(points_);
  return static_cast<double>(nodes_.size()) * (250 + points) + static_cast<double>(march_) * (100 + points);
}

bool ContourLine::spent() const {
  if (atoms_alone_) return nodes_.size() >= most_recurrent_nodes || recurrent_work() >= most_recurrent_work;
  return nodes_.size() >= most_nodes || march_ >= most_marches || static_cast<double>(nodes_.size() * points_) >= most_line_work;
}

/// The sum over the nodes so far at an epsilon. Guides only.
ContourLine::Outset ContourLine::outset(double epsilon) const {
  const double c = order_, drift = mean_ - epsilon;
  Outset found{1, 1 / (c * (c + 1))};
  for (const Node& node : nodes_) {
    const double divisor_real = c * (c + 1) - node.t * node.t, divisor_imaginary = (2 * c + 1) * node.t;
    const double angle = node.argument + node.t * drift, square = divisor_real * divisor_real + divisor_imaginary * divisor_imaginary;
    found.windows += 2 * node.modulus;
    found.value += 2 * node.modulus * (std::cos(angle) * divisor_real + std::sin(angle) * divisor_imaginary) / square;
  }
  found.value *= step_ / (2 * pi) * (c > 0 ? 1 : -1);
  return found;
}

// [contour-recurrence] Where |phi| is large nodes are summed, in stretches, and between them a march proves that it is small. The march
// ends where the rest is as small as wanted.
void ContourLine::sum_recurrent(const ContourPlan& plan, const Tilts& tilts, double epsilon, double accuracy,
                                const std::function<double(double)>& log_decay) {
  std::vector<double> times;
  double steps = 0;
  for (const ContourPlan::Item& item : plan.items) {
    times.push_back(2 * std::floor(0.5 * item.times));
    steps += times.back();
  }
  if (steps < (atoms_alone_ ? fewest_of_atoms : fewest_recurrent)) {
    hopeless_ = true;
    profile_truncation_ = tail_truncation_ = infinity;
    return;
  }
  Recurrence found{times};
  found.need = needed_decay(accuracy, order_, deviation_);
  double until = 0;
  for (bool marches = false;;) {
    if (!marches) add_stretch(plan, tilts, found, until);
    if (found.origin == 0) aim(found, epsilon, accuracy);
    until = march_from({tilts, times, found.covered, found.end, found.need, true, found.origin});
    marches = until == infinity;
    found.covered = marches ? std::max(found.end, found.covered) : (until - step_) * (1 - 1e-12);
    blind_ = blind_ || (!marches && is_blind_at(plan, tilts, until, found.need_at(until)));
    if (blind_ || spent()) break;
    if (!marches) continue;
    const double rest = beyond(found) / found.wanted;  // the more often |phi| returns, the further the march must go
    if (!(rest > 1) || !atoms_alone_ || found.end >= exact_multiples * step_ ||
        (rest <= most_left && recurrent_work() >= much_recurrent_work))
      break;
    found.end = std::min(found.covered * std::clamp(std::sqrt(rest), 1.2, 2.0), exact_multiples * step_);
  }
  found.covered = std::max(found.covered, nodes_.back().t);
  const auto largest_from = [&](double t) { return std::exp(std::min(0.0, log_decay(t))) / (pi * t); };
  found.most_between = largest_from(found.origin);
  found.most_beyond = largest_from(found.covered);
  close_recurrent(found);
}

/// Nodes from `until` on, or up to there if the last ones are near, and on to where they are small.
void ContourLine::add_stretch(const ContourPlan& plan, const Tilts& tilts, Recurrence& found, double until) {
  const double number = until > 0 ? std::round(next_node(found.covered, step_) / step_) : 1;  // the first node that is not bounded
  const Stretch last = stretches_.back();
  if (number > last.number + static_cast<double>(nodes_.size() - last.first + numeric::lane_count))
    stretches_.push_back({nodes_.size(), number});
  const std::size_t before = stretches_.back().first;
  do add_nodes(plan, tilts, nodes_.size() < first_nodes ? short_block : long_block);
  while (!spent() && (nodes_.back().t < until || nodes_.back().modulus > std::exp(-sure_decay * found.need_at(nodes_.back().t))));
  const std::size_t summed = nodes_.size();
  last_time_ = nodes_.back().t;
  while (nodes_.size() > before + 1 && nodes_.back().growth > 0.1 && nodes_.back().modulus < std::exp(-found.need_at(nodes_.back().t)))
    nodes_.pop_back();
  for (const auto& item : items_) item->nodes.resize(nodes_.size());
  blind_ = nodes_.size() < summed;
  found.covered = nodes_.back().t;
}

/// How far the march should go, and how small |phi| should be there, from the nodes of the first stretch.
void ContourLine::aim(Recurrence& found, double epsilon, double accuracy) const {
  const auto [windows, value] = outset(epsilon);
  const double least = least_share / (std::abs(order_ * (order_ + 1)) * deviation_);
  const bool elsewhere = !(value > least);  // a line for another epsilon
  const double aimed = elsewhere ? least : value, log_value = 0.5 * (cumulant_.lo + cumulant_.hi) - order_ * epsilon + std::log(aimed);
  found.origin = found.covered;
  found.wanted = (order_ > 0 && log_value < log_of_nothing ? rough_accuracy : accuracy) * aimed;
  found.need = std::max(least_need, margin - std::log(found.wanted / flat_kernel(found.origin)));
  const double end = std::sqrt(step_ / pi * windows * recurrence_windows / (most_left * found.wanted));
  found.end = elsewhere ? found.origin : std::min(end, exact_multiples * step_);
  if (elsewhere) found.wanted = infinity;
}

double ContourLine::Recurrence::need_at(double t) const {
  return origin > 0 && t > origin ? std::max(least_need, need - easing * std::log(t / origin)) : need;
}

double ContourLine::March::need_at(double t) const {
  return origin > 0 && t > origin ? std::max(least_need, need - easing * std::log(t / origin)) : need;
}

// [contour-march] N(t)^2 = sum T_i N_i(t)^2 with N_i^2 = (1 - |phi_i|^2)/2 is the square of a subadditive function of slope
// deviation_i/sqrt 2.
double ContourLine::march_from(const March& march) {
  const Tilts& tilts = march.tilts;
  const std::vector<double>& times = march.times;
  const double start = march.start, end = march.end, first = march.origin > 0 ? march.origin : start;
  std::vector<double> root(tilts.size());
  std::vector<std::vector<Spread>> spreads;
  for (const auto& tilt : tilts) spreads.push_back({{tilt->deviation_above(), 0}});
  const double most = most_bridged * std::exp(-march.need) * flat_kernel(first);  // as much may be left to single nodes
  double t = start, covered = start, last = 0;                                    // nodes up to `covered` are bounded; the last step taken
  while (covered < end) {
    const double need = march.need_at(t);
    for (std::size_t i = 0; i < tilts.size(); ++i) {
      const double modulus = std::min(1.0, tilts[i]->modulus_above(t) * (1 + 1e-12));
      root[i] = std::sqrt(std::max(0.0, 0.5 * (1 - modulus) * (1 + modulus))) * (1 - 1e-12);
    }
    const auto exponent = [&](double ahead) {  // a lower bound of -log |phi(t + ahead)|
      double sum = 0.5 * (gaussian_ - gaussian_error_) * t * t;
      for (std::size_t i = 0; i < tilts.size(); ++i) {
        double loss = infinity;  // the decrease of N_i over this distance
        for (const Spread& one : spreads[i]) loss = std::min(loss, 0.5 * ahead * ahead * one.deviation * one.deviation + 2 * one.tail);
        const double least = std::max(0.0, root[i] - std::sqrt(loss) * (1 + 1e-12));
        sum -= 0.5 * times[i] * std::log1p(-2 * least * least * (1 - 1e-12));
      }
      return sum;
    };
    if (t > covered) {  // a node on its own
      if (const double here = exponent(0); here < need * (1 + 1e-9)) bridge_.add(t, std::exp(-here) * (1 + 1e-9), first);
      covered = t;
    }
    const double straight = tilts.size() == 1 ? step_ahead(root[0], spreads[0], (need - 0.5 * gaussian_ * t * t) / times[0]) : 0;
    if (straight >= 0.5 * step_ && exponent(straight) >= need * (1 + 1e-9)) {
      covered = t += last = straight;
    } else if (exponent(0.5 * step_) >= need * (1 + 1e-9)) {
      double ahead = 0.5 * step_, beyond = std::max(ahead, 0.5 * last);
      while (beyond < end && exponent(beyond) >= need * (1 + 1e-9)) ahead = beyond, beyond *= 2;
      for (int i = 0; i < 4; ++i) {
        const double middle = 0.5 * (ahead + beyond);
        (exponent(middle) >= need * (1 + 1e-9) ? ahead : beyond) = middle;
      }
      covered = t += last = ahead;
    } else {
      if (!march.bridges || step_ / pi * bridge_.profile > most) return covered + step_;
      t = next_node(covered, step_);
    }
    ++march_;
    if (march.origin > 0 ? spent() : march_ >= most_marches) return covered;
    if (march_ == many_marches)  // a long march: tighter bounds of the decrease of N save steps
      for (std::size_t i = 0; i < tilts.size(); ++i) spreads[i] = tilts[i]->spreads();
  }
  return infinity;
}

/// The integral of the kernel 1/(s(s+1)) beyond t, over pi.
double ContourLine::flat_kernel(double t) const {
  const double distance = std::min(std::abs(order_), std::abs(order_ + 1));
  return std::min(1 / (pi * t), (0.5 - std::atan(t / distance) / pi + 1e-15) / distance);
}

// [contour-truncation] From the end backward, over stretches on which the bound is that of their start.
template <class LogDecay>
ContourLine::Faded ContourLine::fade_before(double end, double negligible, LogDecay&& log_decay) const {
  constexpr double stretch = 0.95;
  Faded faded{end, 0, 0};
  while (faded.from > step_) {
    const double from = stretch * faded.from, bound = std::exp(log_decay(from)) / pi * (1 + 1e-9);
    const double profile = faded.profile + bound * (1 / from - 1 / faded.from) * (1 + 1e-9);
    if (!(profile <= negligible)) break;
    faded = {from, profile, faded.tail - bound * std::log(stretch) * (1 + 1e-9)};
  }
  return faded;
}

// [contour-truncation] sum_{k > K} h F(kh) <= Int_{Kh} F for decreasing F.
void ContourLine::close(double start, double end, double need, double whole_variation, double whole_steps) {
  const double level = std::exp(-need) * (1 + 1e-9);
  profile_truncation_ = (level * (flat_kernel(start) + 1 / (pi * end)) + step_ / pi * bridge_.profile) * (1 + 1e-9);
  // The kernels 1/s and 1/(s+1) decrease only like 1/t: the level is used up to where the variation shows that |phi| is as small, from
  // where on it decreases like a power.
  tail_truncation_ = infinity;
  if (gaussian_ > gaussian_error_) {
    const double far = std::max(end, 1 / std::sqrt(gaussian_ - gaussian_error_));
    tail_truncation_ =
        step_ / pi * bridge_.tail + level * (std::log(far / start) + 1 / ((gaussian_ - gaussian_error_) * far * far)) / pi * (1 + 1e-9);
  } else if (whole_variation < infinity && whole_steps >= 1) {
    const double far = std::max(end, std::max(2.0, std::exp(need / whole_steps)) * whole_variation);
    tail_truncation_ =
        step_ / pi * bridge_.tail +
        (level * std::log(far / start) + std::exp(whole_steps * std::log(whole_variation / far)) / whole_steps) / pi * (1 + 1e-9);
  }
}

// [contour-recurrence] The product with even exponents is the characteristic function of a real law, so its sum over any window of nodes is
// at most that over the window around 0, which the nodes and the march bound.
double ContourLine::beyond(const Recurrence& found) const {
  const double end = found.covered;
  double best = infinity;
  std::vector<double> moduli(nodes_.size());
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const double t = nodes_[k].t;
    double above = -0.5 * (gaussian_ - gaussian_error_) * t * t + 1e-6;
    for (std::size_t i = 0; i < items_.size(); ++i)
      above += found.times[i] * (items_[i]->nodes[k].log_modulus + items_[i]->nodes[k].growth);
    moduli[k] = above < 0 ? std::exp(above) : 1;  // not a number where phi vanishes and nothing is known of it
  }
  // The wider a window, the more often |phi| returns in it, and the fewer there are.
  for (double share = 1; share > 0.01; share /= 2) {
    const double half = std::floor(share * end / step_ * (1 - 1e-9)), width = half * step_;  // nodes of a window, to each side
    if (!(half >= fewest_periods)) break;
    const double level = std::exp(-found.need) * std::pow(std::max(1.0, width / found.origin), easing) * (1 + 1e-9);
    double window = 1 + 2 * (half * level + bridge_.count_up_to(width, found.origin));
    for (std::size_t k = 0; k < nodes_.size() && nodes_[k].t < width; ++k) window += 2 * moduli[k] * (1 - nodes_[k].t / width);
    const double kernels = 2 / (end * end) + 1 / (width * end);
    best = std::min(best, step_ / pi * window * kernels * (1 + 1e-9));
  }
  return best;
}

void ContourLine::close_recurrent(const Recurrence& found) {
  tail_truncation_ = infinity;
  exhausted_ = !blind_;
  // The integral of the level, which rises like t^easing, over t^2.
  const double eased = std::exp(-found.need) / (pi * found.origin * (1 - easing));
  const double both = eased + step_ / pi * bridge_.profile + std::min(beyond(found), found.most_beyond);
  profile_truncation_ = std::min(both, found.most_between) * (1 + 1e-9);
}

ContourLine::Distance ContourLine::distance_to(double epsilon) const {
  const double c = order_, slope = mean_ - epsilon - 1 / c - 1 / (c + 1);
  const double curvature = deviation_ * deviation_ + 1 / (c * c) + 1 / ((c + 1) * (c + 1));
  return {std::abs(slope) / std::sqrt(curvature), c - slope / curvature, std::sqrt(curvature)};
}

/// The part of the sum over nodes that all questions share.
void ContourLine::gather() {
  if (fold_) return gather_folded();
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < stretches_.size(); ++i) blocks += blocks_of(i);
  profile_.assign(2 * numeric::lane_count * blocks, 0);
  fall_.assign(2 * numeric::lane_count * blocks, 0);
  error_sums_ = {};
  bend_ = 0;
  const double c = order_;
  std::size_t stretch = 0, first = 0, past = 0;  // the first node of the stretch, and the blocks of those before
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (stretch + 1 < stretches_.size() && k == stretches_[stretch + 1].first) past += blocks_of(stretch++), first = k;
    const auto& [t, modulus, argument, growth, upper] = nodes_[k];
    const double divisor_real = c * (c + 1) - t * t, divisor_imaginary = (2 * c + 1) * t;  // s(s+1)
    const double square = divisor_real * divisor_real + divisor_imaginary * divisor_imaginary;
    const double real = divisor_real / square, imaginary = -divisor_imaginary / square;
    const double cosine = 2 * modulus * std::cos(argument), sine = 2 * modulus * std::sin(argument);
    const std::size_t lane = (k - first) % numeric::lane_count, block = past + (k - first) / numeric::lane_count;
    const std::size_t place = 2 * numeric::lane_count * block + lane;
    profile_[place] = cosine * real - sine * imaginary;
    profile_[place + numeric::lane_count] = cosine * imaginary + sine * real;
    const double fall_real = real * c - imaginary * t, fall_imaginary = imaginary * c + real * t;  // 1/(s+1) = s/(s(s+1))
    fall_[place] = cosine * fall_real - sine * fall_imaginary;
    fall_[place + numeric::lane_count] = cosine * fall_imaginary + sine * fall_real;
    bend_ += 2 * upper * t * t / std::sqrt(square);
    const double profile_size = 2 / std::sqrt(square), r = growth + 4 * unit_roundoff * std::abs(argument) + turn_error;
    for (const Kernel kernel : {Kernel::profile, Kernel::true_positive, Kernel::false_positive}) {
      // 1/s = (s+1)/(s(s+1))
      const double size = profile_size * (kernel == Kernel::profile         ? 1
                                          : kernel == Kernel::true_positive ? std::hypot(c + 1, t)
                                                                            : std::hypot(c, t));
      ErrorSums& sums = error_sums_[static_cast<std::size_t>(kernel)];
      sums.size += size * modulus;
      sums.whole += size * (modulus + upper);
      const bool known = r < 0.5;
      sums.fixed += size * (known ? modulus * r * (1 + r) : modulus + upper);
      if (known) sums.moving += size * modulus * t * (1 + r);
    }
  }
}

// [contour-propagation] Of the relative error r + t d of a node only d depends on epsilon, and x(1 + x) at x = r + td is at most
// (r + td)(1 + r)(1 + td).
double ContourLine::node_error(Kernel kernel, double drift, double drift_error) const {
  const ErrorSums& sums = error_sums_[static_cast<std::size_t>(kernel)];
  const double d = drift_error + 4 * unit_roundoff * std::abs(drift), furthest = nodes_.empty() ? 0 : nodes_.back().t * d;
  return furthest < 0.5 ? (sums.fixed + d * sums.moving) * (1 + furthest) : sums.whole;
}

// [contour-inversion] The nodes are equally spaced, so exp(it drift) is updated by a multiplication from block to block; every few blocks
// it is computed anew.
numeric::TurnedSums ContourLine::sum_nodes(double drift) const {
  const double block_angle = static_cast<double>(numeric::lane_count) * (step_ * drift);
  numeric::TurnedSums all;
  std::size_t past = 0;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const auto first = first_phases(drift, stretches_[i].number);
    const std::size_t blocks = blocks_of(i), place = 2 * numeric::lane_count * past;
    const auto [profile, fall] = numeric::turned_sums({profile_.data() + place, fall_.data() + place, blocks, first.data(), block_angle});
    all.profile += profile;
    all.fall += fall;
    past += blocks;
  }
  return all;
}

/// How many blocks the nodes of a stretch fill.
std::size_t ContourLine::blocks_of(std::size_t stretch) const {
  const std::size_t end = stretch + 1 < stretches_.size() ? stretches_[stretch + 1].first : nodes_.size();
  return (end - stretches_[stretch].first + numeric::lane_count - 1) / numeric::lane_count;
}

/// exp(it drift) at the nodes of a block, of which the first has this number.
std::array<double, 2 * numeric::lane_count> ContourLine::first_phases(double drift, double number) const {
  const double angle = step_ * drift;
  std::array<double, 2 * numeric::lane_count> first{};
  const double turn_real = std::cos(angle), turn_imaginary = std::sin(angle);
  first[0] = std::cos(number * step_ * drift);
  first[numeric::lane_count] = std::sin(number * step_ * drift);
  for (std::size_t k = 1; k < numeric::lane_count; ++k) {
    first[k] = first[k - 1] * turn_real - first[k + numeric::lane_count - 1] * turn_imaginary;
    first[k + numeric::lane_count] = first[k - 1] * turn_imaginary + first[k + numeric::lane_count - 1] * turn_real;
  }
  return first;
}

// [contour-log-line] The sum over the nodes is a trigonometric polynomial in epsilon, so between two points it differs from its chord by at
// most (end - start)^2/8 times the largest second derivative. The logarithm of a chord lies above the chord of the logarithms, by at most
// an eighth of the square of their difference.
std::optional<LogLine> ContourLine::log_line(double start, double end) const {
  if (fold_) return std::nullopt;
  const Value left = at(start), right = at(end);
  const double length = end - start, bend = step_ / (2 * pi) * bend_ * length * length / 8 * (1 + 1e-9);
  const bool above = order_ > 0;
  // Between the points the errors are at most the sum of those at both: copies on the left grow with epsilon, those on the right fall.
  const double error = above ? left.above + right.above : left.below + right.below;
  const Interval shift = (Interval::exactly(bend) + Interval::exactly(error)) * (above ? 1.0 : -1.0), zero = Interval::exactly(0);
  const Interval log_left = log(max(Interval::exactly(left.value) + shift, zero)),
                 log_right = log(max(Interval::exactly(right.value) + shift, zero));
  const auto is_finite = [](Interval value) { return value.lo > -infinity && value.hi < infinity; };
  if (!is_finite(log_left) || !is_finite(log_right)) return std::nullopt;
  if (!above) return LogLine{(left.base + log_left).lo, (right.base + log_right).lo};
  const Interval rise = square(log_left - log_right) / 8.0;
  return LogLine{(left.base + log_left + rise).hi, (right.base + log_right + rise).hi};
}

// [contour-arc] The sum over the nodes is a sum of exp(-i t e): each is followed by its polynomial up to 2^(1-n) (t half)^n/n!, and never
// worse than 1 + the Lebesgue constant.
std::optional<Arc> ContourLine::arc(double start, double end) const {
  if (fold_ || !(step_ > 0)) return std::nullopt;
  Arc arc = arc_over(start, end);
  const double c = order_, scale = step_ / (2 * pi);
  double followed = 0, slope = 0;
  for (const Node& node : nodes_) {
    const double t = node.t, size = 2 * node.upper / std::hypot(c * (c + 1) - t * t, (2 * c + 1) * t);
    followed += size * arc.error_of_wave(t);
    slope += size * t;
  }
  double nodes = 0;
  for (std::size_t i = 0; i < Arc::size; ++i) {
    const Value value = at(arc.points[i]);
    arc.values[i] = value.value;
    nodes = std::max(nodes, value.nodes);
  }
  arc.order = c;
  arc.base = c > 0 ? cumulant_.hi : cumulant_.lo;
  arc.error = Arc::lebesgue * (nodes + scale * slope * arc.misplaced) + scale * followed + profile_truncation_;
  // Between the points the copies are at most the sum of those at both: on the left they grow with epsilon, on the right they fall.
  if (c < 0) arc.error += at(start).alias + at(end).alias;
  arc.error *= 1 + 1e-9;
  return arc;
}

ContourLine::Value ContourLine::at(double epsilon, Kernel kernel) const {
  if (fold_) return at_folded(epsilon, kernel);
  Value result;
  result.base = cumulant_ - Interval::exactly(order_) * Interval::exactly(epsilon);
  const double c = order_, drift = mean_ - epsilon;
  const double drift_error = mean_error_ + 2 * unit_roundoff * (std::abs(mean_) + std::abs(epsilon));
  const auto [profile_sum, fall_sum] = sum_nodes(drift);
  const double profile = 1 / (c * (c + 1)) + profile_sum, fall = 1 / (c + 1) + fall_sum;  // with t = 0
  // 1/s = 1/(s(s+1)) + 1/(s+1)
  const double sum = kernel == Kernel::profile ? profile : kernel == Kernel::true_positive ? profile + fall : fall;
  const double first = kernel == Kernel::profile ? 1 / (c * (c + 1)) : kernel == Kernel::true_positive ? 1 / c : 1 / (c + 1);
  const double scale = step_ / (2 * pi) * (c > 0 ? 1 : -1), rounding = (static_cast<double>(nodes_.size()) + 16) * unit_roundoff;
  const auto error_of = [&](Kernel one, double at_zero) {
    return std::abs(scale) *
           (node_error(one, drift, drift_error) + rounding * (error_sums_[static_cast<std::size_t>(one)].size + std::abs(at_zero))) *
           (1 + 1e-9);
  };
  result.value = scale * sum;
  result.slope = -scale * fall;
  result.nodes = error_of(kernel, first);
  result.truncation = kernel == Kernel::profile ? profile_truncation_ : tail_truncation_;
  result.alias = alias(epsilon, result.base, kernel);
  result.above = result.nodes + result.truncation;
  result.below = result.above + result.alias;
  // [contour-inversion] Aliases only add to the sum, and e^-x 1[x > 0] <= e^(cx).
  if (c > 0) {
    const double steepest = scale * fall + error_of(Kernel::false_positive, 1 / (c + 1)) + tail_truncation_;
    if (steepest < 1) result.fall = steepest;
  }
  return result;
}

}  // namespace tradeoff::detail
