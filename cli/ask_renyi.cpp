// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "asks.h"
#include "tradeoff/limit.h"

namespace tradeoff::cli {
namespace {

/// Divergences grow with the order: the doubles around a decimal bound it.
Interval divergence_at(const RenyiCurve& renyi, const Question& question) {
  const Interval order = question.number("order");
  if (!(order.lo > 1)) question.refuse("order", "above 1");
  const Interval low = renyi.at(order.lo, question.direction());
  return order.lo == order.hi ? low : Interval{low.lo, renyi.at(order.hi, question.direction()).hi};
}

void write_zcdp(report::JsonWriter& out, const std::optional<Interval>& rho) {
  out.key("zcdp");
  if (rho)
    out.interval(*rho);
  else
    out.null();
}

std::string zcdp_text(const std::optional<Interval>& rho) {
  if (!rho) return "not known to be zCDP\n";
  return to_text(report::Claim{"rho", *rho, report::SafeEnd::hi, "of zCDP", {}}, {true, ""});
}

}  // namespace

// [renyi-curve] [renyi-conversion]
Answer answer_renyi(const Question& question) {
  if (question.has("order") && question.has("delta")) question.refuse("delta", "left out where an order is given");
  const RenyiCurve renyi = renyi_curve(question.plan(), question.neighbours(), question.tolerance());
  const auto rho = renyi.zcdp();
  const auto curve = question.curve();
  if (!question.has("delta")) {
    const Interval divergence = divergence_at(renyi, question);
    const std::string condition = "at order " + question.text("order");
    return {[=](report::JsonWriter& out) {
              write_zcdp(out.begin_object().key("divergence").interval(divergence), rho);
              out.end_object();
            },
            [=](const report::Style& style) {
              return to_text(report::Claim{"Renyi divergence", divergence, report::SafeEnd::hi, condition, {}}, style) + zcdp_text(rho);
            },
            curve};
  }
  const RenyiGuarantee found = renyi.epsilon_at(question.probability("delta"), question.direction());
  const std::string condition = "at delta = " + question.text("delta") + " by Renyi accounting";
  return {[=](report::JsonWriter& out) {
            out.begin_object().key("epsilon").interval(found.value).key("order");
            if (found.order < Interval::whole().hi)
              out.number(found.order);
            else
              out.text("inf");
            write_zcdp(out, rho);
            out.end_object();
          },
          [=](const report::Style& style) {
            return to_text(report::Claim{"epsilon", found.value, report::SafeEnd::hi, condition, {}}, style) + zcdp_text(rho);
          },
          curve};
}

}  // namespace tradeoff::cli
