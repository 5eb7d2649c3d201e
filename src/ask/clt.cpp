// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "ask/estimate.h"
#include "ask/request.h"
#include "report/exact_numbers.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::ask {
namespace {

/// Theorem 5, or the reason why it does not apply.
struct Proved {
  std::optional<BerryEsseen> bound;
  std::string refusal;
};

Proved find_bound(const Request& request) {
  try {
    return {berry_esseen(request.plan(), request.neighbours(), request.tolerance()), {}};
  } catch (const UnsupportedError& error) {
    return {std::nullopt, error.what()};
  }
}

Answer answer_clt(const Request& request) {
  const CentralLimit limit = central_limit(request.plan(), request.neighbours(), request.tolerance());
  const Proved proved = find_bound(request);
  return {[limit, proved](report::JsonWriter& out) {
            write_estimate(out.begin_object().key("mu"), limit.mu);
            if (limit.revealed.value() > 0) write_estimate(out.key("revealed"), limit.revealed);
            out.key("theorems").begin_array();
            for (const std::string& theorem : limit.theorems) out.text(theorem);
            out.end_array().key("berry_esseen").begin_object();
            if (proved.bound)
              out.key("mu")
                  .interval(proved.bound->mu())
                  .key("gamma")
                  .interval(proved.bound->gamma())
                  .key("revealed")
                  .interval(proved.bound->revealed())
                  .key("floor")
                  .interval(proved.bound->floor());
            else
              out.key("refused").text(proved.refusal);
            out.end_object().end_object();
          },
          [limit, proved, exact = report::exact_mu(request.plan(), *request.curve())](const report::Style& style) {
            std::string text = "mu ~ " + significant(limit.mu.value(), 6) + " in the limit, an estimate and not a bound\n";
            if (!proved.bound) return text + "no bound: " + proved.refusal + "\n";
            text += to_text(
                report::Claim{"mu", proved.bound->mu(), report::SafeEnd::hi, "by Berry-Esseen (Dong, Roth and Su, Theorem 5)", {}, exact},
                style);
            return text +
                   to_text(report::Claim{"gamma", proved.bound->gamma(), report::SafeEnd::hi, "of this guarantee", {}}, {style.quiet, ""});
          },
          request.curve()};
}

}  // namespace

constinit const Question clt_question{
    .name = "clt", .meaning = "mu of the central limit theorem (an estimate), and the Berry-Esseen bound", .answer = answer_clt};

}  // namespace tradeoff::detail::ask
