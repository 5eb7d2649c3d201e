// SPDX-License-Identifier: Apache-2.0
#include "operators/capped_poisson.h"

#include <string>
#include <utility>

#include "loss/forwarding_loss.h"
#include "loss/gaussian_profile.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "numeric/binomial.h"
#include "operators/drawn_gaussian.h"
#include "operators/gaussian_mixture.h"
#include "operators/mixture.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

Citation citation_of_cap(const CappedSample& sample) {
  return {"capped-poisson", "of the drawn records at most " + std::to_string(sample.at_most) +
                                " are used; you promise that the larger data set has " + (sample.exact ? "exactly " : "at most ") +
                                std::to_string(sample.of) + " records"};
}

/// A loss with one more theorem.
class CappedLoss final : public ForwardingLoss {
 public:
  CappedLoss(LossPointer inner, Citation citation) : inner_(std::move(inner)), citation_(std::move(citation)) {}

 protected:
  [[nodiscard]] const Loss& base() const override { return *inner_; }
  void note() const override { record(citation_); }

 private:
  LossPointer inner_;
  Citation citation_;
};

}  // namespace

// [capped-poisson] [binomial-tail]
CappedSample capped_sample(Interval rate, std::uint64_t of, bool exact, std::uint64_t at_most) {
  const Interval cap = Interval::exactly(at_most);
  CappedSample sample{.rate = rate,
                      .largest_rate = exact ? rate * cap / (cap + 1.0) : rate,
                      .overfull = numeric::binomial_tail(of - 1, rate, at_most),
                      .alone = Interval::exactly(0),
                      .of = of,
                      .at_most = at_most,
                      .exact = exact};
  // E[min(1, B / (K + 1))] = P[K < B] + B / (n q) P[Bin(n, q) > B], K ~ Bin(n - 1, q).
  sample.alone = rate * (1.0 - sample.overfull) + cap / Interval::exactly(of) * numeric::binomial_tail(of, rate, at_most + 1);
  sample.alone = clamp(sample.alone, 0, rate.hi);
  // A probability near the end of the range of double is replaced by a larger one, which only the second form allows.
  constexpr double least_overfull = 1e-200;
  if (sample.overfull.hi < least_overfull) {
    sample.overfull = Interval::exactly(least_overfull);
    sample.largest_rate = rate;
  }
  return sample;
}

namespace {

/// A record of a full batch displaces another one or not, which is hidden: contributions of the given norm. Null if the pair that shows it
/// is used; each of both is proved. If most batches are full, small losses decide, and of these the other pair has fewer.
LossPointer hidden_displacement(const CappedSample& sample, Interval norm, Interval shift) {
  constexpr double few_full = 0.02;
  const Interval rate = sample.largest_rate;
  if (!(sample.overfull.hi < few_full && rate.lo > 0 && rate.hi < 1 && norm.lo > 0 && norm.hi < infinity)) return nullptr;
  LossPointer hidden = gaussian_mixture(2.0 * norm, rate, 1, 1, {});
  const Interval reference = Interval::exactly(1);
  const bool is_better = hidden->delta(Direction::remove, reference).hi < (rate * gaussian_delta(shift, reference)).lo;
  return is_better ? hidden : nullptr;
}

}  // namespace

// [capped-poisson] Every weight is an enclosure, so that each component counts with at least its true weight; none of them is 1 minus the
// others.
LossPointer capped_poisson_above(const CappedSample& sample, Interval mu, bool clipped, Neighbours neighbours) {
  const Interval within = 1.0 - sample.overfull;
  const Interval used = sample.overfull * sample.largest_rate;
  const Interval unused = sample.overfull * (1.0 - sample.largest_rate);
  std::vector<MixtureComponent> cases;
  if (neighbours == Neighbours::add_remove) {
    cases = {{within, drawn_gaussian(mu, sample.rate, clipped, neighbours)},
             {sample.overfull, drawn_gaussian(2.0 * mu, sample.largest_rate, clipped, neighbours)}};
  } else {
    const bool replaced = neighbours == Neighbours::replace_one;
    const LossPointer hidden = replaced && !clipped ? nullptr : hidden_displacement(sample, replaced ? mu / 2.0 : mu, mu);
    cases = {{within, drawn_gaussian(mu, sample.rate, clipped, neighbours)}, {used, gaussian_loss(mu)}, {unused, nothing_seen()}};
    if (hidden != nullptr) cases = {cases.front(), {sample.overfull, hidden}};
  }
  for (MixtureComponent& one : cases) one.weight = clamp(one.weight, 0, 1);
  return std::make_shared<CappedLoss>(mixture_loss(std::move(cases)), citation_of_cap(sample));
}

LossPointer capped_poisson_below(const CappedSample& sample, Interval mu, bool clipped, Neighbours neighbours) {
  const Interval rate = Interval::exactly(sample.alone.lo);  // a smaller rate is a smaller loss
  return std::make_shared<CappedLoss>(drawn_gaussian(mu, rate, clipped, neighbours), citation_of_cap(sample));
}

bool is_capped(const Arguments& arguments) {
  if (arguments.has("at_most")) return true;
  for (const char* name : {"of", "of_is"})
    if (arguments.has(name))
      throw DomainError("poisson: " + std::string(name) + " belongs to at_most, the largest batch; give at_most as well");
  return false;
}

namespace {

/// Whether the larger data set has exactly `of` records.
bool is_exact(const Arguments& arguments) { return !arguments.has("of_is") || arguments.choice("of_is") == "exact"; }

}  // namespace

std::string promise_of_cap(const Arguments& arguments) {
  if (!arguments.has("at_most")) return {};
  const bool exact = is_exact(arguments);
  return "A batch has at most " + std::to_string(arguments.whole("at_most")) + " records; of more drawn records so many are kept, " +
         (exact ? "uniformly at random" : "by a rule that does not look at the data") + ". The larger data set has " +
         (exact ? "exactly " : "at most ") + (arguments.has("of") ? std::to_string(arguments.whole("of")) : "?") +
         " records, and no sum is divided by the number of records that were drawn.";
}

LossPointer capped_poisson(const Arguments& arguments, const LossPointer& base, const WordContext& context) {
  if (!arguments.has("of"))
    throw DomainError(
        "poisson: at_most needs of, the number of records or an upper bound of it (of_is = at_most): the cap changes who is used only if "
        "others are drawn");
  const auto mu = base->gaussian_mu();
  if (!mu)
    throw UnsupportedError("poisson: at_most is proved for Gaussian noise only; write gaussian(...) | poisson(...), or leave at_most out");
  const Interval rate = arguments.number("rate");
  const std::uint64_t of = arguments.whole("of"), at_most = arguments.whole("at_most");
  if (at_most < of && rate.hi >= 1)
    throw UnsupportedError("poisson: rate = 1 with at_most below of is a sample of fixed size; write sample(size=" +
                           std::to_string(at_most) + ", of=" + std::to_string(of) + ")");
  const bool clipped = base->capabilities(Direction::remove).clipped;
  const Neighbours neighbours = context.neighbours();
  if (at_most >= of || rate.hi == 0) return drawn_gaussian(*mu, rate, clipped, neighbours);  // nothing is ever cut
  const CappedSample sample = capped_sample(rate, of, is_exact(arguments), at_most);
  return context.bracket([&] { return capped_poisson_above(sample, *mu, clipped, neighbours); },
                         {[&] { return capped_poisson_below(sample, *mu, clipped, neighbours); }});
}

}  // namespace tradeoff::detail
