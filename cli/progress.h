// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace tradeoff::cli {

/// While it lives and the work takes longer than a second, a line on the terminal says so, with a bar if the work says how much there is.
/// Nothing happens, and no thread is started, unless standard error is a terminal that can go back on a line.
class Progress {
 public:
  explicit Progress(bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// How much is done, for those who know, and what there is to say about it; for everybody else the line shows the time.
  static void report(std::size_t done, std::size_t total, const std::string& remark = {});
  /// Takes the line away; called before anything else is written.
  static void clear();
};

}  // namespace tradeoff::cli
