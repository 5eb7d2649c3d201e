// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/number_text.h"
#include "plan/neighbours.h"
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

/// The rate as an exact quotient of whole numbers up to 1e12, if it is one.
std::optional<BatchOfRate> whole_quotient(const std::string& text) {
  const auto quotient = numeric::read_quotient(text);
  constexpr std::size_t most_digits = 18;
  if (!quotient || quotient->numerator.digits.size() > most_digits || quotient->denominator.digits.size() > most_digits)
    return std::nullopt;
  std::uint64_t top = std::stoull(quotient->numerator.digits), bottom = std::stoull(quotient->denominator.digits);
  std::int64_t tens = quotient->numerator.exponent - quotient->denominator.exponent;
  for (; tens != 0; tens += tens < 0 ? 1 : -1) {
    std::uint64_t& scaled = tens < 0 ? bottom : top;
    if (scaled > std::numeric_limits<std::uint64_t>::max() / 10) return std::nullopt;
    scaled *= 10;
  }
  const std::uint64_t common = std::gcd(top, bottom);
  if (bottom / common > most_examples) return std::nullopt;
  return BatchOfRate{top / common, bottom / common};
}

/// The first convergent of the continued fraction that the doubles around the rate enclose, or the next larger multiple of 1e-12.
BatchOfRate simplest_quotient(Interval rate) {
  double rest = middle_of(rate);
  std::uint64_t top = 1, earlier_top = 0, bottom = 0, earlier_bottom = 1;
  for (;;) {
    const double whole = std::floor(rest);
    if (!(whole * static_cast<double>(bottom) + static_cast<double>(earlier_bottom) <= static_cast<double>(most_examples))) break;
    const auto times = static_cast<std::uint64_t>(whole);
    earlier_top = std::exchange(top, times * top + earlier_top);
    earlier_bottom = std::exchange(bottom, times * bottom + earlier_bottom);
    const double value = static_cast<double>(top) / static_cast<double>(bottom);
    if (top >= 1 && value >= rate.lo && value <= rate.hi) return {top, bottom};
    if (rest == whole) break;
    rest = 1 / (rest - whole);
  }
  const double steps = std::ceil((rate * static_cast<double>(most_examples)).hi);
  return {std::min(most_examples, static_cast<std::uint64_t>(steps)), most_examples};
}

std::uint64_t ceiling(std::uint64_t top, std::uint64_t bottom) { return top / bottom + (top % bottom == 0 ? 0 : 1); }

std::string count_of(std::uint64_t count, const std::string& what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); }

/// The batches of an epoch, and the epochs: of the stated epochs or steps, the last epoch as a whole one.
struct Epochs {
  std::uint64_t batches;
  std::uint64_t passes;
  bool whole;  // the run ends with an epoch
};

Epochs epochs_of(const SgdRun& run, std::uint64_t steps) {
  const std::uint64_t batches = ceiling(run.examples, run.batch);
  if (!run.epochs) return {batches, ceiling(steps, batches), steps % batches == 0};
  const std::uint64_t passes = steps_of_epochs(*run.epochs, 1, 1);
  return {batches, passes, surely_at_most(read_number(std::to_string(passes)), *run.epochs)};
}

Neighbours agreed_neighbours(const SgdRun& run) {
  const std::vector<Neighbours>& known = neighbours_of(run.sampling);
  const bool correlated = !run.matrix.empty() && run.sampling != Sampling::cyclic;
  if (run.neighbours == Neighbours::unstated) return correlated ? Neighbours::zero_out : known.front();
  std::string words;
  for (const Neighbours one : known) {
    if (correlated && one == Neighbours::add_remove) continue;
    if (one == run.neighbours) return one;
    words += (words.empty() ? "" : " or ") + std::string(detail::to_word(one));
  }
  refuse("neighbours", detail::to_word(run.neighbours), words + " for " + to_word(run.sampling) + " batches: no other theorem is known");
}

/// Refuses combinations for which nothing is proved, and says what is accounted for instead.
void check_combination(const SgdRun& run) {
  const std::string sampling = to_word(run.sampling);
  const auto only = [&](bool stated, Sampling where, const std::string& what, const std::string& instead) {
    if (stated && run.sampling != where)
      throw DomainError("sgd: " + what + " is accounted for with " + to_word(where) + " batches only, not with " + sampling + instead);
  };
  only(run.per_user > 1, Sampling::poisson, "a user with several examples", "; or protect one example");
  only(run.at_most.has_value(), Sampling::poisson, "a largest batch",
       run.sampling == Sampling::cyclic
           ? "; a group is gaussian(...) | poisson(rate, of, of_is=at_most, at_most) | repeat(rounds), where of "
             "bounds the size of every group"
           : "");
  only(run.groups.has_value(), Sampling::cyclic, "a number of groups", "");
  if (run.sampling == Sampling::cyclic && !run.groups)
    throw DomainError("sgd: cyclic batches need groups, the number of groups that take turns");
  if (run.reuse && run.sampling != Sampling::shuffled && run.sampling != Sampling::allocated)
    throw DomainError("sgd: reuse is for shuffled and allocated batches; " + sampling + " batches are drawn afresh in every step");
  if (run.per_user > 1 && run.at_most)
    throw DomainError("sgd: per_user with at_most is not accounted for: the examples of a user displace each other from a full batch");
  if (run.layers == 0) refuse("layers", "0", "a whole number from 1 to 1e12");
  if (run.per_user == 0) refuse("per_user", "0", "a whole number from 1 to 1e12");
  if (run.at_most && *run.at_most == 0) refuse("at_most", "0", "a whole number from 1 to 1e12");
  if (run.groups && !(*run.groups >= 1 && *run.groups <= run.examples / run.batch))
    refuse(
        "groups", std::to_string(*run.groups),
        "a whole number from 1 to examples / batch = " + std::to_string(run.examples / run.batch) + ", because a group must fill a batch");
  if (run.matrix.empty()) return;
  if (run.sampling != Sampling::cyclic && run.sampling != Sampling::shuffled)
    throw DomainError("sgd: a matrix is accounted for with shuffled batches, and with cyclic ones if it is banded; no amplification by " +
                      sampling + " sampling is proved");
  if (run.layers > 1 || run.count_noise || !run.further_noise_multipliers.empty())
    throw DomainError("sgd: several releases on one batch are not accounted for with a matrix; write one matrix(...) for each in a plan");
}

void check_positive(const std::string& name, const std::string& text) {
  const auto value = numeric::read_quotient(text);
  if (!value || !(numeric::enclose(*value).lo > 0)) refuse(name, text, "a number above 0");
}

/// One noisy sum of values whose norm is at most `norm`, "1" or "1/2".
std::string noisy_sum_of(const std::string& noise, const std::string& norm, const SgdRun& run, Neighbours neighbours) {
  std::string more;
  if (run.sampling == Sampling::fixed)
    more = std::string(", sensitivity=") + (norm == "1" ? "2" : "1");  // twice the norm: a record is replaced
  else if (neighbours == Neighbours::replace_one)
    more = ", clip=" + norm;
  else if (norm != "1")
    more = ", sensitivity=" + norm;
  return "gaussian(sigma=" + noise + more + ")";
}

/// Everything that is released on one batch.
std::string releases_of(const SgdRun& run, Neighbours neighbours) {
  std::string gradients = noisy_sum_of(run.noise_multiplier, "1", run, neighbours);
  if (run.noise_is_total) return gradients;
  if (run.layers > 1) gradients += " | repeat(" + std::to_string(run.layers) + ")";
  std::string further;
  if (run.count_noise) further += "; " + noisy_sum_of(run.count_noise->text, "1/2", run, neighbours);
  for (const Number& noise : run.further_noise_multipliers) further += "; " + noisy_sum_of(noise.text, "1", run, neighbours);
  return further.empty() ? gradients : "(" + gradients + further + ")";
}

std::string releases_text(const SgdRun& run) {
  std::string text;
  if (run.layers > 1)
    text += "the gradients of " + count_of(run.layers, "layer") + ", each clipped on its own and with the noise multiplier stated";
  if (run.count_noise)
    text += std::string(text.empty() ? "the gradients" : "") + ", the count of gradients within the norm with noise " +
            run.count_noise->text + ", where each example counts -1/2 or 1/2";
  if (const std::size_t more = run.further_noise_multipliers.size(); more > 0)
    text += std::string(text.empty() ? "the gradients" : "") + ", " + count_of(more, "further release");
  if (text.empty()) return {};
  return "Released on each batch: " + text + ".";
}

std::string repeat_of(std::uint64_t times) { return " | repeat(" + std::to_string(times) + ")"; }

std::string by_poisson(const SgdRun& run, std::uint64_t steps, Neighbours neighbours) {
  std::string arguments = "rate=" + std::to_string(run.batch) + "/" + std::to_string(run.examples);
  // With one record added or removed the size is no public number: only a bound of it is used.
  if (run.at_most && *run.at_most < run.examples)
    arguments += ", of=" + std::to_string(run.examples) + (neighbours == Neighbours::add_remove ? ", of_is=at_most" : "") +
                 ", at_most=" + std::to_string(*run.at_most);
  if (run.per_user > 1) arguments += ", examples=" + std::to_string(run.per_user);
  return " | poisson(" + arguments + ")" + repeat_of(steps);
}

std::string by_epochs(const SgdRun& run, const Epochs& epochs) {
  const std::string batches = std::to_string(epochs.batches), passes = std::to_string(epochs.passes);
  if (run.sampling == Sampling::shuffled) {
    return " | shuffle(batches=" + batches + (epochs.passes == 1 ? "" : ", passes=" + passes) + (run.reuse ? ", reuse=true)" : ")");
  }
  if (run.reuse && epochs.passes > 1) return " | allocate(steps=" + batches + ", passes=" + passes + ")";
  return " | allocate(steps=" + batches + ")" + (epochs.passes == 1 ? "" : repeat_of(epochs.passes));
}

std::string by_groups(const SgdRun& run, std::uint64_t steps, Neighbours neighbours) {
  const std::uint64_t groups = *run.groups;  // batch * groups <= examples
  // A replaced record must stay in its group where the noise is correlated, so the groups are then cut by position.
  const bool position = !run.matrix.empty() && neighbours == Neighbours::replace_one;
  return " | cyclic(groups=" + std::to_string(groups) + ", rate=" + std::to_string(run.batch * groups) + "/" +
         std::to_string(run.examples) + ", steps=" + std::to_string(steps) + (position ? ", by=position)" : ")");
}

/// Correlated noise, with the steps in which one record takes part.
std::string matrix_of(const SgdRun& run, std::uint64_t steps) {
  std::string participation;
  if (run.sampling == Sampling::shuffled) {
    const Epochs epochs = epochs_of(run, steps);
    if (epochs.passes > most_steps / epochs.batches) refuse("epochs", std::to_string(epochs.passes), "at most 1e12 steps");
    if (run.epochs) steps = epochs.batches * epochs.passes;  // the last batch of an epoch may be smaller
    if (epochs.passes > 1) participation = ", participations=" + std::to_string(epochs.passes);
    // A record may be in the last batch of an epoch and in the first of the next, unless the order is the same.
    if (epochs.passes > 1 && run.reuse) participation += ", separation=" + std::to_string(epochs.batches) + ", pattern=every";
  }
  return "matrix(sigma=" + run.noise_multiplier + ", " + run.matrix + ", steps=" + std::to_string(steps) + participation + ", clip=1)";
}

std::string operations_of(const SgdRun& run, std::uint64_t steps, Neighbours neighbours) {
  switch (run.sampling) {
    case Sampling::poisson:
      return by_poisson(run, steps, neighbours);
    case Sampling::fixed:
      return " | sample(size=" + std::to_string(run.batch) + ", of=" + std::to_string(run.examples) + ")" + repeat_of(steps);
    case Sampling::cyclic:
      return by_groups(run, steps, neighbours);
    case Sampling::shuffled:
    case Sampling::allocated:
      break;
  }
  return run.matrix.empty() ? by_epochs(run, epochs_of(run, steps)) : "";
}

/// How batches are drawn, in words.
std::string drawn_text(const SgdRun& run, std::uint64_t steps, Neighbours neighbours) {
  switch (run.sampling) {
    case Sampling::poisson: {
      std::string text = "every example joins each batch independently";
      if (run.at_most)
        text += ", and of more than " + std::to_string(*run.at_most) + " drawn a random " + std::to_string(*run.at_most) + " are kept";
      if (run.at_most && neighbours == Neighbours::add_remove) text += "; both data sets have at most " + count_of(run.examples, "example");
      return text;
    }
    case Sampling::fixed:
      return "each batch is a fresh sample of fixed size without replacement";
    case Sampling::cyclic:
      return count_of(*run.groups, "group") +
             " take turns, and every example of the group joins the batch independently; the groups do not depend on the data";
    case Sampling::shuffled:
    case Sampling::allocated:
      break;
  }
  const Epochs epochs = epochs_of(run, steps);
  const bool shuffled = run.sampling == Sampling::shuffled;
  std::string text = shuffled ? "every epoch cuts a shuffled order of the data into " + std::to_string(epochs.batches) +
                                    (epochs.batches == 1 ? " batch" : " batches")
                              : "every example draws one of the " + count_of(epochs.batches, "step") + " of an epoch";
  if (epochs.passes > 1)
    text += run.reuse ? ", and every epoch uses the same " + std::string(shuffled ? "order" : "draw") : ", afresh in every epoch";
  if (shuffled && run.examples % run.batch != 0)
    text += "; the last batch of an epoch is smaller, for which the upper ends hold, and the lower ends are those of equal batches";
  if (!epochs.whole) text += "; counted as " + count_of(epochs.passes, "whole epoch");
  if (shuffled && run.matrix.empty()) text += "; Poisson sampling is no model of it";
  return text;
}

std::string unit_text(const SgdRun& run, Neighbours neighbours) {
  const std::string who = run.per_user > 1 ? "example" : "record";
  std::string unit = run.matrix.empty()
                         ? "Noise multiplier: standard deviation of the noise on the sum of clipped gradients / clipping norm. "
                         : "Noise multiplier: standard deviation of the noise before it is correlated / clipping norm. ";
  if (run.noise_is_total) unit = "Noise multiplier: of all releases on a batch together, as one Gaussian release. ";
  if (neighbours == Neighbours::replace_one)
    return unit + "One " + who + " replaced moves the sum by up to twice the clipping norm" +
           (run.sampling == Sampling::fixed ? ", hence sensitivity 2." : ".");
  return unit + "One " + who + " added, removed or set to zero moves the sum by at most the clipping norm.";
}

}  // namespace

const char* to_word(Sampling sampling) {
  switch (sampling) {
    case Sampling::poisson:
      return "poisson";
    case Sampling::fixed:
      return "fixed";
    case Sampling::shuffled:
      return "shuffled";
    case Sampling::allocated:
      return "allocated";
    case Sampling::cyclic:
      break;
  }
  return "cyclic";
}

Sampling read_sampling(const std::string& word) {
  for (const Sampling sampling : {Sampling::poisson, Sampling::fixed, Sampling::shuffled, Sampling::allocated, Sampling::cyclic})
    if (word == to_word(sampling)) return sampling;
  refuse("sampling", word,
         "poisson, fixed, shuffled, allocated or cyclic. A data loader that shuffles is 'shuffled': the amplification of Poisson sampling "
         "does not hold for it");
}

const std::vector<Neighbours>& neighbours_of(Sampling sampling) {
  static const std::vector<Neighbours> all = {Neighbours::add_remove, Neighbours::zero_out, Neighbours::replace_one};
  static const std::vector<Neighbours> same_size = {Neighbours::zero_out, Neighbours::replace_one};
  static const std::vector<Neighbours> replaced = {Neighbours::replace_one};
  return sampling == Sampling::fixed ? replaced : sampling == Sampling::shuffled ? same_size : all;
}

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

BatchOfRate batch_of_rate(const Number& rate, std::optional<std::uint64_t> examples, Sampling sampling) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return batch_of_rate(rate, examples, sampling); });

  if (!(rate.value.lo > 0 && rate.value.hi <= 1)) refuse("sample_rate", rate.text, "above 0 and at most 1");
  if (examples) {
    check_sizes(1, *examples);
    constexpr double rounding = 1e-9;  // of a rate that another program printed
    const double batch = rate.value.lo * static_cast<double>(*examples), whole = std::round(batch);
    if (whole >= 1 && std::abs(batch - whole) <= rounding * whole) return {static_cast<std::uint64_t>(whole), *examples};
  }
  if (sampling != Sampling::poisson) {
    if (!examples) throw DomainError("sgd: examples is missing: a rate alone describes poisson batches only");
    refuse("sample_rate", rate.text,
           "a whole number of the " + std::to_string(*examples) + " examples for " + to_word(sampling) +
               " batches; write it as a quotient, as in 256/60000, or state the batch");
  }
  if (const auto exact = whole_quotient(rate.text)) return *exact;
  return simplest_quotient(rate.value);
}

std::string noisy_sum(const std::string& noise_multiplier, Neighbours neighbours) {
  return "gaussian(sigma=" + noise_multiplier + (neighbours == Neighbours::replace_one ? ", sensitivity=2)" : ")");
}

ReleaseNoise release_noise(const SgdRun& run) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return release_noise(run); });

  check_positive("noise multiplier", run.noise_multiplier);
  const Interval stated = read_number(run.noise_multiplier).value, one = Interval::exactly(1);
  const Interval layers = Interval::exactly(static_cast<double>(run.layers));
  Interval others = Interval::exactly(0);
  if (run.count_noise) others = others + one / square(2.0 * run.count_noise->value);
  for (const Number& noise : run.further_noise_multipliers) others = others + one / square(noise.value);
  if (!run.noise_is_total) return {one / sqrt(layers / square(stated) + others), stated};
  const Interval left = one / square(stated) - others;
  if (!(left.lo > 0))
    refuse("total noise multiplier", run.noise_multiplier, "below that of the count and the further releases, which it includes");
  return {stated, sqrt(layers / left)};
}

SgdPlan to_plan(const SgdRun& run) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return to_plan(run); });

  const std::uint64_t steps = steps_of(run);
  check_combination(run);
  if (run.count_noise) check_positive("count noise", run.count_noise->text);
  for (const Number& noise : run.further_noise_multipliers) check_positive("further noise multiplier", noise.text);
  if (run.noise_multiplier != "?") static_cast<void>(release_noise(run));
  const Neighbours neighbours = agreed_neighbours(run);
  const std::string source = run.matrix.empty() ? releases_of(run, neighbours) : matrix_of(run, steps);
  SgdPlan found;
  found.plan = source + operations_of(run, steps, neighbours);
  found.unit = unit_text(run, neighbours);
  found.remark = std::string("Sampling: ") + to_word(run.sampling) + ", " + drawn_text(run, steps, neighbours) + "; " +
                 detail::to_word(neighbours) + " neighbours.";
  found.neighbours = neighbours;
  found.protects = run.per_user > 1 ? "one user, who owns at most " + count_of(run.per_user, "example") : "one example";
  found.releases = releases_text(run);
  return found;
}

}  // namespace tradeoff
