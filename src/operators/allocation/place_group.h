// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "operators/allocation/place_path.h"

namespace tradeoff::detail::allocation {

inline constexpr double largest_share = 0.125;   // of an error in its value
inline constexpr std::size_t group_places = 32;  // that share the oscillations

/// What is integrated: psi^n, where psi has the factor e^(-iv constant). [allocation-excess] [allocation-mean-law]
struct Integral {
  bool paired = false;   // F as above, for a replaced record
  bool pole = false;     // divided by -v^2: the expectation of the positive part of the sum, or of its opposite
  bool bounded = false;  // orders are negative, where e^(order summand) is bounded: the opposite, or a density left of the mean
};
inline constexpr Integral replaced_density{.paired = true};
inline constexpr Integral excess_integral{.pole = true};
inline constexpr Integral shortfall_integral{.pole = true, .bounded = true};
inline constexpr Integral density_right{};
inline constexpr Integral density_left{.bounded = true};

/// Where the law of w lies, and what the sum of summands is compared with: this times n constants.
struct Place {
  double l = 0;
  double scale = 1;
};

/// Places near each other, which share the points v and w and the oscillations e^(iv sinh w) at them.
class PlaceGroup {
 public:
  PlaceGroup(Integral integral, const PlaceSummand& summand, double s, double n, Place first, Place last, std::size_t intervals = 1);
  /// Whether more than bounds of the line is needed: not far in the tail.
  [[nodiscard]] bool needs_line() const { return line_used_; }
  [[nodiscard]] bool known() const { return known_; }
  /// What a place costs.
  [[nodiscard]] double points() const { return points_; }
  struct Value {
    double value = 0, error = infinity;
  };
  [[nodiscard]] Value at(Place place) const;
  /// The part of the error of a value that is left out, where no line is needed: the rest is analytic in the place.
  [[nodiscard]] double left_out(Place place) const {
    return bound_widened * factor(place) * (of_line(place).error + bound_widened * std::exp(between(before_jump_, place)));
  }
  /// The logarithm of a bound of that rest for places with imaginary parts of at most `height` < pi, times e^(slope (l - from)).
  [[nodiscard]] double log_most(double height, double slope, double from) const;

 private:
  [[nodiscard]] double factor(Place place) const {
    return integral_.paired ? std::exp(-s_ * s_ / 2) / (2 * pi) : integral_.pole ? 1 / pi : n_ * place.scale / (2 * pi);
  }
  /// log of the factor of F at an order, and of what 1/|v|^2 is at most where -Im v >= least.
  [[nodiscard]] double log_factor(Place place, double order) const { return -n_ * summand_.constant() * place.scale * order; }
  [[nodiscard]] double log_pole(double least) const { return integral_.pole ? -2 * std::log(std::abs(least)) : 0; }
  [[nodiscard]] bool is_bounded() const { return integral_.bounded; }
  /// Places of one law of w are told apart by their scales.
  [[nodiscard]] bool has_one_law() const { return ends_[0].l == ends_[1].l; }
  [[nodiscard]] Interval places() const { return {ends_[0].l, ends_[1].l}; }
  /// What the path beyond a bend adds; without a bend, what lies beyond all panels.
  [[nodiscard]] Three beyond(double l, double u, double order, double behind, double turn) const {
    if (!is_bounded()) return bent_bound(summand_, s_, l, u, order, behind, turn);
    const double x = (u + l / 2) / s_;
    return bound_widened *
           Three{std::exp(log_upper_tail(x)), std::exp(s_ * s_ / 2 - l / 2 + log_upper_tail(x - s_)), std::exp(log_upper_tail(x) - u)};
  }
  /// Bounds as above, without factors.
  [[nodiscard]] double log_product(Three at) const {
    if (!integral_.paired) at.plus = at.minus = 0;
    return log_integrand(at, n_);
  }
  [[nodiscard]] double log_product_difference(Three at, Three bent) const {
    if (!integral_.paired) at.plus = at.minus = bent.plus = bent.minus = 0;
    return log_difference(at, bent, n_);
  }
  /// At one place: the bend that minimises a function of the bounds of psi and of what lies beyond the bend, which are returned.
  struct Found {
    Bend bend;
    double cost = infinity;
    Three all, bent;
  };
  template <class Cost>
  [[nodiscard]] Found find_bend(double l, double order, Cost&& cost) const;
  [[nodiscard]] Found for_line(Place place, double order) const;
  [[nodiscard]] Found for_jump(Place place, double order) const;
  [[nodiscard]] double width(double l, double order, const Bend& bend) const {
    return 1 / std::sqrt(n_ * std::max(line_.spread(l, order, bend), 1e-300));
  }
  void choose_order(Place place);
  [[nodiscard]] double log_size(Place place) const;
  [[nodiscard]] bool reach_end();
  [[nodiscard]] bool place_line();
  [[nodiscard]] bool place_jump();
  void add_bent(Sheet& sheet, double u, double from, double low_order, const Three& allowed) const;

  /// Panels of v on the line: how long, and the sum of the half axes of their ellipses.
  struct LinePanels {
    double half = 0, sum = 0;
    std::size_t count = 0;
    double behind = 0, turn = 0;  // how far the first ellipse reaches
    RealLine::Bulk low, high;     // at the least and the largest order of the ellipses
  };
  [[nodiscard]] LinePanels line_panels(double half, double sum, std::size_t count) const;
  /// One of all panels; those far from 0 have an ellipse of their own.
  struct LongPanel {
    double centre = 0, half = 0, sum = 0;
  };
  [[nodiscard]] double log_long_error(Place place, double centre, double half, double sum) const;
  [[nodiscard]] bool choose_panels();
  [[nodiscard]] std::optional<LongPanel> long_panel(double from, double half) const;
  /// logs of bounds at a place: of the error of the rule on a panel of the line; of the integral beyond its end.
  [[nodiscard]] double log_line_error(Place place, const LinePanels& panels) const;
  [[nodiscard]] double log_beyond(Place place, double t, double angle) const;
  [[nodiscard]] bool find_far();
  /// A panel of orders below order_, on which F differs from its mirror by what lies beyond the bend.
  struct JumpEllipse {
    double log_rule = 0;
    double across = 0, turn = 0;
    RealLine::Bulk low, high;  // at its least and largest order
  };
  struct MassSheet {
    Sheet sheet;
    double end = 0, angle = 0;
  };
  [[nodiscard]] MassSheet mass_sheet(double u, double angle) const;
  /// Whether psi less 1 is the better sum: psi keeps its digits, and its power those of a small number.
  [[nodiscard]] bool is_near_one(double order, const Bend& bend) const {
    const auto near = [&](Place end) { return std::abs(std::log(line_.plain(end.l, order, bend).psi)) < 1; };
    return n_ >= steps_summed_less_one && near(ends_[0]) && near(ends_[1]);
  }
  [[nodiscard]] Sheet::Kind kind(bool turned, bool real, bool less_one) const {
    return {.turned = turned, .real = real, .less_one = less_one, .paired = integral_.paired};
  }
  struct JumpPanel {
    Interval orders;
    Bend bend;
    JumpEllipse ellipse;
    std::vector<double> log_error;  // of the rule
    std::vector<Sheet> sheets;      // the real line, and beyond the bend
    std::optional<MassSheet> mass;  // if the sums of the real line are less 1
    std::vector<double> order, weight;
  };
  [[nodiscard]] std::optional<JumpEllipse> jump_ellipse(Interval orders, const Bend& bend, double slack) const;
  [[nodiscard]] double log_jump(Place place, const RealLine::Bulk& bulk, double behind, double turn) const;
  [[nodiscard]] double log_jump_error(Place place, const JumpEllipse& ellipse) const;
  [[nodiscard]] double log_jump_before(Place place, const RealLine::Bulk& zero, const RealLine::Bulk& first) const;
  /// The logarithm of a bound at even places of the group; between two of them it exceeds the chord by at most `slack`.
  /// [allocation-replaced-law]
  using Bounds = std::vector<double>;
  template <class Bound>
  [[nodiscard]] Bounds at_anchors(Bound&& bound) const {
    Bounds bounds;
    for (std::size_t i = 0; i <= intervals_; ++i)
      bounds.push_back(std::max(-1e5, bound(anchor(static_cast<double>(i) / static_cast<double>(intervals_)))));
    return bounds;
  }
  [[nodiscard]] Place anchor(double share) const {
    if (share == 1) return ends_[1];
    return {ends_[0].l + share * (ends_[1].l - ends_[0].l), ends_[0].scale + share * (ends_[1].scale - ends_[0].scale)};
  }
  [[nodiscard]] double between(const Bounds& bounds, Place place) const {
    const bool one = has_one_law();
    if (one && ends_[0].scale == ends_[1].scale) return bounds.front();
    const double whole = one ? ends_[1].scale - ends_[0].scale : ends_[1].l - ends_[0].l,
                 from = one ? place.scale - ends_[0].scale : place.l - ends_[0].l, length = whole / static_cast<double>(intervals_),
                 at = std::clamp(from / length, 0.0, static_cast<double>(intervals_)),
                 below = std::min(std::floor(at), static_cast<double>(intervals_ - 1)), share = at - below;
    const double first = bounds[static_cast<std::size_t>(below)], last = bounds[static_cast<std::size_t>(below) + 1],
                 slack = (one ? 0 : n_ * length * length / (32 * s_ * s_)) + 1e-6;
    return first + share * (last - first) + slack;
  }
  void find_bounds();
  /// The integrand at a point, without the factor e^(-iv n constant scale).
  struct Term {
    double t = 0, order = 0;
    double log_size = 0, angle = 0;  // on the line
    double value = 0, error = 0;     // in units of e^log_size
  };
  [[nodiscard]] std::vector<Term> terms_of_line() const;
  [[nodiscard]] std::vector<Term> terms_of_jump(const JumpPanel& panel) const;
  struct Mass {
    Complex value;
    double error = 0;
  };
  [[nodiscard]] Mass mass_of(const MassSheet& mass, double l) const;
  struct OnLine;
  [[nodiscard]] OnLine on_line(double l) const;
  [[nodiscard]] Value paired(const OnLine& on, std::size_t j) const;
  [[nodiscard]] Value of_line(Place place) const;
  struct OnOrders;
  [[nodiscard]] OnOrders on_orders(double l, const JumpPanel& panel) const;
  [[nodiscard]] Value of_jump(double l, const JumpPanel& panel) const;
  [[nodiscard]] Value of_jumps(Place place) const;
  [[nodiscard]] Three beyond_sheet(double l, double u, double low_order) const;

  Integral integral_;
  PlaceSummand summand_;
  double s_, n_;
  RealLine line_;
  std::size_t intervals_;
  std::array<Place, 2> ends_;
  std::array<double, 2> log_allowed_{};
  bool known_ = false;
  double points_ = 0;
  double order_ = 0;
  Bend bend_;
  double end_ = 0, end_angle_ = 0;
  double far_ = infinity, log_far_ = 0;  // beyond far_ the integral of |psi|^n is at most e^log_far_
  bool line_used_ = true;                // otherwise a bound is enough
  LinePanels panels_;
  std::vector<LongPanel> long_panels_;
  double angle_ = 0;
  std::optional<Sheet> sheet_, bent_sheet_;
  std::optional<MassSheet> mass_;
  bool bent_used_ = false, less_one_ = false;
  std::vector<Complex> v_;
  std::vector<double> v_weight_;
  std::vector<JumpPanel> jump_;
  RealLine::Bulk jump_zero_, jump_first_;  // orders between these are left out
  RealLine::Bulk unused_line_;
  std::vector<Term> line_terms_, jump_terms_;              // which places of one law of w share
  Bounds beyond_end_, line_error_, unused_, before_jump_;  // of the line that is used or not, and of orders below all panels
};

}  // namespace tradeoff::detail::allocation
