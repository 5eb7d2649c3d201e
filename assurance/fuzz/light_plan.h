// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tradeoff::detail::fuzz {

/// Whether the text is not a plan, or a plan that is quick to analyse and reads no file: the fuzzer tests readers and writers, and must not
/// wait for long compositions. (tests/oracle tests random plans and their answers.)
[[nodiscard]] bool is_light(std::string_view plan);

/// Whether a question or a verb of this name integrates over the whole curve; then only `is_very_light` plans, finite distributions, are
/// quick.
[[nodiscard]] bool asks_much(std::string_view name);
[[nodiscard]] bool is_very_light(std::string_view plan);

/// Whether a line of JSON asks a question that is answered quickly.
[[nodiscard]] bool is_light_request(std::string_view line);

}  // namespace tradeoff::detail::fuzz
