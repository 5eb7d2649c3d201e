// SPDX-License-Identifier: Apache-2.0
#include "operators/sampled_group.h"

#include <algorithm>
#include <string>
#include <utility>

#include "loss/forwarding_loss.h"
#include "loss/mirrored_delta.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/duality.h"
#include "operators/gaussian_mixture.h"
#include "operators/group.h"
#include "operators/worst_profile.h"
#include "transform/mixture_pair.h"

namespace tradeoff::detail {
namespace {

// [sampled-group] The largest of several profiles, in both directions of each.
class WorstOfGroupLoss final : public Loss, public ClosedForms {
 public:
  explicit WorstOfGroupLoss(std::vector<LossPointer> losses) : losses_(std::move(losses)) {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    if (epsilon.lo < 0 && epsilon.lo != epsilon.hi)
      return {delta(Direction::remove, Interval::exactly(epsilon.hi)).lo, delta(Direction::remove, Interval::exactly(epsilon.lo)).hi};
    if (epsilon.lo < 0) return mirrored_delta(epsilon, delta(Direction::remove, -epsilon));
    return largest([&](const Loss& loss, Direction direction) { return loss.delta(direction, epsilon); });
  }
  [[nodiscard]] Interval log_delta(Direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(Direction::remove, epsilon));
    return largest([&](const Loss& loss, Direction direction) { return loss.log_delta(direction, epsilon); });
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override {
    return largest([](const Loss& loss, Direction direction) { return loss.infinite_mass(direction); });
  }
  /// The largest of several profiles may have larger moments than each.
  [[nodiscard]] Tail tail() const override {
    std::vector<Tail> tails;
    for (const LossPointer& loss : losses_) tails.push_back(loss->tail());
    Tail tail = mixed_tail(tails);
    tail.moment_mu = Tail::nothing;
    tail.largest = {tail.largest.worse(), tail.largest.worse()};
    return tail;
  }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Cost cost = Cost::formula;
    for (const LossPointer& loss : losses_) cost = std::max(cost, loss->capabilities(direction).cost);
    return {.closed_forms = this, .cost = cost};
  }
  void cite() const override {
    for (const LossPointer& loss : losses_) loss->cite();
  }
  // Each composition has its own way to answer.
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction, Interval delta) const override {
    std::optional<Interval> worst;
    for (const LossPointer& loss : losses_) {
      const Interval one = invert_profile(Profile(*loss, Direction::worst), delta);
      worst = worst ? max(*worst, one) : one;
    }
    return worst;
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction, double epsilon) const override {
    double worst = 0;
    for (const LossPointer& loss : losses_)
      for (const Direction direction : {Direction::remove, Direction::add})
        worst = std::max(worst, loss->rough_delta(direction, std::abs(epsilon)));
    return epsilon < 0 ? rough_mirrored_delta(epsilon, worst) : worst;
  }

 private:
  template <class Read>
  [[nodiscard]] Interval largest(Read&& read) const {
    std::optional<Interval> worst;
    for (const LossPointer& loss : losses_)
      for (const Direction direction : {Direction::remove, Direction::add}) {
        if (direction == Direction::add && loss->symmetric()) continue;
        const Interval one = read(*loss, direction);
        worst = worst ? max(*worst, one) : one;
      }
    return *worst;
  }

  std::vector<LossPointer> losses_;
};

class SampledGroupLoss final : public ForwardingLoss {
 public:
  SampledGroupLoss(GroupSides sides, std::uint64_t size)
      : sides_(std::move(sides)),
        exact_("sampled-group", std::to_string(size) +
                                    " records drawn one by one: the pairs of Gaussian mixtures of all mixes of additions "
                                    "and removals, the worst of them") {}
  [[nodiscard]] bool symmetric() const override { return sides_.one_kind == nullptr; }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.group_sides = sides_.one_kind == nullptr ? nullptr : &sides_;
    return known;
  }

 private:
  [[nodiscard]] const Loss& base() const override { return *sides_.mixed; }
  void note() const override { record(exact_); }

  GroupSides sides_;
  Citation exact_;
};

const Citations& origin_of_pairs() {
  static const Citations origin{
      Citation("sampled-group", "records are drawn one by one: those that leave and those that enter are binomial mixtures")};
  return origin;
}

bool fit_for_group(Interval mu, Interval rate, std::uint64_t size) {
  return mu.lo > 0 && mu.hi * static_cast<double>(size) <= most_sampled_shift && rate.lo > 0 && rate.hi < 1;
}

/// The pair of one line for such a group.
LossPointer grouped_line(const Loss& loss, Neighbours neighbours, std::uint64_t size, std::uint64_t leaving) {
  const Capabilities known = loss.capabilities(Direction::remove);
  const Interval times = Interval::exactly(static_cast<double>(size));
  if (known.gaussian_noise && known.gaussian_mu) return gaussian_loss(times * *known.gaussian_mu, origin_of_pairs());
  if (neighbours == Neighbours::replace_one) {
    const MixturePair* const pair = known.mixture;
    if (pair == nullptr || pair->ahead.count() != 1 || pair->behind.count() != 1 || !fit_for_group(pair->mu, pair->rate, size))
      return nullptr;
    return gaussian_mixture(pair->mu, pair->rate, size, size, origin_of_pairs());
  }
  if (!known.sampled || known.sampled->sampling != SampledBy::poisson) return nullptr;
  const Capabilities base = known.sampled->base->capabilities(Direction::remove);
  if (!base.gaussian_noise || !base.gaussian_mu || !fit_for_group(*base.gaussian_mu, known.sampled->rate, size)) return nullptr;
  return gaussian_mixture(*base.gaussian_mu, known.sampled->rate, leaving, size - leaving, origin_of_pairs());
}

}  // namespace

std::optional<Parts> sampled_group(const Parts& parts, Neighbours neighbours, std::uint64_t size, std::uint64_t leaving) {
  if (size > most_sampled_group) return std::nullopt;
  Parts grouped;
  bool sampled = false;
  for (const Part& part : parts) {
    if (part.times == 0) continue;
    LossPointer loss = grouped_line(*part.loss, neighbours, size, leaving);
    if (loss == nullptr) return std::nullopt;
    sampled = sampled || !loss->gaussian_mu();
    grouped.push_back({std::move(loss), part.times});
  }
  if (!sampled) return std::nullopt;
  return grouped;
}

std::vector<std::uint64_t> leaving_records(Neighbours neighbours, std::uint64_t size) {
  std::vector<std::uint64_t> leaving{size};
  if (neighbours == Neighbours::replace_one) return leaving;
  // The pair of j that leave is the mirrored and exchanged pair of size - j.
  for (std::uint64_t j = size - 1; 2 * j >= size; --j) leaving.push_back(j);
  return leaving;
}

LossPointer worst_of_group(std::vector<LossPointer> compositions, std::uint64_t size, bool one_group) {
  if (compositions.size() == 1) return compositions.front();
  LossPointer first = one_group ? compositions.front() : nullptr;
  auto mixed = std::make_shared<WorstOfGroupLoss>(std::move(compositions));
  return std::make_shared<SampledGroupLoss>(GroupSides{std::move(mixed), std::move(first)}, size);
}

}  // namespace tradeoff::detail
