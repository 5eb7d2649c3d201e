// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/certificate.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::report {

/// The certificate of a release, without the SHA-256 of the released values.
[[nodiscard]] CertificateDocument document_of(const Certificate& certificate);

/// Recomputes a release from its settings: plan, noise and settings. Throws CertificateError for a setting that is missing or malformed,
/// and what `certify` throws.
[[nodiscard]] CertificateDocument recreate_release(const CertificateDocument& document);

/// The quotient of the noisy sum and the noisy count, if both were released: a post-processing of released values.
[[nodiscard]] std::optional<double> mean_of(const Release& released, Aggregate aggregate);

/// The released rows as printed with all digits, and the mean on its own line. The certificate contains the SHA-256 of this text.
[[nodiscard]] std::string printed_rows(const Release& released, Aggregate aggregate);

/// The same for the keys of a table: `key,count` or `key` in each line.
[[nodiscard]] std::string printed_keys(const std::vector<ReleasedKey>& released);

}  // namespace tradeoff::detail::report
