// SPDX-License-Identifier: Apache-2.0
#include "inquiry.h"
#include "report/curve_picture.h"
#include "report/risk.h"
#include "report/terminal_plot.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "training.h"

namespace tradeoff::cli {
namespace {

Sampling read_sampling(const Options& options) {
  const std::string* given = options.find("sampling");
  if (given == nullptr || *given == "poisson") return Sampling::poisson;
  return *given == "fixed" ? Sampling::fixed : Sampling::shuffled;
}

Neighbours read_neighbours(const Options& options) {
  const std::string* given = options.find("neighbours");
  if (given == nullptr) return Neighbours::unstated;
  return *given == "add-remove" ? Neighbours::add_remove : Neighbours::replace_one;
}

/// A count that was typed in, or 0 if it is not a number at all: the range check then names the option.
double read_count(const Options& options, std::string_view name) {
  const std::string* given = options.find(name);
  const Number number = read_number(given == nullptr ? "0" : *given);
  return number.value.lo == number.value.hi ? number.value.lo : 0;
}

Training read_training(const Options& options) {
  const Number noise = read_number(*options.find("noise-multiplier"));
  if (!(noise.value.lo > 0)) throw DomainError("--noise-multiplier must be above 0");
  const Number epochs = read_number(*options.find("epochs"));
  return {noise.text,      read_count(options, "batch"), read_count(options, "examples"),
          epochs.value.hi, read_sampling(options),       read_neighbours(options)};
}

std::string picture(const Curve& curve) {
  return report::to_terminal(report::draw_curves(report::View::tradeoff, {{"this run", curve}}, Direction::worst, 61), {80, 14});
}

}  // namespace

ExitCode run_sgd(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  const TrainingPlan training = to_plan(read_training(options));
  const Number delta = read_number(*options.find("delta"));
  const Curve curve = analyze(parse(training.plan), training.neighbours);
  const Interval epsilon = curve.epsilon_at(delta.value);
  const report::Risk risk = report::find_risk(curve, Direction::worst);
  const std::string remark = stopwatch.remark(curve.neighbours(), curve.method());
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("plan").text(training.plan).key("remark").text(training.remark).key("epsilon").interval(epsilon);
    write_json(risk, out.key("risk"));
    write_out(out.key("method").text(curve.method()).key("steps").steps(curve.steps()).end_object().str() + "\n");
    return ExitCode::done;
  }
  std::string text = "Plan: " + training.plan + "\n" + training.remark + "\n\n";
  text += to_text(report::Claim{"epsilon", epsilon, report::SafeEnd::hi, "at delta = " + delta.text, {}}, {options.quiet, remark});
  if (!options.quiet) text += "\n" + picture(curve) + "\n" + to_lines(risk, {true, ""});
  write_out(text);
  return ExitCode::done;
}

ExitCode run_tour(const Verb&, const Options&) {
  const Stopwatch stopwatch;
  // The settings of the MNIST tutorial that private training is usually shown with: 60 epochs, noise multiplier 1.1, batches of 256.
  const TrainingPlan training = to_plan({"1.1", 256, 60000, 60, Sampling::poisson, Neighbours::unstated});
  const Curve curve = analyze(parse(training.plan), training.neighbours);
  std::string text =
      "tradeoff answers how private a computation is, with numbers that are certain to hold.\n\n"
      "A real training run: 60,000 images, batches of 256, 60 epochs, noise multiplier 1.1. As a plan:\n\n    " +
      training.plan + "\n\n";
  text += to_text(report::Claim{"epsilon", curve.epsilon_at(1e-5), report::SafeEnd::hi, "at delta = 1e-5", {}},
                  {false, stopwatch.remark(curve.neighbours(), curve.method())});
  text += "\nThe first number may be claimed; the interval behind it is proved, rounding included.\n\n" + picture(curve) + "\n";
  text += to_lines(report::find_risk(curve, Direction::worst), {true, ""});
  text +=
      "\nAsk your own question:\n"
      "    ./run epsilon --delta 1e-5 'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'\n"
      "    ./run calibrate --epsilon 2 --delta 1e-5 'gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)'\n"
      "    ./run sgd --noise-multiplier 1.1 --batch 256 --examples 60000 --epochs 60 --delta 1e-5\n"
      "    ./run report --out statement.html 'gaussian(sigma=2)'     the page to hand to someone\n"
      "    ./run mechanisms          what a plan may contain\n"
      "    ./run --help              everything else\n";
  write_out(text);
  return ExitCode::done;
}

}  // namespace tradeoff::cli
