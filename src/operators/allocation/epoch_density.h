// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "loss/loss.h"
#include "operators/allocation/density_bounds.h"
#include "operators/allocation/log_mean_law.h"
#include "operators/allocation/mean_density.h"
#include "operators/allocation/replaced_law.h"

namespace tradeoff::detail::allocation {

/// The deviation of the noise in the events of an epoch, in units of the smoothing of its loss.
inline constexpr double event_noise = 0.5;

/// The density of the privacy loss of one epoch of random allocation under Q, at multiples of a step, and bounds of what lies beyond.
/// [allocation-epochs]
class EpochDensity {
 public:
  /// Beyond the places lies about exp(log_mass), under either distribution. Without places if there would be too many.
  EpochDensity(Interval mu, std::uint64_t steps, double log_mass);
  /// The same for a record that is replaced, as far as its law can be known. [allocation-replaced-law]
  EpochDensity(Interval mu, std::uint64_t steps, double log_mass, ReplacedLaw& law);

  [[nodiscard]] bool known() const { return !place_.empty(); }
  /// Whether the density is that of [allocation-mean-law], not of [allocation-doubling].
  [[nodiscard]] bool by_contour() const { return by_contour_; }
  /// g: the loss is the sum of a Gaussian of this deviation and of something independent of it.
  [[nodiscard]] double smoothing() const { return g_; }
  [[nodiscard]] double step() const { return step_; }
  [[nodiscard]] const std::vector<double>& place() const { return place_; }
  [[nodiscard]] const std::vector<double>& log_density() const { return log_density_; }
  /// Of the logarithms.
  [[nodiscard]] const std::vector<double>& error() const { return error_; }
  /// By how much the loss may differ if mu is another number of its interval.
  [[nodiscard]] double place_error() const { return place_error_; }
  /// What lies before the first place, or beyond the last one.
  struct Rest {
    double mass = 1, mean = 1;  ///< upper bounds of its probability under Q and P
    double log_density = 0;     ///< an upper bound of the density there
  };
  [[nodiscard]] const Rest& before() const { return before_; }
  [[nodiscard]] const Rest& beyond() const { return beyond_; }
  /// As far as an event may reach: noise beyond it needs the places that follow.
  [[nodiscard]] double first_end() const { return first_end_; }
  [[nodiscard]] double last_end() const { return last_end_; }
  /// What making it took, in units of Work.
  [[nodiscard]] double work() const { return work_; }

  /// Encloses delta of the pair, and the error rates of the test that the loss exceeds epsilon, from its integrals. [allocation-profile]
  [[nodiscard]] Interval delta(Direction direction, double epsilon) const;
  [[nodiscard]] std::optional<LikelihoodRatioTest> test_at(Direction direction, double epsilon) const;
  /// About delta, for searches.
  [[nodiscard]] double rough_delta(Direction direction, double epsilon) const;

 private:
  void take(const LogMeanLaw& law);
  void take(const MeanDensity& law);
  void clear_places();
  void add_place(double place, double log_density, double error);

  /// A number and a bound of its error.
  struct Sum {
    double value = 0, error = 0;
    friend Sum operator+(Sum a, Sum b) { return {a.value + b.value, a.error + b.error}; }
    friend Sum operator*(Sum a, double b) { return {a.value * b, a.error * b}; }
  };
  struct Cell;
  [[nodiscard]] Cell cell(std::size_t i) const;
  template <class Kernel>
  [[nodiscard]] Sum over(const Cell& cell, double from, double to, Kernel&& kernel) const;
  /// Logarithms of bounds of the probabilities of a tail, under Q and P.
  struct Tail {
    double log_mass = 0, log_mean = 0;
  };
  /// What is known of a tail, from bounds at its end and a little nearer.
  [[nodiscard]] Rest rest(Tail tail, Tail nearer) const;
  void integrate(Tail below, Tail above);
  /// delta, and P and Q of losses beyond epsilon, P and Q in the order of the direction.
  struct Read {
    bool known = false;
    Sum delta, p, q;
  };
  [[nodiscard]] Read read(Direction direction, double epsilon) const;

  double g_ = 0, step_ = 0;
  bool by_contour_ = false;
  std::vector<double> place_, log_density_, error_;
  std::size_t first_cell_ = 0, last_cell_ = 0;  // cells that can be interpolated
  // At every place l: Q(L > l), E_Q(w - e^l; L > l), E_Q(w; L < l) and E_Q(1 - w e^-l; L < l).
  std::vector<Sum> above_, excess_, mean_below_, deficit_;
  double place_error_ = 0;
  Rest before_, beyond_;
  std::optional<DensityBounds> bounds_;
  double first_end_ = 0, last_end_ = 0, work_ = 0;
};

}  // namespace tradeoff::detail::allocation
