// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "ask/request.h"
#include "report/exact_numbers.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 2> renyi_fields = {{
    {"order", "the order of the divergence", Kind::number, above_one},
    {"delta", "instead of an order: convert at this delta", Kind::number, probability},
}};

/// Divergences increase with the order, so the values at the neighbouring doubles bound the value at a decimal.
Interval divergence_at(const RenyiCurve& renyi, const Request& request) {
  const Interval order = request.value("order");
  const Interval low = renyi.at(order.lo, request.direction());
  return order.lo == order.hi ? low : Interval{low.lo, renyi.at(order.hi, request.direction()).hi};
}

void write_zcdp(report::JsonWriter& out, const std::optional<Interval>& rho) {
  out.key("zcdp");
  if (rho)
    out.interval(*rho);
  else
    out.null();
}

std::string zcdp_text(const std::optional<Interval>& rho, const std::string& exact) {
  if (!rho) return "not known to be zCDP\n";
  return to_text(report::Claim{"rho", *rho, report::SafeEnd::hi, "of zCDP", {}, exact}, {true, ""});
}

// [renyi-curve] [renyi-conversion]
Answer answer_renyi(const Request& request) {
  if (request.has("order") && request.has("delta")) request.refuse("delta", "left out where an order is given");
  const RenyiCurve renyi = renyi_curve(request.plan(), request.neighbours(), request.tolerance());
  const auto rho = renyi.zcdp();
  const auto curve = request.curve();
  const std::string exact_rho = rho ? report::exact_rho(request.plan(), *rho) : "";
  if (!request.has("delta")) {
    const std::string exact = report::exact_divergence(request.plan(), request.number("order"));
    const Interval divergence = divergence_at(renyi, request);
    const std::string condition = "at order " + request.text("order");
    return {[=](report::JsonWriter& out) {
              write_zcdp(out.begin_object().key("divergence").interval(divergence), rho);
              out.end_object();
            },
            [=](const report::Style& style) {
              return to_text(report::Claim{"Renyi divergence", divergence, report::SafeEnd::hi, condition, {}, exact}, style) +
                     zcdp_text(rho, exact_rho);
            },
            curve};
  }
  const RenyiGuarantee found = renyi.epsilon_at(request.value("delta"), request.direction());
  const std::string condition = "at delta = " + request.shown("delta") + " by Renyi accounting";
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
            return to_text(report::Claim{"epsilon", found.value, report::SafeEnd::hi, condition, {}}, style) + zcdp_text(rho, exact_rho);
          },
          curve};
}

}  // namespace

constinit const Question renyi_question{
    .name = "renyi",
    .meaning = "the Renyi divergence at an order, or the epsilon that Renyi accounting certifies at a delta",
    .fields = renyi_fields,
    .answer = answer_renyi};

}  // namespace tradeoff::detail::ask
