// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "noise/digest.h"

namespace tradeoff::detail::test {

/// The certificate with the digest of its content, as a forger would compute it.
inline nlohmann::json sealed(nlohmann::json certificate) {
  certificate.erase("digest");
  certificate["digest"] = noise::sha256(certificate.dump());
  return certificate;
}

}  // namespace tradeoff::detail::test
