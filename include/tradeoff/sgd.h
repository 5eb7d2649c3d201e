// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

// DP-SGD in the terms of training libraries, and the plan it corresponds to.
namespace tradeoff {

/// How batches are drawn; each method has its own theorem. Poisson is the default everywhere.
enum class Sampling {
  poisson,    ///< every example joins each batch independently
  fixed,      ///< each batch is a fresh sample of fixed size without replacement
  shuffled,   ///< the data is shuffled and cut into batches
  allocated,  ///< every example draws one step of an epoch ("balls and bins")
  cyclic,     ///< groups of examples take turns, each sampled by poisson
};

/// "poisson", "fixed", "shuffled", "allocated" or "cyclic".
[[nodiscard]] const char* to_word(Sampling sampling);
/// Throws DomainError for any other word.
[[nodiscard]] Sampling read_sampling(const std::string& word);
/// The neighbouring relations for which a theorem for this sampling exists. The first is meant if none is stated.
[[nodiscard]] const std::vector<Neighbours>& neighbours_of(Sampling sampling);

/// The number of steps of so many passes over the data: ceil(epochs * examples / batch), computed exactly. Throws DomainError that names
/// the value unless epochs > 0, 1 <= batch <= examples <= 1e12, and there are at most 1e12 steps.
[[nodiscard]] std::uint64_t steps_of_epochs(const Number& epochs, std::uint64_t batch, std::uint64_t examples);

/// A sampling rate as a quotient of whole numbers.
struct BatchOfRate {
  std::uint64_t batch = 0;
  std::uint64_t examples = 0;
};
/// The batch of a sampling rate: rate * examples, if that is a whole number up to rounding. Otherwise, and if the number of examples is not
/// stated, the rate itself as a quotient: exactly if its denominator is at most 1e12, otherwise the simplest quotient with the same
/// doubles around it (1/235 for 0.00425531914893617), or the next larger multiple of 1e-12. Such a rate describes Poisson batches only.
/// Throws DomainError.
[[nodiscard]] BatchOfRate batch_of_rate(const Number& rate, std::optional<std::uint64_t> examples, Sampling sampling);

/// A DP-SGD run.
struct SgdRun {
  /// The standard deviation of the noise on the sum of clipped gradients, divided by the clipping norm; "?" to solve for it.
  std::string noise_multiplier;
  std::uint64_t batch = 0;     ///< examples in a batch, on average for Poisson sampling
  std::uint64_t examples = 0;  ///< number of examples in the data
  std::optional<Number> epochs;
  std::optional<std::uint64_t> steps;  ///< instead of epochs
  Sampling sampling = Sampling::poisson;
  Neighbours neighbours = Neighbours::unstated;  ///< unstated: the first relation of the sampling

  bool reuse = false;                                  ///< shuffled, allocated: every epoch uses the order or the draw of the first
  std::optional<std::uint64_t> groups = {};            ///< cyclic: how many groups take turns
  std::optional<std::uint64_t> at_most = {};           ///< poisson: of more examples drawn, a random so many are kept
  std::uint64_t per_user = 1;                          ///< poisson: protect a user who owns at most so many examples
  std::uint64_t layers = 1;                            ///< releases of this noise multiplier on each batch: layers clipped on their own
  std::optional<Number> count_noise = {};              ///< adaptive clipping: standard deviation of the noise on the centred count
  std::vector<Number> further_noise_multipliers = {};  ///< of further releases on each batch
  bool noise_is_total = false;  ///< the noise multiplier is that of all releases on a batch together, as one Gaussian release
  /// Correlated noise: the arguments of the plan word `matrix` that describe it, for example "coefficients=[1, 0.5]" or
  /// "kind=square_root". The noise multiplier is then that of the noise before it is correlated.
  std::string matrix = {};
};

/// The run as a plan, with the remarks that belong to it.
struct SgdPlan {
  std::string plan;
  std::string unit;    ///< the unit of the noise multiplier, and the sigma it gives
  std::string remark;  ///< the meaning of the sampling
  Neighbours neighbours = Neighbours::unstated;
  std::string protects = {};  ///< the unit of privacy: "one example", "one user, who owns at most 4 examples"
  std::string releases = {};  ///< what is released on each batch, if it is more than one sum; otherwise empty
};

/// One step: Gaussian noise on a sum of clipped values. Replacing a record moves the sum by up to twice the clipping norm, so the
/// sensitivity is 2 under replace-one neighbours and 1 under add-remove neighbours.
[[nodiscard]] std::string noisy_sum(const std::string& noise_multiplier, Neighbours neighbours);

/// The noise multiplier of all releases on a batch together, and that of each gradient release; one of them is that of the run.
/// With L layers of noise multiplier z, a count with noise s and further releases of z_i:  1/total^2 = L/z^2 + 1/(2 s)^2 + sum 1/z_i^2.
/// Throws DomainError if the noise is "?", or if a stated total leaves no noise for the gradients.
struct ReleaseNoise {
  Interval total;
  Interval gradients;
};
[[nodiscard]] ReleaseNoise release_noise(const SgdRun& run);

/// Throws DomainError for values out of range and for a combination that no theorem covers.
[[nodiscard]] SgdPlan to_plan(const SgdRun& run);

}  // namespace tradeoff
