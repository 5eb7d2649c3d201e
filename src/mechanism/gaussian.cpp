// SPDX-License-Identifier: Apache-2.0
#include "mechanism/gaussian.h"

#include <string>
#include <utility>

#include "loss/gaussian_profile.h"
#include "loss/key.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

// [gaussian-profile] The loss is N(mu^2/2, mu^2) in both directions.
class GaussianLoss final : public Loss, public ClosedForms {
 public:
  GaussianLoss(Interval mu, Citations origin, GaussianOf of) : mu_(mu), origin_(std::move(origin)), of_(of) {}

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
  [[nodiscard]] std::optional<Interval> log_complement(Direction, double epsilon) const override {
    GaussianLoss::cite();
    return log_gaussian_complement(mu_, Interval::exactly(epsilon));
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.closed_forms = this,
            .gaussian_mu = mu_,
            .clipped = of_ == GaussianOf::clipped_noise || of_ == GaussianOf::clipped_sums,
            .gaussian_noise = of_ == GaussianOf::noise || of_ == GaussianOf::clipped_noise,
            .atomless = true};
  }
  [[nodiscard]] std::optional<Test> test_at(Direction, double epsilon) const override {
    if (mu_.lo <= 0) return std::nullopt;
    GaussianLoss::cite();
    const Interval threshold = Interval::exactly(epsilon) / mu_;
    return Test{normal_cdf(-threshold - mu_ / 2.0), normal_cdf(mu_ / 2.0 - threshold)};
  }
  /// One with a theorem of its own is not merged with others, so that each is cited.
  [[nodiscard]] std::string key() const override {
    return origin_.empty() ? make_key("gaussian", {mu_, Interval::exactly(static_cast<int>(of_))}) : std::string();
  }
  void cite() const override {
    static const Citation profile("gaussian-profile", "the loss is exactly Gaussian; its profile and trade-off function have closed forms");
    record(origin_);
    record(profile);
  }

 private:
  Interval mu_;
  Citations origin_;
  GaussianOf of_;
};

}  // namespace

// [gaussian-loss]
LossPointer gaussian_loss(Interval mu, Citations origin, GaussianOf of) {
  return std::make_shared<GaussianLoss>(mu, std::move(origin), of);
}

namespace {

// The noise relative to the sensitivity; a sensitivity of 0 is perfect privacy. [clip-norm]
LossPointer make_gaussian(const Arguments& arguments, const WordContext& context) {
  const Interval sigma = arguments.number("sigma");
  if (!arguments.has("clip")) return gaussian_loss(arguments.number("sensitivity") / sigma, {}, GaussianOf::noise);
  static const Citation clip("clip-norm",
                             "the clip norm bounds the contribution of every record, so a replaced record moves the sum twice as far");
  const Interval norm = arguments.number("clip");
  if (context.neighbours() == Neighbours::unstated)
    throw DomainError(
        "gaussian: how far one record moves the sum depends on the neighbours; state them, or write sensitivity instead of clip");
  return gaussian_loss((context.neighbours() == Neighbours::replace_one ? 2.0 * norm : norm) / sigma, {clip}, GaussianOf::clipped_noise);
}

/// The divergence of order a of a Gaussian pair is a mu^2/2. [renyi-curve]
std::optional<numeric::Rational> half_of_square(const std::optional<numeric::Rational>& mu) {
  return ratio(product(mu, mu), numeric::Rational{2, 1});
}

std::optional<numeric::Rational> rho_of_gaussian(const Arguments& arguments) {
  if (arguments.has("clip")) return std::nullopt;  // it depends on the neighbours
  return half_of_square(ratio(arguments.exact("sensitivity"), arguments.exact("sigma")));
}

std::optional<numeric::Rational> rho_of_gdp(const Arguments& arguments) { return half_of_square(arguments.exact("mu")); }

LossPointer make_gdp(const Arguments& arguments, const WordContext&) { return gaussian_loss(arguments.number("mu")); }

}  // namespace

Word gaussian_word() {
  return {.role = Role::source,
          .name = "gaussian",
          .meaning = "Gaussian noise, l2 sensitivity",
          .parameters = {{"sigma", Kind::number, "standard deviation of the noise", range::positive, effect::safer},
                         in_form(sensitivity_parameter, 1),
                         {.name = "clip",
                          .kind = Kind::number,
                          .meaning = "largest norm of one record's contribution",
                          .range = range::non_negative,
                          .effect = effect::riskier,
                          .form = 2,
                          .optional = true}},
          .synonyms = {{"normal"}, {"scale=", "gaussian takes sigma, its standard deviation"}},
          .norm = "l2",
          .make = make_gaussian,
          .rho = rho_of_gaussian};
}

Word gdp_word() {
  return {.role = Role::source,
          .name = "gdp",
          .meaning = "anything known only to be mu-GDP",
          .parameters = {{"mu", Kind::number, "the mu of Gaussian differential privacy", range::non_negative, effect::riskier}},
          .stated = true,
          .make = make_gdp,
          .rho = rho_of_gdp};
}

}  // namespace tradeoff::detail
