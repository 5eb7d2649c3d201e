// SPDX-License-Identifier: Apache-2.0
#include "transform/group_nodes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/gauss_legendre.h"

// [group-transform]
namespace tradeoff::detail {
namespace {

// Radii of the discs around a panel, in units of its half length, in the order in which they are tried. At 1 only the panel itself is
// used, and rule and integral are bounded separately.
constexpr std::array<double, 4> panel_discs{1.4, 1, 2.2, 1.15};
constexpr int cells_of_group_panel = 4;
constexpr double group_margin = 1 + 1e-9;  // of bounds that are products of a few doubles
constexpr int samples_of_piece = 12;
constexpr double negligible_log = -120;  // of what is left out at the largest power

/// Not less than the half length, and far enough from the centre between the middles for every place of the ends.
double half_of(Interval from, Interval to) { return 0.5 * (to.hi - from.lo + from.width() + to.width()) * group_margin; }
double centre_between(Interval from, Interval to) { return 0.5 * (middle_of(from) + middle_of(to)); }

}  // namespace

GroupNodes::GroupNodes(const IteratedCurve& curve, const Range& range) : curve_(curve), log_scale_(-log1p(-curve.infinite_mass())) {
  if (!find_samples(range) || !place_panels(range, 0)) return;
  fill(range.rough);
  const double furthest = range.rough ? 0 : end_of_march(*this, range);
  if (furthest > range.longest && log_error(range.power, furthest) > cumulant(range.power).value - march_accuracy) {
    panels_.clear();
    cells_.clear();
    atoms_.clear();
    nodes_ = {};
    if (!place_panels(range, furthest)) return;
    fill(false);
  }
  const double worst = std::max(log_error(0, 0), log_error(1, 0));
  unit_error_ = 1e-60 + std::exp(std::min(700.0, worst)) * group_margin;
}

/// Cuts an unbounded piece into cells, up to where the rest is negligible for the largest power; then masses and losses of a few points
/// along the pieces, for searches.
bool GroupNodes::find_samples(const Range& range) {
  const double power = std::max({range.largest_power, 1 - range.least_power, 1.0}) + 1;
  for (const Piece& piece : curve_.pieces()) {
    const auto add = [&](double at, double length) {
      const auto here = curve_.along(piece, at);
      samples_.push_back({here.log_density + std::log(length), here.loss});
    };
    const double from = middle_of(piece.from), to = middle_of(piece.to);
    if (to < infinity) {
      const double step = (to - from) / samples_of_piece;
      for (int i = 0; i < samples_of_piece; ++i) add(from + (i + 0.5) * step, step);
    } else if (!find_beyond(from, power)) {
      return false;
    } else {
      for (std::size_t i = 0; i + 1 < beyond_.size(); ++i)
        add(0.5 * (beyond_[i].from + beyond_[i + 1].from), beyond_[i + 1].from - beyond_[i].from);
    }
  }
  return true;
}

// [group-transform] The loss is at most `size` times that of the first record, and the mass of a cell at most that beyond its start.
bool GroupNodes::find_beyond(double from, double power) {
  for (double x = from;; x += 0.2 + 0.02 * x) {
    const auto [log_mass, loss] = curve_.beyond(x);
    const double above = loss * (1 + bound_relative_slack) + 1e-12;
    if (!beyond_.empty()) beyond_.back().loss = above;
    beyond_.push_back({x, log_mass * (1 - bound_relative_slack) + bound_slack, above});
    if (curve_.log_tail(power, x) < negligible_log) return true;
    if (!(x < 1e6)) return false;
  }
}

double GroupNodes::log_peak(double power) const {
  double best = power >= 0 && power <= 1 ? -infinity : 0;
  for (const Sample& sample : samples_) best = std::max(best, sample.log_mass + std::max(power, 1 - power) * sample.loss);
  return best;
}

// [group-transform] The exponent moves by at most the radius times its largest derivative.
double GroupNodes::Around::log_largest(double power, double t) const {
  const double size = std::abs(power * loss_slope.centre) + std::abs(density_slope.centre);
  const double slope = std::abs(power * loss_slope.centre + density_slope.centre) + std::abs(power) * loss_slope.radius +
                       density_slope.radius + t * loss_slope.largest() + bound_relative_slack * size;
  const double centre = power * loss + log_density;
  return centre + radius * slope + bound_relative_slack * (std::abs(power * loss) + std::abs(log_density));
}

std::optional<GroupNodes::Around> GroupNodes::around(const Piece& piece, double centre, double radius) const {
  const auto there = curve_.along(piece, Disc{centre, radius});
  if (!(there.loss_slope.radius < infinity) || !(there.density_slope.radius < infinity)) return std::nullopt;
  return Around{radius, there.loss.centre, there.log_density.centre, there.loss_slope, there.density_slope};
}

/// Adds discs until the demands are met; false if they are not.
bool GroupNodes::fits(Panel& panel, const std::vector<PanelDemand>& demands) const {
  const double half = half_of(panel.from, panel.to), centre = centre_between(panel.from, panel.to);
  const auto met = [&](const PanelDemand& d) { return log_panel_error(panel, d.power, d.t) < d.level; };
  for (const double ratio : panel_discs) {
    const auto there = around(*panel.piece, centre, ratio * half * group_margin);
    if (!there) continue;
    const double sum = ratio + std::sqrt(ratio * ratio - 1);  // of the half axes of the ellipse inside the disc
    panel.bounds.push_back({std::log(4.01 * half / (ratio > 1 ? 1 - 1 / (sum * sum) : 1)) - 64 * std::log(sum), ratio == 1, *there});
    if (std::all_of(demands.begin(), demands.end(), met)) return true;
  }
  return false;
}

double GroupNodes::log_panel_error(const Panel& panel, double power, double t) {
  double total = -infinity;
  for (const double p : {power, 1 - power}) {
    double best = infinity;
    for (const Bound& bound : panel.bounds) best = std::min(best, bound.log_factor + bound.around.log_largest(p, bound.is_real ? 0 : t));
    total = log_sum(total, best);
  }
  return total + bound_slack;
}

// [group-transform] Beyond the last panel, where losses are positive: cell by cell, and from the last cell on in closed form.
double GroupNodes::log_tail(double power) const {
  if (beyond_.empty()) return -infinity;
  double total = -infinity;
  for (const double p : {std::max(0.0, power), std::max(0.0, 1 - power)}) {
    double largest = -infinity;
    for (std::size_t i = left_out_; i + 1 < beyond_.size(); ++i) largest = std::max(largest, beyond_[i].log_mass + p * beyond_[i].loss);
    largest += std::log(static_cast<double>(beyond_.size()));
    total = log_sum(total, log_sum(largest, curve_.log_tail(p, beyond_.back().from)));
  }
  return total + bound_slack;
}

double GroupNodes::log_error(double power, double t, const Sum&) const {
  double largest = -infinity;
  for (const Panel& panel : panels_) largest = std::max(largest, log_panel_error(panel, power, t));
  // The sum over the panels is at most their number times the largest term.
  double total = log_sum(largest + std::log(static_cast<double>(panels_.size()) + 1), log_tail(power));
  for (const IteratedCurve::Sliver& sliver : curve_.slivers())
    for (const double p : {power, 1 - power}) {
      const double change = sliver.mass * sliver.change * std::hypot(p, t);
      total = log_sum(total, std::log(change + 1e-300) + std::max(p * sliver.loss.lo, p * sliver.loss.hi) + bound_slack);
    }
  return total + log_scale_.hi + bound_slack;
}

// A heuristic; log_error bounds the error of the panels.
bool GroupNodes::place_panels(const Range& range, double furthest) {
  const std::vector<PanelDemand> demands = demands_of(range, furthest, [this](double power) { return log_peak(power); });
  for (const Piece& piece : curve_.pieces()) {
    if (piece.is_constant()) continue;
    Interval to = piece.to;
    if (!(to.lo < infinity)) {
      const auto small = [&](const PanelDemand& d) { return log_tail(d.power) < d.level; };
      for (left_out_ = 1; left_out_ + 1 < beyond_.size() && !std::all_of(demands.begin(), demands.end(), small);) ++left_out_;
      to = Interval::exactly(beyond_[left_out_].from);
    }
    if (!split({&piece, piece.from, to, {}}, demands)) return false;
  }
  return true;
}

bool GroupNodes::split(Panel panel, const std::vector<PanelDemand>& demands) {
  if (panels_.size() >= most_panels) return false;
  const double middle = centre_between(panel.from, panel.to);
  if (fits(panel, demands)) {
    panels_.push_back(std::move(panel));
    return true;
  }
  if (!(middle > panel.from.hi + 1e-9 * std::abs(middle)) || !(middle < panel.to.lo)) return false;
  const Interval between = Interval::exactly(middle);
  return split({panel.piece, panel.from, between, {}}, demands) && split({panel.piece, between, panel.to, {}}, demands);
}

void GroupNodes::add_node(Interval loss, Interval log_weight) {
  const double l = middle_of(loss), weight = middle_of(log_weight);
  nodes_.loss.push_back(l);
  nodes_.loss_error.push_back(0.5 * loss.width() + 2 * unit_roundoff * std::abs(l));
  nodes_.loss_tail.push_back(exponential_tail(l));
  nodes_.log_weight.push_back(weight);
  nodes_.log_weight_error.push_back(0.5 * log_weight.width() + 4 * unit_roundoff * (2 + std::abs(weight)));
  nodes_.weight.push_back(std::exp(weight));
}

/// A point along a piece, with the weight of the rule, and its mirror image.
void GroupNodes::add_point(const Piece& piece, Interval parameter, Interval log_share) {
  const auto here = curve_.along(piece, parameter);
  const Interval log_weight = log_share + here.log_density + log_scale_;
  add_node(here.loss, log_weight);
  add_node(-here.loss, log_weight + here.loss);
}

void GroupNodes::add_atom(const Piece& piece) {
  const std::size_t first = nodes_.loss.size();
  add_point(piece, 0.5 * (piece.from + piece.to), log(piece.to - piece.from));
  for (std::size_t i = first; i < nodes_.loss.size(); ++i)
    atoms_.push_back({nodes_.loss[i], nodes_.loss_error[i], nodes_.log_weight[i] + nodes_.log_weight_error[i]});
}

// [group-transform] The density of the loss is that of the parameter over the slope of the loss. The derivative of the slope on a cell is
// bounded by its change over a disc with twice the radius.
void GroupNodes::add_cells(const Panel& panel) {
  const double left = panel.from.lo, length = (panel.to.hi - left) / cells_of_group_panel;
  for (int i = 0; i < cells_of_group_panel; ++i) {
    const double centre = left + (i + 0.5) * length, radius = 0.5 * length * group_margin;
    const auto near = around(*panel.piece, centre, radius), wide = around(*panel.piece, centre, 2 * radius);
    const double least = near ? std::abs(near->loss_slope.centre) - near->loss_slope.radius : 0;
    const bool known = least > 0 && wide;
    cells_.push_back({panel.piece, near, known ? least : 0, known ? wide->loss_slope.radius / (radius * least) * group_margin : 0});
  }
}

void GroupNodes::fill(bool rough) {
  for (const Piece& piece : curve_.pieces())
    if (piece.is_constant()) add_atom(piece);
  for (const Panel& panel : panels_) {
    const Interval centre = 0.5 * (panel.from + panel.to), half = 0.5 * (panel.to - panel.from), log_half = log(half);
    for_each_abscissa([&](double node, double weight) {
      const Interval share{weight * (1 - 2 * unit_roundoff), weight * (1 + 2 * unit_roundoff)};
      const Interval place{node - unit_roundoff, node + unit_roundoff};
      if (!rough) return add_point(*panel.piece, centre + half * place, log_half + log(share));
      const auto here = curve_.along(*panel.piece, middle_of(centre) + middle_of(half) * node);
      const Interval log_weight = Interval::exactly(std::log(middle_of(half) * weight) + here.log_density + log_scale_.lo);
      add_node(Interval::exactly(here.loss), log_weight);
      add_node(Interval::exactly(-here.loss), log_weight + here.loss);
    });
    if (!rough) add_cells(panel);
  }
  sort_by_loss();
}

double GroupNodes::log_rest(double power) const {
  double total = log_tail(power);
  for (const double p : {power, 1 - power}) {
    for (const Cell& cell : cells_)
      if (!(cell.least_slope > 0))
        total = log_sum(total, cell.around ? std::log(2 * cell.around->radius) + cell.around->log_largest(p, 0) : infinity);
    for (const IteratedCurve::Sliver& sliver : curve_.slivers())
      total = log_sum(total, std::log(sliver.mass + 1e-300) + std::max(p * sliver.loss.lo, p * sliver.loss.hi));
  }
  return total + log_scale_.hi + bound_slack;
}

double GroupNodes::log_atoms(double power) const {
  double total = log_rest(power);
  for (const Atom& atom : atoms_) total = log_sum(total, atom.log_mass + power * atom.loss + std::abs(power) * atom.loss_error);
  return total + bound_slack;
}

// [group-transform] The variation on a cell is at most its length times the largest |f'| there. At the ends of a piece, and beside cells
// that count as atoms, f jumps by at most its value.
double GroupNodes::log_variation(double power) const {
  double total = -infinity;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    if (!(cell.least_slope > 0)) continue;
    const auto joins = [&](std::size_t other) {
      return other < cells_.size() && cells_[other].piece == cell.piece && cells_[other].least_slope > 0;
    };
    const double jumps = (joins(i - 1) ? 0 : 1) + (joins(i + 1) ? 0 : 1);
    const Around& around = *cell.around;
    for (const double p : {power, 1 - power}) {
      const double slope = std::abs(p) * around.loss_slope.largest() + around.density_slope.largest() + cell.bend;
      total = log_sum(total, around.log_largest(p, 0) + std::log((2 * around.radius * slope + jumps) / cell.least_slope * group_margin));
    }
  }
  return total + log_scale_.hi + bound_slack;
}

}  // namespace tradeoff::detail
