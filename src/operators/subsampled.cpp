// SPDX-License-Identifier: Apache-2.0
#include "operators/subsampled.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/compose.h"
#include "loss/forwarding_loss.h"
#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "mechanism/gaussian.h"
#include "numeric/arithmetic.h"
#include "operators/algebra.h"
#include "operators/capped_poisson.h"
#include "operators/gaussian_mixture.h"
#include "operators/group.h"
#include "operators/mixture.h"
#include "operators/subsampled_gaussian.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"
#include "transform/mixture_pair.h"
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
  for (std::size_t i = 0; i < atoms->finite.size(); ++i) {
    const auto& [loss, mass] = atoms->finite[i];
    finite.push_back({sampled_loss(loss, rate), clamp(rate * mass + (1.0 - rate) * mass_under_q(*atoms, i), 0, 1)});
  }
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
  Tail tail = sampled_tail(base, rate_, base_->symmetric());
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
          .lattice = lattice_,
          .sampled = SampledFrom{base_.get(), rate_, SampledBy::fixed},
          .cost = base_->cost()};
}

std::optional<BreakExpansion> SampledLoss::expansion(Direction /*direction*/, ParameterEnd end) const {
  const auto mu = base_->gaussian_mu();
  if (!mu || !(mu->lo > 0)) return std::nullopt;
  return sampled_gaussian_expansion(SampledBy::fixed, *mu, rate_, end);
}

SampledLoss::SampledLoss(LossPointer base, Interval rate) : SampledLoss(std::move(base), rate, fixed_size_subsampling()) {}

SampledLoss::SampledLoss(LossPointer base, Interval rate, Citation theorem)
    : base_(std::move(base)),
      rate_(rate),
      transform_(subsampled_transform(*base_, rate, SampledBy::fixed, Direction::remove)),
      theorem_(std::move(theorem)) {
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
  // One positive loss, its mirror and perhaps 0: multiples of it. [folded-contour]
  const std::vector<Atom>& listed = atoms_->finite;
  if ((listed.size() == 2 || listed.size() == 3) && listed.front().loss.lo > 0) lattice_ = LossLattice{listed.front().loss, false};
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
  return by(theorem_, over(epsilon, at));
}

Interval SampledLoss::log_delta(Direction direction, Interval epsilon) const {
  if (epsilon.lo < 0) return log(delta(direction, epsilon));
  const auto at = [&](double e, double rate) {
    const Interval exact_rate = Interval::exactly(rate);
    return log(exact_rate) + base_->log_delta(direction, inner_epsilon(e, exact_rate));
  };
  return by(theorem_, {at(epsilon.hi, rate_.lo).lo, at(epsilon.lo, rate_.hi).hi});
}

Tail SampledLoss::tail() const {
  const Tail base = base_->tail();
  Tail tail = sampled_tail(base, rate_, base_->symmetric());
  tail.largest = sampled_largest(base.largest, rate_);
  return tail;
}

Interval SampledLoss::infinite_mass(Direction direction) const { return rate_ * base_->infinite_mass(direction); }

std::string SampledLoss::key() const { return wrap("sample", base_->key(), rate_); }

void SampledLoss::cite() const {
  base_->cite();
  record(theorem_);
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

/// `clipped`: each contribution has a bounded norm; otherwise only the distance of the record and its replacement is bounded.
const Citations& poisson_replace_one(bool clipped) {
  static const Citations bounded{
      Citation("poisson-replace-one", "the record and its replacement are drawn with the same chance; replace-one neighbours")};
  static const Citations apart{
      Citation("poisson-replace-one",
               "the sensitivity bounds how far a replacement moves the sum, not the norm of a contribution, so it is shown whether the "
               "record was drawn; with a clip norm the loss is smaller")};
  return clipped ? bounded : apart;
}
Citations user_level_poisson(std::uint64_t examples) {
  return {Citation("user-level-poisson", "a user with at most " + std::to_string(examples) + " examples, each drawn on its own")};
}

/// A mixture of pairs that stands for sampling.
class ShownSampleLoss final : public ForwardingLoss {
 public:
  ShownSampleLoss(LossPointer mixture, Citations theorem) : mixture_(std::move(mixture)), theorem_(std::move(theorem)) {}

 private:
  [[nodiscard]] const Loss& base() const override { return *mixture_; }
  void note() const override { record(theorem_); }

  LossPointer mixture_;
  Citations theorem_;
};

constexpr std::uint64_t most_examples = 1000;  // every evaluation is a sum over them

/// [poisson-replace-one] [user-level-poisson] Whether and how many of the examples were drawn is shown: with k of them a Gaussian k times
/// as far, or the base for a single example.
LossPointer observed_draws(const LossPointer& base, Interval rate, std::uint64_t examples) {
  if (examples == 1) return mixture_loss({{rate, base}, {1.0 - rate, compose({}, {}).loss}});
  const Interval mu = *base->gaussian_mu();
  const MixtureSide draws(mu, rate, examples);
  std::vector<MixtureComponent> components{{draws.weight(0), compose({}, {}).loss}};
  for (std::size_t k = 1; k <= examples; ++k) components.push_back({draws.weight(k), gaussian_loss(draws.shift(k))});
  return mixture_loss(std::move(components));
}

/// Several examples of one user, or one record under replace-one neighbours; 0 < rate < 1.
LossPointer sampled_examples(LossPointer base, Interval rate, std::uint64_t examples, bool replaced) {
  const Capabilities known = base->capabilities(Direction::remove);
  if (known.gaussian_mu && known.gaussian_mu->hi == 0) return base;  // it reveals nothing
  if (examples > 1 && !(known.gaussian_mu && known.gaussian_noise))
    throw UnsupportedError(
        "poisson: examples = " + std::to_string(examples) +
        " is proved for Gaussian noise only; write `gaussian(sigma) | poisson(rate, examples)`, or `... | poisson(rate) | group(" +
        std::to_string(examples) + ")` for an upper bound");
  const bool fits = known.gaussian_mu && known.gaussian_mu->lo > 0 && known.gaussian_mu->hi < infinity && rate.lo > 0;
  if (replaced && known.clipped && fits)
    return gaussian_mixture(*known.gaussian_mu / 2.0, rate, examples, examples,
                            examples == 1 ? poisson_replace_one(true) : user_level_poisson(examples),
                            known.gaussian_noise ? GaussianOf::noise : GaussianOf::curve);
  if (replaced && (examples == 1 || fits)) {
    if (!base->symmetric()) base = symmetric_loss(std::move(base));
    return std::make_shared<ShownSampleLoss>(observed_draws(base, rate, examples),
                                             examples == 1 ? poisson_replace_one(false) : user_level_poisson(examples));
  }
  if (!fits)
    throw UnsupportedError("poisson: with examples = " + std::to_string(examples) +
                           " the rate and the noise must be numbers that a double can hold");
  return gaussian_mixture(*known.gaussian_mu, rate, examples, 0, user_level_poisson(examples));
}

std::uint64_t poisson_examples(const Arguments& arguments) { return arguments.has("examples") ? arguments.whole("examples") : 1; }

std::string promise_of_poisson(const Arguments& arguments) {
  const std::uint64_t examples = poisson_examples(arguments);
  if (examples == 1) return promise_of_cap(arguments);
  return "One user owns at most " + std::to_string(examples) +
         " records, each of them drawn on its own. The guarantee covers all records of one user: the data with them against the data "
         "without them, or with others in their place.";
}

LossPointer apply_poisson(const Arguments& arguments, LossPointer base, const WordContext& context) {
  const std::uint64_t examples = poisson_examples(arguments);
  if (is_capped(arguments)) {
    if (examples > 1) throw UnsupportedError("poisson: nothing is proved for examples together with at_most; leave out one of them");
    return capped_poisson(arguments, base, context);
  }
  const Interval rate = arguments.number("rate");
  const bool replaced = context.neighbours() == Neighbours::replace_one;
  if (rate.hi == 0) return compose({}, {}).loss;
  if (rate.lo == 1) return examples > 1 ? group_loss(std::move(base), examples) : base;
  if ((examples > 1 || replaced) && rate.hi < 1) return sampled_examples(std::move(base), rate, examples, replaced);
  if (examples > 1 || replaced) throw UnsupportedError("poisson: rate cannot be told from 1 in double precision; write rate=1");
  const Capabilities known = base->capabilities(Direction::remove);
  if (const auto mu = known.gaussian_mu; mu && mu->lo > 0 && rate.lo > 0 && rate.hi < 1)
    return subsampled_gaussian(*mu, rate, known.gaussian_noise ? GaussianOf::noise : GaussianOf::curve);
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

LossPointer apply_sample(const Arguments& arguments, LossPointer base, const WordContext&) {
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
      .parameters = {{"rate", Kind::number, "probability that a record takes part", range::probability, effect::riskier},
                     cap_parameters[0],
                     cap_parameters[1],
                     cap_parameters[2],
                     {.name = "examples",
                      .kind = Kind::integer,
                      .meaning = "records that one user owns at most",
                      .range = range::whole(1, most_examples),
                      .optional = true}},
      .synonyms = {{"truncated_poisson", "write poisson(rate, of=records, at_most=batch): a Poisson batch of at most so many records"},
                   {"b_min_sep",
                    "amplification by sampling with a minimal separation is not proved; matrix(..., participations, separation) without a "
                    "sampler is accounted for, and so is cyclic(groups, rate, steps)"}},
      .neighbours = {Neighbours::add_remove, Neighbours::zero_out, Neighbours::replace_one},
      .sentence = "In `poisson`, every record joins a step with the stated probability, independently of all others and of earlier steps.",
      .promise = promise_of_poisson,
      .apply = apply_poisson,
      .samples = true,
      .rate = poisson_rate,
      .examples = poisson_examples};
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
      .neighbours = {Neighbours::replace_one},
      .sentence = "In `sample`, every step uses a fresh uniform sample of the stated size, drawn without replacement.",
      .apply = apply_sample,
      .samples = true,
      .rate = sample_rate};
}

}  // namespace tradeoff::detail
