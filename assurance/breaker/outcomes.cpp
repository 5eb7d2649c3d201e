// SPDX-License-Identifier: Apache-2.0
#include "outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rewrite.h"

namespace tradeoff::detail::breaker {
namespace {

constexpr int gaussian_cells = 600;
constexpr int laplace_cells = 200;

double argument(const Call& call, const char* name, double fallback = 1) {
  const Number* found = number(call, name);
  return found == nullptr ? fallback : (found->value.lo + found->value.hi) / 2;
}

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }
/// The probability of a standard normal between a and b, accurate in the far tail.
double normal_between(double a, double b) { return a > 0 ? normal_below(-a) - normal_below(-b) : normal_below(b) - normal_below(a); }

/// The output x is N(mu, 1) or N(0, 1): the loss is mu x - mu^2/2.
Events gaussian(double mu) {
  constexpr double reach = 12;
  Events events;
  const double first = -reach, last = mu + reach, step = (last - first) / gaussian_cells;
  const auto loss = [&](double x) { return mu * (x - mu / 2); };
  events.push_back({normal_below(first - mu), normal_below(first), -infinite, loss(first)});
  for (int i = 0; i < gaussian_cells; ++i) {
    const double a = first + i * step, b = a + step;
    events.push_back({normal_between(a - mu, b - mu), normal_between(a, b), loss(a), loss(b)});
  }
  events.push_back({normal_below(mu - last), normal_below(-last), loss(last), infinite});
  return events;
}

/// Noise of scale 1 around 0 or around e0, within `reach` of its centre: density exp(-|x|)/(2 - 2 exp(-reach)).
Events laplace(double e0, double reach) {
  const double norm = std::isinf(reach) ? 2 : -2 * std::expm1(-reach);
  const auto between = [&](double a, double b) {  // chance of noise in [a, b], clipped to the reach
    a = std::clamp(a, -reach, reach), b = std::clamp(b, -reach, reach);
    if (!(a < b)) return 0.0;
    if (a >= 0) return std::exp(-a) * -std::expm1(a - b) / norm;
    if (b <= 0) return std::exp(b) * -std::expm1(a - b) / norm;
    return (-std::expm1(a) - std::expm1(-b)) / norm;
  };
  const auto event = [&](double a, double b, double low, double high) { return Event{between(a, b), between(a - e0, b - e0), low, high}; };
  Events events;
  // From left to right: only P can produce it, the loss is e0, it decreases, it is -e0, only Q can produce it.
  const double left = e0 - reach, right = reach;  // both can between these
  if (left >= right) return {{1, 0, infinite, infinite}, {0, 1, -infinite, -infinite}};
  if (std::isfinite(reach)) events.push_back({between(-reach, left), 0, infinite, infinite});
  if (left < 0) events.push_back(event(std::max(left, -reach), 0, e0, e0));
  const double from = std::max(left, 0.0), to = std::min(right, e0), step = (to - from) / laplace_cells;
  for (int i = 0; i < laplace_cells; ++i) {
    const double a = from + i * step, b = a + step;
    events.push_back(event(a, b, e0 - 2 * b, e0 - 2 * a));
  }
  if (right > e0) events.push_back(event(e0, right, -e0, -e0));
  if (std::isfinite(reach)) events.push_back({0, between(right - e0, reach), -infinite, -infinite});
  return events;
}

Events response(double epsilon, double choices) {
  const double lie = 1 / (std::exp(epsilon) + choices - 1), truth = lie * std::exp(epsilon);
  return {{truth, lie, epsilon, epsilon}, {lie, truth, -epsilon, -epsilon}, {lie * (choices - 2), lie * (choices - 2), 0, 0}};
}

Events approximate(double epsilon, double delta) {
  Events events = response(epsilon, 2);
  for (Event& event : events) event.p *= 1 - delta, event.q *= 1 - delta;
  events.push_back({delta, 0, infinite, infinite});
  events.push_back({0, delta, -infinite, -infinite});
  return events;
}

/// Noise on the integers with these weights, up to `bound` from its centre; the cut-off part is counted as an error at either end.
Events discrete(const std::vector<double>& weights, long shift, double beyond, bool truncated) {
  const long bound = static_cast<long>(weights.size()) - 1;
  double norm = weights[0] + beyond;
  for (long y = 1; y <= bound; ++y) norm += 2 * weights[static_cast<std::size_t>(y)];
  const auto weight = [&](long y) { return std::abs(y) > bound ? 0 : weights[static_cast<std::size_t>(std::abs(y))] / norm; };
  Events events;
  for (long y = -bound; y <= bound + shift; ++y) {
    const double p = weight(y), q = weight(y - shift);
    const double loss = p > 0 && q > 0 ? std::log(p / q) : p > 0 ? infinite : -infinite;
    if (p > 0 && q > 0) events.push_back({p, q, loss, loss});
    if (p > 0 && !(q > 0)) events.push_back({p, 0, truncated ? infinite : -infinite, infinite});
    if (q > 0 && !(p > 0)) events.push_back({0, q, -infinite, truncated ? -infinite : infinite});
  }
  if (!truncated) events.push_back({beyond / norm, beyond / norm, -infinite, infinite});
  return events;
}

std::vector<double> falling(double bound, const auto& log_weight) {
  std::vector<double> weights;
  for (long y = 0; static_cast<double>(y) <= bound && log_weight(static_cast<double>(y)) > -700; ++y)
    weights.push_back(std::exp(log_weight(static_cast<double>(y))));
  return weights;
}

std::optional<Events> finite_pair(const Call& call) {
  std::vector<std::vector<double>> rows;
  for (const Argument& row : call.arguments) {
    rows.emplace_back();
    for (const Value& item : std::get<List>(row.value.content).items) rows.back().push_back(std::get<Number>(item.content).value.hi);
  }
  if (rows.size() != 2 || rows[0].size() != rows[1].size()) return {};
  Events events;
  for (std::size_t i = 0; i < rows[0].size(); ++i) {
    const double p = rows[0][i], q = rows[1][i];
    if (!(p > 0) && !(q > 0)) continue;
    const double loss = p > 0 && q > 0 ? std::log(p / q) : p > 0 ? infinite : -infinite;
    events.push_back({p, q, loss, loss});
  }
  return events;
}

std::optional<Events> source(const Call& call) {
  const double sensitivity = argument(call, "sensitivity");
  if (call.name == "gaussian") return gaussian(sensitivity / argument(call, "sigma"));
  if (call.name == "gdp") return gaussian(argument(call, "mu"));
  if (call.name == "laplace") return laplace(sensitivity / argument(call, "scale"), infinite);
  if (call.name == "truncated_laplace")
    return laplace(sensitivity / argument(call, "scale"), argument(call, "bound") / argument(call, "scale"));
  if (call.name == "randomized_response") return response(argument(call, "epsilon"), argument(call, "choices", 2));
  if (call.name == "dp") return approximate(argument(call, "epsilon"), argument(call, "delta", 0));
  if (call.name == "pair") return finite_pair(call);
  if (call.name == "discrete_laplace") {
    const double scale = argument(call, "scale");
    if (scale > 20) return {};
    const std::vector<double> weights = falling(1e9, [&](double y) { return -y / scale; });
    return discrete(weights, std::lround(sensitivity), 2 * weights.back() / -std::expm1(-1 / scale), false);
  }
  if (call.name == "truncated_discrete_laplace") {
    const double scale = argument(call, "scale"), bound = argument(call, "bound");
    if (bound > 600 * scale || bound > 2000) return {};
    return discrete(falling(bound, [&](double y) { return -y / scale; }), std::lround(sensitivity), 0, true);
  }
  if (call.name == "discrete_gaussian") {
    const double sigma = argument(call, "sigma");
    const std::vector<double> weights = falling(1e9, [&](double y) { return -y * y / (2 * sigma * sigma); });
    return discrete(weights, std::lround(sensitivity), 1e-290, false);
  }
  return {};
}

/// A record takes part with this probability: P becomes (1 - rate) Q + rate P.
Events sampled(Events events, double rate) {
  if (rate == 0) return {{1, 1, 0, 0}};
  if (rate == 1) return events;  // log1p(expm1(loss)) would lose losses far below 0
  const auto loss = [&](double base) {
    return base == -infinite ? std::log1p(-rate) : base > 700 ? base + std::log(rate) : std::log1p(rate * std::expm1(base));
  };
  for (Event& event : events) {
    event.p = (1 - rate) * event.q + rate * event.p;
    event.low = loss(event.low), event.high = loss(event.high);
  }
  return events;
}

std::optional<Steps> line(const Line& line) {
  const auto* call = std::get_if<Call>(&line.source);
  if (call == nullptr) return {};
  std::optional<Events> events = source(*call);
  Steps steps;
  for (const Call& operation : line.operators) {
    if (!events) return {};
    if (operation.name == "repeat")
      steps.times *= argument(operation, "times");
    else if (operation.name == "poisson" && steps.times == 1)
      events = sampled(*events, argument(operation, "rate"));
    else if (operation.name == "invert")
      events = exchanged(*events);
    else
      return {};
  }
  if (!events) return {};
  steps.events = *std::move(events);
  return steps;
}

/// The probabilities of multiples of the grid step from `first` on, and of an infinite loss.
struct Lattice {
  long first = 0;
  std::vector<double> mass;
  double revealed = 0;
};

Lattice add_losses(const Lattice& a, const Lattice& b) {
  Lattice sum;
  sum.first = a.first + b.first;
  sum.mass.assign(a.mass.size() + b.mass.size() - 1, 0);
  for (std::size_t i = 0; i < a.mass.size(); ++i) {
    if (a.mass[i] == 0) continue;
    for (std::size_t j = 0; j < b.mass.size(); ++j) sum.mass[i + j] += a.mass[i] * b.mass[j];
  }
  sum.revealed = 1 - (1 - a.revealed) * (1 - b.revealed);
  return sum;
}

Lattice on_grid(const Events& events, double step, bool up) {
  long first = std::numeric_limits<long>::max(), last = std::numeric_limits<long>::min();
  const auto cell = [&](const Event& event) {
    const double loss = up ? event.high : event.low;
    return static_cast<long>(up ? std::ceil(loss / step) : std::floor(loss / step));
  };
  Lattice lattice;
  for (const Event& event : events) {
    if (up && event.high == infinite) lattice.revealed += event.p;
    if (!up && event.low == infinite) lattice.revealed += event.p;
    if (!std::isfinite(up ? event.high : event.low)) continue;
    first = std::min(first, cell(event)), last = std::max(last, cell(event));
  }
  if (first > last) first = last = 0;
  lattice.first = first;
  lattice.mass.assign(static_cast<std::size_t>(last - first + 1), 0);
  for (const Event& event : events)
    if (std::isfinite(up ? event.high : event.low)) lattice.mass[static_cast<std::size_t>(cell(event) - first)] += event.p;
  return lattice;
}

double read(const Lattice& lattice, double step, double epsilon) {
  double delta = lattice.revealed;
  for (std::size_t i = 0; i < lattice.mass.size(); ++i)
    delta += lattice.mass[i] * std::max(0.0, -std::expm1(epsilon - static_cast<double>(lattice.first + static_cast<long>(i)) * step));
  return delta;
}

}  // namespace

std::optional<std::vector<Steps>> events_of(const Plan& plan) {
  std::vector<Steps> all;
  for (const Line& text : plan.lines) {
    std::optional<Steps> steps = line(text);
    if (!steps || steps->events.size() > 5000) return {};
    if (steps->times > 0) all.push_back(*std::move(steps));
  }
  return all;
}

Events exchanged(Events events) {
  for (Event& event : events) event = {event.q, event.p, -event.high, -event.low};
  return events;
}

Bracket delta_on_grid(const std::vector<Steps>& steps, double epsilon) {
  constexpr double cells = 3000;
  double reach = 0;
  for (const Steps& each : steps) {
    double low = infinite, high = -infinite;
    for (const Event& event : each.events)
      for (const double loss : {event.low, event.high})
        if (std::isfinite(loss)) low = std::min(low, loss), high = std::max(high, loss);
    if (low < high) reach += each.times * (high - low);
  }
  const double step = std::max(reach / cells, 1e-12);
  const auto compose = [&](bool up) {
    Lattice all{0, {1}, 0};
    for (const Steps& each : steps) {
      const Lattice one = on_grid(each.events, step, up);
      for (double i = 0; i < each.times; ++i) all = add_losses(all, one);
    }
    return all;
  };
  return {read(compose(false), step, epsilon), read(compose(true), step, epsilon)};
}

MomentBound moment_bound(const std::vector<Steps>& steps, double epsilon) {
  MomentBound best{infinite, 0};
  double log_kept = 0;
  for (const Steps& each : steps) {
    double revealed = 0;
    for (const Event& event : each.events)
      if (event.high == infinite) revealed += event.p;
    log_kept += each.times * std::log1p(-std::min(1.0, revealed));
  }
  best.revealed = -std::expm1(log_kept);
  for (double order = 1e-3; order < 1e4; order *= 1.3) {
    double log_delta = order * std::log(order) - (1 + order) * std::log1p(order) - order * epsilon;
    for (const Steps& each : steps) {
      double largest = -infinite, sum = 0;
      for (const Event& event : each.events)
        if (event.p > 0 && event.high < infinite) largest = std::max(largest, std::log(event.p) + order * event.high);
      for (const Event& event : each.events)
        if (event.p > 0 && event.high < infinite) sum += std::exp(std::log(event.p) + order * event.high - largest);
      log_delta += each.times * (largest + std::log(sum));
    }
    if (log_delta < best.log_delta) best.log_delta = log_delta;
  }
  return best;
}

}  // namespace tradeoff::detail::breaker
