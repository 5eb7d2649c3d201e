// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "analyze/with_vocabulary.h"
#include "loss/atoms.h"
#include "loss/key.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/mixture.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

// A source and an operator that the library does not have, added from outside: docs/adding.md walks through the source.
namespace tradeoff::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

// `reveal(chance)`: with this probability the record is published, otherwise nothing happens.
LossPointer make_reveal(const Arguments& arguments, const WordContext&) {
  const Interval chance = arguments.number("chance");
  return finite_loss(make_atoms({{Interval::exactly(0), 1.0 - chance}}, chance, chance, true), make_key("reveal", {chance}),
                     {Citation("finite-pair", "nothing is seen, or an outcome that only one side can produce")});
}

Word reveal_word() {
  return {.role = Role::source,
          .name = "reveal",
          .meaning = "the record itself, published with a chance",
          .parameters = {{"chance", Kind::number, "how likely the record is published", range::probability, effect::riskier}},
          .synonyms = {{"publish"}, {"blatant", "a record that is always published has no privacy"}},
          .make = make_reveal};
}

// `sometimes(chance)`: everything before it is run with this probability, and the choice is public.
LossPointer apply_sometimes(const Arguments& arguments, LossPointer base, const WordContext&) {
  const Interval chance = arguments.number("chance");
  return mixture_loss({{chance, std::move(base)}, {1.0 - chance, gaussian_loss(Interval::exactly(0))}});
}

Word sometimes_word() {
  return {.role = Role::operation,
          .name = "sometimes",
          .meaning = "run with a chance, and it is seen whether it was run",
          .parameters = {{"chance", Kind::number, "how likely it is run", range::probability, effect::riskier, "0.5"}},
          .apply = apply_sometimes};
}

const Vocabulary& words() {
  static const Vocabulary made = vocabulary().with(reveal_word()).with(sometimes_word());
  return made;
}

Curve curve_of(const std::string& text, Neighbours neighbours = Neighbours::unstated) {
  return analyze(parse(text, words()), words(), neighbours);
}

/// Both curves agree in the profile and its inverse, in either direction.
void expect_same(const Curve& one, const Curve& other) {
  for (const Direction direction : {Direction::worst, Direction::remove, Direction::add}) {
    for (const char* epsilon : {"0", "0.5", "2"}) {
      const Interval a = one.delta_at(read_number(epsilon).value, direction), b = other.delta_at(read_number(epsilon).value, direction);
      EXPECT_LE(std::max(a.lo, b.lo), std::min(a.hi, b.hi)) << epsilon;
      EXPECT_LE(a.hi - a.lo, 1e-6) << epsilon;
    }
  }
}

// [finite-pair] Revealing with some probability is the least private of all (0, chance)-DP mechanisms.
TEST(AddedWord, ASourceIsParsedAnalysedAndAsked) {
  expect_same(curve_of("reveal(chance=0.25)", Neighbours::add_remove), analyze(parse("dp(0, 0.25)"), Neighbours::add_remove));
  expect_same(curve_of("reveal(0.01) | repeat(3)", Neighbours::add_remove),
              analyze(parse("dp(0, 0.01) | repeat(3)"), Neighbours::add_remove));
  const Curve curve = curve_of("reveal(1/4)");
  EXPECT_TRUE(curve.delta_at(Interval::exactly(1)).contains(0.25));
  EXPECT_EQ(curve.epsilon_at(read_number("0.1")).hi, infinity);
}

TEST(AddedWord, AnOperatorIsAppliedToTheLossBeforeIt) {
  expect_same(curve_of("gaussian(1) | sometimes(0.25)", Neighbours::add_remove),
              analyze(parse("mixture([(0.25, gaussian(1)), (0.75, gdp(0))])"), Neighbours::add_remove));
}

TEST(AddedWord, ComposesWithTheWordsOfTheLibrary) {
  expect_same(curve_of("gaussian(1) | poisson(0.1) | repeat(5)\nreveal(0.01)\nmixture([(0.5, reveal(0.1)), (0.5, laplace(2))])"),
              analyze(parse("gaussian(1) | poisson(0.1) | repeat(5)\ndp(0, 0.01)\nmixture([(0.5, dp(0, 0.1)), (0.5, laplace(2))])")));
}

TEST(AddedWord, IsSpelledRangedAndExplainedByItsRow) {
  const std::string text = "reveal(chance=1/3) | sometimes(chance=0.5)";
  EXPECT_EQ(to_string(parse(text, words()), words()), text);
  EXPECT_EQ(usage(*words().find(Role::source, "reveal")), "reveal(chance)");
  EXPECT_THAT([] { (void)curve_of("reveal(1.5)"); },
              testing::ThrowsMessage<DomainError>(HasSubstr("reveal: chance = 1.5 is not allowed; it must be between 0 and 1")));
  for (const char* typed : {"revael(0.5)", "publish(0.5)"})
    EXPECT_THAT([typed] { (void)parse(typed, words()); }, testing::ThrowsMessage<ParseError>(HasSubstr("did you mean 'reveal'?"))) << typed;
  EXPECT_THAT([] { (void)parse("blatant(1)", words()); }, testing::ThrowsMessage<ParseError>(HasSubstr("has no privacy")));
  EXPECT_THAT([] { (void)parse("publish(0.5)"); }, testing::ThrowsMessage<ParseError>(Not(HasSubstr("did you mean"))));
}

TEST(AddedWord, IsUnknownToTheLibraryItself) {
  EXPECT_EQ(vocabulary().find(Role::source, "reveal"), nullptr);
  EXPECT_THROW((void)parse("reveal(0.5)"), ParseError);
  EXPECT_THROW((void)analyze(parse("reveal(0.5)", words())), UnsupportedError);
  EXPECT_THROW((void)analyze(parse("gdp(1) | sometimes(0.5)", words())), UnsupportedError);
}

// A word may not redefine another, and equal texts with different vocabularies must not count as equal distributions.
TEST(AddedWord, CannotReuseAName) {
  EXPECT_THROW((void)words().with(reveal_word()), std::invalid_argument);
  Word unmade = reveal_word();
  unmade.name = "unmade";
  unmade.make = nullptr;
  EXPECT_THROW((void)vocabulary().with(unmade), std::invalid_argument);
  Word endless = reveal_word();
  endless.name = "endless";
  endless.parameters = {{"count", Kind::integer, "how many"}};
  EXPECT_THROW((void)vocabulary().with(endless), std::invalid_argument);
  Word uneven = reveal_word();  // calibration would find nothing about the noise
  uneven.name = "uneven";
  uneven.parameters[0].effect = effect::mostly_safer;
  EXPECT_THROW((void)vocabulary().with(uneven), std::invalid_argument);
}

}  // namespace
}  // namespace tradeoff::detail
