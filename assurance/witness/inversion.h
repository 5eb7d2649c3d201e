// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reading.h"

namespace tradeoff::detail::witness {

/// The transform E(s) of a plan's finite losses, or of the part of them that at least two densities contribute to.
class Transform {
 public:
  Transform(const Laws& laws, bool split) : laws_(laws), split_(split) {}

  [[nodiscard]] Real at(const Real& c) const;
  /// E(c + i k step).
  [[nodiscard]] std::vector<Complex> along(const Real& c, const Real& step, std::size_t count) const;
  /// A function of u that bounds |E(c + iv)| for all v >= u.
  [[nodiscard]] std::function<Real(const Real&)> decay(const Real& c) const;

 private:
  const Laws& laws_;
  bool split_;
};

/// Evaluates the distribution with this transform at the threshold e, by the integral of E(s) exp(-s e)/(s (s + 1)) along a vertical line.
/// `beside` will be added to the result; the accuracy is relative to the sum.
[[nodiscard]] Real invert(const Transform& transform, Side side, const Real& e, const Real& beside);

}  // namespace tradeoff::detail::witness
