// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "report/certificate.h"
#include "tradeoff/release.h"

namespace tradeoff::report {

/// The certificate of a release, all but the SHA-256 of what is released.
[[nodiscard]] CertificateDocument document_of(const Certificate& certificate);

/// What the settings of a release lead to: plan, noise and settings again. Throws CertificateError for a setting that is missing or is not
/// of its form, and what `certify` throws.
[[nodiscard]] CertificateDocument recreate_release(const CertificateDocument& document);

/// The quotient of the noisy sum and the noisy count, where both were released: a function of what was released anyway.
[[nodiscard]] std::optional<double> mean_of(const Release& released, Aggregate aggregate);

/// The released rows, and the mean on a line of its own, as they are printed: all digits. Its SHA-256 stands in the certificate.
[[nodiscard]] std::string printed_rows(const Release& released, Aggregate aggregate);

}  // namespace tradeoff::report
