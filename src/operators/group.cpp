// SPDX-License-Identifier: Apache-2.0
#include "operators/group.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "loss/budgeted_profile.h"
#include "loss/forwarding_loss.h"
#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "loss/work.h"
#include "mechanism/finite.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "numeric/arithmetic.h"
#include "numeric/conversions.h"
#include "numeric/minimize.h"
#include "operators/algebra.h"
#include "operators/duality.h"
#include "operators/iterated_loss.h"
#include "operators/words.h"
#include "operators/worst_profile.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {

// delta(e/size) <= delta_group(e) <= size exp((size - 1) e/size) delta(e/size), so the largest losses and the limit
// are multiples, and below G_mu the iteration stays below G with the multiple of mu. [group-privacy]
Tail group_tail(const Tail& base, std::size_t size) {
  const Interval times = Interval::exactly(static_cast<double>(size));
  const LargestLoss largest{times * base.largest.remove, times * base.largest.add};
  if (base.zero_from < infinity) return pure_tail(largest);
  if (base.limit.lo == infinity) return heavy_tail(base.kind, largest);
  Tail tail;
  tail.largest = largest;
  tail.limit = times * base.limit;
  if (base.gdp_mu < infinity) {
    tail.kind = TailKind::gdp;
    tail.gdp_mu = (times * base.gdp_mu).hi;
    tail.gdp_origin = base.gdp_origin;
  }
  if (base.gaussian) {
    const GaussianTail& one = *base.gaussian;
    const Interval slope = (times - 1.0 + one.slope) / times;
    tail.gaussian = GaussianTail{(log(times) + one.log_factor).hi, slope.hi, (times * one.width).hi, (times * std::max(one.from, 0.0)).hi};
    if (tail.kind == TailKind::unknown) tail.kind = TailKind::gaussian;
  }
  return tail;
}

std::string group_key(const Loss& base, std::size_t size) {
  const std::string inner = base.key();
  return inner.empty() ? inner : make_key("group", {Interval::exactly(static_cast<double>(size))}) + "(" + inner + ")";
}

namespace {

constexpr std::size_t most_atoms = 20000;        // atoms of an iterated finite distribution; more would make each question slow
constexpr double work_of_reading = 0.5;          // work of evaluating a formula, in the units of loss/work.h
constexpr std::uint64_t most_iterations = 1000;  // without a closed form each iteration costs a search

const Interval zero = Interval::exactly(0);

/// An edge of a power function h = 1 - f; `length` is its extent along the axis in use.
struct Edge {
  Interval loss;
  Interval length;
};

/// The distribution with these positive losses. The negative losses are their mirror image, so small masses keep their relative accuracy.
Atoms mirror(std::vector<Atom> edges, Interval infinite) {
  std::erase_if(edges, [](const Atom& edge) { return edge.loss.hi < 0; });
  const std::size_t half = edges.size();
  for (std::size_t i = 0; i < half; ++i)
    if (edges[i].loss.lo > 0) edges.push_back({-edges[i].loss, clamp(edges[i].mass * exp(-edges[i].loss), 0, 1)});
  return make_atoms(std::move(edges), infinite, infinite, true);
}

/// [group-privacy] outer(inner(.)) of two power functions given by their edges: the output of the inner one is the input of the outer one.
/// If rounding hides which edge ends first, the small interval between counts on both sides for the upper bound, and on neither side for
/// the lower bound.
Atoms iterate(const Atoms& outer, const Atoms& inner) {
  std::vector<Edge> along;  // the inner function by its output, starting with its jump at 0
  if (inner.infinite.hi > 0) along.push_back({Interval::exactly(infinity), inner.infinite});
  for (const Atom& atom : inner.finite) along.push_back({atom.loss, atom.mass});
  std::vector<Edge> across;  // the outer function by its input
  for (const Atom& atom : outer.finite) across.push_back({atom.loss, max(atom.mass * exp(-atom.loss), zero)});
  std::vector<Atom> edges;
  Interval infinite = outer.infinite;
  Interval sliver = zero;
  std::size_t i = 0, j = 0;
  while (i < along.size() && j < across.size()) {
    Interval& a = along[i].length;
    Interval& b = across[j].length;
    const bool inner_ends = a.hi <= b.lo;
    const bool outer_ends = b.hi <= a.lo;
    const bool undecided = !inner_ends && !outer_ends;
    Interval common = min(a, b);
    if (undecided) common.hi = std::max(a.hi, b.hi);
    common.hi = numeric::add_up(common.hi, sliver.hi);
    sliver = undecided ? Interval{0, std::max(numeric::add_up(a.hi, -b.lo), numeric::add_up(b.hi, -a.lo))} : zero;
    const Interval mass = clamp(common * exp(across[j].loss), 0, 1);
    if (along[i].loss.lo == infinity)
      infinite = min(infinite + mass, Interval::exactly(1));
    else
      edges.push_back({along[i].loss + across[j].loss, mass});
    if (inner_ends) b = max(b - a, zero);
    if (outer_ends && !inner_ends) a = max(a - b, zero);
    if (inner_ends || undecided) ++i;
    if (undecided || !inner_ends) ++j;
    if (undecided && i < along.size()) along[i].length = max(along[i].length - sliver, zero);
    if (undecided && j < across.size()) across[j].length = max(across[j].length - sliver, zero);
  }
  if (outer.mirrored) return mirror(std::move(edges), infinite);
  // the infinite loss of the swapped pair comes from the iteration of that pair
  return make_atoms(std::move(edges), infinite, zero, false);
}

/// A power function at u from its profile, h(u) = inf over e of delta(e) + e^e u, and the minimising e.
struct Power {
  double epsilon = 0;
  Interval value;
};

/// The iteration of a curve that is known by its profile only. [group-privacy]
class GroupedLoss final : public Loss, public ClosedForms {
 public:
  GroupedLoss(LossPointer base, std::uint64_t size)
      : base_(std::move(base)),
        size_(numeric::to_size(size)),
        iteration_("group-privacy",
                   std::to_string(size) + " records: the trade-off function iterated, from its profile; " + what_iteration_is) {
    const double zero_from = base_->tail().zero_from;
    largest_loss_ = std::min(zero_from, 700.0);  // e^e overflows soon after 700
    infinite_remove_ = iterated_mass(Direction::remove);
    infinite_add_ = base_->symmetric() ? infinite_remove_ : iterated_mass(Direction::add);
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    const bool point = epsilon.lo == epsilon.hi;
    const Interval found = point ? at(direction, epsilon.lo) : Interval{at(direction, epsilon.hi).lo, at(direction, epsilon.lo).hi};
    record(iteration_);
    return found;
  }
  [[nodiscard]] bool symmetric() const override { return base_->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override {
    return direction == Direction::add ? infinite_add_ : infinite_remove_;
  }
  [[nodiscard]] Tail tail() const override { return group_tail(base_->tail(), size_); }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    const Profile profile(*base_, direction);
    Interval beta = dual_beta(profile, alpha);
    for (std::size_t i = 1; i < size_; ++i) beta = clamp(dual_beta(profile, clamp(1.0 - beta, 0, 1)), 0, 1);
    record(iteration_);
    return beta;
  }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this, .cost = Cost::search}; }
  void cite() const override {
    base_->cite();
    record(iteration_);
  }
  [[nodiscard]] std::string key() const override { return group_key(*base_, size_); }

 private:
  [[nodiscard]] Interval line(Direction direction, double epsilon, double u) const {
    Work::count(work_of_reading);
    const Interval point = Interval::exactly(epsilon);
    return base_->delta(direction, point) + exp(point) * u;
  }

  /// The minimum over the lines at u, a convex function of e^e: a descent in doubling steps from a guess, then a section. The line of every
  /// e is an upper bound.
  [[nodiscard]] Power power(Direction direction, double u, double guess = 0) const {
    if (u >= 1) return {-largest_loss_, Interval::exactly(1)};
    const double last = std::min(largest_loss_, -std::log(u));
    const auto value = [&](double e) { return line(direction, e, u).hi; };
    double middle = guess > -16 ? std::min(guess, last) : 0, step = 0.125;  // far to the left all lines are 1 up to rounding
    double middle_value = value(middle), to_value = value(middle + step);
    if (const double left = value(middle - step); left < to_value) {
      step = -step;
      to_value = left;
    }
    double from = middle - step, to = middle + step;
    while (to_value < middle_value && std::abs(to) < largest_loss_) {
      from = middle;
      middle = to;
      middle_value = to_value;
      to = std::clamp(to + (step *= 2), -largest_loss_, last);
      if (to == middle) break;
      to_value = value(to);
    }
    double low = std::min(from, to), high = std::max(from, to);
    const double best = numeric::parabolic_section(value, low, high, 1e-8 * (1 + std::min(std::abs(low), std::abs(high))));
    return {best, min(line(direction, best, u), Interval::exactly(1))};
  }

  /// A lower bound of the minimum over all e: two extended chords, one from each side of the minimum. A power is also at least its level.
  [[nodiscard]] double power_below(Direction direction, double u) const {
    const double middle = power(direction, u).epsilon;
    double best = u;
    for (const double spread : {1e-9, 1e-7, 1e-5, 1e-3}) {
      const std::array<double, 4> e{middle - 3 * spread, middle - spread, middle + spread, middle + 3 * spread};
      std::array<Interval, 4> x, g;
      for (std::size_t i = 0; i < 4; ++i) {
        x[i] = exp(Interval::exactly(e[i]));
        g[i] = line(direction, e[i], u);
      }
      const Interval fall = (g[0] - g[1]) / (x[1] - x[0]);
      const Interval rise = (g[3] - g[2]) / (x[3] - x[2]);
      if (!(fall.lo >= 0 && rise.lo >= 0)) continue;  // then the minimum is certainly between the outer points
      const Interval from_left = g[1] - fall * (x[3] - x[1]);
      const Interval from_right = g[2] - rise * (x[2] - x[0]);
      best = std::max(best, std::min(from_left.lo, from_right.lo));
    }
    return std::min(best, 1.0);
  }

  [[nodiscard]] Interval iterated_mass(Direction direction) const {
    Interval mass = base_->infinite_mass(direction);
    for (std::size_t i = 1; i < size_ && mass.hi > 0; ++i)
      mass = {mass.lo > 0 ? power_below(direction, mass.lo) : 0, power(direction, mass.hi).value.hi};
    return clamp(mass, 0, 1);
  }

  /// The losses at the points alpha, h(alpha), h(h(alpha)), ...; the slope of the iteration at alpha is the exponential of their sum.
  [[nodiscard]] std::vector<double> chain(Direction direction, double alpha, const std::vector<double>& guesses) const {
    std::vector<double> losses;
    double u = alpha;
    for (std::size_t i = 0; i < size_; ++i) {
      const Power step = power(direction, u, guesses[i]);
      losses.push_back(step.epsilon);
      u = std::min(step.value.hi, 1.0);
    }
    return losses;
  }
  [[nodiscard]] static double sum(const std::vector<double>& values) {
    double total = 0;
    for (const double value : values) total += value;
    return total;
  }

  /// delta(e_k) + e^(e_k) delta(e_(k-1)) + ..., for any e's whose sum is at most epsilon: an upper bound.
  [[nodiscard]] double above(Direction direction, std::vector<double> losses, double epsilon) const {
    Interval others = zero;
    for (std::size_t i = 1; i < losses.size(); ++i) others = others + losses[i];
    losses[0] = (Interval::exactly(epsilon) - others).lo;
    Interval total = zero;
    for (const double loss : losses) total = base_->delta(direction, Interval::exactly(loss)) + exp(Interval::exactly(loss)) * total;
    return total.hi;
  }
  /// The iteration at alpha, minus e^epsilon alpha, for any alpha: a lower bound.
  [[nodiscard]] double below(Direction direction, double alpha, double epsilon) const {
    double u = alpha;
    for (std::size_t i = 0; i < size_; ++i) u = power_below(direction, u);
    return (u - exp(Interval::exactly(epsilon)) * alpha).lo;
  }

  [[nodiscard]] Interval at(Direction direction, double epsilon) const {
    if (epsilon == infinity || epsilon >= tail().zero_from) base_->cite();
    if (epsilon == infinity) return infinite_mass(direction);
    if (epsilon < 0) return mirrored_delta(epsilon, at(opposite(direction), -epsilon));
    if (epsilon >= tail().zero_from) return zero;
    const Interval least = infinite_mass(direction);
    // The alpha whose slope is e^epsilon; the sum of the losses decreases in alpha. Steps outward, then secants and bisection alternate:
    // the sum jumps at corners of the curve, where only bisection converges.
    double high = -epsilon, low = high;
    std::vector<double> flat = chain(direction, std::exp(high), std::vector<double>(size_, 0)), steep = flat;
    for (double step = 1; sum(steep) < epsilon && low > -690; step *= 2) {
      high = low;
      flat = steep;
      low = std::max(-690.0, low - step);
      steep = chain(direction, std::exp(low), flat);
    }
    for (int i = 0; i < 60 && high - low > 1e-7; ++i) {  // the error of the bound is quadratic in this width
      const double excess = sum(steep) - epsilon, rise = sum(steep) - sum(flat);
      const double share = i % 2 == 0 && rise > 0 ? std::clamp(excess / rise, 0.001, 0.999) : 0.5;
      const double middle = low + share * (high - low);
      std::vector<double> losses = chain(direction, std::exp(middle), share < 0.5 ? steep : flat);
      const double off = sum(losses) - epsilon;
      const bool is_steep = off >= 0;
      const bool found = std::abs(off) < 1e-7 * (1 + epsilon);
      if (is_steep || found) low = middle;
      if (!is_steep || found) high = middle;
      if (found) flat = steep = losses;
      (is_steep ? steep : flat) = std::move(losses);
    }
    const double steep_sum = sum(steep), flat_sum = sum(flat);
    const double share = steep_sum > flat_sum ? std::clamp((epsilon - flat_sum) / (steep_sum - flat_sum), 0.0, 1.0) : 0.5;
    for (std::size_t i = 0; i < size_; ++i) steep[i] = flat[i] + share * (steep[i] - flat[i]);
    const double hi = std::min(1.0, above(direction, std::move(steep), epsilon));
    const double lo =
        std::clamp(std::max(below(direction, std::exp(low), epsilon), below(direction, std::exp(high), epsilon)), least.lo, hi);
    return {lo, hi};
  }

  LossPointer base_;
  std::size_t size_;
  double largest_loss_;
  Citation iteration_;
  Interval infinite_remove_;
  Interval infinite_add_;
};

/// [group-privacy] The symmetric iteration, which covers any mix of additions and removals, and the iteration for one kind of change. The
/// latter answers questions about one direction (see Profile), so the two directions differ and the loss is not symmetric.
class MixedGroupLoss final : public ForwardingLoss {
 public:
  explicit MixedGroupLoss(GroupSides sides) : sides_(std::move(sides)) {}
  [[nodiscard]] bool symmetric() const override { return false; }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities known = ForwardingLoss::capabilities(direction);
    known.group_sides = &sides_;
    return known;
  }

 private:
  [[nodiscard]] const Loss& base() const override { return *sides_.mixed; }
  void note() const override {
    static const Citation citation("group-privacy",
                                   "the worst case covers additions and removals mixed; one direction speaks of that kind alone");
    record(citation);
  }

  GroupSides sides_;
};

}  // namespace

// Powers by squaring: iteration is associative.
Atoms group_atoms(const Atoms& atoms, std::uint64_t size) {
  Atoms result = atoms;
  std::uint64_t bit = 1;
  while (bit <= size / 2) bit *= 2;
  for (bit /= 2; bit > 0; bit /= 2) {
    result = iterate(result, result);
    if ((size & bit) != 0) result = iterate(atoms, result);
  }
  return result;
}

namespace {

/// The theorems behind the distribution of a group.
Citations grouping_of(const Loss& base, std::uint64_t size, const std::string& remark = {}) {
  Citations used = citations_of([&] { base.cite(); });
  used.emplace_back("group-privacy", std::to_string(size) + " records: the trade-off function iterated" + remark);
  return used;
}

/// The iteration of one distribution, symmetric or not.
LossPointer iterated(LossPointer base, std::uint64_t size) {
  const Interval times = Interval::exactly(static_cast<double>(size));
  const Atoms* atoms = base->atoms(Direction::remove);
  const bool fits = atoms != nullptr && atoms->mirrored == base->symmetric() && atoms->finite.size() <= most_atoms / size;
  if (fits) {
    const std::string key = group_key(*base, numeric::to_size(size));
    Atoms law = group_atoms(*atoms, size);
    law.slack = -expm1(times * log1p(-Interval::exactly(atoms->slack))).lo;
    if (!atoms->mirrored) law.other_infinite = group_atoms(swapped(*atoms), size).infinite;
    const Tail tail = group_tail(base->tail(), numeric::to_size(size));
    const bool known = tail.zero_from < infinity || tail.gdp_mu < infinity || tail.gaussian;
    // The losses of a group are sums of `size` losses of one record.
    std::optional<LossLattice> lattice = base->lattice();
    if (lattice) lattice->odd_half_steps = lattice->odd_half_steps && size % 2 != 0;
    return finite_loss(std::move(law), key, grouping_of(*base, size, std::string("; ") + what_iteration_is),
                       known ? std::optional(tail) : std::nullopt, lattice);
  }
  if (size > most_iterations)
    throw TooLargeError("group: size = " + std::to_string(size) + " is not supported for this curve; at most " +
                        std::to_string(most_iterations));
  if (LossPointer closed = iterated_loss(base, numeric::to_size(size))) return budgeted(std::move(closed));
  return budgeted(std::make_shared<GroupedLoss>(std::move(base), size));  // every evaluation is a search
}

}  // namespace

const GroupSides* group_sides_of(const Loss& loss) { return loss.capabilities(Direction::remove).group_sides; }

LossPointer mixed_changes_of(LossPointer loss) {
  const GroupSides* sides = group_sides_of(*loss);
  return sides == nullptr ? loss : sides->mixed;
}

LossPointer exchanged_group(const GroupSides& sides) {
  return std::make_shared<MixedGroupLoss>(GroupSides{sides.mixed, inverse_loss(sides.one_kind)});
}

LossPointer group_loss(LossPointer base, std::uint64_t size) {
  if (size == 0) throw DomainError("group: size = 0 is not allowed; it must be at least 1");
  if (size == 1) return base;
  base = mixed_changes_of(std::move(base));
  if (!base->symmetric()) return std::make_shared<MixedGroupLoss>(GroupSides{iterated(symmetric_loss(base), size), iterated(base, size)});
  const Interval times = Interval::exactly(static_cast<double>(size));
  // [adaptive-block] The changes of a group add up within each of the pairs.
  if (const AdaptiveUses* uses = base->capabilities(Direction::remove).adaptive)
    if (LossPointer grouped = uses->of_group(size)) return grouped;
  if (const auto mu = base->gaussian_mu()) return gaussian_loss(times * *mu, grouping_of(*base, size));
  if (const auto epsilon0 = base->capabilities(Direction::remove).laplace_epsilon)
    return std::make_shared<LaplaceLoss>(times * *epsilon0, grouping_of(*base, size));
  if (const MovedNoise* noise = base->capabilities(Direction::remove).moved)
    if (LossPointer moved = noise->moved(size, grouping_of(*base, size))) return moved;
  return iterated(std::move(base), size);
}

namespace {

std::uint64_t records_of_group(const Arguments& arguments) { return arguments.whole("size"); }

LossPointer apply_group(const Arguments& arguments, LossPointer base, const WordContext&) {
  return group_loss(std::move(base), records_of_group(arguments));
}

}  // namespace

Word group_word() {
  return {.role = Role::operation,
          .name = "group",
          .meaning = "protection of a group of records; comes after any sampling",
          .parameters = {{"size", Kind::integer, "records that change together", range::whole(1, range::most_steps)}},
          .apply = apply_group,
          .records = records_of_group};
}

}  // namespace tradeoff::detail
