// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "run_command.h"

namespace tradeoff::detail::test {

/// The verbs that `tradeoff --help` lists.
inline std::vector<std::string> names_of_verbs() {
  const std::string overview = run_command({"--help"}).out;
  const std::regex line("\n  ([a-z]+)  ");
  std::vector<std::string> names;
  for (std::sregex_iterator at(overview.begin(), overview.end(), line), end; at != end; ++at) names.push_back((*at)[1]);
  return names;
}

}  // namespace tradeoff::detail::test
