// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/picture.h"

namespace tradeoff::detail::report {

/// The available room: the drawing and its labels use at most this many columns.
struct TerminalSize {
  int columns = 80;
  int rows = 16;  ///< of the drawing itself
};

/// Draws with braille dots, two by four to a character. Several labelled series carry the letter of their line in the legend.
[[nodiscard]] std::string to_terminal(const Picture& picture, TerminalSize size = {});

}  // namespace tradeoff::detail::report
