// SPDX-License-Identifier: Apache-2.0
#include "numeric/floating_point_guard.h"
#include "plan/table_file.h"
#include "tradeoff/analyze.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

void read_tables(Plan& plan);

void read_tables(Value& value) {
  if (auto* plan = std::get_if<Plan>(&value.content)) read_tables(*plan);
  if (auto* tuple = std::get_if<Tuple>(&value.content))
    for (Value& item : tuple->items) read_tables(item);
  if (auto* list = std::get_if<List>(&value.content))
    for (Value& item : list->items) read_tables(item);
}

/// Sources that name a file also accept what it holds: `points`, or the matrix in `lower`.
void read_tables(Call& source) {
  for (Argument& argument : source.arguments) {
    read_tables(argument.value);
    const auto* path = std::get_if<std::string>(&argument.value.content);
    if (argument.name != "file" || path == nullptr) continue;
    List rows;
    if (source.name == "matrix") {
      for (Number& entry : read_lower_triangle(*path)) rows.items.push_back({std::move(entry)});
      argument = {"lower", {std::move(rows), argument.value.offset}};
      continue;
    }
    for (const auto& [first, second] : read_table(*path)) rows.items.push_back({Tuple{{{first}, {second}}}});
    argument = {"points", {std::move(rows), argument.value.offset}};
  }
}

void read_tables(Plan& plan) {
  for (Line& line : plan.lines) {
    if (auto* inner = std::get_if<Plan>(&line.source)) read_tables(*inner);
    if (auto* call = std::get_if<Call>(&line.source)) read_tables(*call);
  }
}

}  // namespace

Plan with_tables(Plan plan) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return with_tables(plan); });

  read_tables(plan);
  return plan;
}

}  // namespace tradeoff
