// SPDX-License-Identifier: Apache-2.0
#include "report/verify.h"

#include <algorithm>
#include <cmath>

#include "curve/curve_state.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "report/claim.h"
#include "tradeoff/analyze.h"
#include "tradeoff/gdp.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::report {
namespace {

// ---- answering ----

Interval mu_of(const Curve& curve, CertifiedAnswer& question) {
  const Number slack = read_number(question.at);
  if (slack.value.hi == 0) {
    if (const auto closed = loss_of(curve)->closed_mu()) return *closed;
    return measure_mu(curve).mu;
  }
  const GdpPair pair = measure_mu(curve, {slack.value}).with_slack.at(0);
  if (pair.slack != slack.value) question.at = exact_number(pair.slack.hi).text;
  return pair.mu;
}

void answer(const Curve& curve, CertifiedAnswer& question) {
  const Direction direction = question.direction;
  if (question.ask == Ask::mu) {
    question.answer = mu_of(curve, question);
    return;
  }
  const bool at_infinity = question.at == "inf";
  const Number at = at_infinity ? Number{"inf", Interval::exactly(infinity)} : read_number(question.at);
  if (question.ask == Ask::delta) {
    question.answer = curve.delta_at(at, direction);
    question.log10 = log10_if_tiny(question.answer);
    if (question.log10) question.log10 = log10_if_tiny(question.answer, curve.log_delta_at(at, direction));
    return;
  }
  question.answer = question.ask == Ask::epsilon ? curve.epsilon_at(at, direction)
                    : question.ask == Ask::beta  ? curve.beta_at(at.value, direction)
                                                 : curve.tpr_at(at.value, direction);
  question.log10 = log10_if_tiny(question.answer);
}

std::vector<Direction> directions_of(const Curve& curve, Direction asked) {
  if (loss_of(curve)->symmetric()) return {Direction::remove};
  if (asked != Direction::worst) return {asked};
  return {Direction::remove, Direction::add};
}

/// exp(epsilon) is the slope of beta at the threshold epsilon of the attack. Approximate: it only chooses where counts and errors are
/// stated.
std::optional<double> threshold_of(const Curve& curve, Direction direction, double alpha, Interval beta) {
  const Unrecorded steering;
  const double away = 0.99 * alpha;
  const double rise = curve.beta_at(Interval::exactly(away), direction).lo - beta.lo;
  const double epsilon = std::log(rise / (alpha - away));
  return std::isfinite(epsilon) ? std::optional(epsilon) : std::nullopt;
}

/// The epsilon that decides the answer; empty if no profile is summed.
std::optional<double> decided_at(const CertifiedAnswer& one, const Curve& curve) {
  if (one.ask == Ask::mu || one.at == "inf") return std::nullopt;
  if (one.ask == Ask::epsilon) {  // at the lower end delta is still positive, even next to the largest loss
    const double end = one.answer.lo > 0 ? one.answer.lo : one.answer.hi;
    return std::isfinite(end) ? std::optional(end) : std::nullopt;
  }
  const double at = read_number(one.at).value.lo;
  if (one.ask == Ask::delta) return std::isfinite(at) ? std::optional(at) : std::nullopt;
  return threshold_of(curve, one.direction, at, one.ask == Ask::beta ? one.answer : 1.0 - one.answer);
}

std::vector<Evaluation> evaluations_for(const CertifiedAnswer& one, const Curve& curve) {
  std::vector<Evaluation> all;
  if (const auto epsilon = decided_at(one, curve)) {
    for (const Direction direction : directions_of(curve, one.direction)) {
      const std::vector<Evaluation> found = evaluations_of(*loss_of(curve), direction, *epsilon);
      for (const Evaluation& evaluation : found)
        if (evaluation.log_delta.lo > -infinity) all.push_back(evaluation);  // the others found no bound, or delta = 0
    }
  }
  return all;
}

// ---- verifying ----

bool holds(Interval outer, Interval inner) { return outer.lo <= inner.lo && inner.hi <= outer.hi; }
bool meets(Interval a, Interval b) { return a.lo <= b.hi && b.lo <= a.hi; }

/// If the recomputed interval is inside the certified one, the certified one is correct. If they are disjoint, one of them is wrong.
Verdict compare(const CertifiedAnswer& given, const CertifiedAnswer& again) {
  const bool both = given.log10 && again.log10;
  if (!meets(given.answer, again.answer) || (both && !meets(*given.log10, *again.log10))) return Verdict::refuted;
  if (holds(given.answer, again.answer) && (!given.log10 || (both && holds(*given.log10, *again.log10)))) return Verdict::confirmed;
  return Verdict::undecided;
}

std::string condition_of(const CertifiedAnswer& one) {
  std::string text = std::string(to_word(one.ask)) + " at " + std::string(argument_of(one.ask)) + " = " + one.at;
  if (one.direction != Direction::worst) text += one.direction == Direction::remove ? ", direction remove" : ", direction add";
  return text;
}

/// The curves of one plan, one per relative width.
class Curves {
 public:
  Curves(const Plan& plan, Neighbours neighbours) : plan_(plan), neighbours_(neighbours) {}
  const Curve& at(double relative) {
    const auto found = curves_.find(relative);
    if (found != curves_.end()) return found->second;
    return curves_.emplace(relative, analyze(plan_, neighbours_, {relative})).first->second;
  }

 private:
  const Plan& plan_;
  Neighbours neighbours_;
  std::map<double, Curve> curves_;
};

/// The method and the steps are correct if this program computes the same ones.
std::optional<Finding> verify_labels(const CertifiedAnswer& given, const CertifiedAnswer& again) {
  const auto same = [](const Step& a, const Step& b) { return a.theorem == b.theorem && a.detail == b.detail; };
  const std::string what = "how " + condition_of(given) + " was found";
  if (given.method != again.method)
    return Finding{Verdict::undecided, what,
                   "the certificate says method '" + given.method + "', this program uses '" + again.method + "'"};
  if (!std::equal(given.steps.begin(), given.steps.end(), again.steps.begin(), again.steps.end(), same))
    return Finding{Verdict::undecided, what, "the steps in the certificate are not those that this program takes"};
  return std::nullopt;
}

/// Each evaluation is itself a claim about delta.
std::optional<Finding> verify_evaluations(const CertifiedAnswer& given, const Curve& curve) {
  for (const Evaluation& one : given.evaluations) {
    const Interval found = curve.log_delta_at(Interval::exactly(one.epsilon), one.direction);
    if (meets(one.log_delta, found)) continue;
    return Finding{Verdict::refuted, "an evaluation behind " + condition_of(given),
                   "log delta at epsilon = " + numeric::to_string(numeric::exact_decimal(one.epsilon)) + " was certified " +
                       between(one.log_delta) + ", and is found " + between(found)};
  }
  return std::nullopt;
}

void verify_answer(const CertifiedAnswer& given, Curves& curves, std::vector<Finding>& findings) {
  const double relative = read_number(given.relative).value.hi;
  const CertifiedAnswer first = certified(curves.at(relative), given);
  CertifiedAnswer again = first;
  Verdict verdict = compare(given, again);
  for (const double finer : {1e-9, 1e-12}) {  // a narrower interval may decide if the requested one does not
    if (verdict != Verdict::undecided || finer >= relative) continue;
    const CertifiedAnswer narrow = certified(curves.at(finer), given);
    again.answer = intersect(again.answer, narrow.answer);
    if (again.log10 && narrow.log10) again.log10 = intersect(*again.log10, *narrow.log10);
    verdict = compare(given, again);
  }
  findings.push_back({verdict, condition_of(given), "certified " + between(given.answer) + ", found " + between(again.answer)});
  if (const auto labels = verify_labels(given, first)) findings.push_back(*labels);
  if (const auto evaluation = verify_evaluations(given, curves.at(relative))) findings.push_back(*evaluation);
}

void verify_charge(const Charge& charge, Neighbours neighbours, std::vector<Finding>& findings) {
  Curves curves(charge.plan, neighbours);
  const Neighbours found = curves.at(Tolerance{}.relative).neighbours();
  if (found != neighbours)
    findings.push_back({Verdict::refuted, "neighbours",
                        std::string("the plan needs ") + to_word(found) + " neighbours, the certificate states " + to_word(neighbours)});
  for (const CertifiedAnswer& one : charge.guarantees) verify_answer(one, curves, findings);
}

/// The first field in which the two documents differ.
std::optional<std::string> difference(const Fields& given, const Fields& again) {
  const auto value_in = [](const Fields& fields, const std::string& name) {
    const auto found = fields.find(name);
    return found == fields.end() ? "nothing" : "'" + found->second + "'";
  };
  Fields all = given;
  all.insert(again.begin(), again.end());
  for (const auto& [name, value] : all)
    if (value_in(given, name) != value_in(again, name))
      return name + " is " + value_in(given, name).substr(0, 200) + " in the certificate, and " + value_in(again, name).substr(0, 200) +
             " from its settings";
  return std::nullopt;
}

std::string difference(const CertificateDocument& given, const CertificateDocument& again) {
  const auto plan_of = [](const std::optional<Charge>& charge) { return charge ? to_string(charge->plan) : "none"; };
  if (given.neighbours != again.neighbours)
    return std::string("neighbours are ") + to_word(given.neighbours) + " in the certificate, and " + to_word(again.neighbours) +
           " from its settings";
  if (to_string(given.charged.plan) != to_string(again.charged.plan))
    return "the charged plan is not the one of the settings: " + to_string(again.charged.plan);
  if (plan_of(given.planned) != plan_of(again.planned)) return "the planned run is not the one of the settings: " + plan_of(again.planned);
  if (const auto setting = difference(given.settings, again.settings)) return "settings: " + *setting;
  if (given.drawn.size() != again.drawn.size())
    return "drawn has " + std::to_string(given.drawn.size()) + " laws, the plan " + std::to_string(again.drawn.size());
  for (std::size_t i = 0; i < given.drawn.size(); ++i)
    if (const auto law = difference(given.drawn[i], again.drawn[i])) return "drawn: " + *law;
  return {};
}

Finding verify_origin(const CertificateDocument& document, const Recreation& recreate) {
  const std::string what = "the charged plan and the noise follow from the settings";
  if (recreate == nullptr) return {Verdict::undecided, what, "this program cannot compute them"};
  try {
    const std::string found = difference(document, recreate(document));
    if (found.empty()) return {Verdict::confirmed, what, "computed again, and the same"};
    if (document.version == TRADEOFF_VERSION) return {Verdict::refuted, what, found};
    return {Verdict::undecided, what, "version " + document.version + " wrote this, and version " TRADEOFF_VERSION " differs: " + found};
  } catch (const CertificateError&) {
    throw;
  } catch (const Error& error) {
    return {Verdict::refuted, what, std::string("the settings are not allowed: ") + error.what()};
  }
}

}  // namespace

CertifiedAnswer certified(const Curve& curve, CertifiedAnswer question) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return certified(curve, question); });
  question.log10.reset();
  Provenance found = provenance_of([&] {
    answer(curve, question);
    question.evaluations = evaluations_for(question, curve);
  });
  question.method = to_string(found.method);
  question.steps = std::move(found.steps);
  return question;
}

Charge charge_of(const Plan& plan, const Curve& curve, std::vector<CertifiedAnswer> questions) {
  Charge charge{plan, {}};
  for (CertifiedAnswer& question : questions) charge.guarantees.push_back(certified(curve, std::move(question)));
  return charge;
}

const char* to_word(Verdict verdict) {
  return verdict == Verdict::confirmed ? "confirmed" : verdict == Verdict::refuted ? "refuted" : "undecided";
}

Verdict worst_of(const std::vector<Finding>& findings) {
  const auto found = [&](Verdict verdict) {
    return std::any_of(findings.begin(), findings.end(), [=](const Finding& one) { return one.verdict == verdict; });
  };
  return found(Verdict::refuted) ? Verdict::refuted : found(Verdict::undecided) ? Verdict::undecided : Verdict::confirmed;
}

std::vector<Finding> verify(const CertificateDocument& document, const Recreation& recreate) {
  std::vector<Finding> findings;
  if (document.kind != CertificateKind::answer) findings.push_back(verify_origin(document, recreate));
  verify_charge(document.charged, document.neighbours, findings);
  if (document.planned) verify_charge(*document.planned, document.neighbours, findings);
  return findings;
}

Finding verify_released(const CertificateDocument& document, const std::string& sha256) {
  if (document.kind == CertificateKind::answer) throw CertificateError("kind", "is answer: nothing was released under this certificate");
  const std::string what = document.kind == CertificateKind::release ? "the released rows" : "the parameters of the model";
  if (sha256 == document.released) return {Verdict::confirmed, what, "their SHA-256 is that of the certificate"};
  return {Verdict::refuted, what, "their SHA-256 is " + sha256 + ", that of the certificate is " + document.released};
}

std::vector<std::string> taken_on_trust(const CertificateDocument& document) {
  std::vector<std::string> sentences = {"that the plan is what was run on the data, and that its sensitivities are right"};
  if (document.kind == CertificateKind::release)
    sentences = {"that the noise was really drawn, once, in secret, and added to the values",
                 "that the sensitivity of the values is at most what the plan says"};
  if (document.kind == CertificateKind::training)
    sentences = {"that the batches and the noise were really drawn, in secret, by this program's training step",
                 "that nothing else about the records was published"};
  sentences.emplace_back("that nothing else was computed from the same data");
  return sentences;
}

}  // namespace tradeoff::detail::report
