// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/release.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/tuple.h>

#include <map>
#include <memory>
#include <tuple>

#include "bind.h"
#include "noise/digest.h"
#include "report/release_certificate.h"
#include "report/verify.h"
#include "text.h"

namespace tradeoff::detail::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

Aggregate read_aggregate(const std::string& word) {
  if (word.empty()) return Aggregate::none;
  if (word == "sum") return Aggregate::sum;
  if (word == "count") return Aggregate::count;
  if (word == "mean") return Aggregate::mean;
  if (word == "keys") return Aggregate::keys;
  throw DomainError("records = " + word + " is not allowed; it must be one of sum, count, mean, keys");
}

Certificate certify_text(const std::string& text, const std::string& neighbours, std::uint64_t rows, std::uint64_t columns, bool disjoint,
                         bool on_grid, const std::string& records, std::optional<int> grid_exponent,
                         std::optional<std::pair<double, double>> bounds, bool clip, const Texts& stated) {
  const Targets targets = stated_targets(stated);
  ReleaseTerms terms;
  terms.neighbours = read_neighbours(neighbours);
  terms.rows = rows;
  terms.columns = columns;
  terms.rows_are = disjoint ? Rows::disjoint : Rows::composed;
  terms.inputs = on_grid ? Inputs::on_grid : Inputs::rounded;
  terms.aggregate = read_aggregate(records);
  terms.grid_exponent = grid_exponent;
  if (bounds) terms.bounds = Bounds{bounds->first, bounds->second};
  terms.clip = clip;
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) { return certify(plan, terms, targets); });
}

nb::dict to_dict(const DrawnMechanism& one) {
  nb::dict fields;
  fields["law"] = one.law;
  fields["times"] = one.times;
  fields["grid_exponent"] = one.grid_exponent;
  fields["scale"] = nb::make_tuple(one.scale_numerator, -one.scale_exponent);
  fields["sensitivity"] = one.sensitivity;
  if (!one.norm.empty()) fields["norm"] = one.norm;
  if (one.bound != 0) fields["bound"] = one.bound;
  if (one.choices != 0) fields["choices"] = one.choices;
  if (one.rectified) {
    nb::dict rectified;
    rectified["low"] = one.rectified->low;
    rectified["high"] = one.rectified->high;
    rectified["scale"] = nb::make_tuple(one.rectified->scale_numerator, -one.rectified->scale_exponent);
    fields["rectified"] = rectified;
  }
  return fields;
}

nb::dict describe(const Certificate& certificate) {
  if (!certificate.is_valid()) throw DomainError("release: this certificate has been used");
  nb::dict fields;
  fields["plan"] = to_string(certificate.plan());
  fields["drawn_plan"] = to_string(certificate.drawn_plan());
  fields["neighbours"] = neighbours_word(certificate.curve().neighbours());
  nb::list mechanisms;
  for (const DrawnMechanism& one : certificate.mechanisms()) mechanisms.append(to_dict(one));
  fields["mechanisms"] = mechanisms;
  nb::list guarantee;
  for (std::size_t i = 0; i < certified_deltas.size(); ++i)
    guarantee.append(nb::make_tuple(certified_deltas[i], ends(certificate.guarantees()[i].epsilon)));
  fields["guarantee"] = guarantee;
  fields["mu"] = certificate.mu() ? nb::cast(ends(*certificate.mu())) : nb::none();
  fields["advantage"] = ends(certificate.curve().advantage());
  return fields;
}

/// The rows, the same as text, and the certificate as JSON.
nb::tuple draw_rows(Certificate& certificate, const Numbers& values) {
  if (!certificate.is_valid()) throw DomainError("release: this certificate has been used");
  Release released;
  std::string text, json;
  {
    const nb::gil_scoped_release unlocked;
    const Aggregate aggregate = certificate.terms().aggregate;
    report::CertificateDocument document = report::document_of(certificate);
    released = release(std::move(certificate), {values.data(), values.size()});
    text = report::printed_rows(released, aggregate);
    document.released = noise::sha256(text);
    json = to_json(document);
  }
  const std::size_t columns = released.rows.empty() ? 0 : released.rows.front().size();
  auto flat = std::make_unique<std::vector<double>>();
  for (const auto& row : released.rows) flat->insert(flat->end(), row.begin(), row.end());
  auto* const raw = flat.release();
  const nb::capsule owner(raw, [](void* memory) noexcept { delete static_cast<std::vector<double>*>(memory); });
  return nb::make_tuple(Table(raw->data(), {released.rows.size(), columns}, owner), text, json);
}

/// The keys with their counts, the same as text, and the certificate as JSON. [key-release]
nb::tuple draw_keys(Certificate& certificate, const std::vector<std::tuple<std::string, std::string, std::uint64_t>>& table) {
  if (!certificate.is_valid()) throw DomainError("release: this certificate has been used");
  std::vector<ReleasedKey> released;
  std::string text, json;
  {
    const nb::gil_scoped_release unlocked;
    std::vector<KeyRow> rows;
    for (const auto& [user, key, count] : table) rows.push_back({user, key, count});
    report::CertificateDocument document = report::document_of(certificate);
    released = release_keys(std::move(certificate), rows);
    text = report::printed_keys(released);
    document.released = noise::sha256(text);
    json = to_json(document);
  }
  nb::list keys;
  for (const ReleasedKey& one : released) keys.append(nb::make_tuple(one.key, one.count ? nb::cast(*one.count) : nb::none()));
  return nb::make_tuple(keys, text, json);
}

/// (verdict, [(what, verdict, detail)], [what is taken on trust]).
nb::tuple verify_text(const std::string& text, const std::optional<nb::bytes>& released) {
  std::optional<std::string> sha256;
  if (released) sha256 = noise::sha256({released->c_str(), released->size()});
  std::vector<report::Finding> findings;
  report::CertificateDocument document;
  {
    const nb::gil_scoped_release unlocked;
    document = report::parse_certificate(text);
    const bool is_release = document.kind == report::CertificateKind::release;  // training is part of the command line only
    findings = verify(document, is_release ? report::Recreation(report::recreate_release) : nullptr);
    if (sha256) findings.push_back(verify_released(document, *sha256));
  }
  nb::list found, trusted;
  for (const report::Finding& one : findings) found.append(nb::make_tuple(one.what, to_word(one.verdict), one.words));
  for (const std::string& sentence : taken_on_trust(document)) trusted.append(sentence);
  return nb::make_tuple(to_word(worst_of(findings)), found, trusted);
}

}  // namespace

void bind_release(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Certificate>(module, "Certificate")
      .def_prop_ro("is_valid", &Certificate::is_valid)
      .def("describe", describe, nb::sig("def describe(self) -> dict[str, typing.Any]"))
      .def(
          "release", draw_rows, "values"_a,
          nb::sig("def release(self, values: numpy.typing.NDArray[numpy.float64]) -> tuple[numpy.typing.NDArray[numpy.float64], str, str]"))
      .def("release_keys", draw_keys, "table"_a,
           nb::sig("def release_keys(self, table: list[tuple[str, str, int]]) -> tuple[list[tuple[str, int | None]], str, str]"));
  module.def("verify", verify_text, "text"_a, "released"_a.none(),
             nb::sig("def verify(text: str, released: bytes | None) -> tuple[str, list[tuple[str, str, str]], list[str]]"));
  module.def("certify", certify_text, "text"_a, "neighbours"_a, "rows"_a, "columns"_a, "disjoint"_a, "on_grid"_a, "records"_a,
             "grid_exponent"_a.none(), "bounds"_a.none(), "clip"_a, "targets"_a);
}

}  // namespace tradeoff::detail::python
