// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <utility>

#include "inquiry.h"
#include "numeric/number_text.h"
#include "output_file.h"
#include "release_input.h"
#include "report/claim.h"
#include "report/json.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/release.h"

namespace tradeoff::cli {
namespace {

using numeric::exact_decimal;

ReleaseTerms read_terms(const Options& options, const Question& question) {
  ReleaseTerms terms;
  terms.neighbours = question.neighbours();
  const std::string *low = options.find("low"), *high = options.find("high"), *records = options.find("records");
  if ((low == nullptr) != (high == nullptr)) throw DomainError("release: --low and --high go together");
  if (low == nullptr && options.find("clip") != nullptr) throw DomainError("release: --clip needs --low and --high");
  if (low != nullptr) terms.bounds = Bounds{read_double("low", *low), read_double("high", *high)};
  terms.clip = options.find("clip") != nullptr;
  if (const std::string* rows = options.find("rows"); rows != nullptr && *rows == "disjoint") terms.rows_are = Rows::disjoint;
  if (const std::string* inputs = options.find("inputs"); inputs != nullptr && *inputs == "grid") terms.inputs = Inputs::on_grid;
  if (const std::string* grid = options.find("grid")) terms.grid_exponent = read_grid(*grid);
  if (records != nullptr) terms.aggregate = *records == "sum" ? Aggregate::sum : *records == "count" ? Aggregate::count : Aggregate::mean;
  return terms;
}

/// Every target that was stated; all of them bind.
Targets read_targets_of(const Options& options) {
  return read_targets(
      [&](std::string_view word) {
        const std::string* text = options.find(word);
        return text == nullptr ? std::nullopt : std::optional(*text);
      },
      "--");
}

/// A whole number, as a double holds it exactly.
std::string whole(std::int64_t value) { return to_string(exact_decimal(static_cast<double>(value))); }

/// numerator * 2^power, exactly.
void write_dyadic(std::string_view name, std::uint64_t numerator, int exponent, report::JsonWriter& out) {
  out.key(name).begin_object().key("numerator").integer(numerator).key("power").raw(std::to_string(-exponent)).end_object();
}

/// With what it costs: the standard deviation, in steps, of the noise before and of the noise that is added to it.
void write_rectified(const DrawnMechanism& one, report::JsonWriter& out) {
  const auto value = [](std::uint64_t numerator, int exponent) { return std::ldexp(static_cast<double>(numerator), -exponent); };
  const bool gaussian = one.law.find("gaussian") != std::string::npos;
  out.key("rectified").begin_object().key("low").raw(whole(one.rectified->low)).key("high").raw(whole(one.rectified->high));
  write_dyadic("scale", one.rectified->scale_numerator, one.rectified->scale_exponent, out);
  out.key("deviation_before").number(value(one.scale_numerator, one.scale_exponent) * (gaussian ? 1 : std::sqrt(2.0)));
  out.key("deviation_added").number(value(one.rectified->scale_numerator, one.rectified->scale_exponent) * std::sqrt(2.0)).end_object();
}

void write_mechanisms(const Certificate& certificate, report::JsonWriter& out) {
  out.key("mechanisms").begin_array();
  for (const DrawnMechanism& one : certificate.mechanisms()) {
    out.begin_object().key("law").text(one.law).key("times").integer(one.times);
    out.key("grid").begin_object().key("step").text("2^" + std::to_string(one.grid_exponent));
    out.key("value").raw(to_string(exact_decimal(std::ldexp(1.0, one.grid_exponent)))).end_object();
    write_dyadic(one.choices != 0 ? "epsilon" : "scale", one.scale_numerator, one.scale_exponent, out);
    out.key("sensitivity").raw(to_string(exact_decimal(one.sensitivity)));
    if (one.bound != 0) out.key("bound").integer(one.bound);
    if (one.choices != 0) out.key("choices").integer(one.choices);
    if (one.rectified) write_rectified(one, out);
    out.end_object();
  }
  out.end_array();
}

void write_certificate(const Certificate& certificate, report::JsonWriter& out) {
  const ReleaseTerms& terms = certificate.terms();
  const Curve& curve = certificate.curve();
  out.begin_object().key("version").text(TRADEOFF_VERSION);
  out.key("plan").text(to_string(certificate.plan())).key("drawn_plan").text(to_string(certificate.drawn_plan()));
  out.key("neighbours").text(curve.neighbours() == Neighbours::unstated ? "as the sensitivity says" : report::to_word(curve.neighbours()));
  out.key("rows").integer(terms.rows).key("columns").integer(terms.columns);
  out.key("rows_are").text(terms.rows_are == Rows::disjoint ? "disjoint" : "composed");
  out.key("inputs").text(terms.inputs == Inputs::on_grid ? "grid" : "rounded");
  if (terms.bounds)
    out.key("bounds").begin_array().number(terms.bounds->low).number(terms.bounds->high).end_array().key("clip").boolean(terms.clip);
  write_mechanisms(certificate, out);
  out.key("guarantee").begin_object();
  if (certificate.mu()) out.key("mu").interval(*certificate.mu());
  out.key("epsilon").begin_array();
  for (const Certificate::Point& point : certificate.guarantee())
    out.begin_object().key("delta").raw(point.delta).key("epsilon").interval(point.epsilon).end_object();
  out.end_array().key("advantage").interval(curve.advantage()).end_object();
  out.key("method").text(curve.method());
  out.key("statement").text(certificate.statement()).key("digest").text("sha256:" + certificate.digest()).end_object();
}

/// Multiples of the step, all digits.
std::string to_rows(const Release& released) {
  std::string text;
  for (const auto& row : released.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + to_string(exact_decimal(row[i]));
    text += '\n';
  }
  return text;
}

void write_json_rows(const Release& released, report::JsonWriter& out) {
  out.key("rows").begin_array();
  for (const auto& row : released.rows) {
    out.begin_array();
    for (const double value : row) out.raw(to_string(exact_decimal(value)));
    out.end_array();
  }
  out.end_array();
}

/// The quotient of the noisy sum and the noisy count: a function of what was released anyway.
std::optional<double> mean_of(const Release& released, const ReleaseTerms& terms) {
  if (terms.aggregate != Aggregate::mean || !(released.rows[1][0] > 0)) return std::nullopt;
  return released.rows[0][0] / released.rows[1][0];
}

}  // namespace

ExitCode run_release(const Verb&, const Options& options) {
  CurveCache curves;
  const Request request = to_request("", options);
  const Question question(request, curves);
  ReleaseTerms terms = read_terms(options, question);
  const Plan plan = parse(options.plan);
  const Targets targets = read_targets_of(options);
  const Table table = read_table_of_values(read_all_input(), terms.inputs == Inputs::on_grid, terms.clip ? terms.bounds : std::nullopt);
  if (table.rows == 0) throw DomainError("release: no values on standard input");
  terms.columns = table.columns;
  terms.rows = terms.aggregate == Aggregate::none ? table.rows : terms.aggregate == Aggregate::mean ? 2 : 1;

  Certificate certificate = certify(plan, terms, targets);
  report::JsonWriter shown;
  write_certificate(certificate, shown);
  const Release released = release(std::move(certificate), table.values);
  const std::optional<double> mean = mean_of(released, terms);
  const std::string* file = options.find("certificate");
  if (file != nullptr) {
    try {
      write_file(*file, shown.str() + "\n");
    } catch (const OutputError& error) {
      throw OutputError(std::string(error.what()) + "; nothing was released");
    }
  }
  if (options.json) {
    report::JsonWriter out;
    out.begin_object();
    write_json_rows(released, out);
    if (mean) out.key("mean").number(*mean);
    write_out(out.key("certificate").raw(shown.str()).end_object().str() + "\n");
  } else {
    if (file == nullptr && !options.quiet) write_beside("the certificate", shown.str() + "\n");  // no value without it
    write_out(to_rows(released));
    if (mean) write_out(to_string(exact_decimal(*mean)) + "\n");
  }
  return ExitCode::done;
}

}  // namespace tradeoff::cli
