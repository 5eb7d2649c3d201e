// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>

#include "delta_check.h"
#include "help.h"
#include "loss/work.h"
#include "plan/assumed_poisson.h"
#include "plan/neighbours.h"
#include "report/claim.h"
#include "report/curve_picture.h"
#include "report/label.h"
#include "report/paper_sentence.h"
#include "report/risk.h"
#include "report/terminal_plot.h"
#include "sgd_run.h"
#include "stopwatch.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"
#include "tradeoff/sgd.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

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

/// What an accountant says that takes every sampler for Poisson sampling, beside what is proved for the sampler of the run.
struct Assumed {
  std::string plan;
  Interval epsilon;
};

std::optional<Assumed> assumed_of(const SgdPlan& training, const Number& delta) {
  const std::optional<Plan> plan = assumed_poisson(parse(training.plan));
  if (!plan) return std::nullopt;
  return Assumed{to_string(*plan), analyze(*plan, training.neighbours).epsilon_at(delta.value)};
}

std::string side_by_side(const Assumed& assumed, Interval certain, Sampling sampling, const std::string& delta) {
  constexpr std::size_t column = 10;
  const auto row = [&](std::string number, const std::string& text) {
    number.resize(std::max(number.size() + 1, column), ' ');
    return "  " + number + text + "\n";
  };
  return "Assumed and certain, epsilon at delta = " + delta + ":\n" +
         row(report::claimed(assumed.epsilon, report::SafeEnd::hi), "a Poisson accountant says; not proved for this sampling") +
         row(report::claimed(certain, report::SafeEnd::hi),
             "certain for " + std::string(to_word(sampling)) + "; the truth lies " + report::between(certain)) +
         "\n";
}

/// All releases on a batch as one, and the noise on the gradients if the total is stated.
std::string noise_text(const SgdRun& run) {
  const ReleaseNoise noise = release_noise(run);
  if (run.noise_is_total)
    return " Noise multiplier of each gradient release: " + report::safe_end(noise.gradients, report::SafeEnd::hi, 10) + ".";
  return " All together have the noise multiplier " + report::safe_end(noise.total, report::SafeEnd::lo, 10) + ".";
}

constexpr double slow_work = 1e5;  // about a tenth of a second

std::string picture(const Curve& curve) {
  return report::to_terminal(report::draw_curves(report::View::tradeoff, {{"this run", curve}}, Direction::worst, 61), {80, 14});
}

}  // namespace

ExitCode run_sgd(const Verb&, const Options& options) {
  const Stopwatch stopwatch;
  const Targets targets = read_sgd_targets(options);
  const Number delta = read_run_number(options, "delta");
  const SgdRun run = with_noise(read_run(options), targets);
  const SgdPlan training = to_plan(run);
  const Curve curve = analyze(parse(training.plan), training.neighbours);
  require_met(curve, targets);
  const std::uint64_t before = Work::now();
  const auto [epsilon, method, steps] = explained([&] { return curve.epsilon_at(delta.value); });
  // seconds for each further number, of which the picture and the risk need dozens
  const bool is_slow = method == Method::lattice || Work::since(before) > slow_work;
  // A rate alone does not tell the number of examples.
  const std::string* examples = options.find("examples");
  const std::string warning = examples == nullptr ? "" : delta_warning(delta.text, read_run_number(options, "examples").value.lo);
  if (!warning.empty()) write_error("warning: " + warning + "\n");
  const std::optional<Assumed> assumed = assumed_of(training, delta);
  const std::string releases = training.releases.empty() ? "" : training.releases + noise_text(run);
  const std::string remark = stopwatch.remark(curve.neighbours(), to_string(method));
  const std::string sentence = report::sentence_for_paper(run, epsilon, delta);
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("plan").text(training.plan).key("unit").text(training.unit).key("remark").text(training.remark);
    out.key("neighbours").text(report::to_word(training.neighbours)).key("protects").text(training.protects);
    if (!releases.empty()) out.key("releases").text(releases);
    out.key("epsilon").interval(epsilon);
    if (assumed) {
      out.key("poisson_accountant").begin_object().key("plan").text(assumed->plan).key("epsilon").interval(assumed->epsilon);
      out.key("proved").boolean(false).end_object();
    }
    out.key("sentence").text(sentence);
    if (!warning.empty()) out.key("warnings").begin_array().text(warning).end_array();
    if (!options.quiet && !is_slow) write_json(report::find_risk(curve), out.key("risk"));
    write_out(out.key("method").text(to_string(method)).key("steps").steps(steps).end_object().str() + "\n");
    return ExitCode::done;
  }
  const report::Claim claim{"epsilon", epsilon, report::SafeEnd::hi, "at delta = " + delta.text, {}};
  if (options.quiet) {
    const bool stated = options.find("noise-multiplier") != nullptr || options.find("total-noise") != nullptr;
    write_out((stated ? "" : "noise multiplier = " + run.noise_multiplier + "\n") + to_text(claim, {true, ""}));
    return ExitCode::done;
  }
  std::string text = "Plan: " + training.plan + "\n" + report::wrapped(training.remark, 2, 0) + report::wrapped(training.unit, 2, 0);
  if (!releases.empty()) text += releases + "\n";
  if (run.per_user > 1) text += "Unit of privacy: " + training.protects + ".\n";
  text += "\n";
  if (assumed) text += side_by_side(*assumed, epsilon, run.sampling, delta.text);
  text += to_text(claim, {false, remark}) + "\n";
  if (is_slow) {
    text += report::wrapped(
        "Further numbers about this plan take seconds each: ask for the risk by `tradeoff risk` and for the picture by `tradeoff curve`.",
        2, 0);
  } else {
    text += picture(curve) + "\n" + to_lines(report::find_risk(curve), {true, ""});
  }
  text += "\nFor a paper:\n  " + report::wrapped(sentence, 2, 2);
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
      "A real training run: 60,000 images, batches of 256, 60 epochs,\nnoise multiplier 1.1. As a plan:\n\n    " +
      training.plan + "\n\n" + claim;
  text += "\nThe first number may be claimed; the interval below it is proved,\nrounding included.\n\n" + picture(curve) + "\n";
  text += to_lines(report::find_risk(curve), {true, ""});
  text +=
      "\nAsk your own question:\n"
      "    tradeoff epsilon --delta 1e-5 \\\n"
      "        'gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)'\n"
      "    tradeoff calibrate --epsilon 2 --delta 1e-5 \\\n"
      "        'gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)'\n"
      "    tradeoff sgd --noise-multiplier 1.1 --batch 256 --examples 60000 \\\n"
      "        --epochs 60 --delta 1e-5\n"
      "    tradeoff report --out statement.html 'gaussian(sigma=2)'   to publish\n"
      "    tradeoff mechanisms          what a plan may contain\n"
      "    tradeoff --help              everything else\n";
  write_out(text);
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
