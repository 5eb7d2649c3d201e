// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "inquiry.h"
#include "streams.h"

namespace tradeoff::cli {

ExitCode run_ask(const Verb& verb, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request(verb.name, options);
  const Answer found = answer(request, curves);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object();
    write_answer(found, out);
    write_out(out.end_object().str() + "\n");
  } else {
    const Neighbours neighbours = found.curve ? found.curve->neighbours() : Question(request, curves).neighbours();
    write_out(found.text({options.quiet, stopwatch.remark(neighbours, found.curve ? found.curve->method() : "verified")}));
  }
  return ExitCode::done;
}

}  // namespace tradeoff::cli
