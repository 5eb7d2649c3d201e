// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ask/question.h"
#include "run_command.h"

// The verbs and the help of `query` against the table of questions (src/ask).
namespace tradeoff::detail {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

/// The option name of a field.
std::string option_of(const ask::Field& field) {
  std::string name(field.name);
  if (name.starts_with("target.")) name.erase(0, std::string("target.").size());
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

TEST(questions, AreAllNamedInTheHelpOfQuery) {
  const std::string help = test::run_command({"query", "--help"}).out;
  const std::string listed = help.substr(help.find("ask: "));
  for (const ask::Question* question : ask::questions())
    EXPECT_THAT(listed, ContainsRegex("[ (\n]" + std::string(question->name) + "[ ,.\n]"));
}

TEST(questions, HaveVerbsWithAnOptionForEachField) {
  for (const ask::Question* question : ask::questions()) {
    const test::Outcome found = test::run_command({std::string(question->name), "--help"});
    if (found.code == 2) {
      EXPECT_TRUE(question->name == "naming" || question->name == "odds") << question->name;  // only `query` offers it
      continue;
    }
    for (const ask::Field& field : question->fields)
      if (field.name != "other") {  // `order` takes it as a second plan
        EXPECT_THAT(found.out, HasSubstr(option_of(field) + " ")) << question->name;
      }
    for (const ask::Field& field : ask::common_fields())
      if (field.name != "plan") {
        EXPECT_THAT(found.out, HasSubstr(option_of(field))) << question->name;
      }
  }
}

TEST(questions, AnswerCheckAndCertifyToQueryAsTheVerbsDo) {
  const std::string input =
      "{\"plan\": \"gaussian(sigma=3)\", \"ask\": \"check\", \"epsilon\": 2, \"delta\": 1e-5}\n"
      "{\"plan\": \"gaussian(sigma=3)\", \"ask\": \"certify\", \"delta\": 1e-5}\n"
      "{\"plan\": \"gaussian(sigma=3)\", \"ask\": \"certify\", \"delta\": 1e-5, \"fpr\": 0.1}\n";
  const std::string out = test::run_command({"query"}, {.input = input}).out;
  EXPECT_THAT(out, HasSubstr("\"answer\":{\"verdict\":\"within\",\"delta\":{"));
  EXPECT_THAT(out, HasSubstr("\"question\""));
  EXPECT_THAT(out, HasSubstr("certify answers one question: give one of epsilon, delta, alpha and fpr"));
}

}  // namespace
}  // namespace tradeoff::detail
