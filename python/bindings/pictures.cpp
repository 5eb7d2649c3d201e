// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "report/curve_picture.h"
#include "report/picture_json.h"
#include "report/statement.h"
#include "text.h"

namespace tradeoff::detail::python {
namespace {

report::View read_view(const std::string& kind) {
  if (kind == "tradeoff") return report::View::tradeoff;
  if (kind == "profile") return report::View::profile;
  if (kind == "gdpt") return report::View::gdpt;
  throw DomainError("kind = " + kind + " is not allowed; it must be one of tradeoff, profile, gdpt");
}

using Named = std::vector<std::pair<std::string, Curve>>;

/// The description that the command line draws, as JSON.
std::string picture(const std::string& kind, const Named& curves, const std::string& direction, std::size_t points) {
  const report::View view = read_view(kind);
  const Direction side = read_direction(direction);
  if (points < 2 || points > 1'000'000)
    throw DomainError("points = " + std::to_string(points) + " is not allowed; it must be 2 to 1000000");
  const nb::gil_scoped_release unlocked;
  std::vector<report::NamedCurve> named;
  for (const auto& [label, curve] : curves) named.push_back({label, curve});
  return report::to_json(report::draw_curves(view, named, side, points));
}

/// The privacy statement of the first plan, compared with the others.
std::string statement(const Named& plans, const std::string& format, const std::string& title, const std::string& unit,
                      const std::string& delta, const std::string& date, const std::string& contact,
                      const std::vector<std::pair<std::string, std::string>>& values, bool disjoint) {
  report::Context context;
  context.date = date;
  context.contact = contact;
  context.values = values;
  context.disjoint = disjoint;
  if (!title.empty()) context.title = title;
  if (!unit.empty()) context.unit = unit;
  if (!delta.empty()) context.delta = Number{read_number(delta).text, read_argument("delta", delta)};
  if (context.delta && !(context.delta->value.lo >= 0 && context.delta->value.hi <= 1))
    throw DomainError("delta = " + delta + " is not allowed; it must be between 0 and 1");
  const nb::gil_scoped_release unlocked;
  std::vector<report::Statement> statements;
  for (const auto& [text, curve] : plans) {
    statements.push_back(report::make_statement(context, parse(text), curve));
    context.values.clear();  // they belong to the first plan
    context.disjoint = false;
  }
  if (format == "json") return report::to_json(statements);
  const report::Document document = report::to_document(statements);
  return format == "html" ? report::to_html(document) : report::to_markdown(document);
}

}  // namespace

void bind_pictures(nb::module_& module) {
  using namespace nb::literals;
  module.def("picture", picture, "kind"_a, "curves"_a, "direction"_a, "points"_a);
  module.def("statement", statement, "plans"_a, "format"_a, "title"_a, "unit"_a, "delta"_a, "date"_a, "contact"_a, "values"_a,
             "disjoint"_a);
}

}  // namespace tradeoff::detail::python
