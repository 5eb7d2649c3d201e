// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tradeoff::detail::noise {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);
/// The same without special instructions, for tests.
[[nodiscard]] std::string sha256_plainly(std::string_view bytes);

}  // namespace tradeoff::detail::noise
