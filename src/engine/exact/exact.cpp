// SPDX-License-Identifier: Apache-2.0
#include "engine/exact/exact.h"

#include <algorithm>
#include <cmath>

#include "engine/epsilon_search.h"
#include "engine/exact/meet_in_the_middle.h"
#include "engine/exact/power.h"
#include "engine/exact/sum.h"
#include "engine/exact/table.h"
#include "loss/atoms.h"
#include "loss/evaluation.h"
#include "numeric/arithmetic.h"
#include "numeric/plain_text.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {

namespace {

using exact::Law;
using exact::Masses;
using exact::Table;

struct FinitePart {
  const Atoms* atoms;
  std::uint64_t times;
};
using FiniteParts = std::vector<FinitePart>;

bool all_finite(const Parts& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.loss->atoms(Direction::remove) != nullptr; });
}

/// Merges randomised responses with the same epsilon, whatever they reveal: only the normalised finite distribution matters here.
bool is_response(const Atoms& atoms) { return atoms.mirrored && atoms.finite.size() == 2; }

FiniteParts finite_parts(const Parts& parts, Direction direction) {
  FiniteParts result;
  FiniteParts responses;
  for (const Part& part : parts) {
    const Atoms* atoms = part.loss->atoms(direction);
    if (atoms->finite.empty() || part.times == 0) continue;
    (is_response(*atoms) ? responses : result).push_back({atoms, part.times});
  }
  const auto loss = [](const FinitePart& part) { return part.atoms->finite.front().loss; };
  std::stable_sort(responses.begin(), responses.end(), [&](const FinitePart& a, const FinitePart& b) {
    return loss(a).lo != loss(b).lo ? loss(a).lo < loss(b).lo : loss(a).hi < loss(b).hi;
  });
  const std::size_t others = result.size();
  for (const FinitePart& part : responses) {
    if (result.size() > others && loss(result.back()) == loss(part)) {
      result.back().times += part.times;
    } else {
      result.push_back(part);
    }
  }
  return result;
}

Masses masses_of(const Parts& parts, Direction direction) {
  Interval kept = Interval::exactly(0);
  Interval other_kept = Interval::exactly(0);
  Interval slack = Interval::exactly(0);
  for (const Part& part : parts) {
    const Atoms& atoms = *part.loss->atoms(direction);
    const Interval times = Interval::exactly(static_cast<double>(part.times));
    kept = kept + times * log1p(-atoms.infinite);
    other_kept = other_kept + times * log1p(-atoms.other_infinite);
    slack = slack - times * log1p(-Interval::exactly(atoms.slack));
  }
  return {-expm1(kept), -expm1(other_kept), exp(kept), slack.hi};
}

/// A common step of all losses, and the number of cells between the smallest and the largest sum of each part.
struct CommonStep {
  exact::Wide step = 0;
  std::vector<double> cells;
};

std::optional<CommonStep> common_step(const FiniteParts& parts) {
  std::vector<Interval> losses;
  for (const FinitePart& part : parts)
    for (const Atom& atom : part.atoms->finite) losses.push_back(atom.loss);
  const auto lattice = exact::common_lattice(losses);
  if (!lattice) return std::nullopt;
  CommonStep common{lattice->step, {}};
  std::size_t next = 0;
  for (const FinitePart& part : parts) {
    const std::size_t last = next + part.atoms->finite.size() - 1;
    common.cells.push_back(static_cast<double>(lattice->multiples[next] - lattice->multiples[last]) * static_cast<double>(part.times));
    next = last + 1;
  }
  return common;
}

/// How all atoms would be listed: cell by cell if the losses have a common step and that gives fewer, one by one otherwise.
struct ListPlan {
  exact::Size size{1, 0};
  std::optional<exact::Wide> step;
};

ListPlan plan_list(const FiniteParts& parts) {
  ListPlan plan;
  std::vector<double> sizes;
  for (const FinitePart& part : parts) {
    const exact::Size size = exact::power_size(*part.atoms, part.times);
    if (!size.fits()) return {{infinity, infinity}, std::nullopt};
    sizes.push_back(size.points);
    plan.size.terms += size.terms;
  }
  // Sorting costs about as much as ten multiplications.
  ListPlan dense = plan;
  std::sort(sizes.begin(), sizes.end());
  for (const double points : sizes) plan.size.points *= points;
  if (parts.size() > 1) plan.size.terms += 10 * plan.size.points;
  if (parts.size() < 2 || plan.size.points < 1000) return plan;
  const auto common = common_step(parts);
  if (!common) return plan;
  double reach = 1;
  for (const double cells : common->cells) reach += cells;
  for (const double points : sizes) dense.size.terms += reach * points;
  dense.size.points = reach;
  dense.step = common->step;
  return dense.size.points < plan.size.points && dense.size.terms < plan.size.terms ? dense : plan;
}

exact::Size list_size(const FiniteParts& parts) { return plan_list(parts).size; }

Law compose_list(const FiniteParts& parts) {
  if (parts.empty()) return {{{0, 1}}, 0, 0, 0, 0, 0, 0};
  const ListPlan plan = plan_list(parts);
  std::vector<Law> laws;
  for (const FinitePart& part : parts) laws.push_back(exact::power(*part.atoms, part.times));
  std::sort(laws.begin(), laws.end(), [](const Law& a, const Law& b) { return a.points.size() < b.points.size(); });
  Law sum = std::move(laws.front());
  for (std::size_t i = 1; i < laws.size(); ++i) sum = plan.step ? lattice_product(sum, laws[i], *plan.step) : product(sum, laws[i]);
  return sum;
}

struct Split {
  FiniteParts one;
  FiniteParts other;
  exact::Size one_size{1, 0};
  exact::Size other_size{1, 0};
  [[nodiscard]] double points() const { return one_size.points + other_size.points; }
};

/// Distributes the parts to two halves, the largest first, each to the smaller half.
Split split_by_parts(const FiniteParts& parts) {
  std::vector<std::pair<double, FinitePart>> sized;
  for (const FinitePart& part : parts) sized.emplace_back(exact::power_size(*part.atoms, part.times).points, part);
  std::stable_sort(sized.begin(), sized.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Split split;
  double one = 1;
  double other = 1;
  for (const auto& [points, part] : sized) {
    (one <= other ? split.one : split.other).push_back(part);
    (one <= other ? one : other) *= points;
  }
  split.one_size = list_size(split.one);
  split.other_size = list_size(split.other);
  return split;
}

/// Splits the runs of every part evenly between the halves.
Split split_by_times(const FiniteParts& parts) {
  Split split;
  bool flip = false;
  for (const FinitePart& part : parts) {
    const std::uint64_t more = part.times - part.times / 2;
    const std::uint64_t less = part.times / 2;
    split.one.push_back({part.atoms, flip ? less : more});
    split.other.push_back({part.atoms, flip ? more : less});
    if (more != less) flip = !flip;
  }
  for (FiniteParts* half : {&split.one, &split.other}) std::erase_if(*half, [](const FinitePart& part) { return part.times == 0; });
  split.one_size = list_size(split.one);
  split.other_size = list_size(split.other);
  return split;
}

Split best_split(const FiniteParts& parts) {
  Split by_parts = split_by_parts(parts);
  Split by_times = split_by_times(parts);
  return by_parts.points() <= by_times.points() ? std::move(by_parts) : std::move(by_times);
}

enum class End { low, high };

/// The table of the distribution with all masses at one end of their enclosures, not normalised: its delta is at most, or at least, the
/// true one.
std::unique_ptr<Table> table_at(End end, const Parts& parts, Direction direction) {
  const FiniteParts finite = finite_parts(parts, direction);
  std::vector<Atoms> laws;
  Interval log_total = Interval::exactly(0);
  for (const FinitePart& part : finite) {
    Atoms& law = laws.emplace_back(*part.atoms);
    Interval total = Interval::exactly(0);
    for (Atom& atom : law.finite) {
      atom.mass = Interval::exactly(end == End::low ? atom.mass.lo : atom.mass.hi);
      total = total + atom.mass;
    }
    // Responses of one epsilon differ in what they reveal; `masses_of` gives their finite masses, and only the distribution is taken from
    // here.
    if (!is_response(law)) log_total = log_total + static_cast<double>(part.times) * (log(total) - log1p(-part.atoms->infinite));
  }
  FiniteParts moved;
  for (std::size_t i = 0; i < laws.size(); ++i) moved.push_back({&laws[i], finite[i].times});
  Masses masses = masses_of(parts, direction);
  masses.finite = masses.finite * exp(log_total);
  return std::make_unique<Table>(compose_list(moved), masses);
}

/// One direction of a listed distribution. If some masses are known only roughly (those of constraints that hardly matter), a bound on
/// their ratio is useless; then the distributions with all masses at their lower and at their upper ends are listed as well and enclose
/// delta.
class Reading {
 public:
  Reading(const Parts& parts, Direction direction) : table_(compose_list(finite_parts(parts, direction)), masses_of(parts, direction)) {
    if (table_.spread() <= spread_enough) return;
    below_ = table_at(End::low, parts, direction);
    above_ = table_at(End::high, parts, direction);
  }
  [[nodiscard]] const Table& table() const { return table_; }
  [[nodiscard]] Interval delta(Interval epsilon) const {
    return read([&](const Table& table) { return table.delta(epsilon); });
  }
  [[nodiscard]] Interval log_delta(Interval epsilon) const {
    return read([&](const Table& table) { return table.log_delta(epsilon); });
  }
  [[nodiscard]] Interval epsilon(Interval delta) const {
    return read([&](const Table& table) { return table.epsilon(delta); });
  }
  [[nodiscard]] Interval log_complement(double epsilon) const {
    return read([&](const Table& table) { return table.log_complement(epsilon); });
  }

 private:
  static constexpr double spread_enough = 4e-11;  // the answers are then 1e-10 wide, relatively

  /// Every computed quantity increases with the masses.
  template <typename Read>
  [[nodiscard]] Interval read(const Read& ask) const {
    const Interval answer = ask(table_);
    return below_ ? intersect(answer, {ask(*below_).lo, ask(*above_).hi}) : answer;
  }

  Table table_;
  std::unique_ptr<Table> below_;
  std::unique_ptr<Table> above_;
};

/// One table per direction, or one for both.
class ListedLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  explicit ListedLoss(const Parts& parts)
      : symmetric_(are_symmetric(parts)), tail_(tail_of(parts)), remove_(parts, Direction::remove), laws_(citations_of_laws(parts)) {
    if (!symmetric_) add_ = std::make_unique<Reading>(parts, Direction::add);
    if (small(remove_.table()) && (!add_ || small(add_->table()))) {
      atoms_ = make_atoms_of(remove_.table());
      if (add_) add_atoms_ = make_atoms_of(add_->table());
    }
    const Table& listed = remove_.table();
    numeric::PlainText detail;
    detail << listed.law().points.size() << " atoms, losses within " << listed.law().shift << ", masses within a factor 1 +- "
           << listed.spread();
    composed_.emplace_back("exact-composition", detail.str(), Method::exact);
    if (is_one_step(parts)) alone_ = parts.front().loss;
    if (parts.size() == 1) lattice_ = parts.front().loss->lattice();
    if (lattice_) lattice_->odd_half_steps = lattice_->odd_half_steps && parts.front().times % 2 != 0;
  }

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override { return by_list(reading(direction).delta(epsilon)); }
  /// A mechanism that is run once may have a better bound of its far tail than its list of masses, which ends where doubles underflow.
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    const Interval listed = reading(direction).log_delta(epsilon);
    return by_list(alone_ && !(listed.width() < 1e-6) ? intersect(listed, alone_->log_delta(direction, epsilon)) : listed);
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return table(direction).masses().infinite; }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval target) const override {
    return by_list(reading(direction).epsilon(target));
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    return by_list(table(direction).beta(alpha));
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    return by_list(table(direction).test(epsilon));
  }
  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    const auto& law = direction == Direction::add && add_atoms_ ? add_atoms_ : atoms_;
    return {.atoms = law ? &*law : nullptr, .closed_forms = this, .evaluable = this, .lattice = lattice_};
  }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    return by_list(reading(direction).log_complement(epsilon));
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    std::vector<Guarantee> list;
    for (const Interval epsilon : table(direction).corners()) list.push_back({epsilon, reading(direction).delta(epsilon)});
    return by_list(std::move(list));
  }
  /// The listed distribution is available to further operators.
  void cite() const override {
    record(laws_);
    record(composed_);
  }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    const Table& listed = table(direction);
    Evaluation one = whole_evaluation(*this, direction, epsilon);
    one.counts = {{"atoms", listed.law().points.size()}};
    one.settings = {{"losses within", static_cast<double>(listed.law().shift)}};
    one.errors = {{"masses", static_cast<double>(listed.spread())}};
    found.push_back(balanced(std::move(one), "losses"));
  }

 private:
  template <class Value>
  [[nodiscard]] Value by_list(Value value) const {
    ListedLoss::cite();
    return value;
  }

  /// Distributions up to this size are passed to mixtures and to further composition.
  static constexpr std::size_t most_atoms = 4096;

  /// Few atoms, each with a mass that a double represents to full precision.
  [[nodiscard]] static bool small(const Table& table) {
    const auto& points = table.law().points;
    return points.size() <= most_atoms && table.law().lost == 0 && table.spread() < 1e-9 && table.masses().finite.lo > 1e-100 &&
           std::all_of(points.begin(), points.end(), [](const exact::Point& point) { return point.mass > 1e-200L; });
  }

  [[nodiscard]] Atoms make_atoms_of(const Table& table) const {
    std::vector<Atom> finite;
    const Law& law = table.law();
    for (const exact::Point& point : law.points) {
      const Interval mass = Interval::exactly(static_cast<double>(point.mass)) * exp(Interval{-law.spread, law.spread});
      finite.push_back({point.loss + Interval{-law.shift, law.shift},
                        table.masses().finite * Interval{numeric::next_down(mass.lo), numeric::next_up(mass.hi)}});
    }
    Atoms atoms = make_atoms(std::move(finite), table.masses().infinite, table.masses().other_infinite, symmetric_);
    atoms.slack = (1 - exp(Interval::exactly(-table.masses().slack))).hi;
    return atoms;
  }

  [[nodiscard]] const Reading& reading(Direction direction) const { return direction == Direction::add && add_ ? *add_ : remove_; }
  [[nodiscard]] const Table& table(Direction direction) const { return reading(direction).table(); }

  bool symmetric_;
  LossPointer alone_;
  Tail tail_;
  std::optional<LossLattice> lattice_;  // of one part
  Reading remove_;
  std::unique_ptr<Reading> add_;
  std::optional<Atoms> atoms_;
  std::optional<Atoms> add_atoms_;
  Citations laws_;
  Citations composed_;
};

/// [meet-in-the-middle] Two lists per direction.
class HalvedLoss final : public Loss, public ClosedForms, public Evaluable {
 public:
  explicit HalvedLoss(const Parts& parts)
      : symmetric_(are_symmetric(parts)), tail_(tail_of(parts)), remove_(make_halves(parts, Direction::remove)) {
    if (!symmetric_) add_ = make_halves(parts, Direction::add);
    numeric::PlainText detail;
    detail << remove_->points() << " atoms as two lists, losses within " << remove_->shift() << ", masses within a factor 1 +- "
           << remove_->spread();
    citations_ = citations_of_laws(parts);
    citations_.emplace_back("meet-in-the-middle", detail.str(), Method::exact);
  }
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    record(citations_);
    return halves(direction).delta(epsilon);
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    record(citations_);
    return halves(direction).log_delta(epsilon);
  }
  [[nodiscard]] bool symmetric() const override { return symmetric_; }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return halves(direction).masses().infinite; }
  [[nodiscard]] Capabilities capabilities(Direction) const override { return {.closed_forms = this, .evaluable = this}; }
  /// [profile-inversion]
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    return epsilon_by_values(*this, direction, delta);
  }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    record(citations_);
    return halves(direction).log_complement(epsilon);
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    record(citations_);
    return halves(direction).test(epsilon);
  }
  void cite() const override { record(citations_); }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override {
    Evaluation one = whole_evaluation(*this, direction, epsilon);
    one.counts = {{"atoms", static_cast<std::uint64_t>(std::min(halves(direction).points(), 0x1p63))}};
    one.settings = {{"losses within", static_cast<double>(halves(direction).shift())}};
    one.errors = {{"masses", static_cast<double>(halves(direction).spread())}};
    found.push_back(balanced(std::move(one), "losses"));
  }

 private:
  static std::unique_ptr<exact::Halves> make_halves(const Parts& parts, Direction direction) {
    const Split split = best_split(finite_parts(parts, direction));
    Law one = compose_list(split.one);
    Law other = compose_list(split.other);
    if (one.points.size() > other.points.size()) std::swap(one, other);  // a question costs more per point of the first list
    return std::make_unique<exact::Halves>(std::move(one), std::move(other), masses_of(parts, direction));
  }
  [[nodiscard]] const exact::Halves& halves(Direction direction) const { return direction == Direction::add && add_ ? *add_ : *remove_; }

  bool symmetric_;
  Tail tail_;
  std::unique_ptr<exact::Halves> remove_;
  std::unique_ptr<exact::Halves> add_;
  Citations citations_;
};

/// With fewer distinct distributions the transform is large at too many points.
constexpr std::size_t least_for_inversion = 40;

}  // namespace

ExactSize exact_size(const Parts& parts) {
  if (!all_finite(parts)) return {ExactWay::none, infinity, infinity, false};
  const FiniteParts finite = finite_parts(parts, Direction::remove);
  if (const exact::Size list = list_size(finite); list.fits()) return {ExactWay::list, list.points, list.terms, true};
  if (finite.size() < 5000) {
    const Split split = best_split(finite);
    if (split.one_size.fits() && split.other_size.fits() && split.points() <= exact::most_points)
      return {ExactWay::halves, split.one_size.points * split.other_size.points, split.one_size.terms + split.other_size.terms, true};
  }
  if (finite.size() >= least_for_inversion) return {ExactWay::inversion, infinity, static_cast<double>(finite.size()), true};
  return {ExactWay::none, infinity, infinity, false};
}

LossPointer compose_exactly(const Parts& parts, Tolerance tolerance) {
  if (!all_finite(parts)) return nullptr;
  switch (exact_size(parts).way) {
    case ExactWay::list:
      return std::make_shared<ListedLoss>(parts);
    case ExactWay::halves:
      return std::make_shared<HalvedLoss>(parts);
    case ExactWay::inversion:
      return compose_by_inversion(parts, tolerance);
    case ExactWay::none:
      break;
  }
  numeric::PlainText message;
  message << "exact composition lists at most " << exact::most_points << " atoms in each half of a plan, by at most " << exact::most_terms
          << " multiplications";
  throw TooLargeError(message.str());
}

}  // namespace tradeoff::detail
