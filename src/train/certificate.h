// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "report/certificate.h"
#include "tradeoff/curve.h"
#include "tradeoff/gdp.h"
#include "tradeoff/limit.h"
#include "tradeoff/targets.h"
#include "train/trainer.h"

namespace tradeoff::train {

/// The slacks that a certificate names pairs (mu, slack) for.
inline constexpr std::array<const char*, 2> certified_slacks = {"1e-5", "1e-8"};

/// What some steps of a run guarantee, from the plan as it is drawn.
struct Guarantee {
  std::uint64_t steps = 0;
  std::string stated;  ///< the plan as it is meant
  std::string drawn;   ///< with exact parameters in steps of the grid; everything below is about it
  std::optional<Curve> curve;
  struct Point {
    std::string delta;  ///< as a decimal
    Interval epsilon;
  };
  std::vector<Point> epsilons;
  std::vector<GdpPair> mu_with_slack;  ///< in the order of `certified_slacks`
  std::optional<Estimate> limit;       ///< mu of the central limit theorem
  Interval advantage;
  struct Error {
    std::string alpha;
    Interval beta;
  };
  Provenance provenance{};      ///< of the epsilons
  std::vector<Error> tradeoff;  ///< the trade-off function at some places; an attack finds at most 1 - beta at alpha false alarms
};

/// The guarantee of the first `steps` steps at these deltas; of no step at all for 0.
[[nodiscard]] Guarantee guarantee_of(const TrainingTerms& terms, std::uint64_t steps, const std::vector<std::string>& deltas);

/// Its epsilon at one delta alone: the budget so far.
[[nodiscard]] Interval epsilon_so_far(const TrainingTerms& terms, std::uint64_t steps, const std::string& delta);

/// The certificate of a run: for the steps that were done and, if it was stopped early, for the planned ones.
[[nodiscard]] report::CertificateDocument document_of(const Progress& progress, const std::vector<std::string>& deltas);

/// What the settings of a training certificate lead to: plans, noise and settings again. Throws CertificateError for a setting that is
/// missing or is not of its form, DomainError for one out of range.
[[nodiscard]] report::CertificateDocument recreate_training(const report::CertificateDocument& document);

/// What the whole run guarantees, as it is drawn.
[[nodiscard]] Curve curve_of(const TrainingTerms& terms);

/// The least noise for which the run as drawn meets every target, verified. The terms' own noise is ignored.
[[nodiscard]] Number calibrated_noise(TrainingTerms terms, const Targets& targets);

}  // namespace tradeoff::train
