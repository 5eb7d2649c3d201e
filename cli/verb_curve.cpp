// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "command_request.h"
#include "output_file.h"
#include "report/caret.h"
#include "report/curve_picture.h"
#include "report/curve_table.h"
#include "report/json.h"
#include "report/svg.h"
#include "report/terminal_plot.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::size_t table_points = 101;
constexpr std::size_t picture_points = 201;    // enough for a smooth line at the size of the picture
constexpr std::size_t most_picture_plans = 8;  // the colours of more lines cannot be told apart

// A table of more than a million points is refused as a mistake.
constexpr std::array<ask::Field, 1> curve_fields = {
    {{"points", "how many points", ask::Kind::number, ask::whole_numbers("a whole number from 2 to 1000000", 2, 1e6)}}};
constexpr ask::Question curve_row{.name = "curve", .meaning = "the whole curve", .fields = curve_fields};

std::size_t read_points(const ask::Request& request, std::size_t otherwise) {
  return request.has("points") ? request.whole("points") : otherwise;
}

report::View read_view(const Options& options) {
  const std::string* kind = options.find("as");
  if (kind == nullptr || *kind == "tradeoff") return report::View::tradeoff;
  return *kind == "profile" ? report::View::profile : report::View::gdpt;
}

report::CurveTable sample(const Curve& curve, Direction direction, report::View view, std::size_t points) {
  if (view == report::View::profile) return report::sample_profile(curve, direction, points);
  if (view == report::View::gdpt) return report::sample_gdp_transform(curve, direction, points);
  return report::sample_tradeoff(curve, direction, points);
}

std::string table_text(const ask::Request& request, report::View view, bool json) {
  const std::size_t points = read_points(request, table_points);
  const auto curve = request.curve();
  const auto [table, method, steps] = explained([&] { return sample(*curve, request.direction(), view, points); });
  if (!json) return to_csv(table);
  report::JsonWriter out;
  out.begin_object().key("answer").raw(to_json(table)).key("method").text(to_string(method)).key("steps").steps(steps);
  return out.end_object().str() + "\n";
}

/// The curve of one of the further plans. An error in its text is printed with a caret.
report::NamedCurve further_curve(const std::string& argument, const Options& options, ask::CurveCache& curves) {
  Options mine = options;
  mine.plan = read_plan_argument(argument);
  try {
    const ask::Request request = to_request(curve_row, mine, curves);
    return {to_string(request.plan()), *request.curve()};
  } catch (const ParseError& error) {
    std::string shown = report::indented_point(mine.plan, error.offset());
    if (!shown.empty()) shown.pop_back();  // without the final newline: the caller adds one
    throw DomainError(std::string("plan: ") + error.what() + "\n" + shown);
  }
}

report::Picture draw(const ask::Request& request, const Options& options, report::View view, ask::CurveCache& curves) {
  const std::size_t points = read_points(request, picture_points);
  std::vector<report::NamedCurve> shown = {{to_string(request.plan()), *request.curve()}};
  for (const std::string& argument : options.further) shown.push_back(further_curve(argument, options, curves));
  return report::draw_curves(view, shown, request.direction(), points);
}

report::Figure to_figure(report::Picture picture) {
  std::string description = picture.y.label + " over " + picture.x.label + " for:";
  for (const report::Series& series : picture.series) description += series.label.empty() ? "" : " " + series.label + ";";
  description.back() = '.';
  return {picture.title, description, {std::move(picture)}};
}

}  // namespace

ExitCode run_curve(const Verb&, const Options& options) {
  ask::CurveCache curves;
  const ask::Request request = to_request(curve_row, options, curves);
  const report::View view = read_view(options);
  const std::string* format = options.find("format");
  const bool is_picture = !options.json && format != nullptr && (*format == "term" || *format == "svg");
  if (!is_picture && !options.further.empty())
    throw UnsupportedError("curve: several plans are compared in a picture; add --format term or svg");
  if (options.further.size() >= most_picture_plans) throw DomainError("curve: at most 8 plans fit one picture");
  std::string text;
  if (is_picture) {
    report::Picture picture = draw(request, options, view, curves);
    text = *format == "svg" ? report::to_svg(to_figure(std::move(picture))) : report::to_terminal(picture);
  } else {
    text = table_text(request, view, options.json || (format != nullptr && *format == "json"));
  }
  write_result(options.find("out"), text);
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
