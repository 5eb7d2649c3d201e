// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tradeoff::fuzz {

/// Whether the text is no plan at all, or one that is quick to analyse and reads no file: a fuzzer looks at readers and writers, and
/// would only wait for long compositions. (Random plans and their answers are the matter of tests/oracle.)
[[nodiscard]] bool is_light(std::string_view plan);

/// Whether a question or a verb of this name integrates over the whole curve; then only `is_very_light` plans, finite laws, are quick.
[[nodiscard]] bool asks_much(std::string_view name);
[[nodiscard]] bool is_very_light(std::string_view plan);

/// Whether a line of JSON asks something that is answered quickly.
[[nodiscard]] bool is_light_request(std::string_view line);

}  // namespace tradeoff::fuzz
