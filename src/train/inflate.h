// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradeoff::detail::train {

/// Whether the bytes start like a gzip file.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// The content of a gzip file (RFC 1951 and 1952, one member), checked against its length and checksum. Throws DomainError for any other
/// input, and for a content of more than `limit` bytes.
[[nodiscard]] std::string gunzip(std::string_view bytes, std::size_t limit);

}  // namespace tradeoff::detail::train
