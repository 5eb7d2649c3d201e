// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mechanism/evaluation.h"
#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/interval.h"
#include "tradeoff/plan.h"

// An answer with everything that a stranger needs to verify it. docs/howto/certify.md describes the JSON, checker/ verifies it by other
// means.
namespace tradeoff::cli {

/// One answer about one plan. The question is one number: delta at an epsilon, epsilon at a delta, beta at an alpha, tpr at an fpr.
struct AnswerCertificate {
  std::string version;  ///< of the program that answered
  Plan plan;
  Neighbours neighbours = Neighbours::unstated;
  std::string ask;  ///< delta, epsilon, beta or tpr
  std::string at;   ///< the number that is asked about, as an exact decimal or quotient, or `inf`
  Direction direction = Direction::worst;
  std::string relative;  ///< the wanted relative width
  Interval answer;
  std::optional<Interval> log10{};  ///< of an answer that a double cannot hold well
  std::string method;
  std::vector<Step> steps;              ///< which theorems
  std::vector<Evaluation> evaluations;  ///< node counts and error terms where the answer was decided; none where nothing was summed
};

/// What a certificate says is not what its digest covers, or it is not a certificate at all. `field()` is the member at fault.
class CertificateError final : public Error {
 public:
  CertificateError(const std::string& field, const std::string& message)
      : Error("certificate: " + (field.empty() ? "" : "field '" + field + "' ") + message), field_(field) {}
  [[nodiscard]] const char* kind() const noexcept override { return "parse"; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

/// The request field that holds the number a question is about; empty if the question cannot be certified.
[[nodiscard]] std::string_view field_of_ask(std::string_view ask);

/// As JSON with its digest, for people and programs alike. Throws UnsupportedError if the plan reads a file: others could not check that.
[[nodiscard]] std::string to_json(const AnswerCertificate& certificate);

/// Reads and verifies: every member there and none besides, the plan as its items say, numbers in their canonical spelling, the digest
/// that of the content. Any text may be given. Throws CertificateError.
[[nodiscard]] AnswerCertificate parse_certificate(std::string_view text);

}  // namespace tradeoff::cli
