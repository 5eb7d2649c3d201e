// SPDX-License-Identifier: Apache-2.0
// Certificates of answers: `verify` accepts what `certify` writes, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "numeric/number_text.h"
#include "run_command.h"
#include "sealed.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A temporary file that is removed after the test.
class File {
 public:
  explicit File(const std::string& text) : path_(std::filesystem::path(::testing::TempDir()) / ("certificate" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] std::string name() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Outcome check(const std::string& text, bool as_json = false) {
  const File file(text);
  return as_json ? run_command({"verify", file.name(), "--json"}) : run_command({"verify", file.name()});
}

json certified(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "certify");
  const Outcome run = run_command(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return json::parse(run.out);
}

TEST(Certify, ChecksTheCertificatesThatItWrites) {
  for (const std::vector<std::string>& question :
       std::vector<std::vector<std::string>>{{"--delta", "1e-5", "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(1000)"},
                                             {"--epsilon", "inf", "dp(epsilon=1, delta=1e-6)"},
                                             {"--epsilon", "-0.5", "--direction", "add", "pair(p=[0.7, 0.3], q=[0.4, 0.6])"},
                                             {"--alpha", "0.05", "--neighbours", "replace-one", "laplace(scale=2) | repeat(3)"},
                                             {"--fpr", "1/1000", "mixture([(0.3, (gdp(mu=2) | repeat(2))), (0.7, dp(epsilon=1))])"},
                                             {"--epsilon", "40", "gdp(mu=1)"}}) {
    const json certificate = certified(question);
    EXPECT_EQ(certificate.at("certificate"), "tradeoff certificate 1");
    const Outcome run = check(certificate.dump());
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("The certificate holds"));
    EXPECT_EQ(check(sealed(certificate).dump()).code, 0);  // the digest is defined on the page
  }
}

TEST(Certify, HoldsPlanItemsAndDefaults) {
  const json certificate = certified({"--delta", "1e-05", "gaussian( 2.0 )|repeat(1e1)"});
  EXPECT_EQ(certificate.at("plan"), "gaussian(sigma=2) | repeat(10)");
  EXPECT_EQ(certificate.at("guarantees").at(0).at("question").at("delta"), "1e-5");
  const json& item = certificate.at("items").at(0);
  EXPECT_EQ(item.at("source").at("arguments"), (json{{"sigma", "2"}, {"sensitivity", "1"}}));
  EXPECT_EQ(item.at("operators").at(0), (json{{"name", "repeat"}, {"arguments", {{"times", "10"}}}}));
  EXPECT_EQ(certificate.at("guarantees").at(0).at("claim"), "hi");
  EXPECT_EQ(certificate.at("unit"), "one record");
  EXPECT_EQ(certified({"--delta", "1e-5", "gdp(mu=1) | group(3)"}).at("unit"), "a group of 3 records");
}

TEST(Certify, RefusesBadUsage) {
  EXPECT_EQ(run_command({"certify"}).code, 3);
  EXPECT_EQ(run_command({"certify", "gdp(mu=1)"}).code, 3);
  EXPECT_THAT(run_command({"certify", "--delta", "0.1", "--alpha", "0.1", "gdp(mu=1)"}).err, HasSubstr("one question"));
  EXPECT_THAT(run_command({"certify", "--delta", "1e-5", "gaussian(sigma=?)"}).err, HasSubstr("?"));
  EXPECT_EQ(run_command({"verify", "/nowhere/at/all"}).code, 3);
  EXPECT_EQ(run_command({"verify"}).code, 3);
  EXPECT_EQ(run_command({"certify", "--check", "/nowhere/at/all"}).code, 3);
  EXPECT_EQ(run_command({"certify", "--check", "x", "gdp(mu=1)"}).code, 3);
  const File points("0,0.5\n1,0.1\n");
  EXPECT_THAT(run_command({"certify", "--delta", "1e-5", "profile(file=\"" + points.name() + "\")"}).err, HasSubstr("file"));
}

TEST(Certify, RefutesFalseIntervals) {
  const json certificate = certified({"--delta", "1e-6", "gaussian(sigma=2)"});
  json forged = certificate;
  forged["guarantees"][0]["answer"] = {{"lo", "1"}, {"hi", "1.5"}};
  EXPECT_EQ(check(sealed(forged).dump()).code, 1);
  forged["guarantees"][0]["answer"] = {{"lo", "1"}, {"hi", "9"}};
  EXPECT_EQ(check(sealed(forged).dump()).code, 0);  // a wider interval is true as well
  const double least = std::stod(certificate.at("guarantees").at(0).at("answer").at("lo").get<std::string>());
  forged["guarantees"][0]["answer"] = {{"lo", "1"}, {"hi", numeric::to_text_above(least)}};  // overlaps, and claims more than can be proved
  EXPECT_EQ(check(sealed(forged).dump()).code, 4);
  EXPECT_EQ(json::parse(check(sealed(forged).dump(), true).out).at("answer").at("verdict"), "undecided");
  forged["guarantees"][0]["answer"] = {{"lo", "9"}, {"hi", "1"}};
  EXPECT_EQ(check(sealed(forged).dump()).code, 3);
  forged["guarantees"][0]["answer"] = {{"lo", "0x1"}, {"hi", "nan"}};
  EXPECT_EQ(check(sealed(forged).dump()).code, 3);
  forged = certificate;
  forged["plan"] = "gaussian(sigma=1)";
  EXPECT_THAT(check(sealed(forged).dump()).err, HasSubstr("items"));
  forged["items"] = certified({"--delta", "1e-6", "gaussian(sigma=1)"}).at("items");
  EXPECT_EQ(check(sealed(forged).dump()).code, 1);
}

TEST(Certify, RefusesArbitraryTextWithoutCrashing) {
  const std::string good = certified({"--delta", "1e-6", "gaussian(sigma=2)"}).dump();
  for (const std::string& text : std::vector<std::string>{"", "null", "[]", "\xff\xfe", std::string(200000, '['), std::string(1200000, ' '),
                                                          "{\"plan\": 1, \"plan\": 2}", good.substr(0, good.size() / 2)}) {
    const Outcome run = check(text);
    EXPECT_EQ(run.code, 3) << text.substr(0, 20);
    EXPECT_THAT(run.err, HasSubstr("certificate")) << text.substr(0, 20);
  }
}

TEST(Certify, NamesTheFileAndThePosition) {
  EXPECT_THAT(check("").err, HasSubstr("is empty"));
  EXPECT_THAT(check("{\"plan\": ").err, HasSubstr("cut off after 9 bytes"));
  EXPECT_THAT(check("{\n\"plan\" 1}").err, HasSubstr("line 2"));
  EXPECT_THAT(check("{}").err, HasSubstr("field 'certificate' is missing"));
  EXPECT_THAT(check("").err, HasSubstr(::testing::TempDir()));
}

TEST(Certify, HoldsNodeCountsAndErrorTerms) {
  const json certificate = certified({"--delta", "1e-6", "gaussian(sigma=1.1) | poisson(rate=0.01) | repeat(1000)"});
  const json& one = certificate.at("guarantees").at(0).at("evaluations").at(0);
  EXPECT_EQ(one.at("theorem"), "contour-inversion");
  EXPECT_TRUE(one.at("counts").contains("nodes"));
  for (const char* name : {"alias", "truncation", "nodes", "moments"}) EXPECT_TRUE(one.at("errors").contains(name)) << name;
  const auto with = [&](const json::json_pointer& place, const json& value) {
    json forged = certificate;
    forged["guarantees"][0]["evaluations"][0][place] = value;
    return check(sealed(forged).dump());
  };
  for (const auto& [place, value] : std::vector<std::pair<std::string, json>>{{"/counts/nodes", "0"},
                                                                              {"/counts/nodes", "-3"},
                                                                              {"/counts/nodes", "1.5"},
                                                                              {"/counts/nodes", 7},
                                                                              {"/errors/alias", "-1e-20"},
                                                                              {"/errors/alias", "nan"},
                                                                              {"/errors/alias", "0.5"},
                                                                              {"/epsilon", "0.1e"},
                                                                              {"/direction", "worst"},
                                                                              {"/settings", "none"},
                                                                              {"/log_delta/lo", "1"},
                                                                              {"/more", "1"}})
    EXPECT_EQ(with(json::json_pointer(place), value).code, 3) << place << value;
}

TEST(Certify, AnswersMoreNarrowlyBeforeItGivesUp) {
  const json narrow = certified({"--delta", "1e-6", "--relative", "1e-9", "gaussian(sigma=2); discrete_laplace(scale=3)"});
  json forged = narrow;
  forged["guarantees"][0]["question"]["relative"] = "0.001";
  EXPECT_EQ(check(sealed(forged).dump()).code, 0);
}

}  // namespace
}  // namespace tradeoff::detail::test
