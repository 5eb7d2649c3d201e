// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "noise/carry_out.h"
#include "noise/certificate.h"
#include "noise/secure_stream.h"
#include "numeric/floating_point_guard.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

// [grid-release]
Release release(Certificate&& certificate, std::span<const double> values) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return release(std::move(certificate), values); });

  const Certificate used = std::move(certificate);  // used up even if an error follows
  if (!used.is_valid()) throw DomainError("release: this certificate has been used");
  const auto& content = detail::CertificateContent::of(used);
  if (content.keys) throw DomainError("release: this certificate is for the keys of a table; give users and keys");
  noise::WordSource source(noise::thread_stream());
  return {noise::carry_out(content.instructions, content.terms, values, source)};
}

// [key-release]
std::vector<ReleasedKey> release_keys(Certificate&& certificate, std::span<const KeyRow> rows) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return release_keys(std::move(certificate), rows); });

  const Certificate used = std::move(certificate);  // used up even if an error follows
  if (!used.is_valid()) throw DomainError("release: this certificate has been used");
  const auto& content = detail::CertificateContent::of(used);
  if (!content.keys) throw DomainError("release: this certificate is for values, not for the keys of a table");
  noise::BufferedStream words(noise::thread_stream());
  return noise::carry_out(*content.keys, rows, words);
}

}  // namespace tradeoff
