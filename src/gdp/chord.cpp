// SPDX-License-Identifier: Apache-2.0
#include "gdp/chord.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "gdp/arc_bound.h"
#include "loss/gaussian_profile.h"
#include "loss/recording.h"
#include "loss/rough.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"

namespace tradeoff::detail {
namespace {

constexpr std::size_t most_nodes = 1600;                    // a search that needs more is limited by the width of the profile
constexpr std::size_t most_corners = 5000;                  // between which nothing is left to search, of bounded losses;
constexpr std::size_t few_nodes = 1200, many_nodes = 1400;  // beyond, a larger gap is accepted,
constexpr double little_work = 2e5, much_work = 3e5;        // and after so much work, in the units of loss/work.h;
constexpr double longest_piece = 8;                         // multiples of the mu at 0: longer ones are halved before arcs cover them
constexpr std::size_t most_arcs = 100;                      // a tenth of a second
constexpr std::size_t most_divergence_lines = 300;
constexpr double work_of_line = 600;                      // a value that took more found a contour of its own, a few milliseconds;
constexpr std::size_t most_new_lines = 400;               // after so many the search ends
constexpr double slow_value = 10'000;                     // in the units of loss/work.h
constexpr double high = 1.5;                              // multiples of the largest value
constexpr double deep = 4;                                // multiples of the farthest known point, from which on values may be slow
constexpr double most_work = 1e6, most_rough_work = 1e5;  // after this much the search ends, the latter if fewer digits are requested

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

void record_log_line() {
  static const Citation lines("log-line-bound", "straight lines on the safe side of log delta bound mu between two points");
  record(lines);
}

/// [log-line-bound] log delta_mu is concave: if it is above a straight line at both ends, it is above it between them.
double bound_of_line(double u, double v, LogLine above) {
  record_log_line();
  const auto at = [](double epsilon, double log_delta) {
    return gaussian_mu_of_log(Interval::exactly(epsilon), Interval::exactly(log_delta)).hi;
  };
  return std::max(at(u, above.at_start), at(v, above.at_end));
}

/// [gaussian-part] The same for a function whose second derivative is at least -bend, by its values at the ends: it exceeds the chord by at
/// most (v - u)^2/8 times what its bend exceeds that of log delta_mu, which is least at u.
double bound_of_bend(double u, double v, LogLine ends, double bend) {
  static const Citation part("gaussian-part", "the Gaussian part limits how fast log delta bends between two points");
  record(part);
  const Interval eighth = square(Interval::exactly(v) - u) / 8.0;
  const auto rise_for = [&](double mu) { return (eighth * std::max(0.0, numeric::add_up(bend, -gaussian_bend_below(mu, u)))).hi; };
  const auto raised = [&](double rise) {
    return bound_of_line(u, v, {numeric::add_up(ends.at_start, rise), numeric::add_up(ends.at_end, rise)});
  };
  double rise = rise_for(raised(0)) * 1.01;
  for (int i = 0; i < 3; ++i, rise *= 1.5)
    if (const double mu = raised(rise); rise_for(mu) <= rise) return mu;
  return raised((eighth * bend).hi);
}

/// [log-line-bound] log(1 - delta_mu(e)) + e^2/(2 mu^2) is convex: between the ends it exceeds its chord by at most (v - u)^2/(8 mu^2).
double bound_of_complement(double u, double v, LogLine below) {
  record_log_line();
  const auto largest = [&](double drop) {
    const auto at = [drop](double epsilon, double log_complement) {
      return gaussian_mu_of_log_complement(Interval::exactly(epsilon), Interval::exactly(log_complement) - drop).hi;
    };
    return std::max(at(u, below.at_start), at(v, below.at_end));
  };
  const double without = largest(0);
  if (!(without > 0)) return without;
  return std::max(without, largest((square((Interval::exactly(v) - u) / without) / 8.0).hi));
}

class ChordSearch {
 public:
  ChordSearch(MeasuredProfile& profile, Interval slack, double relative, double enough)
      : profile_(profile), slack_(slack), relative_(relative), enough_(enough) {}

  Supremum over(double last) {
    const std::uint64_t begin = Work::now();
    std::vector<double> points{0, last};
    for (const double known : profile_.points())
      if (known > 0 && known < last) points.push_back(known);
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    for (const double point : points)
      if (point == 0 || profile_.is_known(point)) (void)node(point);
    for (std::size_t i = 1; i < points.size(); ++i) pieces_.push_back({points[i - 1], points[i]});
    // nothing is known yet beyond it
    const double far = std::max({points[points.size() - 2], 2 * profile_.mu_at_zero(), 1e-6 * last});
    const auto work = [begin] { return Work::since(begin); };
    const double limit = is_rough({relative_}) ? most_rough_work : most_work;
    const std::size_t most = profile_.has_corners() && profile_.is_bounded() ? most_corners : most_nodes;
    while (!pieces_.empty() && pieces_.size() < 2 * most && nodes_.size() < most && work() < limit && new_lines_ < most_new_lines &&
           improve(far, share_of_width(nodes_.size(), work())))
      continue;
    const double proved = best_.hi * (1 + relative_);
    for (Piece& piece : pieces_)
      if (piece.bound > std::max(proved, enough_)) use_without_values(piece);
    double above = best_.hi;
    for (const Piece& piece : pieces_) above = std::max(above, piece.bound);
    return {{best_.lo, above}, best_at_};
  }

 private:
  /// Arcs, and the theorems by which they follow the profile.
  struct ArcCover {
    std::vector<Arc> arcs;
    Citations basis;
  };
  /// The profile between two points, bounded by the cheapest means first.
  struct Piece {
    double u, v;
    double bound = infinity;
    double peak = -1;  // where the bound of its chord is reached
    enum class By { nothing, moments, divergences, chord, arcs, lines } by = By::nothing;
    std::shared_ptr<const ArcCover> arcs = nullptr;  // of this piece, or of a longer one
  };

  /// The gap that is accepted, as a share of the wanted width: less where values are cheap.
  [[nodiscard]] double share_of_width(std::size_t nodes, double work) const {
    if (is_rough({relative_})) return 0.5;
    if ((nodes < few_nodes || profile_.has_corners()) && work < little_work) return 5e-4;
    if (nodes < many_nodes && work < much_work) return 0.01;
    return nodes < most_nodes / 2 ? 0.5 : 5;
  }

  const Node& node(double at) {
    const auto known = nodes_.find(at);
    if (known != nodes_.end()) return known->second;
    Node found{at, {}, {infinity, infinity}};
    const std::uint64_t begin = Work::now();
    const std::vector<MeasuredProfile::Value>& values = profile_.at(at);
    const double spent = Work::since(begin);
    slowest_value_ = std::max(slowest_value_, spent);
    if (spent > work_of_line) ++new_lines_;
    for (const MeasuredProfile::Value& value : values) {
      const auto [mu, above] = transform(at, value);
      found.mu = min(found.mu, mu);
      found.above.push_back(above);
    }
    if (found.mu.lo > best_.lo || best_at_ < 0) best_at_ = at;
    best_ = max(best_, found.mu);
    return nodes_.emplace(at, std::move(found)).first->second;
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

  void lower(Piece& piece, double bound) const { piece.bound = std::min(piece.bound, bound); }

  void use_moments(Piece& piece) const {
    // delta less a slack is below delta
    if (const auto line = profile_.line_by_moments(piece.u, piece.v)) lower(piece, bound_of_line(piece.u, piece.v, *line));
  }

  /// Whether much more than the largest value is enough, as where the limit decides: then few values are needed.
  [[nodiscard]] bool is_low() const { return enough_ > high * best_.hi; }
  /// The profile falls, so from a known value on it needs no more than `enough_` up to some point. The piece is cut there.
  /// [divergence-line]
  bool march(Piece& piece) {
    constexpr double least = 1e-200, step = 1.01;
    if (!is_low() || !(enough_ < infinity) || !profile_.is_known(piece.u) || profile_.is_known(piece.v)) return false;
    const double delta = profile_.delta(piece.u).hi;  // less a slack it is below that
    if (!(delta > least && delta < 1)) return false;
    const double end = gaussian_epsilon(Interval::exactly(enough_), Interval::exactly(delta)).lo;
    if (!(end > step * piece.u)) return false;
    if (end >= piece.v) {
      lower(piece, enough_);
      return true;
    }
    Piece rest{end, piece.v, piece.bound};
    rest.arcs = piece.arcs;
    piece.v = end;
    lower(piece, enough_);
    pieces_.push_back(std::move(rest));
    return true;
  }
  /// [divergence-line] Far out, and where values are slow, lines by divergences are tried before values.
  [[nodiscard]] bool divergences_help(const Piece& piece, double far) const {
    const bool known = profile_.is_known(piece.u) && profile_.is_known(piece.v);
    return !known && piece.u > 0 && divergence_lines_ < most_divergence_lines &&
           (piece.u > deep * far || slowest_value_ > slow_value || (is_low() && piece.v > far));
  }
  [[nodiscard]] double bound_by_divergences(double start, double end) {
    ++divergence_lines_;
    const auto line = profile_.divergence_line(start, end);
    static const Citation divergences("divergence-line", "where values may be slow, divergences of the parts bound the profile");
    if (line) record(divergences);
    return line ? bound_of_line(start, end, *line) : infinity;
  }
  /// At the end of the search.
  void use_without_values(Piece& piece) {
    if (piece.by == Piece::By::nothing) use_moments(piece);
    if (piece.by < Piece::By::divergences && divergence_lines_ < most_divergence_lines) use_divergences(piece);
    if (piece.by < Piece::By::chord && profile_.is_known(piece.u) && profile_.is_known(piece.v)) use_chord(piece);
    double falling = infinity;  // the profile is at most its last known value
    for (const Above& value : std::prev(nodes_.upper_bound(piece.u))->second.above) falling = std::min(falling, mu_above(piece.v, value));
    lower(piece, falling);
  }
  void use_divergences(Piece& piece) { lower(piece, bound_by_divergences(piece.u, piece.v)); }
  /// Whether they prove enough at both ends, so that they may prove it on short parts.
  [[nodiscard]] bool divergences_prove_ends(const Piece& piece, double target) {
    const Unrecorded steering;
    return piece.v > 1.001 * piece.u && bound_by_divergences(piece.u, piece.u) <= target &&
           bound_by_divergences(piece.v, piece.v) <= target;
  }

  void use_chord(Piece& piece) {
    const Node &u = node(piece.u), &v = node(piece.v);
    const Chord chord = chord_between(u, v);
    const bool steep =
        u.above.front().log_delta - v.above.front().log_delta > 1;  // then the peak is close to an end, and halves are better
    piece.peak = steep ? -1 : chord.peak;
    lower(piece, chord.bound);
    for (std::size_t i = 0; i < u.above.size() && slack_.hi == 0; ++i)
      if (const auto mu = profile_.gaussian_part(i)) {  // [gaussian-part] log delta(e) + e^2/(2 mu^2) is convex
        lower(piece,
              bound_of_bend(piece.u, piece.v, {u.above[i].log_delta, v.above[i].log_delta}, (1.0 / square(Interval::exactly(mu->lo))).hi));
      }
  }

  /// Where no arc proved anything, or very many would be needed, they are left out.
  [[nodiscard]] bool arcs_help() const { return slack_.hi == 0 && arcs_asked_ < (arcs_that_helped_ > 0 ? most_arcs : 4); }

  /// [arc-bound] The arcs of the piece, or of the piece that it is a part of, first show where the transform may be larger than what is
  /// known; then it is proved to be little larger.
  void use_arcs(Piece& piece) {
    const bool are_new = piece.arcs == nullptr;
    if (are_new) piece.arcs = arcs_over(piece.u, piece.v);
    double bound = 0;
    for (const Arc& arc : piece.arcs->arcs) {
      const double start = std::max(piece.u, arc.start), end = std::min(piece.v, arc.end);
      if (!(start < end)) continue;
      if (are_new)
        if (const ArcPeak peak = peak_of(arc, start, end); peak.mu > best_.lo * (1 + 1e-13)) (void)node(peak.epsilon);
      bound = std::max(bound, bound_of_arc(arc, start, end));
    }
    if (piece.arcs->arcs.empty() || !(bound < piece.bound)) return;
    record(piece.arcs->basis);
    if (are_new) ++arcs_that_helped_;
    lower(piece, bound);
  }
  /// Arcs that cover [start, end]; none if a part of it has none.
  [[nodiscard]] std::shared_ptr<const ArcCover> arcs_over(double start, double end) {
    const RecordedSince before;
    auto cover = std::make_shared<ArcCover>();
    while (start < end) {
      ++arcs_asked_;
      const std::vector<Arc> found = profile_.arcs(start, end);
      if (found.empty()) cover->arcs.clear();
      start = end;
      for (const Arc& arc : found) start = std::min(start, arc.end);
      cover->arcs.insert(cover->arcs.end(), found.begin(), found.end());
      if (found.empty()) break;
    }
    cover->basis = before.take_out();
    return cover;
  }
  /// The first of growing mu for which this part of the arc is proved.
  [[nodiscard]] double bound_of_arc(const Arc& arc, double start, double end) const {
    for (double surplus = 1e-12; surplus < 1e-4; surplus *= 30)
      if (const double mu = best_.hi * (1 + surplus); stays_below(arc, mu, start, end)) return mu;
    return infinity;
  }

  /// Lines cost as much as values. Where most of the first ones did not halve the excess, they are left out.
  [[nodiscard]] bool lines_help() const { return slack_.hi == 0 && (lines_asked_ < 8 || 4 * lines_that_helped_ > lines_asked_); }

  void use_lines(Piece& piece) {
    const double before = piece.bound - best_.hi;
    const Node& u = node(piece.u);
    for (std::size_t i = 0; i < u.above.size(); ++i) {
      const bool large = node(piece.v).above[i].is_large();
      const auto line = profile_.line(i, large ? LineOf::complement : LineOf::delta, piece.u, piece.v);
      if (!line) continue;
      lower(piece, large ? bound_of_complement(piece.u, piece.v, *line) : bound_of_line(piece.u, piece.v, *line));
    }
    ++lines_asked_;
    if (piece.bound - best_.hi < before / 2) ++lines_that_helped_;
  }

  /// Improves the bound of the piece with the largest one. Returns false once the gap is within this share of the wanted width, or nothing
  /// helps.
  bool improve(double far, double share) {
    Piece& worst = *std::max_element(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.bound < b.bound; });
    const double target = std::max(best_.hi + std::max(share * relative_ * best_.hi, 1e-15), enough_);
    if (worst.bound <= target) return false;
    switch (worst.by) {
      case Piece::By::nothing:
        if (march(worst)) return true;
        use_moments(worst);
        worst.by = Piece::By::moments;
        return true;
      case Piece::By::moments:
        // Far out, moments are much cheaper than values: they are tried on short pieces first.
        if (profile_.moments() != nullptr && worst.v > far && worst.v > 1.25 * worst.u) return split(worst);
        if (divergences_help(worst, far)) use_divergences(worst);
        worst.by = Piece::By::divergences;
        return true;
      case Piece::By::divergences:
        if (divergences_help(worst, far) && divergences_prove_ends(worst, target) && split(worst)) return true;
        use_chord(worst);
        worst.by = Piece::By::chord;
        return true;
      case Piece::By::chord:
        worst.by = Piece::By::arcs;
        if (worst.arcs != nullptr || (arcs_help() && worst.v - worst.u <= longest_piece * profile_.mu_at_zero())) use_arcs(worst);
        return true;
      case Piece::By::arcs:
        if (lines_help()) use_lines(worst);
        worst.by = Piece::By::lines;
        return true;
      case Piece::By::lines:
        return split(worst);
    }
    return false;
  }

  bool split(Piece& piece) {
    const double width = piece.v - piece.u;
    if (!(width > 1e-13 * piece.v)) return false;
    const bool inside = piece.peak > piece.u + 0.1 * width && piece.peak < piece.v - 0.1 * width;
    const bool far = piece.u > 0 && piece.v > 4 * piece.u;
    double middle = far ? std::sqrt(piece.u * piece.v) : inside ? piece.peak : piece.u + width / 2;
    if (profile_.has_corners()) {
      const auto corner = profile_.corner_near(middle, piece.u, piece.v);
      const bool straight = !corner && piece.peak > piece.u && piece.peak < piece.v;  // its chord is the profile, largest at its peak
      middle = corner ? *corner : straight ? piece.peak : middle;
    }
    Piece right{middle, piece.v, piece.bound};  // a part is bounded by what bounds the whole
    right.arcs = piece.arcs;
    Piece left{piece.u, middle, piece.bound};
    left.arcs = piece.arcs;
    piece = std::move(left);
    pieces_.push_back(std::move(right));
    return true;
  }

  MeasuredProfile& profile_;
  Interval slack_;
  double relative_;
  double enough_;
  Interval best_{0, 0};
  double best_at_ = -1;
  std::size_t arcs_asked_ = 0, arcs_that_helped_ = 0;
  std::size_t lines_asked_ = 0, lines_that_helped_ = 0;
  std::size_t divergence_lines_ = 0;
  std::size_t new_lines_ = 0;
  double slowest_value_ = 0;
  std::map<double, Node> nodes_;
  std::vector<Piece> pieces_;
};

}  // namespace

Supremum chord_supremum(MeasuredProfile& profile, double last, Interval slack, double relative, double enough) {
  return ChordSearch(profile, slack, relative, enough).over(last);
}

}  // namespace tradeoff::detail
