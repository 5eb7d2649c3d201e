// SPDX-License-Identifier: Apache-2.0
#include "train/certificate.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "calibrate/margin.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "report/verify.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/version.h"
#include "train/checkpoint.h"

namespace tradeoff::detail::train {
namespace {

using numeric::to_text_above;

using report::CertificateDocument;
using report::CertificateError;
using report::Fields;

// ---- the settings of a run as text ----

std::string dyadic(const noise::Dyadic& value) { return std::to_string(value.numerator) + " * 2^" + std::to_string(-value.exponent); }

/// With batches of fixed size the number of records is public; Poisson sampling states a public size instead.
std::string size_field(const Batches& batches) { return std::holds_alternative<FixedSizeBatches>(batches) ? "records" : "public_size"; }

Fields settings_of(const TrainingTerms& terms, std::uint64_t steps_done) {
  const ModelShape& shape = terms.shape;
  Fields fields = {{"stated_plan", to_string(parse(stated_plan(terms, steps_done)))},
                   {"noise_over_clip", terms.noise.text},
                   {"clip", terms.clip.text},
                   {"learning_rate", exact_number(terms.learning_rate).text},
                   {"steps", std::to_string(terms.steps)},
                   {"steps_done", std::to_string(steps_done)},
                   {"features", terms.features},
                   {"inputs", std::to_string(shape.inputs)},
                   {"classes", std::to_string(shape.classes)},
                   {"hidden", std::to_string(shape.hidden)},
                   {"filters", std::to_string(shape.filters)},
                   {"image_rows", std::to_string(shape.image_rows)},
                   {"image_columns", std::to_string(shape.image_columns)},
                   {"weights", std::to_string(Model(shape).weights().size())}};
  if (terms.momentum > 0) fields["momentum"] = exact_number(terms.momentum).text;
  std::visit(
      [&](const auto& batches) {
        fields["sampling"] = batches.name();
        fields["batch"] = std::to_string(batches.size());
        fields[size_field(terms.batches)] = std::to_string(batches.of());
      },
      terms.batches);
  return fields;
}

Fields drawn_fields(const TrainingTerms& terms, std::uint64_t steps_done) {
  const DrawnStep drawn = drawn_step(terms);
  return {{"law", "rounded gaussian"},
          {"grid", "2^" + std::to_string(drawn.grid.exponent())},
          {"contribution", std::to_string(drawn.grid.bound())},
          {"sensitivity", std::to_string(drawn.sensitivity)},
          {"scale", dyadic(drawn.scale)},
          {"times", std::to_string(steps_done)}};
}

const std::string& text_at(const Fields& fields, const std::string& name) {
  const auto found = fields.find(name);
  if (found == fields.end()) throw CertificateError(name, "is missing in 'settings'");
  return found->second;
}

std::uint64_t count_at(const Fields& fields, const std::string& name) {
  const std::string& text = text_at(fields, name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw CertificateError(name, "must be a whole number in 'settings', not '" + text.substr(0, 60) + "'");
  return value;
}

Number number_at(const Fields& fields, const std::string& name) {
  try {
    return read_number(text_at(fields, name));
  } catch (const ParseError&) {
    throw CertificateError(name, "must be a number in 'settings', not '" + text_at(fields, name).substr(0, 60) + "'");
  }
}

Batches batches_of(const Fields& fields) {
  const std::string& sampling = text_at(fields, "sampling");
  if (sampling == FixedSizeBatches::name()) return FixedSizeBatches(count_at(fields, "batch"), count_at(fields, "records"));
  if (sampling == PoissonBatches::name()) return PoissonBatches(count_at(fields, "batch"), count_at(fields, "public_size"));
  throw CertificateError("sampling", "must be fixed or poisson in 'settings', not '" + sampling.substr(0, 60) + "'");
}

TrainingTerms terms_of(const Fields& fields) {
  TrainingTerms terms{batches_of(fields),
                      number_at(fields, "noise_over_clip"),
                      number_at(fields, "clip"),
                      count_at(fields, "steps"),
                      number_at(fields, "learning_rate").value.lo,
                      text_at(fields, "features"),
                      {},
                      fields.contains("momentum") ? number_at(fields, "momentum").value.lo : 0};
  terms.shape = {count_at(fields, "inputs"),  count_at(fields, "classes"),    count_at(fields, "hidden"),
                 count_at(fields, "filters"), count_at(fields, "image_rows"), count_at(fields, "image_columns")};
  check(terms);
  return terms;
}

/// The certificate without the guarantees and the SHA-256 of the model.
CertificateDocument without_guarantees(const TrainingTerms& terms, std::uint64_t steps_done) {
  CertificateDocument document;
  document.kind = report::CertificateKind::training;
  document.version = TRADEOFF_VERSION;
  document.neighbours = neighbours_of(terms);
  document.charged.plan = parse(drawn_plan(terms, steps_done));
  if (steps_done != terms.steps) document.planned = report::Charge{parse(drawn_plan(terms, terms.steps)), {}};
  document.settings = settings_of(terms, steps_done);
  document.drawn = {drawn_fields(terms, steps_done)};
  return document;
}

void add_guarantees(report::Charge& charge, Neighbours neighbours, const std::vector<std::string>& deltas) {
  std::vector<report::CertifiedAnswer> questions;
  for (const std::string& delta : deltas) questions.push_back({report::Ask::epsilon, delta});
  for (const char* slack : certified_slacks) questions.push_back({report::Ask::mu, slack});
  questions.push_back({report::Ask::delta, "0"});  // the advantage of any attack
  for (const char* rate : {"0.001", "0.01", "0.1"}) questions.push_back({report::Ask::tpr, rate});
  charge = report::charge_of(charge.plan, analyze(charge.plan, neighbours), std::move(questions));
}

/// Whether a run meets its targets; `excess` approximates the distance, in the logarithm of its noise, from meeting them.
struct Standing {
  bool meets = true;
  double excess = -infinity;
};

Standing stand(TrainingTerms terms, double log_noise, const Targets& targets) {
  constexpr Tolerance rough{1e-4};  // the width of the search for the noise; the chosen noise is verified
  terms.noise = exact_number(std::exp(log_noise));
  const Curve curve = analyze(parse(drawn_plan(terms, terms.steps)), neighbours_of(terms), rough);
  Standing all;
  for (const StatedTarget& target : targets) {
    const Margin margin = margin_of(curve, target.target);
    all.meets = all.meets && margin.meets();
    all.excess = std::max(all.excess, margin.excess());
  }
  return all;
}

/// The logarithm of a noise that meets the targets, at most `width` above one that does not. Uses secants, because a target of mu is nearly
/// a power of the noise, and bisection if they fail.
double search_noise(const TrainingTerms& terms, const Targets& targets, double width) {
  const double least = std::log(smallest_noise), most = std::log(largest_noise);
  double low = least, high = most, low_excess = 0, high_excess = 0, reach = 1;
  bool has_low = false, has_high = false;
  double x = 0;
  for (int i = 0; !(has_low && has_high && high - low <= width); ++i) {
    const Standing found = stand(terms, x, targets);
    (found.meets ? has_high : has_low) = true;
    (found.meets ? high : low) = x;
    (found.meets ? high_excess : low_excess) = found.excess;
    if (has_high && x <= least) return least;
    if (has_low && x >= most)
      throw DomainError("train: no noise up to 1000000 clipping norms meets " + to_string(targets) +
                        "; ask for less or train for fewer steps");
    if (!has_low || !has_high) {  // mu is roughly inversely proportional to the noise
      x = std::clamp(x + std::clamp(1.02 * found.excess, -reach, reach) + (found.meets ? -0.02 : 0.02), least, most);
      reach *= 2;
      continue;
    }
    const double root = low + (high - low) * low_excess / (low_excess - high_excess);
    // Close to the root, on the side whose end is still far from it.
    const double aside = 0.4 * width, wanted = high - root > width ? root + aside : root - aside;
    x = i % 3 != 2 && wanted > low && wanted < high ? wanted : low + (high - low) / 2;
  }
  return high;
}

}  // namespace

Curve curve_of(const TrainingTerms& terms) { return analyze(parse(drawn_plan(terms, terms.steps)), neighbours_of(terms)); }

RunGuarantee guarantee_of(const TrainingTerms& terms, std::uint64_t steps, const std::vector<std::string>& deltas) {
  RunGuarantee found;
  found.steps = steps;
  found.stated = stated_plan(terms, steps);
  found.drawn = drawn_plan(terms, steps);
  if (steps == 0) {  // only weights that do not depend on data were released
    for (const std::string& delta : deltas) found.guarantees.push_back({Interval::exactly(0), read_number(delta).value});
    return found;
  }
  const Plan plan = parse(found.drawn);
  const Curve curve = analyze(plan, neighbours_of(terms));
  found.provenance = provenance_of([&] {
    for (const std::string& text : deltas) {
      const Interval delta = read_number(text).value;
      found.guarantees.push_back({curve.epsilon_at(delta), delta});
    }
  });
  std::vector<Interval> slacks;
  for (const char* slack : certified_slacks) slacks.push_back(read_number(slack).value);
  found.mu_with_slack = measure_mu(curve, slacks).with_slack;
  found.limit = central_limit(plan, neighbours_of(terms)).mu;
  found.advantage = curve.advantage();
  for (const char* alpha : {"0.001", "0.01", "0.05", "0.1", "0.25", "0.5"})
    found.tradeoff.push_back({alpha, curve.beta_at(read_number(alpha).value)});
  found.curve = curve;
  return found;
}

Interval epsilon_so_far(const TrainingTerms& terms, std::uint64_t steps, const std::string& delta) {
  if (steps == 0) return Interval::exactly(0);
  return analyze(parse(drawn_plan(terms, steps)), neighbours_of(terms)).epsilon_at(read_number(delta).value);
}

CertificateDocument document_of(const Progress& progress, const std::vector<std::string>& deltas) {
  CertificateDocument document = without_guarantees(progress.terms, progress.steps_done);
  add_guarantees(document.charged, document.neighbours, deltas);
  if (document.planned) add_guarantees(*document.planned, document.neighbours, deltas);
  document.released = parameters_digest(progress);
  return document;
}

CertificateDocument recreate_training(const CertificateDocument& document) {
  const TrainingTerms terms = terms_of(document.settings);
  const std::uint64_t done = count_at(document.settings, "steps_done");
  if (done > terms.steps) throw CertificateError("steps_done", "must be at most 'steps', " + std::to_string(terms.steps));
  return without_guarantees(terms, done);
}

Number calibrated_noise(TrainingTerms terms, const Targets& targets) {
  if (targets.empty()) throw DomainError("train: noise can only be found for a target");
  for (const StatedTarget& target : targets) validate(target.target);
  double noise = std::exp(search_noise(terms, targets, 1e-4));  // a negligible difference in noise
  constexpr int attempts = 12;
  for (int i = 0; i < attempts; ++i, noise *= 1 + std::ldexp(1e-6, i)) {
    terms.noise = read_number(to_text_above(noise, 6));  // fewer digits, more noise
    if (meets(curve_of(terms), targets) == Met::yes) return terms.noise;
  }
  throw DomainError("train: no noise was found that certainly meets " + to_string(targets));
}

}  // namespace tradeoff::detail::train
