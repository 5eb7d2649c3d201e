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

// The one format of certificates: of answers, of releases and of training runs. This file writes and reads it and computes its digest;
// docs/howto/certify.md describes the JSON; assurance/checker/ verifies it by other means.
namespace tradeoff::report {

/// One question about the charged plan, its answer, and how that was found.
struct CertifiedAnswer {
  std::string ask;  ///< delta, epsilon, beta, tpr or mu
  std::string at;   ///< what it is asked about (an epsilon, delta, alpha, fpr or slack): an exact decimal or quotient; `inf` for delta
  Direction direction = Direction::worst;
  std::string relative = "1e-6";  ///< the wanted relative width
  Interval answer{};
  std::optional<Interval> log10{};  ///< of an answer that a double cannot hold well
  std::string method{};
  std::vector<Step> steps{};              ///< which theorems
  std::vector<Evaluation> evaluations{};  ///< counts and error terms where the answer was decided; none where nothing was summed
};

/// A plan and what is claimed about it.
struct Charge {
  Plan plan;
  std::vector<CertifiedAnswer> guarantees;
};

/// Names and values, all as text.
using Fields = std::map<std::string, std::string>;

enum class CertificateKind { answer, release, training };

/// Everything that a certificate says.
struct CertificateDocument {
  CertificateKind kind = CertificateKind::answer;
  std::string version;  ///< of the program that wrote it
  Neighbours neighbours = Neighbours::unstated;
  Charge charged;
  std::optional<Charge> planned{};  ///< of a training run that was stopped early: the whole run
  // Of releases and training runs:
  Fields settings{};            ///< what the user chose; the charged plan follows from it
  std::vector<Fields> drawn{};  ///< the noise of each line of the charged plan, exactly
  std::string released{};       ///< SHA-256 of the rows as printed, or of the model's parameters
};

/// The text is no certificate, or its digest is not that of its content. `field()` is the member at fault.
class CertificateError final : public Error {
 public:
  CertificateError(const std::string& field, const std::string& message)
      : Error("certificate: " + (field.empty() ? "" : "field '" + field + "' ") + message), field_(field) {}
  [[nodiscard]] const char* kind() const noexcept override { return "parse"; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }

 private:
  std::string field_;
};

/// The name of the number that a question is about: epsilon for delta, slack for mu, ...; empty if the question cannot be certified.
[[nodiscard]] std::string_view field_of_ask(std::string_view ask);

[[nodiscard]] std::string_view to_word(CertificateKind kind);

/// What the plan protects: "one record", or "a group of 3 records" where every line is about a group of at least so many.
[[nodiscard]] std::string unit_of(const Plan& plan);

/// As JSON with its digest; for people with line breaks, or on one line. Throws UnsupportedError if the plan reads a file or holds a `?`.
[[nodiscard]] std::string to_json(const CertificateDocument& document, bool on_one_line = false);

/// Reads and checks the form: every member there and none besides, the items as the plan says, numbers in their canonical spelling, the
/// digest that of the content. Any text may be given. Throws CertificateError.
[[nodiscard]] CertificateDocument parse_certificate(std::string_view text);

}  // namespace tradeoff::report
