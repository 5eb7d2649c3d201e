// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "delta_check.h"
#include "plan/unknown.h"
#include "report/curve_picture.h"
#include "report/risk.h"
#include "report/terminal_plot.h"
#include "stopwatch.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"
#include "tradeoff/sgd.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

/// The number typed for an option. Throws DomainError that names the option.
Number read_option(const Options& options, std::string_view name) {
  const std::string& text = *options.find(name);
  try {
    return read_number(text);
  } catch (const ParseError&) {
    throw DomainError("sgd: --" + std::string(name) + " = " + text.substr(0, 40) +
                      " is not a number; write 60000 or 0.001, without separators");
  }
}

std::uint64_t read_count(const Options& options, std::string_view name) {
  const double value = read_option(options, name).value.lo;
  if (!(value >= 1 && value <= 1e12 && read_option(options, name) == exact_number(std::floor(value))))
    throw DomainError("sgd: --" + std::string(name) + " = " + options.find(name)->substr(0, 40) +
                      " is not allowed; it must be a whole number from 1 to 1e12");
  return static_cast<std::uint64_t>(value);
}

/// The batch size: stated, or the sampling rate times the number of examples. The tolerance allows a rate that another program printed with
/// few digits; the plan states the exact quotient.
std::uint64_t read_batch(const Options& options, std::uint64_t examples) {
  const bool by_rate = options.find("sample-rate") != nullptr;
  if ((options.find("batch") != nullptr) == by_rate) throw DomainError("sgd: state either --batch M or --sample-rate Q");
  if (!by_rate) return read_count(options, "batch");
  const double batch = read_option(options, "sample-rate").value.lo * static_cast<double>(examples), whole = std::round(batch);
  constexpr double rounding = 1e-9;
  if (!(whole >= 1 && whole <= static_cast<double>(examples) && std::abs(batch - whole) <= rounding * whole))
    throw DomainError("sgd: --sample-rate = " + options.find("sample-rate")->substr(0, 40) + " is not a whole number of the " +
                      std::to_string(examples) + " examples; write it as a quotient, as in 256/60000, or state --batch");
  return static_cast<std::uint64_t>(whole);
}

SgdRun read_run(const Options& options) {
  SgdRun run;
  const std::string *noise = options.find("noise-multiplier"), *sampling = options.find("sampling"), *whose = options.find("neighbours");
  run.noise_multiplier = noise == nullptr ? "?" : read_option(options, "noise-multiplier").text;
  run.examples = read_count(options, "examples");
  run.batch = read_batch(options, run.examples);
  if (options.find("epochs") != nullptr) run.epochs = read_option(options, "epochs");
  if (options.find("steps") != nullptr) run.steps = read_count(options, "steps");
  if (sampling != nullptr) run.sampling = read_sampling(*sampling);
  if (whose != nullptr) run.neighbours = *whose == "add-remove" ? Neighbours::add_remove : Neighbours::replace_one;
  return run;
}

/// Reads every stated target. Without --epsilon, --delta is the delta at which epsilon is reported.
Targets read_sgd_targets(const Options& options) {
  return read_targets(
      [&](std::string_view word) {
        const std::string* text = word == "delta" && options.find("epsilon") == nullptr ? nullptr : options.find(word);
        return text == nullptr ? std::nullopt : std::optional(*text);
      },
      "--");
}

/// Solves for the noise multiplier that meets every target, if none was stated.
SgdRun with_noise(SgdRun run, const Targets& targets) {
  if (run.noise_multiplier != "?") return run;
  if (targets.empty())
    throw DomainError("sgd: state --noise-multiplier Z, or a target to find it for: --epsilon E, --mu M or --advantage A");
  const SgdPlan open = to_plan(run);
  run.noise_multiplier = calibrate(parse(open.plan), targets, open.neighbours).printed;
  return run;
}

std::string picture(const Curve& curve) {
  return report::to_terminal(report::draw_curves(report::View::tradeoff, {{"this run", curve}}, Direction::worst, 61), {80, 14});
}

}  // namespace

ExitCode run_sgd(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  const Targets targets = read_sgd_targets(options);
  const Number delta = read_option(options, "delta");
  const SgdRun run = with_noise(read_run(options), targets);
  const SgdPlan training = to_plan(run);
  const Curve curve = analyze(parse(training.plan), training.neighbours);
  require_met(curve, targets);
  const auto [epsilon, method, steps] = explained([&] { return curve.epsilon_at(delta.value); });
  const report::Risk risk = report::find_risk(curve);
  const std::string warning = delta_warning(delta.text, static_cast<double>(run.examples));
  if (!warning.empty()) write_error("warning: " + warning + "\n");
  const std::string remark = stopwatch.remark(curve.neighbours(), to_string(method));
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("plan").text(training.plan).key("unit").text(training.unit).key("remark").text(training.remark);
    out.key("epsilon").interval(epsilon);
    if (!warning.empty()) out.key("warnings").begin_array().text(warning).end_array();
    write_json(risk, out.key("risk"));
    write_out(out.key("method").text(to_string(method)).key("steps").steps(steps).end_object().str() + "\n");
    return ExitCode::done;
  }
  std::string text = "Plan: " + training.plan + "\n" + training.remark + "\n" + training.unit + "\n\n";
  text += to_text(report::Claim{"epsilon", epsilon, report::SafeEnd::hi, "at delta = " + delta.text, {}}, {options.quiet, remark});
  if (!options.quiet) text += "\n" + picture(curve) + "\n" + to_lines(risk, {true, ""});
  write_out(text);
  return ExitCode::done;
}

ExitCode run_tour(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  // The settings of the well-known MNIST tutorial of DP-SGD: 60 epochs, noise multiplier 1.1, batches of 256.
  const SgdPlan training = to_plan({"1.1", 256, 60000, read_number("60"), {}, Sampling::poisson, Neighbours::unstated});
  const Curve curve = analyze(parse(training.plan), training.neighbours);
  const auto epsilon = explained([&] { return curve.epsilon_at(1e-5); });
  const std::string claim = to_text(report::Claim{"epsilon", epsilon.value, report::SafeEnd::hi, "at delta = 1e-5", {}},
                                    {options.quiet, stopwatch.remark(curve.neighbours(), to_string(epsilon.method))});
  if (options.quiet) {
    write_out(claim);
    return ExitCode::done;
  }
  std::string text =
      "tradeoff computes how private a computation is, with proved bounds.\n\n"
      "A real training run: 60,000 images, batches of 256, 60 epochs, noise multiplier 1.1. As a plan:\n\n    " +
      training.plan + "\n\n" + claim;
  text += "\nThe first number may be claimed; the interval below it is proved, rounding included.\n\n" + picture(curve) + "\n";
  text += to_lines(report::find_risk(curve), {true, ""});
  text +=
      "\nAsk your own question:\n"
      "    ./run epsilon --delta 1e-5 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'\n"
      "    ./run calibrate --epsilon 2 --delta 1e-5 'gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)'\n"
      "    ./run sgd --noise-multiplier 1.1 --batch 256 --examples 60000 --epochs 60 --delta 1e-5\n"
      "    ./run report --out statement.html 'gaussian(sigma=2)'     a page for publication\n"
      "    ./run mechanisms          what a plan may contain\n"
      "    ./run --help              everything else\n";
  write_out(text);
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
