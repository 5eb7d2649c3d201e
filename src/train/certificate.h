// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "report/certificate.h"
#include "tradeoff/curve.h"
#include "tradeoff/gdp.h"
#include "tradeoff/guarantee.h"
#include "tradeoff/limit.h"
#include "tradeoff/targets.h"
#include "train/trainer.h"

namespace tradeoff::detail::train {

/// The slacks for which a certificate states pairs (mu, slack).
inline constexpr std::array<const char*, 2> certified_slacks = {"1e-5", "1e-8"};

/// The guarantee of some steps of a run, from the plan as it is drawn.
struct RunGuarantee {
  std::uint64_t steps = 0;
  std::string stated;  ///< the plan as stated
  std::string drawn;   ///< with exact parameters in steps of the grid; the members below are about this plan
  std::optional<Curve> curve;
  std::vector<Guarantee> guarantees;   ///< one for each delta that was asked for
  std::vector<GdpPair> mu_with_slack;  ///< in the order of `certified_slacks`
  std::optional<Estimate> limit;       ///< mu by the central limit theorem
  Interval advantage;
  struct Error {
    std::string alpha;
    Interval beta;
  };
  Provenance provenance{};  ///< of the guarantees
  /// the trade-off function at some points; at false-positive rate alpha an attack has true-positive rate at most 1 - beta
  std::vector<Error> tradeoff;
};

/// The guarantee of the first `steps` steps at these deltas; for 0 steps the guarantee of no release.
[[nodiscard]] RunGuarantee guarantee_of(const TrainingTerms& terms, std::uint64_t steps, const std::vector<std::string>& deltas);

/// Its epsilon at a single delta: the budget used so far.
[[nodiscard]] Interval epsilon_so_far(const TrainingTerms& terms, std::uint64_t steps, const std::string& delta);

/// The certificate of a run: for the steps that were done and, if it was stopped early, for the planned steps.
[[nodiscard]] report::CertificateDocument document_of(const Progress& progress, const std::vector<std::string>& deltas);

/// Recomputes a run from the settings of its certificate: plans, noise and settings. Throws CertificateError for a setting that is missing
/// or malformed, DomainError for one out of range.
[[nodiscard]] report::CertificateDocument recreate_training(const report::CertificateDocument& document);

/// The guarantee of the whole run as it is drawn.
[[nodiscard]] Curve curve_of(const TrainingTerms& terms);

/// The least noise for which the run as drawn meets every target, verified. Ignores the noise of the terms.
[[nodiscard]] Number calibrated_noise(TrainingTerms terms, const Targets& targets);

}  // namespace tradeoff::detail::train
