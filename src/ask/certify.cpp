// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "ask/request.h"
#include "report/certificate.h"
#include "report/verify.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 4> certify_fields = {{
    {"epsilon", "certify the least delta at this epsilon", Kind::number_or_infinity},
    {"delta", "certify the least epsilon at this delta", Kind::number, probability},
    {"alpha", "certify the least type II error at this type I error", Kind::number, probability},
    {"fpr", "certify the largest true-positive rate at this false-positive rate", Kind::number, probability},
}};

/// The question to certify: each number field belongs to one kind of question.
report::Ask certified_ask(const Request& request) {
  const std::string names =
      request.source() == Source::command_line ? "--epsilon, --delta, --alpha and --fpr" : "epsilon, delta, alpha and fpr";
  std::optional<report::Ask> found;
  for (const report::Ask ask : {report::Ask::delta, report::Ask::epsilon, report::Ask::beta, report::Ask::tpr}) {
    if (!request.has(report::argument_of(ask))) continue;
    if (found) throw RequestError("parse", "certify answers one question: give one of " + names, "", 0);
    found = ask;
  }
  if (!found) throw RequestError("parse", "certify needs a question: one of " + names, "", 0);
  return *found;
}

Answer answer_certify(const Request& request) {
  report::CertifiedAnswer asked{certified_ask(request), ""};
  const std::string& at = request.text(report::argument_of(asked.ask));
  asked.direction = request.direction();
  asked.at = at == "inf" ? at : read_number(at).text;
  if (request.has("relative")) asked.relative = read_number(request.text("relative")).text;
  const auto curve = request.curve();
  auto document = std::make_shared<report::CertificateDocument>();
  document->version = TRADEOFF_VERSION;
  document->neighbours = curve->neighbours();
  document->charged = report::charge_of(request.plan(), *curve, {asked});
  const std::shared_ptr<const report::CertificateDocument> found = std::move(document);
  return {[found](report::JsonWriter& out) { out.raw(to_json(*found, true)); }, [found](const report::Style&) { return to_json(*found); },
          curve};
}

}  // namespace

constinit const Question certify_question{.name = "certify",
                                          .meaning = "one answer about the plan, as a certificate that others can verify",
                                          .fields = certify_fields,
                                          .answer = answer_certify};

}  // namespace tradeoff::detail::ask
