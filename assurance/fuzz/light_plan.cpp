// SPDX-License-Identifier: Apache-2.0
#include "light_plan.h"

#include <algorithm>
#include <array>

#include "request_line.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::fuzz {
namespace {

constexpr std::size_t longest = 300;  // characters; keeps lists of points short

template <std::size_t count>
bool contains(const std::array<std::string_view, count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<std::string_view, 4> nested = {"file", "components", "guarantees", "mechanisms"};
constexpr std::array<std::string_view, 2> finite = {"dp", "randomized_response"};
constexpr std::array<std::string_view, 8> dear = {"clt", "compare", "divergences", "limit", "moments", "mu", "report", "risk"};

bool is_light(const Line& line, bool finite_only) {
  const Call* source = std::get_if<Call>(&line.source);
  if (source == nullptr || !line.operators.empty() || (finite_only && !contains(finite, source->name))) return false;
  return std::none_of(source->arguments.begin(), source->arguments.end(), [](const auto& one) { return contains(nested, one.name); });
}

bool is_light(std::string_view plan, bool finite_only) {
  try {
    const Plan read = parse(plan);
    return plan.size() <= longest && read.lines.size() <= 1 &&
           std::all_of(read.lines.begin(), read.lines.end(), [&](const Line& line) { return is_light(line, finite_only); });
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

bool is_light(std::string_view plan) { return is_light(plan, false); }
bool is_very_light(std::string_view plan) { return is_light(plan, true); }
bool asks_much(std::string_view name) { return contains(dear, name); }

bool is_light_request(std::string_view line) {
  cli::RequestLine request;
  try {
    cli::read_line(line, request);
  } catch (const ask::RequestError&) {
    return true;
  }
  const auto* ask = request.find("ask");
  const bool much = ask != nullptr && asks_much(ask->text);
  return std::all_of(request.members.begin(), request.members.end(), [&](const auto& field) { return is_light(field.text, much); });
}

}  // namespace tradeoff::detail::fuzz
