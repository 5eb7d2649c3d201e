// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "noise/drawn_noise.h"

// The sources that a release can draw. Each is defined at the end of the file that holds its sampler.
namespace tradeoff::detail::noise {

extern const DrawnSource drawn_gaussian;
extern const DrawnSource drawn_laplace;
extern const DrawnSource drawn_truncated_laplace;
extern const DrawnSource drawn_discrete_laplace;
extern const DrawnSource drawn_truncated_discrete_laplace;
extern const DrawnSource drawn_discrete_gaussian;
extern const DrawnSource drawn_randomized_response;

inline constexpr std::array drawn_sources{
    &drawn_gaussian,
    &drawn_laplace,
    &drawn_truncated_laplace,
    &drawn_discrete_laplace,
    &drawn_truncated_discrete_laplace,
    &drawn_discrete_gaussian,
    &drawn_randomized_response,
};

}  // namespace tradeoff::detail::noise
