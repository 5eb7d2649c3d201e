// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace tradeoff::detail::cli {

/// Shows a progress line on the terminal if the work takes longer than a second; with a bar if the total amount is known. If standard error
/// is not a terminal that can rewrite a line, it does nothing and starts no thread.
class Progress {
 public:
  explicit Progress(bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Sets the finished share and a text to show. Without it the line shows the elapsed time.
  static void report(std::size_t done, std::size_t total, const std::string& remark = {});
  /// Removes the line; called before anything else is written.
  static void clear();
};

}  // namespace tradeoff::detail::cli
