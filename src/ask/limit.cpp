// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "ask/estimate.h"
#include "ask/request.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 2> limit_fields = {{
    {"delta", "compare epsilon at this delta", Kind::number, probability},
    {"epsilon", "compare delta at this epsilon", Kind::number, at_least_zero},
}};

/// Compares an estimate with the proved interval.
std::string judgement(double estimate, Interval exact) {
  if (!(exact.hi < Interval::whole().hi)) return "";
  if (estimate < exact.lo) {
    const double short_by = exact.lo - estimate;
    return "UNDER-REPORTS by " + significant(short_by, 3) + " (" + significant(100 * short_by / exact.lo, 3) + " %): not a guarantee";
  }
  if (estimate > exact.hi) return "over-reports by " + significant(100 * (estimate - exact.hi) / exact.hi, 3) + " %";
  return "within the certified interval";
}

/// The result of one limit theorem, or the reason why it does not apply.
template <class Value>
struct Said {
  std::optional<Value> value;
  std::string refusal;
};

template <class Theorem>
auto said(Theorem&& theorem) -> Said<decltype(theorem())> {
  try {
    return {theorem(), {}};
  } catch (const UnsupportedError& error) {
    return {std::nullopt, error.what()};
  }
}

struct LimitComparison {
  std::string quantity;   // epsilon or delta
  std::string condition;  // "at delta = 1e-5"
  Interval exact;
  Said<Estimate> clt, edgeworth;
  Said<Interval> berry_esseen;
  std::optional<double> mu;
  std::vector<std::string> theorems;
};

LimitComparison compare_limits(const Request& request, const Curve& curve) {
  const bool at_delta = request.has("delta");
  if (at_delta == request.has("epsilon")) throw RequestError("domain", "limit: give delta or epsilon, one of them", "delta", 0);
  const Interval given = at_delta ? request.value("delta") : request.value("epsilon");
  const Plan plan = request.plan();
  const Neighbours neighbours = request.neighbours();
  LimitComparison found;
  found.quantity = at_delta ? "epsilon" : "delta";
  found.condition = at_delta ? "at delta = " + request.shown("delta") : "at epsilon = " + request.shown("epsilon");
  found.exact = at_delta ? curve.epsilon_at(given, request.direction()) : curve.delta_at(given, request.direction());
  const auto clt = said([&] { return central_limit(plan, neighbours, request.tolerance()); });
  found.clt.refusal = clt.refusal;
  if (clt.value) {
    found.mu = clt.value->mu.value();
    found.theorems = clt.value->theorems;
    found.clt.value = at_delta ? clt.value->epsilon_at(given.hi) : clt.value->delta_at(given.hi);
  }
  found.edgeworth = said([&] {
    const Edgeworth expansion = edgeworth(plan, neighbours, request.tolerance());
    return at_delta ? expansion.epsilon_at(given.hi) : expansion.delta_at(given.hi);
  });
  found.berry_esseen = said([&] {
    const BerryEsseen bound = berry_esseen(plan, neighbours, request.tolerance());
    return at_delta ? bound.epsilon_at(given) : bound.delta_at(given);
  });
  return found;
}

void write_json(const LimitComparison& found, report::JsonWriter& out) {
  out.begin_object().key("quantity").text(found.quantity).key("exact").interval(found.exact);
  const auto estimate = [&](const char* name, const Said<Estimate>& said) {
    out.key(name);
    if (said.value)
      write_estimate(out, *said.value);
    else
      out.begin_object().key("refused").text(said.refusal).end_object();
  };
  estimate("clt", found.clt);
  if (found.mu) write_estimate(out.key("mu"), Estimate(*found.mu));
  estimate("edgeworth", found.edgeworth);
  out.key("berry_esseen");
  if (found.berry_esseen.value)
    out.interval(*found.berry_esseen.value);
  else
    out.begin_object().key("refused").text(found.berry_esseen.refusal).end_object();
  if (found.clt.value) {
    const double value = found.clt.value->value();
    out.key("clt_verdict").text(value < found.exact.lo ? "under_reports" : value > found.exact.hi ? "over_reports" : "within");
    write_estimate(out.key("clt_short_by"), Estimate(std::max(0.0, found.exact.lo - value)));
  }
  out.end_object();
}

std::string to_lines(const LimitComparison& found, const report::Style& style) {
  std::string text = to_text(report::Claim{found.quantity, found.exact, report::SafeEnd::hi, found.condition, {}}, style);
  const auto estimate = [&](const char* name, const Said<Estimate>& said) {
    text += "  " + std::string(name);
    text += said.value ? " ~ " + significant(said.value->value(), 6) + "   " + judgement(said.value->value(), found.exact)
                       : ": " + said.refusal;
    text += "\n";
  };
  estimate("central limit", found.clt);
  if (found.mu) {
    text += "    mu ~ " + significant(*found.mu, 6);
    for (const std::string& theorem : found.theorems) text += "; " + theorem;
    text += "\n";
  }
  estimate("Edgeworth", found.edgeworth);
  text += "  Berry-Esseen, a guarantee";
  if (!found.berry_esseen.value)
    text += ": " + found.berry_esseen.refusal;
  else if (found.berry_esseen.value->hi < Interval::whole().hi)
    text += ": " + found.quantity + " <= " + report::safe_end(*found.berry_esseen.value, report::SafeEnd::hi, 6);
  else
    text += ": nothing, this delta is below its floor";
  return text + "\n";
}

Answer answer_limit(const Request& request) {
  const auto curve = request.curve();
  const auto found = std::make_shared<const LimitComparison>(compare_limits(request, *curve));
  return {[found](report::JsonWriter& out) { write_json(*found, out); },
          [found](const report::Style& style) { return to_lines(*found, style); }, curve};
}

}  // namespace

constinit const Question limit_question{
    .name = "limit", .meaning = "what limit theorems say, beside the exact answer", .fields = limit_fields, .answer = answer_limit};

}  // namespace tradeoff::detail::ask
