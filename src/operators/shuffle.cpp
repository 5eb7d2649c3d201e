// SPDX-License-Identifier: Apache-2.0
#include "operators/shuffle.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/part.h"
#include "loss/forwarding_loss.h"
#include "loss/key.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "operators/allocation.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr int bins = 600;
constexpr std::uint64_t most_batches = 1'000'000'000;

const Citation& shuffled() {
  static const Citation bounds("shuffled-batches",
                               "above: the order is shown, one Gaussian per pass; below: two worst cases of the other records");
  return bounds;
}

/// Passes that share one order.
class OneOrder final : public ForwardingLoss {
 public:
  explicit OneOrder(LossPointer passes) : passes_(std::move(passes)) {}
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.shares_order = true;
    return known;
  }

 private:
  [[nodiscard]] const Loss& base() const override { return *passes_; }
  LossPointer passes_;
};

}  // namespace

// The largest of T coordinates, of which one has this shift: P(largest <= c) = Phi(c - shift) Phi(c)^(T-1).
LossPointer largest_batch_loss(Interval mu, std::uint64_t batches) {
  const Interval others = Interval::exactly(static_cast<double>(batches - 1));
  const auto beyond = [&](double c, Interval shift) {
    return -expm1(log_normal_cdf(Interval::exactly(c) - shift) + others * log_normal_cdf(Interval::exactly(c)));
  };
  // The edges of the bins: evenly from where the largest of all lies almost surely below to where the shifted one does.
  const double low = -normal_quantile(1 / (30 * static_cast<double>(batches) + 60)).lo * 0.5 - 3, high = 2 * mu.hi + 9;
  std::vector<double> edges;
  for (int i = 1; i < bins; ++i) edges.push_back(low + (std::max(high, low + 12) - low) * i / bins);
  std::vector<Interval> p, q;
  Interval p_before = Interval::exactly(1), q_before = Interval::exactly(1);
  for (const double edge : edges) {
    const Interval p_here = beyond(edge, 2.0 * mu), q_here = beyond(edge, mu);
    p.push_back(clamp(p_before - p_here, 0, 1));
    q.push_back(clamp(q_before - q_here, 0, 1));
    p_before = p_here, q_before = q_here;
  }
  p.push_back(p_before);
  q.push_back(q_before);
  // Bins whose masses are not known well join their neighbours: still a function of the output.
  std::vector<Interval> merged_p, merged_q;
  const auto is_poor = [](Interval mass) { return !(mass.lo > 0.999 * mass.hi && mass.lo > 1e-280); };
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!merged_p.empty() && (is_poor(merged_p.back()) || is_poor(merged_q.back()) || is_poor(p[i]) || is_poor(q[i]))) {
      merged_p.back() = clamp(merged_p.back() + p[i], 0, 1);
      merged_q.back() = clamp(merged_q.back() + q[i], 0, 1);
      continue;
    }
    merged_p.push_back(p[i]);
    merged_q.push_back(q[i]);
  }
  return finite_loss(atoms_of_pair(merged_p, merged_q), make_key("largest-batch", {mu, Interval::exactly(static_cast<double>(batches))}),
                     {shuffled()});
}

namespace {

// [shuffled-batches]
Parts expand_shuffle(const Arguments& arguments, const LossPointer& base, const WordContext& context) {
  const auto mu = base->gaussian_mu();
  if (!mu) throw UnsupportedError("shuffle: proved for Gaussian noise only, directly after it; write gaussian(...) | shuffle(...)");
  if (context.neighbours() == Neighbours::add_remove)
    throw UnsupportedError(
        "shuffle: add-remove neighbours are not proved, because one record more or fewer moves the others to other batches; state zero-out "
        "(the record's place stays, and contributes nothing) or replace-one");
  const std::uint64_t batches = arguments.whole("batches"), passes = arguments.whole("passes");
  const bool again = arguments.has("reuse") && arguments.choice("reuse") == "true";
  // A reused order adds the passes of each step up; a fresh one composes them.
  const Interval scaled = again ? *mu * sqrt(Interval::exactly(passes)) : *mu;
  const std::uint64_t times = again ? 1 : passes;
  if (batches == 1 || mu->hi == 0) return {{with_theorem(gaussian_loss(scaled), shuffled()), times}};
  const auto above = [scaled, again]() -> LossPointer {
    LossPointer gaussian = with_theorem(gaussian_loss(scaled), shuffled());
    return again ? std::make_shared<OneOrder>(std::move(gaussian)) : gaussian;
  };
  const auto allocated = [scaled, batches] { return with_theorem(allocation_loss(scaled, batches), shuffled()); };
  const auto largest = [scaled, batches] { return largest_batch_loss(scaled, batches); };
  if (context.neighbours() == Neighbours::replace_one) return {{context.bracket(above, {allocated}), times}};
  return {{context.bracket(above, {largest, allocated}), times}};
}

}  // namespace

Word shuffle_word() {
  return {.role = Role::operation,
          .name = "shuffle",
          .meaning = "records in a random order, cut into batches of equal size",
          .parameters = {{"batches", Kind::integer, "batches of one pass", range::whole(1, most_batches)},
                         {.name = "passes",
                          .kind = Kind::integer,
                          .meaning = "passes over the data",
                          .range = range::whole(1, 1'000'000),
                          .fallback = "1"},
                         {.name = "reuse",
                          .kind = Kind::choice,
                          .meaning = "whether all passes use one order: false (the default) or true",
                          .optional = true,
                          .choices = "false|true"}},
          .neighbours = {Neighbours::zero_out, Neighbours::replace_one},
          .sentence =
              "In `shuffle`, the order of the records is uniformly random and does not depend on the outputs; batches are cut from it, "
              "and the number of records is the same for both neighbours.",
          .expand = expand_shuffle,
          .samples = true};
}

}  // namespace tradeoff::detail
