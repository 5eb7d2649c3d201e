// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "inquiry.h"
#include "output_file.h"
#include "report/caret.h"
#include "report/curve_picture.h"
#include "report/curve_table.h"
#include "report/json.h"
#include "report/svg.h"
#include "report/terminal_plot.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

constexpr std::size_t table_points = 101;
constexpr std::size_t picture_points = 201;    // enough for a line without corners at the size of a picture
constexpr double most_points = 1e6;            // a table of more is a mistake
constexpr std::size_t most_picture_plans = 8;  // more lines than this cannot be told apart

std::size_t read_points(const Question& question, std::size_t otherwise) {
  if (!question.has("points")) return otherwise;
  const Interval points = question.number("points");
  const auto count = static_cast<std::size_t>(points.lo >= 1 && points.hi <= most_points ? points.lo : 0);
  if (count < 2 || points != Interval::exactly(static_cast<double>(count))) question.refuse("points", "a whole number from 2 to 1000000");
  return count;
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

std::string table_text(const Question& question, report::View view, bool json) {
  const std::size_t points = read_points(question, table_points);
  const auto curve = question.curve();
  const auto [table, method, steps] = explained([&] { return sample(*curve, question.direction(), view, points); });
  if (!json) return to_csv(table);
  report::JsonWriter out;
  out.begin_object().key("answer").raw(to_json(table)).key("method").text(to_string(method)).key("steps").steps(steps);
  return out.end_object().str() + "\n";
}

/// The curve of a plan that is not the first; a fault of its text is shown where it stands.
report::NamedCurve further_curve(const std::string& argument, const Options& options, CurveCache& curves) {
  Options mine = options;
  mine.plan = read_plan_argument(argument);
  try {
    const Request request = to_request("", mine);
    const Question question(request, curves);
    return {to_string(question.plan()), *question.curve()};
  } catch (const ParseError& error) {
    std::string shown = report::indented_point(mine.plan, error.offset());
    if (!shown.empty()) shown.pop_back();  // the line that tells the error ends by itself
    throw DomainError(std::string("plan: ") + error.what() + "\n" + shown);
  }
}

report::Picture draw(const Question& question, const Options& options, report::View view, CurveCache& curves) {
  const std::size_t points = read_points(question, picture_points);
  std::vector<report::NamedCurve> shown = {{to_string(question.plan()), *question.curve()}};
  for (const std::string& argument : options.further) shown.push_back(further_curve(argument, options, curves));
  return report::draw_curves(view, shown, question.direction(), points);
}

report::Figure to_figure(report::Picture picture) {
  std::string description = picture.y.label + " over " + picture.x.label + " for:";
  for (const report::Series& series : picture.series) description += series.label.empty() ? "" : " " + series.label + ";";
  description.back() = '.';
  return {picture.title, description, {std::move(picture)}};
}

}  // namespace

ExitCode run_curve(const Verb&, const Options& options) {
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  const report::View view = read_view(options);
  const std::string* format = options.find("format");
  const bool is_picture = !options.json && format != nullptr && (*format == "term" || *format == "svg");
  if (!is_picture && !options.further.empty())
    throw UnsupportedError("curve: several plans are compared in a picture; add --format term or svg");
  if (options.further.size() >= most_picture_plans) throw DomainError("curve: at most 8 plans fit one picture");
  std::string text;
  if (is_picture) {
    report::Picture picture = draw(question, options, view, curves);
    text = *format == "svg" ? report::to_svg(to_figure(std::move(picture))) : report::to_terminal(picture);
  } else {
    text = table_text(question, view, options.json || (format != nullptr && *format == "json"));
  }
  write_result(options.find("out"), text);
  return ExitCode::done;
}

}  // namespace tradeoff::cli
