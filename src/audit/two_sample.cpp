// SPDX-License-Identifier: Apache-2.0
#include "audit/two_sample.h"

#include <algorithm>
#include <cmath>

#include "loss/gaussian_profile.h"
#include "numeric/arithmetic.h"
#include "numeric/plain_text.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::audit {
namespace {

constexpr std::uint64_t first_design = 32;          // pairs; earlier nothing can be learned
constexpr std::uint64_t most_design_rows = 131072;  // kept in memory; the rest of a stream is only counted
constexpr std::uint64_t most_design_values = 1 << 23;
constexpr std::size_t most_columns = 4096;
constexpr std::size_t most_quadratic_columns = 16;  // the number of products grows with the square
constexpr std::size_t most_binned_columns = 256;    // more coordinates: the sum of their log-odds would be noise
constexpr std::size_t counted_designs = 2;          // the latest ones; older events are no longer counted

std::vector<std::uint64_t> times_of(std::uint64_t samples, std::size_t columns) {
  const std::uint64_t most = std::min<std::uint64_t>(most_design_rows, most_design_values / columns);
  std::vector<std::uint64_t> times;
  for (std::uint64_t at = std::max(first_design, std::min(most, samples * 3 / 10)); at >= first_design; at /= 2) times.push_back(at);
  std::reverse(times.begin(), times.end());
  return times;
}

void check_row(std::span<const double> row, std::size_t columns, const char* which) {
  if (row.empty() || row.size() > most_columns)
    throw DomainError(std::string("an output of ") + which + " has " + std::to_string(row.size()) + " numbers; allowed are 1 to 4096");
  if (columns != 0 && row.size() != columns)
    throw DomainError(std::string("an output of ") + which + " has " + std::to_string(row.size()) + " numbers where others have " +
                      std::to_string(columns));
  for (const double x : row)
    if (!std::isfinite(x)) throw DomainError(std::string("an output of ") + which + " is not a finite number");
}

}  // namespace

// [betting-audit]
double Result::delta_below(double epsilon) const {
  const Interval slope = exp(Interval::exactly(epsilon));
  double most = 0;
  for (const TestedEvent& event : events) most = std::max(most, (Interval::exactly(event.first_rate.lo) - slope * event.second_rate.hi).lo);
  return most;
}

double Result::epsilon_below(double delta) const {
  double most = 0;
  for (const TestedEvent& event : events) {
    const Interval rest = Interval::exactly(event.first_rate.lo) - delta;
    if (rest.lo > 0) most = std::max(most, log(rest / event.second_rate.hi).lo);
  }
  return most;
}

TwoSampleAudit::TwoSampleAudit(const Curve& claim, Direction direction, Settings settings)
    : curve_(claim), direction_(direction), claim_(claim_of(claim, direction)), settings_(settings) {
  if (!(settings.error >= 1e-12 && settings.error <= 0.5)) throw DomainError("the error of an audit must lie between 1e-12 and 0.5");
  if (!(settings.margin > 0 && settings.margin <= 1)) throw DomainError("the margin of an audit must be above 0 and at most 1");
  if (settings.samples < fewest_pairs) throw DomainError("an audit needs at least " + std::to_string(fewest_pairs) + " pairs of outputs");
  needed_ = (1.0 / Interval::exactly(settings.error)).hi;
}

void TwoSampleAudit::add(std::span<const double> with, std::span<const double> without) {
  check_row(with, columns_, "--with");
  check_row(without, columns_ == 0 ? with.size() : columns_, "--without");
  if (columns_ == 0) {
    columns_ = with.size();
    design_times_ = times_of(settings_.samples, columns_);
    constant_ = with.front();
  }
  const auto differs = [&](double x) { return x != constant_; };
  differs_ = differs_ || !std::equal(with.begin(), with.end(), without.begin(), without.end());
  varies_ = varies_ || std::any_of(with.begin(), with.end(), differs) || std::any_of(without.begin(), without.end(), differs);
  bet(with, without);
  for (std::size_t i = designs_.size() - std::min(designs_.size(), counted_designs); i < designs_.size(); ++i)
    count(designs_[i], with, without);
  ++pairs_;
  if (next_design_ == design_times_.size()) return;
  with_.insert(with_.end(), with.begin(), with.end());
  without_.insert(without_.end(), without.begin(), without.end());
  if (pairs_ == design_times_[next_design_]) {
    ++next_design_;
    learn(std::ldexp(1.0, -static_cast<int>(design_times_.size() - next_design_) - 1));  // the shares sum to less than 1
  }
}

/// Chooses scores, events and bets from all outputs so far. From here on the new bets run. [betting-audit]
void TwoSampleAudit::learn(double share) {
  const Rows with{columns_, with_}, without{columns_, without_};
  const std::size_t half = with.size() / 2;
  Design design;
  const Rows early_with = with.until(half), early_without = without.until(half);
  if (settings_.features == Features::low_bits) {
    design.scores.push_back(Score::low_bits(early_with, early_without));
  } else {
    design.scores.push_back(Score::linear(early_with, early_without));
    if (columns_ >= 2 && columns_ <= most_quadratic_columns) design.scores.push_back(Score::quadratic(early_with, early_without));
    if (columns_ <= most_binned_columns) design.scores.push_back(Score::binned(early_with, early_without));
  }
  const std::vector<Candidate> found = candidates(design.scores, with, without);
  design.band = choose_for_band(found);
  design.first.resize(design.band.size());
  design.second.resize(design.band.size());
  design.error = (Interval::exactly(settings_.error) * share / (2.0 * static_cast<double>(design.band.size()))).lo;
  designs_.push_back(std::move(design));

  double wealth = 0;
  for (const RunningBet& one : bets_) wealth = numeric::add_down(wealth, one.wealth);
  if (!bets_.empty()) base_ = numeric::multiply_down(base_, numeric::divide_down(wealth, static_cast<double>(bets_.size())));
  bets_.clear();
  if (!refutation_)
    for (const BetOnEvent& one : choose_bets(found, claim_)) bets_.push_back({one});
}

// [betting-audit]
void TwoSampleAudit::bet(std::span<const double> with, std::span<const double> without) {
  if (bets_.empty() || refutation_) return;
  const std::vector<Score>& scores = designs_.back().scores;
  double sum = 0;
  for (RunningBet& one : bets_) {
    const Event& event = one.on.on.event;
    const bool forward = event.order == Order::with_over_without;
    const bool in_with = event.holds(scores[event.score].at(with)), in_without = event.holds(scores[event.score].at(without));
    const bool first = forward ? in_with : in_without, second = forward ? in_without : in_with;
    one.wealth = numeric::multiply_down(one.wealth, one.on.bet.factor(first, second));
    one.first = {one.first.samples + 1, one.first.hits + (first ? 1U : 0U)};
    one.second = {one.second.samples + 1, one.second.hits + (second ? 1U : 0U)};
    sum = numeric::add_down(sum, one.wealth);
  }
  const double wealth = numeric::multiply_down(base_, numeric::divide_down(sum, static_cast<double>(bets_.size())));
  evidence_ = std::max(evidence_, wealth);
  if (!(wealth >= needed_)) return;
  const RunningBet& best =
      *std::max_element(bets_.begin(), bets_.end(), [](const RunningBet& a, const RunningBet& b) { return a.wealth < b.wealth; });
  const Event& event = best.on.on.event;
  refutation_ = Refutation{pairs_ + 1,
                           scores[event.score].describe(event.threshold, event.above),
                           event.order,
                           best.on.bet.line.epsilon,
                           best.on.bet.line.offset,
                           best.first,
                           best.second};
}

void TwoSampleAudit::count(Design& design, std::span<const double> with, std::span<const double> without) {
  std::vector<double> one, other;
  for (const Score& score : design.scores) {
    one.push_back(score.at(with));
    other.push_back(score.at(without));
  }
  for (std::size_t i = 0; i < design.band.size(); ++i) {
    const Event& event = design.band[i].event;
    const bool forward = event.order == Order::with_over_without;
    const bool a = event.holds((forward ? one : other)[event.score]), b = event.holds((forward ? other : one)[event.score]);
    design.first[i] = {design.first[i].samples + 1, design.first[i].hits + (a ? 1U : 0U)};
    design.second[i] = {design.second[i].samples + 1, design.second[i].hits + (b ? 1U : 0U)};
  }
}

// [rate-sequence]
std::vector<TestedEvent> TwoSampleAudit::tested() const {
  std::vector<TestedEvent> found;
  for (const Design& design : designs_) {
    for (std::size_t i = 0; i < design.band.size(); ++i) {
      const Candidate& one = design.band[i];
      if (design.first[i].samples < first_design) continue;
      found.push_back({design.scores[one.event.score].describe(one.event.threshold, one.event.above), one.event.order, design.first[i],
                       design.second[i], rate_range(one.first, design.first[i], design.error),
                       rate_range(one.second, design.second[i], design.error), &design == &designs_.back()});
    }
  }
  return found;
}

void TwoSampleAudit::decide(Result& result) const {
  if (refutation_) {
    result.verdict = Verdict::refuted;
    return;
  }
  bool within = !result.events.empty() && result.events.back().is_latest && next_design_ == design_times_.size();
  for (const TestedEvent& event : result.events) {
    if (!event.is_latest) continue;
    const Direction direction = event.order == Order::with_over_without ? direction_ : opposite(direction_);
    const Interval allowed = Interval::exactly(curve_.tpr_at(event.second_rate.lo, direction).lo) + settings_.margin;
    within = within && event.first_rate.hi <= allowed.lo;
  }
  result.verdict = within ? Verdict::consistent : Verdict::inconclusive;
}

/// An estimate of the number of pairs that would decide.
void TwoSampleAudit::predict(Result& result) const {
  const double pairs = static_cast<double>(pairs_);
  double growth = 0, widening = 0;
  for (const TestedEvent& event : result.events) {
    if (!event.is_latest) continue;
    const auto rate = [](Count c) { return (static_cast<double>(c.hits) + 0.5) / (static_cast<double>(c.samples) + 1); };
    const double first = rate(event.first), second = rate(event.second), n = static_cast<double>(event.first.samples);
    const double cautious_first = first - std::sqrt(first * (1 - first) / n),
                 cautious_second = second + std::sqrt(second * (1 - second) / n);
    for (const Line& line : claim_.of(event.order)) growth = std::max(growth, rough_growth(line, cautious_first, cautious_second));
    const Direction direction = event.order == Order::with_over_without ? direction_ : opposite(direction_);
    const double gap = first - curve_.tpr_at(second, direction).lo;
    const double width = event.first_rate.hi - curve_.tpr_at(event.second_rate.lo, direction).lo - gap;
    if (gap < settings_.margin) widening = std::max(widening, width / (settings_.margin - gap));
  }
  if (growth > 0) {
    result.more_would_refute = true;
    result.more_pairs =
        static_cast<std::uint64_t>(std::min(1e15, std::ceil((std::log(needed_) - std::log(std::max(base_, 1e-3))) / growth)));
  } else if (widening > 1) {
    result.more_pairs = static_cast<std::uint64_t>(std::min(1e15, std::ceil(pairs * (widening * widening - 1))));
  } else {
    result.more_pairs = pairs_;
  }
}

Result TwoSampleAudit::result() const {
  if (pairs_ < fewest_pairs)
    throw DomainError("an audit needs at least " + std::to_string(fewest_pairs) + " pairs of outputs; there are " + std::to_string(pairs_));
  if (!varies_) throw DomainError("all outputs of both are the same number: nothing can be told apart, and nothing was tested");
  if (!differs_)
    throw DomainError(
        "each output with the record is the same as the one without it: the outputs must be independent, so are they from the same file, "
        "or "
        "from the same seed?");
  Result result;
  result.pairs = pairs_;
  result.columns = columns_;
  result.evidence = evidence_;
  result.refutation = refutation_;
  result.events = tested();
  for (const TestedEvent& event : result.events) {
    const Interval first = Interval::exactly(event.first_rate.lo), second = Interval::exactly(event.second_rate.hi);
    result.advantage_below = std::max(result.advantage_below, (first - second).lo);
    result.mu_below = std::max(result.mu_below, gaussian_mu_of_test(second, 1.0 - first).lo);
  }
  decide(result);
  if (result.verdict == Verdict::inconclusive) predict(result);
  return result;
}

}  // namespace tradeoff::detail::audit
