// SPDX-License-Identifier: Apache-2.0
#include "operators/subsampled_gaussian.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "loss/key.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "numeric/normal.h"
#include "operators/subsampled.h"
#include "transform/characteristic_function.h"
#include "transform/gaussian_nodes.h"
#include "transform/raised_path.h"

namespace tradeoff::detail {
namespace {

// The march along the contour uses 1 - |phi|; an error below this share of it hardly shortens its steps.
constexpr double march_share = 1e-2;

/// A raised path for the nodes, made at its first use: few questions need one. [raised-path]
class PathAbove {
 public:
  PathAbove(const GaussianNodes& nodes, Interval mu, Interval rate) : nodes_(nodes), mu_(mu), rate_(rate) {}
  [[nodiscard]] double log_moment_after(double power, double t) const {
    std::call_once(made_, [this] {
      pair_.emplace(mu_, rate_, 1, 0);
      path_.emplace(*pair_, nodes_.low(), nodes_.high());
    });
    return path_->log_moment_after(power, t);
  }

 private:
  const GaussianNodes& nodes_;
  Interval mu_, rate_;
  mutable std::once_flag made_;
  mutable std::optional<MixturePair> pair_;
  mutable std::optional<RaisedPath> path_;
};

class GaussianTilt final : public NodeTilt {
 public:
  GaussianTilt(const GaussianNodes& nodes, const PathAbove& path, double power, int sign, double negligible)
      : NodeTilt(nodes, power, sign, negligible), nodes_(nodes), path_(path) {
    // Cumulative mass and first moment of the kept nodes, for sums over some of them.
    mass_.reserve(kept_weight().size() + 1);
    moment_.reserve(kept_weight().size() + 1);
    for (std::size_t j = 0; j < kept_weight().size(); ++j) {
      mass_.push_back(mass_.back() + kept_weight()[j]);
      moment_.push_back(moment_.back() + kept_weight()[j] * kept_loss()[j]);
    }
  }

  [[nodiscard]] std::vector<Spread> spreads() const override;
  [[nodiscard]] double modulus_above(double t) const override;
  [[nodiscard]] double raised_modulus_after(double t) const override {
    const double bound = relative(path_.log_moment_after(power(), t));
    return bound < 1 ? bound : 1;
  }
  [[nodiscard]] Decay decay(double wanted) const override;

 private:
  [[nodiscard]] double modulus_of_first(double t, std::size_t count) const;

  const GaussianNodes& nodes_;
  const PathAbove& path_;
  std::vector<double> mass_{0};
  std::vector<double> moment_{0};
};

// [contour-march] N(v)^2 <= 2 E min(1, (v (L - centre)/2)^2): uses the mass right of a cut and the second moment left of it.
std::vector<Spread> GaussianTilt::spreads() const {
  std::vector<Spread> spreads{{deviation_above(), 0}};
  double second = 0, wanted = 0.3;
  std::vector<double> sums{0};
  for (std::size_t j = 0; j < kept_weight().size(); ++j) sums.push_back(second += kept_weight()[j] * kept_loss()[j] * kept_loss()[j]);
  for (std::size_t count = kept_weight().size(); count-- > 1 && spreads.size() < 8;) {
    if (sums[count] > wanted * second || first_kept() + count > nodes_.nodes().loss.size()) continue;
    wanted = 0.3 * sums[count] / second;
    const std::size_t last = first_kept() + count;
    const double tail =
        std::max(0.0, 1 - mass_[count]) + relative(nodes_.log_error(power(), 0, {last, false})) + error_terms().constant + 1e-12;
    const double dropped = error_terms().linear * std::abs(nodes_.nodes().loss.front() - mean());  // left of the kept nodes
    spreads.push_back({std::sqrt(second_moment_above(sums[count] + dropped, {last, false})) * (1 + 1e-9), tail});
  }
  return spreads;
}

// [contour-march] |phi(t)| from all nodes if they resolve the phase; otherwise from the nodes left of a cut, plus the mass beyond it.
double GaussianTilt::modulus_above(double t) const {
  const CharacteristicValue value = oscillation(t, march_share);
  double best = std::hypot(1 + value.real_less_one, value.imaginary) + value.error + 1e-12;
  if (value.error < 0.05 * (1 - best)) return best;
  std::size_t last = 0;
  for (const double phase : {3.0, 4.5, 1.5}) {  // radians between nodes: below pi the sum is accurate, above 2 pi it is not
    const std::size_t resolved = nodes_.resolved(t, phase);
    const std::size_t count = std::min(resolved - std::min(resolved, first_kept()), kept_weight().size());
    const double cut = count > 0 && count != last ? modulus_of_first(t, count) : infinity;
    last = count;
    if (!(cut < best && cut < 1)) continue;
    best = cut;
    break;  // further attempts would improve little
  }
  return best < 1 ? best : 1;
}

double GaussianTilt::modulus_of_first(double t, std::size_t count) const {
  const std::size_t last = std::min(first_kept() + count, nodes_.nodes().loss.size());
  const double reach = std::max(std::abs(kept_loss().front()), std::abs(kept_loss()[count - 1]));
  if (!(t * reach < oscillation_limit)) return 1;
  std::vector<double> weights(kept_weight().begin(), kept_weight().begin() + static_cast<std::ptrdiff_t>(count));
  weights.resize((count + oscillation_lanes - 1) / oscillation_lanes * oscillation_lanes, 0.0);
  const OscillationSum sum = sum_oscillations(weights.data(), kept_loss().data(), weights.size(), t);
  const double modulus = std::hypot(mass_[count] + sum.cosine, t * moment_[count] + sum.sine);
  const NodeLaw::Sum part{last, false, log_enough(march_share * std::max(0.0, mass_[count] - modulus))};
  const double beyond = 1 - mass_[count] + relative(nodes_.log_error(power(), 0, part));
  const ErrorTerms errors = error_terms();
  const double error = (errors.quadratic * t + errors.linear) * t + errors.constant + relative(nodes_.log_error(power(), t, part));
  return modulus + beyond + 1.01 * error + 1e-9;
}

// [loss-variation] The density of the loss right of a node has at most two maxima, so its variation is at most 4 times its maximum; the
// mass left of the node counts as an atom. The node is the one whose bound falls to `wanted` first.
Decay GaussianTilt::decay(double wanted) const {
  const std::size_t count = nodes_.nodes().loss.size();
  const double factor = 2.0 * nodes_.maxima(power());
  const double excess = nodes_.log_density_excess(power());
  double largest = nodes_.log_density_right(power());
  Decay best{1, 0, infinity};
  double earliest = infinity;
  for (std::size_t j = count; j-- > 0;) {
    largest = std::max(largest, nodes_.log_density(power(), j) + excess);
    const double atoms = relative(nodes_.log_mass_below(power(), j));
    const double variation = factor * relative(largest);
    const double reached = atoms < wanted ? variation / (wanted - atoms) : infinity;
    if (reached < earliest) {
      earliest = reached;
      best.atoms = atoms;
      best.variation = variation;
    }
  }
  best.whole_variation = factor * relative(std::max(largest, nodes_.log_density_left(power())));
  return best;
}

class SubsampledGaussianMoments final : public Moments {
 public:
  SubsampledGaussianMoments(std::unique_ptr<const GaussianNodes> nodes, Interval mu, Interval rate, Direction direction, double steps)
      : nodes_(std::move(nodes)), path_(*nodes_, mu, rate), remove_(direction == Direction::remove), negligible_(1e-18 / steps) {}

  [[nodiscard]] Cumulant cumulant(double order) const override {
    const Cumulant cumulant = nodes_->cumulant(power(order));
    return {cumulant.value, remove_ ? cumulant.mean : -cumulant.mean, cumulant.variance};
  }
  [[nodiscard]] double log_moment_above(double order) const override { return nodes_->log_moment_above(power(order)); }
  [[nodiscard]] std::unique_ptr<const TiltedLoss> tilt(double order) const override {
    return std::make_unique<GaussianTilt>(*nodes_, path_, power(order), remove_ ? 1 : -1, negligible_);
  }

 private:
  [[nodiscard]] double power(double order) const { return remove_ ? 1 + order : -order; }

  std::unique_ptr<const GaussianNodes> nodes_;
  PathAbove path_;
  bool remove_;
  double negligible_;
};

class SubsampledGaussianTransform final : public Transform {
 public:
  SubsampledGaussianTransform(Interval mu, Interval rate, Direction direction) : mu_(mu), rate_(rate), direction_(direction) {}

  [[nodiscard]] Interval infinite_mass() const override { return Interval::exactly(0); }
  [[nodiscard]] double largest_loss() const override { return direction_ == Direction::remove ? infinity : (-log1p(-rate_)).hi; }
  [[nodiscard]] std::unique_ptr<const Moments> prepare(const TransformRange& reach) const override {
    const bool remove = direction_ == Direction::remove;
    const double least = remove ? 1 + reach.least : -reach.largest, largest = remove ? 1 + reach.largest : -reach.least;
    // The error that the number of steps multiplies must stay below 1e-13; a search needs only one per cent.
    const double accuracy = std::log(reach.steps) + (reach.rough ? 8 : 36);
    GaussianNodes::Range range{least,         largest,    accuracy, reach.rough ? 1.2 : 1, remove ? 1 + reach.order : -reach.order,
                               reach.longest, reach.rough};
    range.shrink *= std::pow(0.65, reach.effort);
    auto nodes = std::make_unique<const GaussianNodes>(mu_, rate_, range);
    if (nodes->nodes().loss.empty()) return nullptr;
    return std::make_unique<SubsampledGaussianMoments>(std::move(nodes), mu_, rate_, direction_, reach.steps);
  }

 private:
  Interval mu_;
  Interval rate_;
  Direction direction_;
};

class SubsampledGaussianLoss final : public Loss, public ClosedForms, public BreakPoints {
 public:
  SubsampledGaussianLoss(Interval mu, Interval rate, GaussianOf of)
      : mu_(mu),
        rate_(rate),
        profile_(gaussian_loss(mu, {}, of), rate),
        remove_(mu, rate, Direction::remove),
        add_(mu, rate, Direction::add),
        has_transform_(mu.hi - mu.lo <= most_width * mu.lo && rate.hi - rate.lo <= most_width * rate.lo && rate.hi <= most_rate) {}

  // [poisson-subsampling]
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return profile_.delta(direction, epsilon); }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override { return profile_.log_delta(direction, epsilon); }
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Interval infinite_mass(Direction) const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return profile_.tail(); }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override;
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    return {.transform = has_transform_ ? (direction == Direction::add ? &add_ : &remove_) : nullptr,
            .break_points = this,
            .closed_forms = this,
            .sampled = profile_.capabilities(direction).sampled,
            .atomless = true};
  }
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction, ParameterEnd end) const override {
    return sampled_gaussian_expansion(SampledBy::poisson, mu_, rate_, end);
  }
  [[nodiscard]] std::string key() const override { return make_key("subsampled_gaussian", {mu_, rate_}); }
  void cite() const override { profile_.cite(); }

 private:
  static constexpr double most_rate = 1 - 1e-6;  // nearer to 1 the bounds on the nodes would need more digits of 1 - rate than a double has
  static constexpr double most_width = 1e-13;    // decimals and their quotients are far narrower; the bounds on the nodes assume it

  Interval mu_;
  Interval rate_;
  PoissonLoss profile_;
  SubsampledGaussianTransform remove_;
  SubsampledGaussianTransform add_;
  bool has_transform_;
};

// The loss is increasing in z: L > e is z > z_e in the remove direction, and in the add direction L = -l, so z < z_{-e}.
std::optional<Loss::Test> SubsampledGaussianLoss::test_at(Direction direction, double epsilon) const {
  cite();
  const Interval ratio = expm1(Interval::exactly(direction == Direction::add ? -epsilon : epsilon)) / rate_;  // (w - 1)/q
  const Interval none = Interval::exactly(0), all = Interval::exactly(1);
  if (ratio.hi <= -1) return direction == Direction::add ? Test{none, none} : Test{all, all};
  const Interval threshold = log1p(ratio) / mu_ + mu_ / 2.0;
  if (direction == Direction::add)
    return Test{(1.0 - rate_) * normal_cdf(threshold) + rate_ * normal_cdf(threshold - mu_), normal_cdf(threshold)};
  return Test{normal_cdf(-threshold), (1.0 - rate_) * normal_cdf(-threshold) + rate_ * normal_cdf(mu_ - threshold)};
}

}  // namespace

LossPointer subsampled_gaussian(Interval mu, Interval rate, GaussianOf of) {
  return std::make_shared<SubsampledGaussianLoss>(mu, rate, of);
}

}  // namespace tradeoff::detail
