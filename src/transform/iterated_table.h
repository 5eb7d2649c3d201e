// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "transform/iterated_curve.h"

namespace tradeoff::detail {

/// An iterated curve by Chebyshev polynomials along its pieces, with proved errors: a value of its profile takes less than a microsecond.
/// [group-table]
class IteratedTable {
 public:
  /// `curve` must outlive it.
  explicit IteratedTable(const IteratedCurve& curve);

  /// Encloses delta at epsilon >= 0. Empty where the table says nothing: far in the tail.
  [[nodiscard]] std::optional<Interval> delta(double epsilon) const;

 private:
  static constexpr std::size_t terms = 24;
  using Piece = IteratedCurve::Piece;
  /// A function on a panel: the value in the centre plus a Chebyshev series, within `error`.
  struct Function {
    double centre = 0;
    std::array<double, terms> series{};
    double error = 0;
    [[nodiscard]] double at(double place) const;  ///< place in [-1, 1]
  };
  /// A part of a piece. The level increases, and the loss falls, from the first to the last parameter.
  struct Panel {
    const Piece* piece;
    double centre, half;
    double first, last;
    double doubt;  ///< how far an end may be from that of the piece
    Function loss, gain;
    double first_loss, last_loss;
    double density_slope;  ///< the largest, of the logarithm
    double least_slope;    ///< of the loss; 0 if the loss is constant or none is known
    [[nodiscard]] double length() const { return 2 * half * (1 + 1e-9); }
  };
  /// A part of a piece whose panels are made when they are first used. The same for every question.
  struct Cell {
    const Piece* piece;
    Interval from, to;
    double last_loss;  ///< for searches
    mutable std::once_flag made{};
    mutable std::optional<std::vector<Panel>> panels{};
  };

  void add_cell(const Piece& piece, Interval from, Interval to);
  [[nodiscard]] const std::vector<Panel>* panels_of(std::size_t cell) const;
  [[nodiscard]] bool add(const Piece& piece, Interval from, Interval to, std::vector<Panel>& panels) const;
  [[nodiscard]] std::optional<Panel> make_panel(const Piece& piece, Interval from, Interval to) const;
  [[nodiscard]] static double parameter_of(const Panel& panel, double loss);
  [[nodiscard]] double level_change(const Panel& panel, double x, double move) const;
  [[nodiscard]] std::optional<double> change_across(std::size_t cell, const Panel& panel, double epsilon) const;

  const IteratedCurve& curve_;
  std::deque<Cell> cells_;  // in the order of falling losses
  double first_loss_ = 0;
};

}  // namespace tradeoff::detail
