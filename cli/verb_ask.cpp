// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <variant>

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

bool has_argument(const Call& call, std::string_view name) {
  return std::any_of(call.arguments.begin(), call.arguments.end(), [&](const Argument& one) { return one.name == name; });
}

/// Whether a line samples Gaussian noise for which neither a clip norm nor a sensitivity is stated.
bool samples_noise_without_sensitivity(const Plan& plan) {
  const auto is_sampler = [](const Call& one) { return one.name == "poisson" || one.name == "allocate" || one.name == "shuffle"; };
  return std::any_of(plan.lines.begin(), plan.lines.end(), [&](const Line& line) {
    if (const auto* inner = std::get_if<Plan>(&line.source)) return samples_noise_without_sensitivity(*inner);
    const auto* source = std::get_if<Call>(&line.source);
    return source != nullptr && source->name == "gaussian" && !has_argument(*source, "clip") && !has_argument(*source, "sensitivity") &&
           std::any_of(line.operators.begin(), line.operators.end(), is_sampler);
  });
}

/// A default that understates a run with the clip norm 1 by a factor of two in the shift, and that hides that contributions are bounded.
/// [poisson-replace-one]
std::string assumption_of(const Plan& plan, Neighbours neighbours) {
  if (neighbours != Neighbours::replace_one || !samples_noise_without_sensitivity(plan)) return {};
  return "sensitivity = 1, by default: a replaced record moves the sum by at most 1. Clipped to norm 1 it moves by 2: write "
         "gaussian(sigma, clip=1)";
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
  const std::string assumption = assumption_of(request.plan(), neighbours);
  const std::string remark =
      side + stopwatch.remark(neighbours, to_string(found.provenance.method)) + (assumption.empty() ? "" : "\n    assumes " + assumption);
  std::optional<Testimony> testimony;
  if (options.find("paranoid") != nullptr && found.value) testimony = ask_witness(verb.name, options, *found.value);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object();
    write_answer(found, out);
    describe(request, found, neighbours, out);
    if (!assumption.empty()) out.key("assumes").text(assumption);
    if (testimony) out.key("witness").text(testimony->name());
    write_out(out.end_object().str() + "\n");
  } else {
    write_out(found.text({options.quiet, remark}) + (testimony ? words_of(*testimony) : ""));
  }
  return found.outcome != ask::Outcome::answered ? code_of(found.outcome) : code_of(testimony);
}

}  // namespace tradeoff::detail::cli
