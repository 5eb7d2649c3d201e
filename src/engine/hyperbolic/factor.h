// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/hyperbolic/expansion.h"
#include "engine/hyperbolic/noise.h"

namespace tradeoff::detail::hyperbolic {

/// The logarithm of a complex number, with a bound on its error.
struct LogValue {
  double real = 0;
  double phase = 0;
  double error = 0;
  bool known = true;  ///< false: `real` is an upper bound and the phase is unknown
};

/// How many of `times` steps have noise beyond the window. The three cases make up the whole distribution. [bent-split]
enum class TailSteps { none, one, more, any };

/// The noise of a step cut by a window, prepared for the real axis.
struct Cut {
  Window bulk;
  Window tail;
  RealNoise bulk_noise;
  RealNoise tail_noise;
  std::optional<RealNoise> mirror_noise;  // noise of the negative losses of a sample of fixed size; it is not cut

  Cut(const SubsampledSteps& steps, double centre, double width);
};

/// The noise of the negative losses, if the step has a separate transform for them. [sampled-plane]
[[nodiscard]] std::optional<RealNoise> mirror_noise(const SubsampledSteps& steps);

/// J(p)^times for one kind of subsampled Gaussian step, or the part of it in which a given number of steps is in the tail.
class StepFactor {
 public:
  /// `mirror` is null for Poisson sampling.
  StepFactor(const SubsampledSteps& steps, const RealNoise& whole, const RealNoise* mirror = nullptr);
  StepFactor(const SubsampledSteps& steps, std::shared_ptr<const Cut> cut, TailSteps count);

  /// A fast approximation on the real axis.
  [[nodiscard]] double log_real(double s) const;
  /// Makes the noise planes for contours that cross the real axis between the two points.
  void prepare(double low, double high, double margin, bool remainder = false);
  /// log of a bound on the hull of at most three points, Im s >= 0; at one point also a bound on the ray above it.
  [[nodiscard]] double log_majorant(std::span<const Complex> hull);
  [[nodiscard]] LogValue evaluate(Complex s);
  /// log M^times - times variance s (s+1) / 2, where M is the transform of one step including its break. Only for a factor that is not cut.
  /// [bent-remainder]
  [[nodiscard]] Plain evaluate_remainder(Complex s);
  /// A fast approximation of the same on the real axis.
  [[nodiscard]] double real_remainder(double s) const;
  /// Encloses E(dP/dQ - 1)^2 of one step.
  [[nodiscard]] Interval variance() const;
  [[nodiscard]] double times() const { return steps_->times; }
  [[nodiscard]] std::uint64_t work() const;

 private:
  [[nodiscard]] double real_exponent(double s) const { return steps_->remove ? 1 + s : -s; }
  /// log of the sum over the chosen numbers k of tail steps of (times over k) exp((times - k) bulk + k tail).
  [[nodiscard]] double combine(double bulk, double tail) const;
  [[nodiscard]] LogValue combine(LogValue bulk, LogValue tail) const;
  /// For a sample of fixed size: the logarithm of e^positive + e^negative + the mass of loss 0. [sampled-plane]
  [[nodiscard]] double with_rest(double positive, double negative) const;
  /// A bound of the terms that are not summed, relative to the last summed term; infinite if they do not decrease.
  [[nodiscard]] double omitted_share(double bulk, double tail) const;

  const SubsampledSteps* steps_;
  const RealNoise* whole_ = nullptr;
  const RealNoise* mirror_ = nullptr;
  Interval log_neither_;  // the logarithm of the mass of loss 0, of a sample of fixed size
  std::shared_ptr<const Cut> cut_;
  std::vector<double> log_binomials_;  // of the chosen numbers of tail steps, from first_ on
  std::uint32_t first_ = 0;
  bool more_ = false;               // there are more terms than binomials
  bool any_ = false;                // any number of tail steps: the plain power of the sum
  std::vector<NoisePlane> planes_;  // the whole, or bulk and tail
  std::optional<NoisePlane> mirror_plane_;
};

}  // namespace tradeoff::detail::hyperbolic
