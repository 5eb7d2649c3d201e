// SPDX-License-Identifier: Apache-2.0
#include "operators/with_replacement.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "loss/atoms.h"
#include "loss/mirrored_delta.h"
#include "loss/work.h"
#include "mechanism/constraints.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/group.h"
#include "operators/subsampled.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

// Group sizes whose total probability is below this cannot change a printed digit; a simple bound is used for them.
constexpr double little_weight = 1e-14;

// Without such a bound every group must be iterated, with one search for each of its records.
constexpr std::uint64_t most_iterated_draws = 30;

/// One group size: its probability and its profile; `above` if the profile is only an upper bound.
struct Group {
  Interval log_weight;
  LossPointer loss;
  bool above = false;
};

/// A bound for the groups of a mechanism with bounded losses or with Gaussian DP; null for other mechanisms.
LossPointer bound_of_group(const Tail& tail, std::uint64_t size) {
  if (tail.zero_from < infinity) {
    const double epsilon = (Interval::exactly(size) * tail.zero_from).hi;
    return std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{{Interval::exactly(epsilon), Interval::exactly(0)}});
  }
  if (tail.gdp_mu < infinity) return gaussian_loss(Interval::exactly(size) * tail.gdp_mu);
  return nullptr;
}

/// Whether the groups are cheap to compute: closed forms, and small groups of a distribution with few atoms.
bool has_simple_groups(const Loss& base, std::uint64_t draws) {
  const Capabilities known = base.capabilities(Direction::remove);
  if (known.gaussian_mu || known.laplace_epsilon) return true;
  const Atoms* atoms = known.atoms;
  return atoms != nullptr && draws * atoms->finite.size() <= 400;
}

/// The group sizes 1 .. draws with their binomial probabilities, each with the profile of the base for that many records.
std::vector<Group> groups_of(const LossPointer& base, std::uint64_t draws, std::uint64_t of) {
  if (of == 1) return {{Interval::exactly(0), group_loss(base, draws), false}};  // every draw is the same record
  const bool simple = has_simple_groups(*base, draws);
  const Tail tail = base->tail();
  if (!simple && bound_of_group(tail, 1) == nullptr && draws > most_iterated_draws)
    throw TooLargeError("sample_with_replacement: draws = " + std::to_string(draws) + " is not supported for this mechanism; at most " +
                        std::to_string(most_iterated_draws) + ", unless it is pure or Gaussian-DP");
  const Interval log_kept = log1p(-1.0 / Interval::exactly(of)), log_of = log(Interval::exactly(of));
  std::vector<Group> groups;
  Interval log_choose = Interval::exactly(0);
  bool rare = false;
  for (std::uint64_t k = 1; k <= draws; ++k) {
    log_choose = log_choose + log(Interval::exactly(draws - k + 1)) - log(Interval::exactly(k));
    const Interval log_weight = log_choose - Interval::exactly(k) * log_of + Interval::exactly(draws - k) * log_kept;
    // The ratios of consecutive weights decrease: once a weight is half of the one before, the rest adds up to less than twice it.
    rare = rare || (!groups.empty() && log_weight.hi < std::log(little_weight) && log_weight.hi < groups.back().log_weight.lo - 0.7);
    LossPointer bound = rare && !simple ? bound_of_group(tail, k) : nullptr;
    const bool above = bound != nullptr;
    groups.push_back({log_weight, above ? std::move(bound) : group_loss(base, k), above});
  }
  return groups;
}

// [replacement-subsampling] delta'(e) = sum_k C(m, k) n^-k (1 - 1/n)^(m-k) delta_k(log(1 + (e^e - 1)/w)), w = 1 - (1 - 1/n)^m; mirrored
// below 0.
class ReplacementLoss final : public Loss {
 public:
  ReplacementLoss(const LossPointer& base, std::uint64_t draws, std::uint64_t of)
      : rate_(of == 1 ? Interval::exactly(1) : -expm1(Interval::exactly(draws) * log1p(-1.0 / Interval::exactly(of)))),
        groups_(groups_of(base, draws, of)),
        sampling_("replacement-subsampling", std::to_string(groups_.size()) + " group profiles; replace-one neighbours") {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override { return {at(epsilon.hi).lo, at(epsilon.lo).hi}; }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    if (epsilon.lo < 0) return log(delta(direction, epsilon));
    return {log_at(epsilon.hi).lo, log_at(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return at(infinity); }
  /// The largest group has the largest losses. If its profile is only an upper bound, the limit has only an upper bound.
  [[nodiscard]] Tail tail() const override {
    Tail largest = groups_.back().loss->tail();
    if (groups_.back().above) largest.limit.lo = 0;
    return sampled_tail(largest, rate_, groups_.back().loss->symmetric());
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.cost = Cost::search}; }
  void cite() const override {
    for (const Group& group : groups_) group.loss->cite();
    record(sampling_);
  }

 private:
  [[nodiscard]] Interval inner(double epsilon) const {
    if (epsilon == infinity) return Interval::exactly(infinity);
    const Interval point = Interval::exactly(epsilon);
    if (epsilon < 600) return log1p(expm1(point) / rate_);
    return point - log(rate_) + log1p(exp(-point) * (rate_ - 1.0));  // avoids the overflow of e^e
  }
  [[nodiscard]] Interval log_at(double epsilon) const {
    const Interval point = inner(epsilon);
    Interval sum = Interval::exactly(-infinity);
    for (const Group& group : groups_) {
      Interval term = group.log_weight + group.loss->log_delta(Direction::remove, point);
      if (group.above) term.lo = -infinity;
      sum = log_add_exp(sum, term);
    }
    Work::count(0.5 * static_cast<double>(groups_.size()));
    record(sampling_);
    return min(sum, Interval::exactly(0));
  }
  [[nodiscard]] Interval at(double epsilon) const {
    const Interval point = inner(std::abs(epsilon));
    Interval sum = Interval::exactly(0);
    for (const Group& group : groups_) {
      Interval term = exp(group.log_weight) * group.loss->delta(Direction::remove, point);
      if (group.above) term.lo = 0;
      sum = sum + term;
    }
    Work::count(0.5 * static_cast<double>(groups_.size()));
    record(sampling_);
    sum = clamp(sum, 0, 1);
    return epsilon >= 0 ? sum : mirrored_delta(epsilon, sum);
  }

  Interval rate_;
  std::vector<Group> groups_;
  Citation sampling_;
};

}  // namespace

LossPointer sample_with_replacement(LossPointer base, std::uint64_t draws, std::uint64_t of) {
  if (!base->symmetric()) base = std::make_shared<SymmetrizedLoss>(std::move(base));
  return std::make_shared<ReplacementLoss>(base, draws, of);
}

namespace {

LossPointer apply_sample_with_replacement(const Arguments& arguments, LossPointer base, const WordContext&) {
  return sample_with_replacement(std::move(base), arguments.whole("draws"), arguments.whole("of"));
}

}  // namespace

Word sample_with_replacement_word() {
  constexpr std::uint64_t most_draws = 10'000;  // each needs a group profile; more would make a question slow
  return {.role = Role::operation,
          .name = "sample_with_replacement",
          .meaning = "a fixed number of draws with replacement",
          .parameters = {{"draws", Kind::integer, "number of draws", range::whole(1, most_draws), effect::riskier},
                         {"of", Kind::integer, "records there are", range::whole(1, range::most_steps)}},
          .neighbours = {Neighbours::replace_one},
          .sentence = "In `sample_with_replacement`, every step makes the stated number of uniform draws with replacement.",
          .apply = apply_sample_with_replacement,
          .samples = true};
}

}  // namespace tradeoff::detail
