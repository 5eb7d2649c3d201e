// SPDX-License-Identifier: Apache-2.0
#include <compare>
#include <optional>

#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "plan/number.h"
#include "tradeoff/plan.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

std::optional<numeric::Rational> detail::exact_rational(const Number& number) {
  const auto quotient = numeric::read_quotient(number.text);
  return quotient ? numeric::exact_rational(*quotient) : std::nullopt;
}

std::optional<std::strong_ordering> detail::exact_order(const Number& a, const Number& b) {
  if (a.value.hi < b.value.lo) return std::strong_ordering::less;
  if (a.value.lo > b.value.hi) return std::strong_ordering::greater;
  if (a.text == b.text) return std::strong_ordering::equal;
  const auto first = numeric::read_decimal(a.text), second = numeric::read_decimal(b.text);
  if (first && second) return numeric::compare(*first, *second);
  const auto one = exact_rational(a), other = exact_rational(b);
  if (one && other) return numeric::compare(*one, *other);
  return std::nullopt;
}

bool surely_at_most(const Number& a, const Number& b) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return surely_at_most(a, b); });

  const auto order = exact_order(a, b);
  return a.value.hi <= b.value.lo || (order && *order != std::strong_ordering::greater);
}

std::vector<WrittenGuarantee> detail::stated_guarantees(const Plan& plan, const Vocabulary& vocabulary) {
  if (plan.lines.size() != 1 || !plan.lines.front().operators.empty()) return {};
  const auto* call = std::get_if<Call>(&plan.lines.front().source);
  const Word* word = call == nullptr ? nullptr : vocabulary.find(Role::source, call->name);
  if (word == nullptr || word->guarantees == nullptr) return {};
  return word->guarantees(Arguments(*call, vocabulary));
}

namespace {

std::optional<numeric::Rational> largest_loss_of(const Call& source, const Vocabulary& vocabulary) {
  const Word* word = vocabulary.find(Role::source, source.name);
  if (word == nullptr || word->largest_loss == nullptr) return std::nullopt;
  return word->largest_loss(Arguments(source, vocabulary));
}

/// [largest-loss] By how much an operator multiplies the largest loss: the runs add up, and so do the changes of a group.
std::optional<std::uint64_t> factor_of(const Call& operation, const Vocabulary& vocabulary) {
  const Word* word = vocabulary.find(Role::operation, operation.name);
  if (word != nullptr && word->times != nullptr) return word->times(Arguments(operation, vocabulary));
  if (word != nullptr && word->records != nullptr) return word->records(Arguments(operation, vocabulary));
  return std::nullopt;
}

std::optional<numeric::Rational> largest_loss_of(const Line& line, const Vocabulary& vocabulary) {
  const auto* call = std::get_if<Call>(&line.source);
  auto largest = call != nullptr ? largest_loss_of(*call, vocabulary) : exact_largest_loss(std::get<Plan>(line.source), vocabulary);
  for (const Call& operation : line.operators) {
    const auto factor = largest ? factor_of(operation, vocabulary) : std::nullopt;
    if (!factor) return std::nullopt;
    largest = product(largest, *factor);
  }
  return largest;
}

}  // namespace

std::optional<numeric::Rational> detail::exact_largest_loss(const Plan& plan, const Vocabulary& vocabulary) {
  std::optional<numeric::Rational> total = numeric::Rational{};
  for (const Line& line : plan.lines)
    if (!(total = sum(total, largest_loss_of(line, vocabulary)))) break;
  return total;
}

namespace {

std::optional<ExactRho> rho_of(const Call& source, const Vocabulary& vocabulary) {
  const Word* word = vocabulary.find(Role::source, source.name);
  if (word == nullptr) return std::nullopt;
  const Arguments arguments(source, vocabulary);
  const bool is_exact = word->rho != nullptr;
  const auto largest = is_exact || word->largest_loss == nullptr ? std::nullopt : word->largest_loss(arguments);
  const auto rho = is_exact ? word->rho(arguments) : ratio(product(largest, largest), numeric::Rational{2, 1});
  return rho ? std::optional(ExactRho{*rho, is_exact}) : std::nullopt;
}

std::optional<ExactRho> rho_of(const Line& line, const Vocabulary& vocabulary) {
  const auto* call = std::get_if<Call>(&line.source);
  auto found = call != nullptr ? rho_of(*call, vocabulary) : exact_rho(std::get<Plan>(line.source), vocabulary);
  for (const Call& operation : line.operators) {
    const auto factor = found ? factor_of(operation, vocabulary) : std::nullopt;
    if (!factor) return std::nullopt;
    const bool grouped = vocabulary.find(Role::operation, operation.name)->records != nullptr;
    auto rho = product(found->value, *factor);
    if (grouped) rho = product(rho, *factor);
    if (!rho) return std::nullopt;
    found->value = *rho;
  }
  return found;
}

}  // namespace

std::optional<ExactRho> detail::exact_rho(const Plan& plan, const Vocabulary& vocabulary) {
  ExactRho total{};
  for (const Line& line : plan.lines) {
    const auto one = rho_of(line, vocabulary);
    const auto both = one ? sum(total.value, one->value) : std::nullopt;
    if (!both) return std::nullopt;
    total = {*both, total.is_exact && one->is_exact};
  }
  return total;
}

std::optional<numeric::Rational> detail::exact_loss_step(const Plan& plan, const Vocabulary& vocabulary) {
  if (plan.lines.size() != 1) return std::nullopt;
  const Line& line = plan.lines.front();
  const auto* call = std::get_if<Call>(&line.source);
  const Word* word = call == nullptr ? nullptr : vocabulary.find(Role::source, call->name);
  if (word == nullptr || word->loss_step == nullptr) return std::nullopt;
  for (const Call& operation : line.operators)
    if (vocabulary.find(Role::operation, operation.name)->times == nullptr) return std::nullopt;
  return word->loss_step(Arguments(*call, vocabulary));
}

}  // namespace tradeoff
