// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "gdp/chord.h"
#include "gdp/staircase.h"
#include "gdp/warnings.h"
#include "loss/atoms.h"
#include "loss/gaussian_profile.h"
#include "loss/question_scope.h"
#include "loss/recording.h"
#include "loss/rough.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/refine.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/research.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

// No tail certificate is sought beyond this epsilon: the curve would have to be evaluated up to it.
constexpr double last_epsilon = 1e6;

// No delta above a slack is sought beyond this epsilon: a bound that falls like 1/epsilon is 1e-15 there.
constexpr double farthest_epsilon = 1e17;

// Two spellings of the same probability differ by less than this, relatively.
constexpr double rounding_hides = 1e-12;

// The largest number of evaluations for a certificate closer to the limit of the tail.
constexpr std::size_t enough_evaluations = 200;

TailSummary summary_of(const Tail& tail) {
  static constexpr const char* names[] = {"unknown", "zero", "gdp", "gaussian", "exponential", "polynomial", "floor"};
  TailSummary summary{names[static_cast<std::size_t>(tail.kind)], 0, tail.limit};
  if (tail.kind == TailKind::zero) summary.from = tail.zero_from;
  if (tail.kind == TailKind::gaussian) summary.from = tail.gaussian->from;
  return summary;
}

/// mu in closed form: for Gaussian and Laplace noise, and for a profile with one corner at a positive epsilon and 0 beyond it. Such a
/// symmetric profile is that of randomised response. [pure-dp-mu]
std::optional<Interval> known_mu(const Loss& loss, const Tail& tail) {
  if (const auto mu = loss.closed_mu()) return mu;
  if (!(tail.zero_from < infinity) || !loss.symmetric()) return std::nullopt;
  const Atoms* atoms = loss.atoms(Direction::remove);
  if (atoms != nullptr && atoms->mirrored && atoms->slack == 0 && atoms->finite.size() == 2) return pure_dp_mu(atoms->finite.front().loss);
  if (loss.cost() == Cost::engine) return std::nullopt;  // a composition has more corners, and listing them may take long
  const auto corners = loss.guarantees(Direction::remove);
  if (corners && corners->size() == 1 && corners->front().epsilon.lo > 0) return pure_dp_mu(corners->front().epsilon);
  return std::nullopt;
}

class Meter {
 public:
  Meter(const Loss& loss, double relative) : loss_(loss), tail_(loss.tail()), profile_(loss), relative_(relative) {}

  [[nodiscard]] const Tail& tail() const { return tail_; }
  [[nodiscard]] std::size_t evaluations() const { return profile_.evaluations(); }

  [[nodiscard]] Supremum head(double last, Interval slack = Interval::exactly(0), double enough = 0) {
    static const Citation chords("chord-bound", "the largest mu between readings of the profile is bounded by its chords");
    record(chords);
    return chord_supremum(profile_, last, slack, relative_, enough);
  }

  [[nodiscard]] Interval delta(double epsilon) { return profile_.delta(epsilon); }

  /// The global supremum; its upper end is infinite if no bound on the tail is proved.
  [[nodiscard]] Supremum global() {
    static const Citation tail("tail-model", "what is certain about the profile for large epsilon");
    record(tail);
    if (tail_.limit.lo == infinity) return {Interval::exactly(infinity), infinity};
    // For sampled Gaussians the limit is the supremum, however small the head is.
    if (tail_.gdp_mu <= tail_.limit.lo * (1 + 1e-12)) {
      cite_known();
      return {{tail_.limit.lo, std::max(tail_.limit.lo, tail_.gdp_mu)}, infinity};
    }
    if (const auto near = next_to_known()) return *near;
    if (const auto known = between_parts()) return *known;
    Supremum found;
    if (tail_.zero_from < infinity) {
      found = head(tail_.zero_from);
    } else if (tail_.gaussian || profile_.moments() != nullptr) {
      found = head_and_certificate();
    } else {
      found = head(reach());
      found.mu.hi = infinity;
    }
    if (tail_.gdp_mu < found.mu.hi) {
      cite_known();
      found.mu.hi = std::max(found.mu.lo, tail_.gdp_mu);
    }
    if (!(found.mu.hi <= std::max(found.mu.lo, tail_.limit.lo) * (1 + relative_)))
      if (const auto known = loss_.mu_above()) found.mu.hi = std::max(found.mu.lo, std::min(found.mu.hi, known->hi));
    if (tail_.limit.lo >= found.mu.lo) found = {{tail_.limit.lo, std::max(found.mu.hi, tail_.limit.lo)}, infinity};
    return found;
  }

  /// [slack-pair] The profile minus the slack is 0 from the first epsilon on at which delta is certainly at most the slack. If rounding
  /// hides whether the slack covers the infinite mass, the pair is given for the least slack that certainly covers it.
  [[nodiscard]] GdpPair with_slack(Interval slack) {
    static const Citation pair("slack-pair", "the profile less the slack is measured instead");
    record(pair);
    const Interval floor = profile_.infinite_mass();
    if (floor.lo > slack.hi) return {Interval::exactly(infinity), slack, infinity};
    if (floor.hi > slack.lo) {
      const double enough = floor.hi * (1 + rounding_hides);
      if (!(enough <= slack.hi * (1 + 2 * rounding_hides))) return {{0, infinity}, slack, infinity};
      slack = Interval::exactly(std::max(slack.hi, enough));
    }
    for (double last = reach(); last <= farthest_epsilon; last *= 1.6)
      if (delta(last).hi <= slack.lo) {
        const Supremum found = head(last, slack);
        return {found.mu, slack, found.at_epsilon};
      }
    const Supremum seen = head(reach(), slack);
    const double above = std::min(tail_.gdp_mu, loss_.mu_above().value_or(Interval::whole()).hi);  // a slack lowers mu
    return {{seen.mu.lo, std::max(seen.mu.lo, above)}, slack, seen.at_epsilon};
  }

 private:
  /// The theorem behind the mu that the tail states.
  void cite_known() const {
    if (tail_.gdp_origin) record(*tail_.gdp_origin);
  }
  /// [whole-gaussian-mu] That mu, if a value of the profile is nearly as large.
  [[nodiscard]] std::optional<Supremum> next_to_known() {
    const double next_to = is_rough({relative_}) ? relative_ : 1e-9;
    if (!(tail_.gdp_near < infinity)) return std::nullopt;
    Supremum found = head(tail_.gdp_near, Interval::exactly(0), tail_.gdp_mu);
    if (tail_.limit.lo > found.mu.lo) found = {tail_.limit, infinity};
    if (!(found.mu.lo >= tail_.gdp_mu * (1 - next_to))) return std::nullopt;
    cite_known();
    found.mu.hi = std::max(found.mu.lo, tail_.gdp_mu);
    return found;
  }

  /// [older-theorems] The mu to which those of the parts compose, if the limit of the tail, or the mu of one part, is nearly as large. Not
  /// asked where the tail ends, where nothing is known about its limit, or, unless divergences are stated, where the head needs as much.
  [[nodiscard]] std::optional<Supremum> between_parts() {
    constexpr double next_to = 1e-9, no_privacy = 20;  // with such a mu nobody needs many digits
    if (!(tail_.limit.hi < infinity) || tail_.zero_from < infinity) return std::nullopt;
    if (loss_.minimum_of().empty() && !(tail_.limit.lo > profile_.mu_at_zero())) return std::nullopt;
    const RecordedSince own;
    const auto above = loss_.mu_above();
    const NeededMu part = above ? loss_.mu_below().value_or(NeededMu{}) : NeededMu{};
    const double below = std::max(part.mu, tail_.limit.lo);
    const double enough = part.mu > std::max(no_privacy, tail_.limit.lo) ? 1e-5 : is_rough({relative_}) ? relative_ : next_to;
    static const Citation parts("older-theorems", "a composition needs at least the mu of each part, and at most the root of all squares");
    if (!above || !(above->hi <= below * (1 + enough))) {
      static_cast<void>(own.take_out());
      return std::nullopt;
    }
    record(parts);
    return Supremum{{below, std::max(below, above->hi)}, part.mu < below ? infinity : part.at_epsilon};
  }

  /// The scale on which the profile decreases.
  [[nodiscard]] double reach() {
    const double mu = profile_.mu_at_zero();
    return std::clamp(2 * mu, 1e-12, 100.0);
  }

  /// The epsilon from which on a model proves this mu; infinite if there is none. The value at the point from which the model of the
  /// Gaussian part starts is part of that model.
  [[nodiscard]] double certified_from(double mu, double first) {
    double least = infinity;
    const auto use = [&](const GaussianTail& model, double growth, int steps) {
      double last = std::max(model.from, first);
      for (int i = 0; i < steps && last < least; ++i, last *= growth)
        if (certifies(model, mu, last)) least = last;
    };
    if (tail_.gaussian) use(*tail_.gaussian, 1.25, 60);
    if (const MomentBound* moments = profile_.moments())
      for (double order = 1; order < 1e12 && order * square(Interval::exactly(moments->width())).lo < least; order *= 1.5)
        use(moments->model_from(order), 2, 4);
    if (const auto fall = profile_.fall()) {
      int values = 12;
      for (double last = std::max(first, fall->from); values > 0 && last < std::min(least, last_epsilon); last *= 1.25)
        if (certifies(*fall, mu, last) && values-- > 0 && certifies(profile_.completed(*fall, last), mu, last)) least = last;
    }
    return least;
  }

  /// [tail-certificate] Measures the head up to the point from which on a model proves the rest, for the mu that the head needs anyway. If
  /// no model proves that, or proves it only far away, where the profile is not known well, slightly larger ones are tried.
  [[nodiscard]] Supremum head_and_certificate() {
    static const Citation certificate("tail-certificate", "beyond the head a Gaussian model certifies the mu");
    record(certificate);
    const double first = std::max(reach(), 1e-3);
    const double least = tail_.limit.hi < infinity ? tail_.limit.hi : 0;
    Supremum best = head(first, Interval::exactly(0), least);
    const double near = best.mu.hi;
    best.mu.hi = infinity;
    double before = 0;
    for (const double surplus : {0.0, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3, 0x1p-6, 0x1p-3, 1.0}) {
      const double mu = std::max(near, least * (1 + surplus));
      if (!(mu < best.mu.hi)) break;
      const double last = mu > before ? certified_from(mu, first) : infinity;
      before = mu;
      if (!(last < infinity)) continue;
      const Supremum found = head(last, Interval::exactly(0), mu);
      if (found.mu.lo > best.mu.lo) best = {{found.mu.lo, best.mu.hi}, found.at_epsilon};
      best.mu.hi = std::min(best.mu.hi, std::max(found.mu.hi, mu));
      if (best.mu.hi <= std::max(best.mu.lo, least) * (1 + relative_) || evaluations() > enough_evaluations) break;
    }
    return best;
  }

  const Loss& loss_;
  Tail tail_;
  MeasuredProfile profile_;
  double relative_;
};

}  // namespace

GdpMeasurement measure_mu(const Curve& curve, const std::vector<Interval>& slacks) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return measure_mu(curve, slacks); });

  const QuestionScope question;
  const RecordedSince own;
  const LossPointer measured = convex_form(cached_loss(curve));
  const Loss& loss = *measured;
  Meter meter(loss, curve.tolerance().relative);
  GdpMeasurement answer;
  answer.tail = summary_of(meter.tail());
  loss.cite();  // the tail, or a known mu, comes from the distribution
  if (const auto mu = known_mu(loss, meter.tail())) {
    answer.mu = *mu;
  } else {
    const Supremum found = meter.global();
    answer.mu = found.mu;
    answer.at_epsilon = found.at_epsilon;
  }
  // [older-theorems] What is stated of each part may imply less than the profile that it implies for the whole.
  const Citations of_whole = own.take_out();
  const auto of_parts = loss_of(curve)->is_pair() ? std::nullopt : loss_of(curve)->mu_above();
  if (!of_parts || !(of_parts->hi < answer.mu.hi)) static_cast<void>(own.take_out());
  if (!of_parts || !(of_parts->hi < answer.mu.hi && of_parts->lo <= answer.mu.lo) || !slacks.empty()) record(of_whole);
  if (of_parts) answer.mu = min(answer.mu, *of_parts);
  answer.verdict = answer.mu.hi < infinity ? GdpVerdict::gdp : answer.mu.lo == infinity ? GdpVerdict::not_gdp : GdpVerdict::undecided;
  for (const Interval slack : slacks) {
    if (!(slack.lo >= 0 && slack.hi < 1)) throw DomainError("slack: it must be at least 0 and below 1");
    GdpPair found = slack.hi == 0 ? GdpPair{answer.mu, slack, answer.at_epsilon} : meter.with_slack(slack);
    // A slack can only lower mu, so the global value bounds every pair.
    if (of_parts) found.mu.lo = std::min(found.mu.lo, answer.mu.lo);
    found.mu.hi = std::max(found.mu.lo, std::min(found.mu.hi, answer.mu.hi));
    answer.with_slack.push_back(found);
  }
  answer.evaluations = meter.evaluations();
  answer.warnings = warnings_about(answer, *loss_of(curve));
  return answer;
}

HeadMu measure_head_mu(const Curve& curve, Interval epsilon_max) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return measure_head_mu(curve, epsilon_max); });

  const QuestionScope question;
  if (!(epsilon_max.lo > 0 && epsilon_max.hi < infinity)) throw DomainError("epsilon_max: it must be above 0 and finite");
  const LossPointer measured = convex_form(cached_loss(curve));
  Meter meter(*measured, curve.tolerance().relative);
  const Supremum above = meter.head(epsilon_max.hi);
  const Supremum below = epsilon_max.lo == epsilon_max.hi ? above : meter.head(epsilon_max.lo);
  HeadMu answer{{below.mu.lo, above.mu.hi}, {meter.delta(epsilon_max.hi).lo, meter.delta(epsilon_max.lo).hi}, below.at_epsilon, 0, {}};
  if (const auto of_parts = loss_of(curve)->is_pair() ? std::nullopt : loss_of(curve)->mu_above()) answer.mu = min(answer.mu, *of_parts);
  answer.evaluations = meter.evaluations();
  answer.warnings = warnings_about(answer, epsilon_max.hi, *loss_of(curve));
  return answer;
}

namespace {

Measured measure_by_chord(MeasuredProfile& profile, double last, double width) {
  // The search stops at half of the relative width, above values that have one too; here its target is absolute.
  const Interval first = gaussian_mu(Interval::exactly(0), profile.delta(0));
  Measured found;
  found.mu = chord_supremum(profile, last, Interval::exactly(0), width / std::max(first.hi, width)).mu;
  return found;
}

/// A way to measure the head on [0, last] to the given width.
struct HeadMeasure {
  std::string_view name;
  Measured (*measure)(MeasuredProfile& profile, double last, double width);
};
constexpr std::array head_measures{
    HeadMeasure{"chord", measure_by_chord},
    HeadMeasure{"marching", [](MeasuredProfile& profile, double last, double width) { return measure_by_marching(profile, last, width); }},
    HeadMeasure{"algorithm_1",
                [](MeasuredProfile& profile, double last, double width) { return measure_by_staircase(profile, last, width, true); }},
    HeadMeasure{"algorithm_3",
                [](MeasuredProfile& profile, double last, double width) { return measure_by_staircase(profile, last, width, false); }},
};

HeadMethod measure_head_by(const HeadMeasure& method, const Loss& loss, double last, double width) {
  MeasuredProfile profile(loss);
  HeadMethod row{std::string(method.name), Interval::whole(), 0, 0, {}};
  try {
    const Measured found = method.measure(profile, last, width);
    row.mu = found.mu;
    row.searches = found.searches;
  } catch (const TooLargeError& refusal) {
    row.refusal = refusal.what();
  }
  row.evaluations = profile.evaluations();
  return row;
}

}  // namespace

std::vector<HeadMethod> compare_head_methods(const Curve& curve, double epsilon_max, double width,
                                             const std::vector<std::string>& methods) {
  if (!numeric::arithmetic_is_usual())
    return numeric::in_usual_arithmetic([&] { return compare_head_methods(curve, epsilon_max, width, methods); });

  if (!(epsilon_max > 0 && epsilon_max < infinity)) throw DomainError("epsilon_max: it must be above 0 and finite");
  if (!(width > 0 && width < infinity)) throw DomainError("width: it must be above 0 and finite");
  for (const std::string& name : methods)
    if (std::none_of(head_measures.begin(), head_measures.end(), [&](const HeadMeasure& known) { return known.name == name; }))
      throw DomainError("method: '" + name + "' is not known; it must be chord, marching, algorithm_1 or algorithm_3");
  const QuestionScope question;
  const LossPointer measured = convex_form(cached_loss(curve));
  std::vector<HeadMethod> rows;
  for (const HeadMeasure& method : head_measures)
    if (methods.empty() || std::find(methods.begin(), methods.end(), method.name) != methods.end())
      rows.push_back(measure_head_by(method, *measured, epsilon_max, width));
  return rows;
}

// [gdp-transform]
Interval gdp_transform_at(const Curve& curve, Interval epsilon, Direction direction) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return gdp_transform_at(curve, epsilon, direction); });

  static const Citation used("gdp-transform", "the mu whose Gaussian profile passes through this epsilon and delta");
  record(used);
  const Interval delta = curve.delta_at(epsilon, direction);
  const bool underflows = delta.lo < 1e-290;  // near the smallest doubles delta has lost digits that its logarithm still has
  return underflows ? gaussian_mu_of_log(epsilon, curve.log_delta_at(epsilon, direction)) : gaussian_mu(epsilon, delta);
}

// [slack-pair] Under composition mu is the root of the sum of squares, and the probabilities 1 - slack multiply.
GdpPair compose(const std::vector<GdpPair>& pairs) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return compose(pairs); });

  Interval squares = Interval::exactly(0), log_kept = Interval::exactly(0);
  for (const GdpPair& pair : pairs) {
    squares = squares + square(pair.mu);
    log_kept = log_kept + log1p(-pair.slack);
  }
  return {sqrt(squares), clamp(-expm1(log_kept), 0, 1), 0};
}

}  // namespace tradeoff
