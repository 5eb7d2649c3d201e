// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/sgd.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

using numeric::Decimal;

constexpr std::uint64_t most_examples = 1'000'000'000'000, most_steps = 1'000'000'000'000;

[[noreturn]] void refuse(const std::string& name, const std::string& value, const std::string& allowed) {
  throw DomainError("sgd: " + name + " = " + value.substr(0, 40) + " is not allowed; it must be " + allowed);
}

/// The exact product.
Decimal times(const Decimal& decimal, std::uint64_t factor) {
  Decimal product{decimal.negative, {}, decimal.exponent};
  std::uint64_t carry = 0;  // at most 10 times a factor, which is at most 1e12
  for (auto digit = decimal.digits.rbegin(); digit != decimal.digits.rend() || carry > 0;) {
    if (digit != decimal.digits.rend()) carry += static_cast<std::uint64_t>(*digit++ - '0') * factor;
    product.digits += static_cast<char>('0' + static_cast<int>(carry % 10));
    carry /= 10;
  }
  std::reverse(product.digits.begin(), product.digits.end());
  while (product.digits.size() > 1 && product.digits.back() == '0') {  // canonical: no trailing zeros
    product.digits.pop_back();
    ++product.exponent;
  }
  return product;
}

void check_sizes(std::uint64_t batch, std::uint64_t examples) {
  if (!(examples >= 1 && examples <= most_examples)) refuse("examples", std::to_string(examples), "a whole number from 1 to 1e12");
  if (!(batch >= 1 && batch <= examples))
    refuse("batch", std::to_string(batch), "a whole number from 1 to examples = " + std::to_string(examples));
}

std::uint64_t steps_of(const SgdRun& run) {
  check_sizes(run.batch, run.examples);
  if (run.epochs.has_value() == run.steps.has_value()) throw DomainError("sgd: state either epochs or steps");
  if (run.epochs) return steps_of_epochs(*run.epochs, run.batch, run.examples);
  if (!(*run.steps >= 1 && *run.steps <= most_steps)) refuse("steps", std::to_string(*run.steps), "a whole number from 1 to 1e12");
  return *run.steps;
}

std::string remark_of(Sampling sampling) {
  switch (sampling) {
    case Sampling::poisson:
      return "Sampling: poisson, every example joins each batch independently; add-remove neighbours.";
    case Sampling::fixed:
      return "Sampling: fixed, each batch is a fresh sample of fixed size without replacement; replace-one neighbours.";
    case Sampling::shuffled:
      break;
  }
  return "Sampling: shuffled, every example is in one batch of each epoch, so an epoch costs one step; replace-one neighbours. "
         "No amplification by sampling is claimed, because no theorem for it is implemented.";
}

std::string operations_of(const SgdRun& run, std::uint64_t steps) {
  const std::string size = std::to_string(run.batch), of = std::to_string(run.examples);
  switch (run.sampling) {
    case Sampling::poisson:
      return " | poisson(rate=" + size + "/" + of + ") | repeat(" + std::to_string(steps) + ")";
    case Sampling::fixed:
      return " | sample(size=" + size + ", of=" + of + ") | repeat(" + std::to_string(steps) + ")";
    case Sampling::shuffled:
      break;
  }
  if (!run.epochs) throw DomainError("sgd: with shuffled batches state epochs instead of steps: an epoch costs one step");
  return " | repeat(" + std::to_string(steps_of_epochs(*run.epochs, 1, 1)) + ")";
}

}  // namespace

const char* to_word(Sampling sampling) {
  return sampling == Sampling::poisson ? "poisson" : sampling == Sampling::fixed ? "fixed" : "shuffled";
}

Sampling read_sampling(const std::string& word) {
  for (const Sampling sampling : {Sampling::poisson, Sampling::fixed, Sampling::shuffled})
    if (word == to_word(sampling)) return sampling;
  refuse(
      "sampling", word,
      "poisson, fixed or shuffled. A data loader that shuffles is 'shuffled': the amplification of Poisson sampling does not hold for it");
}

Neighbours neighbours_of(Sampling sampling) { return sampling == Sampling::poisson ? Neighbours::add_remove : Neighbours::replace_one; }

std::uint64_t steps_of_epochs(const Number& epochs, std::uint64_t batch, std::uint64_t examples) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return steps_of_epochs(epochs, batch, examples); });

  check_sizes(batch, examples);
  const auto passes = numeric::read_quotient(epochs.text);
  if (!passes || !(epochs.value.lo >= 0) || passes->numerator.is_zero()) refuse("epochs", epochs.text, "a number above 0");
  const Interval rough = epochs.value * (Interval::exactly(static_cast<double>(examples)) / Interval::exactly(static_cast<double>(batch)));
  if (!(rough.hi <= static_cast<double>(most_steps))) refuse("epochs", epochs.text, "at most 1e12 steps");
  const bool negative = passes->denominator.negative;  // then both are negative
  const auto positive = [&](Decimal decimal) {
    decimal.negative = decimal.negative != negative;
    return decimal;
  };
  const Decimal wanted = times(positive(passes->numerator), examples), one = times(positive(passes->denominator), batch);
  // Below 1e12 the enclosure contains at most two whole numbers: start at its lower end and go up to the first that suffices.
  auto steps = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::floor(rough.lo)));
  while (numeric::compare(wanted, times(one, steps)) == std::strong_ordering::greater) ++steps;
  return steps;
}

std::string noisy_sum(const std::string& noise_multiplier, Neighbours neighbours) {
  return "gaussian(sigma=" + noise_multiplier + (neighbours == Neighbours::replace_one ? ", sensitivity=2)" : ")");
}

SgdPlan to_plan(const SgdRun& run) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return to_plan(run); });

  const std::uint64_t steps = steps_of(run);
  if (run.noise_multiplier != "?") {
    const auto noise = numeric::read_quotient(run.noise_multiplier);
    if (!noise || !(numeric::enclose(*noise).lo > 0)) refuse("noise multiplier", run.noise_multiplier, "a number above 0");
  }
  const Neighbours spoken = neighbours_of(run.sampling);
  if (run.neighbours != Neighbours::unstated && run.neighbours != spoken) {
    const bool added = spoken == Neighbours::add_remove;
    refuse(
        "neighbours", added ? "replace-one" : "add-remove",
        std::string(added ? "add-remove" : "replace-one") + " for " + to_word(run.sampling) + " batches: no other theorem is implemented");
  }
  const std::string unit = "Noise multiplier: standard deviation of the noise on the sum of clipped gradients / clipping norm. " +
                           std::string(spoken == Neighbours::add_remove
                                           ? "One record added or removed moves the sum by at most the clipping norm."
                                           : "One record replaced moves the sum by up to twice the clipping norm, hence sensitivity 2.");
  return {noisy_sum(run.noise_multiplier, spoken) + operations_of(run, steps), unit, remark_of(run.sampling), spoken};
}

}  // namespace tradeoff
