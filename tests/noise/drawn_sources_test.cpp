// SPDX-License-Identifier: Apache-2.0
#include "noise/drawn_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "noise/instruction.h"
#include "plan/vocabulary.h"

// The tables of what a release can draw, against the words of the plan language.
namespace tradeoff::detail::noise {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

/// Calls the source with these arguments as far as it has them.
Call call_of(const Word& word) {
  const std::pair<std::string_view, double> values[] = {{"sigma", 3}, {"scale", 3}, {"epsilon", 1}, {"bound", 7}, {"choices", 5}};
  Call call{std::string(word.name), {}, 0};
  for (const auto& [name, value] : values)
    if (find_parameter(word, name) != nullptr) call.arguments.push_back({std::string(name), {exact_number(value), 0}});
  return call;
}

// A mechanism that is added to the language is drawn as well, or it is named here.
TEST(DrawnSources, AreAllMechanismsButThoseOfNoNoise) {
  std::vector<std::string_view> not_drawn;
  for (const Word& word : vocabulary())
    if (word.role == Role::source && !word.stated && !holds_plans(word) && find_drawn_source(word.name) == nullptr)
      not_drawn.push_back(word.name);
  // what is released is chosen by the noise; noise of users, of many steps or of many clients; answers to a stream; outcomes without values
  EXPECT_THAT(not_drawn,
              UnorderedElementsAre("threshold", "partition_selection", "shuffled_reports", "exponential", "noisy_max", "matrix",
                                   "sparse_vector", "skellam", "binomial_noise", "discrete_gaussian_sum", "discrete_laplace_sum", "pair"));
}

TEST(DrawnSources, AreSourcesOfTheLanguage) {
  for (const DrawnSource* drawn : drawn_sources) {
    const Word* word = vocabulary().find(Role::source, drawn->name);
    ASSERT_NE(word, nullptr) << drawn->name;
    EXPECT_FALSE(word->stated) << drawn->name;
    const Parameter* scale = find_parameter(*word, drawn->scale);
    ASSERT_NE(scale, nullptr) << drawn->name;
    EXPECT_TRUE(scale->effect.known) << drawn->name << ": a release may look for it";
    EXPECT_EQ(find_drawn_source(drawn->name), drawn);
  }
  EXPECT_EQ(find_drawn_source("gdp"), nullptr);
}

// What is charged names the row that made the sampler, so that no row can draw the noise of another.
TEST(DrawnSources, MakeTheNoiseThatIsCharged) {
  for (const DrawnSource* drawn : drawn_sources) {
    const Word& word = *vocabulary().find(Role::source, drawn->name);
    ReleaseTerms terms;
    if (!drawn->is_category) terms.grid_exponent = -1;
    const DrawnNoise noise = make_noise(call_of(word), terms);
    EXPECT_EQ(&noise.sampler->drawn_law().source, drawn) << drawn->name;
    EXPECT_EQ(noise.sampler->drawn_law().choices != 0, drawn->is_category) << drawn->name;
    const Call charged = charged_source(noise);
    EXPECT_EQ(charged.name, drawn->name);
    EXPECT_EQ(charged.arguments.front().name, drawn->scale);
    for (const Argument& argument : charged.arguments) EXPECT_NE(find_parameter(word, argument.name), nullptr) << argument.name;
    EXPECT_EQ(describe(noise).law, drawn->law);
    EXPECT_EQ(describe(noise).norm, word.norm);
  }
}

TEST(DrawnOperators, AreAllOperatorsButThese) {
  std::vector<std::string_view> not_drawn;
  const std::vector<std::string_view> drawn = drawn_operators();
  for (const std::string_view name : drawn) EXPECT_NE(vocabulary().find(Role::operation, name), nullptr) << name;
  for (const Word& word : vocabulary())
    if (word.role == Role::operation && std::find(drawn.begin(), drawn.end(), word.name) == drawn.end()) not_drawn.push_back(word.name);
  EXPECT_THAT(not_drawn, UnorderedElementsAre("allocate", "shuffle", "cyclic", "sample_with_replacement", "best_of", "invert"));
}

}  // namespace
}  // namespace tradeoff::detail::noise
