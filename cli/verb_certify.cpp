// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "inquiry.h"
#include "output_file.h"
#include "report/certificate.h"
#include "report/verify.h"
#include "tradeoff/version.h"

namespace tradeoff::cli {
namespace {

/// The question that the options ask: each number belongs to one kind.
std::string_view ask_of(const Options& options) {
  std::string_view found;
  for (const std::string_view ask : {"delta", "epsilon", "beta", "tpr"}) {
    if (options.find(report::field_of_ask(ask)) == nullptr) continue;
    if (!found.empty())
      throw RequestError("parse", "certify answers one question: give one of --epsilon, --delta, --alpha and --fpr", "", 0);
    found = ask;
  }
  if (found.empty()) throw RequestError("parse", "certify needs a question: one of --epsilon, --delta, --alpha and --fpr", "", 0);
  return found;
}

}  // namespace

ExitCode run_certify(const Verb& verb, const Options& options) {
  if (const std::string* file = options.find("check")) {
    if (!options.plan.empty() || options.values.size() > 1)
      throw RequestError("parse", "certify --check FILE takes neither a plan nor a question: the certificate holds both", "check", 0);
    Options given = options;
    given.values.clear();
    given.further = {*file};
    return run_verify(verb, given);
  }
  if (options.plan.empty()) throw RequestError("parse", "certify needs a plan", "plan", 0);
  report::CertifiedAnswer asked{std::string(ask_of(options)), ""};
  const std::string& at = *options.find(report::field_of_ask(asked.ask));
  CurveCache curves;
  Request request;
  request.fields = {{"ask", asked.ask, 0, true}, {"plan", options.plan, 0, true}};
  for (const auto& [option, value] : options.values)
    if (option->name != "out") request.fields.push_back({std::string(option->name), value, 0, true});
  const Question question(request, curves);
  static_cast<void>(answer(request, curves));  // refuses a question that is not allowed, naming the option
  asked.direction = question.direction();
  asked.at = at == "inf" ? at : read_number(at).text;
  if (const std::string* relative = options.find("relative")) asked.relative = read_number(*relative).text;
  const auto curve = question.curve();
  report::CertificateDocument document;
  document.version = TRADEOFF_VERSION;
  document.neighbours = curve->neighbours();
  document.charged = report::charge_of(question.plan(), *curve, {asked});
  write_result(options.find("out"), to_json(document));
  return ExitCode::done;
}

}  // namespace tradeoff::cli
