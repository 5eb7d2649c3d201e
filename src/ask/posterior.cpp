// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "ask/request.h"
#include "numeric/number_text.h"
#include "report/exact_numbers.h"
#include "report/risk.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::ask {

namespace {

constexpr std::array<Field, 1> posterior_fields = {{{"prior", "how likely membership was before", Kind::number, inner_probability, true}}};

constexpr const char* rare = "1e-5";  // as in the answer to `risk`

Answer answer_posterior(const Request& request) {
  request.require_both_directions("a guess may be that the record is there, or that it is not");
  const Interval prior = request.value("prior");
  const auto curve = request.curve();
  const Posterior posterior = curve->posterior_at(prior);
  const Interval usual = report::belief_after(prior, odds_factor(*curve, *numeric::enclose_decimal(rare)));
  const std::string condition = "at prior = " + request.shown("prior");
  const std::string guess = report::best_guess(prior);
  const std::string exact = report::exact_accuracy(*curve, request.shown("prior"), posterior.accuracy);
  const std::string largest = report::exact_posterior(request.plan(), request.number("prior"), posterior.largest);
  const std::string belief = report::exact_belief(request.plan(), request.number("prior"), usual);
  return {[posterior, usual](report::JsonWriter& out) {
            out.begin_object().key("accuracy").interval(posterior.accuracy).key("largest").interval(posterior.largest);
            out.key("usual").begin_object().key("except").raw(rare).key("largest").interval(usual).end_object().end_object();
          },
          [posterior, usual, condition, guess, exact, largest, belief](const report::Style& style) {
            const auto line = [](const char* quantity, Interval value, const std::string& where, const report::Style& how,
                                 const std::string& known = {}) {
              return to_text(report::Claim{quantity, value, report::SafeEnd::hi, where, {}, known}, how);
            };
            const report::Style plain{style.quiet, ""};
            const bool bounded = posterior.largest.hi < 1;
            return line("accuracy of the best guess", posterior.accuracy, condition + " (guessing: " + guess + ")", style, exact) +
                   line("posterior", posterior.largest, condition + (bounded ? "" : ": a rare result may leave no doubt"), plain, largest) +
                   line("posterior", usual, condition + ", except with probability " + rare, plain, belief);
          },
          curve};
}

}  // namespace

constinit const Question posterior_question{.name = "posterior",
                                            .meaning = "what an attacker with this prior may believe afterwards",
                                            .fields = posterior_fields,
                                            .answer = answer_posterior};

}  // namespace tradeoff::detail::ask
