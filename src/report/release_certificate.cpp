// SPDX-License-Identifier: Apache-2.0
#include "report/release_certificate.h"

#include <array>
#include <charconv>
#include <cmath>

#include "numeric/number_text.h"
#include "report/verify.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::report {
namespace {

using numeric::exact_decimal;

template <typename Value>
using Words = std::initializer_list<std::pair<Value, const char*>>;

constexpr Words<Rows> rows_words = {{Rows::composed, "composed"}, {Rows::disjoint, "disjoint"}};
constexpr Words<Inputs> input_words = {{Inputs::rounded, "rounded"}, {Inputs::on_grid, "grid"}};
constexpr Words<bool> clip_words = {{false, "no"}, {true, "yes"}};
constexpr Words<Aggregate> aggregate_words = {
    {Aggregate::none, "none"}, {Aggregate::sum, "sum"}, {Aggregate::count, "count"}, {Aggregate::mean, "mean"}, {Aggregate::keys, "keys"}};

template <typename Value>
std::string word_of(Words<Value> words, Value value) {
  for (const auto& [known, word] : words)
    if (known == value) return word;
  return {};
}

std::string text_of(double value) { return numeric::to_string(exact_decimal(value)); }
std::string power_of_two(int exponent) { return "2^" + std::to_string(exponent); }
/// numerator * 2^power, exactly.
std::string dyadic(std::uint64_t numerator, int exponent) { return std::to_string(numerator) + " * " + power_of_two(-exponent); }

Fields settings_of(const Plan& stated, const ReleaseTerms& terms) {
  Fields fields = {{"stated_plan", to_string(stated)},
                   {"rows", std::to_string(terms.rows)},
                   {"columns", std::to_string(terms.columns)},
                   {"rows_are", word_of(rows_words, terms.rows_are)},
                   {"inputs", word_of(input_words, terms.inputs)},
                   {"aggregate", word_of(aggregate_words, terms.aggregate)},
                   {"clip", word_of(clip_words, terms.clip)}};
  if (terms.grid_exponent) fields["grid"] = power_of_two(*terms.grid_exponent);
  if (terms.bounds) {
    fields["low"] = text_of(terms.bounds->low);
    fields["high"] = text_of(terms.bounds->high);
  }
  return fields;
}

Fields fields_of(const DrawnMechanism& one) {
  Fields fields = {{"law", one.law}, {"times", std::to_string(one.times)}, {"grid", power_of_two(one.grid_exponent)}};
  fields[one.choices != 0 ? "epsilon" : "scale"] = dyadic(one.scale_numerator, one.scale_exponent);
  fields["sensitivity"] = text_of(one.sensitivity);
  if (!one.norm.empty()) fields["norm"] = one.norm;  // the norm of a row that the sensitivity uses
  if (one.bound != 0) fields["bound"] = std::to_string(one.bound);
  if (one.choices != 0) fields["choices"] = std::to_string(one.choices);
  if (!one.rectified) return fields;
  fields["rectified_low"] = std::to_string(one.rectified->low);
  fields["rectified_high"] = std::to_string(one.rectified->high);
  fields["rectified_scale"] = dyadic(one.rectified->scale_numerator, one.rectified->scale_exponent);
  return fields;
}

// ---- settings as they were written ----

const std::string& text_at(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  if (found == fields.end()) throw CertificateError(name, "is missing in 'settings'");
  return found->second;
}

[[noreturn]] void refuse(const Fields& fields, const std::string& name) {
  throw CertificateError(name, "must not be '" + text_at(fields, name).substr(0, 60) + "' in 'settings'");
}

template <typename Value>
Value word_at(const Fields& fields, const std::string& name, Words<Value> words) {
  for (const auto& [value, word] : words)
    if (text_at(fields, name) == word) return value;
  refuse(fields, name);
}

template <typename Integer>
Integer integer_at(const Fields& fields, const std::string& name, std::size_t start = 0) {
  const std::string& text = text_at(fields, name);
  Integer value = 0;
  const char* const end = text.data() + text.size();
  if (text.size() <= start) refuse(fields, name);
  const auto [last, failure] = std::from_chars(text.data() + start, end, value);
  if (failure != std::errc{} || last != end) refuse(fields, name);
  return value;
}

double double_at(const Fields& fields, const std::string& name) {
  const auto enclosed = numeric::enclose_decimal(text_at(fields, name));
  if (!enclosed || enclosed->lo != enclosed->hi) refuse(fields, name);
  return enclosed->lo;
}

ReleaseTerms terms_of(const CertificateDocument& document) {
  const Fields& fields = document.settings;
  ReleaseTerms terms;
  terms.neighbours = document.neighbours;
  terms.rows = integer_at<std::uint64_t>(fields, "rows");
  terms.columns = integer_at<std::uint64_t>(fields, "columns");
  terms.rows_are = word_at(fields, "rows_are", rows_words);
  terms.inputs = word_at(fields, "inputs", input_words);
  terms.aggregate = word_at(fields, "aggregate", aggregate_words);
  terms.clip = word_at(fields, "clip", clip_words);
  if (fields.contains("grid")) {
    if (text_at(fields, "grid").rfind("2^", 0) != 0) refuse(fields, "grid");
    terms.grid_exponent = integer_at<int>(fields, "grid", 2);
  }
  if (fields.contains("low") || fields.contains("high")) terms.bounds = Bounds{double_at(fields, "low"), double_at(fields, "high")};
  return terms;
}

CertificateDocument without_guarantees(const Certificate& certificate) {
  CertificateDocument document;
  document.kind = CertificateKind::release;
  document.version = TRADEOFF_VERSION;
  document.neighbours = certificate.curve().neighbours();
  document.charged.plan = certificate.drawn_plan();
  document.settings = settings_of(certificate.plan(), certificate.terms());
  for (const DrawnMechanism& one : certificate.mechanisms()) document.drawn.push_back(fields_of(one));
  return document;
}

}  // namespace

CertificateDocument document_of(const Certificate& certificate) {
  CertificateDocument document = without_guarantees(certificate);
  std::vector<CertifiedAnswer> questions;
  for (const char* delta : certified_deltas) questions.push_back({Ask::epsilon, delta});
  if (certificate.mu()) questions.push_back({Ask::mu, "0"});
  questions.push_back({Ask::delta, "0"});  // the advantage of any attack
  document.charged = charge_of(certificate.drawn_plan(), certificate.curve(), std::move(questions));
  return document;
}

CertificateDocument recreate_release(const CertificateDocument& document) {
  const std::string& stated = text_at(document.settings, "stated_plan");
  try {
    return without_guarantees(certify(parse(stated), terms_of(document)));
  } catch (const ParseError& error) {
    throw CertificateError("stated_plan", std::string("is no plan: ") + error.what());
  }
}

std::optional<double> mean_of(const Release& released, Aggregate aggregate) {
  if (aggregate != Aggregate::mean || !(released.rows[1][0] > 0)) return std::nullopt;
  return released.rows[0][0] / released.rows[1][0];
}

std::string printed_rows(const Release& released, Aggregate aggregate) {
  std::string text;
  for (const auto& row : released.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + text_of(row[i]);
    text += '\n';
  }
  const std::optional<double> mean = mean_of(released, aggregate);
  return mean ? text + text_of(*mean) + "\n" : text;
}

std::string printed_keys(const std::vector<ReleasedKey>& released) {
  std::string text;
  for (const ReleasedKey& one : released) text += one.key + (one.count ? "," + std::to_string(*one.count) : "") + "\n";
  return text;
}

}  // namespace tradeoff::detail::report
