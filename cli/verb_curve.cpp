// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "command_request.h"
#include "help.h"
#include "output_file.h"
#include "progress.h"
#include "report/caret.h"
#include "report/curve_picture.h"
#include "report/curve_table.h"
#include "report/json.h"
#include "report/pdf.h"
#include "report/svg.h"
#include "report/terminal_plot.h"
#include "report/tikz.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::size_t table_points = 101;
constexpr std::size_t picture_points = 201;    // enough for a smooth line at the size of the picture
constexpr std::size_t most_picture_plans = 8;  // the colours of more lines cannot be told apart

// A table of more than a million points is refused as a mistake.
constexpr std::array<ask::Field, 2> curve_fields = {{
    {"points", "how many points", ask::Kind::number, ask::whole_numbers("a whole number from 2 to 1000000", 2, 1e6)},
    {"at", "the places: alphas, or epsilons", ask::Kind::numbers, ask::any_number},
}};
constexpr ask::Question curve_row{.name = "curve", .meaning = "the whole curve", .fields = curve_fields};

std::size_t read_points(const ask::Request& request, std::size_t otherwise) {
  return request.has("points") ? request.whole("points") : otherwise;
}

report::View read_view(const Options& options) {
  const std::string* kind = options.find("as");
  if (kind == nullptr || *kind == "tradeoff") return report::View::tradeoff;
  return *kind == "profile" ? report::View::profile : report::View::gdpt;
}

report::CurveTable sample(const ask::Request& request, const Curve& curve, report::View view) {
  const Direction direction = request.direction();
  if (request.has("at")) return report::sample_at(curve, view, direction, request.numbers("at"));
  const std::size_t points = read_points(request, table_points);
  if (view == report::View::profile) return report::sample_profile(curve, direction, points);
  if (view == report::View::gdpt) return report::sample_gdp_transform(curve, direction, points);
  return report::sample_tradeoff(curve, direction, points);
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
    throw DomainError(with_wrapped_list(std::string("plan: ") + error.what()) + "\n" + shown);
  }
}

std::vector<report::NamedCurve> all_curves(const ask::Request& request, const Options& options, ask::CurveCache& curves) {
  std::vector<report::NamedCurve> shown = {{to_string(request.plan()), *request.curve()}};
  for (const std::string& argument : options.further) shown.push_back(further_curve(argument, options, curves));
  return shown;
}

/// A table: of one plan as always, of several with the plan in a column (CSV) or as a list of plans with their points (JSON).
std::string table_text(const ask::Request& request, const std::vector<report::NamedCurve>& shown, report::View view, bool json) {
  std::vector<std::pair<std::string, report::CurveTable>> tables;
  const auto provenance = provenance_of([&] {
    for (const report::NamedCurve& one : shown) {
      Progress::report(tables.size(), shown.size());
      tables.emplace_back(one.label, sample(request, one.curve, view));
    }
  });
  if (!json) return tables.size() == 1 ? to_csv(tables.front().second) : to_csv(tables);
  report::JsonWriter out;
  out.begin_object().key("answer");
  if (tables.size() == 1) {
    out.raw(to_json(tables.front().second));
  } else {
    out.begin_array();
    for (const auto& [plan, table] : tables) out.begin_object().key("plan").text(plan).key("points").raw(to_json(table)).end_object();
    out.end_array();
  }
  out.key("method").text(to_string(provenance.method)).key("steps").steps(provenance.steps);
  return out.end_object().str() + "\n";
}

/// The format: the stated one, or the one of the file's suffix; a table if there is no file.
std::string curve_format(const Options& options) {
  if (options.json) return "json";
  if (const std::string* given = options.find("format")) return *given;
  const std::string* file = options.find("out");
  if (file == nullptr) return "csv";
  constexpr std::array<std::pair<std::string_view, const char*>, 6> suffixes = {
      {{".csv", "csv"}, {".json", "json"}, {".svg", "svg"}, {".pdf", "pdf"}, {".tex", "tikz"}, {".tikz", "tikz"}}};
  for (const auto& [suffix, format] : suffixes)
    if (file->ends_with(suffix)) return format;
  if (file->ends_with(".png"))
    throw DomainError(
        "--out " + *file +
        ": PNG is drawn by tradeoff.plot(..., file=...) of the Python package; here end it in .svg, .pdf, .tex, .csv or .json");
  return "csv";
}

/// Places outside the range of the view.
void check_places(const ask::Request& request, report::View view) {
  if (!request.has("at") || view != report::View::tradeoff) return;
  for (const Number& place : request.numbers("at"))
    if (place.value.hi < 0 || place.value.lo > 1) request.refuse("at", "alphas from 0 to 1 for the trade-off function");
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
  const std::string format = curve_format(options);
  const ask::Request request = to_request(curve_row, options, curves);
  const report::View view = read_view(options);
  if (options.further.size() >= most_picture_plans) throw DomainError("curve: at most 8 plans fit one picture or table");
  if (request.has("at") && request.has("points")) throw DomainError("curve: state either --at or --points");
  check_places(request, view);
  const bool is_picture = format == "term" || format == "svg" || format == "pdf" || format == "tikz";
  if (is_picture && request.has("at")) throw DomainError("curve: --at chooses the places of a table; a picture takes --points");
  const std::vector<report::NamedCurve> shown = all_curves(request, options, curves);
  std::string text;
  if (is_picture) {
    report::Picture picture = report::draw_curves(view, shown, request.direction(), read_points(request, picture_points));
    text = format == "term"  ? report::to_terminal(picture)
           : format == "svg" ? report::to_svg(to_figure(std::move(picture)))
           : format == "pdf" ? report::to_pdf(to_figure(std::move(picture)))
                             : report::to_tikz(to_figure(std::move(picture)));
  } else {
    text = table_text(request, shown, view, format == "json");
  }
  write_result(options.find("out"), text);
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
