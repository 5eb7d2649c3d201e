// SPDX-License-Identifier: Apache-2.0
#include "ask/compare.h"
#include "command_request.h"
#include "progress.h"
#include "stopwatch.h"
#include "streams.h"

namespace tradeoff::detail::cli {

ExitCode run_compare(const Verb& verb, const Options& options) {
  if (options.find("epsilon-max") != nullptr) return run_ask(verb, options);
  if (options.find("delta") == nullptr)
    throw ask::RequestError("parse", "give --delta, or --epsilon-max to compare ways to measure mu", "delta", 0);
  const Stopwatch stopwatch;
  ask::CurveCache curves;
  const ask::Request request = to_request(ask::compare_question, options, curves);
  const std::uint64_t people = ask::people_of(request);
  std::vector<ask::Compared> columns;
  const Provenance provenance = provenance_of([&] {
    for (const Number& delta : request.numbers("delta")) {
      Progress::report(columns.size(), request.numbers("delta").size());
      columns.push_back(ask::compare_at(request, delta));
    }
  });
  if (!options.json) {
    const std::string remark = stopwatch.remark(request.curve()->neighbours(), to_string(provenance.method));
    write_out(ask::table_of(columns, people, {options.quiet, remark}));
    return ExitCode::done;
  }
  report::JsonWriter out;
  out.begin_object().key("answer").begin_array();
  for (const ask::Compared& column : columns) {
    out.begin_object().key("delta").text(column.delta.text).key("epsilon");
    ask::write_compared(out, column, people);
    out.end_object();
  }
  write_out(out.end_array().key("method").text(to_string(provenance.method)).key("steps").steps(provenance.steps).end_object().str() +
            "\n");
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
