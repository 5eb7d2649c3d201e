// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/json.h"
#include "train/certificate.h"

namespace tradeoff::cli {

/// The certificate of a run: for what was done and, if it was stopped early, for what was planned.
struct TrainingCertificate {
  train::TrainingTerms terms;
  train::Guarantee done;
  train::Guarantee planned;
  std::string statement;
  std::string digest;
};

[[nodiscard]] TrainingCertificate certify_training(const train::Progress& progress, const std::vector<std::string>& deltas);
[[nodiscard]] std::string to_json(const TrainingCertificate& certificate);
[[nodiscard]] std::string to_lines(const TrainingCertificate& certificate, bool quiet);

}  // namespace tradeoff::cli
