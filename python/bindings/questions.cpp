// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>

#include <map>

#include "ask/request.h"
#include "bind.h"
#include "text.h"

// The table of questions that the command line and `tradeoff query` use.
namespace tradeoff::detail::python {
namespace {

using FieldRow = std::tuple<std::string, std::string, bool>;                                                  // name, meaning, required
using QuestionRow = std::tuple<std::string, std::string, std::vector<FieldRow>, std::optional<std::string>>;  // ..., the safe end

std::vector<FieldRow> rows_of(std::span<const ask::Field> fields) {
  std::vector<FieldRow> rows;
  for (const ask::Field& field : fields) rows.emplace_back(field.name, field.meaning, field.required);
  return rows;
}

std::vector<QuestionRow> list_questions() {
  std::vector<QuestionRow> rows;
  for (const ask::Question* question : ask::questions()) {
    std::optional<std::string> end;
    if (question->safe_end) end = *question->safe_end == report::SafeEnd::hi ? "hi" : "lo";
    rows.emplace_back(question->name, question->meaning, rows_of(question->fields), end);
  }
  return rows;
}

std::vector<FieldRow> list_common_fields() { return rows_of(ask::common_fields()); }

/// The answer as JSON, in the format of `tradeoff query`.
std::string ask_about(const std::string& text, const std::string& name, const Texts& fields) {
  const ask::Question* question = ask::find_question(name);
  if (question == nullptr) throw UnsupportedError("ask '" + name + "' is not known");
  const nb::gil_scoped_release unlocked;
  try {
    ask::CurveCache curves;
    ask::Request request(*question, curves, ask::Source::json);
    request.take("plan", text);
    for (const auto& [field, value] : fields) request.take(field, value);
    request.complete();
    report::JsonWriter out;
    out.begin_object();
    write_answer(ask::answer(request), out);
    return out.end_object().str();
  } catch (const ask::RequestError& error) {
    throw DomainError(error.what());
  } catch (const ParseError& error) {
    throw TextError(error, text);
  }
}

}  // namespace

void bind_questions(nb::module_& module) {
  using namespace nb::literals;
  module.def("questions", list_questions);
  module.def("common_fields", list_common_fields);
  module.def("ask", ask_about, "text"_a, "question"_a, "fields"_a);
}

}  // namespace tradeoff::detail::python
