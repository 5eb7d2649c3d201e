// SPDX-License-Identifier: Apache-2.0
#include "asks.h"

#include <algorithm>
#include <array>
#include <vector>

#include "nearest.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 6> common_fields = {"id", "plan", "ask", "neighbours", "relative", "direction"};
constexpr std::array<std::string_view, 1> epsilon_fields = {"epsilon"};
constexpr std::array<std::string_view, 1> delta_fields = {"delta"};
constexpr std::array<std::string_view, 5> compare_fields = {"delta", "method", "people", "epsilon_max", "width"};
constexpr std::array<std::string_view, 1> alpha_fields = {"alpha"};
constexpr std::array<std::string_view, 2> mu_fields = {"slack", "epsilon_max"};
constexpr std::array<std::string_view, 1> fpr_fields = {"fpr"};
constexpr std::array<std::string_view, 1> prior_fields = {"prior"};
constexpr std::array<std::string_view, 3> pieces_fields = {"pieces", "times", "epsilon"};
constexpr std::array<std::string_view, 2> renyi_fields = {"order", "delta"};
constexpr std::array<std::string_view, 7> target_fields = {"target.epsilon",   "target.delta", "target.mu", "target.slack",
                                                           "target.advantage", "target.fpr",   "target.tpr"};

constexpr std::array<std::string_view, 1> order_fields = {"other"};
constexpr std::array<std::string_view, 2> limit_fields = {"delta", "epsilon"};
constexpr std::array<std::string_view, 1> people_fields = {"people"};
constexpr std::array<std::string_view, 1> chance_fields = {"chance"};

constexpr std::array<Ask, 21> asks = {{
    {"delta", epsilon_fields, answer_delta},
    {"epsilon", delta_fields, answer_epsilon},
    {"beta", alpha_fields, answer_beta},
    {"mu", mu_fields, answer_mu},
    {"gdpt", epsilon_fields, answer_gdpt},
    {"advantage", {}, answer_advantage},
    {"tpr", fpr_fields, answer_tpr},
    {"posterior", prior_fields, answer_posterior},
    {"guarantees", epsilon_fields, answer_guarantees},
    {"calibrate", target_fields, answer_calibrate},
    {"compare", compare_fields, answer_compare},
    {"moments", {}, answer_moments},
    {"clt", {}, answer_clt},
    {"renyi", renyi_fields, answer_renyi},
    {"approximate", pieces_fields, answer_approximate},
    {"divergences", {}, answer_divergences},
    {"order", order_fields, answer_order},
    {"limit", limit_fields, answer_limit},
    {"risk", {}, answer_risk},
    {"naming", people_fields, answer_naming},
    {"odds", chance_fields, answer_odds},
}};

bool contains(Names names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

const Ask& find_ask(const Request& request) {
  const auto* given = request.find("ask");
  if (given == nullptr) throw RequestError("parse", "field 'ask' is missing", "ask", 0);
  const auto known = std::find_if(asks.begin(), asks.end(), [&](const Ask& ask) { return ask.name == given->text; });
  if (known != asks.end()) return *known;
  std::vector<std::string_view> names;
  for (const Ask& ask : asks) names.push_back(ask.name);
  throw RequestError("parse", "ask '" + given->text.substr(0, 40) + "' is not known" + did_you_mean(given->text, names), "ask",
                     given->offset);
}

/// A misspelt field must not be taken for a default.
void refuse_unknown_fields(const Request& request, const Ask& ask) {
  for (const auto& field : request.fields) {
    if (contains(common_fields, field.name) || contains(ask.fields, field.name)) continue;
    std::vector<std::string_view> names(common_fields.begin(), common_fields.end());
    names.insert(names.end(), ask.fields.begin(), ask.fields.end());
    const std::string given = field.name.substr(0, 40);
    throw RequestError("parse", "ask '" + std::string(ask.name) + "' has no field '" + given + "'" + did_you_mean(field.name, names), given,
                       field.offset);
  }
}

}  // namespace

Answer answer(const Request& request, CurveCache& curves) {
  const Ask& ask = find_ask(request);
  refuse_unknown_fields(request, ask);
  Answer found;
  Provenance provenance = provenance_of([&] { found = ask.answer(Question(request, curves)); });
  found.provenance = std::move(provenance);
  return found;
}

void write_answer(const Answer& answer, report::JsonWriter& out) {
  out.key("answer");
  answer.json(out);
  out.key("method").text(to_string(answer.provenance.method)).key("steps").steps(answer.provenance.steps);
}

}  // namespace tradeoff::cli
