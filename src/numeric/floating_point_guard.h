// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace tradeoff::detail::numeric {

/// Whether this thread is within `run_in_usual_arithmetic`.
[[nodiscard]] bool inside_usual_arithmetic() noexcept;

/// Whether the floating-point environment is the one that every error bound assumes: rounding to nearest, subnormal numbers kept, long
/// double at its full precision, no traps. Takes a few cycles where the control registers can be read; elsewhere it is true only within
/// `run_in_usual_arithmetic`. [usual-arithmetic]
[[nodiscard]] inline bool arithmetic_is_usual() noexcept {
#if defined(__x86_64__)
  constexpr unsigned kept = 0xffc0, usual = 0x1f80;                    // traps, rounding, both ways to flush to zero
  constexpr unsigned kept_extended = 0x0f3f, usual_extended = 0x033f;  // traps, precision, rounding
  unsigned control = 0;
  unsigned short extended = 0;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control), "=m"(extended));
  return (control & kept) == usual && (extended & kept_extended) == usual_extended;
#elif defined(__wasm__)
  return true;  // WebAssembly has no other arithmetic
#else
  return inside_usual_arithmetic();
#endif
}

/// Sets the default floating-point environment, calls `body` through a pointer, and restores the environment of the caller.
void run_in_usual_arithmetic(const std::function<void()>& body);

/// The result of `body`, computed in the default environment. Every public function starts with
/// if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return the_function_itself(...); });
/// Code that a compiler moves before the test is harmless if the test holds; otherwise its result is discarded.
template <typename Body>
[[nodiscard]] auto in_usual_arithmetic(const Body& body) {
  std::optional<decltype(body())> result;
  run_in_usual_arithmetic([&] { result.emplace(body()); });
  return std::move(*result);
}

}  // namespace tradeoff::detail::numeric
