// SPDX-License-Identifier: Apache-2.0
// The protocol of `tradeoff query`: one answer per line, in order, for any input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;

std::vector<json> replies(const std::string& input) {
  const Outcome run = run_command({"query"}, {.input = input});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.out.empty() || run.out.back() == '\n');
  std::vector<json> parsed;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) parsed.push_back(json::parse(line));
  return parsed;
}

// A plan uses the content of its files at the time of the question.
TEST(Query, ReadsAFileThatHasChangedAgain) {
  const std::string file = ::testing::TempDir() + "query_profile.csv";
  const std::string ask = R"~({"plan":"profile(file=\"FILE\")","ask":"delta","epsilon":1})~";
  const std::string script = "coproc Q { " + tested_command() +
                             " query; }\nfor delta in 0.06 0.06 0.85; do printf '0,0.9\\n1,%s\\n' $delta > FILE; printf '%s\\n' '" + ask +
                             "' >&${Q[1]}; read -r line <&${Q[0]}; echo \"$line\"; done";
  const auto with_file = [&](std::string text) {
    for (auto at = text.find("FILE"); at != std::string::npos; at = text.find("FILE")) text.replace(at, 4, file);
    return text;
  };
  const Outcome run = run_command({"-c", with_file(script)}, {.command = "/bin/bash"});
  std::vector<double> found;
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line).at("answer").at("hi"));
  ASSERT_EQ(found.size(), 3U) << run.out << run.err;
  EXPECT_NEAR(found[0], 0.06, 1e-9);
  EXPECT_EQ(found[1], found[0]);
  EXPECT_NEAR(found[2], 0.85, 1e-9);
}

// A direction means that a record is added or removed.
TEST(Query, ADirectionReadsOpenNeighboursAsAddRemove) {
  const std::string plan = R"~("plan":"pair(p=[0.1,0.6,0.01,0.29],q=[0.01,0.01,0.01,0.97])|repeat(2)","ask":"delta","epsilon":3)~";
  const auto all =
      replies("{" + plan + "}\n{" + plan + R"(,"direction":"remove"})" + "\n{" + plan + R"(,"neighbours":"replace-one"})" + "\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_GE(all[0]["answer"]["hi"].get<double>(), 0.5664953321531927);  // under replace-one neighbours a step may be reversed
  EXPECT_NEAR(all[1]["answer"]["hi"].get<double>(), 0.4899486778460869, 1e-12);
  EXPECT_EQ(all[0]["answer"], all[2]["answer"]);
}

TEST(Query, AnswersEveryLineInOrderAndNeverStops) {
  const auto all = replies(
      "{\"id\":1,\"plan\":\"laplace(1)\",\"ask\":\"advantage\"}\n"
      "garbage\n"
      "\n"
      "{\"id\":2,\"plan\":\"laplace(1\",\"ask\":\"advantage\"}\r\n"
      "{\"id\":3,\"plan\":\"laplace(1)\",\"ask\":\"advantage\"}");  // the last line needs no end
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0]["id"], 1);
  EXPECT_TRUE(all[0].contains("answer"));
  EXPECT_TRUE(all[1]["id"].is_null());
  EXPECT_EQ(all[1]["error"]["kind"], "parse");
  EXPECT_EQ(all[2]["error"]["kind"], "parse");
  EXPECT_EQ(all[3]["id"], 2);
  EXPECT_EQ(all[3]["error"]["kind"], "parse");
  EXPECT_EQ(all[3]["error"]["at"], 9);  // an offset in the plan
  EXPECT_EQ(all[3]["error"]["field"], "plan");
  EXPECT_EQ(all[4]["answer"], all[0]["answer"]);
}

TEST(Query, WritesNothingForEmptyInput) { EXPECT_TRUE(replies("").empty()); }

TEST(Query, ReturnsTheIdUnchanged) {
  for (const char* id : {"null", "0", "-7", "2.50", "18446744073709551615", "123456789012345678901234567890", "\"text \\u00e9 \\\"\"",
                         "true", "[1,[2,{\"a\":null}]]", "{\"b\":1,\"a\":{}}"}) {
    const Outcome run =
        run_command({"query"}, {.input = std::string("{\"plan\":\"laplace(1)\",\"ask\":\"advantage\",\"id\":") + id + "}\n"});
    const json reply = json::parse(run.out);
    EXPECT_EQ(reply["id"], json::parse(id)) << run.out;
    EXPECT_TRUE(reply.contains("answer"));
  }
  EXPECT_THAT(run_command({"query"}, {.input = "{\"id\":2.50}\n"}).out, testing::StartsWith("{\"id\":2.50,"));
}

TEST(Query, KeepsTheIdOfARequestItRefuses) {
  const auto all = replies("{\"plam\":\"laplace(1)\",\"ask\":[],\"id\":\"late\"}\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0]["id"], "late");
  EXPECT_TRUE(all[0].contains("error"));
}

TEST(Query, ReportsMethodAndSteps) {
  const auto all = replies("{\"plan\":\"laplace(1)\",\"ask\":\"delta\",\"epsilon\":0.5}\n");
  EXPECT_EQ(all.at(0)["method"], "closed form");
  ASSERT_FALSE(all[0]["steps"].empty());
  EXPECT_TRUE(all[0]["steps"][0]["theorem"].is_string());
  EXPECT_TRUE(all[0]["steps"][0]["detail"].is_string());
}

TEST(Query, AnswersEveryAsk) {
  struct Case {
    const char* fields;
    const char* path;
    double truth;
  };
  const double mu1_delta0 = 0.38292492254802620728;  // 2 Phi(1/2) - 1
  for (const auto& [fields, path, truth] : {
           Case{R"~("plan":"gdp(mu=1)","ask":"delta","epsilon":0)~", "", mu1_delta0},
           Case{R"~("plan":"gdp(mu=1)","ask":"advantage")~", "", mu1_delta0},
           Case{R"~("plan":"laplace(scale=1)","ask":"epsilon","delta":0)~", "", 1},
           Case{R"~("plan":"gdp(mu=1)","ask":"beta","alpha":"0.5")~", "", 0.15865525393145705142},  // Phi(-1)
           Case{R"~("plan":"gdp(mu=1)","ask":"tpr","fpr":0.5)~", "", 0.84134474606854294858},
           Case{R"~("plan":"gdp(mu=1.25)","ask":"gdpt","epsilon":0.7)~", "", 1.25},
           Case{R"~("plan":"gdp(mu=1)","ask":"posterior","prior":0.5)~", "/accuracy", 0.5 + mu1_delta0 / 2},
           Case{R"~("plan":"randomized_response(epsilon=1)","ask":"posterior","prior":0.5)~", "/largest", 0.73105857863000487926},
           Case{R"~("plan":"laplace(scale=?)","ask":"calibrate","target":{"epsilon":2,"delta":0})~", "", 0.5},
           Case{R"~("plan":"gdp(mu=?)","ask":"calibrate","target":{"advantage":0.38292492254802620728})~", "", 1},
       }) {
    const auto all = replies("{" + std::string(fields) + "}\n");
    ASSERT_EQ(all.size(), 1U);
    ASSERT_TRUE(all[0].contains("answer")) << all[0];
    const json value = all[0]["answer"].at(json::json_pointer(path));
    EXPECT_LE(value["lo"].get<double>(), truth * (1 + 1e-15)) << all[0];
    EXPECT_GE(value["hi"].get<double>(), truth * (1 - 1e-15)) << all[0];
    EXPECT_LE(value["hi"].get<double>() - value["lo"].get<double>(), 1e-6) << all[0];
  }
}

TEST(Query, RecognisesReservedQuestions) {
  for (const char* ask : {"mu", "guarantees", "moments", "clt"}) {
    const auto all = replies(std::string("{\"plan\":\"gdp(mu=1)\",\"ask\":\"") + ask + "\"}\n");
    EXPECT_TRUE(all.at(0).contains("answer") || all[0]["error"]["kind"] == "unsupported") << all[0];
  }
}

TEST(Query, HonoursTheDirection) {
  const std::string plan = R"~("plan":"pair(p=[0.75,0.25],q=[0.5,0.5])","ask":"delta","epsilon":"0.2")~";
  const auto all = replies("{" + plan + ",\"direction\":\"remove\"}\n{" + plan + ",\"direction\":\"add\"}\n{" + plan +
                           ",\"direction\":\"worst\"}\n{" + plan + "}\n");
  ASSERT_EQ(all.size(), 4U);
  const double remove = 0.75 - std::exp(0.2) * 0.5;
  const double add = 0.5 - std::exp(0.2) * 0.25;
  EXPECT_NEAR(all[0]["answer"]["hi"].get<double>(), remove, 1e-12);
  EXPECT_NEAR(all[1]["answer"]["hi"].get<double>(), add, 1e-12);
  EXPECT_NEAR(all[2]["answer"]["hi"].get<double>(), std::max(remove, add), 1e-12);
  EXPECT_EQ(all[3]["answer"], all[2]["answer"]);
}

TEST(Query, AddsTheLogarithmOfWhatADoubleCannotHold) {
  const auto all =
      replies("{\"plan\":\"gdp(mu=1)\",\"ask\":\"delta\",\"epsilon\":100}\n{\"plan\":\"gdp(mu=1)\",\"ask\":\"delta\",\"epsilon\":10}\n");
  ASSERT_EQ(all.size(), 2U);
  ASSERT_TRUE(all[0]["answer"].contains("log10")) << all[0];
  const double lo = all[0]["answer"]["log10"]["lo"].get<double>();
  const double hi = all[0]["answer"]["log10"]["hi"].get<double>();
  // delta_1(100) = phi(99.5) (1/99.5 - 1/100.5 + ...) = 10^(-2154.3...), to the accuracy of the leading terms.
  EXPECT_NEAR(lo, (-99.5 * 99.5 / 2 - 0.5 * std::log(2 * M_PI) + std::log(1 / (99.5 * 100.5))) / std::log(10), 1e-3);
  EXPECT_LE(hi - lo, 1e-9);
  EXPECT_FALSE(all[1]["answer"].contains("log10")) << all[1];
}

TEST(Query, RefusesAnOverlongLineAndContinues) {
  const auto all =
      replies("{\"id\":1,\"plan\":\"" + std::string(17U << 20, 'x') + "\"}\n{\"id\":2,\"plan\":\"laplace(1)\",\"ask\":\"advantage\"}\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["error"]["kind"], "too_large");
  EXPECT_EQ(all[1]["id"], 2);
  EXPECT_TRUE(all[1].contains("answer"));
}

/// A request with a few bytes changed, inserted, dropped or doubled.
std::string mutate(std::string line, std::mt19937_64& random) {
  static const std::string meaningful = "\"\\{}[]:,0123456789eE+-.";
  for (std::uint64_t change = random() % 4 + 1; change > 0; --change) {
    const std::size_t at = random() % (line.size() + 1);
    switch (random() % 4) {
      case 0:
        line.insert(at, 1, static_cast<char>(random() % 256));
        break;
      case 1:
        line.insert(at, 1, meaningful[random() % meaningful.size()]);
        break;
      case 2:
        line.erase(at, random() % 6);
        break;
      default:
        line.insert(at, line.substr(random() % (line.size() + 1), random() % 10));
        break;
    }
  }
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

TEST(Query, SurvivesMutatedLines) {
  const std::vector<std::string> seeds = {R"~({"id":[1,{"a":2.5}],"plan":"gaussian(sigma=2)","ask":"delta","epsilon":0.5})~",
                                          R"~([{"id":1,"plan":"laplace(1)"}])~",
                                          R"~({"plan":"laplace(scale=?)","ask":"calibrate","target":{"epsilon":1,"delta":"1e-5"}})~",
                                          R"~({"id":"\u00e9\"","plan":"dp(1,1e-5)\n# c","ask":"beta","alpha":1e-3,"direction":"add"})~"};
  std::mt19937_64 random(3);
  std::string input;
  for (int i = 0; i < 5000; ++i) input += mutate(seeds[random() % seeds.size()], random) + "\n";
  EXPECT_EQ(replies(input).size(), 5000U);  // each of them valid JSON
}

/// A peer that sends one line and waits for the answer before it sends the next must not wait for ever.
TEST(Query, WritesAllAnswersBeforeItWaitsForInput) {
  int in[2], out[2];
  ASSERT_EQ(pipe(in), 0);
  ASSERT_EQ(pipe(out), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const int descriptor : {in[0], in[1], out[0], out[1]}) close(descriptor);
    execl(TRADEOFF_COMMAND, TRADEOFF_COMMAND, "query", nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  const std::string request = "{\"plan\":\"laplace(1)\",\"ask\":\"advantage\"}\n";
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(write(in[1], request.data(), request.size()), static_cast<ssize_t>(request.size()));
    std::string reply;
    while (reply.empty() || reply.back() != '\n') {
      pollfd watched{out[0], POLLIN, 0};
      if (poll(&watched, 1, 10000) != 1 || !detail::drain(out[0], reply)) break;
    }
    EXPECT_THAT(reply, testing::HasSubstr("\"answer\"")) << "round " << round;
  }
  close(in[1]);
  close(out[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Query, AnswersAHundredThousandSimpleLines) {
  std::string input;
  for (int i = 0; i < 100000; ++i) {
    input += "{\"id\":" + std::to_string(i) + ",\"plan\":\"gaussian(sigma=2)\",\"ask\":\"delta\",\"epsilon\":" + std::to_string(i % 4000) +
             "e-3}\n";
  }
  const Outcome run = run_command({"query"}, {.input = input});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 100000);
  EXPECT_EQ(run.out.find("\"error\""), std::string::npos);
  EXPECT_THAT(run.out.substr(run.out.rfind('\n', run.out.size() - 2) + 1), testing::StartsWith("{\"id\":99999,"));
}

}  // namespace
}  // namespace tradeoff::detail::test
