// SPDX-License-Identifier: Apache-2.0
#include "transform/weighted_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/arithmetic.h"

// [mixed-transform]
namespace tradeoff::detail {
namespace {

constexpr double most_weight_width = 1e-11;  // relative: every digit that it costs is lost again by each step
constexpr double mean_step = 1e-6;           // of the secants that enclose a mean, in deviations: their error is about half of it
constexpr double least_deviation = 1e-3;     // for the step of a law that is nearly a single atom
constexpr double few_roundings = 16 * unit_roundoff;

struct Component {
  Interval log_weight;
  std::shared_ptr<const Transform> transform;
};

struct PreparedComponent {
  Interval log_weight;
  std::unique_ptr<const Moments> moments;
};

struct TiltedComponent {
  Interval share;  // of the tilted mass
  std::unique_ptr<const TiltedLoss> tilt;
  double turn = 0;  // its centre less that of the mixture
};

/// Encloses the mean of a component under the tilt: log M is convex, so secants of it enclose its derivative.
Interval mean_of(const Moments& moments, const TiltedLoss& tilt, double order) {
  const double step = mean_step / std::max(tilt.deviation_above(), least_deviation);
  const double low = order - step, high = order + step;
  const Interval here = tilt.log_moment();
  const Interval left = (here - Interval::exactly(moments.log_moment_above(low))) / (Interval::exactly(order) - Interval::exactly(low));
  const Interval right = (Interval::exactly(moments.log_moment_above(high)) - here) / (Interval::exactly(high) - Interval::exactly(order));
  return {left.lo, right.hi};
}

class MixedTilt final : public TiltedLoss {
 public:
  MixedTilt(const std::vector<PreparedComponent>& components, double order) {
    log_moment_ = Interval::exactly(-infinity);
    std::vector<Interval> parts, means;
    for (const PreparedComponent& one : components) {
      tilts_.push_back({{}, one.moments->tilt(order)});
      parts.push_back(one.log_weight + tilts_.back().tilt->log_moment());
      means.push_back(mean_of(*one.moments, *tilts_.back().tilt, order));
      log_moment_ = log_add_exp(log_moment_, parts.back());
    }
    double centre = 0;
    for (std::size_t i = 0; i < tilts_.size(); ++i) {
      tilts_[i].share = clamp(exp(parts[i] - log_moment_), 0, 1);
      centre += 0.5 * (tilts_[i].share.lo + tilts_[i].share.hi) * tilts_[i].tilt->centre();
    }
    centre_ = centre;
    Interval square = Interval::exactly(0);  // of the distance from the centre: at least the variance
    for (std::size_t i = 0; i < tilts_.size(); ++i) {
      const Interval deviation = Interval::exactly(tilts_[i].tilt->deviation_above()), away = means[i] - centre_;
      square = square + tilts_[i].share * (deviation * deviation + away * away);
      tilts_[i].turn = tilts_[i].tilt->centre() - centre_;
    }
    deviation_ = sqrt(Interval::exactly(square.hi)).hi;
  }

  [[nodiscard]] Interval log_moment() const override { return log_moment_; }
  [[nodiscard]] double centre() const override { return centre_; }
  [[nodiscard]] double deviation_above() const override { return deviation_; }
  /// phi - 1 is the sum of share (exp(i t turn) phi_i - 1), because the shares add up to 1.
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    std::fill(values.begin(), values.end(), CharacteristicValue{});
    std::vector<CharacteristicValue> own(times.size());
    for (const TiltedComponent& one : tilts_) {
      one.tilt->characteristic_function(times, own);
      const double share = 0.5 * (one.share.lo + one.share.hi), doubt = 0.5 * one.share.width() * (1 + few_roundings);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const double angle = times[i] * one.turn, half = std::sin(0.5 * angle), sine = std::sin(angle), less = -2 * half * half;
        // (1 + less + i sine)(1 + a + i b) - 1
        const double a = own[i].real_less_one, b = own[i].imaginary;
        const double real = less + a + less * a - sine * b, imaginary = sine + b + less * b + sine * a;
        const double size = std::abs(less) + std::abs(sine) + 2 * (std::abs(a) + std::abs(b));
        values[i].real_less_one += share * real;
        values[i].imaginary += share * imaginary;
        const double rounding = few_roundings * (size + std::abs(angle));
        values[i].error +=
            (one.share.hi * (own[i].error + rounding) + doubt * (std::abs(real) + std::abs(imaginary))) * (1 + few_roundings);
      }
    }
    for (CharacteristicValue& value : values)  // the additions above
      value.error += few_roundings * static_cast<double>(tilts_.size()) * (std::abs(value.real_less_one) + std::abs(value.imaginary));
  }
  [[nodiscard]] double modulus_above(double t) const override {
    return summed([&](const TiltedLoss& tilt) { return tilt.modulus_above(t); });
  }
  [[nodiscard]] Decay decay(double wanted) const override {
    std::vector<Decay> each;
    for (const TiltedComponent& one : tilts_) each.push_back(one.tilt->decay(wanted));
    Decay sum{0, 0, 0};
    for (std::size_t i = 0; i < each.size(); ++i) {
      const double share = tilts_[i].share.hi * (1 + few_roundings);
      sum.atoms += share * each[i].atoms;
      sum.variation += share * each[i].variation;
      sum.whole_variation += share * each[i].whole_variation;
    }
    sum.atoms = std::min(1.0, sum.atoms);
    return sum;
  }
  [[nodiscard]] std::size_t size() const override {
    std::size_t all = 0;
    for (const TiltedComponent& one : tilts_) all += one.tilt->size();
    return all;
  }

 private:
  template <class Read>
  [[nodiscard]] double summed(Read&& read) const {
    double sum = 0;
    for (const TiltedComponent& one : tilts_) sum += one.share.hi * read(*one.tilt) * (1 + few_roundings);
    return std::min(1.0, sum);
  }

  std::vector<TiltedComponent> tilts_;
  Interval log_moment_;
  double centre_ = 0;
  double deviation_ = 0;
};

class MixedMoments final : public Moments {
 public:
  explicit MixedMoments(std::vector<PreparedComponent> components) : components_(std::move(components)) {}

  [[nodiscard]] Cumulant cumulant(double order) const override {
    std::vector<Cumulant> each;
    double largest = -infinity;
    for (const PreparedComponent& one : components_) {
      each.push_back(one.moments->cumulant(order));
      each.back().value += one.log_weight.lo;
      largest = std::max(largest, each.back().value);
    }
    double total = 0, mean = 0, square = 0;
    for (const Cumulant& one : each) {
      const double weight = std::exp(one.value - largest);
      total += weight;
      mean += weight * one.mean;
      square += weight * (one.variance + one.mean * one.mean);
    }
    mean /= total;
    return {largest + std::log(total), mean, std::max(0.0, square / total - mean * mean)};
  }
  [[nodiscard]] double log_moment_above(double order) const override {
    Interval sum = Interval::exactly(-infinity);
    for (const PreparedComponent& one : components_)
      sum = log_add_exp(sum, one.log_weight + Interval::exactly(one.moments->log_moment_above(order)));
    return sum.hi;
  }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<MixedTilt>(components_, order);
  }

 private:
  std::vector<PreparedComponent> components_;
};

class MixedTransform final : public Transform {
 public:
  MixedTransform(std::vector<Component> components, Interval infinite, double largest)
      : components_(std::move(components)), infinite_(infinite), largest_(largest) {}

  [[nodiscard]] Interval infinite_mass() const override { return infinite_; }
  [[nodiscard]] double largest_loss() const override { return largest_; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    std::vector<PreparedComponent> prepared;
    for (const Component& one : components_) {
      prepared.push_back({one.log_weight, one.transform->prepare(reach)});
      if (prepared.back().moments == nullptr) return nullptr;
    }
    return std::make_unique<MixedMoments>(std::move(prepared));
  }

 private:
  std::vector<Component> components_;
  Interval infinite_;
  double largest_;
};

class GaussianTilt final : public TiltedLoss {
 public:
  GaussianTilt(Interval mu, double order) : mu_(mu), square_(mu * mu) {
    const Interval mean = square_ * (Interval::exactly(order) + 0.5);
    log_moment_ = square_ * (Interval::exactly(order) * (Interval::exactly(order) + 1.0) / 2.0);
    centre_ = 0.5 * (mean.lo + mean.hi);
    off_ = std::max((mean - centre_).hi, -(mean - centre_).lo);
  }

  [[nodiscard]] Interval log_moment() const override { return log_moment_; }
  [[nodiscard]] double centre() const override { return centre_; }
  [[nodiscard]] double deviation_above() const override { return mu_.hi; }
  /// exp(-mu^2 t^2 / 2), turned by less than t times the distance of the centre from the mean.
  void characteristic_function(std::span<const double> times, std::span<CharacteristicValue> values) const override {
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Interval less = expm1(-(square_ * Interval::exactly(times[i]) * Interval::exactly(times[i]) / 2.0));
      values[i] = {0.5 * (less.lo + less.hi), 0, (0.5 * less.width() + times[i] * off_) * (1 + few_roundings)};
    }
  }
  [[nodiscard]] double modulus_above(double t) const override {
    return exp(-(square_ * Interval::exactly(t) * Interval::exactly(t) / 2.0)).hi;
  }
  /// x exp(-x^2/2) is at most exp(-1/2).
  [[nodiscard]] Decay decay(double) const override {
    const double variation = (exp(Interval::exactly(-0.5)) / mu_).hi;
    return {0, variation, variation};
  }
  [[nodiscard]] std::size_t size() const override { return 1; }

 private:
  Interval mu_;
  Interval square_;
  Interval log_moment_;
  double centre_ = 0;
  double off_ = 0;
};

class GaussianMoments final : public Moments {
 public:
  explicit GaussianMoments(Interval mu) : mu_(mu) {}
  [[nodiscard]] Cumulant cumulant(double order) const override {
    const double square = mu_.lo * mu_.hi;
    return {square * order * (order + 1) / 2, square * (order + 0.5), square};
  }
  [[nodiscard]] double log_moment_above(double order) const override { return GaussianTilt(mu_, order).log_moment().hi; }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override { return std::make_unique<GaussianTilt>(mu_, order); }

 private:
  Interval mu_;
};

class GaussianTransform final : public Transform {
 public:
  explicit GaussianTransform(Interval mu) : mu_(mu) {}
  [[nodiscard]] Interval infinite_mass() const override { return Interval::exactly(0); }
  [[nodiscard]] double largest_loss() const override { return infinity; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange&) const override {
    return std::make_unique<GaussianMoments>(mu_);
  }

 private:
  Interval mu_;
};

}  // namespace

std::shared_ptr<const Transform> gaussian_transform(Interval mu) { return std::make_shared<GaussianTransform>(mu); }

std::shared_ptr<const Transform> mixed_transform(std::vector<WeightedTransform> components) {
  std::erase_if(components, [](const WeightedTransform& one) { return one.weight.hi == 0; });
  Interval infinite = Interval::exactly(0);
  double largest = -infinity;
  for (const WeightedTransform& one : components) {
    if (one.transform == nullptr || !(one.weight.lo > 0) || !(one.weight.width() <= most_weight_width * one.weight.lo)) return nullptr;
    infinite = infinite + one.weight * one.transform->infinite_mass();
    largest = std::max(largest, one.transform->largest_loss());
  }
  infinite = clamp(infinite, 0, 1);
  if (components.empty() || !(infinite.hi < 1)) return nullptr;
  std::vector<Component> finite;
  for (WeightedTransform& one : components) {
    const Interval kept = 1.0 - one.transform->infinite_mass();
    if (!(kept.lo > 0)) return nullptr;
    finite.push_back({log(one.weight) + log(kept) - log1p(-infinite), std::move(one.transform)});
  }
  return std::make_shared<MixedTransform>(std::move(finite), infinite, largest);
}

}  // namespace tradeoff::detail
