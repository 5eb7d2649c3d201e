// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/certificate.h"

// Fills certificates with answers, and compares certificates with what this program computes.
namespace tradeoff::detail::report {

/// Answers `question` about the curve: sets every member except `ask`, `at`, `direction` and `relative`. If rounding raised the slack, the
/// raised slack replaces the requested one. Throws DomainError if mu is asked for and none is known.
[[nodiscard]] CertifiedAnswer certified(const Curve& curve, CertifiedAnswer question);

/// The charge of this plan: its answers to all the questions.
[[nodiscard]] Charge charge_of(const Plan& plan, const Curve& curve, std::vector<CertifiedAnswer> questions);

enum class Verdict { confirmed, refuted, undecided };
[[nodiscard]] const char* to_word(Verdict verdict);

/// One claim of a certificate, and the verdict after recomputing it.
struct Finding {
  Verdict verdict = Verdict::undecided;
  std::string what;   ///< "epsilon at delta = 1e-5"
  std::string words;  ///< the certified value and the recomputed value
};

/// The worst verdict: refuted, then undecided, then confirmed.
[[nodiscard]] Verdict worst_of(const std::vector<Finding>& findings);

/// Recomputes a release or a run from its settings: the document that this program would write, without guarantees and SHA-256.
using Recreation = std::function<CertificateDocument(const CertificateDocument&)>;

/// Recomputes every claim from the plan. For a release or a training run, `recreate` recomputes the plan and the noise from the settings;
/// without it that part is undecided.
[[nodiscard]] std::vector<Finding> verify(const CertificateDocument& document, const Recreation& recreate = nullptr);

/// Whether this is the SHA-256 of the released content that the certificate states.
[[nodiscard]] Finding verify_released(const CertificateDocument& document, const std::string& sha256);

/// What no reader of a certificate can check, one sentence each.
[[nodiscard]] std::vector<std::string> taken_on_trust(const CertificateDocument& document);

}  // namespace tradeoff::detail::report
