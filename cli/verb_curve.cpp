// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "inquiry.h"
#include "report/curve_table.h"
#include "report/json.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

constexpr std::size_t default_points = 101;
constexpr double most_points = 1e6;  // a table of more is a mistake

std::size_t read_points(const Question& question) {
  if (!question.has("points")) return default_points;
  const Interval points = question.number("points");
  const auto count = static_cast<std::size_t>(points.lo >= 1 && points.hi <= most_points ? points.lo : 0);
  if (count < 2 || points != Interval::exactly(static_cast<double>(count))) question.refuse("points", "a whole number from 2 to 1000000");
  return count;
}

report::CurveTable sample(const Curve& curve, Direction direction, std::string_view kind, std::size_t points) {
  if (kind == "profile") return report::sample_profile(curve, direction, points);
  if (kind == "gdpt") return report::sample_gdp_transform(curve, direction, points);
  return report::sample_tradeoff(curve, direction, points);
}

}  // namespace

ExitCode run_curve(const Verb&, const Options& options) {
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  const std::string* kind = options.find("as");
  const std::string* format = options.find("format");
  const std::size_t points = read_points(question);
  if (format != nullptr && (*format == "term" || *format == "svg"))
    throw UnsupportedError("curve: format '" + *format + "' is not supported yet; use csv or json");
  const auto curve = question.curve();
  const report::CurveTable table = sample(*curve, question.direction(), kind == nullptr ? "tradeoff" : *kind, points);
  if (options.json || (format != nullptr && *format == "json")) {
    report::JsonWriter out;
    out.begin_object().key("answer").raw(to_json(table)).key("method").text(curve->method()).key("steps").steps(curve->steps());
    write_out(out.end_object().str() + "\n");
  } else {
    write_out(to_csv(table));
  }
  return ExitCode::done;
}

}  // namespace tradeoff::cli
