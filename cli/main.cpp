// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

int main(int count, char** values) { return tradeoff::detail::cli::run_command_line(count, values); }
