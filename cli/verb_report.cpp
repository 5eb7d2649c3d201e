// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "command_request.h"
#include "help.h"
#include "numeric/number_text.h"
#include "output_file.h"
#include "progress.h"
#include "report/caret.h"
#include "report/label.h"
#include "report/statement.h"
#include "streams.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::array<ask::Field, 1> report_fields = {{{"delta", "the delta of the headline", ask::Kind::number, ask::probability}}};
constexpr ask::Question report_row{.name = "report", .meaning = "the privacy statement of a plan", .fields = report_fields};

constexpr std::size_t most_page_plans = 8;  // the colours of more lines cannot be told apart
constexpr std::size_t longest_text = 200;   // characters of a title or a unit

std::string read_text(const Options& options, std::string_view name, std::string otherwise) {
  const std::string* given = options.find(name);
  if (given == nullptr) return otherwise;
  if (given->empty() || given->size() > longest_text) throw DomainError("--" + std::string(name) + " must be a text of 1 to 200 bytes");
  if (report::printable(*given) != *given)
    throw DomainError("--" + std::string(name) + " must be a text in UTF-8 without control characters");
  return *given;
}

/// The published values of a file: a label and a number a line, or a number alone. A first line without a number names the columns.
std::vector<std::pair<std::string, std::string>> read_values(const std::string& file) {
  constexpr std::size_t most_values = 10000;  // more rows are no page for readers
  std::vector<std::pair<std::string, std::string>> values;
  std::istringstream lines(read_plan_argument("@" + file));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    const std::size_t comma = line.rfind(',');
    std::string label = comma == std::string::npos ? "" : line.substr(0, comma),
                value = comma == std::string::npos ? line : line.substr(comma + 1);
    if (label.size() >= 2 && label.front() == '"' && label.back() == '"') label = label.substr(1, label.size() - 2);
    value.erase(0, std::min(value.find_first_not_of(" \t"), value.size()));
    if (!numeric::enclose_decimal(value)) {
      if (number == 1) continue;
      throw DomainError("--released " + file + ", line " + std::to_string(number) + ": '" + value.substr(0, 40) +
                        "' is not a number; a line is LABEL,NUMBER");
    }
    if (label.size() > longest_text || report::printable(label) != label)
      throw DomainError("--released " + file + ", line " + std::to_string(number) + ": a label is at most 200 bytes of UTF-8");
    values.emplace_back(std::move(label), std::move(value));
    if (values.size() > most_values) throw DomainError("--released " + file + ": at most 10000 values fit a statement");
  }
  if (values.empty()) throw DomainError("--released " + file + ": no values; a line is LABEL,NUMBER");
  return values;
}

report::Context read_context(const Options& options, const ask::Request& request) {
  report::Context context;
  context.title = read_text(options, "title", context.title);
  context.unit = read_text(options, "unit", context.unit);
  if (request.has("delta")) context.delta = read_number(request.text("delta"));
  if (request.has("relative")) context.relative = request.text("relative");
  context.date = read_text(options, "date", {});
  context.contact = read_text(options, "contact", {});
  context.disjoint = options.find("rows") != nullptr && *options.find("rows") == "disjoint";
  if (const std::string* file = options.find("released")) {
    context.released = read_text(options, "released", {});
    context.values = read_values(*file);
  } else if (context.disjoint) {
    throw DomainError("report: --rows says what the rows of --released are");
  }
  return context;
}

/// The result of an audit, which must be about this plan.
void read_audit(report::Context& context, const Options& options, const ask::Request& request, const Curve& curve) {
  const std::string* file = options.find("audit");
  if (file == nullptr) return;
  context.audited = read_text(options, "audit", {});
  context.audit = report::read_audit_note(read_plan_argument("@" + *file), *file);
  if (context.audit->plan != to_string(request.plan()) || context.audit->neighbours != report::to_word(curve.neighbours()))
    throw DomainError("--audit " + *file + ": the audit is about " + context.audit->plan + " under " + context.audit->neighbours +
                      " neighbours, not about this plan");
}

report::Statement statement_of(const Options& options, ask::CurveCache& curves) {
  const ask::Request request = to_request(report_row, options, curves);
  request.require_both_directions("a statement covers both directions at once");
  report::Context context = read_context(options, request);
  const auto curve = request.curve();
  read_audit(context, options, request, *curve);
  return report::make_statement(std::move(context), request.plan(), *curve);
}

/// The statement of a plan to compare with. An error in its text is printed with a caret.
report::Statement further_statement(const std::string& argument, const Options& options, ask::CurveCache& curves) {
  Options mine = options;
  mine.plan = read_plan_argument(argument);
  // The published values, their publisher and the audit belong to the first plan.
  constexpr std::array<std::string_view, 5> of_the_first = {"released", "rows", "date", "contact", "audit"};
  std::erase_if(mine.values, [&](const auto& one) {
    return std::find(of_the_first.begin(), of_the_first.end(), one.first->name) != of_the_first.end();
  });
  try {
    return statement_of(mine, curves);
  } catch (const ParseError& error) {
    std::string shown = report::indented_point(mine.plan, error.offset());
    if (!shown.empty()) shown.pop_back();  // without the final newline: the caller adds one
    throw DomainError(with_wrapped_list(std::string("plan: ") + error.what()) + "\n" + shown);
  }
}

/// The format: the stated one, or the one of the file's suffix; Markdown if there is no file.
std::string format_of(const Options& options) {
  if (options.json) return "json";
  if (const std::string* given = options.find("format")) return *given;
  const std::string* file = options.find("out");
  if (file == nullptr) return "md";
  for (const char* format : {"md", "html", "json"})
    if (file->ends_with(std::string(".") + format)) return format;
  const bool pdf = file->ends_with(".pdf");
  throw DomainError(
      "--out " + *file +
      (pdf ? " is not written; print the page of --out NAME.html to PDF in a browser, or" : " does not say which format is wanted;") +
      " end it in .md, .html or .json, or give --format");
}

}  // namespace

ExitCode run_report(const Verb&, const Options& options) {
  const std::string format = format_of(options);
  if (options.further.size() >= most_page_plans) throw DomainError("report: at most 8 plans fit one page");
  ask::CurveCache curves;
  std::vector<report::Statement> statements = {statement_of(options, curves)};
  for (const std::string& argument : options.further) {
    Progress::report(statements.size(), options.further.size() + 1);
    statements.push_back(further_statement(argument, options, curves));
  }
  const std::string text = format == "json"   ? report::to_json(statements)
                           : format == "html" ? report::to_html(report::to_document(statements))
                                              : report::to_markdown(report::to_document(statements));
  write_result(options.find("out"), text);
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
