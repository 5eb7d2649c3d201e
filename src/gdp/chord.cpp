// SPDX-License-Identifier: Apache-2.0
#include "gdp/chord.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail {
namespace {

constexpr double smallest_plain_delta = 1e-290;  // below, delta has lost digits that its logarithm still has
constexpr std::size_t most_nodes = 1600;         // a search that needs more is limited by the width of the profile
constexpr std::size_t many_nodes = 250;          // from here on the full requested width is accepted, not a hundredth of it

/// An upper bound of one profile at a point: the logarithm of delta and of its complement.
struct Above {
  double log_delta;
  double log_complement;
  [[nodiscard]] bool is_large() const { return log_delta > -0.7; }  // delta above a half: the complement has the digits
};

/// A point of the profile and its transform.
struct Node {
  double at;
  std::vector<Above> above;  ///< of each profile there
  Interval mu;
};

/// log(exp(x) - 1), x > 0, without overflow.
Interval log_expm1(Interval x) { return x + log1mexp(-x); }

/// The largest mu of the straight line (in e^e) between two nodes on their interval, and its position.
struct Chord {
  double bound;
  double peak;
};

double mu_above(double epsilon, Above value) {
  const Interval point = Interval::exactly(epsilon);
  if (value.is_large()) return gaussian_mu_of_log_complement(point, Interval::exactly(value.log_complement)).hi;
  return gaussian_mu_of_log(point, Interval::exactly(value.log_delta)).hi;
}

/// The line p - s e^e between two nodes at u and v: log_run = log(s e^u), and the quantile of p; empty if p may be 1 or more.
struct Line {
  Interval log_run;
  std::optional<Interval> quantile;
};

// From delta: p = delta(u) + run; from the complement: 1 - p = complement(u) - run.
Line line_between(Above u, Above v, Interval length) {
  const Interval log_growth = log_expm1(length);
  if (u.is_large()) {
    const Interval start = Interval::exactly(u.log_complement);
    const Interval log_run = start + log_expm1(Interval::exactly(v.log_complement) - start) - log_growth;
    if (!(log_run.hi < start.lo)) return {log_run, std::nullopt};
    return {log_run, -normal_quantile_of_log(start + log1mexp(log_run - start))};
  }
  const Interval start = Interval::exactly(u.log_delta);
  const Interval log_run = start + log1mexp(Interval::exactly(v.log_delta) - start) - log_growth;
  const Interval log_p = log_add_exp(start, log_run);
  return {log_run, log_p.hi < 0 ? std::optional(normal_quantile_of_log(log_p)) : std::nullopt};
}

/// [chord-bound] If p >= 1 the transform decreases along the line. If the peak lies outside, the larger end counts. If it is undecided, the
/// whole line counts. The bound by monotonicity, mu_GDP(v, delta(u)), always holds; it is used if rounding hides the difference of the
/// deltas.
Chord chord_between(const Node& u, const Node& v, std::size_t profile) {
  const double middle = u.at + (v.at - u.at) / 2;
  const Above from = u.above[profile];
  const Above to{std::min(from.log_delta, v.above[profile].log_delta), std::max(from.log_complement, v.above[profile].log_complement)};
  if (from.log_delta == -infinity) return {0, middle};
  const double monotone = mu_above(v.at, from);
  if (from.is_large() ? to.log_complement == from.log_complement : to.log_delta == from.log_delta) return {monotone, middle};
  const Interval start = Interval::exactly(u.at);
  const Line line = line_between(from, to, Interval::exactly(v.at) - start);
  const double ends = std::max(mu_above(u.at, from), mu_above(v.at, to));
  if (!line.quantile) {
    // Raised until p >= 1 is certain: 1 - delta is lowered to at most the run.
    const double raised = gaussian_mu_of_log_complement(start, Interval::exactly(std::min(from.log_complement, line.log_run.lo))).hi;
    return {std::min(monotone, std::max(ends, raised)), middle};
  }
  const Interval a = *line.quantile;
  const Interval b = normal_quantile_of_log(line.log_run - start);
  const Interval peak = (square(b) - square(a)) / 2.0;
  const bool outside = peak.hi <= u.at || peak.lo >= v.at;
  const double bound = std::min(monotone, outside ? ends : std::max(ends, (a - b).hi));
  return {bound, outside ? middle : peak.lo + (peak.hi - peak.lo) / 2};
}

/// Of several profiles the one with the best bound of the transform is used; with more than one the ends need not lie on it.
Chord chord_between(const Node& u, const Node& v) {
  Chord best = chord_between(u, v, 0);
  for (std::size_t profile = 1; profile < u.above.size(); ++profile) {
    const Chord other = chord_between(u, v, profile);
    if (other.bound < best.bound) best = other;
  }
  return best;
}

class ChordSearch {
 public:
  ChordSearch(MeasuredProfile& profile, Interval slack, double relative, double enough)
      : profile_(profile), slack_(slack), relative_(relative), enough_(enough) {}

  Supremum over(double last) {
    std::vector<Node> nodes;
    std::vector<double> points{0, last};
    for (const double known : profile_.points())
      if (known > 0 && known < last) points.push_back(known);
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    for (const double point : points) nodes.push_back(node(point));
    for (std::size_t i = 1; i < nodes.size(); ++i) pieces_.push_back({nodes[i - 1], nodes[i], chord_between(nodes[i - 1], nodes[i])});
    if (pieces_.empty()) return {best_, best_at_};
    for (std::size_t count = nodes.size(); count < most_nodes && split_worst(count < many_nodes ? 0.01 : 0.5); ++count) continue;
    double above = best_.hi;
    for (const Piece& piece : pieces_) above = std::max(above, piece.chord.bound);
    return {{best_.lo, above}, best_at_};
  }

 private:
  struct Piece {
    Node u, v;
    Chord chord;
    bool lined = false;  // bounded by a straight line as well, if there is one
  };

  /// [log-line-bound] log delta_mu is concave: if it is above a straight line at both ends, it is above it between them.
  [[nodiscard]] double line_bound(const Piece& piece) const {
    double least = infinity;
    for (std::size_t profile = 0; profile < piece.u.above.size(); ++profile)
      if (const auto line = profile_.line_above(profile, piece.u.at, piece.v.at))
        least = std::min(least, std::max(gaussian_mu_of_log(Interval::exactly(piece.u.at), Interval::exactly(line->at_start)).hi,
                                         gaussian_mu_of_log(Interval::exactly(piece.v.at), Interval::exactly(line->at_end)).hi));
    return least;
  }

  Node node(double at) {
    Node found{at, {}, {infinity, infinity}};
    for (const MeasuredProfile::Value& value : profile_.at(at)) {
      const auto [mu, above] = transform(at, value);
      found.mu = min(found.mu, mu);
      found.above.push_back(above);
    }
    if (found.mu.lo > best_.lo || best_at_ < 0) best_at_ = at;
    best_ = max(best_, found.mu);
    return found;
  }

  /// With a slack, 1 - (delta - slack)/(1 - slack) is the complement divided by 1 - slack.
  [[nodiscard]] std::pair<Interval, Above> transform(double at, const MeasuredProfile::Value& value) const {
    const Interval point = Interval::exactly(at);
    if (value.delta.hi > 0.5) {
      const Interval rest = min(slack_.hi > 0 ? value.log_complement - log1p(-slack_) : value.log_complement, Interval::exactly(0));
      return {gaussian_mu_of_log_complement(point, rest), {log1mexp(Interval::exactly(rest.lo)).hi, rest.lo}};
    }
    if (slack_.hi > 0) {
      const Interval rest = clamp((value.delta - slack_) / (1.0 - slack_), 0, 1);
      return {gaussian_mu(point, rest), {log(rest).hi, log1p(-rest).lo}};
    }
    const bool underflows = value.delta.lo < smallest_plain_delta;
    return {underflows ? gaussian_mu_of_log(point, value.log_delta) : gaussian_mu(point, value.delta),
            {value.log_delta.hi, log1p(-Interval::exactly(value.delta.hi)).lo}};
  }

  /// Splits the piece with the largest bound. Returns false once the gap is within this share of the wanted width, or no split can help.
  bool split_worst(double share) {
    const auto worst =
        std::max_element(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.chord.bound < b.chord.bound; });
    const double wanted = std::max(best_.hi + std::max(share * relative_ * best_.hi, 1e-15), enough_);
    if (worst->chord.bound <= wanted) return false;
    if (!worst->lined && slack_.hi == 0) {
      worst->lined = true;
      worst->chord.bound = std::min(worst->chord.bound, line_bound(*worst));
      return true;
    }
    const Piece piece = *worst;  // NOLINT(performance-unnecessary-copy-initialization): the list changes below
    const double width = piece.v.at - piece.u.at;
    if (!(width > 1e-13 * piece.v.at)) return false;
    const bool inside = piece.chord.peak > piece.u.at + 0.1 * width && piece.chord.peak < piece.v.at - 0.1 * width;
    const Node middle = node(inside ? piece.chord.peak : piece.u.at + width / 2);
    *worst = {piece.u, middle, chord_between(piece.u, middle)};
    pieces_.push_back({middle, piece.v, chord_between(middle, piece.v)});
    return true;
  }

  MeasuredProfile& profile_;
  Interval slack_;
  double relative_;
  double enough_;
  Interval best_{0, 0};
  double best_at_ = -1;
  std::vector<Piece> pieces_;
};

}  // namespace

MeasuredProfile::MeasuredProfile(const Loss& loss) {
  for (const Loss* part : loss.minimum_of()) profiles_.emplace_back(*part, Direction::worst);
  if (!profiles_.empty()) return;
  profiles_.emplace_back(loss, Direction::worst);
  model_ = loss.tail().gaussian;
}

const std::vector<MeasuredProfile::Value>& MeasuredProfile::at(double epsilon) {
  const auto known = values_.find(epsilon);
  if (known != values_.end()) return known->second;
  const Interval point = Interval::exactly(epsilon);
  std::vector<Value> found;
  for (const Profile& profile : profiles_) {
    Value value{clamp(profile.delta(point), 0, 1), {}, {-infinity, 0}};
    if (value.delta.hi > 0.5) value.log_complement = profile.log_complement(epsilon);
    value.log_delta = value.delta.lo < smallest_plain_delta ? min(profile.log_delta(point), Interval::exactly(0)) : log(value.delta);
    if (model_ && epsilon >= model_->from && epsilon < infinity) {
      const Interval bound = model_->log_factor + model_->slope * point - square(point / model_->width) / 2.0;
      value.log_delta = {std::min(value.log_delta.lo, bound.hi), std::min(value.log_delta.hi, bound.hi)};
      value.delta.hi = std::max(value.delta.lo, std::min(value.delta.hi, exp(Interval::exactly(bound.hi)).hi));
    }
    found.push_back(value);
  }
  return values_.emplace(epsilon, std::move(found)).first->second;
}

std::optional<LogLine> MeasuredProfile::line_above(std::size_t profile, double start, double end) const {
  return profiles_[profile].log_line(start, end);
}

Interval MeasuredProfile::delta(double epsilon) {
  Interval least = Interval::exactly(1);
  for (const Value& value : at(epsilon)) least = min(least, value.delta);
  return least;
}

double MeasuredProfile::mu_at_zero() {
  double least = infinity;
  const Interval zero = Interval::exactly(0);
  for (const Value& value : at(0))
    least = std::min(least, (value.delta.hi > 0.5 ? gaussian_mu_of_log_complement(zero, value.log_complement) : gaussian_mu(zero, value.delta)).hi);
  return least;
}

Interval MeasuredProfile::infinite_mass() const {
  Interval least = Interval::exactly(1);
  for (const Profile& profile : profiles_) least = min(least, profile.infinite_mass());
  return least;
}

std::vector<double> MeasuredProfile::points() const {
  std::vector<double> points;
  for (const auto& [epsilon, value] : values_) points.push_back(epsilon);
  return points;
}

Supremum chord_supremum(MeasuredProfile& profile, double last, Interval slack, double relative, double enough) {
  return ChordSearch(profile, slack, relative, enough).over(last);
}

}  // namespace tradeoff::detail
