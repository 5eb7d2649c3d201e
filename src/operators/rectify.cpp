// SPDX-License-Identifier: Apache-2.0
#include "operators/rectify.h"

#include <array>
#include <cmath>
#include <utility>

#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/duality.h"
#include "operators/refine.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"
#include "tradeoff/research.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

// [clip-and-rectify] The smaller of two valid bounds at every epsilon.
class RectifiedLoss final : public Loss, public ClosedForms {
 public:
  RectifiedLoss(LossPointer base, Interval epsilon) : base_(std::move(base)), noise_(epsilon) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return by_smaller(min(base_->delta(direction, epsilon), noise_.delta(direction, epsilon)));
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return by_smaller(min(base_->log_delta(direction, epsilon), noise_.log_delta(direction, epsilon)));
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  /// Each bound limits every test; the larger of two trade-off functions is that of the hull.
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    return by_smaller(max(dual_beta(Profile(*base_, direction), alpha), dual_beta(Profile(noise_, direction), alpha)));
  }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override {
    Tail tail = noise_.tail();
    tail.largest = smaller(base_->tail().largest, tail.largest);
    return tail;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this, .minimum_of = parts_, .cost = base_->cost(), .is_pair = false};
  }
  void cite() const override {
    base_->cite();
    noise_.cite();
    (void)by_smaller({});
  }

 private:
  [[nodiscard]] static Interval by_smaller(Interval value) {
    static const Citation smaller("clip-and-rectify", "clipped to a public range, Laplace noise added: the smaller of both profiles");
    record(smaller);
    return value;
  }

  LossPointer base_;
  LaplaceLoss noise_;
  std::array<const Loss*, 2> parts_{base_.get(), &noise_};
};

}  // namespace

// [clip-and-rectify]
PublicBox PublicBox::chosen_without_data(const std::vector<std::pair<double, double>>& sides) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return chosen_without_data(sides); });

  if (sides.empty()) throw DomainError("PublicBox: at least one coordinate is needed");
  Interval diameter = Interval::exactly(0);
  for (const auto& [low, high] : sides) {
    if (!(std::isfinite(low) && std::isfinite(high) && low < high))
      throw DomainError("PublicBox: every side needs finite bounds, low < high");
    diameter = diameter + (Interval::exactly(high) - low);
  }
  return PublicBox(diameter);
}

Interval PublicBox::rectifying_scale(Interval epsilon) const {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return rectifying_scale(epsilon); });

  if (!(epsilon.lo > 0 && epsilon.hi < infinity)) throw DomainError("rectifying_scale: epsilon must be above 0 and finite");
  return l1_diameter_ / epsilon;
}

LossPointer detail::rectify(LossPointer base, Interval epsilon) {
  return std::make_shared<RectifiedLoss>(refine(std::move(base)), epsilon);
}

namespace {

LossPointer apply_rectify(const Arguments& arguments, LossPointer base, const WordContext&) {
  const Interval low = arguments.number("low");
  const Interval high = arguments.number("high");
  if (!(low.hi < high.lo)) arguments.refuse("high", arguments.written("high").text, "above low");
  return rectify(std::move(base), arguments.number("epsilon"));
}

}  // namespace

Word detail::rectify_word() {
  return {.role = Role::operation,
          .name = "rectify",
          .meaning = "clip to [low, high], then add Laplace((high - low)/epsilon)",
          .parameters = {{"epsilon", Kind::number, "epsilon of the added noise", range::positive,
                          effect::riskier.up_to(effect::largest_epsilon)},
                         {"low", Kind::number, "least value"},
                         {"high", Kind::number, "largest value"}},
          .apply = apply_rectify};
}

}  // namespace tradeoff
