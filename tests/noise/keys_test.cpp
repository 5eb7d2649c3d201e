// SPDX-License-Identifier: Apache-2.0
// [key-release]
#include "noise/keys.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

using testing::HasSubstr;

/// Reproducible words.
class Seeded final : public WordStream {
 public:
  explicit Seeded(std::uint64_t seed) : engine_(seed) {}
  void fill(std::span<std::uint64_t> words) override {
    for (std::uint64_t& word : words) word = engine_();
  }

 private:
  std::mt19937_64 engine_;
};

ReleaseTerms terms_of_keys() {
  ReleaseTerms terms;
  terms.aggregate = Aggregate::keys;
  return terms;
}

std::string refusal(const std::string& plan) {
  try {
    (void)certify(parse(plan), terms_of_keys());
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// Users 1 to `others` have the key "a", one user more has `keys`.
std::vector<KeyRow> table_of(int others, const std::vector<std::string>& keys, std::uint64_t count = 1) {
  std::vector<KeyRow> rows;
  for (int i = 0; i < others; ++i) rows.push_back({"u" + std::to_string(i), "a", 1});
  for (const std::string& key : keys) rows.push_back({"x", key, count});
  return rows;
}

/// How often each outcome for the keys is released.
std::map<std::string, double> simulate(const std::string& plan, const std::vector<KeyRow>& rows, int draws) {
  const KeyInstruction instruction = make_key_instruction(parse(plan));
  Seeded words(17);
  std::map<std::string, double> law;
  for (int i = 0; i < draws; ++i) {
    std::string outcome;
    for (const ReleasedKey& one : carry_out(instruction, rows, words))
      outcome += one.key + (one.count ? std::to_string(*one.count) : "") + " ";
    law[outcome] += 1.0 / draws;
  }
  return law;
}

// By simulation: with the user and without, no delta is above that of the certificate, and the worst table comes close to it.
TEST(KeyRelease, SimulatedReleasesKeepTheGuarantee) {
  constexpr int draws = 200'000;
  const std::string plan = "threshold(noise=discrete_laplace, scale=1, above=4, partitions=1)";
  const Curve curve = certify(parse(plan), terms_of_keys()).curve();
  double largest = 0;
  for (const int others : {0, 1, 3, 20})
    for (const double epsilon : {0.0, 0.5}) {
      auto with = simulate(plan, table_of(others, {"a"}), draws), without = simulate(plan, table_of(others, {}), draws);
      double remove = 0, add = 0;
      for (const auto& [outcome, p] : with) remove += std::max(0.0, p - std::exp(epsilon) * without[outcome]);
      for (const auto& [outcome, q] : without) add += std::max(0.0, q - std::exp(epsilon) * with[outcome]);
      EXPECT_LE(remove, curve.delta_at(epsilon, Direction::remove).hi + 0.01) << others;
      EXPECT_LE(add, curve.delta_at(epsilon, Direction::add).hi + 0.01) << others;
      largest = std::max(largest, remove - curve.delta_at(epsilon, Direction::remove).hi);
    }
  EXPECT_GT(largest, -0.01);
}

TEST(KeyRelease, CoinsHaveTheStatedProbabilities) {
  constexpr int draws = 200'000;
  const std::string plan = "partition_selection(keep=[0.125, 0.5, 1])";
  EXPECT_NEAR(simulate(plan, table_of(0, {"a"}), draws)["a "], 0.125, 0.005);
  EXPECT_NEAR(simulate(plan, table_of(1, {"a"}), draws)["a "], 0.5, 0.005);
  EXPECT_EQ(simulate(plan, table_of(2, {"a"}), 100)["a "] > 0.999, true);
  EXPECT_EQ(simulate(plan, table_of(40, {"a"}), 100)["a "] > 0.999, true);
}

// A user has at most `partitions` keys and adds at most `contribution`, whatever the rows say.
TEST(KeyRelease, BoundsWhatAUserContributes) {
  std::vector<KeyRow> rows;
  for (int i = 0; i < 50; ++i) rows.push_back({"x", "k" + std::to_string(i), 1000});
  rows.push_back({"x", "k0", 1000});
  const KeyInstruction one = make_key_instruction(parse("threshold(discrete_laplace, 1, -1000, 3, 2)"));
  Seeded words(3);
  std::set<std::string> seen;
  for (int i = 0; i < 400; ++i) {
    const auto released = carry_out(one, rows, words);
    ASSERT_EQ(released.size(), 3u);
    for (const ReleasedKey& key : released) {
      EXPECT_LT(*key.count, 60);
      seen.insert(key.key);
    }
  }
  EXPECT_EQ(seen.size(), 50u);  // every key is chosen at times
  const auto coins = carry_out(make_key_instruction(parse("partition_selection(keep=[0, 1])")), rows, words);
  EXPECT_TRUE(coins.empty());  // many rows of one user are one user
}

TEST(KeyRelease, ReleasesCountsAtTheThresholdAndAbove) {
  const KeyInstruction one = make_key_instruction(parse("threshold(discrete_laplace, 1, 3.5)"));
  Seeded words(5);
  std::int64_t least = 1000;
  for (int i = 0; i < 2000; ++i)
    for (const ReleasedKey& key : carry_out(one, table_of(3, {"a"}), words)) least = std::min(least, *key.count);
  EXPECT_EQ(least, 4);
}

TEST(KeyRelease, OrderOfRowsHasNoInfluence) {
  const KeyInstruction all = make_key_instruction(parse("partition_selection(keep=[1], partitions=9)"));
  std::vector<KeyRow> rows{{"x", "b", 1}, {"y", "a", 1}, {"z", "c", 1}};
  Seeded words(1);
  const auto names = [&] {
    std::string text;
    for (const ReleasedKey& key : carry_out(all, rows, words)) text += key.key;
    return text;
  };
  EXPECT_EQ(names(), "abc");
  std::swap(rows[0], rows[1]);
  EXPECT_EQ(names(), "abc");
}

// The accountant charges what is drawn.
TEST(KeyRelease, CertificateStatesWhatIsDrawn) {
  const Certificate threshold = certify(parse("threshold(discrete_gaussian, 2.3, 20.5, 3)"), terms_of_keys());
  EXPECT_THAT(to_string(threshold.drawn_plan()), HasSubstr("above=21"));
  ASSERT_EQ(threshold.mechanisms().size(), 1u);
  EXPECT_EQ(threshold.mechanisms().front().law, "discrete gaussian");
  EXPECT_EQ(threshold.curve().neighbours(), Neighbours::add_remove);
  const Certificate rule = certify(parse("partition_selection(epsilon=1, delta=1e-5)"), terms_of_keys());
  EXPECT_LE(rule.curve().delta_at(1).hi, 1.00001e-5);
  EXPECT_GE(rule.curve().delta_at(1).hi, 0.99999e-5);
  const Targets targets{
      {Guarantee{read_number("1").value, read_number("1e-6").value}, {{"epsilon", read_number("1")}, {"delta", read_number("1e-6")}}}};
  const Certificate found = certify(parse("threshold(discrete_laplace, 2, ?)"), terms_of_keys(), targets);
  EXPECT_LE(found.curve().delta_at(1).hi, 1e-6);
}

TEST(KeyRelease, RefusesWhatItCannotDraw) {
  EXPECT_THAT(refusal("threshold(gaussian, 2, 20)"), HasSubstr("write noise=discrete_gaussian"));
  EXPECT_THAT(refusal("threshold(discrete_laplace, 2, 20) | repeat(2)"), HasSubstr("without operators"));
  EXPECT_THAT(refusal("threshold(discrete_laplace, 2, 20); laplace(2)"), HasSubstr("by itself"));
  EXPECT_THAT(refusal("threshold(discrete_laplace, 2, 20, 1, 1.5)"), HasSubstr("whole number"));
  EXPECT_THAT(refusal("gaussian(1)"), HasSubstr("threshold(...)"));
  const KeyInstruction one = make_key_instruction(parse("threshold(discrete_laplace, 1, 3)"));
  Seeded words(1);
  const std::vector<KeyRow> none{{"x", "a", 0}};
  EXPECT_THROW((void)carry_out(one, none, words), DomainError);
  const std::vector<double> values{1.0};
  EXPECT_THROW((void)release(certify(parse("threshold(discrete_laplace, 1, 3)"), terms_of_keys()), values), DomainError);
  ReleaseTerms plain;
  EXPECT_THROW((void)release_keys(certify(parse("gaussian(1)"), plain), none), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail::noise
