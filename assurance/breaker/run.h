// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "checks.h"

// A run of the breaker: plans in order, each in a process that may crash or take too long without ending the run.
namespace tradeoff::detail::breaker {

constexpr std::size_t most_checks = 64;
constexpr std::size_t slowest_kept = 5;

struct CheckCount {
  std::uint64_t held = 0;
  std::uint64_t silent = 0;   ///< the check did not apply
  std::uint64_t refused = 0;  ///< the library refused a plan that the check derived
  std::uint64_t broken = 0;
  double seconds = 0;
};

struct SlowPlan {
  double seconds = 0;
  std::uint64_t index = 0;
};

/// Counts of a range of plans; plain data, so that they survive a crash of the process.
struct Counts {
  std::uint64_t plans = 0;
  std::uint64_t refused = 0;      ///< the library refused the plan itself
  std::uint64_t out_of_time = 0;  ///< ended by the time limit
  std::uint64_t crashed = 0;
  double seconds = 0;
  std::array<CheckCount, most_checks> checks{};
  std::array<SlowPlan, slowest_kept> slowest{};

  void add(const Counts& other);
  void add_slow(SlowPlan plan);
  [[nodiscard]] std::uint64_t broken() const;
};

struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t plans = 1000;
  double minutes = 0;           ///< stop after that many; 0 for never
  double seconds_per_plan = 2;  ///< processor time
  const Check* only = nullptr;  ///< this check alone, on every plan
};

/// An epsilon that matters: near the answer for delta, in most cases.
[[nodiscard]] Trial aimed(Trial trial, Examination& exam, std::uint64_t seed, std::uint64_t index);

/// Tests the plans and prints every failure, with the line that makes it a regression.
[[nodiscard]] Counts try_plans(const Settings& settings, const Accountant& accountant);

/// The counts of a range as one line of text, and back; empty if the line is not valid.
[[nodiscard]] std::string to_line(const Settings& settings, const Counts& counts);
[[nodiscard]] bool read_line(const std::string& line, Settings& settings, Counts& counts);

/// The table for people.
[[nodiscard]] std::string report(const Counts& counts, std::uint64_t seed);

}  // namespace tradeoff::detail::breaker
