// SPDX-License-Identifier: Apache-2.0
// The cases of the test suites and manuals of other packages, as plans: tests/others/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;

json cases() {
  std::ifstream file(TRADEOFF_GOLDEN_DIR "/../others/cases.json");
  return json::parse(file);
}

json request_of(const json& row) {
  json request = {{"plan", row.at("plan")}, {"ask", row.at("ask")}};
  if (row.at("ask") == "calibrate")
    request["target"] = row.at("at");
  else
    request.update(row.at("at"));
  if (row.contains("neighbours")) request["neighbours"] = row.at("neighbours");
  return request;
}

/// Whether their number is consistent with its label, given that the true value lies in [lo, hi].
bool agrees(const std::string& side, double expected, double tolerance, double lo, double hi) {
  const bool may_be_above = lo <= expected + tolerance, may_be_below = hi >= expected - tolerance;
  if (side == "upper") return may_be_above;
  if (side == "lower") return may_be_below;
  return may_be_above && may_be_below;
}

TEST(Others, TheirFiguresAgreeWithTheCertifiedOnes) {
  const json rows = cases();
  std::string requests;
  for (const json& row : rows) requests += request_of(row).dump() + "\n";
  RunOptions options;
  options.input = requests;
  options.patience = std::chrono::seconds(280);
  const Outcome run = run_command({"query"}, options);
  ASSERT_EQ(run.code, 0) << run.err;
  std::istringstream answers(run.out);
  std::string line;
  for (const json& row : rows) {
    ASSERT_TRUE(std::getline(answers, line)) << row;
    const json found = json::parse(line);
    ASSERT_TRUE(found.contains("answer")) << row << found;
    const double lo = found.at("answer").at("lo").get<double>(), hi = found.at("answer").at("hi").get<double>();
    const double expected = row.at("expected").get<double>(), tolerance = row.at("tolerance").get<double>();
    const std::string side = row.at("side").get<std::string>();
    EXPECT_EQ(agrees(side, expected, tolerance, lo, hi), side != "wrong") << row << "\n" << found.at("answer");
    if (!row.value("wide", false)) {  // the whole range agrees with every number
      EXPECT_LE(hi - lo, 1e-4 * (1 + hi)) << row;
    }
  }
}

TEST(Others, SevenPackagesAndBothSides) {
  std::map<std::string, int> packages, sides;
  for (const json& row : cases()) {
    ++packages[row.at("package").get<std::string>()];
    ++sides[row.at("side").get<std::string>()];
    EXPECT_TRUE(row.at("side") != "wrong" || row.at("note").get<std::string>().find("errata") != std::string::npos) << row;
  }
  EXPECT_EQ(packages.size(), 7U);
  EXPECT_GE(sides["lower"], 20);
  EXPECT_GE(sides["upper"], 30);
  EXPECT_GE(sides["exact"], 60);
}

TEST(Others, AgreementCanFail) {
  EXPECT_FALSE(agrees("upper", 1.0, 0.01, 1.02, 1.03));  // a bound from above that lies below the truth
  EXPECT_FALSE(agrees("lower", 1.0, 0.01, 0.97, 0.98));
  EXPECT_FALSE(agrees("exact", 1.0, 0.01, 1.02, 1.03));
  EXPECT_TRUE(agrees("exact", 1.0, 0.01, 1.005, 1.006));
}

}  // namespace
}  // namespace tradeoff::detail::test
