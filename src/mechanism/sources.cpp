// SPDX-License-Identifier: Apache-2.0
#include "mechanism/sources.h"

#include <array>

#include "mechanism/constraints.h"
#include "mechanism/discrete_gaussian.h"
#include "mechanism/discrete_laplace.h"
#include "mechanism/families.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/pair.h"
#include "mechanism/profile.h"
#include "mechanism/randomized_response.h"
#include "mechanism/renyi_bound.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"
#include "plan/table_file.h"
#include "tradeoff/error.h"

namespace tradeoff {
namespace {

// Noise of a mechanism relative to its sensitivity; a sensitivity of 0 is perfect privacy.
LossPointer gaussian(const Arguments& arguments) {
  return gaussian_loss(arguments.non_negative("sensitivity") / arguments.positive("sigma"));
}

LossPointer laplace(const Arguments& arguments) {
  return std::make_shared<LaplaceLoss>(arguments.non_negative("sensitivity") / arguments.positive("scale"));
}

LossPointer truncated_laplace(const Arguments& arguments) {
  const Interval scale = arguments.positive("scale");
  return std::make_shared<TruncatedLaplaceLoss>(arguments.non_negative("sensitivity") / scale, arguments.positive("bound") / scale);
}

LossPointer discrete_gaussian_source(const Arguments& arguments) {
  const Interval sigma = arguments.positive("sigma");
  if (sigma.hi > widest_discrete_gaussian)
    throw TooLargeError("discrete_gaussian: sigma above 10000 grid steps is not supported; use a coarser grid or gaussian");
  return discrete_gaussian(sigma, arguments.count("sensitivity", 0, most_discrete_shift));
}

LossPointer discrete_laplace_source(const Arguments& arguments) {
  return discrete_laplace(arguments.positive("scale"), arguments.count("sensitivity", 0, most_discrete_shift));
}

LossPointer truncated_discrete_laplace_source(const Arguments& arguments) {
  return truncated_discrete_laplace(arguments.positive("scale"), arguments.count("bound", 1, 1'000'000'000'000),
                                    arguments.count("sensitivity", 0, most_discrete_shift));
}

LossPointer gdp(const Arguments& arguments) { return gaussian_loss(arguments.non_negative("mu")); }

// More choices than any survey offers; beyond, the count would no longer be exact in a double.
constexpr std::uint64_t most_choices = 1'000'000'000'000;

LossPointer response(const Arguments& arguments) {
  return randomized_response(arguments.non_negative("epsilon"), arguments.count("choices", 2, most_choices));
}

std::vector<Interval> values_of(const std::vector<Number>& numbers) {
  std::vector<Interval> values;
  for (const Number& number : numbers) values.push_back(number.value);
  return values;
}

LossPointer pair(const Arguments& arguments) { return pair_loss(values_of(arguments.numbers("p")), values_of(arguments.numbers("q"))); }

/// The rows of `points` or of `file`.
std::vector<std::pair<Interval, Interval>> rows(const Arguments& arguments) {
  std::vector<std::pair<Interval, Interval>> values;
  for (const auto& [first, second] : arguments.has("file") ? read_table(arguments.word("file")) : arguments.pairs("points"))
    values.emplace_back(first.value, second.value);
  return values;
}

LossPointer dp(const Arguments& arguments) {
  return std::make_shared<ConstraintsLoss>(std::vector<Constraint>{{arguments.non_negative("epsilon"), arguments.probability("delta")}});
}

LossPointer constraints(const Arguments& arguments) {
  std::vector<Constraint> all;
  for (const auto& [epsilon, delta] : arguments.pairs("points")) all.push_back({epsilon.value, delta.value});
  if (all.empty()) arguments.refuse("points", "[]", "a list of at least one pair (epsilon, delta)");
  return std::make_shared<ConstraintsLoss>(std::move(all));
}

LossPointer rdp(const Arguments& arguments) { return renyi_bound(rows(arguments)); }

LossPointer zcdp(const Arguments& arguments) { return zcdp_bound(arguments.non_negative("rho")); }

LossPointer sqrt_log_source(const Arguments& arguments) {
  return sqrt_log_family(arguments.positive("a"), arguments.positive("b"), arguments.positive("sigma"));
}

LossPointer log_source(const Arguments& arguments) { return log_family(arguments.positive("c"), arguments.positive("sigma")); }

LossPointer icea_source(const Arguments& arguments) {
  return icea(arguments.count("users", 1, most_choices), arguments.count("messages", 1, most_choices));
}

LossPointer profile(const Arguments& arguments) {
  StatedTail tail;
  if (!arguments.has("tail")) return profile_loss(rows(arguments), tail);
  if (const auto* model = std::get_if<Plan>(&arguments.value("tail").content)) {  // gaussian(k, s), the only tail with arguments
    const Call& call = std::get<Call>(model->lines.front().source);
    tail = {call.name, Arguments(call).positive("k"), Arguments(call).positive("s")};
  } else {
    tail.word = arguments.word("tail");
  }
  return profile_loss(rows(arguments), tail);
}

LossPointer curve(const Arguments& arguments) { return polygon_loss(rows(arguments)); }

struct Entry {
  std::string_view name;
  SourceFactory make;
};

// Adding a mechanism: its file in this folder, its word in vocabulary.cpp, its line here, its test.
constexpr std::array sources{
    Entry{"gaussian", gaussian},
    Entry{"laplace", laplace},
    Entry{"truncated_laplace", truncated_laplace},
    Entry{"discrete_gaussian", discrete_gaussian_source},
    Entry{"discrete_laplace", discrete_laplace_source},
    Entry{"truncated_discrete_laplace", truncated_discrete_laplace_source},
    Entry{"randomized_response", response},
    Entry{"gdp", gdp},
    Entry{"dp", dp},
    Entry{"constraints", constraints},
    Entry{"pair", pair},
    Entry{"rdp", rdp},
    Entry{"zcdp", zcdp},
    Entry{"sqrt_log_family", sqrt_log_source},
    Entry{"log_family", log_source},
    Entry{"icea", icea_source},
    Entry{"profile", profile},
    Entry{"curve", curve},
};

}  // namespace

SourceFactory find_source(std::string_view name) {
  for (const Entry& entry : sources)
    if (entry.name == name) return entry.make;
  return nullptr;
}

}  // namespace tradeoff
