// SPDX-License-Identifier: Apache-2.0
// Hostile, careless and unusual input: never a hang, a crash or a NaN; either the defined answer or one clear error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;

json ask_one(const std::string& line) {
  const Outcome run = run_command({"query"}, {.input = line + "\n"});
  EXPECT_EQ(run.code, 0) << run.err;
  return json::parse(run.out);
}

json ask(const std::string& plan, const std::string& question, json fields = json::object()) {
  fields["plan"] = plan;
  fields["ask"] = question;
  return ask_one(fields.dump());
}

double end_of(const json& value) {
  if (value.is_string()) return value == "inf" ? HUGE_VAL : value == "-inf" ? -HUGE_VAL : NAN;
  return value.get<double>();
}

/// The answer is an interval around the value, and it is narrow.
void expect_near(const json& reply, double value) {
  ASSERT_TRUE(reply.contains("answer")) << reply;
  const double lo = end_of(reply["answer"]["lo"]);
  const double hi = end_of(reply["answer"]["hi"]);
  EXPECT_LE(lo, value) << reply;
  EXPECT_GE(hi, value) << reply;
  if (std::isfinite(value)) {
    EXPECT_LE(hi - lo, 1e-9 * std::max(1.0, std::abs(value))) << reply;
  }
}

void expect_error(const json& reply, const std::string& kind, const std::string& part) {
  ASSERT_TRUE(reply.contains("error")) << reply;
  EXPECT_EQ(reply["error"]["kind"], kind) << reply;
  EXPECT_THAT(reply["error"]["message"].get<std::string>(), testing::HasSubstr(part));
  EXPECT_TRUE(reply["error"]["at"].is_number_unsigned()) << reply;
}

struct Refused {
  std::string plan;
  std::string kind;
  std::string part;  ///< of the message
};
void PrintTo(const Refused& refused, std::ostream* out) {
  *out << json(refused.plan.substr(0, 80)).dump(-1, ' ', true, json::error_handler_t::replace);
}

class PlanRefused : public testing::TestWithParam<Refused> {};

TEST_P(PlanRefused, WithAReason) { expect_error(ask(GetParam().plan, "delta", {{"epsilon", 1}}), GetParam().kind, GetParam().part); }

INSTANTIATE_TEST_SUITE_P(NotFinite, PlanRefused,
                         testing::Values(Refused{"gaussian(sigma=nan)", "parse", "sigma"}, Refused{"gaussian(sigma=NaN)", "parse", "sigma"},
                                         Refused{"gaussian(sigma=inf)", "parse", "sigma"}, Refused{"laplace(scale=-inf)", "parse", "scale"},
                                         Refused{"gaussian(sigma=Infinity)", "parse", "sigma"},
                                         Refused{"gaussian(sigma=1e400)", "parse", "1.79"},
                                         Refused{"gaussian(sigma=1, sensitivity=inf)", "parse", "sensitivity"}));
INSTANTIATE_TEST_SUITE_P(OutOfRange, PlanRefused,
                         testing::Values(Refused{"gaussian(sigma=-1)", "domain", "sigma"}, Refused{"gaussian(sigma=0)", "domain", "sigma"},
                                         Refused{"laplace(scale=0)", "domain", "scale"}, Refused{"laplace(scale=-2)", "domain", "scale"},
                                         Refused{"gaussian(sigma=1, sensitivity=-1)", "domain", "sensitivity"},
                                         Refused{"gdp(mu=-1)", "domain", "mu"}, Refused{"dp(epsilon=-1)", "domain", "epsilon"},
                                         Refused{"dp(epsilon=1, delta=2)", "domain", "delta"},
                                         Refused{"dp(epsilon=1, delta=-1e-9)", "domain", "delta"},
                                         Refused{"randomized_response(epsilon=-1)", "domain", "epsilon"},
                                         Refused{"gaussian(1) | poisson(rate=1.5)", "domain", "rate"},
                                         Refused{"gaussian(1) | poisson(rate=-0.1)", "domain", "rate"},
                                         Refused{"gaussian(1) | sample(size=5, of=4)", "domain", "size"},
                                         Refused{"gaussian(1) | sample(size=0, of=4)", "domain", "size"},
                                         Refused{"laplace(scale=?)", "domain", "scale"}));
INSTANTIATE_TEST_SUITE_P(Counts, PlanRefused,
                         testing::Values(Refused{"gaussian(1) | repeat(-1)", "domain", "times"},
                                         Refused{"gaussian(1) | repeat(1.5)", "parse", "times"},
                                         Refused{"laplace(1) | repeat(1e30)", "too_large", "times"},
                                         Refused{"laplace(1) | repeat(1e18)", "too_large", "times"},
                                         Refused{"laplace(1) | repeat(9007199254740993)", "too_large", "times"}));
INSTANTIATE_TEST_SUITE_P(Tables, PlanRefused,
                         testing::Values(Refused{"profile(points=[(1, 0.1), (0, 0.2)])", "domain", "row"},          // unsorted
                                         Refused{"profile(points=[(0, 0.2), (0, 0.1)])", "domain", "row"},          // one epsilon twice
                                         Refused{"profile(points=[(0, 0.1), (1, 0.2)])", "domain", "row"},          // delta increases
                                         Refused{"profile(points=[(0, 1.5)])", "domain", "row"},                    // delta above 1
                                         Refused{"profile(points=[])", "parse", "points"},                          // empty
                                         Refused{"curve(points=[(0, 1), (0.5, 0.9), (1, 0)])", "domain", "row 2"},  // above 1 - alpha
                                         Refused{"curve(points=[(0, 0.5), (0.2, 0.4), (0.5, 0), (1, 0)])", "domain", "row"},  // not convex
                                         Refused{"pair(p=[0.5, 0.6], q=[0.5, 0.5])", "domain", "sum"},
                                         Refused{"pair(p=[-0.5, 1.5], q=[0.5, 0.5])", "domain", "p"},
                                         Refused{"pair(p=[1], q=[0.5, 0.5])", "domain", ""}, Refused{"pair(p=[], q=[])", "parse", "p"}));
INSTANTIATE_TEST_SUITE_P(Neighbours, PlanRefused,
                         testing::Values(Refused{"gaussian(1) | poisson(0.1); gaussian(1) | sample(1, 2)", "domain", "neighbours"}));
INSTANTIATE_TEST_SUITE_P(
    Text, PlanRefused,
    testing::Values(Refused{"", "parse", "empty"}, Refused{"# nothing", "parse", "empty"},
                    Refused{"gaussian(sigme=1)", "parse", "did you mean 'sigma'"}, Refused{"gausian(1)", "parse", "'gaussian'"},
                    Refused{"gaussian(sigma=1, sigma=2)", "parse", "twice"}, Refused{"gaussian()", "parse", "sigma"},
                    Refused{"gaussian(1) |", "parse", "operator"}, Refused{"gaussian(0x10)", "parse", "0x10"},
                    Refused{"gaussian(1,5,5,5)", "parse", "too many"}, Refused{"gaussian(1,5,5)", "parse", "does not go with"},
                    Refused{"\xEF\xBB\xBFgaussian(1)", "parse", "byte order mark"}, Refused{std::string(100000, '('), "parse", "64"},
                    Refused{"gaussian(\xD9\xA1)", "parse", "character"}));

struct Fields {
  std::string question;
  json fields;
  std::string kind;
  std::string part;
};

void PrintTo(const Fields& fields, std::ostream* out) { *out << fields.question << " " << fields.fields; }

class FieldRefused : public testing::TestWithParam<Fields> {};

TEST_P(FieldRefused, WithAReason) {
  expect_error(ask("laplace(scale=1)", GetParam().question, GetParam().fields), GetParam().kind, GetParam().part);
}

INSTANTIATE_TEST_SUITE_P(
    Request, FieldRefused,
    testing::Values(
        Fields{"delta", {{"epsilon", "nan"}}, "parse", "epsilon"}, Fields{"delta", {{"epsilon", "-inf"}}, "parse", "epsilon"},
        Fields{"delta", {{"epsilon", "1e400"}}, "parse", "epsilon"}, Fields{"delta", {{"epsilon", "0x10"}}, "parse", "epsilon"},
        Fields{"delta", {{"epsilon", "1,5"}}, "parse", "epsilon"}, Fields{"delta", {{"epsilon", ""}}, "parse", "epsilon"},
        Fields{"delta", {{"epsilon", nullptr}}, "parse", "epsilon"}, Fields{"delta", {{"epsilon", true}}, "parse", "epsilon"},
        Fields{"delta", {{"epsilon", json::array({1})}}, "parse", "epsilon"}, Fields{"delta", json::object(), "parse", "epsilon"},
        Fields{"epsilon", {{"delta", -1}}, "domain", "delta"}, Fields{"epsilon", {{"delta", 2}}, "domain", "delta"},
        Fields{"epsilon", {{"delta", "1.00000000000000000001"}}, "domain", "delta"},
        Fields{"epsilon", {{"delta", "inf"}}, "parse", "delta"}, Fields{"beta", {{"alpha", 1.5}}, "domain", "alpha"},
        Fields{"tpr", {{"fpr", -0.5}}, "domain", "fpr"}, Fields{"posterior", {{"prior", 0}}, "domain", "prior"},
        Fields{"posterior", {{"prior", 1}}, "domain", "prior"}, Fields{"delta", {{"epsilom", 1}}, "parse", "did you mean 'epsilon'"},
        Fields{"delta", {{"epsilon", 1}, {"alpha", 1}}, "parse", "'alpha'"},
        Fields{"dleta", {{"epsilon", 1}}, "parse", "did you mean 'delta'"},
        Fields{"advantage", {{"direction", "up"}}, "parse", "direction"},
        Fields{"advantage", {{"neighbours", "add_remove"}}, "parse", "'add-remove'"},
        Fields{"advantage", {{"relative", 0}}, "domain", "relative"}, Fields{"advantage", {{"relative", "small"}}, "parse", "relative"},
        Fields{"advantage", {{"version", 2}}, "parse", "'version'"},
        Fields{"calibrate", {{"target", {{"epsilon", -1}, {"delta", 0.1}}}}, "domain", "target.epsilon"},
        Fields{"calibrate", {{"target", {{"mu", 1}, {"fpr", 0.5}}}}, "domain", "target.fpr needs target.tpr"},
        Fields{"calibrate", {{"target", 5}}, "parse", "object"}, Fields{"calibrate", json::object(), "parse", "target"},
        Fields{"calibrate", {{"target", {{"mu", 1}}}}, "parse", "?"},
        Fields{"calibrate", {{"target", {{"epsilom", 1}}}}, "parse", "'target.epsilon'"}, Fields{"mu", {{"slak", 1}}, "parse", "'slack'"}));

struct Line {
  std::string line;
  std::size_t at;
  std::string part;
};

void PrintTo(const Line& line, std::ostream* out) {
  *out << json(line.line.substr(0, 80)).dump(-1, ' ', true, json::error_handler_t::replace);
}

class LineRefused : public testing::TestWithParam<Line> {};

TEST_P(LineRefused, AtTheOffendingByte) {
  const json reply = ask_one(GetParam().line);
  expect_error(reply, "parse", GetParam().part);
  EXPECT_EQ(reply["error"]["at"], GetParam().at) << reply;
}

INSTANTIATE_TEST_SUITE_P(
    Json, LineRefused,
    testing::Values(Line{"", 0, "end of input"}, Line{"{", 1, "end of input"}, Line{"[]", 0, "object"}, Line{"1", 0, "object"},
                    Line{R"([{"a":1}])", 0, "object"}, Line{R"([[{"id":{"a":1}}]])", 0, "object"},
                    Line{R"({"id":1}x)", 8, "expected end of input"}, Line{R"({"id":1} // comment)", 9, "expected end of input"},
                    Line{R"({"id":1} {"id":2})", 9, "expected end of input"}, Line{"\xEF\xBB\xBF{}", 0, "byte order mark"},
                    Line{std::string("{\"id\":1}\0", 9), 8, "NUL"}, Line{R"({"plan":"a\u0000b"})", 1, "NUL"},
                    Line{R"({"id":1,"id":2})", 8, "duplicate key 'id'"}, Line{R"({"target":{"mu":1,"mu":2}})", 18, "duplicate key 'mu'"},
                    Line{R"({"a\"b":1,"a\"b":2})", 10, "duplicate key"}, Line{R"({"id":{"x":1,"x":2}})", 13, "duplicate key 'x'"},
                    Line{R"({"delta":1e400})", 13, "overflow"}, Line{R"({"delta":NaN})", 9, "invalid"},
                    Line{R"({"delta":Infinity})", 9, "invalid"}, Line{R"({"delta":01})", 10, "number"},
                    Line{R"({"delta":+1})", 9, "invalid"}, Line{R"({"delta":.5})", 9, "invalid"}, Line{R"({"delta":1,})", 11, "key"},
                    Line{"{\"plan\":\"\xFF\"}", 9, "UTF-8"},
                    Line{"{\"id\":" + std::string(70, '[') + std::string(70, ']') + "}", 69, "deeper than 64"},
                    Line{"{\"id\":" + std::string(1000000, '['), 69, "deeper than 64"}));

TEST(Degenerate, PerfectPrivacyIsAnAnswer) {
  expect_near(ask("gaussian(sigma=1, sensitivity=0)", "delta", {{"epsilon", 0}}), 0);
  expect_near(ask("gaussian(sigma=1, sensitivity=0)", "epsilon", {{"delta", 0}}), 0);
  expect_near(ask("laplace(scale=1, sensitivity=0)", "advantage"), 0);
  expect_near(ask("gdp(mu=0)", "beta", {{"alpha", 0.25}}), 0.75);
  expect_near(ask("gaussian(sigma=1) | repeat(0)", "advantage"), 0);
  expect_near(ask("gaussian(sigma=1) | poisson(rate=0)", "advantage"), 0);
  expect_near(ask("dp(epsilon=0)", "epsilon", {{"delta", 0}}), 0);
}

TEST(Degenerate, RateOneIsTheUnsampledMechanism) {
  EXPECT_EQ(ask("gaussian(sigma=1) | poisson(rate=1)", "delta", {{"epsilon", 1}})["answer"],
            ask("gaussian(sigma=1)", "delta", {{"epsilon", 1}})["answer"]);
}

TEST(Degenerate, EndsOfTheDeltaScale) {
  expect_near(ask("laplace(scale=0.5)", "epsilon", {{"delta", 0}}), 2);
  expect_near(ask("gaussian(sigma=1)", "epsilon", {{"delta", 0}}), HUGE_VAL);
  expect_near(ask("gaussian(sigma=1)", "epsilon", {{"delta", 1}}), 0);
  expect_near(ask("dp(epsilon=1, delta=0.25)", "delta", {{"epsilon", "inf"}}), 0.25);
  expect_near(ask("laplace(scale=1)", "delta", {{"epsilon", "inf"}}), 0);
}

TEST(Degenerate, NegativeEpsilonIsAQuestion) {
  // delta(-e) = 1 - exp(-e) + exp(-e) delta(e) for a symmetric pair; Laplace(1) has delta(1) = 0.
  expect_near(ask("laplace(scale=1)", "delta", {{"epsilon", -1}}), 0.63212055882855767840);
}

TEST(Degenerate, TinyAndHugeParametersGetAnAnswerInTime) {
  for (const char* plan : {"gaussian(sigma=1e-320)", "gaussian(sigma=1e-8)", "gaussian(sigma=1e308)", "laplace(scale=1e-320)",
                           "laplace(scale=1e308)", "gdp(mu=1e-320)", "gdp(mu=1e308)", "dp(epsilon=1e308)", "dp(epsilon=1e-320)"}) {
    for (const json& fields : {json{{"epsilon", 1}}, json{{"epsilon", 0}}, json{{"epsilon", "1e308"}}, json{{"epsilon", "-1e308"}},
                               json{{"epsilon", "1e-320"}}}) {
      const json reply = ask(plan, "delta", fields);
      ASSERT_TRUE(reply.contains("answer")) << plan << " " << fields << " " << reply;
      const double lo = end_of(reply["answer"]["lo"]);
      const double hi = end_of(reply["answer"]["hi"]);
      EXPECT_TRUE(0 <= lo && lo <= hi && hi <= 1) << plan << " " << fields << " " << reply;
    }
  }
  EXPECT_GT(end_of(ask("gaussian(sigma=1e-320)", "advantage")["answer"]["lo"]), 0.999);
  EXPECT_GT(end_of(ask("gaussian(sigma=1e308)", "advantage")["answer"]["hi"]), 0);  // never flushed to a claim of perfect privacy
  EXPECT_GE(end_of(ask("laplace(scale=1)", "epsilon", {{"delta", "1e-320"}})["answer"]["hi"]), 1 - 1e-15);
}

TEST(Degenerate, NeighboursStatedAgainstAnOperatorAreAnError) {
  expect_error(ask("gaussian(1) | sample(1, 10)", "delta", {{"epsilon", 1}, {"neighbours", "add-remove"}}), "domain", "neighbours");
}

TEST(Numbers, AreExactDecimals) {
  // The question is exp(-1/10), not exp of the double nearest to 0.1; both spellings of the decimal mean the same.
  const json as_number = ask_one(R"~({"plan":"laplace(scale=1)","ask":"delta","epsilon":0.1})~");
  const json as_text = ask_one(R"~({"plan":"laplace(scale=1)","ask":"delta","epsilon":"0.1"})~");
  EXPECT_EQ(as_number["answer"], as_text["answer"]);
  expect_near(as_number, 0.36237184837822667);
  // Seventeen digits cannot distinguish this delta from 0.1, exact decimals can: the interval of a decimal that is not a double has two
  // ends.
  const json exact = ask_one(R"~({"plan":"dp(epsilon=0,delta=0.1)","ask":"advantage"})~");
  EXPECT_LT(end_of(exact["answer"]["lo"]), end_of(exact["answer"]["hi"]));
}

}  // namespace
}  // namespace tradeoff::detail::test
