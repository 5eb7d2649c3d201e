// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "audit/one_run.h"
#include "audit/two_sample.h"
#include "command_request.h"
#include "numeric/arithmetic.h"
#include "output_file.h"
#include "progress.h"
#include "report/audit_note.h"
#include "report/claim.h"
#include "report/curve_picture.h"
#include "report/json.h"
#include "report/svg.h"
#include "report/terminal_plot.h"
#include "row_reader.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::cli {
namespace {

using audit::Order;

constexpr std::uint64_t usual_samples = 100'000;  // of a command or a pipe
constexpr std::uint64_t usual_seconds = 600;
constexpr double usual_delta = 1e-5;

constexpr std::array<ask::Field, 5> audit_fields = {
    {{"confidence", "of the verdict", ask::Kind::number, {"between 0.5 and 0.999999", 0.5, 0.999999}},
     {"samples", "pairs of outputs", ask::Kind::number, ask::whole_numbers("a whole number from 100 to 1e12", 100, 1e12)},
     {"seconds", "limit of the commands", ask::Kind::number, ask::whole_numbers("a whole number from 1 to 604800", 1, 604800)},
     {"margin", "of a consistent claim", ask::Kind::number, {"between 0.001 and 1", 0.001, 1}},
     {"delta", "where epsilon is bounded", ask::Kind::number, ask::probability}}};
constexpr ask::Question audit_row{.name = "audit", .meaning = "test a claim on samples", .fields = audit_fields};

const char* word_of(audit::Verdict verdict) {
  if (verdict == audit::Verdict::refuted) return "refuted";
  return verdict == audit::Verdict::consistent ? "consistent" : "inconclusive";
}
ExitCode code_of_verdict(audit::Verdict verdict) {
  if (verdict == audit::Verdict::refuted) return ExitCode::check_failed;
  return verdict == audit::Verdict::consistent ? ExitCode::done : ExitCode::undecided;
}
const char* likelier_in(Order order) { return order == Order::with_over_without ? "with" : "without"; }
const char* other_than(Order order) { return order == Order::with_over_without ? "without" : "with"; }

std::string below(double value) { return report::safe_end(Interval::exactly(value), report::SafeEnd::lo, 4); }
std::string above(double value) { return report::safe_end(Interval::exactly(value), report::SafeEnd::hi, 4); }

struct Terms {
  std::string confidence = "0.999";
  double error = 0.001;
  std::string delta_text = "1e-5";
  double delta = usual_delta;
};

Terms read_terms(const ask::Request& request) {
  Terms terms;
  if (request.has("confidence")) {
    terms.confidence = request.text("confidence");
    terms.error = (1.0 - request.value("confidence")).lo;  // a smaller error than asked for
  }
  if (request.has("delta")) {
    terms.delta_text = request.text("delta");
    terms.delta = request.value("delta").hi;
  }
  return terms;
}

// --- outputs of two data sets

std::unique_ptr<RowReader> open_rows(const Options& options, const std::string& side, std::chrono::seconds time_limit) {
  const std::string *file = options.find(side), *command = options.find(side + "-command");
  if (file != nullptr && command != nullptr) throw DomainError("audit: give --" + side + " or --" + side + "-command, not both");
  if (file != nullptr) {
    if (!std::filesystem::exists(*file) && file->find(' ') != std::string::npos)
      throw InputError("--" + side + ": there is no file " + *file + "; a command is given by --" + side + "-command");
    return read_rows_of_file(*file, "--" + side);
  }
  if (command != nullptr) return read_rows_of_command(*command, "--" + side + "-command", time_limit);
  throw DomainError("audit: the outputs " + side + " the record are missing: --" + side + " FILE or --" + side +
                    "-command COMMAND (or --canaries, or --guesses)");
}

std::uint64_t pairs_of(const ask::Request& request, const RowReader& with, const RowReader& without) {
  if (with.rows() && without.rows() && *with.rows() != *without.rows())
    throw DomainError("audit: --with has " + std::to_string(*with.rows()) + " rows and --without has " + std::to_string(*without.rows()) +
                      "; both need the same number. No verdict is given");
  const std::optional<std::uint64_t> known = with.rows() ? with.rows() : without.rows();
  if (!request.has("samples")) return known.value_or(usual_samples);
  const std::uint64_t wanted = request.whole("samples");
  if (known && *known < wanted)
    throw DomainError("audit: --samples " + std::to_string(wanted) + " are more than the " + std::to_string(*known) +
                      " rows that there are");
  return wanted;
}

/// What the values show, and what the lowest bits show. The two share the error only if both decide.
struct Findings {
  audit::Result values;
  audit::Result bits;
  bool bits_decide = false;  ///< --bits

  [[nodiscard]] const audit::Result& deciding() const { return bits_decide && bits.refutation && !values.refutation ? bits : values; }
};

/// Reads pairs until all planned ones are read, or, from commands, until the claim is refuted.
Findings read_pairs(const ask::Request& request, const Options& options, const Curve& curve, const Terms& terms) {
  const std::chrono::seconds time_limit(request.has("seconds") ? request.whole("seconds") : usual_seconds);
  const auto with = open_rows(options, "with", time_limit), without = open_rows(options, "without", time_limit);
  const std::uint64_t pairs = pairs_of(request, *with, *without);
  const bool is_endless = options.find("with-command") != nullptr && options.find("without-command") != nullptr;
  const double margin = request.has("margin") ? request.value("margin").lo : audit::Settings{}.margin;
  const bool bits_decide = options.find("bits") != nullptr;
  const double share = bits_decide ? terms.error / 2 : terms.error;
  audit::TwoSampleAudit auditor(curve, request.direction(), {share, pairs, margin});
  audit::TwoSampleAudit bits(curve, request.direction(), {share, pairs, margin, audit::Features::low_bits});
  std::vector<double> one, other;
  const auto is_decided = [&] {
    return is_endless && (auditor.is_refuted() || (bits_decide && bits.is_refuted())) &&
           auditor.pairs() >= audit::TwoSampleAudit::fewest_pairs;
  };
  while (auditor.pairs() < pairs && !is_decided()) {
    if (auditor.pairs() % 4096 == 0) Progress::report(auditor.pairs(), pairs);
    const bool has_one = with->next(one), has_other = without->next(other);
    if (!has_one && !has_other && !request.has("samples")) break;  // pipes that end together
    if (!has_one || !has_other)
      throw DomainError("audit: the outputs " + std::string(has_one ? "without" : "with") + " the record end after " +
                        std::to_string(auditor.pairs()) + " rows, before the others. No verdict is given");
    try {
      auditor.add(one, other);
      bits.add(one, other);
    } catch (const DomainError& error) {
      throw DomainError("audit: row " + std::to_string(auditor.pairs() + 1) + ": " + error.what() + ". No verdict is given");
    }
  }
  return {auditor.result(), bits.result(), bits_decide};
}

/// What the lowest bits show, if they do not decide.
std::string note_of(const Findings& found, const Terms& terms) {
  if (found.bits_decide || !found.bits.refutation) return {};
  return "    note: the lowest bits of the outputs refute the plan with confidence " + terms.confidence + " (" +
         found.bits.refutation->event + "):\n    noise in floating-point arithmetic gives records away; with --bits this decides\n";
}

constexpr std::array<double, 8> shown_epsilons = {0, 0.25, 0.5, 1, 2, 3, 4, 6};

std::string counts_text(const audit::Count& first, const audit::Count& second, Order order) {
  return std::to_string(first.hits) + " of " + std::to_string(first.samples) + " outputs " + likelier_in(order) + " the record, " +
         std::to_string(second.hits) + " of " + std::to_string(second.samples) + " " + other_than(order) + " it";
}

std::string to_text(const audit::Result& result, const Terms& terms, const std::string& plan) {
  const std::string indent = "    ";
  std::string text = std::string(word_of(result.verdict)) + ": ";
  if (result.refutation) {
    const audit::Refutation& found = *result.refutation;
    text += "with confidence " + terms.confidence + " the program does not have the privacy of " + plan + "\n";
    text += indent + "event: " + found.event + "\n" + indent + "seen in " + counts_text(found.first, found.second, found.order) + "\n";
    text += indent + "the plan allows at most e^" + above(found.epsilon) + " times the other probability plus " + above(found.delta) + "\n";
    text += indent + "decided after " + std::to_string(found.pairs) + " pairs; " + std::to_string(result.pairs) + " were read\n";
  } else if (result.verdict == audit::Verdict::consistent) {
    text += "no tested event exceeds " + plan + " by more than the margin\n";
    text += indent + "this is no proof of privacy: events that were not tested, or are rarer than " +
            above(3.0 / static_cast<double>(result.pairs)) + ", are not seen\n";
    text += indent + std::to_string(result.pairs) + " pairs, confidence " + terms.confidence + "\n";
  } else {
    text += std::to_string(result.pairs) + " pairs neither refute nor support " + plan + "\n";
    if (result.more_pairs)
      text += indent + "estimate: " + std::to_string(*result.more_pairs) + " more pairs would " +
              (result.more_would_refute ? "refute it, if the rates stay as they are" : "decide, if the rates stay as they are") + "\n";
  }
  text += indent + "shown with confidence " + terms.confidence + ", all at once: mu >= " + below(result.mu_below) +
          ", advantage >= " + below(result.advantage_below) + ", epsilon >= " + below(result.epsilon_below(terms.delta)) +
          " at delta = " + terms.delta_text + "\n";
  return text;
}

void write_count(report::JsonWriter& out, const audit::Count& count) {
  out.begin_object().key("hits").integer(count.hits).key("samples").integer(count.samples).end_object();
}

void write_head(report::JsonWriter& out, const ask::Request& request, const Curve& curve, const Terms& terms, audit::Verdict verdict) {
  out.begin_object().key("verdict").text(word_of(verdict)).key("confidence").text(terms.confidence);
  out.key("plan").text(to_string(request.plan())).key("neighbours").text(report::to_word(curve.neighbours()));
  out.key("direction").text(request.has("direction") ? request.text("direction") : "worst");
}

std::string to_json(const Findings& findings, const ask::Request& request, const Curve& curve, const Terms& terms) {
  const audit::Result& result = findings.deciding();
  report::JsonWriter out;
  write_head(out, request, curve, terms, result.verdict);
  out.key("pairs").integer(result.pairs).key("columns").integer(result.columns).key("evidence").number(result.evidence);
  out.key("refutation");
  if (result.refutation) {
    const audit::Refutation& found = *result.refutation;
    out.begin_object().key("pairs").integer(found.pairs).key("event").text(found.event).key("likelier").text(likelier_in(found.order));
    out.key("epsilon").number(found.epsilon).key("delta").number(found.delta).key("likelier_count");
    write_count(out, found.first);
    out.key("other_count");
    write_count(out, found.second);
    out.end_object();
  } else {
    out.null();
  }
  out.key("mu_below").number(result.mu_below).key("advantage_below").number(result.advantage_below);
  out.key("epsilon_below")
      .begin_object()
      .key("delta")
      .number(terms.delta)
      .key("epsilon")
      .number(result.epsilon_below(terms.delta))
      .end_object();
  out.key("band").begin_array();
  for (const double epsilon : shown_epsilons)
    out.begin_object()
        .key("epsilon")
        .number(epsilon)
        .key("delta_below")
        .number(result.delta_below(epsilon))
        .key("claimed")
        .interval(curve.delta_at(epsilon, request.direction()))
        .end_object();
  out.end_array().key("events").begin_array();
  for (const audit::TestedEvent& event : result.events) {
    out.begin_object()
        .key("event")
        .text(event.text)
        .key("likelier")
        .text(likelier_in(event.order))
        .key("likelier_rate")
        .interval(event.first_rate);
    out.key("other_rate").interval(event.second_rate).end_object();
  }
  out.end_array().key("more_pairs");
  if (result.more_pairs) {
    out.begin_object()
        .key("estimate")
        .integer(*result.more_pairs)
        .key("would")
        .text(result.more_would_refute ? "refute" : "decide")
        .end_object();
  } else {
    out.null();
  }
  out.key("low_bits")
      .begin_object()
      .key("decide")
      .boolean(findings.bits_decide)
      .key("refuted")
      .boolean(findings.bits.refutation.has_value());
  if (findings.bits.refutation)
    out.key("event").text(findings.bits.refutation->event).key("pairs").integer(findings.bits.refutation->pairs);
  return out.end_object().key("version").text(TRADEOFF_VERSION).end_object().str() + "\n";
}

/// The claimed curve, and the upper bound of the program's curve that the attacks show.
report::Picture draw(const audit::Result& result, const ask::Request& request, const Curve& curve) {
  report::Picture picture = report::tradeoff_axes("Attacks seen in the samples, and the claim");
  picture.series.push_back(report::tradeoff_series("claimed: " + to_string(request.plan()), curve, request.direction()));
  std::vector<report::Attack> attacks;
  for (const audit::TestedEvent& event : result.events) {
    if (event.order == Order::without_over_with && request.direction() != Direction::worst) {  // the same axes: the complement of the event
      attacks.emplace_back(1 - event.first_rate.lo, event.second_rate.hi);
    } else {
      attacks.emplace_back(event.second_rate.hi, 1 - event.first_rate.lo);
    }
  }
  picture.series.push_back(report::attack_series("shown by attacks: the curve lies below", std::move(attacks)));
  picture.series.push_back(report::guessing_line());
  return picture;
}

void show(const Findings& findings, const ask::Request& request, const Options& options, const Curve& curve, const Terms& terms) {
  const audit::Result& result = findings.deciding();
  const std::string text = options.json ? to_json(findings, request, curve, terms)
                                        : to_text(result, terms, to_string(request.plan())) + note_of(findings, terms);
  const std::string *format = options.find("format"), *file = options.find("out");
  if (file != nullptr && format == nullptr) throw DomainError("audit: --out is the file of the picture; add --format svg or term");
  if (format == nullptr) {
    write_out(text);
    return;
  }
  const report::Picture picture = draw(result, request, curve);
  const std::string drawn =
      *format == "svg"
          ? report::to_svg({picture.title, "The claimed trade-off curve, and the bound that the tested events show.", {picture}})
          : report::to_terminal(picture);
  if (file != nullptr) {
    write_file(*file, drawn);
    write_out(text);
  } else if (options.json) {
    throw DomainError("audit: --json and --format need --out FILE for the picture");
  } else {
    write_out(*format == "svg" ? drawn : text + "\n" + drawn);
  }
}

// --- one run with canaries

std::vector<audit::Canary> read_canaries(const std::string& path) {
  const auto rows = read_rows_of_file(path, "--canaries");
  std::vector<audit::Canary> canaries;
  std::vector<double> row;
  while (rows->next(row)) {
    const std::string place = "--canaries: row " + std::to_string(canaries.size() + 1);
    if (row.size() != 2) throw DomainError(place + " has " + std::to_string(row.size()) + " numbers; it must be: score, included (0 or 1)");
    if (row[1] != 0 && row[1] != 1) throw DomainError(place + ": included must be 0 or 1");
    canaries.push_back({row[0], row[1] == 1});
  }
  if (canaries.size() < audit::fewest_canaries)
    throw DomainError("--canaries: at least 16 canaries are needed; there are " + std::to_string(canaries.size()));
  return canaries;
}

audit::Guesses read_guesses(const std::string& text) {
  const std::vector<std::string> parts = ask::split_at_commas(text);
  std::array<std::uint64_t, 3> numbers{};
  bool good = parts.size() == 3;
  for (std::size_t i = 0; good && i < 3; ++i) {
    const bool digits = !parts[i].empty() && parts[i].size() < 16 && parts[i].find_first_not_of("0123456789") == std::string::npos;
    good = digits;
    if (digits) numbers[i] = std::stoull(parts[i]);
  }
  if (!good)
    throw DomainError("--guesses = " + text.substr(0, 40) + " is not allowed; it must be RIGHT,MADE,CANARIES, for example 812,1000,1000");
  return {.canaries = numbers[2], .made = numbers[1], .right = numbers[0]};
}

ExitCode run_one_run(const ask::Request& request, const Options& options, const Curve& curve, const Terms& terms) {
  request.require_both_directions("guesses are about both directions at once");
  for (const char* unused : {"bits", "with", "without", "with-command", "without-command", "samples", "margin", "format", "out"})
    if (options.find(unused) != nullptr)
      throw DomainError("audit: --" + std::string(unused) + " does not apply to the canaries of one run");
  const std::string *file = options.find("canaries"), *counts = options.find("guesses");
  if (file != nullptr && counts != nullptr) throw DomainError("audit: give --canaries or --guesses, not both");
  std::vector<audit::Guesses> trials;
  if (file != nullptr)
    trials = audit::guess_all(read_canaries(*file));
  else
    trials.push_back(read_guesses(*counts));
  const audit::OneRun found =
      audit::judge_one_run(trials, audit::claim_of(curve, Direction::worst).of(Order::with_over_without), terms.delta, terms.error);
  const audit::Verdict verdict = found.chance <= terms.error ? audit::Verdict::refuted : audit::Verdict::inconclusive;
  if (options.json) {
    report::JsonWriter out;
    write_head(out, request, curve, terms, verdict);
    out.key("canaries").integer(found.best.canaries).key("guesses").integer(found.best.made).key("right").integer(found.best.right);
    out.key("chance_above").number(found.chance).key("mu_below").number(found.mu_below).key("epsilon_below").begin_object();
    out.key("delta").number(terms.delta).key("epsilon").number(found.epsilon_below).end_object();
    write_out(out.key("version").text(TRADEOFF_VERSION).end_object().str() + "\n");
  } else {
    const std::string plan = to_string(request.plan()), guesses = std::to_string(found.best.right) + " of " +
                                                                  std::to_string(found.best.made) + " guesses about " +
                                                                  std::to_string(found.best.canaries) + " canaries are right";
    std::string text = verdict == audit::Verdict::refuted
                           ? "refuted: with confidence " + terms.confidence + " the run does not have the privacy of " + plan + "\n"
                           : "inconclusive: the guesses do not refute " + plan + "\n";
    text += "    " + guesses + "; under the plan at most this likely: " + above(found.chance) + "\n";
    text += "    shown with confidence " + terms.confidence + ", each by itself: epsilon >= " + below(found.epsilon_below) +
            " at delta = " + terms.delta_text + "; mu >= " + below(found.mu_below) + "\n";
    write_out(text);
  }
  return code_of_verdict(verdict);
}

}  // namespace

ExitCode run_audit(const Verb&, const Options& options) {
  ask::CurveCache curves;
  const ask::Request request = to_request(audit_row, options, curves);
  const Terms terms = read_terms(request);
  const auto curve = request.curve();
  if (options.find("canaries") != nullptr || options.find("guesses") != nullptr) return run_one_run(request, options, *curve, terms);
  const Findings found = read_pairs(request, options, *curve, terms);
  show(found, request, options, *curve, terms);
  return code_of_verdict(found.deciding().verdict);
}

}  // namespace tradeoff::detail::cli
