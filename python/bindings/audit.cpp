// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>

#include <cmath>

#include "audit/one_run.h"
#include "audit/two_sample.h"
#include "bind.h"
#include "text.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::python {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

const char* to_word(audit::Verdict verdict) {
  if (verdict == audit::Verdict::refuted) return "refuted";
  return verdict == audit::Verdict::consistent ? "consistent" : "inconclusive";
}
const char* to_word(audit::Order order) { return order == audit::Order::with_over_without ? "with" : "without"; }

using EventRow = std::tuple<std::string, std::string, Ends, Ends>;
using RefutationRow = std::tuple<std::uint64_t, std::string, std::string, double, double>;

/// Rows of one output each; both matrices have the same shape.
auto audit_samples(const Curve& curve, const std::string& direction, const Matrix& with, const Matrix& without, double error, double margin,
                   bool low_bits) {
  const Direction side = read_direction(direction);
  const std::size_t rows = with.shape(0), columns = with.shape(1);
  if (without.shape(0) != rows) throw DomainError("audit: both need the same number of outputs");
  const double *one = with.data(), *other = without.data();
  const std::size_t other_columns = without.shape(1);
  const nb::gil_scoped_release unlocked;
  audit::TwoSampleAudit auditor(curve, side, {error, rows, margin, low_bits ? audit::Features::low_bits : audit::Features::values});
  for (std::size_t i = 0; i < rows; ++i) auditor.add({one + i * columns, columns}, {other + i * other_columns, other_columns});
  const audit::Result found = auditor.result();
  std::vector<EventRow> events;
  for (const audit::TestedEvent& event : found.events)
    events.emplace_back(event.text, to_word(event.order), ends(event.first_rate), ends(event.second_rate));
  std::optional<RefutationRow> refutation;
  if (const auto& by = found.refutation) refutation = RefutationRow{by->pairs, by->event, to_word(by->order), by->epsilon, by->delta};
  return std::make_tuple(std::string(to_word(found.verdict)), found.pairs, found.evidence, refutation, events, found.mu_below,
                         found.advantage_below, found.more_pairs, found.more_would_refute);
}

/// The best guesses, the probability of so many right ones under the curve, and lower bounds on epsilon and mu.
auto judge(const Curve& curve, const std::vector<audit::Guesses>& trials, double delta, double error) {
  const audit::Claim claim = audit::claim_of(curve, Direction::worst);
  const audit::OneRun found = audit::judge_one_run(trials, claim.of(audit::Order::with_over_without), delta, error);
  return std::make_tuple(found.best.canaries, found.best.made, found.best.right, found.chance, found.epsilon_below, found.mu_below);
}

auto audit_guesses(const Curve& curve, std::uint64_t canaries, std::uint64_t made, std::uint64_t right, double delta, double error) {
  const nb::gil_scoped_release unlocked;
  return judge(curve, {{canaries, made, right}}, delta, error);
}

/// A score and a coin for each canary.
auto audit_canaries(const Curve& curve, const Matrix& rows, double delta, double error) {
  if (rows.shape(1) != 2) throw DomainError("canaries: a row must be a score and whether it was included");
  std::vector<audit::Canary> canaries;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    const double score = rows(i, 0), included = rows(i, 1);
    if (!std::isfinite(score)) throw DomainError("scores: entry " + std::to_string(i) + " is not a finite number");
    if (included != 0 && included != 1) throw DomainError("included: entry " + std::to_string(i) + " must be 0 or 1");
    canaries.push_back({score, included == 1});
  }
  if (canaries.size() < audit::fewest_canaries)
    throw DomainError("scores: at least 16 canaries are needed; there are " + std::to_string(canaries.size()));
  const nb::gil_scoped_release unlocked;
  return judge(curve, audit::guess_all(canaries), delta, error);
}

}  // namespace

void bind_audit(nb::module_& module) {
  using namespace nb::literals;
  module.def("audit_samples", audit_samples, "curve"_a, "direction"_a, "with_record"_a, "without_record"_a, "error"_a, "margin"_a,
             "low_bits"_a);
  module.def("audit_guesses", audit_guesses, "curve"_a, "canaries"_a, "made"_a, "right"_a, "delta"_a, "error"_a);
  module.def("audit_canaries", audit_canaries, "curve"_a, "rows"_a, "delta"_a, "error"_a);
}

}  // namespace tradeoff::detail::python
