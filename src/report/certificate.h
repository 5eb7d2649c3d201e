// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loss/evaluation.h"
#include "tradeoff/curve.h"
#include "tradeoff/error.h"
#include "tradeoff/interval.h"
#include "tradeoff/plan.h"

// The format of all certificates: of answers, of releases and of training runs. This file writes and reads it and computes its digest;
// docs/howto/certify.md describes the JSON; assurance/checker/ verifies it independently.
namespace tradeoff::detail::report {

/// The questions that can be certified.
enum class Ask { delta, epsilon, beta, tpr, mu };

/// One question about the charged plan, its answer, and how the answer was computed.
struct CertifiedAnswer {
  Ask ask{};
  std::string at;  ///< the argument (an epsilon, delta, alpha, fpr or slack): an exact decimal or quotient; `inf` for delta
  Direction direction = Direction::worst;
  std::string relative = "1e-6";  ///< the requested relative width
  Interval answer{};
  std::optional<Interval> log10{};  ///< of an answer too small for a double
  std::string method{};
  std::vector<Step> steps{};              ///< the theorems
  std::vector<Evaluation> evaluations{};  ///< counts and error terms at the point that decides the answer; empty if nothing was summed
};

/// A plan and the claims about it.
struct Charge {
  Plan plan;
  std::vector<CertifiedAnswer> guarantees;
};

/// Names and values, all as text.
using Fields = std::map<std::string, std::string>;

enum class CertificateKind { answer, release, training };

/// The content of a certificate.
struct CertificateDocument {
  CertificateKind kind = CertificateKind::answer;
  std::string version;  ///< of the program that wrote it
  Neighbours neighbours = Neighbours::unstated;
  Charge charged;
  std::optional<Charge> planned{};  ///< of a training run that was stopped early: the whole run
  // For releases and training runs:
  Fields settings{};            ///< the user's choices; the charged plan follows from them
  std::vector<Fields> drawn{};  ///< the exact noise of each line of the charged plan
  std::string released{};       ///< SHA-256 of the rows as printed, or of the model's parameters
};

/// The text is not a certificate, or its digest does not match its content. `field()` is the member with the error.
class CertificateError final : public Error {
 public:
  CertificateError(const std::string& field, const std::string& message)
      : Error("certificate: " + (field.empty() ? "" : "field '" + field + "' ") + message), field_(field) {}
  [[nodiscard]] const char* kind() const noexcept override { return "parse"; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

[[nodiscard]] std::string_view to_word(Ask ask);
/// The name of the argument of a question: epsilon for delta, slack for mu.
[[nodiscard]] std::string_view argument_of(Ask ask);

[[nodiscard]] std::string_view to_word(CertificateKind kind);

/// What the plan protects: "one record", or "a group of 3 records" if every line is about a group of at least that size.
[[nodiscard]] std::string unit_of(const Plan& plan);

/// As JSON with its digest, with line breaks or on one line. Throws UnsupportedError if the plan reads a file or contains a `?`.
[[nodiscard]] std::string to_json(const CertificateDocument& document, bool on_one_line = false);

/// Reads a certificate and checks its form: every member is present and no other, the items match the plan, numbers have their canonical
/// spelling, and the digest matches the content. Accepts any text. Throws CertificateError.
[[nodiscard]] CertificateDocument parse_certificate(std::string_view text);

}  // namespace tradeoff::detail::report
