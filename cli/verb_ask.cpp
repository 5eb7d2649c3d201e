// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "command_request.h"
#include "plan/neighbours.h"
#include "stopwatch.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "tradeoff/version.h"
#include "witness.h"

namespace tradeoff::detail::cli {
namespace {

ExitCode code_of(const std::optional<Testimony>& testimony) {
  if (!testimony || testimony->verdict == Testimony::Verdict::confirmed) return ExitCode::done;
  return testimony->verdict == Testimony::Verdict::contradicted ? ExitCode::check_failed : ExitCode::undecided;
}

std::string words_of(const Testimony& testimony) {
  switch (testimony.verdict) {
    case Testimony::Verdict::confirmed:
      return testimony.words + "The witness, an independent program, confirms this answer.\n";
    case Testimony::Verdict::contradicted:
      return testimony.words + "The two contradict each other: one of them is wrong. Claim nothing, and report this plan as a bug.\n";
    case Testimony::Verdict::undecided:
      break;
  }
  return testimony.words + "The witness cannot decide; the answer is proved without it.\n";
}

ExitCode code_of(ask::Outcome outcome) {
  if (outcome == ask::Outcome::answered) return ExitCode::done;
  return outcome == ask::Outcome::no ? ExitCode::check_failed : ExitCode::undecided;
}

/// The question with the same name as the verb.
const ask::Question& question_of(const Verb& verb) {
  if (const ask::Question* found = ask::find_question(verb.name)) return *found;
  throw std::logic_error("no question is called " + std::string(verb.name));
}

/// What was asked, so that an answer can be kept without the command that caused it. Numbers are as they were written.
void describe(const ask::Request& request, const ask::Answer& found, Neighbours neighbours, report::JsonWriter& out) {
  out.key("question").begin_object().key("ask").text(request.question().name);
  for (const ask::Field& field : request.question().fields)
    if (request.has(field.name)) out.key(field.name).text(request.text(field.name));
  out.end_object().key("plan").text(to_string(request.plan())).key("neighbours").text(to_word(neighbours));
  out.key("direction").text(request.has("direction") ? request.text("direction") : "worst");
  if (found.safe_end) out.key("safe_end").text(*found.safe_end == report::SafeEnd::hi ? "hi" : "lo");
  out.key("version").text(TRADEOFF_VERSION);
}

}  // namespace

ExitCode run_ask(const Verb& verb, const Options& options) {
  const Stopwatch stopwatch;
  ask::CurveCache curves;
  const ask::Request request = to_request(question_of(verb), options, curves);
  const ask::Answer found = ask::answer(request);
  const Neighbours neighbours = found.curve ? found.curve->neighbours() : neighbours_of(request.plan(), request.neighbours());
  const std::string side = request.direction() == Direction::worst ? "" : "direction " + request.text("direction") + " only; ";
  const std::string remark = side + stopwatch.remark(neighbours, to_string(found.provenance.method));
  std::optional<Testimony> testimony;
  if (options.find("paranoid") != nullptr && found.value) testimony = ask_witness(verb.name, options, *found.value);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object();
    write_answer(found, out);
    describe(request, found, neighbours, out);
    if (testimony) out.key("witness").text(testimony->name());
    write_out(out.end_object().str() + "\n");
  } else {
    write_out(found.text({options.quiet, remark}) + (testimony ? words_of(*testimony) : ""));
  }
  return found.outcome != ask::Outcome::answered ? code_of(found.outcome) : code_of(testimony);
}

}  // namespace tradeoff::detail::cli
