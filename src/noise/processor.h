// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hot loops are compiled for three instruction sets; the best one that the processor supports is chosen at run time. All of them give the
// same results, word for word; tests check that.
namespace tradeoff::detail::noise {

enum class Level { portable, avx2, avx512 };

[[nodiscard]] inline Level best_level() {
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  static const Level found = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512ifma"))
      return Level::avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") ? Level::avx2
                                                                                                               : Level::portable;
  }();
  return found;
#else
  return Level::portable;
#endif
}

}  // namespace tradeoff::detail::noise

#define TRADEOFF_INLINE inline __attribute__((always_inline))
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
#define TRADEOFF_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt")))
#define TRADEOFF_AVX512 __attribute__((target("avx2,bmi,bmi2,lzcnt,avx512f,avx512dq,avx512cd,avx512ifma")))
#endif
