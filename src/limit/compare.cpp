// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "analyze/berry_esseen.h"
#include "analyze/parts_of_plan.h"
#include "curve/curve_state.h"
#include "engine/compose.h"
#include "limit/classical.h"
#include "loss/atoms.h"
#include "loss/gaussian_profile.h"
#include "loss/question_scope.h"
#include "loss/work.h"
#include "mechanism/constraints.h"
#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "numeric/normal.h"
#include "numeric/number_text.h"
#include "numeric/plain_text.h"
#include "numeric/root.h"
#include "operators/duality.h"
#include "operators/loss_moments.h"
#include "operators/refine.h"
#include "plan/arguments.h"
#include "plan/vocabulary.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/limit.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

// [classical-composition] No older theorem is below a narrow exact row, so the rows beside it need not be tight, and one that would take
// long is refused.
constexpr Tolerance tolerance_of_rows{1e-4};
constexpr double most_work_of_row = 5e4;    // in the units of loss/work.h
constexpr double values_for_moments = 300;  // of the profile of a mechanism; as many for its mu
constexpr double values_for_orders = 5000;  // for its divergences of fifty orders

std::string written(double value) {
  numeric::PlainText out;
  out << value;
  return out.str();
}

/// A mechanism, the rate of the sample it runs on, and its number of runs.
struct Run {
  LossPointer loss;
  std::uint64_t times = 1;
  Interval rate = Interval::exactly(1);
};

Interval floor_of(const Run& run) { return clamp(run.rate * Profile(*run.loss, Direction::worst).infinite_mass(), 0, 1); }

/// The epsilon from which on the delta of the mechanism is constant, if there is one.
std::optional<Interval> last_epsilon(const Loss& loss) {
  if (const auto last = loss.capabilities(Direction::remove).last_guarantee) return last;
  const Atoms* remove = loss.atoms(Direction::remove);
  const Atoms* add = loss.atoms(Direction::add);
  // Masses that are not known exactly, like those of a truncated table, have no largest loss.
  const auto ends = [](const Atoms* atoms) { return atoms != nullptr && (atoms->infinite.lo > 0 || atoms->infinite.hi == 0); };
  if (ends(remove) && ends(add)) {
    Interval largest = Interval::exactly(0.0);
    for (const Atoms* atoms : {remove, add})
      if (!atoms->finite.empty()) largest = max(largest, atoms->finite.front().loss);
    return largest;
  }
  const double zero_from = loss.tail().zero_from;
  if (!(zero_from < infinity)) return std::nullopt;
  return Interval{std::min(invert_profile(Profile(loss, Direction::worst), Interval::exactly(0.0)).lo, zero_from), zero_from};
}

/// Each run as one (epsilon, delta). A mechanism with a largest finite loss uses that epsilon; the others get equal shares of `part` of the
/// remaining delta.
struct Statement {
  std::vector<StatedRuns> runs;
  bool shared = false;
};
Statement state(const std::vector<Run>& runs, Interval delta, double part) {
  Interval floors = Interval::exactly(0.0), sharers = Interval::exactly(0.0);
  for (const Run& run : runs) {
    floors = floors + Interval::exactly(run.times) * floor_of(run);
    if (!last_epsilon(*run.loss)) sharers = sharers + Interval::exactly(run.times);
  }
  if (floors.lo > delta.hi) throw DomainError("the runs may reveal everything with probability " + written(floors.lo) + ", above delta");
  Statement statement;
  // Slightly below the equal share, so that the sum certainly stays within delta.
  const double share = sharers.hi > 0 ? std::max(0.0, ((delta - floors) * part / sharers).lo) * (1 - 1e-12) : 0;
  if (sharers.hi > 0 && !(share > 0)) throw DomainError("no finite epsilon at this delta: nothing of it is left to share");
  for (const Run& run : runs) {
    const Interval base_floor = Profile(*run.loss, Direction::worst).infinite_mass();
    if (const auto last = last_epsilon(*run.loss)) {
      statement.runs.push_back({amplified({*last, base_floor}, run.rate), run.times});
      continue;
    }
    const double at = std::min(1.0, (base_floor + Interval::exactly(share) / run.rate).lo);
    const Interval epsilon = invert_profile(Profile(*run.loss, Direction::worst), Interval::exactly(at));
    if (!(epsilon.hi < infinity)) throw DomainError("a mechanism has no finite epsilon at its share of delta, " + written(at));
    statement.runs.push_back({amplified({epsilon, Interval::exactly(at)}, run.rate), run.times});
    statement.shared = true;
  }
  return statement;
}

bool all_alike(const std::vector<StatedRuns>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&](const StatedRuns& run) { return run.each == runs.front().each; });
}

/// Q(L > e) and P(L > e) in one direction of a composed plan. [classical-sampling]
std::optional<Loss::Test> test_above(const Loss& loss, Direction direction, double e) {
  const Interval point = Interval::exactly(e);
  if (const auto mu = loss.gaussian_mu(); mu && mu->lo > 0)
    return Loss::Test{normal_cdf(-point / *mu - *mu / 2.0), normal_cdf(*mu / 2.0 - point / *mu)};
  const Atoms* atoms = loss.atoms(direction);
  if (atoms == nullptr) return loss.test_at(direction, e);
  Loss::Test test{Interval::exactly(0.0), atoms->infinite};
  for (const Atom& atom : atoms->finite) {
    if (atom.loss.hi < e - 1e-9 * (1 + e)) break;  // in decreasing order, up to the widths of the losses
    if (!(atom.loss.hi > e)) continue;
    const bool certain = atom.loss.lo > e;
    const Interval other = atom.mass * exp(-atom.loss);
    test.true_positive = test.true_positive + Interval{certain ? atom.mass.lo : 0, atom.mass.hi};
    test.false_positive = test.false_positive + Interval{certain ? other.lo : 0, other.hi};
  }
  return test;
}

/// The least e >= 0 at which a decreasing quantity of both directions is at most delta. It is at least about `first`, where the search
/// starts: tests far beyond the losses are hard to evaluate, and tests far below take longer.
template <class Quantity>
Interval least_epsilon(const Loss& loss, Interval delta, double first, Quantity&& quantity) {
  const QuestionScope question;  // the tests share their contours
  const auto judge = [&](double e) {
    Interval worst = Interval::exactly(0.0);
    for (const Direction direction : {Direction::remove, Direction::add}) {
      if (direction == Direction::add && loss.symmetric()) continue;
      const auto test = test_above(loss, direction, e);
      if (!test) throw UnsupportedError("the tests of this plan are not known in closed form");
      worst = max(worst, clamp(quantity(*test, e), 0, 1));
    }
    return numeric::Verdict{worst.lo > delta.hi, worst.hi <= delta.lo, (worst.lo + worst.hi) / 2 - delta.lo};
  };
  const bool starts = first > 0 && first < 0x1p20;
  double low = starts ? 0.9 * first : 0;
  if (!judge(low).before && judge(low = 0).after) return Interval::exactly(0.0);
  for (double high = starts ? 1.25 * first : 1; high < 0x1p21; high *= 2) {
    const auto verdict = judge(high);
    if (verdict.after) return numeric::narrow_bracket(judge, low, high);
    if (verdict.before) low = high;
  }
  return {low, infinity};
}

/// The input of all methods.
class Case {
 public:
  Case(const Plan& plan, Interval delta, Neighbours neighbours, Tolerance tolerance)
      : plan_(plan), delta_(delta), tolerance_(tolerance), curve_(analyze(plan, neighbours, tolerance)) {
    PlanParts found = parts_of_plan(plan, neighbours, tolerance);
    for (Part& part : found.parts) {
      const std::string key = part.loss->key();
      const auto same = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return !key.empty() && run.loss->key() == key; });
      if (part.times == 0) continue;
      if (same != runs_.end())
        same->times += part.times;
      else
        runs_.push_back({std::move(part.loss), part.times});
    }
    const std::uint64_t begin = Work::now();
    const auto answer = explained([&] { return curve_.epsilon_at(delta_); });
    work_ = Work::since(begin);
    epsilon_ = answer.value;
    method_ = answer.method;
    for (const Step& step : answer.steps) bent_ = bent_ || step.theorem == "bent-contour";
    for (const Run& run : runs_) work_of_value_ = std::max(work_of_value_, work_of_profile(*run.loss));
  }

  /// Of the plan itself.
  [[nodiscard]] Interval epsilon() const { return epsilon_; }
  /// Whether an epsilon follows from a stated profile only by its refinement, which is another plan. [profile-refinement]
  [[nodiscard]] bool states_less_than(double epsilon) const {
    if (!(epsilon < epsilon_.lo) || loss_of(curve_)->is_pair()) return false;
    if (!refined_) {
      const Curve refined = curve_from(refine(loss_of(curve_)), curve_.neighbours(), tolerance_);
      refined_ = explained([&] { return refined.epsilon_at(delta_); }).value.hi;
    }
    return *refined_ <= epsilon * (1 + tolerance_.relative);
  }

  MethodRow exact() const { return {"", RowKind::bound, epsilon_, to_string(method_)}; }

  MethodRow basic() const {
    const Statement& found = stated(1);
    return bound(basic_composition(found.runs, delta_), found, "epsilons and deltas add");
  }
  MethodRow advanced() const {
    const Statement& found = stated(0.5);
    return bound(advanced_composition(found.runs, delta_), found, "Dwork, Rothblum and Vadhan");
  }
  MethodRow kairouz() const {
    const Statement& found = stated(0.5);
    if (!all_alike(found.runs)) throw DomainError("the runs differ: see murtagh_vadhan");
    return bound(optimal(found.runs), found, "Kairouz, Oh and Viswanath: the optimum for runs known by one (epsilon, delta)");
  }
  MethodRow murtagh_vadhan() const {
    const Statement& found = stated(0.5);
    if (all_alike(found.runs)) throw DomainError("all runs are alike: see kairouz");
    return bound(optimal(found.runs), found, "the optimum that Murtagh and Vadhan approximate, runs known by one (epsilon, delta) each");
  }
  MethodRow rdp() const {
    const Statement& found = stated(0.5);
    std::uint64_t times = 0;
    for (const StatedRuns& run : found.runs) times += run.times;
    if (found.runs.empty() || !all_alike(found.runs) || found.runs.front().each.delta.hi > 0)
      throw DomainError("the corollary of Renyi DP covers only runs of one pure mechanism");
    return bound(renyi_corollary(found.runs.front().each.epsilon, times, delta_), found,
                 "Mironov's corollary, 4 epsilon sqrt(2 k log(1/delta))");
  }

  MethodRow rdp_orders() const {
    refuse_if_slow(values_for_orders, "its divergences");
    const RenyiGuarantee found = renyi_curve(plan_, curve_.neighbours(), tolerance_).epsilon_at(delta_);
    if (!(found.value.hi < infinity)) throw DomainError("no order of the Renyi divergence certifies anything at this delta");
    return {"", RowKind::bound, found.value, "Renyi divergences added up, converted at the best order, " + written(found.order)};
  }
  MethodRow zcdp() const {
    const auto rho = renyi_curve(plan_, curve_.neighbours(), tolerance_).zcdp();
    if (!rho) throw DomainError("no rho is known for a mechanism: it is neither Gaussian-DP nor pure");
    const RenyiGuarantee found = epsilon_of_zcdp(*rho, delta_);
    if (!(found.value.hi < infinity)) throw DomainError("no order certifies anything at this delta");
    return {"", RowKind::bound, found.value, "zero-concentrated DP, rho = " + written(rho->hi)};
  }
  MethodRow berry_esseen() const {
    refuse_if_slow(values_for_moments, "its moments");
    const auto by = [this](const IntegralEffort& effort) { return berry_esseen_by(plan_, curve_.neighbours(), tolerance_, effort); };
    const auto refuse = [](double floor) { throw DomainError("the theorem certifies no delta below " + numeric::to_text_below(floor, 3)); };
    // Four digits of the moments show whether the theorem says anything at this delta; mostly it does not.
    if (const double floor = by(quick).floor().lo; floor > delta_.hi) refuse(floor);
    const BerryEsseen found = by(thorough);
    const Interval epsilon = found.epsilon_at(delta_);
    if (!(epsilon.hi < infinity)) refuse(found.floor().lo);
    return {"", RowKind::bound, epsilon, "the limit theorem with its error term, mu = " + written(found.mu().hi)};
  }
  MethodRow clt() const {
    refuse_if_slow(values_for_moments, "its moments");
    const CentralLimit found = central_limit(plan_, curve_.neighbours(), tolerance_);
    return estimate(found.epsilon_at(delta_.lo), "the limit theorem without its error term, mu = " + written(found.mu.value()));
  }
  MethodRow edgeworth() const {
    refuse_if_slow(values_for_moments, "its moments");
    return estimate(tradeoff::edgeworth(plan_, curve_.neighbours(), tolerance_).epsilon_at(delta_.lo),
                    "the limit theorem refined by skewness and kurtosis");
  }

  MethodRow gdp() const {
    refuse_if_slow(values_for_moments, "its mu");
    std::vector<GdpPair> pairs;
    for (const Run& run : runs_) {
      const GdpMeasurement found = measure_mu(curve_of(run));
      if (!(found.mu.hi < infinity))
        throw DomainError(found.verdict == GdpVerdict::not_gdp
                              ? "a mechanism is not Gaussian-DP for any mu (its tail: " + found.tail.kind + "); see gdp_slack"
                              : "nothing certifies the tail of a mechanism; see gdp_slack");
      append(pairs, {found.mu, Interval::exactly(0.0), 0}, run.times);
    }
    const Interval mu = compose(pairs).mu;
    return {"", RowKind::bound, gaussian_epsilon(mu, delta_), "each mechanism by its mu; composed mu = " + written(mu.hi)};
  }
  MethodRow gdp_slack() const {
    refuse_if_slow(values_for_moments, "its mu");
    Interval floors = Interval::exactly(0.0), count = Interval::exactly(0.0);
    for (const Run& run : runs_) {
      floors = floors + Interval::exactly(run.times) * floor_of(run);
      count = count + Interval::exactly(run.times);
    }
    if (!(floors.hi < delta_.lo)) throw DomainError("nothing of delta is left for a slack");
    const double share = ((delta_ - floors) / (2.0 * count)).lo;
    std::vector<GdpPair> pairs;
    for (const Run& run : runs_) {
      const Interval slack = Interval::exactly(numeric::add_up(floor_of(run).hi, share));
      const GdpPair pair = measure_mu(curve_of(run), {slack}).with_slack.front();
      if (!(pair.mu.hi < infinity)) throw DomainError("a mechanism has no finite mu at its share of the slack, " + written(slack.hi));
      append(pairs, pair, run.times);
    }
    const GdpPair whole = compose(pairs);
    const Interval left = clamp((delta_ - whole.slack) / (1.0 - whole.slack), 0, 1);
    return {"", RowKind::bound, gaussian_epsilon(whole.mu, left),
            "each mechanism by (mu, slack), half of delta for the slacks; composed mu = " + written(whole.mu.hi)};
  }
  MethodRow gdp_summary() const {
    constexpr double most_work = 2e4;  // for one epsilon, in the units of loss/work.h; a mu needs hundreds
    if (work_ > most_work) throw DomainError("one epsilon of this plan takes long, and mu needs hundreds; ask for mu itself");
    const GdpMeasurement found = measure_mu(curve_from(loss_of(curve_), curve_.neighbours(), tolerance_of_rows));
    if (!(found.mu.hi < infinity))
      throw DomainError(found.verdict == GdpVerdict::not_gdp ? "the plan is not Gaussian-DP for any mu (its tail: " + found.tail.kind + ")"
                                                             : "nothing certifies the tail of the plan");
    return {"", RowKind::bound, gaussian_epsilon(found.mu, delta_), "the whole plan by its mu = " + written(found.mu.hi)};
  }

  MethodRow subsampling() const {
    const Statement found = state(sampled_runs(), delta_, 0.5);
    return bound(optimal(found.runs), found, "each step (log(1 + q (e^epsilon - 1)), q delta), composed optimally");
  }
  MethodRow loss_tail() const {
    const auto quantity = [](const Loss::Test& test, double) { return test.true_positive; };
    return {"", RowKind::bound, least_by_tests(quantity), "P(loss > epsilon) <= delta: sufficient, not necessary"};
  }
  MethodRow loss_pair() const {
    const auto quantity = [](const Loss::Test& test, double e) {
      return test.true_positive - exp(Interval::exactly(e)) * test.false_positive;
    };
    return {"", RowKind::bound, least_by_tests(quantity), "P(loss > epsilon) - e^epsilon Q(loss > epsilon) <= delta: both"};
  }

  MethodRow analytic_gaussian() const {
    return {"", RowKind::bound, gaussian_epsilon(gaussian_mu_of_plan(), delta_), "Gaussian noise: necessary and sufficient"};
  }
  MethodRow gaussian_simple() const {
    return {"", RowKind::bound, gaussian_epsilon_simple(gaussian_mu_of_plan(), delta_),
            "sigma^2 = 32 Delta^2 log(2/delta) / (9 epsilon^2)"};
  }
  MethodRow gaussian_classical() const {
    return {"", RowKind::bound, gaussian_epsilon_classical(gaussian_mu_of_plan(), delta_),
            "sigma^2 = 2 Delta^2 log(1.25/delta) / epsilon^2"};
  }
  MethodRow gaussian_zero() const {
    return {"", RowKind::bound, gaussian_epsilon_zero(gaussian_mu_of_plan(), delta_), "sigma >= Delta / (2 delta) is (0, delta)-DP"};
  }
  MethodRow gaussian_necessary() const {
    return {"", RowKind::at_least, gaussian_epsilon_at_least(gaussian_mu_of_plan(), delta_),
            "sigma >= Delta / sqrt(2 epsilon) is necessary"};
  }

 private:
  /// For one value of the profile, if it is not a formula.
  static double work_of_profile(const Loss& loss) {
    if (loss.cost() == Cost::formula) return 0;
    const QuestionScope question;
    const Profile profile(loss, Direction::worst);
    const double somewhere = middle_of(profile.delta(Interval::exactly(0.0)));  // of the size of the losses
    const std::uint64_t begin = Work::now();
    (void)profile.delta(Interval::exactly(somewhere));
    return Work::since(begin);
  }
  /// The statement of the runs, found once for each part of delta.
  [[nodiscard]] const Statement& stated(double part) const {
    const auto known = statements_.find(part);
    return known != statements_.end() ? known->second : statements_.emplace(part, state(runs_, delta_, part)).first->second;
  }

  void refuse_if_slow(double values, const char* quantity) const {
    const bool narrow = epsilon_.hi < infinity && epsilon_.width() <= tolerance_of_rows.relative * epsilon_.hi;
    if (narrow && values * work_of_value_ > most_work_of_row)
      throw DomainError(std::string("one value of the profile of a mechanism takes long, and ") + quantity + " take hundreds");
  }

  static MethodRow bound(Interval epsilon, const Statement& statement, std::string remark) {
    if (statement.shared) remark += "; delta shared equally among the runs";
    return {"", RowKind::bound, epsilon, std::move(remark)};
  }
  /// Never a bound: it has its own kind, and the answer ignores it.
  static MethodRow estimate(Estimate epsilon, std::string remark) {
    if (!std::isfinite(epsilon.value())) throw DomainError("no finite estimate at this delta");
    return {"", RowKind::estimate, Interval::exactly(epsilon.value()), std::move(remark) + "; an estimate, no guarantee"};
  }
  /// A pair run so many times: the squares of mu add, and so do the logarithms of 1 - slack.
  static void append(std::vector<GdpPair>& pairs, const GdpPair& pair, std::uint64_t times) {
    const Interval kept = Interval::exactly(times) * log1p(-pair.slack);
    pairs.push_back({pair.mu * sqrt(Interval::exactly(times)), clamp(-expm1(kept), 0, 1), 0});
  }
  [[nodiscard]] Curve curve_of(const Run& run) const { return curve_from(run.loss, curve_.neighbours(), tolerance_of_rows); }

  template <class Quantity>
  [[nodiscard]] Interval least_by_tests(Quantity&& quantity) const {
    if (bent_ || method_ == Method::lattice) throw UnsupportedError("the tests of this plan are not known in closed form");
    return least_epsilon(*loss_of(curve_), delta_, epsilon_.hi, quantity);
  }

  [[nodiscard]] Interval optimal(const std::vector<StatedRuns>& runs) const {
    Parts parts;
    for (const StatedRuns& run : runs) parts.push_back({std::make_shared<ConstraintsLoss>(std::vector<Guarantee>{run.each}), run.times});
    Composition whole = compose(std::move(parts), tolerance_of_rows);
    return curve_from(std::move(whole.loss), curve_.neighbours(), tolerance_of_rows).epsilon_at(delta_);
  }

  /// Whether sampling acts on (epsilon, delta) by the classical formula: not under a neighbouring relation that the word covers by another
  /// theorem, nor for several records of one user or capped batches. [classical-sampling]
  [[nodiscard]] bool is_amplified(const Word& word, const Call& call) const {
    const bool plain = word.examples == nullptr || call.arguments.size() == 1;
    return plain && (word.neighbours.front() == curve_.neighbours() || curve_.neighbours() == Neighbours::zero_out);
  }

  /// The plan as a list of steps that sample last, and the number of runs of each; a line without sampling is a step of rate 1.
  [[nodiscard]] std::vector<Run> sampled_runs() const {
    std::vector<Run> runs;
    bool sampled = false;
    for (const Line& line : plan_.lines) {
      Line base = line;
      std::uint64_t times = 1;
      const auto last_word = [&base]() -> const Word* {
        return base.operators.empty() ? nullptr : vocabulary().find(Role::operation, base.operators.back().name);
      };
      while (const Word* word = last_word()) {
        if (word->times == nullptr) break;
        times *= word->times(Arguments(base.operators.back()));
        base.operators.pop_back();
      }
      Interval rate = Interval::exactly(1.0);
      if (const Word* word = last_word(); word != nullptr && word->rate != nullptr && is_amplified(*word, base.operators.back())) {
        rate = word->rate(Arguments(base.operators.back()));
        base.operators.pop_back();
        sampled = true;
      }
      if (times > 0) runs.push_back({loss_of(analyze(Plan{{base}}, curve_.neighbours(), tolerance_)), times, clamp(rate, 0, 1)});
    }
    if (!sampled) throw DomainError("no line of the plan ends in sampling");
    return runs;
  }

  [[nodiscard]] Interval gaussian_mu_of_plan() const {
    Interval squares = Interval::exactly(0.0);
    for (const Run& run : runs_) {
      const auto mu = run.loss->gaussian_mu();
      if (!mu) throw DomainError("covers only Gaussian noise without sampling");
      squares = squares + Interval::exactly(run.times) * square(*mu);
    }
    if (!(squares.lo > 0)) throw DomainError("covers only Gaussian noise without sampling");
    return sqrt(squares);
  }

  const Plan& plan_;
  Interval delta_;
  Tolerance tolerance_;
  Curve curve_;
  std::vector<Run> runs_;
  Interval epsilon_;
  double work_ = 0;  // of epsilon
  mutable std::map<double, Statement> statements_;
  mutable std::optional<double> refined_;  // epsilon of the refinement of a stated bound
  Method method_ = Method::closed_form;
  bool bent_ = false;         // by a bent contour, which knows no tests
  double work_of_value_ = 0;  // the largest, for one value of the profile of a mechanism
};

struct ComparedMethod {
  const char* name;
  MethodRow (Case::*run)() const;
};
constexpr std::array<ComparedMethod, 22> methods_table = {{
    {"exact", &Case::exact},
    {"basic", &Case::basic},
    {"advanced", &Case::advanced},
    {"kairouz", &Case::kairouz},
    {"murtagh_vadhan", &Case::murtagh_vadhan},
    {"rdp", &Case::rdp},
    {"rdp_orders", &Case::rdp_orders},
    {"zcdp", &Case::zcdp},
    {"gdp", &Case::gdp},
    {"gdp_slack", &Case::gdp_slack},
    {"gdp_summary", &Case::gdp_summary},
    {"berry_esseen", &Case::berry_esseen},
    {"clt", &Case::clt},
    {"edgeworth", &Case::edgeworth},
    {"subsampling", &Case::subsampling},
    {"loss_tail", &Case::loss_tail},
    {"loss_pair", &Case::loss_pair},
    {"analytic_gaussian", &Case::analytic_gaussian},
    {"gaussian_simple", &Case::gaussian_simple},
    {"gaussian_classical", &Case::gaussian_classical},
    {"gaussian_zero", &Case::gaussian_zero},
    {"gaussian_necessary", &Case::gaussian_necessary},
}};

MethodRow run(const ComparedMethod& method, const Case& situation) {
  MethodRow row;
  try {
    row = (situation.*method.run)();
    if (row.kind == RowKind::bound && situation.states_less_than(row.epsilon.hi))
      throw DomainError("it gives " + numeric::to_text_above(row.epsilon.hi, 6) +
                        ", which the bound as it is stated does not: for a smaller epsilon add | refine()");
  } catch (const Error& refusal) {
    row = {"", RowKind::refused, {0, infinity}, refusal.what()};
  }
  row.method = method.name;
  return row;
}

void warn(Comparison& comparison) {
  const auto find = [&](const char* name) {
    const auto row = std::find_if(comparison.rows.begin(), comparison.rows.end(), [&](const MethodRow& one) { return one.method == name; });
    return row != comparison.rows.end() && row->kind == RowKind::bound ? &*row : nullptr;
  };
  const MethodRow* gdp = find("gdp");
  for (const char* name : {"basic", "advanced"})
    if (const MethodRow* row = find(name); gdp != nullptr && row != nullptr && row->epsilon.hi < gdp->epsilon.lo) {
      comparison.warnings.push_back(std::string(name) + " composition is tighter than Gaussian DP here");
      break;
    }
  for (const MethodRow& row : comparison.rows)
    if (row.kind == RowKind::estimate && row.epsilon.hi < comparison.epsilon.lo)
      comparison.warnings.push_back(row.method + " is below the truth here: it under-reports");
  const auto refinable = [](const MethodRow& row) { return row.kind == RowKind::refused && row.remark.ends_with("| refine()"); };
  if (std::any_of(comparison.rows.begin(), comparison.rows.end(), refinable))
    comparison.warnings.emplace_back("the stated bound is not the tightest that it implies: add | refine() to the plan");
  if (comparison.epsilon.lo > 10) comparison.warnings.emplace_back("epsilon above 10 is almost no protection");
}

}  // namespace

const std::vector<std::string>& comparison_methods() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ComparedMethod& method : methods_table) all.emplace_back(method.name);
    return all;
  }();
  return names;
}

// [classical-composition] The smallest of several guarantees for the same plan and neighbours is a guarantee.
Comparison compare_methods(const Plan& plan, Interval delta, Neighbours neighbours, Tolerance tolerance,
                           const std::vector<std::string>& methods) {
  if (!numeric::arithmetic_is_usual())
    return numeric::in_usual_arithmetic([&] { return compare_methods(plan, delta, neighbours, tolerance, methods); });

  if (!(delta.lo >= 0 && delta.hi <= 1)) throw DomainError("delta: it must be between 0 and 1");
  for (const std::string& name : methods)
    if (std::find(comparison_methods().begin(), comparison_methods().end(), name) == comparison_methods().end())
      throw DomainError("method: '" + name + "' is not known");
  const Case situation(plan, delta, neighbours, tolerance);
  Comparison comparison;
  comparison.epsilon = {situation.epsilon().lo, infinity};
  for (const ComparedMethod& method : methods_table) {
    if (!methods.empty() && std::find(methods.begin(), methods.end(), method.name) == methods.end()) continue;
    comparison.rows.push_back(run(method, situation));
    const MethodRow& row = comparison.rows.back();
    if (row.kind != RowKind::bound || !(row.epsilon.hi < comparison.epsilon.hi)) continue;
    // A difference within the width of the answers does not count: the first method keeps its place.
    if (!(row.epsilon.hi >= comparison.epsilon.hi * (1 - tolerance.relative))) comparison.best = row.method;
    comparison.epsilon.hi = std::max(row.epsilon.hi, comparison.epsilon.lo);
  }
  warn(comparison);
  return comparison;
}

}  // namespace tradeoff
