// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tradeoff::train {

/// Whether the bytes start as a gzip file does.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// The content of a gzip file (RFC 1951 and 1952, one member), checked against its length and checksum. Throws DomainError for anything
/// else, and for a content of more than `limit` bytes.
[[nodiscard]] std::string gunzip(std::string_view bytes, std::size_t limit);

}  // namespace tradeoff::train
