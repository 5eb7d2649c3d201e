// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "noise/digest.h"
#include "report/json.h"
#include "report/release_certificate.h"
#include "report/verify.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/version.h"
#include "verb.h"
#ifdef TRADEOFF_WITH_TRAIN
#include "train/certificate.h"
#include "train/checkpoint.h"
#endif

namespace tradeoff::detail::cli {
namespace {

using report::CertificateDocument;
using report::CertificateKind;
using report::Finding;

std::string read_file(const std::string& path, const char* what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(std::string("cannot read ") + what + " '" + path + "': " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

CertificateDocument read_certificate(const std::string& path) {
  const std::string text = read_file(path, "the certificate");
  try {
    return report::parse_certificate(text);
  } catch (const report::CertificateError& error) {
    throw InputError("'" + path + "': " + error.what());
  }
}

#ifdef TRADEOFF_WITH_TRAIN
CertificateDocument recreate_training(const CertificateDocument& document) { return train::recreate_training(document); }
std::string digest_of_model(const std::string& text) { return train::parameters_digest(train::read_progress(text)); }
#else
[[noreturn]] void refuse_training() {
  throw UnsupportedError("verify: this program was built without `train`, so it cannot check the certificate of a training run");
}
CertificateDocument recreate_training(const CertificateDocument&) { refuse_training(); }
std::string digest_of_model(const std::string&) { refuse_training(); }
#endif

CertificateDocument recreate(const CertificateDocument& document) {
  return document.kind == CertificateKind::release ? report::recreate_release(document) : recreate_training(document);
}

/// The SHA-256 that a certificate with this content must state.
std::string digest_of_released(const CertificateDocument& document, const std::string& path) {
  const std::string text = read_file(path, "what was released,");
  return document.kind == CertificateKind::training ? digest_of_model(text) : noise::sha256(text);
}

std::vector<Finding> findings_of(const CertificateDocument& document, const std::string* released) {
  std::vector<Finding> findings = verify(document, recreate);
  if (released != nullptr) findings.push_back(verify_released(document, digest_of_released(document, *released)));
  return findings;
}

/// Notes for the reader. The digest is correct at this point; a wrong one was refused earlier.
std::vector<std::string> notes_on(const CertificateDocument& document, bool released_is_given) {
  std::vector<std::string> notes;
  if (document.version != TRADEOFF_VERSION)
    notes.push_back("written by version " + document.version + "; this is version " TRADEOFF_VERSION);
  if (document.kind != CertificateKind::answer && !released_is_given)
    notes.emplace_back("not checked: what was released; --released FILE compares its SHA-256");
  for (const std::string& sentence : taken_on_trust(document)) notes.push_back("taken on trust: " + sentence);
  return notes;
}

const char* sentence_of(report::Verdict verdict) {
  if (verdict == report::Verdict::confirmed) return "The certificate holds.";
  return verdict == report::Verdict::refuted ? "The certificate is false."
                                             : "Undecided: not everything in the certificate could be confirmed.";
}

void write_json(const CertificateDocument& document, const std::vector<Finding>& findings, const std::vector<std::string>& notes) {
  report::JsonWriter out;
  out.begin_object().key("answer").begin_object().key("verdict").text(to_word(worst_of(findings)));
  out.key("kind").text(to_word(document.kind)).key("version").text(document.version).key("findings").begin_array();
  for (const Finding& one : findings)
    out.begin_object().key("what").text(one.what).key("verdict").text(to_word(one.verdict)).key("detail").text(one.words).end_object();
  out.end_array().key("notes").begin_array();
  for (const std::string& note : notes) out.text(note);
  write_out(out.end_array().end_object().end_object().str() + "\n");
}

void write_lines(const std::vector<Finding>& findings, const std::vector<std::string>& notes, bool quiet) {
  std::string text = std::string(sentence_of(worst_of(findings))) + "\n";
  for (const Finding& one : findings)
    if (!quiet || one.verdict != report::Verdict::confirmed)
      text += std::string(to_word(one.verdict)) + ": " + one.what + ": " + one.words + "\n";
  for (const std::string& note : notes)
    if (!quiet) text += note + "\n";
  write_out(text);
}

}  // namespace

ExitCode run_verify(const Verb&, const Options& options) {
  if (options.further.size() != 1) throw InputError("verify needs one file, a certificate of certify, release or train");
  const CertificateDocument document = read_certificate(options.further.front());
  const std::string* released = options.find("released");
  const std::vector<Finding> findings = findings_of(document, released);
  const std::vector<std::string> notes = notes_on(document, released != nullptr);
  if (options.json)
    write_json(document, findings, notes);
  else
    write_lines(findings, notes, options.quiet);
  const report::Verdict verdict = worst_of(findings);
  return verdict == report::Verdict::confirmed ? ExitCode::done
         : verdict == report::Verdict::refuted ? ExitCode::check_failed
                                               : ExitCode::undecided;
}

}  // namespace tradeoff::detail::cli
