// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tradeoff::detail::cli {

/// The program: reads the arguments of main(), runs one verb and returns the exit code. Nothing is thrown.
int run_command_line(int count, char** values);

}  // namespace tradeoff::detail::cli
