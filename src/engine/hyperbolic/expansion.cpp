// SPDX-License-Identifier: Apache-2.0
#include "engine/hyperbolic/expansion.h"

#include <algorithm>
#include <cmath>

#include "loss/atoms.h"
#include "numeric/arithmetic.h"
#include "numeric/double_double.h"

// [break-point-expansion]
namespace tradeoff::detail::hyperbolic {
namespace {

using numeric::DoubleDouble;

// Each node of the contour costs one exponential per summand: with more summands another engine is faster.
constexpr std::size_t most_summands = 10'000;
// Binomial coefficients up to 1000 over 500 are finite doubles.
constexpr std::uint64_t most_times = 1000;
// More values than this give too many summands when they are composed.
constexpr std::size_t most_atoms = 40;
// A power of more than this many steps loses all digits of a double.
constexpr double most_subsampled = 1e9;
// Largest mu, and largest sum of losses: its product with a contour variable of 1e18, and the square of mu, are still doubles.
constexpr double most_mu = 1e100, most_position = 1e280;

/// Multiplies the summands by (sum_a A_a exp(s b_a))^times, over all numbers of times that each term is chosen.
class Multiplier {
 public:
  Multiplier(const std::vector<BreakTerm>& terms, std::uint32_t times, const std::vector<Summand>& before)
      : terms_(terms), before_(before), chosen_(terms.size(), 0) {
    choose(0, times, {0, 0});
  }
  [[nodiscard]] std::vector<Summand> result() && { return std::move(after_); }

 private:
  void choose(std::size_t term, std::uint32_t left, LogBinomial coefficient) {
    if (after_.size() > most_summands) return;
    if (term + 1 == terms_.size()) {
      chosen_[term] = left;
      emit(coefficient);
      return;
    }
    for (std::uint32_t taken = 0; taken <= left; ++taken) {
      chosen_[term] = taken;
      const LogBinomial factor = log_binomial(left, taken);
      choose(term + 1, left - taken, {coefficient.value + factor.value, coefficient.error + factor.error});
    }
  }

  void emit(LogBinomial coefficient) {
    DoubleDouble position;
    double error = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      // A count below 2^11 times a double is exact in two doubles.
      position = add(position, numeric::two_product(static_cast<double>(chosen_[i]), terms_[i].position), error);
    }
    for (const Summand& old : before_) {
      Summand product = old;
      product.position_error += error;
      product.position = add(old.position, position, product.position_error);
      product.log_coefficient += coefficient.value;
      product.log_coefficient_error += coefficient.error + 0x1p-52 * std::abs(product.log_coefficient);
      product.powers.insert(product.powers.end(), chosen_.begin(), chosen_.end());
      after_.push_back(std::move(product));
    }
  }

  const std::vector<BreakTerm>& terms_;
  const std::vector<Summand>& before_;
  std::vector<std::uint32_t> chosen_;
  std::vector<Summand> after_;
};

struct Builder {
  Expansion expansion;
  DoubleDouble base;
  double base_error = 0;
  Interval log_finite = Interval::exactly(0);  // log of the probability that all losses are finite
  Interval variance = Interval::exactly(0);
  bool remove;

  bool add(const BreakExpansion& part, std::uint64_t times) {
    if (!part.terms.empty() && !add_terms(part, times)) return false;
    if (part.sampled && !add_sampled(*part.sampled, static_cast<double>(times))) return false;
    if (!(part.gaussian_mu <= most_mu)) return false;
    if (part.gaussian_mu > 0) variance = variance + static_cast<double>(times) * square(Interval::exactly(part.gaussian_mu));
    return true;
  }

 private:
  bool add_terms(const BreakExpansion& part, std::uint64_t times) {
    if (times > most_times) return false;
    const auto count = static_cast<double>(times);
    log_finite = log_finite + count * log1p(-part.infinite_mass);
    expansion.summands = Multiplier(part.terms, static_cast<std::uint32_t>(times), expansion.summands).result();
    expansion.terms.insert(expansion.terms.end(), part.terms.begin(), part.terms.end());
    return expansion.summands.size() <= most_summands;
  }
  bool add_sampled(const SampledGaussianFactor& part, double count) {
    const double most_rate = part.rate + part.rate_width;
    if (!(part.mu > 0 && part.mu <= most_mu && part.rate > 0 && most_rate < 1 && count <= most_subsampled)) return false;
    if (part.sampling == SampledBy::fixed) {  // [sampled-plane] Both directions have one law, and its break is at 0.
      expansion.subsampled.push_back({part.mu, part.rate, count, true, part.mu_width, part.rate_width, SampledBy::fixed});
      return true;
    }
    const DoubleDouble shift = DoubleDouble{remove ? count : -count, 0} * numeric::log_of_complement(part.rate);
    base_error += (numeric::log_of_complement_error + numeric::double_double_error) * std::abs(shift.high) +
                  1.001 * count * part.rate_width / (1 - most_rate);
    base = numeric::add(base, shift, base_error);
    if (remove) expansion.log_factor = expansion.log_factor + count * log1p(-Interval{part.rate, most_rate});
    expansion.subsampled.push_back({part.mu, part.rate, count, remove, part.mu_width, part.rate_width});
    return true;
  }
};

/// The number of summands that a part multiplies the others by: the ways to distribute its steps among its terms.
double ways(const BreakExpansion& part, std::uint64_t times) {
  double count = 1;
  for (std::size_t i = 1; i < part.terms.size(); ++i)
    count *= (static_cast<double>(times) + static_cast<double>(i)) / static_cast<double>(i);
  return count;
}

}  // namespace

// The product of k quotients has 2k roundings, the logarithm two units in the last place.
LogBinomial log_binomial(std::uint32_t n, std::uint32_t k) {
  k = std::min(k, n - k);
  double product = 1;
  for (std::uint32_t i = 0; i < k; ++i) product = product * (n - i) / (i + 1);
  const double value = std::log(product);
  return {value, (2.2 * k + 8 * value) * 0x1p-53};
}

bool Expansion::unbounded_above() const {
  return variance > 0 || std::any_of(subsampled.begin(), subsampled.end(), [](const SubsampledSteps& steps) { return steps.remove; });
}

// Raising a loss while keeping its probability raises delta, also after composition: the order of survival functions is preserved by sums.
std::optional<BreakExpansion> break_points_of(const Loss& loss, Direction direction, ParameterEnd end) {
  if (auto points = loss.break_points(direction, end)) return points;
  const bool worse = end == ParameterEnd::worse;
  BreakExpansion result;
  if (const auto mu = loss.gaussian_mu()) {
    result.gaussian_mu = worse ? mu->hi : mu->lo;
    return result;
  }
  const Atoms* atoms = loss.atoms(direction);
  if (atoms == nullptr || atoms->slack > 0 || atoms->finite.empty() || atoms->finite.size() > most_atoms) return std::nullopt;
  result.infinite_mass = atoms->infinite;
  for (const Atom& atom : atoms->finite) result.terms.push_back(break_atom(worse ? atom.loss.hi : atom.loss.lo, atom.mass));
  return result;
}

std::optional<Expansion> expand(const Parts& parts, Direction direction, ParameterEnd end) {
  double summands = 1;
  for (const Part& part : parts) {
    const auto points = break_points_of(*part.loss, direction, end);
    if (!points) return std::nullopt;
    summands *= ways(*points, part.times);
    if (!(summands < 2.0 * most_summands)) return std::nullopt;
  }
  Builder builder{.expansion = {}, .base = {}, .remove = direction == Direction::remove};
  builder.expansion.summands.resize(1);
  for (const Part& part : parts) {
    const auto points = break_points_of(*part.loss, direction, end);
    if (!points) return std::nullopt;
    if (!builder.add(*points, part.times)) return std::nullopt;
  }
  Expansion& expansion = builder.expansion;
  for (Summand& summand : expansion.summands) {
    summand.position_error += builder.base_error;
    summand.position = add(summand.position, builder.base, summand.position_error);
    if (!(std::abs(summand.position.value()) <= most_position && summand.position_error <= most_position)) return std::nullopt;
  }
  expansion.variance = builder.variance.lo;
  expansion.variance_error = builder.variance.width();
  expansion.infinite_mass = clamp(-expm1(builder.log_finite), 0, 1);
  return std::move(builder.expansion);
}

}  // namespace tradeoff::detail::hyperbolic
