// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ask/curve_cache.h"

namespace tradeoff::detail::page {

/// Answers one question of the page. The text is a list of fields, `name NUL value NUL`, one of which is `ask`; the result is one JSON
/// object, with a member `error` if there is no answer. Some questions are those of `tradeoff query` and are answered as there; the others
/// write what is shown and what is taken away. No text can end the program.
[[nodiscard]] std::string answer(std::string_view fields, ask::CurveCache& curves);

}  // namespace tradeoff::detail::page
