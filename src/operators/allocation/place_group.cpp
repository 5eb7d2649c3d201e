// SPDX-License-Identifier: Apache-2.0
#include "operators/allocation/place_group.h"

#include <utility>

#include "numeric/lanes.h"

namespace tradeoff::detail::allocation {

template <class Cost>
PlaceGroup::Found PlaceGroup::find_bend(double l, double order, Cost&& cost) const {
  Found found;
  if (is_bounded()) {
    found.bend = {line_.end(), line_.count()};
    found.bent = beyond(l, found.bend.u, order, 0, 0);
    found.all = line_.plain(l, order, found.bend) + found.bent;
    found.cost = cost(found.all, found.bent);
    return found;
  }
  Three sum;
  const auto consider = [&](const Bend& bend) {
    const Three bent = bent_bound(summand_, s_, l, bend.u, order, 0, pi / 2), all = sum + bent;
    if (!(all.plus < infinity && bent.psi > 0)) return;
    if (const double here = cost(all, bent); here < found.cost) found = {bend, here, all, bent};
  };
  bool fits = true;
  line_.scan(l, order, [&](const Bend& bend, const Three& here) {
    const double x = (bend.u + l / 2) / s_;
    fits = order * summand_.of(bend.u) - x * x / 2 < 60;
    sum = here;
    if (fits && bend.u > 0.2 && line_.reaches(bend)) consider(bend);
    return fits;
  });
  if (!fits) return found;
  const double end = line_.end(), farthest = 2.2 + 30 * s_;
  for (double x = 1.1 * (end + l / 2); x < 1.1 * farthest; x *= 1.15)
    if (const double u = x - l / 2; u > 0.2 && order * summand_.of(u) - x * x / (2 * s_ * s_) < 60) consider({u, line_.count()});
  return found;
}

PlaceGroup::Found PlaceGroup::for_line(Place place, double order) const {
  // Among bends of the same quality the one beyond which less lies.
  return find_bend(place.l, order, [&](const Three& all, const Three& bent) {
    return log_product(all) + log_factor(place, order) + log_pole(order) + 1e-6 * std::max(-150.0, std::log(bent.psi / all.psi));
  });
}

PlaceGroup::Found PlaceGroup::for_jump(Place place, double order) const {
  return find_bend(place.l, order, [&](const Three& all, const Three& bent) {
    return log_product_difference(all, bent) + log_factor(place, order) + log_pole(order);
  });
}

/// The least bound of |F|, or a little more: a line further from 0 has longer panels.
void PlaceGroup::choose_order(Place place) {
  // Where what lies beyond the bend matters, its bounds are poor.
  const auto cost = [&](double order) {
    const Found found = for_line(place, order);
    return n_ * found.bent.psi <= 2 * found.all.psi ? found.cost : infinity;
  };
  const double sign = is_bounded() ? -1 : 1;
  const double usual = summand_.falls ? std::sinh(place.l / 2 + s_) + s_ : summand_.of(s_ - place.l / 2);
  double best = 1e-4 / (summand_.falls ? std::sqrt(n_) * usual : std::max(std::sqrt(n_) * usual, n_)), least = cost(sign * best);
  int worse = 0;
  for (double order = 2 * best; worse < 4 && order < 1e12; order *= 2) {
    const double here = cost(sign * order);
    if (here < least)
      least = here, best = order, worse = 0;
    else
      ++worse;
  }
  for (double ratio = std::sqrt(2.0); ratio > 1.02; ratio = std::sqrt(ratio))
    for (const double order : {best / ratio, best * ratio})
      if (const double here = cost(sign * order); here < least) least = here, best = order;
  order_ = sign * best;
  while (cost(1.15 * order_) < least + 1) order_ *= 1.15;
}

/// About the logarithm of the integral.
double PlaceGroup::log_size(Place place) const {
  constexpr double loose = 4;  // of the bound of the jump
  const Found line = for_line(place, order_);
  double most = line.cost + std::log(width(place.l, order_, line.bend));
  if (is_bounded()) return most;
  int less = 0;
  for (double order = order_; less < 8; order /= 2) {
    const double here = for_jump(place, order).cost + std::log(order) - loose;
    if (here > most)
      most = here, less = 0;
    else
      ++less;
  }
  return most;
}

PlaceGroup::PlaceGroup(Integral integral, const PlaceSummand& summand, double s, double n, Place first, Place last, std::size_t intervals)
    : integral_(integral), summand_(summand), s_(s), n_(n), line_(summand, s, first.l, last.l), intervals_(intervals), ends_{first, last} {
  const Place middle = anchor(0.5);
  choose_order(middle);
  if (!(for_line(middle, order_).cost < infinity)) return;
  for (std::size_t i = 0; i < 2; ++i) log_allowed_[i] = log_size(ends_[i]) + std::log(wanted_share);
  // Where large values of one step are what matters, the line may be nearer to 0, so near that it just does not matter.
  for (double order = 1e-9 * order_; order < order_ && !is_bounded(); order *= 1.6) {
    bool negligible = true;
    for (std::size_t i = 0; i < 2; ++i) {
      const Found found = for_line(ends_[i], order);
      negligible = negligible && found.cost + std::log(30 * width(ends_[i].l, order, found.bend)) < log_allowed_[i] - 3;
    }
    if (!negligible) continue;
    order_ = order;
    line_used_ = false;
    break;
  }
  bend_ = for_line(ends_[0], order_).bend;  // where most lies beyond it
  known_ = reach_end() && place_line() && (is_bounded() || place_jump());
  if (!known_) return;
  find_bounds();
  if (integral_.paired) return;
  line_terms_ = terms_of_line();
  for (const JumpPanel& panel : jump_)
    for (const Term& term : terms_of_jump(panel)) jump_terms_.push_back(term);
}

void PlaceGroup::find_bounds() {
  beyond_end_ = at_anchors([&](Place place) { return log_beyond(place, end_, end_angle_); });
  if (line_used_)
    line_error_ = at_anchors([&](Place place) {
      double all = log_line_error(place, panels_) + std::log(static_cast<double>(panels_.count));
      for (const LongPanel& panel : long_panels_)
        if (panel.sum > 0) all = log_sum(all, log_long_error(place, panel.centre, panel.half, panel.sum));
      return all;
    });
  else
    unused_ = at_anchors([&](Place place) {
      const Three most = line_.at(place.l, unused_line_) + beyond(place.l, bend_.u, order_, 0, pi / 2);
      return log_product(most) + log_factor(place, order_) + log_pole(order_);
    });
  if (!is_bounded()) before_jump_ = at_anchors([&](Place place) { return log_jump_before(place, jump_zero_, jump_first_); });
}

/// What the integral beyond t is at most, on a path of w at this angle.
double PlaceGroup::log_beyond(Place place, double t, double angle) const {
  const double most = log_product(line_.falling(place.l, order_, t, angle, bend_));
  if (integral_.paired) return most - std::log(n_ * std::sin(angle));
  const double integral = integral_.pole ? most - std::log(t) : log_sum(most + std::log(std::max(t, far_)), log_far_);
  return integral + log_factor(place, order_);
}

/// log E e^(-p e^w) is concave in log p and at least -p E e^w: beyond a p with a small value it falls like a known power of p.
/// [allocation-mean-law]
bool PlaceGroup::find_far() {
  const double l = ends_[0].l, mean = std::exp(s_ * s_ / 2 - l / 2);
  const double wanted = std::min(log_allowed_[0] - log_factor(ends_[0], order_), log_allowed_[1] - log_factor(ends_[1], order_)) - 5;
  for (double t = std::max(4 * std::abs(order_), 1 / (n_ * mean)); t < 1e15; t *= 4)
    for (const double angle : {pi / 2, std::min(1.0, s_), std::min(0.3, s_ / 3)}) {
      const double p = (t * std::sin(angle) - order_ * std::cos(angle)) / 2;
      if (!(p > 0)) continue;
      const double raised = angle * angle / (2 * s_ * s_), log_most = std::log(line_.falling(l, order_, t, angle, bend_).psi) - raised;
      double power = 0;
      for (double nearer = 0.5; nearer > 1e-12; nearer /= 2) power = std::max(power, (-p * mean * nearer - log_most) / -std::log(nearer));
      power = power * (1 - 1e-9) - 1e-12 * std::abs(log_most);  // the rounding
      if (!(n_ * power > 2)) continue;
      log_far_ = n_ * (log_most + raised) + std::log(2 * p / (std::sin(angle) * (n_ * power - 1))) + 1e-6;
      far_ = t;
      if (log_far_ < wanted) return true;
    }
  return false;
}

/// The line ends where what lies beyond is negligible at both ends of the group.
bool PlaceGroup::reach_end() {
  if (!integral_.paired && !integral_.pole && !find_far()) return false;
  const Place middle = anchor(0.5);
  const auto fits = [&](double angle) {
    return log_beyond(ends_[0], end_, angle) < log_allowed_[0] - 2 && log_beyond(ends_[1], end_, angle) < log_allowed_[1] - 2;
  };
  end_ = 3 * width(middle.l, order_, bend_);
  end_angle_ = std::min(pi / 2, 3 * s_);
  for (; end_ < 1e12; end_ *= 1.25) {
    double least = log_beyond(middle, end_, end_angle_);
    for (const double factor : {1 / 1.3, 1.3})
      for (double angle = factor * end_angle_; angle > 1e-6 && angle <= pi / 2; angle *= factor) {
        const double here = log_beyond(middle, end_, angle);
        if (!(here < least || least == infinity)) break;
        least = here, end_angle_ = angle;
      }
    if (least < log_allowed_[0] + 20 && fits(end_angle_)) return true;
  }
  return false;
}

PlaceGroup::LinePanels PlaceGroup::line_panels(double half, double sum, std::size_t count) const {
  const double across = half * (sum - 1 / sum) / 2, behind = half * ((sum + 1 / sum) / 2 - 1), low = order_ - across;
  return {half,
          sum,
          count,
          behind,
          pi / 2 + std::atan2(behind, low),
          line_.bulk(places(), low, bend_),
          line_.bulk(places(), order_ + across, bend_)};
}

// All bounds of F and of its difference are sums of products of moments of e^(order sinh w): they are log-convex in the order, and largest
// at one of two ends.
double PlaceGroup::log_line_error(Place place, const LinePanels& panels) const {
  double most = -infinity;
  for (const RealLine::Bulk* end : {&panels.low, &panels.high})
    most = std::max(most, log_factor(place, end->order) +
                              log_product(line_.at(place.l, *end) + beyond(place.l, bend_.u, end->order, panels.behind, panels.turn)));
  return most + log_pole(is_bounded() ? panels.high.order : panels.low.order) +
         std::log(4.3 * panels.half / (1 - 1 / (panels.sum * panels.sum))) - 64 * std::log(panels.sum);
}

void PlaceGroup::add_bent(Sheet& sheet, double u, double from, double low_order, const Three& allowed) const {
  for (double low = from; low < last_angle;) {
    const double high = std::min({last_angle, low + pi / 4, low > 0 ? 2.5 * low : last_angle});
    sheet.add_fine({{u, (low + high) / 2}, {0, (high - low) / 2}}, allowed);
    low = high;
  }
  for (int i = 0; i < most_bent_panels && low_order * summand_.of(u) * std::cos(last_angle) > -bent_fall; ++i, u += bent_length)
    sheet.add_fine({{u + bent_length / 2, last_angle}, bent_length / 2}, allowed);
}

/// What lies beyond the points that follow a bend.
Three PlaceGroup::beyond_sheet(double l, double u, double low_order) const {
  for (int i = 0; i < most_bent_panels && low_order * summand_.of(u) * std::cos(last_angle) > -bent_fall; ++i) u += bent_length;
  const double x = (u + l / 2) / s_;
  const double exponent = last_angle * last_angle / (2 * s_ * s_) + low_order * summand_.of(u) * std::cos(last_angle);
  const double tail = std::exp(exponent + log_upper_tail(x)), shifted = std::exp(exponent + s_ * s_ / 2 - l / 2 + log_upper_tail(x - s_));
  return {tail, shifted, tail * std::exp(-u)};
}

/// A bound of the error of the rule on a panel far from 0: on its ellipse |psi| is at most what it is at the least real part and one of the
/// two orders.
double PlaceGroup::log_long_error(Place place, double centre, double half, double sum) const {
  const double across = half * (sum - 1 / sum) / 2, least = centre - half * (sum + 1 / sum) / 2;
  const double low = order_ - across, high = order_ + across;
  double best = infinity;
  for (const double angle : {0.3 * end_angle_, end_angle_, std::min(pi / 2, s_)}) {
    if (summand_.falls && least * std::sin(angle) + low * std::cos(angle) < 0) continue;
    const bool bent = RealLine::needs_bend(high, least, angle);
    double most = -infinity;
    for (const double order : {low, high})
      most = std::max(most, log_factor(place, order) + log_product(line_.falling(place.l, order, least, angle, bend_, bent)));
    best = std::min(best, most);
  }
  const double pole = integral_.pole ? -2 * std::log(least) : 0;
  return best + pole + std::log(4.3 * half / (1 - 1 / (sum * sum))) - 64 * std::log(sum);
}

/// Panels of the same length near 0, and longer ones further away.
bool PlaceGroup::choose_panels() {
  constexpr std::size_t most_panels = 64;
  const auto fits = [&](auto&& log_error, double slack) {
    return log_error(ends_[0]) < log_allowed_[0] - slack && log_error(ends_[1]) < log_allowed_[1] - slack;
  };
  for (const double share : {0.6, 0.45, 0.3, 0.2, 0.12, 0.07, 0.04, 0.02, 0.01})
    for (const double sum : ellipses) {
      const double count = std::ceil(end_ / (4 * share * std::abs(order_) / (sum - 1 / sum))), half = end_ / (2 * count);
      if (!(half > panels_.half)) continue;
      const LinePanels panels = line_panels(half, sum, static_cast<std::size_t>(count));
      if (fits([&](Place place) { return log_line_error(place, panels); }, std::log(count))) panels_ = panels;
    }
  if (panels_.count == 0) return false;
  constexpr double little_noise = 4;  // s beyond which bounds of longer panels take longer than the panels that they save
  const bool few = panels_.count <= 4 || s_ > little_noise;
  panels_.count = 0;
  for (double from = 0, half = panels_.half; from < end_; from += 2 * long_panels_.back().half) {
    if (long_panels_.size() == most_panels) return false;
    const auto longer = few || from == 0 ? std::nullopt : long_panel(from, half);
    if (!longer) ++panels_.count;
    long_panels_.push_back(longer.value_or(LongPanel{from + panels_.half, panels_.half, 0}));
    half = long_panels_.back().half;
  }
  return true;
}

/// A panel from here that is longer than those near 0, of about this half length.
std::optional<PlaceGroup::LongPanel> PlaceGroup::long_panel(double from, double half) const {
  for (const double factor : {2.0, 1.4, 1.0, 0.7, 0.5}) {
    const double here = std::min({factor * half, 1.5 * from, (end_ - from) / 2});
    if (!(here > panels_.half)) break;
    for (const double sum : {2.0, 3.0}) {
      const auto fits = [&](std::size_t i) { return log_long_error(ends_[i], from + here, here, sum) < log_allowed_[i] - 3; };
      if (fits(1) && fits(0)) return LongPanel{from + here, here, sum};
    }
  }
  return std::nullopt;
}

bool PlaceGroup::place_line() {
  if (!line_used_) {
    unused_line_ = line_.bulk(places(), order_, bend_);
    return true;
  }
  if (!choose_panels()) return false;
  for (const LongPanel& panel : long_panels_)
    for_each_abscissa([&](double node, double weight) {
      v_.emplace_back(panel.centre + panel.half * node, -order_);
      v_weight_.push_back(panel.half * weight);
    });
  angle_ = std::min(pi / 4, 1.2 * s_);
  less_one_ = is_near_one(order_, bend_);
  sheet_.emplace(summand_, s_, places(), Interval::exactly(order_), kind(true, false, less_one_));
  const double small = 1e-2 * wanted_share / n_;
  const Three allowed = small * smaller_of(line_.plain(ends_[0].l, order_, bend_), line_.plain(ends_[1].l, order_, bend_));
  for (const Place& end : ends_) bent_used_ = bent_used_ || !(beyond(end.l, bend_.u, order_, 0, pi / 2) <= allowed);
  if (bent_used_ && !line_.reaches(bend_)) return false;
  line_.for_each_panel(bend_, angle_, [&](const WPanel& panel) { sheet_->add_needed(panel, allowed); });
  sheet_->oscillate(v_);
  points_ += static_cast<double>(v_.size() * sheet_->points());
  if (!bent_used_) return true;
  bent_sheet_.emplace(summand_, s_, places(), Interval::exactly(order_), kind(true, false, false));
  if (less_one_) mass_ = mass_sheet(bend_.u, angle_);
  add_bent(*bent_sheet_, bend_.u, angle_, order_, allowed);
  bent_sheet_->oscillate(v_);
  points_ += static_cast<double>(v_.size() * bent_sheet_->points());
  return true;
}

/// A bound of half the difference of F and its mirror at an order, and `behind` beside it.
double PlaceGroup::log_jump(Place place, const RealLine::Bulk& bulk, double behind, double turn) const {
  const Three bent = bent_bound(summand_, s_, place.l, bulk.bend.u, bulk.order, behind, turn);
  return log_factor(place, bulk.order) + log_product_difference(line_.at(place.l, bulk) + bent, bent);
}

double PlaceGroup::log_jump_error(Place place, const JumpEllipse& ellipse) const {
  return ellipse.log_rule + log_pole(ellipse.low.order) +
         std::max(log_jump(place, ellipse.low, ellipse.across, ellipse.turn), log_jump(place, ellipse.high, ellipse.across, ellipse.turn));
}

/// One with small errors at both ends of the group, if there is one.
std::optional<PlaceGroup::JumpEllipse> PlaceGroup::jump_ellipse(Interval orders, const Bend& bend, double slack) const {
  constexpr double log_cancelled = 35;  // with roundings of 1e-14, less than 1e-9 remains
  const double centre = middle_of(orders), half = orders.width() / 2;
  for (const double sum : ellipses) {
    const double low = centre - half * (sum + 1 / sum) / 2, high = centre + half * (sum + 1 / sum) / 2, across = half * (sum - 1 / sum) / 2;
    if (!(low > 0)) continue;
    const double log_rule = std::log(4.3 * half / (1 - 1 / (sum * sum))) - 64 * std::log(sum);
    const JumpEllipse ellipse{log_rule, across, pi / 2 + std::atan2(across, low), line_.bulk(places(), low, bend),
                              line_.bulk(places(), high, bend)};
    bool fits = true;
    for (std::size_t i = 0; i < 2 && fits; ++i) {
      // Roundings beyond the bend are those of the largest order, for all orders.
      const Three bent = bent_bound(summand_, s_, ends_[i].l, bend.u, orders.hi, 0, pi / 2);
      const auto at = [&](double order) {
        return log_factor(ends_[i], order) + log_product_difference(line_.plain(ends_[i].l, order, bend) + bent, bent);
      };
      const double rounded = std::max(at(orders.lo), at(orders.hi)) + log_pole(orders.lo);
      fits =
          log_jump_error(ends_[i], ellipse) < log_allowed_[i] + slack && rounded + std::log(half) < log_allowed_[i] + slack + log_cancelled;
    }
    if (fits) return ellipse;
  }
  return std::nullopt;
}

/// A bound of the integral of the difference up to an order.
double PlaceGroup::log_jump_before(Place place, const RealLine::Bulk& zero, const RealLine::Bulk& first) const {
  if (!integral_.pole) return std::log(first.order) + std::max(log_jump(place, zero, 0, pi / 2), log_jump(place, first, 0, pi / 2));
  const double l = place.l;
  // Each order has its own bend, where order times the summand is `rise`; with them the bound has an integral over 1/order^2.
  const double rise = std::max(1.0, pi * pi / (8 * s_ * s_));
  const double u = summand_.inverse(rise / first.order) - 1e-9, x = (u + l / 2) / s_, half = s_ * s_ / 2;
  if (!(u > 0.1)) return infinity;
  const double most = std::max((line_.at(l, zero) + bent_bound(summand_, s_, l, first.bend.u, 0, 0, pi / 2)).psi,
                               (line_.at(l, first) + bent_bound(summand_, s_, l, first.bend.u, first.order, 0, pi / 2)).psi);
  const double up = half - l / 2 + log_upper_tail(x - s_), down = half + l / 2 + log_upper_tail(x + s_);
  const double slopes = (summand_.falls ? log_sum(up, down) : up) - std::numbers::ln2;
  const double bent = rise + std::log(pi / 2 + 1) - std::log(rise);
  return std::log(n_) + (n_ - 1) * std::log(most) + bent + slopes + 1e-6;
}

bool PlaceGroup::place_jump() {
  constexpr std::size_t most_jump_panels = 24;
  for (double from = order_;;) {
    const Bend first = for_jump(ends_[0], from).bend;
    jump_zero_ = line_.bulk(places(), 0, first);
    jump_first_ = line_.bulk(places(), from, first);
    if (log_jump_before(ends_[0], jump_zero_, jump_first_) < log_allowed_[0] &&
        log_jump_before(ends_[1], jump_zero_, jump_first_) < log_allowed_[1])
      return true;
    if (jump_.size() == most_jump_panels) return false;
    bool placed = false;
    for (const double ratio : {12.0, 8.0, 5.0, 3.0, 2.0, 1.5, 1.2, 1.1}) {
      const Interval orders{from / ratio, from};
      const Bend bend = for_jump(ends_[0], from / std::sqrt(ratio)).bend;
      if (bend.panels == 0 || !line_.reaches(bend)) continue;
      // A short panel may be less good.
      const auto ellipse = jump_ellipse(orders, bend, ratio > 1.2 ? 0 : 9);
      if (!ellipse) continue;
      JumpPanel panel{orders, bend, *ellipse, at_anchors([&](Place place) { return log_jump_error(place, *ellipse); }), {}, {}, {}, {}};
      std::vector<Complex> v;
      for_each_abscissa([&](double node, double weight) {
        panel.order.push_back(middle_of(orders) + orders.width() / 2 * node);
        panel.weight.push_back(orders.width() / 2 * weight);
        v.emplace_back(0, -panel.order.back());
      });
      const bool less_one = is_near_one(orders.hi, bend);
      if (less_one) panel.mass = mass_sheet(bend.u, 0);
      Sheet real(summand_, s_, places(), orders, kind(false, true, less_one)),
          bent(summand_, s_, places(), orders, kind(false, false, false));
      // The imaginary part is about that of the path beyond the bend for the least order.
      const Three of_real =
          wanted_share / n_ * smaller_of(line_.plain(ends_[0].l, orders.lo, bend), line_.plain(ends_[1].l, orders.lo, bend));
      const Three of_bent = 1e-3 * wanted_share *
                            smaller_of(bent_bound(summand_, s_, ends_[0].l, bend.u, orders.lo, 0, pi / 2),
                                       bent_bound(summand_, s_, ends_[1].l, bend.u, orders.lo, 0, pi / 2));
      line_.for_each_panel(bend, 0, [&](const WPanel& one) { real.add_needed(one, of_real); });
      add_bent(bent, bend.u, 0, orders.lo, of_bent);
      real.oscillate(v);
      bent.oscillate(v);
      points_ += static_cast<double>(v.size()) * (0.5 * static_cast<double>(real.points()) + static_cast<double>(bent.points()));
      panel.sheets.push_back(std::move(real));
      panel.sheets.push_back(std::move(bent));
      jump_.push_back(std::move(panel));
      from = orders.lo;
      placed = true;
      break;
    }
    if (!placed) return false;
  }
}

/// For E(1; beyond a bend), on the line at this angle: psi is 1 less this, and what is summed of e^z - 1 and beyond the bend.
PlaceGroup::MassSheet PlaceGroup::mass_sheet(double u, double angle) const {
  constexpr double reach = 9;  // deviations
  const double panel = 1.5 * std::min(pi / 4, s_);
  const double first = std::max(0.0, (u + ends_[0].l / 2) / s_), last = std::hypot((u + ends_[1].l / 2) / s_, reach);
  const double count = std::min(200.0, std::ceil((last - first) * s_ / panel)),
               negligible = 1e-3 * unit_roundoff * std::exp(log_upper_tail(last));
  MassSheet mass{Sheet(summand_, s_, places(), Interval::exactly(0), {}), u + count * panel, angle};
  for (int i = 0; i < static_cast<int>(count); ++i)
    mass.sheet.add_fine({{u + panel * (i + 0.5), angle}, panel / 2}, {std::max(negligible, 1e-40), infinity, infinity});
  mass.sheet.oscillate(std::vector<Complex>(numeric::lane_count));
  return mass;
}

PlaceGroup::Mass PlaceGroup::mass_of(const MassSheet& mass, double l) const {
  std::vector<double> sums;
  const Sheet::Errors errors = mass.sheet.sum(l, sums);
  const double rest = std::exp(mass.angle * mass.angle / (2 * s_ * s_) + log_upper_tail((mass.end + l / 2) / s_));
  return {{sums[0], sums[numeric::lane_count]}, errors.at(0, 0).psi + bound_widened * rest};
}

/// psi, psi+ and psi- on the line, and bounds of their errors.
struct PlaceGroup::OnLine {
  std::vector<double> sums, bent;
  Sheet::Errors errors, bent_errors;
  Three rule;
  std::size_t count = 0;
  Complex less;  // of psi, if it is less 1

  [[nodiscard]] Complex of(std::size_t i, std::size_t j) const {
    Complex sum(sums[2 * i * count + j], sums[(2 * i + 1) * count + j]);
    if (!bent.empty()) sum += Complex(bent[2 * i * count + j], bent[(2 * i + 1) * count + j]);
    return i == 0 ? sum - less : sum;
  }
  [[nodiscard]] Three doubts(double v, double of_v) const {
    const Three doubt = rule + errors.at(v, of_v);
    return bent.empty() ? doubt : doubt + bent_errors.at(v, of_v);
  }
};

PlaceGroup::OnLine PlaceGroup::on_line(double l) const {
  OnLine on;
  on.errors = sheet_->sum(l, on.sums);
  const double raised = std::exp(angle_ * angle_ / (2 * s_ * s_));
  on.rule = 2 * line_.before(l, angle_, order_);
  if (bent_used_) {
    on.bent_errors = bent_sheet_->sum(l, on.bent);
    on.rule = on.rule + beyond_sheet(l, bend_.u, order_);
  } else {
    on.rule = on.rule + (is_bounded() ? raised : 1) * beyond(l, bend_.u, order_, 0, pi / 2) + raised * line_.gap(l, order_, bend_);
  }
  if (mass_) {
    const Mass mass = mass_of(*mass_, l);
    on.less = mass.value;
    on.rule.psi += mass.error;
  } else if (less_one_) {
    const double end = line_.reaches(bend_) ? bend_.u : line_.end();
    on.rule.psi += bound_widened * raised * std::exp(log_upper_tail((end + l / 2) / s_));
  }
  on.count = v_.size();
  return on;
}

namespace {

/// The logarithm of a modulus and the angle of psi, and how much the logarithm may change.
struct PolarPsi {
  /// From psi, or from psi less 1.
  PolarPsi(Complex sum, double doubt, bool is_less_one) {
    const Complex psi = is_less_one ? 1.0 + sum : sum;
    // Near 1 the logarithm is known relative to itself, otherwise like the sum with 1.
    const bool near = is_less_one && std::abs(sum) < 0.25;
    angle = std::arg(psi);
    log_size = near ? std::log1p(2 * sum.real() + std::norm(sum)) / 2 : std::log(std::abs(psi));
    size = std::exp(log_size);
    const double of_sum = near ? 4 * std::abs(sum) : is_less_one ? (1 + std::abs(sum)) / size : 1;
    const double rounding = unit_roundoff * 16 * (std::min(std::abs(log_size), 700.0) + std::abs(angle) + of_sum);
    growth = std::log1p(doubt / size) + rounding;
    log_most = std::log(size + doubt) + rounding;
  }
  double log_size = 0, size = 0, angle = 0, growth = 0, log_most = 0;
};

}  // namespace

/// psi^n, or -psi^n/v^2, with the weights of the rule.
std::vector<PlaceGroup::Term> PlaceGroup::terms_of_line() const {
  std::vector<Term> terms;
  if (!line_used_) return terms;
  const OnLine on = on_line(ends_[0].l);
  for (std::size_t j = 0; j < on.count; ++j) {
    const double of_v = 2 * (v_[j].real() + std::abs(order_) + panels_.half);
    const PolarPsi psi(on.of(0, j), on.doubts(1.01 * std::abs(v_[j]), of_v).psi, less_one_);
    const double weight = integral_.pole ? v_weight_[j] / std::norm(v_[j]) : v_weight_[j];
    const double turn = integral_.pole ? pi - 2 * std::arg(v_[j]) : 0, changed = n_ * psi.growth;
    Term term{v_[j].real(), order_, n_ * (changed < 1 ? psi.log_size : psi.log_most), n_ * psi.angle + turn, weight, 0};
    term.error = weight * (changed < 1 ? std::expm1(changed) : 2) + (60 * weight) * unit_roundoff;
    terms.push_back(term);
  }
  return terms;
}

/// The integral of Re F along the line.
PlaceGroup::Value PlaceGroup::of_line(Place place) const {
  const double after = bound_widened * std::exp(between(beyond_end_, place));
  if (!line_used_) return {0, bound_widened * end_ * std::exp(between(unused_, place)) + after};
  numeric::CompensatedSum sum;
  double error = 0;
  if (!integral_.paired) {
    const double drift = n_ * summand_.constant() * place.scale;
    for (const Term& term : line_terms_) {
      const double size = std::exp(term.log_size - drift * order_);
      sum.add(size * term.value * std::cos(term.angle - drift * term.t));
      error += size * (term.error + 12 * unit_roundoff * (8 + std::abs(term.angle) + drift * (std::abs(order_) + term.t)) * term.value);
    }
  } else {
    const OnLine on = on_line(place.l);
    for (std::size_t j = 0; j < on.count; ++j) {
      const auto [value, doubt] = paired(on, j);
      sum.add(v_weight_[j] * value);
      error += v_weight_[j] * doubt;
    }
  }
  const Interval found = sum.enclosure();
  error += 0.5 * (found.hi - found.lo) + after + std::exp(between(line_error_, place));
  return {middle_of(found), bound_widened * error};
}

/// Re F at a point of the line.
PlaceGroup::Value PlaceGroup::paired(const OnLine& on, std::size_t j) const {
  const Complex product = on.of(1, j) * on.of(2, j);
  const Three doubts = on.doubts(1.01 * std::abs(v_[j]), 2 * (std::abs(v_[j].real()) + std::abs(order_) + panels_.half));
  const PolarPsi psi(on.of(0, j), doubts.psi, less_one_);
  const double plus = std::abs(on.of(1, j)), minus = std::abs(on.of(2, j));
  const auto power = [&](double times) { return times > 0 ? std::exp(times * psi.log_size) : 1.0; };
  // How much a power of psi may change.
  const auto change = [&](double times) {
    if (!(times > 0)) return 0.0;
    return times * psi.growth < 1 ? power(times) * std::expm1(times * psi.growth) : std::exp(times * psi.log_most);
  };
  const double first = power(n_), others = power(n_ - 2), turn = (n_ - 2) * psi.angle;
  const double second = (n_ - 1) * others * (product.real() * std::cos(turn) - product.imag() * std::sin(turn));
  const double sizes = (n_ - 1) * plus * minus;
  const double changes = change(n_) + sizes * change(n_ - 2) +
                         (n_ - 1) * (others + change(n_ - 2)) * (doubts.plus * (minus + doubts.minus) + plus * doubts.minus);
  return {first * std::cos(n_ * psi.angle) + second, changes + 60 * unit_roundoff * (first + sizes * others)};
}

namespace {

/// A factor of F at an imaginary v: its imaginary part is small, and has an error of its own.
struct Factor {
  double real, imaginary, real_doubt, imaginary_doubt;
  [[nodiscard]] double size() const { return std::hypot(std::abs(real) + real_doubt, std::abs(imaginary) + imaginary_doubt); }
  [[nodiscard]] double turned() const { return std::abs(imaginary) + imaginary_doubt; }
};

/// The imaginary part of F, times an exponential, and a bound of its error: derivatives by the real parts of factors are imaginary parts of
/// products, which are at most the sum over the factors of the imaginary part of one times the moduli of the others.
std::pair<double, double> imaginary_part(const Factor& psi, const Factor& plus, const Factor& minus, double n, double log_factor) {
  const double log_size = std::log(std::hypot(psi.real, psi.imaginary)), angle = std::atan2(psi.imaginary, psi.real);
  const double real = plus.real * minus.real - plus.imaginary * minus.imaginary,
               imaginary = plus.real * minus.imaginary + plus.imaginary * minus.real;
  const double turn = (n - 2) * angle;
  const double value = std::exp(n * log_size + log_factor) * std::sin(n * angle) +
                       (n - 1) * std::exp((n - 2) * log_size + log_factor) * (imaginary * std::cos(turn) + real * std::sin(turn));
  // In units of the modulus of psi to the power n.
  const double size = psi.size(), log_most = std::log(size), unit = std::exp(n * log_most + log_factor);
  const double m = psi.turned() / size, p = plus.size() / size, q = minus.size() / size, mp = plus.turned() / size,
               mq = minus.turned() / size;
  const double dr = psi.real_doubt / size, dm = psi.imaginary_doubt / size;
  const double pairs = mp * q + p * mq, product = p * q;
  double error = n * ((n - 1) * m * dr + dm);
  error +=
      (n - 1) * ((n - 2) * (((n - 3) * m * product + pairs) * dr + product * dm) + ((n - 2) * m * q + mq) * plus.real_doubt / size +
                 q * plus.imaginary_doubt / size + ((n - 2) * m * p + mp) * minus.real_doubt / size + p * minus.imaginary_doubt / size);
  const double terms = n * m + (n - 1) * ((n - 2) * m * product + pairs);
  error += 40 * unit_roundoff * (1 + n * std::abs(log_most)) * (1 + n * m) * terms;
  return {value, bound_widened * unit * error};
}

}  // namespace

/// psi, psi+ and psi- at the orders of a panel, as factors of F.
struct PlaceGroup::OnOrders {
  std::vector<double> real, bent;
  Three of_real, of_bent;
  std::size_t count = 0;
  double one = 0;  // of psi, if its sum is less 1

  [[nodiscard]] Factor factor(std::size_t i, std::size_t j) const {
    const auto doubt = [&](const Three& three) { return i == 0 ? three.psi : i == 1 ? three.plus : three.minus; };
    const double main = real[2 * i * count + j] + bent[2 * i * count + j] + (i == 0 ? one : 0);
    return {main, bent[(2 * i + 1) * count + j], doubt(of_real) + 2 * unit_roundoff * std::abs(main), doubt(of_bent)};
  }
};

PlaceGroup::OnOrders PlaceGroup::on_orders(double l, const JumpPanel& panel) const {
  OnOrders on;
  const Sheet::Errors real_errors = panel.sheets[0].sum(l, on.real), bent_errors = panel.sheets[1].sum(l, on.bent);
  const double most = panel.orders.hi;
  on.of_bent = bent_errors.at(most, 2 * most) + beyond_sheet(l, panel.bend.u, panel.orders.lo);
  on.of_real = real_errors.at(most, 2 * most) + 2 * line_.before(l, 0, most) + on.of_bent;
  if (panel.mass) {
    const Mass mass = mass_of(*panel.mass, l);
    on.one = 1 - mass.value.real();
    on.of_real.psi += mass.error;
  }
  on.count = panel.order.size();
  return on;
}

/// The integral of Im F over the orders of a panel.
PlaceGroup::Value PlaceGroup::of_jump(double l, const JumpPanel& panel) const {
  const OnOrders on = on_orders(l, panel);
  numeric::CompensatedSum sum;
  double error = 0;
  for (std::size_t j = 0; j < panel.order.size(); ++j) {
    const auto [value, doubt] = imaginary_part(on.factor(0, j), on.factor(1, j), on.factor(2, j), n_, 0);
    sum.add(panel.weight[j] * value);
    error += panel.weight[j] * (doubt + unit_roundoff * 8 * std::abs(value));
  }
  const Interval found = sum.enclosure();
  return {middle_of(found), bound_widened * (error + 0.5 * (found.hi - found.lo))};
}

/// Im psi^n, or Im psi^n/order^2, with the weights of the rule.
std::vector<PlaceGroup::Term> PlaceGroup::terms_of_jump(const JumpPanel& panel) const {
  const OnOrders on = on_orders(ends_[0].l, panel);
  std::vector<Term> terms;
  for (std::size_t j = 0; j < panel.order.size(); ++j) {
    const Factor none{0, 0, 0, 0}, psi = on.factor(0, j);
    const double log_size = n_ * std::log(psi.size());
    const auto [value, doubt] = imaginary_part(psi, none, none, n_, -log_size);
    const double order = panel.order[j], weight = integral_.pole ? panel.weight[j] / (order * order) : panel.weight[j];
    // The exponent has roundings of its own.
    const double rounding = unit_roundoff * (8 + 4 * std::abs(log_size)) * std::abs(value);
    terms.push_back({0, order, log_size, 0, weight * value, weight * (doubt + rounding)});
  }
  return terms;
}

/// The integrals of Im F over all orders.
PlaceGroup::Value PlaceGroup::of_jumps(Place place) const {
  Value all{0, bound_widened * std::exp(between(before_jump_, place))};
  for (const JumpPanel& panel : jump_) {
    all.error += bound_widened * std::exp(between(panel.log_error, place));
    if (!integral_.paired) continue;
    const Value one = of_jump(place.l, panel);
    all = {all.value + one.value, all.error + one.error + 2 * unit_roundoff * std::abs(all.value)};
  }
  if (integral_.paired) return all;
  const double drift = n_ * summand_.constant() * place.scale;
  numeric::CompensatedSum sum;
  double error = 0;
  for (const Term& term : jump_terms_) {
    const double down = drift * term.order, size = std::exp(term.log_size - down);
    sum.add(size * term.value);
    error += size * (term.error + unit_roundoff * (8 + 12 * down) * std::abs(term.value));
  }
  const Interval found = sum.enclosure();
  return {middle_of(found), all.error + bound_widened * (error + 0.5 * (found.hi - found.lo))};
}

PlaceGroup::Value PlaceGroup::at(Place place) const {
  Value all = of_line(place);
  if (!is_bounded()) {
    const Value jumps = of_jumps(place);
    all = {all.value + jumps.value, all.error + jumps.error + 2 * unit_roundoff * std::abs(all.value)};
  }
  const double value = factor(place) * all.value;
  return {value, bound_widened * (factor(place) * all.error + 12 * unit_roundoff * std::abs(value))};
}

/// With l + ib for the place, |e^(y sinh w)| on the real line of x is that of the order y cos(b/2); beyond the bend the path of x rises by
/// b/2 more. [allocation-replaced-law]
double PlaceGroup::log_most(double height, double slope, double from) const {
  const double turn = (pi + height) / 2, raised = turn * turn / (2 * s_ * s_);
  double most = -infinity;
  for (const JumpPanel& panel : jump_) {
    double largest = -infinity;
    for (const double order : {panel.orders.lo * std::cos(height / 2), panel.orders.hi}) {
      const RealLine::Bulk bulk = line_.bulk(places(), order, panel.bend);
      const Bounds bounds = at_anchors([&](Place place) {
        const double u = panel.bend.u, x = (u + place.l / 2) / s_;
        const Three rise = exponentials(order * summand_.of(u) + raised + std::log(0.4 * turn / s_) - x * x / 2, u, -u);
        const double tail = std::exp(raised + log_upper_tail(x));
        const Three beyond{tail, std::exp(raised + s_ * s_ / 2 - place.l / 2 + log_upper_tail(x - s_)), tail * std::exp(-u)};
        const Three bent = bound_widened * (rise + beyond);
        return log_product_difference(line_.at(place.l, bulk) + bent, bent) + slope * (place.l - from);
      });
      largest = std::max(largest, *std::max_element(bounds.begin(), bounds.end()));
    }
    most = log_sum(most, largest + std::log(panel.orders.width()));
  }
  const double length = (ends_[1].l - ends_[0].l) / static_cast<double>(intervals_), slack = n_ * length * length / (32 * s_ * s_);
  return most + slack + std::log(factor(ends_[0])) + 1e-6;
}

}  // namespace tradeoff::detail::allocation
