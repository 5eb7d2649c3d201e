// SPDX-License-Identifier: Apache-2.0
#include "report/exact_numbers.h"

#include <cmath>
#include <cstdint>
#include <optional>

#include "curve/curve_state.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
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
  const auto step = exact_loss_step(plan, vocabulary());
  if (!step || step->numerator == 0 || !(found.lo > 0)) return {};
  const Interval steps = found / numeric::enclose(numeric::to_quotient(*step));
  const double nearest = std::round(steps.lo);
  constexpr double most = 0x1p53;  // whole numbers are doubles up to here
  const bool only_one = steps.lo <= nearest && nearest <= steps.hi && steps.width() < 0.5 && nearest < most;
  return only_one ? text_of(product(step, static_cast<std::uint64_t>(nearest))) : std::string();
}

std::string exact_advantage(const Plan& plan) { return text_of(detail::exact_advantage(plan, vocabulary())); }

std::string exact_delta(const Plan& plan, const Number& epsilon) {
  if (epsilon.value.lo == 0 && epsilon.value.hi == 0) return exact_advantage(plan);
  const auto stated = stated_guarantees(plan, vocabulary());
  return stated.size() == 1 && surely_at_most(stated.front().epsilon, epsilon) ? stated.front().delta.text : std::string();
}

std::string exact_epsilon(const Plan& plan, const Number& delta) {
  const auto stated = stated_guarantees(plan, vocabulary());
  const bool same = stated.size() == 1 && surely_at_most(stated.front().delta, delta) && surely_at_most(delta, stated.front().delta);
  return same && delta.value.hi < 1 ? stated.front().epsilon.text : std::string();
}

}  // namespace tradeoff::detail::report
