// SPDX-License-Identifier: Apache-2.0
#include "mechanism/randomized_response.h"

#include "loss/key.h"
#include "mechanism/finite.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/arguments.h"

namespace tradeoff::detail {

// [randomized-response] Between two true answers the loss is +eps, -eps, or 0 for the choices that are neither.
LossPointer randomized_response(Interval epsilon, std::uint64_t choices) {
  const Interval others = Interval::exactly(static_cast<double>(choices - 1));
  const Interval shrink = exp(-epsilon);
  const Interval truthful = 1.0 / (1.0 + others * shrink);
  const Interval neither = (others - 1.0) * shrink * truthful;
  std::vector<Atom> atoms{{epsilon, truthful}, {-epsilon, shrink * truthful}};
  if (choices > 2) atoms.push_back({Interval::exactly(0), neither});
  const Interval none = Interval::exactly(0);
  return finite_loss(make_atoms(std::move(atoms), none, none, true), make_key("randomized_response", {epsilon, others}),
                     {Citation("randomized-response", "the loss takes the values +epsilon, 0 and -epsilon")});
}

namespace {

LossPointer make_randomized_response(const Arguments& arguments, const WordContext&) {
  return randomized_response(arguments.number("epsilon"), arguments.whole("choices"));
}

// [largest-loss] The loss +epsilon has the probability of the truth, whatever the number of choices.
std::optional<numeric::Rational> largest_loss_of_randomized_response(const Arguments& arguments) { return arguments.exact("epsilon"); }

}  // namespace

Word randomized_response_word() {
  constexpr std::uint64_t most_choices = 1'000'000'000'000;  // far above any survey; still exact in a double
  return {.role = Role::source,
          .name = "randomized_response",
          .meaning = "k-ary randomised response",
          .parameters = {{"epsilon", Kind::number, "log of how much likelier the truth is than any other answer", range::non_negative,
                          effect::riskier.up_to(effect::largest_epsilon)},
                         {"choices", Kind::integer, "number of possible answers", range::whole(2, most_choices), effect::unknown, "2"}},
          .synonyms = {{"rr"}},
          .make = make_randomized_response,
          .largest_loss = largest_loss_of_randomized_response,
          .loss_step = largest_loss_of_randomized_response};
}

}  // namespace tradeoff::detail
