// SPDX-License-Identifier: Apache-2.0
// The law of the random plans (tests/analyze/provenance_test.cpp), on every stored certificate.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/certificate.h"
#include "report/verify.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail::report {
namespace {

const std::filesystem::path tests = std::filesystem::path(TRADEOFF_GOLDEN_DIR).parent_path();

std::vector<std::string> stored() {
  std::ifstream file(tests / "certificates" / "stored.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

using Steps = std::set<std::pair<std::string, std::string>>;

Steps steps_of(const CertifiedAnswer& one) {
  Steps found;
  for (const Step& step : one.steps) found.emplace(step.theorem, step.detail);
  return found;
}

/// The error in the steps, as far as the certificate itself shows it; empty if there is none.
std::string fault_within(const CertifiedAnswer& one) {
  if (one.steps.empty()) return "no steps";
  std::set<std::string> theorems;
  for (const Step& step : one.steps) {
    theorems.insert(step.theorem);
    if (!std::filesystem::exists(tests.parent_path() / "docs" / "theory" / (step.theorem + ".md"))) return "no page: " + step.theorem;
  }
  for (const Evaluation& evaluation : one.evaluations)
    if (!theorems.contains(evaluation.theorem)) return "an evaluation by a theorem that is no step: " + evaluation.theorem;
  return {};
}

/// The same compared with what the code records when asked again: no step is missing, and none is unused.
std::string fault_against(const CertifiedAnswer& given, const CertifiedAnswer& again) {
  if (given.method != again.method) return "method " + given.method + ", and " + again.method + " ran";
  const Steps stated = steps_of(given), ran = steps_of(again);
  for (const auto& [theorem, detail] : ran)
    if (!stated.contains({theorem, detail})) return "a step is lacking: " + theorem + ", " + detail;
  for (const auto& [theorem, detail] : stated)
    if (!ran.contains({theorem, detail})) return "a step that nothing used: " + theorem + ", " + detail;
  return {};
}

CertifiedAnswer asked_again(const CertificateDocument& document, const CertifiedAnswer& one) {
  return certified(analyze(document.charged.plan, document.neighbours, {read_number(one.relative).value.hi}), one);
}

TEST(StoredCertificates, NameTheTheoremOfEveryEvaluation) {
  const std::vector<std::string> lines = stored();
  ASSERT_EQ(lines.size(), 500U);
  std::size_t evaluations = 0;
  for (const std::string& line : lines) {
    const CertificateDocument document = parse_certificate(line);
    ASSERT_FALSE(document.charged.guarantees.empty()) << line;
    for (const CertifiedAnswer& one : document.charged.guarantees) {
      EXPECT_EQ(fault_within(one), "") << line;
      evaluations += one.evaluations.size();
    }
  }
  EXPECT_GT(evaluations, lines.size());
}

// The test itself must be able to fail: each step of some certificates is removed, and one is added.
TEST(StoredCertificates, AMissingStepIsDetected) {
  const std::vector<std::string> lines = stored();
  int seen_within = 0;
  for (std::size_t i = 0; i < lines.size(); i += 10) {
    const CertificateDocument document = parse_certificate(lines[i]);
    for (const CertifiedAnswer& one : document.charged.guarantees) {
      for (std::size_t k = 0; k < one.steps.size(); ++k) {
        CertifiedAnswer without = one;
        without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(k));
        EXPECT_NE(fault_against(without, one), "") << lines[i];
        seen_within += fault_within(without).empty() ? 0 : 1;
      }
      CertifiedAnswer more = one;
      more.steps.push_back({"tensor-composition", "never used"});
      EXPECT_NE(fault_against(more, one), "") << lines[i];
    }
  }
  EXPECT_GT(seen_within, 25);
}

/// Slices, so that they run side by side.
constexpr int slices = 25;

class StoredCertificatesAskedAgain : public ::testing::TestWithParam<int> {};

// Every step was recorded by code that ran for this answer, and all code that ran is a step.
TEST_P(StoredCertificatesAskedAgain, TakeTheSameSteps) {
#if defined(TRADEOFF_SANITIZED)  // one slice is enough there
  if (GetParam() > 0) GTEST_SKIP() << "a statement about labels, not about memory";
#endif
  const std::vector<std::string> lines = stored();
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < lines.size(); i += slices) {
    const CertificateDocument document = parse_certificate(lines[i]);
    for (const CertifiedAnswer& one : document.charged.guarantees)
      EXPECT_EQ(fault_against(one, asked_again(document, one)), "") << "certificate " << i + 1 << ": " << to_string(document.charged.plan);
  }
}

INSTANTIATE_TEST_SUITE_P(Slices, StoredCertificatesAskedAgain, ::testing::Range(0, slices));

}  // namespace
}  // namespace tradeoff::detail::report
