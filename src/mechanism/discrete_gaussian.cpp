// SPDX-License-Identifier: Apache-2.0
#include "mechanism/discrete_gaussian.h"

#include <cmath>
#include <utility>

#include "loss/atoms.h"
#include "loss/key.h"
#include "mechanism/discrete_laplace.h"
#include "mechanism/finite.h"
#include "mechanism/scaled_noise.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/rational.h"
#include "numeric/sum.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"
#include "transform/theta_transform.h"

namespace tradeoff::detail {
namespace {

/// exp(-y^2 / (2 sigma^2)).
Interval weight(Interval sigma, double y) { return exp(-square(Interval::exactly(y) / sigma) / 2.0); }

/// The sum of the weights of all |y| <= reach; plain sums of intervals would lose a rounding for each of them. [compensated-sum]
Interval sum_of_weights(Interval sigma, double reach) {
  numeric::CompensatedSum below, above;
  for (double y = 1; y <= reach; ++y) {
    const Interval one = weight(sigma, y);
    below.add(one.lo);
    above.add(one.hi);
  }
  return 1.0 + 2.0 * hull(below.enclosure(), above.enclosure());
}

/// Bounds the sum of the weights of all y > reach by a geometric series, because the ratios of consecutive weights decrease.
double tail_above(Interval sigma, double reach) {
  const Interval first = weight(sigma, reach + 1);
  const Interval ratio = exp(-(Interval::exactly(2 * reach + 3) / square(sigma)) / 2.0);
  return (first / (1.0 - ratio)).hi;
}

/// [tail-model] A loss above e means Y >= m for some m > t = sigma^2 e/shift - shift/2. For t >= 0 the weights of all y >= m add up to
/// exp(-m^2 / (2 sigma^2)) times a sum that is largest at m = 0, where it is (total + 1)/2. The moments are at most those of Gaussian
/// noise, because a sum of weights is largest for a centre on the grid (Canonne, Kamath and Steinke).
Tail tail_of(Interval sigma, double shift, Interval total) {
  const Interval mu = shift / sigma;
  const Interval share = (total + 1.0) / (2.0 * total);
  Tail tail = gaussian_tail((log(Interval::exactly(share.hi)) - square(Interval::exactly(mu.hi)) / 8.0).hi, mu,
                            (square(Interval::exactly(mu.hi)) / 2.0).hi);
  tail.gaussian->slope = 0.5;
  tail.moment_mu = mu.hi;
  if (shift > 0) lower_gdp_mu(tail, {{{sigma, shift}, 1}}, 0);
  return tail;
}

/// The sum of exp(-((m + i)^2 - m^2) / (2 sigma^2)) over i >= 0, for m > 0. The ratios of consecutive terms decrease and are below 1.
Interval sum_above(Interval sigma, double m) {
  const Interval scale = 2.0 * square(sigma);
  Interval sum = Interval::exactly(0.0);
  for (double i = 0;; ++i) {
    const Interval term = exp(-(Interval::exactly(i) * (Interval::exactly(2 * m) + i)) / scale);
    sum = sum + term;
    if (term.hi > 0x1p-60) continue;
    const Interval ratio = exp(-(Interval::exactly(2 * (m + i)) + 1.0) / scale);
    return sum + Interval{0, (term * ratio / (1.0 - ratio)).hi};
  }
}

/// The table contains every outcome whose weight is a double; further out the profile has a closed form in logarithms.
class DiscreteGaussianLoss final : public Loss, public MovedNoise {
 public:
  DiscreteGaussianLoss(Atoms atoms, Interval sigma, double shift, Interval total, Citations origin)
      : atoms_(std::move(atoms)),
        origin_(std::move(origin)),
        sigma_(sigma),
        shift_(shift),
        log_total_(log(total)),
        tail_(tail_of(sigma, shift, total)),
        transform_(theta_transform(sigma, shift)),
        lattice_{Interval::exactly(shift) / square(sigma), std::fmod(shift, 2) != 0} {}

  [[nodiscard]] Interval delta(Direction, Interval epsilon) const override {
    DiscreteGaussianLoss::cite();
    return delta_of(atoms_, epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction, Interval epsilon) const override {
    DiscreteGaussianLoss::cite();
    // From outcomes 37 standard deviations away on, delta is below 1e-290.
    const Interval mu = Interval::exactly(shift_) / sigma_;
    const double far = (37.0 * mu + square(mu) / 2.0).hi;
    if (!(epsilon.lo > far && epsilon.hi < largest_far)) return log_delta_of(atoms_, epsilon);
    return {far_log_delta(epsilon.hi).lo, far_log_delta(epsilon.lo).hi};
  }
  [[nodiscard]] bool symmetric() const override { return true; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return atoms_.infinite; }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] Capabilities capabilities(Direction) const override {
    return {.atoms = &atoms_,
            .transform = transform_.get(),
            .moved = this,
            .whole_gaussian = WholeGaussian{sigma_, shift_},
            .lattice = lattice_};
  }
  [[nodiscard]] LossPointer moved(std::uint64_t times, Citations origin) const override {
    const double shift = shift_ * static_cast<double>(times);
    if (!(shift <= most_discrete_shift)) return nullptr;
    return discrete_gaussian(sigma_, static_cast<std::uint64_t>(shift), std::move(origin));
  }
  [[nodiscard]] std::string key() const override { return make_key("discrete_gaussian", {sigma_, Interval::exactly(shift_)}); }
  void cite() const override {
    static const Citation law("discrete-gaussian", "the loss lies on a lattice; scalar queries, or vectors by their l1 sensitivity");
    if (origin_.empty())
      record(law);
    else
      record(origin_);
  }

 private:
  static constexpr double largest_far = 1e9;  // beyond it a double cannot distinguish neighbouring outcomes

  /// [discrete-gaussian] The largest P(Y >= m) - e^e P(Y >= m + shift) over m: attained at the first m above t.
  [[nodiscard]] Interval far_log_delta(double epsilon) const {
    const Interval variance = square(sigma_);
    const Interval t = Interval::exactly(epsilon) * variance / shift_ - shift_ / 2;
    Interval found = Interval::exactly(-infinity);
    for (double m = std::floor(t.lo) + 1; m <= std::floor(t.hi) + 1; ++m) {
      const Interval drop =
          min(Interval::exactly(epsilon) - Interval::exactly(shift_) * (Interval::exactly(2 * m) + shift_) / (2.0 * variance),
              Interval::exactly(0.0));
      const Interval gain = sum_above(sigma_, m) - exp(drop) * sum_above(sigma_, m + shift_);
      found = max(found, log(max(gain, Interval::exactly(0.0))) - square(Interval::exactly(m)) / (2.0 * variance) - log_total_);
    }
    return found;
  }

  Atoms atoms_;
  Citations origin_;
  Interval sigma_;
  double shift_;
  Interval log_total_;
  Tail tail_;
  std::shared_ptr<const Transform> transform_;
  LossLattice lattice_;  // outcome y has the loss (shift/2 - y) shift / sigma^2
};

}  // namespace

// [discrete-gaussian] The outcomes beyond the reach count as an infinite loss, with a mass between 0 and their bound: 0 keeps the lower end
// of every answer valid, the bound keeps the upper end valid.
LossPointer discrete_gaussian(Interval sigma, std::uint64_t sensitivity, Citations origin) {
  const double shift = static_cast<double>(sensitivity);
  // exp(-38.6^2 / 2) is about 1e-323: beyond this reach a weight underflows.
  const double reach = std::ceil(38.6 * sigma.hi) + 1;
  const double tail = tail_above(sigma, reach);
  const Interval total = sum_of_weights(sigma, reach) + Interval{0, 2 * tail};
  std::vector<Atom> atoms;
  const Interval step = shift / square(sigma);
  for (double y = -reach; y <= reach + shift; ++y) {
    // A quotient of the smallest doubles may be rounded to just below 0.
    const Interval mass = std::abs(y) <= reach ? clamp(weight(sigma, y) / total, 0, 1) : Interval{0, (Interval::exactly(tail) / total).hi};
    atoms.push_back({Interval::exactly(shift / 2 - y) * step, mass});
  }
  if (sensitivity == 0) atoms.assign(1, {Interval::exactly(0), Interval::exactly(1)});
  const Interval beyond = sensitivity == 0 ? Interval::exactly(0) : Interval{0, (Interval::exactly(tail) / total).hi};
  Atoms law = make_atoms(std::move(atoms), beyond, beyond, true);
  if (sensitivity > 0) return std::make_shared<DiscreteGaussianLoss>(std::move(law), sigma, shift, total, std::move(origin));
  return finite_loss(std::move(law), make_key("discrete_gaussian", {sigma, Interval::exactly(shift)}),
                     {Citation("discrete-gaussian", "no change of the data changes the result")});
}

namespace {

LossPointer make_discrete_gaussian(const Arguments& arguments, const WordContext&) {
  const Interval sigma = arguments.number("sigma");
  if (sigma.hi > widest_discrete_gaussian)
    throw TooLargeError("discrete_gaussian: sigma above 10000 grid steps is not supported; use a coarser grid or gaussian");
  return discrete_gaussian(sigma, arguments.whole("sensitivity"));
}

/// The sums of exp(-i^2 / (2 sigma^2)) over i >= j, for j = 0, 1, ... until the rest is negligible; a geometric series bounds the rest,
/// because the ratios of consecutive terms decrease.
std::vector<Interval> sums_of_weights(double sigma) {
  const Interval scale = 2.0 * square(Interval::exactly(sigma));
  const auto weight_of = [&](double i) { return exp(-square(Interval::exactly(i)) / scale); };
  const double last = std::ceil(10 * sigma) + 2;  // exp(-50) is negligible for any cut
  const Interval ratio = exp(-(2 * Interval::exactly(last) + 3.0) / scale);
  Interval sum{0, (weight_of(last + 1) / (1.0 - ratio)).hi};
  std::vector<Interval> sums(static_cast<std::size_t>(last) + 2);
  sums.back() = sum;
  for (double i = last; i >= 0; --i) sums[static_cast<std::size_t>(i)] = sum = sum + weight_of(i);
  return sums;
}

// [parameter-calibration]
ScaledNoise::Tail discrete_gaussian_upper_tail(double sigma) {
  // below, only the first weight is a nonzero double: the sums lie between those of no noise and those of this scale
  constexpr double least = 0.02;
  std::vector<Interval> sums = sums_of_weights(std::max(sigma, least));
  if (sigma < least)
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i].lo = i == 0 ? 1 : 0;
  return [sums = std::move(sums)](double reach) {
    const auto last = static_cast<double>(sums.size() - 1);
    const Interval sum = reach <= last ? sums[static_cast<std::size_t>(reach)] : Interval{0, sums.back().hi};
    return sum / (sums[0] + sums[1]);
  };
}

// [parameter-calibration]
WholeNoise sum_of_discrete_gaussians(double sigma, std::uint64_t runs) {
  constexpr double deviations = 11;  // 1e-27 of the weights does not decide
  return discrete_gaussian_sum(Interval::exactly(sigma), runs, deviations);
}
Interval loss_of_sum(double shift, std::uint64_t runs, double sigma, double sum) {
  const Interval d = Interval::exactly(shift);
  return d * (Interval::exactly(runs) * d - 2.0 * Interval::exactly(sum)) / (2.0 * square(Interval::exactly(sigma)));
}

ScaledNoise scaled_discrete_gaussian(const Arguments&) {
  return {.whole = true,
          .tail = discrete_gaussian_upper_tail,
          .sums = ScaledNoise::Sums{sum_of_discrete_gaussians, loss_of_sum},
          .output_of_loss = [](double sensitivity, double sigma, double epsilon) {
            return sensitivity / 2 - epsilon * sigma * sigma / sensitivity;
          }};
}

/// The losses are s (2k + s) / (2 sigma^2) with whole numbers k and s.
std::optional<numeric::Rational> loss_step_of_discrete_gaussian(const Arguments& arguments) {
  const auto sigma = arguments.exact("sigma");
  return ratio(numeric::Rational{1, 2}, product(sigma, sigma));
}

}  // namespace

// The norm matters: with an l2 sensitivity, integer Gaussian noise would be reported as more private than it is. [discrete-gaussian]
Word discrete_gaussian_word() {
  return {.role = Role::source,
          .name = "discrete_gaussian",
          .meaning = "Gaussian noise on the integers, l1 sensitivity",
          .parameters = {{"sigma", Kind::number, "sigma of the noise, in steps of the grid", range::positive,
                          effect::mostly_safer.up_to(widest_discrete_gaussian)},
                         grid_sensitivity_parameter},
          .norm = "l1",
          .make = make_discrete_gaussian,
          .loss_step = loss_step_of_discrete_gaussian,
          .noise = scaled_discrete_gaussian};
}

}  // namespace tradeoff::detail
