// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "ask/request.h"

// The table of questions, and how a request reads its fields.
namespace tradeoff::detail::ask {
namespace {

using ::testing::HasSubstr;
using Fields = std::map<std::string, std::string>;

Request request_of(const Question& question, CurveCache& curves, const Fields& fields) {
  Request request(question, curves, Source::json);
  for (const auto& [name, text] : fields) request.take(name, text);
  request.complete();
  return request;
}

/// The message of a refused request; empty if it was accepted.
std::string refusal(const Question& question, const Fields& fields) {
  CurveCache curves;
  try {
    static_cast<void>(request_of(question, curves, fields));
  } catch (const RequestError& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return {};
}

const std::string plan = "randomized_response(epsilon=1)";

/// Fields with which each question can be answered.
const std::map<std::string, Fields> examples = {
    {"advantage", {}},
    {"approximate", {{"plan", "gdp(mu=1)"}, {"pieces", "2"}}},
    {"beta", {{"alpha", "0.1"}}},
    {"calibrate", {{"plan", "gaussian(sigma=?)"}, {"target.mu", "1"}}},
    {"certify", {{"delta", "0.1"}}},
    {"check", {{"epsilon", "1"}, {"delta", "0"}}},
    {"clt", {{"plan", "gaussian(sigma=10) | repeat(50)"}}},
    {"compare", {{"delta", "0.1"}, {"method", "exact"}}},
    {"delta", {{"epsilon", "0.5"}}},
    {"divergences", {}},
    {"epsilon", {{"delta", "0.1"}}},
    {"gdpt", {{"epsilon", "0.5"}}},
    {"guarantees", {}},
    {"limit", {{"plan", "gaussian(sigma=10) | repeat(50)"}, {"delta", "1e-5"}}},
    {"moments", {}},
    {"mu", {}},
    {"naming", {{"people", "10"}}},
    {"odds", {{"chance", "0.1"}}},
    {"order", {{"other", "gdp(mu=3)"}}},
    {"posterior", {{"prior", "0.5"}}},
    {"renyi", {{"order", "2"}}},
    {"risk", {}},
    {"tpr", {{"fpr", "0.1"}}},
};

TEST(questions, HaveUniqueNamesMeaningsAndFields) {
  std::set<std::string_view> names;
  for (const Question* question : questions()) {
    EXPECT_TRUE(names.insert(question->name).second) << question->name;
    EXPECT_EQ(find_question(question->name), question);
    EXPECT_FALSE(question->meaning.empty()) << question->name;
    ASSERT_NE(question->answer, nullptr) << question->name;
    std::set<std::string_view> fields;
    for (const Field& field : common_fields()) fields.insert(field.name);
    for (const Field& field : question->fields) {
      EXPECT_TRUE(fields.insert(field.name).second) << question->name << ' ' << field.name;
      EXPECT_FALSE(field.meaning.empty()) << question->name << ' ' << field.name;
      EXPECT_EQ(question->find_field(field.name), &field);
    }
  }
  EXPECT_EQ(find_question("dleta"), nullptr);
}

TEST(questions, AreAnsweredInTextAndInJson) {
  for (const Question* question : questions()) {
    SCOPED_TRACE(question->name);
    const auto example = examples.find(std::string(question->name));
    ASSERT_NE(example, examples.end());
    Fields fields = example->second;
    fields.try_emplace("plan", plan);
    CurveCache curves;
    const Answer found = answer(request_of(*question, curves, fields));
    report::JsonWriter out;
    out.begin_object();
    write_answer(found, out);
    EXPECT_TRUE(nlohmann::json::accept(out.end_object().str())) << out.str();
    EXPECT_FALSE(found.text({}).empty());
    EXPECT_EQ(found.value.has_value(), question->safe_end.has_value());
  }
}

TEST(questions, RefuseARequestThatLacksARequiredField) {
  for (const Question* question : questions()) {
    for (const Field& field : question->fields) {
      if (!field.required) continue;
      Fields fields = examples.at(std::string(question->name));
      fields.erase(std::string(field.name));
      fields.try_emplace("plan", plan);
      EXPECT_EQ(refusal(*question, fields), "parse: field '" + std::string(field.name) + "' is missing");
    }
    Fields fields = examples.at(std::string(question->name));
    fields.erase("plan");
    EXPECT_EQ(refusal(*question, fields), "parse: field 'plan' is missing");
  }
}

TEST(request, ReadsEachFieldOnceAndExactly) {
  CurveCache curves;
  const Request request = request_of(delta_question, curves, {{"plan", plan}, {"epsilon", "1/3"}, {"relative", "0.01"}});
  EXPECT_EQ(request.text("epsilon"), "1/3");
  EXPECT_LT(request.value("epsilon").lo, request.value("epsilon").hi);
  EXPECT_EQ(request.number("epsilon").value, request.value("epsilon"));
  EXPECT_EQ(request.tolerance().relative, read_number("0.01").value.hi);
  EXPECT_EQ(request.direction(), Direction::worst);
  EXPECT_EQ(request.neighbours(), Neighbours::unstated);
  EXPECT_FALSE(request.has("direction"));
  const Request several = request_of(guarantees_question, curves, {{"plan", plan}, {"epsilon", "0.5, 1,2"}});
  ASSERT_EQ(several.numbers("epsilon").size(), 3U);
  EXPECT_EQ(several.numbers("epsilon")[1].text, "1");
  EXPECT_EQ(request_of(delta_question, curves, {{"plan", plan}, {"epsilon", "inf"}}).value("epsilon").hi, Interval::whole().hi);
}

TEST(request, RefusesWhatAFieldDoesNotTake) {
  const Fields start = {{"plan", plan}};
  const auto with = [&](const char* name, const char* text) {
    Fields fields = start;
    fields[name] = text;
    return fields;
  };
  EXPECT_EQ(refusal(epsilon_question, with("delta", "1.5")), "domain: delta = 1.5 is not allowed; it must be between 0 and 1");
  EXPECT_EQ(refusal(epsilon_question, with("delta", "inf")), "parse: delta = inf is not a decimal number");
  EXPECT_EQ(refusal(delta_question, with("epsilon", "1e999")), "parse: epsilon = 1e999 is beyond 1.7976931348623157e308");
  EXPECT_EQ(refusal(posterior_question, with("prior", "1")), "domain: prior = 1 is not allowed; it must be strictly between 0 and 1");
  EXPECT_EQ(refusal(renyi_question, with("order", "1")), "domain: order = 1 is not allowed; it must be above 1");
  EXPECT_EQ(refusal(naming_question, with("people", "2.5")),
            "domain: people = 2.5 is not allowed; it must be a whole number from 2 to 1e15");
  EXPECT_EQ(refusal(naming_question, with("people", "1e16")),
            "domain: people = 1e16 is not allowed; it must be a whole number from 2 to 1e15");
  EXPECT_EQ(refusal(advantage_question, with("relative", "0")), "domain: relative = 0 is not allowed; it must be above 0 and at most 1");
  EXPECT_THAT(refusal(advantage_question, with("direction", "ad")), HasSubstr("it must be one of worst, remove, add; did you mean 'add'?"));
  EXPECT_THAT(refusal(delta_question, with("epsilom", "1")), HasSubstr("ask 'delta' has no field 'epsilom'; did you mean 'epsilon'?"));
}

TEST(request, TakesAPlanAsAStringAlone) {
  CurveCache curves;
  Request request(advantage_question, curves, Source::json);
  EXPECT_THROW(request.take("plan", "3", 7, false), RequestError);
  try {
    request.take("plan", "3", 7, false);
  } catch (const RequestError& error) {
    EXPECT_EQ(error.offset(), 7U);
    EXPECT_EQ(error.field(), "plan");
  }
}

TEST(ranges, HoldOnlyWhatLiesInsideAsAWhole) {
  EXPECT_TRUE(probability.holds({0, 1}));
  EXPECT_FALSE(probability.holds({0.5, 1.5}));
  EXPECT_FALSE(probability.holds({-0.5, 0.5}));
  EXPECT_FALSE(inner_probability.holds({0, 0.5}));
  EXPECT_FALSE(inner_probability.holds({0.5, 1}));
  EXPECT_FALSE(above_zero.holds({0, 1}));
  EXPECT_TRUE(at_least_zero.holds({0, 1}));
  const Range few = whole_numbers("few", 1, 3);
  EXPECT_TRUE(few.holds({3, 3}));
  EXPECT_FALSE(few.holds({4, 4}));
  EXPECT_FALSE(few.holds({1, 2}));
  EXPECT_FALSE(few.holds({1.5, 1.5}));
}

}  // namespace
}  // namespace tradeoff::detail::ask
