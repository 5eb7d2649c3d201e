// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include "transform/mixture_pair.h"

namespace tradeoff::detail {

/// Bounds of the moments of a pair of Gaussian mixtures for imaginary parts of the power from some t on: the integral is taken along a path
/// that is raised into the upper half plane, where w^(it) is small. [raised-path]
class RaisedPath {
 public:
  /// The path is cut into cells between `low` and `high`; beyond them it is bounded by normal tails. Keeps a reference to the pair.
  RaisedPath(const MixturePair& pair, double low, double high);

  /// log of a bound of |E_Q[w^(p + iy)]| for every y >= t.
  [[nodiscard]] double log_moment_after(double power, double t) const;

 private:
  struct End {  // of a cell, on the real line
    double x;
    double ahead, behind;  // log u, log v
  };
  struct Raised {          // the same at a height
    double ahead, behind;  // log |u|, log |v|
    double ahead_argument, behind_argument;
  };
  static constexpr std::array<double, 8> shares{1, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.06};  // of the largest height
  [[nodiscard]] const std::vector<End>& ends() const;
  [[nodiscard]] const std::vector<Raised>& raised(std::size_t height) const;
  [[nodiscard]] double log_moment_at(std::size_t height, double power, double t) const;
  [[nodiscard]] double log_tails(double power) const;

  const MixturePair& pair_;
  double low_, high_, cell_;
  double mu_, ahead_count_, behind_count_;
  double height_;  // the largest
  mutable std::vector<End> ends_;
  mutable std::array<std::vector<Raised>, shares.size()> raised_;
  mutable std::once_flag found_ends_;
  mutable std::array<std::once_flag, shares.size()> found_raised_;  // each computed at its first use
};

}  // namespace tradeoff::detail
