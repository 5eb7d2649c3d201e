// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/event_search.h"
#include "tradeoff/curve.h"

// Whether outputs of a program on two neighbouring data sets refute a claimed curve. [betting-audit]
namespace tradeoff::detail::audit {

enum class Verdict { refuted, consistent, inconclusive };

/// What the events are about: the values of the outputs, or the place of their lowest bit, which noise in floating-point arithmetic leaks.
enum class Features { values, low_bits };

struct Settings {
  double error = 0.001;       ///< the probability that a true claim is refuted; and, apart from it, that a bound of the band is wrong
  std::uint64_t samples = 0;  ///< how many pairs are planned, stated before any is seen; decides only when events are chosen
  double margin = 0.05;       ///< `consistent`: no tested event exceeds the claim by more than this probability
  Features features = Features::values;
};

/// An event that was tested, with bounds on its probabilities that hold at once for all tested events and all numbers of samples.
struct TestedEvent {
  std::string text;
  Order order = Order::with_over_without;
  Count first{}, second{};    ///< counts among the outputs after its choice
  Interval first_rate{0, 1};  ///< of the stream in which it is expected to be likelier
  Interval second_rate{0, 1};
  bool is_latest = false;  ///< chosen by the last design: these decide between `consistent` and `inconclusive`
};

/// What refuted the claim.
struct Refutation {
  std::uint64_t pairs = 0;  ///< after how many
  std::string event;
  Order order = Order::with_over_without;
  double epsilon = 0;  ///< the claim says that the event has probability at most e^epsilon times the other one plus delta
  double delta = 0;
  Count first{}, second{};  ///< since this event was chosen
};

struct Result {
  Verdict verdict = Verdict::inconclusive;
  std::uint64_t pairs = 0;
  std::size_t columns = 0;
  double evidence = 1;  ///< a lower bound of the largest wealth so far: the claim is refuted once it is 1/error
  std::optional<Refutation> refutation{};
  std::vector<TestedEvent> events{};  ///< of the band
  double mu_below = 0;                ///< with confidence 1 - error: the program is not mu-GDP for a smaller mu
  double advantage_below = 0;
  std::optional<std::uint64_t> more_pairs{};  ///< if inconclusive: an estimate of how many would decide
  bool more_would_refute = false;             ///< what those would then probably show

  /// With confidence 1 - error, at every epsilon >= 0 and delta at once.
  [[nodiscard]] double delta_below(double epsilon) const;
  [[nodiscard]] double epsilon_below(double delta) const;
};

class TwoSampleAudit {
 public:
  /// Throws DomainError for settings out of range.
  TwoSampleAudit(const Curve& claim, Direction direction, Settings settings);

  /// One output of each. All outputs are finite and have the length of the first. Throws DomainError, and is then unchanged.
  void add(std::span<const double> with, std::span<const double> without);
  [[nodiscard]] bool is_refuted() const { return refutation_.has_value(); }
  [[nodiscard]] std::uint64_t pairs() const { return pairs_; }
  /// Throws DomainError if there were fewer than `fewest_pairs` pairs, if all outputs of both were the same, or if each pair was two times
  /// the same output.
  [[nodiscard]] Result result() const;

  static constexpr std::uint64_t fewest_pairs = 100;  // fewer cannot refute a usual claim at a usual confidence

 private:
  /// Scores and events that were chosen at one time.
  struct Design {
    std::vector<Score> scores;
    std::vector<Candidate> band;       ///< the counts at its choice
    std::vector<Count> first, second;  ///< the counts since then
    double error = 0;                  ///< of each interval
  };
  struct RunningBet {
    BetOnEvent on;
    double wealth = 1;
    Count first{}, second{};
  };

  void learn(double share);
  void bet(std::span<const double> with, std::span<const double> without);
  void count(Design& design, std::span<const double> with, std::span<const double> without);
  [[nodiscard]] std::vector<TestedEvent> tested() const;
  void decide(Result& result) const;
  void predict(Result& result) const;

  Curve curve_;
  Direction direction_;
  Claim claim_;
  Settings settings_;
  double needed_ = 0;  ///< 1 / error, rounded up
  std::vector<std::uint64_t> design_times_;
  std::size_t next_design_ = 0;
  std::size_t columns_ = 0;
  std::uint64_t pairs_ = 0;
  std::vector<double> with_, without_;  ///< outputs up to the last design
  double constant_ = 0;
  bool varies_ = false;
  bool differs_ = false;  ///< in some pair
  std::vector<Design> designs_;
  std::vector<RunningBet> bets_;
  double base_ = 1;      ///< the wealth when the running bets were made
  double evidence_ = 1;  ///< the largest wealth so far
  std::optional<Refutation> refutation_;
};

}  // namespace tradeoff::detail::audit
