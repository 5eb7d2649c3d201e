// SPDX-License-Identifier: Apache-2.0
#include "report/exact_numbers.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "curve/curve_state.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "plan/exact_pair.h"
#include "plan/number.h"
#include "plan/vocabulary.h"

namespace tradeoff::detail::report {
namespace {

using numeric::Rational;

std::string text_of(const std::optional<Rational>& exact) { return exact ? to_string(numeric::to_quotient(*exact)) : std::string(); }

/// The text, if the number lies in the enclosure: another theorem may have given a smaller one. Of a value that was computed in doubles
/// both ends may be a few units too large.
std::string text_within(const std::optional<Rational>& exact, Interval found) {
  if (!exact) return {};
  const Interval value = numeric::enclose(numeric::to_quotient(*exact));
  constexpr double units = 1 + 0x1p-49;
  return value.lo <= found.hi && found.lo <= units * value.hi ? text_of(exact) : std::string();
}

std::optional<Rational> rho_of_gaussian(const Plan& plan, const Curve& curve) {
  const auto rho = loss_of(curve)->gaussian_mu() ? exact_rho(plan, vocabulary()) : std::nullopt;
  return rho && rho->is_exact ? std::optional(rho->value) : std::nullopt;
}

std::optional<ExactCorners> corners_of(const Plan& plan, Direction direction) {
  const auto pair = exact_pair(plan, vocabulary());
  return pair ? exact_corners(*pair, direction) : std::nullopt;
}

}  // namespace

std::string exact_rho(const Plan& plan, Interval found) {
  const auto rho = detail::exact_rho(plan, vocabulary());
  return rho ? text_within(rho->value, found) : std::string();
}

std::string exact_mu(const Plan& plan, const Curve& curve) { return text_of(root(product(rho_of_gaussian(plan, curve), 2))); }

std::string exact_divergence(const Plan& plan, const Number& order) {
  const auto rho = detail::exact_rho(plan, vocabulary());
  return rho && rho->is_exact ? text_of(product(exact_rational(order), rho->value)) : std::string();
}

// The loss is N(mu^2/2, mu^2): its second moment is mu^2 + mu^4/4 = 2 rho + rho^2.
ExactMoments exact_moments(const Plan& plan, const Curve& curve) {
  const auto rho = rho_of_gaussian(plan, curve);
  return {text_of(rho), text_of(sum(product(rho, 2), product(rho, rho)))};
}

std::string exact_loss(const Plan& plan, Interval found) {
  for (const WrittenGuarantee& stated : stated_guarantees(plan, vocabulary()))
    if (std::string text = text_within(exact_rational(stated.epsilon), found); !text.empty()) return text;
  const auto step = exact_loss_step(plan, vocabulary());
  if (!step || step->numerator == 0 || !(found.lo > 0)) return {};
  const Interval steps = found / numeric::enclose(numeric::to_quotient(*step));
  const double nearest = std::round(steps.lo);
  constexpr double most = 0x1p53;  // whole numbers are doubles up to here
  const bool only_one = steps.lo <= nearest && nearest <= steps.hi && steps.width() < 0.5 && nearest < most;
  return only_one ? text_of(product(step, static_cast<std::uint64_t>(nearest))) : std::string();
}

std::string exact_advantage(const Plan& plan, Interval found) {
  const auto corners = corners_of(plan, Direction::worst);
  return corners ? text_within(detail::exact_delta(*corners, Rational{1, 1}), found) : std::string();
}

std::string exact_chi_square(const Plan& plan, Direction direction, Interval found) {
  const auto corners = corners_of(plan, direction);
  return corners ? text_within(detail::exact_chi_square(*corners), found) : std::string();
}

// [membership-posterior] 1 - prior + prior * delta at the odds against.
std::string exact_guess(const Plan& plan, const Number& prior, Interval found) {
  const auto corners = corners_of(plan, Direction::worst);
  const auto chance = exact_rational(prior), rest = complement(chance), odds = ratio(rest, chance);
  if (!odds) return {};
  if (!corners) {  // a stated guarantee, at odds beyond its epsilon
    const auto stated = stated_guarantees(plan, vocabulary());
    const bool beyond = stated.size() == 1 && log(numeric::enclose(numeric::to_quotient(*odds))).lo >= stated.front().epsilon.value.hi;
    return beyond ? text_within(sum(rest, product(chance, exact_rational(stated.front().delta))), found) : std::string();
  }
  return text_within(sum(rest, product(chance, detail::exact_delta(*corners, *odds))), found);
}

std::string exact_factor(const Plan& plan, Interval found) {
  const auto corners = corners_of(plan, Direction::worst);
  if (!corners) return {};
  for (const Rational& factor : ratios_of(*corners))
    if (std::string text = text_within(factor, found); !text.empty()) return text;
  return {};
}

std::string exact_belief(const Plan& plan, const Number& prior, Interval found) {
  const auto corners = corners_of(plan, Direction::worst);
  const auto chance = exact_rational(prior);
  if (!corners) return {};
  for (const Rational& factor : ratios_of(*corners)) {
    const auto likely = product(chance, factor);
    if (std::string text = text_within(ratio(likely, sum(likely, complement(chance))), found); !text.empty()) return text;
  }
  return {};
}

std::string exact_posterior(const Plan& plan, const Number& prior, Interval found) {
  const auto corners = corners_of(plan, Direction::worst);
  const auto chance = exact_rational(prior), likely = corners ? product(chance, largest_ratio(*corners)) : std::nullopt;
  return text_within(ratio(likely, sum(likely, complement(chance))), found);
}

namespace {

std::optional<Rational> beta_of(const Plan& plan, const Number& alpha, Direction direction) {
  const auto place = exact_rational(alpha);
  const auto corners = corners_of(plan, direction);
  if (corners && place) return detail::exact_beta(*corners, *place);
  const auto stated = stated_guarantees(plan, vocabulary());
  return stated.size() == 1 && place && place->numerator == 0 ? complement(exact_rational(stated.front().delta)) : std::nullopt;
}

}  // namespace

std::string exact_beta(const Plan& plan, const Number& alpha, Direction direction, Interval found) {
  return text_within(beta_of(plan, alpha, direction), found);
}

std::string exact_tpr(const Plan& plan, const Number& fpr, Direction direction, Interval found) {
  return text_within(complement(beta_of(plan, fpr, direction)), found);
}

ExactCorner exact_corner(const Plan& plan, Direction direction, Interval epsilon, Interval delta) {
  for (const WrittenGuarantee& stated : stated_guarantees(plan, vocabulary())) {
    const std::string at = text_within(exact_rational(stated.epsilon), epsilon), value = text_within(exact_rational(stated.delta), delta);
    if (!at.empty() && !value.empty()) return {at, value};
  }
  if (const auto largest = exact_largest_loss(plan, vocabulary()); !text_within(largest, epsilon).empty()) return {text_of(largest), "0"};
  const auto corners = corners_of(plan, direction);
  if (!corners) return {};
  for (const Rational& ratio : ratios_of(*corners)) {
    const Interval loss = log(numeric::enclose(numeric::to_quotient(ratio)));
    constexpr double rounding = 1e-14;
    if (!(loss.lo <= epsilon.hi + rounding && epsilon.lo - rounding <= loss.hi)) continue;
    return {ratio == Rational{1, 1} ? "0" : "", text_within(detail::exact_delta(*corners, ratio), delta)};
  }
  return {};
}

std::string exact_delta(const Plan& plan, const Number& epsilon, Direction direction, Interval found) {
  if (epsilon.value.lo == 0 && epsilon.value.hi == 0) {
    if (std::string exact = exact_advantage(plan, found); !exact.empty()) return exact;
  } else if (const auto corners = corners_of(plan, direction)) {
    // Beyond the largest finite loss only the mass at infinite loss is left.
    const std::vector<Rational> ratios = ratios_of(*corners);
    const double last = ratios.empty() ? 0 : log(numeric::enclose(numeric::to_quotient(ratios.front()))).hi;
    if (epsilon.value.lo >= last) return text_within(complement(corners->front().second), found);
  }
  const auto stated = stated_guarantees(plan, vocabulary());
  return stated.size() == 1 && surely_at_most(stated.front().epsilon, epsilon) ? stated.front().delta.text : std::string();
}

// [largest-loss] [canonical-constraints]
std::string exact_epsilon(const Plan& plan, const Number& delta, Interval found) {
  if (delta.value.hi == 0)
    if (const auto largest = exact_largest_loss(plan, vocabulary())) return text_of(largest);
  for (const WrittenGuarantee& stated : stated_guarantees(plan, vocabulary())) {
    const bool same = surely_at_most(stated.delta, delta) && surely_at_most(delta, stated.delta) && delta.value.hi < 1;
    if (!same) continue;
    if (std::string text = text_within(exact_rational(stated.epsilon), found); !text.empty()) return text;
  }
  return {};
}

}  // namespace tradeoff::detail::report
