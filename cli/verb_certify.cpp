// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <iterator>

#include "asks.h"
#include "certificate.h"
#include "inquiry.h"
#include "numeric/arithmetic.h"
#include "numeric/usual_arithmetic.h"
#include "output_file.h"
#include "streams.h"

namespace tradeoff::cli {
namespace {

constexpr std::string_view default_relative = "1e-6";  // that of Tolerance

std::string_view word_of(Direction direction) {
  return direction == Direction::worst ? "worst" : direction == Direction::remove ? "remove" : "add";
}

/// The question that the options ask: each number belongs to one kind.
std::string_view ask_of(const Options& options) {
  std::string_view found;
  for (const std::string_view ask : {"delta", "epsilon", "beta", "tpr"}) {
    if (options.find(field_of_ask(ask)) == nullptr) continue;
    if (!found.empty())
      throw RequestError("parse", "certify answers one question: give one of --epsilon, --delta, --alpha and --fpr", "", 0);
    found = ask;
  }
  if (found.empty()) throw RequestError("parse", "certify needs a question: one of --epsilon, --delta, --alpha and --fpr", "", 0);
  return found;
}

Request request_of(const AnswerCertificate& certificate) {
  Request request;
  const auto add = [&](std::string_view name, std::string_view text) {
    request.fields.push_back({std::string(name), std::string(text), 0, true});
  };
  add("ask", certificate.ask);
  add("plan", to_string(certificate.plan));
  add(field_of_ask(certificate.ask), certificate.at);
  add("direction", word_of(certificate.direction));
  add("relative", certificate.relative);
  if (certificate.neighbours != Neighbours::unstated) add("neighbours", report::to_word(certificate.neighbours));
  return request;
}

std::vector<Direction> directions_of(const Curve& curve, Direction asked) {
  if (curve.loss()->symmetric()) return {Direction::remove};
  if (asked != Direction::worst) return {asked};
  return {Direction::remove, Direction::add};
}

/// exp(epsilon) is the slope of beta where the attack's threshold is epsilon. About: it is where counts and errors are stated, no more.
std::optional<double> threshold_of(const Curve& curve, Direction direction, double alpha, Interval beta) {
  const double away = 0.99 * alpha;
  const double rise = curve.beta_at(Interval::exactly(away), direction).lo - beta.lo;
  const double epsilon = std::log(rise / (alpha - away));
  return std::isfinite(epsilon) ? std::optional(epsilon) : std::nullopt;
}

/// The epsilon at which the answer is decided; nothing where no profile is summed.
std::optional<double> decided_at(const AnswerCertificate& certificate, const Curve& curve) {
  if (certificate.ask == "epsilon") {  // at the lower end something of delta is left, even next to the largest loss
    const double end = certificate.answer.lo > 0 ? certificate.answer.lo : certificate.answer.hi;
    return std::isfinite(end) ? std::optional(end) : std::nullopt;
  }
  if (certificate.at == "inf") return std::nullopt;
  const double at = read_number(certificate.at).value.lo;
  if (certificate.ask == "delta") return std::isfinite(at) ? std::optional(at) : std::nullopt;
  return threshold_of(curve, certificate.direction, at, certificate.ask == "beta" ? certificate.answer : 1.0 - certificate.answer);
}

std::vector<Evaluation> evaluations_for(const AnswerCertificate& certificate, const Curve& curve) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return evaluations_for(certificate, curve); });
  std::vector<Evaluation> all;
  if (const auto epsilon = decided_at(certificate, curve)) {
    for (const Direction direction : directions_of(curve, certificate.direction)) {
      const std::vector<Evaluation> found = evaluations_of(*curve.loss(), direction, *epsilon);
      for (const Evaluation& one : found)
        if (one.log_delta.lo > -infinity) all.push_back(one);  // the others found nothing, or that nothing is left
    }
  }
  return all;
}

/// Answers the certificate's question and writes the answer into it.
void fill(AnswerCertificate& certificate, const Request& request) {
  CurveCache curves;
  const Answer found = answer(request, curves);
  certificate.version = TRADEOFF_VERSION;
  certificate.neighbours = found.curve->neighbours();
  certificate.answer = *found.value;
  certificate.log10 = found.log10;
  certificate.method = found.curve->method();
  certificate.steps = found.curve->steps();
  certificate.evaluations = evaluations_for(certificate, *found.curve);
}

ExitCode write_certificate(const Options& options) {
  AnswerCertificate certificate;
  certificate.ask = ask_of(options);
  const std::string& at = *options.find(field_of_ask(certificate.ask));
  const std::string* relative = options.find("relative");
  CurveCache curves;
  Request request;
  request.fields = {{"ask", certificate.ask, 0, true}, {"plan", options.plan, 0, true}};
  for (const auto& [option, value] : options.values)
    if (option->name != "out") request.fields.push_back({std::string(option->name), value, 0, true});
  const Question question(request, curves);
  certificate.plan = question.plan();
  certificate.direction = question.direction();
  certificate.at = at == "inf" ? at : read_number(at).text;
  fill(certificate, request);
  certificate.relative = read_number(relative ? *relative : std::string(default_relative)).text;
  write_result(options.find("out"), to_json(certificate));
  return ExitCode::done;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read the certificate '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

AnswerCertificate read_certificate(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return parse_certificate(text);
  } catch (const CertificateError& error) {
    throw InputError("'" + path + "': " + error.what());
  }
}

/// Answers again with this relative width: what both answers hold is certain.
void narrow(AnswerCertificate& certificate, const char* relative) {
  AnswerCertificate finer = certificate;
  finer.relative = relative;
  fill(finer, request_of(finer));
  certificate.answer = intersect(certificate.answer, finer.answer);
  if (certificate.log10 && finer.log10) certificate.log10 = intersect(*certificate.log10, *finer.log10);
}

struct Verdict {
  const char* word;
  const char* sentence;
  ExitCode code;
};

/// This program's own interval lies in the certified one: what that says is true. Apart from it: one of them is false.
Verdict compare(const AnswerCertificate& given, const AnswerCertificate& again) {
  const auto holds = [](Interval outer, Interval inner) { return outer.lo <= inner.lo && inner.hi <= outer.hi; };
  const auto meets = [](Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; };
  const bool both = given.log10 && again.log10;
  if (given.neighbours != again.neighbours || !meets(given.answer, again.answer) || (both && !meets(*given.log10, *again.log10)))
    return {"refuted", "The certificate is false: the answer lies elsewhere.", ExitCode::check_failed};
  if (holds(given.answer, again.answer) && (!given.log10 || (both && holds(*given.log10, *again.log10))))
    return {"confirmed", "The certificate holds: its interval contains the answer.", ExitCode::done};
  return {"undecided", "Undecided: the certified interval is narrower than what this program can prove.", ExitCode::undecided};
}

ExitCode check_certificate(const std::string& path, const Options& options) {
  const AnswerCertificate given = read_certificate(path);
  AnswerCertificate again = given;
  fill(again, request_of(given));
  Verdict verdict = compare(given, again);
  for (const char* relative : {"1e-9", "1e-12"}) {  // a narrower interval of our own may decide what the one that was asked for does not
    if (verdict.code != ExitCode::undecided) break;
    narrow(again, relative);
    verdict = compare(given, again);
  }
  report::JsonWriter out;
  if (options.json) {
    out.begin_object().key("answer").begin_object().key("verdict").text(verdict.word).key("certified").interval(given.answer, given.log10);
    out.key("again").interval(again.answer, again.log10).key("version").text(given.version).end_object();
    write_out(out.key("method").text(again.method).key("steps").steps(again.steps).end_object().str() + "\n");
    return verdict.code;
  }
  std::string text = std::string(verdict.sentence) + "\n";
  if (!options.quiet) {
    text += given.ask + " was certified " + report::between(given.answer) + ", and is found " + report::between(again.answer) + "\n";
    if (given.version != again.version) text += "It was written by version " + given.version + "; this is " + again.version + ".\n";
  }
  write_out(text);
  return verdict.code;
}

}  // namespace

ExitCode run_certify(const Verb&, const Options& options) {
  const std::string* file = options.find("check");
  if (file == nullptr) {
    if (options.plan.empty()) throw RequestError("parse", "certify needs a plan, or --check FILE", "plan", 0);
    return write_certificate(options);
  }
  if (!options.plan.empty() || options.values.size() > 1)
    throw RequestError("parse", "certify --check FILE takes neither a plan nor a question: the certificate holds both", "check", 0);
  return check_certificate(*file, options);
}

}  // namespace tradeoff::cli
