// SPDX-License-Identifier: Apache-2.0
// Every golden value that is a question about a plan, as text in and interval out. The true values have 30 digits. Covers
// [revealing-composition], [laplace-profile], [truncated-laplace-profile], [poisson-subsampling], [fixed-size-subsampling],
// [profile-inversion], [profile-duality].
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "numeric/number_text.h"
#include "support/matchers.h"
#include "tradeoff/analyze.h"

namespace tradeoff::detail {
namespace {

using nlohmann::json;
using test::Encloses;
using test::IsTight;

Interval number(const json& text) {
  const std::string spelled = text.is_string() ? text.get<std::string>() : text.dump();
  const auto quotient = numeric::read_quotient(spelled);
  EXPECT_TRUE(quotient.has_value()) << spelled;
  return numeric::enclose(*quotient);
}

std::string spelled(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// A golden case as a question: the plan, the question, and its argument.
struct Question {
  std::string plan;
  enum { delta, epsilon, beta } ask;
  json at;
  Direction direction = Direction::worst;
};

Interval answer(const Question& question) {
  const Curve curve = analyze(parse(question.plan));
  const Interval at = number(question.at);
  switch (question.ask) {
    case Question::delta:
      return curve.delta_at(at, question.direction);
    case Question::epsilon:
      return curve.epsilon_at(at, question.direction);
    default:
      return curve.beta_at(at, question.direction);
  }
}

/// Groups whose value is one number and whose plan follows from the inputs.
const std::map<std::string, std::function<Question(const json&)>> groups{
    {"gmu", [](const json& in) { return Question{"gdp(mu=" + spelled(in["mu"]) + ")", Question::beta, in["alpha"]}; }},
    {"gdp_delta", [](const json& in) { return Question{"gdp(mu=" + spelled(in["mu"]) + ")", Question::delta, in["eps"]}; }},
    {"gdp_eps", [](const json& in) { return Question{"gdp(mu=" + spelled(in["mu"]) + ")", Question::epsilon, in["delta"]}; }},
    {"laplace_f",
     [](const json& in) { return Question{"laplace(scale=1, sensitivity=" + spelled(in["mu"]) + ")", Question::beta, in["alpha"]}; }},
    {"laplace_delta",
     [](const json& in) { return Question{"laplace(scale=1, sensitivity=" + spelled(in["mu"]) + ")", Question::delta, in["eps"]}; }},
    {"cp_gmu",
     [](const json& in) {
       return Question{"gdp(mu=" + spelled(in["mu"]) + ") | sample(rate=" + spelled(in["p"]) + ")", Question::beta, in["alpha"]};
     }},
    {"cp_fed",
     [](const json& in) {
       return Question{"dp(" + spelled(in["eps"]) + ", " + spelled(in["delta"]) + ") | sample(rate=" + spelled(in["p"]) + ")",
                       Question::beta, in["alpha"]};
     }},
    {"krr_delta",
     [](const json& in) {
       return Question{"randomized_response(epsilon=" + spelled(in["eps"]) + ", choices=" + spelled(in["k"]) + ")", Question::delta,
                       in["t"]};
     }},
    {"eq12_dual",
     [](const json& in) {
       return Question{"gdp(" + spelled(in["mu"]) + "); dp(0, " + spelled(in["delta0"]) + ")", Question::delta, in["eps"]};
     }},
    {"eq12",
     [](const json& in) {
       return Question{"gdp(" + spelled(in["mu"]) + "); dp(0, " + spelled(in["delta"]) + ")", Question::beta, in["alpha"]};
     }},
    {"lap_comp",
     [](const json& in) {
       return Question{"laplace(1, sensitivity=" + spelled(in["mu"]) + ") | repeat(" + spelled(in["n"]) + ")", Question::delta, in["t"]};
     }},
    {"dgauss_delta",
     [](const json& in) {
       return Question{"discrete_gaussian(sigma=" + spelled(in["sigma"]) + ", sensitivity=" + spelled(in["Delta"]) + ")", Question::delta,
                       in["eps"]};
     }},
    {"dgauss_f",
     [](const json& in) {
       return Question{"discrete_gaussian(sigma=" + spelled(in["sigma"]) + ", sensitivity=" + spelled(in["Delta"]) + ")", Question::beta,
                       in["alpha"]};
     }},
    {"dlap_delta",
     [](const json& in) {
       return Question{"discrete_laplace(scale=1/" + spelled(in["a"]) + ", sensitivity=" + spelled(in["Delta"]) + ")", Question::delta,
                       in["eps"]};
     }},
};

class GoldenGroup : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenGroup, IsEnclosedAndTight) {
  const json golden = test::read_golden("f_dp.json");
  int cases = 0;
  for (const json& entry : golden["cases"]) {
    if (entry["group"] != GetParam()) continue;
    const Question question = groups.at(GetParam())(entry["inputs"]);
    SCOPED_TRACE(question.plan + " at " + question.at.dump() + ", " + entry["id"].get<std::string>());
    const Interval found = answer(question);
    EXPECT_THAT(found, Encloses(entry["value"].get<std::string>()));
    EXPECT_THAT(found, IsTight(1e-9));
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

INSTANTIATE_TEST_SUITE_P(FDp, GoldenGroup, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& [name, question] : groups) names.push_back(name);
                           return names;
                         }()),
                         [](const auto& instance) { return instance.param; });

TEST(GoldenDirections, OneSubsampledStepInBothDirections) {
  const json golden = test::read_golden("f_dp.json");
  int cases = 0;
  for (const json& entry : golden["cases"]) {
    const json& in = entry["inputs"];
    std::string base;
    if (entry["group"] == "sub_gauss_1")
      base = "gaussian(sigma=" + spelled(in["sigma"]) + ")";
    else if (entry["group"] == "sub_lap_1")
      base = "laplace(1, sensitivity=" + spelled(in["mu"]) + ")";
    else
      continue;
    ++cases;
    for (const auto& [name, direction] : {std::pair{"remove", Direction::remove}, std::pair{"add", Direction::add}}) {
      const Question question{base + " | poisson(rate=" + spelled(in["q"]) + ")", Question::delta, in["eps"], direction};
      SCOPED_TRACE(question.plan + " " + name + " at " + question.at.dump());
      EXPECT_THAT(answer(question), Encloses(entry["value"][name].get<std::string>()));
      EXPECT_THAT(answer(question), IsTight(1e-9));
    }
  }
  EXPECT_EQ(cases, 8);
}

Direction direction_of(const json& in) {
  if (in["direction"] == "remove") return Direction::remove;
  return in["direction"] == "add" ? Direction::add : Direction::worst;
}

/// A share as `size=a, of=b`: a quotient as it is, a decimal in ten-thousandths.
std::string size_of_share(const std::string& share) {
  const auto slash = share.find('/');
  if (slash != std::string::npos) return "size=" + share.substr(0, slash) + ", of=" + share.substr(slash + 1);
  return "size=" + std::to_string(std::lround(std::stod(share) * 10000)) + ", of=10000";
}

/// Each step sees every record with probability q, or (`worst`) a sample of that share.
std::string training(const json& in) {
  const std::string q = spelled(in["q"]);
  const std::string sample = direction_of(in) == Direction::worst ? "sample(" + size_of_share(q) + ")" : "poisson(rate=" + q + ")";
  return "gaussian(sigma=" + spelled(in["sigma"]) + ") | " + sample + " | repeat(" + spelled(in["T"]) + ")";
}

TEST(GoldenTraining, DeltaEpsilonAndTradeOffPoints) {
  const json golden = test::read_golden("f_dp.json");
  int cases = 0;
  for (const json& entry : golden["cases"]) {
    const std::string group = entry["group"];
    const json& in = entry["inputs"];
    if (group != "dpsgd_delta" && group != "dpsgd_eps" && group != "dpsgd2_delta" && group != "dpsgd_tradeoff") continue;
    ++cases;
    SCOPED_TRACE(training(in) + " " + in.dump());
    if (group == "dpsgd_tradeoff") {
      const Interval beta = answer({training(in), Question::beta, entry["value"]["alpha"], direction_of(in)});
      EXPECT_THAT(beta, Encloses(entry["value"]["beta"].get<std::string>()));
      EXPECT_THAT(beta, IsTight(1e-8));
    } else if (group == "dpsgd_eps") {
      const Interval epsilon = answer({training(in), Question::epsilon, in["delta"], direction_of(in)});
      EXPECT_THAT(epsilon, Encloses(entry["value"].get<std::string>()));
      EXPECT_THAT(epsilon, IsTight(1e-8));
    } else {
      const Interval delta = answer({training(in), Question::delta, in["eps"], direction_of(in)});
      EXPECT_THAT(delta, Encloses(entry["value"].get<std::string>()));
      EXPECT_THAT(delta, IsTight(group == "dpsgd2_delta" ? 1e-6 : 1e-8));
    }
  }
  EXPECT_EQ(cases, 178);
}

TEST(GoldenPairs, FiniteCurvesInBothOrders) {
  const json golden = test::read_golden("f_dp.json");
  int cases = 0;
  for (const json& entry : golden["cases"]) {
    if (entry["group"] != "np_discrete" && entry["group"] != "np_discrete_inv") continue;
    ++cases;
    const json& in = entry["inputs"];
    const auto list = [](const json& masses) {
      std::string text;
      for (const json& mass : masses) text += (text.empty() ? "[" : ", ") + spelled(mass);
      return text + "]";
    };
    const std::string plan = "pair(p=" + list(in["P"]) + ", q=" + list(in["Q"]) + ")";
    // A direction asks for T(Q, P): the golden T(P, Q) is the add direction of the pair.
    const Direction direction = entry["group"] == "np_discrete" ? Direction::add : Direction::remove;
    SCOPED_TRACE(plan + " " + in["alpha"].dump());
    const Interval beta = answer({plan, Question::beta, in["alpha"], direction});
    const std::string truth = entry["value"].get<std::string>();
    EXPECT_THAT(beta, Encloses(truth.front() == '-' ? "0" : truth)) << "the table has -5.7e-72 for 0";
    EXPECT_LE(beta.width(), 1e-12);
  }
  EXPECT_EQ(cases, 12);
}

TEST(GoldenBridge, GaussianProfileAndItsInverses) {
  const json golden = test::read_golden("gdp_bridge.json");
  for (const json& entry : golden["theorem_2_1"]["cases"]) {
    const Question question{"dp(" + spelled(entry["eps0"]) + ", " + spelled(entry["delta0"]) + ")", Question::delta, entry["eps"]};
    SCOPED_TRACE(question.plan + " at " + question.at.dump());
    EXPECT_THAT(answer(question), Encloses(spelled(entry["delta"])));
    EXPECT_THAT(answer(question), IsTight(1e-9));
  }
}

}  // namespace
}  // namespace tradeoff::detail
