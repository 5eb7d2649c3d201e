// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

// Hot loops are written in the vector types of the compilers, so that lanes and the order of summation are the same on every machine. They
// are also compiled for wider registers where the loader can choose (glibc on x86-64).
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(TRADEOFF_PORTABLE)
#define TRADEOFF_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define TRADEOFF_CLONES
#endif

namespace tradeoff::detail::numeric {

inline constexpr std::size_t lane_count = 8;
using Lanes = double __attribute__((vector_size(lane_count * sizeof(double))));
/// For loops that select between lanes: a selection wider than a register is compiled lane by lane.
using HalfLanes = double __attribute__((vector_size(lane_count / 2 * sizeof(double))));

}  // namespace tradeoff::detail::numeric
