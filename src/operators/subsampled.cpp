// SPDX-License-Identifier: Apache-2.0
#include "operators/subsampled.h"

#include <cmath>
#include <utility>

#include "engine/compose.h"
#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled_gaussian.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "transform/subsampled_transform.h"

namespace tradeoff::detail {
namespace {

/// log(1 + (e^eps - 1)/rate): the epsilon at which the profile of the base is evaluated. Needs e^eps > 1 - rate.
Interval inner_epsilon(double epsilon, Interval rate) {
  const Interval point = Interval::exactly(epsilon);
  if (epsilon == infinity) return point;
  if (epsilon < 1) return log1p(expm1(point) / rate);
  return point - log(rate) + log1p(-((1.0 - rate) * exp(-point)));  // the same without overflow
}

constexpr double near_overflow = 700;  // e^e overflows after 709

/// log(1 + rate (e^loss - 1)): the loss after sampling.
Interval sampled_loss(Interval loss, Interval rate) {
  if (!(loss.hi > near_overflow)) return log1p(rate * expm1(loss));
  return loss + log(rate + (1.0 - rate) * exp(-loss));  // the same without overflow
}
double sampled_corner(double loss, double rate) {
  return loss > near_overflow ? loss + std::log(rate) : std::log1p(rate * std::expm1(loss));
}

std::string wrap(const char* name, const std::string& inner, Interval rate) {
  return inner.empty() ? std::string() : make_key(name, {rate}) + "(" + inner + ")";
}

/// delta is non-increasing in epsilon: the enclosure over an interval comes from its two ends.
template <class AtPoint>
Interval over(Interval epsilon, AtPoint&& at) {
  if (epsilon.lo == epsilon.hi) return at(epsilon.lo);
  return {at(epsilon.hi).lo, at(epsilon.lo).hi};
}

const Citation& poisson_subsampling() {
  static const Citation pairs("poisson-subsampling", "both directions by their exact dominating pairs; add-remove neighbours");
  return pairs;
}
const Citation& fixed_size_subsampling() {
  static const Citation operation("fixed-size-subsampling", "the operator C_p on the symmetric curve; replace-one neighbours");
  return operation;
}
const Citation& two_directions() {
  static const Citation worse("two-directions", "the worse of both orders stands for either");
  return worse;
}

/// A value computed from the base uses the theorems of the base, which it has recorded, and this one.
Interval by(const Citation& citation, Interval value) {
  record(citation);
  return value;
}

}  // namespace

PoissonLoss::PoissonLoss(LossPointer base, Interval rate)
    : base_(std::move(base)),
      rate_(rate),
      remove_transform_(subsampled_transform(*base_, rate, SampledBy::poisson, Direction::remove)),
      add_transform_(subsampled_transform(*base_, rate, SampledBy::poisson, Direction::add)) {
  find_corners();
  const Atoms* atoms = base_->atoms(Direction::remove);
  if (atoms == nullptr || rate.hi >= 1) return;
  // An outcome of masses (p, q) becomes ((1 - rate) q + rate p, q); an outcome that only Q produces gets the finite loss log(1 - rate).
  std::vector<Atom> finite;
  for (const Atom& atom : atoms->finite)
    finite.push_back({sampled_loss(atom.loss, rate), clamp(atom.mass * (rate + (1.0 - rate) * exp(-atom.loss)), 0, 1)});
  finite.push_back({log1p(-rate), (1.0 - rate) * atoms->other_infinite});
  remove_ = make_atoms(std::move(finite), rate * atoms->infinite, Interval::exactly(0), false);
  remove_->slack = atoms->slack;  // sampling keeps the bound on outcomes that reveal less
  add_ = swapped(*remove_);
}

Capabilities PoissonLoss::capabilities(Direction direction) const {
  const bool add = direction == Direction::add;
  const auto& law = add ? add_ : remove_;
  return {.atoms = law ? &*law : nullptr,
          .transform = (add ? add_transform_ : remove_transform_).get(),
          .corners = add ? add_corners_ : remove_corners_,
          .sampled = SampledFrom{base_.get(), rate_, SampledBy::poisson},
          .cost = base_->cost()};
}

// [poisson-subsampling] The profile increases with the rate, so the ends of the rate bound it; each end is one exact formula.
Interval PoissonLoss::delta(Direction direction, Interval epsilon) const {
  const auto remove = [this](double e, Interval rate) {
    const Interval point = Interval::exactly(e);
    if (e == infinity) {
      base_->cite();
      return rate * base_->infinite_mass(Direction::remove);
    }
    const Interval line = max(-expm1(point), Interval::exactly(0));
    if (exp(point).hi < (1.0 - rate).lo) return line;
    // At the kink e^eps = 1 - rate rounding hides which formula holds: one is the line, the other is at most the rate.
    if (!(exp(point).lo > (1.0 - rate).hi)) return Interval{line.lo, std::max(line.hi, rate.hi)};
    return max(rate * base_->delta(Direction::remove, inner_epsilon(e, rate)), line);
  };
  const auto add = [this](double e, Interval rate) {
    const Interval point = Interval::exactly(e);
    if (e == -infinity) return Interval::exactly(1);
    const Interval weight = rate - (1.0 - rate) * expm1(point);  // 1 - (1 - rate) e^eps
    if (e == infinity || weight.hi <= 0) return Interval::exactly(0);
    const Interval positive = max(weight, Interval::exactly(0));
    const Interval inner = log(rate) + point - log(positive);
    return positive * base_->delta(Direction::add, inner);
  };
  const auto at = [&](double e) {
    const auto end = [&](double rate) {
      const Interval exact_rate = Interval::exactly(rate);
      return direction == Direction::add ? add(e, exact_rate) : remove(e, exact_rate);
    };
    const Interval low = end(rate_.lo);
    return clamp(rate_.lo == rate_.hi ? low : Interval{low.lo, end(rate_.hi).hi}, 0, 1);
  };
  return by(poisson_subsampling(), over(epsilon, at));
}

Interval PoissonLoss::log_delta(Direction direction, Interval epsilon) const {
  if (epsilon.lo < 0 || epsilon.hi == infinity) return log(delta(direction, epsilon));
  const auto at = [&](double e, double rate) {
    const Interval point = Interval::exactly(e);
    const Interval exact_rate = Interval::exactly(rate);
    if (direction == Direction::remove) return log(exact_rate) + base_->log_delta(direction, inner_epsilon(e, exact_rate));
    const Interval weight = max(exact_rate - (1.0 - exact_rate) * expm1(point), Interval::exactly(0));
    if (weight.hi <= 0) return Interval::exactly(-infinity);
    const Interval log_weight = log(weight);
    return log_weight + base_->log_delta(direction, log(exact_rate) + point - log_weight);
  };
  return by(poisson_subsampling(), {at(epsilon.hi, rate_.lo).lo, at(epsilon.lo, rate_.hi).hi});
}

Interval PoissonLoss::infinite_mass(Direction direction) const {
  // In the add direction the infinite mass of the base becomes a finite atom at -log(1 - rate).
  if (direction == Direction::add && rate_.hi < 1) return Interval::exactly(0);
  return rate_ * base_->infinite_mass(direction);
}

// [tail-propagation] The bound rate * delta(inner) holds in both orders. An infinite mass of the base in the add order only becomes a
// finite atom.
Tail PoissonLoss::tail() const {
  const Tail base = base_->tail();
  if (base.kind == TailKind::floor && !(infinite_mass(Direction::remove).lo > 0)) return Loss::tail();
  Tail tail = sampled_tail(base, rate_);
  tail.largest = poisson_largest(base.largest, rate_);
  return tail;
}

void PoissonLoss::find_corners() {
  const Unrecorded in_advance;
  for (const double corner : base_->corners(Direction::remove)) remove_corners_.push_back(sampled_corner(corner, rate_.lo));
  if (remove_corners_.empty()) return;
  if (base_->infinite_mass(Direction::add).hi > 0) remove_corners_.push_back(std::log1p(-rate_.lo));  // outcomes that only Q produces
  for (const double corner : remove_corners_) add_corners_.push_back(-corner);
}

std::string PoissonLoss::key() const { return wrap("poisson", base_->key(), rate_); }

void PoissonLoss::cite() const {
  base_->cite();
  record(poisson_subsampling());
}

Capabilities SampledLoss::capabilities(Direction /*direction*/) const {
  return {.atoms = atoms_ ? &*atoms_ : nullptr,
          .transform = transform_.get(),
          .break_points = this,
          .corners = corners_,
          .sampled = SampledFrom{base_.get(), rate_, SampledBy::fixed},
          .cost = base_->cost()};
}

std::optional<BreakExpansion> SampledLoss::expansion(Direction /*direction*/, ParameterEnd end) const {
  const auto mu = base_->gaussian_mu();
  if (!mu || !(mu->lo > 0)) return std::nullopt;
  return sampled_gaussian_expansion(SampledBy::fixed, *mu, rate_, end);
}

SampledLoss::SampledLoss(LossPointer base, Interval rate)
    : base_(std::move(base)), rate_(rate), transform_(subsampled_transform(*base_, rate, SampledBy::fixed, Direction::remove)) {
  for (const double corner : base_->corners(Direction::remove))
    if (corner > 0) corners_.push_back(sampled_corner(corner, rate_.lo));  // the mirror image; every lattice contains the atom at 0
  const Atoms* atoms = base_->atoms(Direction::remove);
  if (atoms == nullptr || !atoms->mirrored) return;
  // A positive loss l of the base becomes log(1 + p (e^l - 1)) and keeps its mass under Q. The negative losses are the mirror image; the
  // remaining mass has loss 0.
  std::vector<Atom> finite;
  Interval left = 1.0 - rate * atoms->infinite;
  for (const Atom& atom : atoms->finite) {
    if (!(atom.loss.lo > 0)) continue;
    const Interval loss = sampled_loss(atom.loss, rate);
    const Interval small = atom.mass * exp(-atom.loss);
    const Interval large = loss.hi > near_overflow ? atom.mass * exp(loss - atom.loss) : small * exp(loss);
    finite.push_back({loss, clamp(large, 0, 1)});
    finite.push_back({-loss, clamp(small, 0, 1)});
    left = left - large - small;
  }
  finite.push_back({Interval::exactly(0), clamp(left, 0, 1)});
  const Interval infinite = rate * atoms->infinite;
  atoms_ = make_atoms(std::move(finite), infinite, infinite, true);
  atoms_->slack = atoms->slack;
}

// [fixed-size-subsampling] delta(eps) = p delta_base(log(1 + (e^eps - 1)/p)) for eps >= 0; increasing in p; mirrored below 0.
Interval SampledLoss::delta(Direction direction, Interval epsilon) const {
  const auto positive = [&](double e, double rate) {
    const Interval exact_rate = Interval::exactly(rate);
    return exact_rate * base_->delta(direction, inner_epsilon(e, exact_rate));
  };
  const auto at = [&](double e) {
    const Interval there{positive(std::abs(e), rate_.lo).lo, positive(std::abs(e), rate_.hi).hi};
    return clamp(e >= 0 ? there : mirrored_delta(e, there), 0, 1);
  };
  return by(fixed_size_subsampling(), over(epsilon, at));
}

Interval SampledLoss::log_delta(Direction direction, Interval epsilon) const {
  if (epsilon.lo < 0) return log(delta(direction, epsilon));
  const auto at = [&](double e, double rate) {
    const Interval exact_rate = Interval::exactly(rate);
    return log(exact_rate) + base_->log_delta(direction, inner_epsilon(e, exact_rate));
  };
  return by(fixed_size_subsampling(), {at(epsilon.hi, rate_.lo).lo, at(epsilon.lo, rate_.hi).hi});
}

Tail SampledLoss::tail() const {
  const Tail base = base_->tail();
  Tail tail = sampled_tail(base, rate_);
  tail.largest = sampled_largest(base.largest, rate_);
  return tail;
}

Interval SampledLoss::infinite_mass(Direction direction) const { return rate_ * base_->infinite_mass(direction); }

std::string SampledLoss::key() const { return wrap("sample", base_->key(), rate_); }

void SampledLoss::cite() const {
  base_->cite();
  record(fixed_size_subsampling());
}

// [two-directions]
Interval SymmetrizedLoss::delta(Direction, Interval epsilon) const {
  const auto at = [this](double e) {
    const Interval point = Interval::exactly(std::abs(e));
    const Interval worse = max(base_->delta(Direction::remove, point), base_->delta(Direction::add, point));
    return e >= 0 ? worse : mirrored_delta(e, worse);
  };
  return by(two_directions(), over(epsilon, at));
}

Interval SymmetrizedLoss::log_delta(Direction direction, Interval epsilon) const {
  if (epsilon.lo < 0) return log(delta(direction, epsilon));
  return by(two_directions(), max(base_->log_delta(Direction::remove, epsilon), base_->log_delta(Direction::add, epsilon)));
}

Interval SymmetrizedLoss::infinite_mass(Direction) const {
  return max(base_->infinite_mass(Direction::remove), base_->infinite_mass(Direction::add));
}

std::string SymmetrizedLoss::key() const {
  const std::string inner = base_->key();
  return inner.empty() ? inner : "symmetric(" + inner + ")";
}

void SymmetrizedLoss::cite() const {
  base_->cite();
  record(two_directions());
}

namespace {

LossPointer apply_poisson(const Arguments& arguments, LossPointer base) {
  const Interval rate = arguments.number("rate");
  if (rate.hi == 0) return compose({}, {}).loss;
  if (rate.lo == 1) return base;
  if (const auto mu = base->gaussian_mu(); mu && mu->lo > 0 && rate.lo > 0 && rate.hi < 1) return subsampled_gaussian(*mu, rate);
  return std::make_shared<PoissonLoss>(std::move(base), rate);
}

Interval poisson_rate(const Arguments& arguments) { return arguments.number("rate"); }

Interval sample_rate(const Arguments& arguments) {
  if (arguments.has("rate")) return arguments.number("rate");
  const std::uint64_t size = arguments.whole("size");
  const std::uint64_t of = arguments.whole("of");
  if (size > of) arguments.refuse("size", std::to_string(size), "at most of = " + std::to_string(of));
  return Interval::exactly(static_cast<double>(size)) / Interval::exactly(static_cast<double>(of));
}

LossPointer apply_sample(const Arguments& arguments, LossPointer base) {
  const Interval rate = sample_rate(arguments);
  if (rate.hi == 0) return compose({}, {}).loss;
  if (rate.lo >= 1) return base;
  return std::make_shared<SampledLoss>(std::move(base), rate);
}

}  // namespace

Word poisson_word() {
  return {
      .role = Role::operation,
      .name = "poisson",
      .meaning = "each record takes part independently",
      .parameters = {{"rate", Kind::number, "probability that a record takes part", range::probability, effect::riskier}},
      .neighbours = Neighbours::add_remove,
      .sentence = "In `poisson`, every record joins a step with the stated probability, independently of all others and of earlier steps.",
      .apply = apply_poisson,
      .samples = true,
      .rate = poisson_rate};
}

Word sample_word() {
  return {
      .role = Role::operation,
      .name = "sample",
      .meaning = "a fixed number of records, drawn without replacement",
      .parameters =
          {{.name = "size", .kind = Kind::integer, .meaning = "records drawn", .range = range::whole(1, range::most_steps), .form = 1},
           {.name = "of", .kind = Kind::integer, .meaning = "records there are", .range = range::whole(1, range::most_steps), .form = 1},
           {.name = "rate",
            .kind = Kind::number,
            .meaning = "size / of",
            .range = range::probability,
            .effect = effect::riskier,
            .form = 2}},
      .synonyms = {{"subsample"}},
      .neighbours = Neighbours::replace_one,
      .sentence = "In `sample`, every step uses a fresh uniform sample of the stated size, drawn without replacement.",
      .apply = apply_sample,
      .samples = true,
      .rate = sample_rate};
}

}  // namespace tradeoff::detail
