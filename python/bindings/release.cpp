// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/release.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>

#include <map>
#include <memory>

#include "bind.h"
#include "text.h"

namespace tradeoff::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

Aggregate read_aggregate(const std::string& word) {
  if (word.empty()) return Aggregate::none;
  if (word == "sum") return Aggregate::sum;
  if (word == "count") return Aggregate::count;
  if (word == "mean") return Aggregate::mean;
  throw DomainError("records = " + word + " is not allowed; it must be one of sum, count, mean");
}

Certificate certify_text(const std::string& text, const std::string& neighbours, std::uint64_t rows, std::uint64_t columns, bool disjoint,
                         bool on_grid, const std::string& records, std::optional<int> grid_exponent,
                         std::optional<std::pair<double, double>> bounds, bool clip, const std::map<std::string, std::string>& stated) {
  const Targets targets = read_targets(
      [&](std::string_view word) {
        const auto found = stated.find(std::string(word));
        return found == stated.end() ? std::nullopt : std::optional(found->second);
      },
      "");
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
  fields["neighbours"] = to_word(certificate.curve().neighbours());
  nb::list mechanisms;
  for (const DrawnMechanism& one : certificate.mechanisms()) mechanisms.append(to_dict(one));
  fields["mechanisms"] = mechanisms;
  nb::list guarantee;
  for (const Certificate::Point& point : certificate.guarantee()) guarantee.append(nb::make_tuple(point.delta, ends(point.epsilon)));
  fields["guarantee"] = guarantee;
  fields["mu"] = certificate.mu() ? nb::cast(ends(*certificate.mu())) : nb::none();
  fields["advantage"] = ends(certificate.curve().advantage());
  fields["statement"] = certificate.statement();
  fields["digest"] = "sha256:" + certificate.digest();
  return fields;
}

Table draw(Certificate& certificate, const Numbers& values) {
  Release released;
  {
    const nb::gil_scoped_release unlocked;
    released = release(std::move(certificate), {values.data(), values.size()});
  }
  const std::size_t columns = released.rows.empty() ? 0 : released.rows.front().size();
  auto flat = std::make_unique<std::vector<double>>();
  for (const auto& row : released.rows) flat->insert(flat->end(), row.begin(), row.end());
  auto* const raw = flat.release();
  const nb::capsule owner(raw, [](void* memory) noexcept { delete static_cast<std::vector<double>*>(memory); });
  return Table(raw->data(), {released.rows.size(), columns}, owner);
}

}  // namespace

void bind_release(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Certificate>(module, "Certificate")
      .def_prop_ro("is_valid", &Certificate::is_valid)
      .def("describe", describe, nb::sig("def describe(self) -> dict[str, typing.Any]"))
      .def("release", draw, "values"_a);
  module.def("certify", certify_text, "text"_a, "neighbours"_a, "rows"_a, "columns"_a, "disjoint"_a, "on_grid"_a, "records"_a,
             "grid_exponent"_a.none(), "bounds"_a.none(), "clip"_a, "targets"_a);
}

}  // namespace tradeoff::python
