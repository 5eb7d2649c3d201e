// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// The command line's streams, files and second program, replaced by memory: whatever a fuzzer types, nothing outside is touched.
namespace tradeoff::fuzz {

/// What the program will read, as standard input and as any file that a plan is in.
[[nodiscard]] std::string& standard_input();

}  // namespace tradeoff::fuzz
