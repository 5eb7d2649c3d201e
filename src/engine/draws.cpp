// SPDX-License-Identifier: Apache-2.0
#include "engine/draws.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/epsilon_search.h"
#include "loss/evaluation.h"
#include "loss/gaussian_profile.h"
#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/binomial.h"

namespace tradeoff::detail {
namespace {

constexpr double most_numbers = 20'000;  // of draws; each takes a tenth of a microsecond at every epsilon
constexpr double reach = 39;             // standard deviations: further out lies less than the smallest positive double
constexpr double least_mass = 1e-306;    // of a number of draws that is listed: next to the smallest normal double
constexpr double work_of_number = 0.2;   // in the units of loss/work.h
constexpr double smallest_sum = 1e-280;  // below it sums are formed in logarithms
constexpr std::uint64_t most_trials = std::uint64_t{1} << 52U;  // that binomial_mass accepts

/// So many Gaussians were drawn, with this probability; together with the plain ones they have this mu.
struct Draws {
  Interval mass;
  Interval mu;
};

// [drawn-gaussians]
class DrawsLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  DrawsLoss(std::vector<Draws> numbers, double fewer, double more, const Parts& parts)
      : numbers_(std::move(numbers)), fewer_(fewer), more_(more), tail_(tail_of(parts)), laws_(citations_of_laws(parts)) {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    cite();
    record(mean());
    return clamp(mean_delta(epsilon), 0, 1);
  }
  [[nodiscard]] Interval log_delta(Direction, Interval epsilon) const override {
    cite();
    record(mean());
    const Interval found = mean_delta(epsilon);
    if (found.lo > smallest_sum) return min(log(found), Interval::exactly(0));
    Interval sum = log(Interval{0, more_});
    for (const Draws& one : numbers_) sum = log_add_exp(sum, log(one.mass) + log_gaussian_delta(one.mu, epsilon));
    const Interval least = Interval{0, fewer_};
    return min(log_add_exp(sum, log(least) + log_gaussian_delta(numbers_.front().mu, epsilon)), Interval::exactly(0));
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .evaluable = this, .cost = Cost::engine};
  }
  /// [profile-inversion]
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    return epsilon_by_values(*this, direction, delta);
  }
  void cite() const override { record(laws_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    Evaluation one = whole_evaluation(*this, direction, epsilon);
    one.counts = {{"numbers of draws", numbers_.size()}};
    found.push_back(balanced(std::move(one), "rounding"));
  }

 private:
  [[nodiscard]] static const Citation& mean() {
    static const Citation citation("drawn-gaussians", "the mean of Gaussian profiles over the number of Gaussians that were drawn",
                                   Method::exact);
    return citation;
  }
  [[nodiscard]] Interval mean_delta(Interval epsilon) const {
    Work::count(work_of_number * static_cast<double>(numbers_.size()));
    Interval sum = Interval{0, more_} + Interval{0, fewer_} * gaussian_delta(numbers_.front().mu, epsilon);
    for (const Draws& one : numbers_) sum = sum + one.mass * gaussian_delta(one.mu, epsilon);
    return sum;
  }

  std::vector<Draws> numbers_;  ///< consecutive, the fewest draws first
  double fewer_;                ///< at most this probability lies below them,
  double more_;                 ///< and this above
  Tail tail_;
  Citations laws_;
};

/// The probability of the numbers of draws beyond k, on the side where the ratio of neighbours is this one, which falls.
double beyond(Interval mass, Interval ratio) { return ratio.hi < 1 ? std::min(1.0, (mass * ratio / (1.0 - ratio)).hi) : 1.0; }

}  // namespace

LossPointer compose_by_draws(const Parts& parts) {
  std::optional<DrawnGaussian> drawn;
  std::uint64_t times = 0;
  Interval plain = Interval::exactly(0);
  for (const Part& part : parts) {
    const Capabilities known = part.loss->capabilities(Direction::remove);
    if (known.gaussian_mu) {
      plain = plain + Interval::exactly(static_cast<double>(part.times)) * square(*known.gaussian_mu);
      continue;
    }
    if (!known.drawn || drawn) return nullptr;
    drawn = known.drawn;
    times = part.times;
  }
  if (!drawn || times > most_trials) return nullptr;
  const double trials = static_cast<double>(times), chance = middle_of(drawn->chance);
  const double mean = trials * chance, deviation = std::sqrt(mean * (1 - chance)) + 1;
  if (2 * reach * deviation > most_numbers) return nullptr;
  const auto masses_at = [&](std::uint64_t k) { return numeric::binomial_mass(times, drawn->chance, k); };
  auto first = static_cast<std::uint64_t>(std::max(0.0, std::floor(mean - reach * deviation)));
  const auto middle = std::min(times, static_cast<std::uint64_t>(mean));
  while (first < middle && masses_at(first).hi < least_mass) ++first;
  std::vector<Draws> numbers;
  const Interval odds = drawn->chance / (1.0 - drawn->chance), step = square(drawn->mu);
  double more = 0;
  for (std::uint64_t k = first; k <= times; ++k) {
    const Interval mass = masses_at(k);
    if (k > middle && mass.hi < least_mass) {
      const Interval before = masses_at(k - 1);
      more = beyond(before, Interval::exactly(times - k + 1) * odds / Interval::exactly(k));
      break;
    }
    numbers.push_back({mass, sqrt(plain + Interval::exactly(k) * step)});
  }
  const double fewer = first == 0 ? 0 : beyond(masses_at(first), Interval::exactly(first) / (Interval::exactly(times - first + 1) * odds));
  return std::make_shared<const DrawsLoss>(std::move(numbers), fewer, more, parts);
}

}  // namespace tradeoff::detail
