// SPDX-License-Identifier: Apache-2.0
#include "transform/iterated_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/sum.h"

// [group-table]
namespace tradeoff::detail {
namespace {

constexpr std::array<double, 3> table_discs{2.0, 1.5, 3.0};  // radii of the discs around a panel, in units of its half length
constexpr double table_accuracy = 4e-15;                     // error of the polynomials, relative to the function
constexpr double table_margin = 1 + 1e-9;
constexpr double near_enough = 1e-8;  // of the loss at a level, relative to its range on the panel: the error of delta is quadratic in it
constexpr double furthest_log_level = -740;                    // log alpha up to which an unbounded piece is covered: then delta underflows
constexpr std::size_t most_panels_of_cell = 100;               // of a cell
constexpr double lebesgue = 3.1;                               // 1 + (2/pi) log 24, for errors of the values at the points
constexpr double coefficient_roundings = 256 * unit_roundoff;  // of all coefficients, relative to the range of the function

struct ChebyshevPoints {
  std::array<double, 24> place;
  std::array<std::array<double, 24>, 24> cosine;  // cos(k angle_j)
};
/// cos(turn pi/48) within 3u: the argument of cos or sin is at most pi/4.
double cosine_of(std::size_t turn) {
  turn %= 96;
  if (turn > 48) turn = 96 - turn;
  if (turn > 24) return -cosine_of(48 - turn);
  const auto angle = [](std::size_t part) { return static_cast<double>(part) * (std::numbers::pi / 48); };
  return turn <= 12 ? std::cos(angle(turn)) : std::sin(angle(24 - turn));
}
const ChebyshevPoints& chebyshev_points() {
  static const ChebyshevPoints made = [] {
    ChebyshevPoints all;
    for (std::size_t j = 0; j < 24; ++j) {
      all.place[j] = cosine_of(2 * j + 1);
      for (std::size_t k = 0; k < 24; ++k) all.cosine[k][j] = cosine_of(k * (2 * j + 1));
    }
    return all;
  }();
  return made;
}

/// A bound of the rounding errors of `at`, the place included, for a computed place in [-1, 1]. [group-table]
double evaluation_error(const std::array<double, 24>& series) {
  double sum = 0, next = 0, total = 0;  // of the moduli from k on; of the numbers of the recurrence
  for (std::size_t k = series.size(); k-- > 0;) {
    const double order = static_cast<double>(k), size = std::abs(series[k]);
    total += 8 * unit_roundoff * (next + size) + 4 * unit_roundoff * order * order * size;
    sum += size;
    next += sum;
  }
  return total;
}

/// The error of the interpolation of a function that deviates by at most `size` on a disc of this radius, in half lengths.
double interpolation_error(double size, double ratio) {
  const double sum = ratio + std::sqrt(ratio * ratio - 1);
  return 4 * size * std::pow(sum, -24) / (1 - 1 / sum) * table_margin;
}

}  // namespace

double IteratedTable::Function::at(double place) const {
  double next = 0, after = 0;
  for (std::size_t k = terms - 1; k > 0; --k) {
    const double here = 2 * place * next - after + series[k];
    after = next;
    next = here;
  }
  return centre + (place * next - after + series[0]);
}

IteratedTable::IteratedTable(const IteratedCurve& curve) : curve_(curve) {
  for (const Piece& piece : curve.pieces()) {
    if (piece.to.lo < infinity) {
      add_cell(piece, piece.from, piece.to);
      continue;
    }
    std::vector<double> cuts;
    double x = piece.from.hi;
    while (curve.beyond(x).log_mass > furthest_log_level) cuts.push_back(x += 0.5 + 0.25 * x);
    if (!cuts.empty()) first_loss_ = curve.along(piece, cuts.back()).loss;
    for (std::size_t i = cuts.size(); i-- > 0;)
      add_cell(piece, i == 0 ? piece.from : Interval::exactly(cuts[i - 1]), Interval::exactly(cuts[i]));
  }
  if (first_loss_ == 0 && !cells_.empty()) first_loss_ = cells_.front().last_loss;  // the largest loss
}

void IteratedTable::add_cell(const Piece& piece, Interval from, Interval to) {
  Cell& cell = cells_.emplace_back();
  cell.piece = &piece;
  cell.from = from;
  cell.to = to;
  cell.last_loss = curve_.along(piece, middle_of(piece.is_steep() ? from : to)).loss;
}

const std::vector<IteratedTable::Panel>* IteratedTable::panels_of(std::size_t cell) const {
  const Cell& one = cells_[cell];
  std::call_once(one.made, [&] {
    std::vector<Panel> panels;
    // On a sliver the chain of its neighbour is not the true one.
    if (!one.piece->continued && add(*one.piece, one.from, one.to, panels)) one.panels = std::move(panels);
  });
  return one.panels ? &*one.panels : nullptr;
}

/// Adds panels in the order of increasing levels; false if there would be too many.
bool IteratedTable::add(const Piece& piece, Interval from, Interval to, std::vector<Panel>& panels) const {
  if (auto panel = make_panel(piece, from, to)) {
    panels.push_back(std::move(*panel));
    return true;
  }
  const double middle = 0.5 * (middle_of(from) + middle_of(to));
  if (panels.size() >= most_panels_of_cell || !(middle > from.hi + 1e-9 * std::abs(middle)) || !(middle < to.lo)) return false;
  const Interval between = Interval::exactly(middle);
  const bool falls = piece.is_steep();  // the level falls with the parameter
  return add(piece, falls ? between : from, falls ? to : between, panels) &&
         add(piece, falls ? from : between, falls ? between : to, panels);
}

std::optional<IteratedTable::Panel> IteratedTable::make_panel(const Piece& piece, Interval from, Interval to) const {
  const double centre = 0.5 * (middle_of(from) + middle_of(to)), half = 0.5 * (to.hi - from.lo) * table_margin;
  Panel panel{&piece, centre, half, from.hi, to.lo, from.width() + to.width() + 4 * unit_roundoff * std::abs(centre), {}, {}, 0, 0, 0, 0};
  if (piece.is_steep()) std::swap(panel.first, panel.last);
  const auto here = curve_.along(piece, Interval::exactly(centre));
  panel.loss.centre = middle_of(here.loss);
  panel.gain.centre = middle_of(here.gain);
  double loss_error = infinity, gain_error = infinity;
  for (const double ratio : table_discs) {
    const auto there = curve_.along(piece, Disc{centre, ratio * half * table_margin});
    loss_error = std::min(loss_error, interpolation_error(ratio * half * there.loss_slope.radius, ratio));
    gain_error = std::min(gain_error, interpolation_error(there.gain.radius, ratio));
    if (loss_error <= table_accuracy * panel.loss.centre && gain_error <= table_accuracy * panel.gain.centre) break;
  }
  if (!(loss_error <= table_accuracy * std::abs(panel.loss.centre) + 1e-300) ||
      !(gain_error <= table_accuracy * std::abs(panel.gain.centre) + 1e-300))
    return std::nullopt;
  std::array<double, terms> loss{}, gain{};
  double loss_doubt = 0, gain_doubt = 0, loss_range = 0, gain_range = 0;
  for (std::size_t j = 0; j < terms; ++j) {
    const double place = chebyshev_points().place[j], away = 6 * unit_roundoff * (std::abs(centre) + half);
    const auto value = curve_.along(piece, Interval::exactly(centre + half * place) + Interval{-away, away});
    loss[j] = middle_of(value.loss) - panel.loss.centre;
    gain[j] = middle_of(value.gain) - panel.gain.centre;
    loss_doubt = std::max(loss_doubt, 0.5 * value.loss.width() + 2 * unit_roundoff * std::abs(value.loss.hi));
    gain_doubt = std::max(gain_doubt, 0.5 * value.gain.width() + 2 * unit_roundoff * std::abs(value.gain.hi));
    loss_range = std::max(loss_range, std::abs(loss[j]));
    gain_range = std::max(gain_range, std::abs(gain[j]));
  }
  for (std::size_t k = 0; k < terms; ++k) {
    numeric::CompensatedSum loss_sum, gain_sum;
    for (std::size_t j = 0; j < terms; ++j) {
      loss_sum.add(loss[j] * chebyshev_points().cosine[k][j]);
      gain_sum.add(gain[j] * chebyshev_points().cosine[k][j]);
    }
    const double scale = (k == 0 ? 1.0 : 2.0) / static_cast<double>(terms);
    panel.loss.series[k] = scale * middle_of(loss_sum.enclosure());
    panel.gain.series[k] = scale * middle_of(gain_sum.enclosure());
  }
  panel.loss.error = (loss_error + lebesgue * loss_doubt + coefficient_roundings * loss_range + evaluation_error(panel.loss.series) +
                      4 * unit_roundoff * std::abs(panel.loss.centre)) *
                     table_margin;
  panel.gain.error = (gain_error + lebesgue * gain_doubt + coefficient_roundings * gain_range + evaluation_error(panel.gain.series) +
                      4 * unit_roundoff * std::abs(panel.gain.centre)) *
                     table_margin;
  panel.first_loss = panel.loss.at((panel.first - centre) / half);
  panel.last_loss = panel.loss.at((panel.last - centre) / half);
  const auto near = curve_.along(piece, Disc{centre, half * table_margin});
  panel.density_slope = near.density_slope.largest() * table_margin;
  panel.least_slope = std::max(0.0, std::abs(near.loss_slope.centre) - near.loss_slope.radius);
  return panel;
}

/// For a search: about where the polynomial of the loss has this value. Regula falsi; the weight of an end that stays twice is halved.
double IteratedTable::parameter_of(const Panel& panel, double loss) {
  double one = panel.first, other = panel.last, at_one = panel.first_loss - loss, at_other = panel.last_loss - loss, x = one;
  const double enough = std::max(2 * panel.loss.error, near_enough * (panel.first_loss - panel.last_loss));
  int kept = 0;
  for (int i = 0; i < 40 && at_one > 0 && at_other < 0; ++i) {
    x = one + (other - one) * (at_one / (at_one - at_other));
    const double here = panel.loss.at((x - panel.centre) / panel.half) - loss;
    if (std::abs(here) <= enough) break;
    (here > 0 ? one : other) = x;
    (here > 0 ? at_one : at_other) = here;
    if (here > 0) {
      if (kept == 1) at_other *= 0.5;
      kept = 1;
    } else {
      if (kept == -1) at_one *= 0.5;
      kept = -1;
    }
  }
  return std::clamp(x, std::min(panel.first, panel.last), std::max(panel.first, panel.last));
}

/// A bound of the change of alpha while the parameter moves so far from `x`.
double IteratedTable::level_change(const Panel& panel, double x, double move) const {
  if (!panel.piece->is_steep()) return move;
  return std::exp(curve_.log_density(x) + panel.density_slope * move) * move * table_margin;
}

/// The same across the start of the first panel of a cell, for an epsilon between the losses on both sides of it.
std::optional<double> IteratedTable::change_across(std::size_t cell, const Panel& panel, double epsilon) const {
  const std::vector<Panel>* others = cell > 0 ? panels_of(cell - 1) : nullptr;
  if (others == nullptr) return std::nullopt;
  const Panel& before = others->back();
  if (!(before.last_loss - epsilon > 4 * before.loss.error)) return std::nullopt;  // the loss may be smaller before the end of that panel
  return (level_change(panel, panel.first, 2 * panel.doubt) + level_change(before, before.last, 2 * before.doubt)) * table_margin;
}

// [group-table] Every level gives a bound from below; it is off by at most the change of alpha to the best level, times that of e^l.
std::optional<Interval> IteratedTable::delta(double epsilon) const {
  if (!(epsilon < first_loss_)) return std::nullopt;
  const auto cell = std::partition_point(cells_.begin(), cells_.end(), [&](const Cell& one) { return one.last_loss > epsilon; });
  if (cell == cells_.end()) return std::nullopt;
  const auto number = static_cast<std::size_t>(cell - cells_.begin());
  const std::vector<Panel>* panels = panels_of(number);
  if (panels == nullptr) return std::nullopt;
  const auto found = std::partition_point(panels->begin(), panels->end(), [&](const Panel& panel) { return panel.last_loss > epsilon; });
  if (found == panels->end()) return std::nullopt;
  const Panel& panel = *found;
  const bool between = found == panels->begin() && epsilon - panel.first_loss > 4 * panel.loss.error;
  const double x = between ? panel.first : parameter_of(panel, epsilon), place = (x - panel.centre) / panel.half;
  const double gain = panel.gain.at(place), doubt = (std::abs(panel.loss.at(place) - epsilon) + panel.loss.error) * table_margin;
  std::optional<double> change;
  if (between) {
    change = change_across(number, panel, epsilon);
  } else if (const double move = doubt / panel.least_slope; move < std::min(std::abs(x - panel.first), std::abs(x - panel.last))) {
    change = level_change(panel, x, move);
  }
  if (!change) return std::nullopt;
  const Interval point = Interval::exactly(epsilon), gained{gain - panel.gain.error, gain + panel.gain.error};
  const Interval below = exp(curve_.log_level(*panel.piece, x) + point) * expm1(gained - point);
  const double above = (below + exp(point) * expm1(Interval::exactly(doubt)) * Interval::exactly(*change)).hi;
  return Interval{std::max(0.0, below.lo), std::clamp(above, 0.0, 1.0)};
}

}  // namespace tradeoff::detail
