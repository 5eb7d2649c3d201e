// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "report/certificate.h"

// Fills certificates with answers, and holds what a certificate says against what this program finds.
namespace tradeoff::report {

/// Answers the question of `question` about the curve: everything but `ask`, `at`, `direction` and `relative` is filled in. A slack that
/// rounding raised replaces the one asked about. Throws DomainError where mu is asked about and none is known.
[[nodiscard]] CertifiedAnswer certified(const Curve& curve, CertifiedAnswer question);

/// The charge of this plan: its answers to all of the questions.
[[nodiscard]] Charge charge_of(const Plan& plan, const Curve& curve, std::vector<CertifiedAnswer> questions);

enum class Verdict { confirmed, refuted, undecided };
[[nodiscard]] const char* to_word(Verdict verdict);

/// One statement of a certificate, and what came out when this program computed it again.
struct Finding {
  Verdict verdict = Verdict::undecided;
  std::string what;   ///< "epsilon at delta = 1e-5"
  std::string words;  ///< what was certified and what was found
};

/// The worst of them: refuted, then undecided, then confirmed.
[[nodiscard]] Verdict worst_of(const std::vector<Finding>& findings);

/// Computes a release or a run again from its settings: the document that this program would write, without guarantees and SHA-256.
using Recreation = std::function<CertificateDocument(const CertificateDocument&)>;

/// Every claim is computed again from the plan. Of a release or a training run, the plan and the noise are computed again from the settings
/// by `recreate`; without it that part is undecided.
[[nodiscard]] std::vector<Finding> verify(const CertificateDocument& document, const Recreation& recreate = nullptr);

/// Whether this is the SHA-256 of what the certificate is about.
[[nodiscard]] Finding verify_released(const CertificateDocument& document, const std::string& sha256);

/// What no reader of a certificate can check, a sentence each.
[[nodiscard]] std::vector<std::string> taken_on_trust(const CertificateDocument& document);

}  // namespace tradeoff::report
