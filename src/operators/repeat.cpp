// SPDX-License-Identifier: Apache-2.0
#include "operators/words.h"
#include "plan/arguments.h"

// The engines compose (engine/compose.h); this operator only sets the number of runs.
namespace tradeoff::detail {
namespace {

std::uint64_t times_of_repeat(const Arguments& arguments) { return arguments.whole("times"); }

}  // namespace

Word repeat_word() {
  return {.role = Role::operation,
          .name = "repeat",
          .meaning = "run again on the same data with fresh randomness",
          .parameters = {{"times", Kind::integer, "how often it is run", range::whole(0, range::most_steps), effect::riskier}},
          .synonyms = {{"compose"}},
          .times = times_of_repeat};
}

}  // namespace tradeoff::detail
