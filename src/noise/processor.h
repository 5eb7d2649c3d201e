// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Hot loops are compiled for three instruction sets; the best one that the processor supports is chosen at run time. All of them give the
// same results, word for word; tests check that.
namespace tradeoff::detail::noise {

enum class Level { portable, avx2, avx512 };

#if defined(__x86_64__)
/// What the processor can do and the operating system saves registers for. Asked from the processor itself, because the runtime of zig has
/// no
/// __builtin_cpu_supports.
struct Processor {
  bool has_sse41 = false;
  bool has_sha = false;
  Level level = Level::portable;
};

[[nodiscard]] inline Processor examine_processor() {
  Processor found;
  unsigned a = 0, b = 0, c = 0, d = 0, saved = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
  const auto has = [](unsigned word, int bit) { return (word >> bit & 1U) != 0; };
  found.has_sse41 = has(c, 19);
  if (has(c, 27)) __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  const bool has_lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && has(c, 5);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  found.has_sha = has(b, 29);
  const bool has_avx2 = has_lzcnt && has(b, 3) && has(b, 5) && has(b, 8) && (saved & 0x06U) == 0x06U;                    // BMI, AVX2, BMI2
  const bool has_avx512 = has_avx2 && has(b, 16) && has(b, 17) && has(b, 21) && has(b, 28) && (saved & 0xe6U) == 0xe6U;  // F, DQ, IFMA, CD
  found.level = has_avx512 ? Level::avx512 : has_avx2 ? Level::avx2 : Level::portable;
  return found;
}
#endif

[[nodiscard]] inline Level best_level() {
#if defined(__x86_64__) && !defined(TRADEOFF_PORTABLE)
  static const Level found = examine_processor().level;
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
