// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "loss/key.h"
#include "mechanism/adaptive_choice.h"
#include "mechanism/constraints.h"
#include "mechanism/exponential.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/noisy_max_gaussian.h"
#include "mechanism/randomized_response.h"
#include "mechanism/selection_arguments.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

enum class MaxNoise { exponential, laplace, gaussian };

const Citation& reduction() {
  static const Citation citation("noisy-max-reduction", "the index of the largest noisy utility is bounded by a shift of its noise");
  return citation;
}

/// [noisy-max-reduction] Two candidates with Laplace noise, the worst over their difference: from below only. From above the bound of any
/// number of candidates holds.
class LaplaceDifference final : public Loss {
 public:
  explicit LaplaceDifference(Interval shift) : shift_(shift), bound_(shift, {reduction()}) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return {std::min(at(epsilon.hi), bound_.delta(direction, epsilon).hi), bound_.delta(direction, epsilon).hi};
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return pure_tail({shift_, shift_}); }
  void cite() const override { bound_.cite(); }

 private:
  /// P(Z1 - Z2 > c) is (2 + c) e^-c / 4 for c >= 0.
  [[nodiscard]] static Interval survival(Interval c) {
    return c.lo >= 0 ? (2.0 + c) * exp(-c) / 4.0 : c.hi <= 0 ? 1.0 - (2.0 - c) * exp(c) / 4.0 : Interval{0, 1};
  }
  [[nodiscard]] double at(double epsilon) const {
    if (epsilon == -infinity) return 1;
    if (epsilon >= shift_.lo) return 0;
    if (epsilon < 0) return std::max(0.0, (-expm1(Interval::exactly(epsilon)) + exp(Interval::exactly(epsilon)) * at(-epsilon)).lo);
    const double s = shift_.lo;
    double c = s / std::expm1(s - epsilon) - 1;  // where the density is e^epsilon times that after the shift, if positive
    if (c < 0) {
      double low = -0.5 * s, high = 0;
      for (int i = 0; i < 40; ++i) {
        const double middle = 0.5 * (low + high);
        const bool beyond = std::log1p(-middle) + middle > epsilon + std::log1p(middle + s) - middle - s;
        (beyond ? high : low) = middle;
      }
      c = low;
    }
    const Interval place = Interval::exactly(c);
    return std::max(0.0, (survival(place) - exp(Interval::exactly(epsilon)) * survival(place + s)).lo);
  }

  Interval shift_;
  LaplaceLoss bound_;
};

/// Noisy max with another noise than Gumbel's. `shift` is how far two utilities move relative to each other, in units of the noise.
struct NoisyMax {
  MaxNoise noise;
  Interval shift;
  std::uint64_t candidates;  // of Gaussian noise; 0 if unknown

  [[nodiscard]] std::string name() const {
    return make_key("noisy_max",
                    {Interval::exactly(static_cast<double>(noise)), shift, Interval::exactly(static_cast<double>(candidates))});
  }
  /// The profile of one use is that of the pair above, not only bounded by it.
  [[nodiscard]] bool exact() const { return noise == MaxNoise::exponential || (noise == MaxNoise::gaussian && candidates == 2); }

  // [noisy-max-reduction] [noisy-max-gaussian]
  [[nodiscard]] LossPointer above() const {
    if (noise != MaxNoise::gaussian) return std::make_shared<LaplaceLoss>(shift, Citations{reduction()});
    if (candidates == 2 || shift.hi == 0) return gaussian_loss(shift / sqrt(Interval::exactly(2)), {reduction()});
    static const Citation many("noisy-max-gaussian", "Gaussian noise: the worst division of the candidates into two sets",
                               Method::closed_form);
    return std::make_shared<ConstraintsLoss>(gaussian_noisy_max(shift, candidates), true, Citations{reduction(), many});
  }
  /// A lower bound of one use where `exact` is false: two candidates alone, with their difference chosen after all else is known, or two
  /// halves of the candidates.
  [[nodiscard]] LossPointer witness() const {
    if (noise == MaxNoise::laplace) return std::make_shared<LaplaceDifference>(shift);
    static const Citation halves("noisy-max-gaussian", "lower ends: the candidates in two halves that move against each other");
    if (LossPointer found = candidates > 2 ? gaussian_noisy_max_witness(shift, candidates, {reduction(), halves}) : nullptr) return found;
    return gaussian_loss(shift / sqrt(Interval::exactly(2)), {reduction()});
  }
  /// Two candidates with utilities half a shift apart, which change places: randomised response. All others are far below.
  [[nodiscard]] LossPointer below() const { return randomized_response(max(log_odds(), Interval::exactly(0)), 2); }

 private:
  [[nodiscard]] Interval log_odds() const {
    const Interval half = shift / 2.0;
    if (noise == MaxNoise::exponential) return log1p(2.0 * expm1(half));
    if (noise == MaxNoise::laplace) return log(4.0 * exp(half) / (2.0 + half) - 1.0);
    const Interval place = half / sqrt(Interval::exactly(2));
    return log_normal_cdf(place) - log_normal_cdf(-place);
  }
};

/// [adaptive-block] Of one use the worst case is known where it is exact; several uses enter by their pairs.
class NoisyMaxUses final : public AdaptiveUses {
 public:
  NoisyMaxUses(NoisyMax use, bool from_below) : use_(use), from_below_(from_below) {}

  [[nodiscard]] std::string name() const override { return use_.name(); }
  [[nodiscard]] LossPointer together(std::uint64_t uses) const override {
    if (uses != 1) return nullptr;
    if (use_.exact()) return use_.above();
    return from_below_ ? use_.witness() : nullptr;
  }
  [[nodiscard]] double gain(std::uint64_t uses) const override { return static_cast<double>(uses) * use_.shift.hi * use_.shift.hi; }
  [[nodiscard]] LossPointer of_group(std::uint64_t size) const override {
    return step({use_.noise, Interval::exactly(static_cast<double>(size)) * use_.shift, use_.candidates}, from_below_);
  }
  [[nodiscard]] static LossPointer step(const NoisyMax& use, bool from_below) {
    return std::make_shared<AdaptiveChoice>(from_below ? use.below() : use.above(), std::make_shared<NoisyMaxUses>(use, from_below));
  }

 private:
  NoisyMax use_;
  bool from_below_;
};

std::uint64_t rounds_of_noisy_max(const Arguments& arguments) {
  const std::uint64_t top = arguments.whole("top");
  if (top > 1 && arguments.choice("noise") != "gumbel")
    arguments.refuse(
        "top", std::to_string(top),
        "1 unless noise=gumbel: only with Gumbel noise are the best of one draw a sequence of choices. Write `noisy_max(...) | "
        "repeat(" +
            std::to_string(top) + ")` for rounds with fresh noise");
  return top;
}

LossPointer make_noisy_max(const Arguments& arguments, const WordContext& context) {
  const std::string_view noise = arguments.choice("noise");
  const Interval shift = shift_of_utilities(arguments, context) / arguments.number("scale");
  const std::uint64_t candidates = arguments.has("candidates") ? arguments.whole("candidates") : 0, top = rounds_of_noisy_max(arguments);
  if (candidates != 0 && top > candidates) arguments.refuse("top", std::to_string(top), "at most the number of candidates");
  if (noise == "gumbel") return bounded_range_step(shift, context, {reduction()});
  if (noise == "gaussian" && candidates == 0)
    throw DomainError(
        "noisy_max: Gaussian noise needs candidates, an upper bound on their number: without one there is no guarantee, because the loss "
        "grows "
        "with it. Write candidates=..., or use noise=gumbel, exponential or laplace");
  const NoisyMax use{noise == "exponential" ? MaxNoise::exponential
                     : noise == "laplace"   ? MaxNoise::laplace
                                            : MaxNoise::gaussian,
                     shift, noise == "gaussian" ? candidates : 0};
  return context.bracket([use] { return NoisyMaxUses::step(use, false); }, {[use] { return NoisyMaxUses::step(use, true); }});
}

// [largest-loss] Two candidates far apart come as close to it as one likes; Gaussian noise has no largest loss.
std::optional<numeric::Rational> largest_loss_of_noisy_max(const Arguments& arguments) {
  if (arguments.choice("noise") == "gaussian") return std::nullopt;
  return product(ratio(exact_shift_of_utilities(arguments), arguments.exact("scale")), arguments.whole("top"));
}

}  // namespace

Word noisy_max_word() {
  constexpr std::uint64_t most_candidates = 1'000'000'000'000;  // still exact in a double
  return {.role = Role::source,
          .name = "noisy_max",
          .meaning = "the index of the largest of several noisy utilities",
          .parameters =
              {{.name = "noise", .kind = Kind::choice, .meaning = "its distribution", .choices = "gumbel|exponential|laplace|gaussian"},
               {"scale", Kind::number, "scale of the noise; its standard deviation if it is Gaussian", range::positive, effect::safer},
               utility_sensitivity_parameter,
               monotone_parameter,
               {.name = "candidates",
                .kind = Kind::integer,
                .meaning = "an upper bound on their number; only Gaussian noise needs it",
                .range = range::whole(2, most_candidates),
                .optional = true},
               {.name = "top",
                .kind = Kind::integer,
                .meaning = "how many of the largest are published, in their order, from one draw of Gumbel noise",
                .range = range::whole(1, 1'000'000'000),
                .fallback = "1"}},
          .synonyms = {{"report_noisy_max"},
                       {"permute_and_flip", "noisy_max(noise=exponential, scale=2/epsilon) has the law of permute-and-flip"}},
          .sentence = selection_sentence,
          .make = make_noisy_max,
          .uses = rounds_of_noisy_max,
          .largest_loss = largest_loss_of_noisy_max};
}

}  // namespace tradeoff::detail
