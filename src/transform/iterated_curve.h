// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "transform/steep_half.h"

namespace tradeoff::detail {

/// A point alpha of the unit interval: the logarithm of alpha or, if not `left`, of 1 - alpha.
template <class T>
struct Level {
  bool left = true;
  T log_mass{};
};

/// The power function h = 1 - f of a sampled symmetric pair, iterated `size` times. Its loss at alpha is the sum of the losses at alpha,
/// h(alpha), h(h(alpha)), ... [group-transform]
class IteratedCurve {
 public:
  /// Needs size >= 2 and a curve that `is_known`. Without pieces only `chain` and what belongs to it can be used.
  IteratedCurve(const SampledCurve& curve, std::size_t size);
  [[nodiscard]] static bool is_known(const SampledCurve& curve);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The mass of infinite losses, and an upper bound of the finite losses.
  [[nodiscard]] Interval infinite_mass() const { return infinite_mass_; }
  [[nodiscard]] double largest_loss() const;

  /// The losses of the chain from a level, each of them that of a line of support there, and the last level. Proved.
  struct Chain {
    std::vector<Interval> losses;
    Level<Interval> end;
  };
  [[nodiscard]] Chain chain(Level<Interval> start) const;
  /// The sum of the losses, and its derivative with respect to log alpha, for searches.
  struct Slope {
    double loss, slope;
  };
  [[nodiscard]] Slope rough_loss(double log_alpha) const;
  /// The level up to which losses are not negative: that of the mirror images begins there.
  [[nodiscard]] double log_middle() const { return middle_of(middle_.log_mass); }

  /// The parts of the unit interval, from the left: the atom at the largest loss, the steep half, the losses 0, and the mirror images.
  enum class Region { top, steep, zero, flat, bottom };

  /// Levels up to the middle whose chains pass through the same regions. The parameter is that of the steep half if the first region is
  /// steep, and alpha otherwise.
  struct Piece {
    std::vector<Region> regions;
    Interval from, to;       ///< of the parameter: enclosures of the ends; the upper one may be infinite
    bool continued = false;  ///< over a sliver
    [[nodiscard]] bool is_steep() const { return regions.front() == Region::steep; }
    [[nodiscard]] bool is_constant() const;
  };
  /// A piece that is too narrow to be told from rounding: its neighbour is continued over it, which changes the loss by at most `change`.
  struct Sliver {
    double mass, change;
    Interval loss;
  };
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] const std::vector<Sliver>& slivers() const { return slivers_; }

  /// Along a piece: the loss, the logarithm of the density of alpha and, but for intervals, their derivatives with respect to the
  /// parameter; and the logarithm of the last level over the first.
  template <class T>
  struct Along {
    T loss{}, log_density{};
    T loss_slope{}, density_slope{};
    T gain{};
  };
  template <class T>
  [[nodiscard]] Along<T> along(const Piece& piece, T parameter) const;

  /// The logarithm of alpha at a parameter.
  [[nodiscard]] Interval log_level(const Piece& piece, double parameter) const {
    const Interval here = Interval::exactly(parameter);
    return piece.is_steep() ? proved_.log_false(here) : log(here);
  }
  /// The logarithm of its density at a parameter of the steep half, in plain doubles.
  [[nodiscard]] double log_density(double parameter) const { return rough_.log_density(parameter); }
  /// Beyond a parameter of the unbounded piece: the logarithm of the mass, and `size` times the loss of the first record, in plain doubles.
  struct Beyond {
    double log_mass, loss;
  };
  [[nodiscard]] Beyond beyond(double parameter) const {
    return {rough_.log_false(parameter), static_cast<double>(size_) * rough_.loss(parameter)};
  }
  /// log of a bound of the integral of exp(power * loss) over all levels beyond the parameter of the first piece; power >= 0.
  [[nodiscard]] double log_tail(double power, double parameter) const;

 private:
  /// A chain up to a level. Within the steep half the level is described by the first parameter there and what log h gained since.
  template <class T>
  struct State {
    Level<T> level;
    T slope{};  // of the logarithm of the mass
    T loss{}, loss_slope{};
    bool steep = false;
    T first{}, first_slope{};
    T gain{}, ratio{};  // the product of the ratios of the hazards
    T whole_gain{};     // since the start of the chain, while it is left of the middle
    bool gains = true;
  };
  struct Link {
    Interval loss;
    Level<Interval> next;
  };
  /// A level between two regions, from both ends of the unit interval.
  struct Border {
    Interval log_left, log_right;
    Region before, after;
  };
  /// Two levels between which a piece lies, as logarithms of alpha.
  struct Gap {
    Interval from, to;
  };

  template <class T>
  [[nodiscard]] const SteepHalf<T>& half() const;
  template <class T>
  [[nodiscard]] T inverse(bool of_true, T log_mass, std::optional<double> guess = std::nullopt) const;
  [[nodiscard]] double rough_inverse(bool of_true, double log_mass, double guess) const;
  template <class T>
  void advance(Region region, State<T>& state) const;
  template <class T>
  void advance_steep(State<T>& state) const;
  template <class T>
  void leave_steep(State<T>& state) const;
  template <class T>
  void turn(State<T>& state, bool left) const;
  /// A later parameter in the steep half, and the hazard at the first one over that at this one.
  template <class T>
  struct Moved {
    T parameter, ratio;
  };
  template <class T>
  [[nodiscard]] Moved<T> moved(T first, T gain) const;
  void find_borders(const SampledCurve& curve);
  [[nodiscard]] Region region_of(Level<double> level) const;
  [[nodiscard]] std::optional<Region> sure_region(Level<Interval> level) const;
  [[nodiscard]] Link link_in(Region region, Level<double> level) const;
  [[nodiscard]] Link link_at(Level<double> level) const;
  [[nodiscard]] Link link(Level<Interval> level) const;
  [[nodiscard]] Level<Interval> preimage(Level<Interval> level, std::size_t times) const;
  [[nodiscard]] std::vector<Interval> breaks() const;
  void find_pieces();
  [[nodiscard]] std::optional<std::vector<Region>> regions_from(double log_alpha) const;
  [[nodiscard]] Interval parameter_at(Interval log_alpha, bool steep) const;
  void absorb(Piece& neighbour, const Gap& gap);

  SteepHalf<double> rough_;
  SteepHalf<Interval> proved_;
  SteepHalf<Disc> analytic_;
  std::size_t size_;
  double least_parameter_, largest_parameter_;  // for searches
  Interval largest_;                            // the largest loss of one record
  Interval infinite_;                           // its mass of infinite losses
  Interval shift_;                              // h(alpha) - alpha between the halves
  std::vector<Border> borders_;
  Level<Interval> middle_;
  std::vector<Piece> pieces_;
  std::vector<Sliver> slivers_;
  Interval infinite_mass_;
};

}  // namespace tradeoff::detail
