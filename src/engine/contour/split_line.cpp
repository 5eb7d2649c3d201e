// SPDX-License-Identifier: Apache-2.0
#include "engine/contour/split_line.h"

#include "numeric/minimize.h"

// [rare-losses]
namespace tradeoff::detail::rare {
namespace {

using std::numbers::pi;

constexpr double most_line_nodes = 20000;  // of the sum over t
constexpr double few_line_nodes = 500;     // for fewer no other order is tried
constexpr double most_split_work = 3e7;    // nodes times points: a tenth of a second
constexpr double most_cancelled = 7;       // log of an integrand over the least one, of another order: it costs three digits

/// The logarithm of the integrand where a line crosses the axis.
double log_integrand(const SplitPlan& plan, SplitLine::Of part, double epsilon, double c) {
  return (part == SplitLine::Of::rare ? plan.log_rare(c) : plan.log_bulk(c)) - c * epsilon - std::log(c) - std::log1p(c);
}

SplitSaddle integrand_at(const SplitPlan& plan, SplitLine::Of part, double epsilon, double c) {
  const auto exponent = [&](double order) { return log_integrand(plan, part, epsilon, order); };
  const double away = 0.05 * c, here = exponent(c);
  return {c, here, (exponent(c + away) + exponent(c - away) - 2 * here) / (away * away)};
}

}  // namespace

double SplitSaddle::log_integral() const { return log_value - 0.5 * std::log(2 * pi * std::max(curvature, 1e-300)); }

SplitSaddle find_saddle(const SplitPlan& plan, SplitLine::Of part, double epsilon, double low, double high) {
  const auto exponent = [&](double c) { return log_integrand(plan, part, epsilon, c); };
  // In -log c, because a tie goes to the right: where both values are infinite c is too large.
  const auto in_log = [&](double x) { return exponent(std::exp(-x)); };
  return integrand_at(plan, part, epsilon, std::exp(-numeric::golden_section(in_log, -std::log(high), -std::log(low), 0.02).best));
}

SplitSaddle below_saddle(const SplitPlan& plan, SplitLine::Of part, double epsilon, const SplitSaddle& saddle, double log_largest) {
  double order = saddle.order;
  for (int i = 0; i < 20 && log_integrand(plan, part, epsilon, 0.8 * order) < log_largest; ++i) order *= 0.8;
  return integrand_at(plan, part, epsilon, order);
}

std::shared_ptr<const SplitLine> SplitLine::make(const SplitPlan& plan, Of part, double epsilon, const SplitSaddle& saddle,
                                                 double log_wanted, const RareAccuracy& accuracy) {
  std::shared_ptr<SplitLine> best;
  if (!(saddle.curvature > 0 && saddle.curvature < infinity)) return nullptr;
  for (const double share : {1.0, 0.6, 0.35}) {
    auto line = std::make_shared<SplitLine>();
    line->part_ = part;
    line->order_ = share * saddle.order;
    if (share < 1 && !(log_integrand(plan, part, epsilon, line->order_) < saddle.log_value + most_cancelled)) break;
    line->choose_step(plan, epsilon, log_wanted + std::log(accuracy.alias), saddle.curvature);
    line->truncate(plan, log_wanted + std::log(accuracy.truncation) + line->order_ * epsilon, 2 / std::sqrt(saddle.curvature));
    if (best == nullptr || line->count() < best->count()) best = std::move(line);
    if (best->count() <= few_line_nodes || part == Of::bulk) break;  // many small losses have a sharp saddle point
  }
  return best->count() < most_line_nodes && best->sum(plan, best->longest_) ? best : nullptr;
}

// [contour-alias] The transform of a positive measure: the same bounds, with its mass in place of 1.
void SplitLine::choose_step(const SplitPlan& plan, double epsilon, double log_wanted, double curvature) {
  const double c = order_, target = log_wanted + c * epsilon;
  const bool rare = part_ == Of::rare;
  for (const double order : {0.0, 0.5 * c, std::max(0.75 * c, c - 6 / std::sqrt(curvature))})
    left_.push_back({order, rare ? plan.rare_above(order).any : plan.log_bulk_above(order)});
  for (const double ahead : {0.2, 0.4, 0.6, 0.9, 1.3, 1.8}) {
    const double order = c + ahead * std::min(c, 6 / std::sqrt(curvature));
    if (rare) {
      const auto [one, more, any] = plan.rare_above(order);
      right_.push_back({order, one});
      more_.push_back({order, more});
    } else {
      right_.push_back({order, plan.log_bulk_above(order)});
    }
  }
  double window = std::sqrt(curvature);
  for (int i = 0; i < 70; ++i, window *= 1.1) {
    const auto least = [&](const std::vector<Chernoff>& bounds) {
      double best = bounds.empty() ? -infinity : infinity;
      for (const auto& [order, log] : bounds)
        best = std::min(best, log + log_kernel_bound(order) - (order - c) * epsilon - log_expm1_of(std::abs(order - c) * window));
      return best;
    };
    const double copies = std::max({least(left_), least(right_), least(more_)}) + std::log(3.0);
    if (copies < target) break;
  }
  step_ = few_bits_below(2 * pi / window, 26);
  window_ = 2 * pi / step_ * (1 - 8 * unit_roundoff);
}

/// The t from which on what is left is below the wanted size, or so large that there are too many nodes.
void SplitLine::truncate(const SplitPlan& plan, double log_wanted, double first) {
  const auto left_beyond = [&](double t) {
    return (part_ == Of::rare ? plan.log_rare_beyond(order_, t) : plan.log_bulk_beyond(order_, t)) - std::log(pi * t);
  };
  const double limit = most_line_nodes * step_;
  longest_ = first;
  while (longest_ < limit && left_beyond(longest_) > log_wanted) longest_ *= 1.3;
  log_truncation_ = longest_ < limit ? left_beyond(longest_) + 1e-9 : infinity;
}

/// One node: e^bulk, for runs with large losses times e^rare - 1.
void SplitLine::add_term(Complex bulk, double bulk_error, Complex rare, double rare_error) {
  const bool first = terms_.empty();
  const double t = static_cast<double>(terms_.size()) * step_, c = order_, count = first ? 1 : 2;
  if (first) log_scale_ = bulk.real() + (part_ == Of::rare ? log_expm1_of(rare.real()) : 0);
  const double modulus = std::exp(bulk.real() - log_scale_);
  const Complex turn(std::cos(bulk.imag()), std::sin(bulk.imag())), kernel = 1.0 / (Complex(c, t) * Complex(c + 1, t));
  const double share = modulus * std::abs(kernel) * count;
  bulk_error += 8 * unit_roundoff * (std::abs(bulk.imag()) + std::abs(bulk.real()) + std::abs(log_scale_) + 8);
  if (bulk_error == infinity) {  // the modulus is a bound
    terms_.push_back(0);
    error_ += share * (1 + 1e-6);
    return;
  }
  if (part_ == Of::bulk) {
    terms_.push_back(modulus * turn * kernel * count);
    error_ += share * std::expm1(bulk_error) + 32 * unit_roundoff * share;
    moving_error_ += share * 4 * unit_roundoff * t;
    size_ += share;
    return;
  }
  const Complex growth = exp_less_one(rare);
  const double size = share * std::abs(growth);
  rare_error += 8 * unit_roundoff * std::abs(rare);
  terms_.push_back(modulus * growth * turn * kernel * count);
  error_ += size * std::expm1(bulk_error) + share * std::exp(rare.real()) * std::expm1(rare_error) * std::exp(bulk_error) +
            32 * unit_roundoff * share * std::exp(std::max(0.0, rare.real())) * std::min(2.0, std::abs(rare));
  moving_error_ += size * 4 * unit_roundoff * t;
  size_ += size;
}

bool SplitLine::sum(const SplitPlan& plan, double longest) {
  const Kinds& kinds = plan.kinds();
  const auto count = static_cast<std::size_t>(std::ceil(longest / step_));
  const double last = static_cast<double>(count) * step_;
  std::vector<SplitPlan::Bulk> bulks;
  std::vector<SplitStep::TailTilt> tails;
  points_ = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    auto bulk = plan.fine_bulk(i, 1 + order_, step_, last);
    if (!bulk) return false;
    points_ += std::visit([](const auto& tilt) { return tilt.points(); }, *bulk);
    bulks.push_back(std::move(*bulk));
    if (part_ == Of::bulk) continue;
    tails.emplace_back(plan.steps()[i], 1 + order_, step_);
    points_ += tails.back().points();
  }
  if (!(static_cast<double>(count) * static_cast<double>(points_) <= most_split_work)) return false;
  for (std::size_t k = 0; k <= count; ++k) {
    Complex bulk = 0, rare = 0;
    double bulk_error = 0, rare_error = 0, log_above = 0, shares = 0;  // the last two bound runs with large losses
    bool vanishes = false;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const Enclosed less_one = std::visit([](auto& tilt) { return tilt.next(); }, bulks[i]),
                     tail = part_ == Of::rare ? tails[i].next() : Enclosed{};
      const Complex whole = 1.0 + less_one.value;
      const double n = kinds[i].times, modulus = std::abs(whole), apart = modulus - less_one.error;
      const double doubt = (less_one.error + 8 * unit_roundoff) / modulus, bulk_above = modulus + less_one.error + 8 * unit_roundoff;
      const double scale = part_ == Of::rare ? std::exp(tails[i].log_scale()) : 0;
      const double tail_above = scale * (std::abs(tail.value) + tail.error) * (1 + 1e-9), above = bulk_above + tail_above;
      log_above += n * (std::log(above) + 16 * unit_roundoff * (1 + std::abs(std::log(above))));
      shares += n * tail_above / above * (1 + 1e-9);
      vanishes = vanishes || !(doubt < 0.1);  // then only a bound is known
      if (vanishes) continue;
      const Complex log_bulk = modulus > 0.5 ? log_one_plus(less_one.value) : Complex(std::log(modulus), std::arg(whole));
      bulk += n * log_bulk;
      bulk_error += n * (1.1 * (modulus > 0.5 ? less_one.error / modulus : doubt) + 16 * unit_roundoff * std::abs(log_bulk));
      if (part_ == Of::bulk) continue;
      const Complex ratio = scale * tail.value / whole;
      const double size = std::abs(ratio);
      const double ratio_error = scale * tail.error * (1 + 1e-9) / apart + size * (less_one.error / apart + 12 * unit_roundoff);
      if (!(size + ratio_error < 0.5)) {
        vanishes = true;
        continue;
      }
      const Complex log_ratio = log_one_plus(ratio);
      rare += n * log_ratio;
      rare_error += n * (2.5 * ratio_error + 16 * unit_roundoff * std::abs(log_ratio));
    }
    if (vanishes || !(bulk_error + rare_error < 0.5)) {
      if (k == 0) return false;
      bulk = log_above + (part_ == Of::rare ? std::log(shares) + 1e-12 : 0);
      bulk_error = infinity;
    }
    add_term(bulk, bulk_error, rare, rare_error);
  }
  error_ *= 1 + 1e-9;
  return true;
}

SplitLine::Value SplitLine::at(double epsilon) const {
  const double c = order_;
  double sum = 0, slope = 0;
  for (std::size_t k = 0; k < terms_.size(); ++k) {
    const double t = static_cast<double>(k) * step_;
    const Complex turned = terms_[k] * Complex(std::cos(t * epsilon), -std::sin(t * epsilon));
    sum += turned.real();
    slope -= c * turned.real() - t * turned.imag();
  }
  const double scale = step_ / (2 * pi);
  Value value{Interval::exactly(log_scale_) - Interval::exactly(c) * Interval::exactly(epsilon), scale * sum, scale * slope};
  const auto relative = [&](double log) { return std::exp(log - value.scale.lo) * (1 + 1e-9); };
  const auto copies = [&](const std::vector<Chernoff>& bounds) {
    double best = bounds.empty() ? -infinity : infinity;
    for (const auto& [order, log] : bounds) {
      const double away = log_expm1_of(std::abs(order - c) * (1 - 4 * unit_roundoff) * window_);
      const double bound = log + log_kernel_bound(order) - order * epsilon - away;
      best =
          std::min(best, bound + 64 * unit_roundoff * (1 + std::abs(log) + std::abs(order * epsilon) + std::abs(away) + 8 * (order + 1)));
    }
    return relative(best);
  };
  value.nodes =
      scale * (error_ + moving_error_ * (epsilon + 1) + (static_cast<double>(terms_.size()) + 32) * unit_roundoff * size_) * (1 + 1e-9);
  value.truncation = relative(log_truncation_ - c * epsilon);
  value.alias = copies(left_) + copies(right_) + copies(more_);
  return value;
}

}  // namespace tradeoff::detail::rare
