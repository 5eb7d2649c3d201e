// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <utility>

#include "command_request.h"
#include "ledger_charge.h"
#include "noise/digest.h"
#include "noise/keys.h"
#include "numeric/number_text.h"
#include "output_file.h"
#include "release_input.h"
#include "report/json.h"
#include "report/release_certificate.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::cli {
namespace {

using numeric::exact_decimal;

constexpr ask::Question release_row{.name = "release", .meaning = "values with noise, and a certificate"};

ReleaseTerms read_terms(const Options& options, const ask::Request& request) {
  ReleaseTerms terms;
  terms.neighbours = request.neighbours();
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

/// Reads every stated target; the release must meet all of them.
Targets read_release_targets(const Options& options) {
  return read_targets(
      [&](std::string_view word) {
        const std::string* text = options.find(word);
        return text == nullptr ? std::nullopt : std::optional(*text);
      },
      "--");
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

void write_json_labels(const Table& table, report::JsonWriter& out) {
  out.key("labels").begin_array();
  for (const std::string& label : table.labels) out.text(label);
  out.end_array();
}

/// The printed rows below the header, each behind its label.
std::string with_labels(const Table& table, std::string_view rows) {
  std::string text = table.header.empty() ? "" : table.header + "\n";
  if (table.labels.empty()) return text.append(rows);
  for (const std::string& label : table.labels) {
    const std::size_t end = rows.find('\n') + 1;
    text.append(label).append(",").append(rows.substr(0, end));
    rows.remove_prefix(end);
  }
  return text;
}

/// Writes the certificate, then what was released: nothing is printed if the certificate cannot be written. `content` writes the released
/// values as members of a JSON object.
template <typename Content>
void publish(const Options& options, report::CertificateDocument& document, const std::string& text, const std::string& receipt,
             Content&& content) {
  document.released = noise::sha256(text);
  const std::string* file = options.find("certificate");
  if (file != nullptr) {
    try {
      write_file(*file, to_json(document));
    } catch (const OutputError& error) {
      throw OutputError(std::string(error.what()) + "; nothing was released");
    }
  }
  if (options.json) {
    report::JsonWriter out;
    out.begin_object();
    content(out);
    if (!receipt.empty()) out.key("ledger").raw(receipt);
    write_out(out.key("certificate").raw(to_json(document, true)).end_object().str() + "\n");
  } else {
    // written first: no value is printed if this fails
    if (file == nullptr && !options.quiet) write_beside("the certificate", to_json(document));
    if (!receipt.empty() && !options.quiet) write_beside("the receipt of the ledger", receipt + "\n");
    write_out(text);
  }
}

// [key-release]
void run_release_of_keys(const Options& options, const Plan& plan, ReleaseTerms terms, const Targets& targets) {
  if (terms.aggregate != Aggregate::none) throw DomainError("release: --records is for values; this plan releases the keys of a table");
  if (options.find("labels") != nullptr || options.find("header") != nullptr)
    throw DomainError("release: --labels and --header are for values; this plan releases the keys of a table");
  terms.aggregate = Aggregate::keys;
  const std::vector<KeyRow> rows = read_keys(read_all_input());
  if (rows.empty()) throw DomainError("release: no rows on standard input; give `user,key` or `user,key,count` in each line");
  Certificate certificate = certify(plan, terms, targets);
  report::CertificateDocument document = report::document_of(certificate);
  const std::string receipt = charge_ledger(options, "release", to_string(certificate.drawn_plan()), document.neighbours);
  const std::vector<ReleasedKey> released = release_keys(std::move(certificate), rows);
  publish(options, document, report::printed_keys(released), receipt, [&](report::JsonWriter& out) {
    out.key("keys").begin_array();
    for (const ReleasedKey& one : released) {
      out.begin_object().key("key").text(one.key);
      if (one.count) out.key("count").raw(std::to_string(*one.count));
      out.end_object();
    }
    out.end_array();
  });
}

}  // namespace

ExitCode run_release(const Verb&, const Options& options) {
  ask::CurveCache curves;
  const ask::Request request = to_request(release_row, options, curves);
  ReleaseTerms terms = read_terms(options, request);
  const Plan plan = parse(options.plan);
  const Targets targets = read_release_targets(options);
  if (noise::releases_keys(plan)) {
    run_release_of_keys(options, plan, terms, targets);
    return ExitCode::done;
  }
  const Layout layout{options.find("labels") != nullptr, options.find("header") != nullptr};
  if (layout.labels && terms.aggregate != Aggregate::none)
    throw DomainError("release: --labels are of rows; --records releases one row of all");
  const Table table =
      read_table_of_values(read_all_input(), terms.inputs == Inputs::on_grid, terms.clip ? terms.bounds : std::nullopt, layout);
  if (table.rows == 0)
    throw DomainError("release: no values on standard input; give one value, or a row of values with commas, in each line");
  terms.columns = table.columns;
  terms.rows = terms.aggregate == Aggregate::none ? table.rows : terms.aggregate == Aggregate::mean ? 2 : 1;

  Certificate certificate = certify(plan, terms, targets);
  report::CertificateDocument document = report::document_of(certificate);
  // The charge is durable and its token used up before any noise is drawn.
  const std::string receipt = charge_ledger(options, "release", to_string(certificate.drawn_plan()), terms.neighbours);
  const Release released = release(std::move(certificate), table.values);
  const std::string printed = report::printed_rows(released, terms.aggregate);
  publish(options, document, with_labels(table, printed), receipt, [&](report::JsonWriter& out) {
    if (layout.labels) write_json_labels(table, out);
    write_json_rows(released, out);
    if (const auto mean = report::mean_of(released, terms.aggregate)) out.key("mean").number(*mean);
  });
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
