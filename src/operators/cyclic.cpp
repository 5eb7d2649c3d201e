// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/part.h"
#include "loss/forwarding_loss.h"
#include "mechanism/matrix.h"
#include "numeric/arithmetic.h"
#include "numeric/conversions.h"
#include "operators/drawn_gaussian.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

/// [cyclic-poisson] One step in which a record can take part.
class CyclicStep final : public ForwardingLoss {
 public:
  explicit CyclicStep(LossPointer step) : step_(std::move(step)) {}

 protected:
  [[nodiscard]] const Loss& base() const override { return *step_; }
  void note() const override {
    static const Citation reduced("cyclic-poisson", "a record can take part only in the steps of its group, and each is one Poisson step");
    record(reduced);
  }

 private:
  LossPointer step_;
};

/// What the plan says about the sampler.
struct CyclicSampler {
  std::uint64_t groups;
  Interval rate;
  std::uint64_t steps;
  Neighbours neighbours;
  bool clipped;

  /// The largest number of steps that a group has.
  [[nodiscard]] std::uint64_t most_rounds() const { return (steps - 1) / groups + 1; }
  [[nodiscard]] LossPointer step(Interval mu) const { return std::make_shared<CyclicStep>(drawn_gaussian(mu, rate, clipped, neighbours)); }
};

/// The mu of every step of one group, the largest first, and how often each occurs.
using Rounds = std::vector<Interval>;

/// [cyclic-poisson] At each place the largest mu of all groups, and single groups that come near: they bound the answer from both sides.
Parts rounds_of_matrix(const CyclicSampler& sampler, const std::vector<Interval>& mus, const WordContext& context) {
  const auto larger = [](const Interval& one, const Interval& other) { return one.hi > other.hi; };
  std::vector<Rounds> groups;
  for (std::uint64_t group = 0; group < std::min(sampler.groups, sampler.steps); ++group) {
    Rounds rounds;
    for (std::uint64_t step = group; step < sampler.steps; step += sampler.groups) rounds.push_back(mus[step]);
    std::sort(rounds.begin(), rounds.end(), larger);
    groups.push_back(std::move(rounds));
  }
  Rounds worst(numeric::to_size(sampler.most_rounds()), Interval::exactly(0));
  for (const Rounds& rounds : groups)
    for (std::size_t place = 0; place < rounds.size(); ++place) worst[place] = max(worst[place], rounds[place]);
  Parts parts;
  if (std::find(groups.begin(), groups.end(), worst) != groups.end()) {
    for (std::size_t first = 0, end = 0; first < worst.size(); first = end) {
      while (end < worst.size() && worst[end] == worst[first]) ++end;
      parts.push_back({sampler.step(worst[first]), end - first});
    }
    return parts;
  }
  // The groups with the largest sum of squares, each composed on its own. Places that are close together share one step: the largest
  // stands for all of them above, the smallest below.
  const auto size_of = [](const Rounds& rounds) {
    double sum = 0;
    for (const Interval& mu : rounds) sum += mu.lo * mu.lo;
    return sum;
  };
  std::sort(groups.begin(), groups.end(), [&](const Rounds& one, const Rounds& other) { return size_of(one) > size_of(other); });
  constexpr std::size_t tried = 3, most_shares = 64;
  groups.resize(std::min(groups.size(), tried));
  const std::size_t share = (worst.size() - 1) / most_shares + 1;
  for (std::size_t first = 0; first < worst.size(); first += share) {
    const std::size_t end = std::min(first + share, worst.size());
    std::vector<WordContext::Maker> below;
    for (const Rounds& rounds : groups)
      below.emplace_back([&, end] { return sampler.step(end <= rounds.size() ? rounds[end - 1] : Interval::exactly(0)); });
    parts.push_back({context.bracket([&] { return sampler.step(worst[first]); }, below), end - first});
  }
  return parts;
}

bool by_position(const Arguments& arguments) { return arguments.has("by") && arguments.choice("by") == "position"; }

Parts expand_cyclic(const Arguments& arguments, const LossPointer& base, const WordContext& context) {
  const auto mu = base->gaussian_mu();
  const Capabilities known = base->capabilities(Direction::remove);
  if (!mu)
    throw UnsupportedError(
        "cyclic: proved for Gaussian noise only; write gaussian(...) | cyclic(...) or a banded matrix(...) | cyclic(...)");
  const CyclicSampler sampler{arguments.whole("groups"), arguments.number("rate"), arguments.whole("steps"), context.neighbours(),
                              known.clipped};
  const bool position = by_position(arguments);
  if (sampler.neighbours == Neighbours::add_remove && position)
    throw UnsupportedError(
        "cyclic: groups by position are not proved for add-remove neighbours, because one record more moves others to other groups; use "
        "by = identity, or zero-out neighbours");
  if (sampler.neighbours == Neighbours::replace_one && !position && !sampler.clipped)
    throw UnsupportedError(
        "cyclic: with groups by identity a replacement may be in another group, so that the record and its replacement are never in the "
        "same step; state the clip norm, as in gaussian(sigma, clip), or write by = position");
  if (known.matrix == nullptr) return {{sampler.step(*mu), sampler.most_rounds()}};
  const MatrixNoise& matrix = *known.matrix;
  if (matrix.steps != sampler.steps)
    arguments.refuse("steps", std::to_string(sampler.steps), "the steps of the matrix, " + std::to_string(matrix.steps));
  if (!matrix.bandwidth || *matrix.bandwidth > sampler.groups)
    throw UnsupportedError("cyclic: the matrix must be banded, with no entry " + std::to_string(sampler.groups) +
                           " (the groups) or more below its diagonal" +
                           (matrix.bandwidth ? "; its bandwidth is " + std::to_string(*matrix.bandwidth) : "") +
                           ". For other matrices no amplification by sampling is proved; leave cyclic out and state the participations");
  if (sampler.neighbours == Neighbours::replace_one && !position)
    throw UnsupportedError(
        "cyclic: with a matrix, replace-one neighbours are proved only if a replaced record stays in its group; write by = position");
  return rounds_of_matrix(sampler, matrix.step_mus(), context);
}

}  // namespace

Word cyclic_word() {
  return {.role = Role::operation,
          .name = "cyclic",
          .meaning = "groups take turns, each sampled record by record",
          .parameters = {{"groups", Kind::integer, "groups of records", range::whole(1, range::most_steps)},
                         {"rate", Kind::number, "probability that a record of the group takes part", range::probability, effect::riskier},
                         {"steps", Kind::integer, "steps of all groups together", range::whole(1, range::most_steps)},
                         {.name = "by",
                          .kind = Kind::choice,
                          .meaning = "what the groups are cut by: identity (the default) or position",
                          .optional = true,
                          .choices = "identity|position"}},
          .synonyms = {{"cyclic_poisson"}},
          .neighbours = {Neighbours::add_remove, Neighbours::zero_out, Neighbours::replace_one},
          .sentence =
              "In `cyclic`, the records are split into groups that take turns by a rule that does not look at their values, and every "
              "record of "
              "the group joins a step with the stated probability, independently of all others and of earlier steps.",
          .expand = expand_cyclic,
          .samples = true,
          .takes_matrices = true};
}

}  // namespace tradeoff::detail
