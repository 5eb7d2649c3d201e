// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// The command line's streams, files and second program, replaced by memory, so that a fuzzer changes nothing outside the process.
namespace tradeoff::detail::fuzz {

/// The content of standard input and of every plan file.
[[nodiscard]] std::string& standard_input();

}  // namespace tradeoff::detail::fuzz
