// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "inquiry.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "witness.h"

namespace tradeoff::cli {
namespace {

ExitCode code_of(const std::optional<Testimony>& testimony) {
  if (!testimony || testimony->verdict == Testimony::Verdict::confirmed) return ExitCode::done;
  return testimony->verdict == Testimony::Verdict::contradicted ? ExitCode::check_failed : ExitCode::undecided;
}

std::string words_of(const Testimony& testimony) {
  switch (testimony.verdict) {
    case Testimony::Verdict::confirmed:
      return testimony.words + "The witness, which shares nothing with this answer but the plan, confirms it.\n";
    case Testimony::Verdict::contradicted:
      return testimony.words + "The two contradict each other: one of them is wrong. Claim nothing, and report this plan as a bug.\n";
    case Testimony::Verdict::undecided:
      break;
  }
  return testimony.words + "The witness cannot tell; the answer stands on its own proof.\n";
}

}  // namespace

ExitCode run_ask(const Verb& verb, const Options& options) {
  const Stopwatch stopwatch;
  CurveCache curves;
  const Request request = to_request(verb.name, options);
  const Answer found = answer(request, curves);
  const Question question(request, curves);
  const Neighbours neighbours = found.curve ? found.curve->neighbours() : neighbours_of(question.plan(), question.neighbours());
  const std::string side = question.direction() == Direction::worst ? "" : "direction " + question.text("direction") + " only; ";
  const std::string remark = side + stopwatch.remark(neighbours, to_string(found.provenance.method));
  std::optional<Testimony> testimony;
  if (options.find("paranoid") != nullptr && found.value) testimony = ask_witness(verb.name, options, *found.value);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object();
    write_answer(found, out);
    if (testimony) out.key("witness").text(testimony->name());
    write_out(out.end_object().str() + "\n");
  } else {
    write_out(found.text({options.quiet, remark}) + (testimony ? words_of(*testimony) : ""));
  }
  return found.code != ExitCode::done ? found.code : code_of(testimony);
}

}  // namespace tradeoff::cli
