// SPDX-License-Identifier: Apache-2.0
#include "command_request.h"
#include "streams.h"

namespace tradeoff::detail::cli {

ExitCode run_order(const Verb& verb, const Options& options) {
  if (options.further.size() != 1) {
    write_error("tradeoff: order compares two plans; see tradeoff order --help\n");
    return ExitCode::bad_usage;
  }
  static constexpr Option other{"other", "PLAN", "the plan it is compared with"};
  Options both = options;
  both.values.emplace_back(&other, read_plan_argument(options.further.front()));
  return run_ask(verb, both);
}

}  // namespace tradeoff::detail::cli
