// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace tradeoff::detail {

/// The positive half of the 32-point Gauss-Legendre rule on [-1, 1], each number rounded to nearest.
struct Abscissa {
  double node;
  double weight;
};
inline constexpr std::array<Abscissa, 16> gauss_legendre{{
    {0x1.fe995e70409b6p-1, 0x1.cbf8bc743cc5cp-8},
    {0x1.f8a212714bcdcp-1, 0x1.0aa3c248696c9p-6},
    {0x1.edf5518053baap-1, 0x1.a0060a8531ffap-6},
    {0x1.deac0259f7f42p-1, 0x1.18c5800a355d9p-5},
    {0x1.caea9b4574cb9p-1, 0x1.5ee963a335495p-5},
    {0x1.b2e04fd686a13p-1, 0x1.a1c6ae961fbfap-5},
    {0x1.96c69481c4bc5p-1, 0x1.e0bd76c924981p-5},
    {0x1.76e0931d693bap-1, 0x1.0d9b9a62cac10p-4},
    {0x1.537a89c487f8ap-1, 0x1.2854103b35e0cp-4},
    {0x1.2ce9146962ca4p-1, 0x1.40483e126fd14p-4},
    {0x1.038862866b29dp-1, 0x1.553ee25ebebc6p-4},
    {0x1.af76b57c6f8f1p-2, 0x1.6705e18e13ed1p-4},
    {0x1.53d55ce57bdf6p-2, 0x1.7572bdb3f6e51p-4},
    {0x1.ea0f7e19c094bp-3, 0x1.8062fc0f6fef9p-4},
    {0x1.27e0ea717f237p-3, 0x1.87bc776f8c6d7p-4},
    {0x1.8bbc8488cc499p-5, 0x1.8b6d9eaec77adp-4},
}};

/// Calls visit(node, weight) for the 32 points of the rule, from left to right.
template <class Visit>
void for_each_abscissa(Visit&& visit) {
  for (std::size_t i = 0; i < gauss_legendre.size(); ++i) visit(-gauss_legendre[i].node, gauss_legendre[i].weight);
  for (std::size_t i = gauss_legendre.size(); i-- > 0;) visit(gauss_legendre[i].node, gauss_legendre[i].weight);
}

}  // namespace tradeoff::detail
