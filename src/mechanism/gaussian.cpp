// SPDX-License-Identifier: Apache-2.0
#include "mechanism/gaussian.h"

#include <utility>

#include "loss/gaussian_profile.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "plan/arguments.h"

namespace tradeoff::detail {
namespace {

// [gaussian-profile] The loss is N(mu^2/2, mu^2) in both directions.
class GaussianLoss final : public Loss, public ClosedForms {
 public:
  GaussianLoss(Interval mu, Citations origin) : mu_(mu), origin_(std::move(origin)) {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    GaussianLoss::cite();
    return tradeoff::detail::gaussian_delta(mu_, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction, Interval epsilon) const override {
    GaussianLoss::cite();
    return log_gaussian_delta(mu_, epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction, Interval delta) const override {
    GaussianLoss::cite();
    return tradeoff::detail::gaussian_epsilon(mu_, delta);
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction, Interval alpha) const override {
    GaussianLoss::cite();
    return tradeoff::detail::gaussian_beta(mu_, alpha);
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this, .gaussian_mu = mu_, .atomless = true}; }
  [[nodiscard]] std::optional<Test> test_at(Direction, double epsilon) const override {
    if (mu_.lo <= 0) return std::nullopt;
    GaussianLoss::cite();
    const Interval threshold = Interval::exactly(epsilon) / mu_;
    return Test{normal_cdf(-threshold - mu_ / 2.0), normal_cdf(mu_ / 2.0 - threshold)};
  }
  void cite() const override {
    static const Citation profile("gaussian-profile", "the loss is exactly Gaussian; its profile and trade-off function have closed forms");
    record(origin_);
    record(profile);
  }

 private:
  Interval mu_;
  Citations origin_;
};

}  // namespace

// [gaussian-loss]
LossPointer gaussian_loss(Interval mu, Citations origin) { return std::make_shared<GaussianLoss>(mu, std::move(origin)); }

namespace {

// The noise relative to the sensitivity; a sensitivity of 0 is perfect privacy.
LossPointer make_gaussian(const Arguments& arguments, const SourceContext&) {
  return gaussian_loss(arguments.number("sensitivity") / arguments.number("sigma"));
}

LossPointer make_gdp(const Arguments& arguments, const SourceContext&) { return gaussian_loss(arguments.number("mu")); }

}  // namespace

Word gaussian_word() {
  return {.role = Role::source,
          .name = "gaussian",
          .meaning = "Gaussian noise, l2 sensitivity",
          .parameters = {{"sigma", Kind::number, "standard deviation of the noise", range::positive, effect::safer}, sensitivity_parameter},
          .synonyms = {{"normal"}},
          .norm = "l2",
          .make = make_gaussian};
}

Word gdp_word() {
  return {.role = Role::source,
          .name = "gdp",
          .meaning = "anything known only to be mu-GDP",
          .parameters = {{"mu", Kind::number, "the mu of Gaussian differential privacy", range::non_negative, effect::riskier}},
          .stated = true,
          .make = make_gdp};
}

}  // namespace tradeoff::detail
