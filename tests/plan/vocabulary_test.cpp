// SPDX-License-Identifier: Apache-2.0
#include "plan/vocabulary.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tradeoff::detail {
namespace {

TEST(Vocabulary, NamesAreUniqueWithinTheirRoleAndExplained) {
  std::set<std::pair<Role, std::string_view>> seen;
  for (const Word& word : vocabulary()) {
    EXPECT_TRUE(seen.emplace(word.role, word.name).second) << word.name;
    EXPECT_FALSE(word.meaning.empty()) << word.name;
    EXPECT_EQ(vocabulary().find(word.role, word.name), &word);
    EXPECT_LT(word.parameters.size(), 32U) << "the parser keeps one bit a parameter";
    std::set<std::string_view> parameters;
    for (const Parameter& parameter : word.parameters) {
      EXPECT_TRUE(parameters.insert(parameter.name).second) << word.name << " " << parameter.name;
      EXPECT_FALSE(parameter.meaning.empty()) << word.name << " " << parameter.name;
      EXPECT_EQ(find_parameter(word, parameter.name), &parameter);
    }
  }
  EXPECT_EQ(vocabulary().find(Role::source, "poisson"), nullptr);
  EXPECT_EQ(find_parameter(*vocabulary().find(Role::source, "gdp"), "sigma"), nullptr);
}

TEST(Vocabulary, OptionalParametersComeLast) {
  for (const Word& word : vocabulary()) {
    bool optional = false;
    for (const Parameter& parameter : word.parameters) {
      const bool omissible = parameter.optional || !parameter.fallback.empty();
      EXPECT_FALSE(optional && !omissible) << word.name << ": a required parameter could not be given by position";
      optional = optional || omissible;
    }
  }
}

TEST(Vocabulary, OnlySamplingFixesTheNeighbours) {
  EXPECT_EQ(vocabulary().find(Role::operation, "poisson")->neighbours.front(), Neighbours::add_remove);
  EXPECT_EQ(vocabulary().find(Role::operation, "sample")->neighbours, std::vector{Neighbours::replace_one});
  EXPECT_EQ(vocabulary().find(Role::operation, "sample_with_replacement")->neighbours, std::vector{Neighbours::replace_one});
  EXPECT_EQ(vocabulary().find(Role::operation, "repeat")->neighbours, std::vector<Neighbours>{});
}

TEST(Vocabulary, UsageShowsDefaultsAndForms) {
  EXPECT_EQ(usage(*vocabulary().find(Role::source, "gaussian")), "gaussian(sigma, sensitivity=1) or gaussian(sigma, clip)");
  EXPECT_EQ(usage(*vocabulary().find(Role::operation, "sample")), "sample(size, of) or sample(rate)");
  EXPECT_EQ(usage(*vocabulary().find(Role::operation, "refine")), "refine()");
  EXPECT_EQ(usage(*vocabulary().find(Role::source, "strongest")), "strongest(guarantees)");
  EXPECT_EQ(usage(*vocabulary().find(Role::tail, "zero")), "zero");
}

TEST(Vocabulary, ChoicesAreSeparatedByBars) {
  const Word& matrix = *vocabulary().find(Role::source, "matrix");
  EXPECT_EQ(choices_of(*find_parameter(matrix, "pattern")), (std::vector<std::string_view>{"min_sep", "every"}));
  EXPECT_EQ(choices_of(*find_parameter(matrix, "sigma")), std::vector<std::string_view>{});
}

TEST(NearestName, CountsEditsAndSwaps) {
  const std::string_view names[] = {"gaussian", "laplace", "dp", "gdp"};
  EXPECT_EQ(nearest_name("gausian", names), "gaussian");
  EXPECT_EQ(nearest_name("lapalce", names), "laplace");
  EXPECT_EQ(nearest_name("gpd", names), "gdp");
  EXPECT_EQ(nearest_name("GAUSSIAN", names), "gaussian");
  EXPECT_EQ(nearest_name("gaussian", {}), "");
}

TEST(NearestName, IsNoneIfAllAreFar) {
  const std::string_view names[] = {"gaussian", "laplace", "dp", "gdp"};
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("x", names), "");
  EXPECT_EQ(nearest_name("gamma", names), "");
  EXPECT_EQ(nearest_name("rdpq", names), "");
  EXPECT_EQ(nearest_name(std::string(1'000, 'l'), names), "");
}

TEST(NearestName, KnowsBeginningsAndSynonyms) {
  const std::string_view names[] = {"laplace", "sigma", "epsilon"};
  EXPECT_EQ(nearest_name("eps", names), "epsilon");
  EXPECT_EQ(nearest_name("lap", names), "laplace");
  EXPECT_EQ(nearest_name("noise_multiplier", names), "sigma");
  EXPECT_EQ(nearest_name("sample_rate", names), "");  // rate is not among them
}

}  // namespace
}  // namespace tradeoff::detail
