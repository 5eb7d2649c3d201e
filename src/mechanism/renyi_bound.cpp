// SPDX-License-Identifier: Apache-2.0
#include "mechanism/renyi_bound.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "loss/key.h"
#include "mechanism/gaussian.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"
#include "plan/arguments.h"
#include "plan/table_file.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

using Polygon = RenyiBound::Polygon;
using Vertices = std::vector<std::pair<double, Interval>>;

constexpr double largest_order = 1e150;  // minus one; its square is still a double

double end_of(const std::vector<Polygon>& polygons) {
  double end = largest_order;
  for (const Polygon& polygon : polygons) end = std::min(end, polygon.vertices.back().first);
  return end;
}

/// Encloses the value of a polygon at s and its slopes there; at a vertex both slopes.
struct Height {
  Interval value;
  Interval slope;
};

Height height_at(const Polygon& polygon, double s) {
  const Vertices& v = polygon.vertices;
  const auto slope = [&](std::size_t i) { return (v[i].second - v[i - 1].second) / (Interval::exactly(v[i].first) - v[i - 1].first); };
  std::size_t i = 1;
  while (i + 1 < v.size() && v[i].first < s) ++i;
  Height found{v[i - 1].second + slope(i) * (Interval::exactly(s) - v[i - 1].first), slope(i)};
  if (s == v[i].first) {
    found.value = v[i].second;
    if (i + 1 < v.size()) found.slope = hull(found.slope, slope(i + 1));
  }
  return {polygon.times * found.value, polygon.times * found.slope};
}

Height height_at(Interval rho, const std::vector<Polygon>& polygons, double s) {
  const Interval point = Interval::exactly(s);
  Height sum{rho * point * (point + 1.0), rho * (2.0 * point + 1.0)};
  for (const Polygon& polygon : polygons) {
    const Height one = height_at(polygon, s);
    sum = {sum.value + one.value, sum.slope + one.slope};
  }
  return sum;
}

/// log(s/(1 + s)), and s log s - (1 + s) log(1 + s) in a form without cancellation.
Interval log_share(Interval s) { return -log1p(1.0 / s); }
Interval entropy(Interval s) { return s * log_share(s) - log1p(s); }

/// An approximation of the best order at epsilon: where slope(s) + log(s/(1 + s)) crosses epsilon, or the largest stated order.
double near_best_order(Interval rho, const std::vector<Polygon>& polygons, double epsilon, double end) {
  double low = std::log(1e-300), high = std::log(end);
  double guess = std::clamp(rho.hi > 0 ? std::log(std::max(epsilon / rho.hi - 1, 1e-3) / 2) : 0, low, high);
  // Newton in log s. At the corners of polygons Newton may cycle; then bisection finishes.
  for (int i = 0; i < 64 && high - low > 1e-12; ++i) {
    const double s = std::exp(guess);
    double slope = rho.hi * (2 * s + 1) - std::log1p(1 / s);
    for (const Polygon& polygon : polygons) slope += height_at(polygon, s).slope.lo;
    (slope < epsilon ? low : high) = guess;
    const double step = (epsilon - slope) / (2 * rho.hi * s + 1 / (1 + s)), next = guess + step;
    if (std::abs(step) < 1e-13 * (1 + std::abs(guess))) break;
    guess = next > low && next < high && (polygons.empty() || i % 2 == 0) ? next : (low + high) / 2;
  }
  return std::min(std::exp(guess), end);
}

/// Encloses the best order.
Interval best_order(Interval rho, const std::vector<Polygon>& polygons, double epsilon) {
  const double end = end_of(polygons);
  const auto rising = [&](double s) { return height_at(rho, polygons, s).slope + log_share(Interval::exactly(s)); };
  return numeric::increasing_root(rising, Interval::exactly(epsilon), near_best_order(rho, polygons, epsilon, end), {1e-300, end});
}

/// [renyi-conversion] A convex f with |f'(s)| <= g and f'' >= m within s/2 of s, where g < m s/2, is nowhere below f(s) - g^2/(2m): one
/// order near the best one encloses the least exponent. Empty if s is not near enough.
std::optional<Interval> least_near(Interval rho, double epsilon, double s) {
  if (!(s > 1e-150 && s < 1e100 && rho.lo > 0)) return std::nullopt;
  const Interval point = Interval::exactly(s), slope = rho * (2.0 * point + 1.0) + log_share(point) - epsilon;
  const double steepest = std::max(std::abs(slope.lo), std::abs(slope.hi)), bend = (2 * rho.lo + 1 / (2 * s * (2 * s + 1))) * (1 - 1e-12);
  if (!(steepest < 0.5 * s * bend)) return std::nullopt;
  const Interval here = rho * point * (point + 1.0) - point * epsilon + entropy(point);
  return Interval{(Interval::exactly(here.lo) - Interval::exactly(steepest * steepest / (2 * bend) * (1 + 1e-12))).lo, here.hi};
}

/// [renyi-conversion] The least exponent for a rho so large that the best order is lost in rounding: from above by an order near that of
/// the Gaussian, from below by the linear part of the cumulant.
Interval by_size(Interval rho, double epsilon) {
  const Interval s = Interval::exactly(std::clamp((epsilon / rho.hi - 1) / 2, 0x1p-50, 1.0)), point = Interval::exactly(epsilon);
  const double below = epsilon < rho.lo ? log1mexp(Interval::exactly((point - rho.lo).hi)).lo : -infinity;
  return {below, std::max(below, (rho * (s * (s + 1.0)) - s * point + entropy(s)).hi)};
}

/// [renyi-conversion] The least over s of cumulant(s) - s epsilon + s log s - (1 + s) log(1 + s).
Interval least_exponent(Interval rho, const std::vector<Polygon>& polygons, double epsilon) {
  constexpr double useless = 1;  // the width of an exponent
  std::optional<Interval> found;
  if (polygons.empty()) found = least_near(rho, epsilon, near_best_order(rho, polygons, epsilon, largest_order));
  if (!found) {
    const Interval s = best_order(rho, polygons, epsilon);
    const Interval height{height_at(rho, polygons, s.lo).value.lo, height_at(rho, polygons, s.hi).value.hi};
    found = height - s * epsilon + entropy(s);
  }
  if (!polygons.empty() || found->width() <= useless) return *found;
  const Interval other = by_size(rho, epsilon);
  return {std::max(found->lo, other.lo), std::min(found->hi, other.hi)};
}

/// The lower hull of (0, 0) and the points. Every chord is an upper bound of a convex function, so the choice of vertices affects tightness
/// only.
Vertices hull_of(std::vector<std::pair<double, Interval>> points) {
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return std::pair(a.first, a.second.hi) < std::pair(b.first, b.second.hi); });
  Vertices hull{{0, Interval::exactly(0)}};
  for (const auto& point : points) {
    if (point.first == hull.back().first) continue;
    while (hull.size() >= 2) {
      const auto& [s0, k0] = hull[hull.size() - 2];
      const auto& [s1, k1] = hull.back();
      if ((k1.hi - k0.hi) * (point.first - s0) < (point.second.hi - k0.hi) * (s1 - s0)) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

}  // namespace

Interval RenyiBound::cumulant(double s) const {
  if (s > end_of(polygons.least)) return Interval::exactly(infinity);
  const double above = s > end_of(polygons.safe) ? infinity : height_at(square, polygons.safe, s).value.hi;
  return {height_at(square, polygons.least, s).value.lo, above};
}

std::vector<double> RenyiBound::corners() const {
  if (polygons.safe.empty()) return {};
  const double end = end_of(polygons.safe);
  std::vector<double> found{end};
  for (const Polygon& polygon : polygons.safe)
    for (const auto& [s, bound] : polygon.vertices)
      if (s > 0 && s < end) found.push_back(s);
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<Interval> RenyiBound::rho() const { return polygons.safe.empty() ? std::optional(square) : std::nullopt; }

LossPointer sum_of_renyi_bounds(const std::vector<std::pair<const RenyiBound*, std::uint64_t>>& parts) {
  RenyiBound sum{Interval::exactly(0), {}, {}};
  for (const auto& [part, count] : parts) {
    const auto times = static_cast<double>(count);  // at most 1e12, so exact
    sum.square = sum.square + times * part->square;
    sum.origin.insert(sum.origin.end(), part->origin.begin(), part->origin.end());
    for (Polygon polygon : part->polygons.safe) sum.polygons.safe.push_back({std::move(polygon.vertices), polygon.times * times});
    for (Polygon polygon : part->polygons.least) sum.polygons.least.push_back({std::move(polygon.vertices), polygon.times * times});
  }
  return std::make_shared<RenyiBoundLoss>(std::move(sum));
}

PolygonConversion::PolygonConversion(const std::vector<Polygon>& polygons) {
  const double end = end_of(polygons);
  std::vector<double> orders{0, end};
  for (const Polygon& polygon : polygons)
    for (const auto& [s, bound] : polygon.vertices)
      if (s < end) orders.push_back(s);
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  const auto none = Interval::exactly(0);
  Interval before = none;
  for (const double s : orders) {
    const Interval point = Interval::exactly(s), height = s > 0 ? height_at(none, polygons, s).value : none;
    if (s > 0) {
      const Interval from = Interval::exactly(vertices_.back().s), slope = (height - before) / (point - from);
      edges_.push_back({slope, before - slope * from});
    }
    vertices_.push_back({s, s > 0 ? height + entropy(point) : none, s > 0 ? log_share(point) : Interval::exactly(-infinity)});
    before = height;
  }
}

/// The exponent is convex on an edge, with the derivative slope - epsilon + log(s/(1+s)).
Interval PolygonConversion::least_on(std::size_t edge, double epsilon) const {
  const auto value = [&](const Vertex& vertex) { return vertex.rest - Interval::exactly(vertex.s) * epsilon; };
  const Vertex &left = vertices_[edge], &right = vertices_[edge + 1];
  const Interval excess = edges_[edge].slope - epsilon, falls = excess + left.share, rises = excess + right.share;
  if (falls.lo >= 0) return value(left);
  if (rises.hi <= 0) return value(right);
  const Interval first = value(left), last = value(right);
  if (!(excess.lo > 0))  // the tangent at the right end
    return {(last - Interval::exactly(rises.hi) * (Interval::exactly(right.s) - left.s)).lo, std::min(first.hi, last.hi)};
  const Interval inside = edges_[edge].intercept + log1mexp(-excess);
  const bool attained = falls.hi <= 0 && rises.lo >= 0;
  return {inside.lo, attained ? std::min({inside.hi, first.hi, last.hi}) : std::min(first.hi, last.hi)};
}

Interval PolygonConversion::least_exponent(double epsilon) const {
  Interval least = Interval::exactly(0);
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const Interval here = least_on(edge, epsilon);
    least = {std::min(least.lo, here.lo), std::min(least.hi, here.hi)};
  }
  return least;
}

RenyiBoundLoss::RenyiBoundLoss(RenyiBound bound) : bound_(std::move(bound)) {
  if (bound_.square.hi > 0 || bound_.polygons.safe.empty()) return;
  safe_.emplace(bound_.polygons.safe);
  least_.emplace(bound_.polygons.least);
}

Interval RenyiBoundLoss::log_value(Interval epsilon) const {
  if (safe_) return {least_->least_exponent(epsilon.hi).lo, safe_->least_exponent(epsilon.lo).hi};
  if (bound_.polygons.safe.empty() && epsilon.lo == epsilon.hi) return least_exponent(bound_.square, bound_.polygons.safe, epsilon.lo);
  return {least_exponent(bound_.square, bound_.polygons.least, epsilon.hi).lo,
          least_exponent(bound_.square, bound_.polygons.safe, epsilon.lo).hi};
}

Interval RenyiBoundLoss::relative_drop(Interval epsilon) const {
  const auto orders = [&](double e) {
    return hull(best_order(bound_.square, bound_.polygons.least, e), best_order(bound_.square, bound_.polygons.safe, e));
  };
  return epsilon.lo == epsilon.hi ? orders(epsilon.lo) : hull(orders(epsilon.lo), orders(epsilon.hi));
}

// Without the entropy term, s = (epsilon - rho)/(2 rho) gives exp(-(epsilon - rho)^2/(4 rho)); the entropy term adds a logarithm only.
Tail RenyiBoundLoss::tail() const {
  if (!bound_.polygons.safe.empty()) return heavy_tail(TailKind::exponential, LargestLoss::unbounded());
  Tail tail;
  tail.largest = LargestLoss::unbounded();
  tail.kind = TailKind::gaussian;
  tail.gaussian = GaussianTail{-(bound_.square / 4.0).lo, 0.5, sqrt(2.0 * bound_.square).hi, bound_.square.hi};
  tail.limit = sqrt(2.0 * bound_.square);
  return tail;
}

std::string RenyiBoundLoss::key() const {
  std::string key = make_key("renyi_bound", {bound_.square});
  for (const auto* polygons : {&bound_.polygons.safe, &bound_.polygons.least})
    for (const Polygon& polygon : *polygons) {
      key += make_key("", {Interval::exactly(polygon.times), Interval::exactly(static_cast<double>(polygon.vertices.size()))});
      for (const auto& [s, bound] : polygon.vertices) key += make_key("", {Interval::exactly(s), bound});
    }
  return key;
}

void RenyiBoundLoss::cite() const {
  static const Citation conversion("renyi-conversion", "known by bounds on Renyi divergences: the best conversion over all orders; lossy");
  record(bound_.origin);
  record(conversion);
}

LossPointer renyi_bound(const std::vector<std::pair<Interval, Interval>>& points) {
  if (points.empty()) throw DomainError("rdp: points = [] is not allowed; it must be a list of pairs (order, divergence)");
  Vertices safe, least;
  for (const auto& [order, divergence] : points) {
    if (!(order.lo > 1 && order.hi <= largest_order)) throw DomainError("rdp: every order must be above 1 and at most 1e150");
    if (!(divergence.lo >= 0)) throw DomainError("rdp: every divergence must be at least 0");
    // Divergences increase with the order, so the same bound at a smaller order is valid.
    const double down = (order - 1.0).lo, up = (order - 1.0).hi;
    safe.emplace_back(down, Interval::exactly(divergence.hi) * down);
    least.emplace_back(up, Interval::exactly(divergence.lo) * up);
  }
  return std::make_shared<RenyiBoundLoss>(
      RenyiBound{Interval::exactly(0), {{{hull_of(std::move(safe))}}, {{hull_of(std::move(least))}}}, {}});
}

LossPointer zcdp_bound(Interval rho, Citations origin) {
  if (rho.hi == 0) return gaussian_loss(rho);
  return std::make_shared<RenyiBoundLoss>(RenyiBound{rho, {}, std::move(origin)});
}

namespace {

LossPointer make_rdp(const Arguments& arguments, const WordContext&) { return renyi_bound(rows_of(arguments)); }

LossPointer make_zcdp(const Arguments& arguments, const WordContext&) { return zcdp_bound(arguments.number("rho")); }

std::optional<numeric::Rational> rho_of_zcdp(const Arguments& arguments) { return arguments.exact("rho"); }

}  // namespace

Word rdp_word() {
  return {.role = Role::source,
          .name = "rdp",
          .meaning = "anything known only by Renyi divergences of some orders (lossy)",
          .parameters = {{"points", Kind::pairs, "list of (order, divergence), each order above 1"}},
          .stated = true,
          .make = make_rdp};
}

Word zcdp_word() {
  return {.role = Role::source,
          .name = "zcdp",
          .meaning = "anything known only to be rho-zCDP (lossy)",
          .parameters = {{"rho", Kind::number, "the rho of zero-concentrated privacy", range::non_negative, effect::riskier}},
          .stated = true,
          .make = make_zcdp,
          .rho = rho_of_zcdp};
}

}  // namespace tradeoff::detail
