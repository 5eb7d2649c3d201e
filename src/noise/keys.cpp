// SPDX-License-Identifier: Apache-2.0
#include "noise/keys.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "noise/discrete_gaussian.h"
#include "noise/drawn_noise.h"
#include "noise/grid_noise.h"
#include "numeric/number_text.h"
#include "operators/partition_selection.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

constexpr std::uint64_t most_count = std::uint64_t{1} << 50;  // of one key, so that sums with noise fit
constexpr std::size_t most_probabilities = 5'000;             // of a rule: the certificate states each
constexpr int probability_bits = 62;                          // a probability is a multiple of 2^-62

const Call* only_call(const Plan& plan) {
  if (plan.lines.size() != 1 || !std::holds_alternative<Call>(plan.lines.front().source)) return nullptr;
  return &std::get<Call>(plan.lines.front().source);
}

bool is_key_word(const std::string& name) { return name == "threshold" || name == "partition_selection"; }

/// The threshold in whole users: count + noise >= above, both whole, means count + noise >= ceil(above).
std::int64_t whole_threshold(const Arguments& arguments) {
  const Interval above = arguments.number("above");
  const double up = std::ceil(above.hi);
  if (std::ceil(above.lo) != up || std::abs(up) > static_cast<double>(most_count))
    arguments.refuse("above", arguments.written("above").text, "a number below 2^50 whose rounding up is certain; write a whole number");
  return static_cast<std::int64_t>(up);
}

void take_threshold(const Arguments& arguments, KeyInstruction& instruction) {
  const std::string_view noise = arguments.choice("noise");
  if (noise != "discrete_gaussian" && noise != "discrete_laplace")
    throw UnsupportedError("release: threshold with noise=" + std::string(noise) +
                           " is noise on the real numbers; counts of users are whole numbers, so write noise=discrete_" +
                           std::string(noise));
  const Interval contribution = arguments.number("contribution");
  if (!(contribution.lo == contribution.hi && contribution.lo == std::floor(contribution.lo) && contribution.lo >= 1 &&
        contribution.lo < 1e9))
    arguments.refuse("contribution", arguments.written("contribution").text, "a whole number from 1 to 10^9 for a release");
  instruction.contribution = static_cast<std::uint64_t>(contribution.lo);
  instruction.above = whole_threshold(arguments);
  const Dyadic scale = Dyadic::at_least(arguments.positive("scale").hi);
  if (noise == "discrete_gaussian")
    instruction.noise = std::make_shared<DiscreteGaussian>(scale);
  else
    instruction.noise = std::make_shared<GridNoise>(Law::discrete_laplace, scale);
  instruction.charged = parse("threshold(noise=" + std::string(noise) + ", scale=" + to_string(numeric::exact_decimal(scale.value())) +
                              ", above=" + std::to_string(instruction.above) + ", partitions=" + std::to_string(instruction.partitions) +
                              ", contribution=" + std::to_string(instruction.contribution) + ")");
}

/// The probabilities as multiples of 2^-62, rounded down. The charged plan states what is drawn, so the rounding is charged as well.
void take_rule(const Arguments& arguments, KeyInstruction& instruction) {
  std::vector<Interval> keep;
  if (arguments.has("keep"))
    for (const Number& number : arguments.numbers("keep")) keep.push_back(number.value);
  else
    keep = optimal_keep(arguments.number("epsilon"), arguments.number("delta"));
  if (keep.size() > most_probabilities)
    throw TooLargeError("release: partition_selection needs " + std::to_string(keep.size()) + " probabilities; at most " +
                        std::to_string(most_probabilities) + " are supported: raise epsilon or delta");
  const std::uint64_t whole = std::uint64_t{1} << probability_bits;
  std::string list;
  for (const Interval& probability : keep) {
    if (!(probability.lo >= 0 && probability.hi <= 1)) throw DomainError("release: keep must be a list of probabilities between 0 and 1");
    const auto numerator = static_cast<std::uint64_t>(std::floor(std::ldexp(probability.lo, probability_bits)));
    instruction.keep.push_back(Coin::rational(numerator, whole));
    list += (list.empty() ? "" : ", ") + (numerator == whole ? "1" : std::to_string(numerator) + "/" + std::to_string(whole));
  }
  instruction.charged = parse("partition_selection(keep=[" + list + "], partitions=" + std::to_string(instruction.partitions) + ")");
}

/// What each user contributes to each key.
using Contributions = std::map<std::string_view, std::map<std::string_view, std::uint64_t>>;

Contributions contributions_of(const KeyInstruction& instruction, std::span<const KeyRow> rows) {
  Contributions users;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KeyRow& row = rows[i];
    if (row.count == 0 || row.count > most_count)
      throw DomainError("release: row " + std::to_string(i + 1) + ": count = " + std::to_string(row.count) +
                        " is not allowed; it must be a whole number from 1 to 2^50");
    std::uint64_t& sum = users[row.user][row.key];
    sum = std::min(instruction.contribution, sum + row.count);
  }
  return users;
}

/// A uniform subset of the user's keys; it depends on no other user.
void keep_some(std::map<std::string_view, std::uint64_t>& keys, std::uint64_t most, WordStream& words) {
  std::vector<std::string_view> names;
  for (const auto& [key, count] : keys) names.push_back(key);
  for (std::uint64_t left = names.size(); left > most; --left) {
    std::swap(names[uniform_below(left, words)], names[left - 1]);
    keys.erase(names[left - 1]);
  }
}

}  // namespace

bool releases_keys(const Plan& plan) {
  return std::any_of(plan.lines.begin(), plan.lines.end(), [](const Line& line) {
    const auto* call = std::get_if<Call>(&line.source);
    return call != nullptr && is_key_word(call->name);
  });
}

KeyInstruction make_key_instruction(const Plan& plan) {
  const Call* const call = only_call(plan);
  if (call == nullptr || !is_key_word(call->name) || !plan.lines.front().operators.empty())
    throw UnsupportedError(
        "release: keys are released by one line `threshold(...)` or `partition_selection(...)` without operators; release anything else by "
        "itself");
  const Arguments arguments(*call);
  KeyInstruction instruction;
  instruction.partitions = arguments.whole("partitions");
  if (call->name == "threshold")
    take_threshold(arguments, instruction);
  else
    take_rule(arguments, instruction);
  return instruction;
}

std::vector<DrawnMechanism> describe(const KeyInstruction& instruction) {
  if (instruction.noise == nullptr) return {};
  return {describe(DrawnNoise{instruction.noise, 0, static_cast<double>(instruction.contribution), true})};
}

// [key-release]
std::vector<ReleasedKey> carry_out(const KeyInstruction& instruction, std::span<const KeyRow> rows, WordStream& words) {
  Contributions users = contributions_of(instruction, rows);
  std::map<std::string_view, std::uint64_t> counts;
  for (auto& [user, keys] : users) {
    keep_some(keys, instruction.partitions, words);
    for (const auto& [key, count] : keys) {
      std::uint64_t& sum = counts[key];
      sum += instruction.noise != nullptr ? count : 1;
      if (sum > most_count) throw DomainError("release: the count of a key is above 2^50, which is not supported");
    }
  }
  std::vector<ReleasedKey> released;
  for (const auto& [key, count] : counts) {
    if (instruction.noise == nullptr) {
      const std::size_t place = std::min<std::size_t>(count, instruction.keep.size()) - 1;
      if (instruction.keep[place].toss(words)) released.push_back({std::string(key), std::nullopt});
      continue;
    }
    std::int64_t drawn = 0;
    instruction.noise->draw(words, {&drawn, 1});
    const std::int64_t noisy = static_cast<std::int64_t>(count) + drawn;
    if (noisy >= instruction.above) released.push_back({std::string(key), noisy});
  }
  return released;
}

}  // namespace tradeoff::detail::noise
