// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "numeric/rational.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {

class Arguments;  // plan/arguments.h
class Loss;       // loss/loss.h, of a later room: a word only passes it on
using LossPointer = std::shared_ptr<const Loss>;
struct ScaledNoise;  // mechanism/scaled_noise.h, likewise
struct Part;         // engine/part.h, likewise
struct StatedTail;   // mechanism/profile.h, likewise
class RunsLaw;       // operators/runs_law.h, likewise

/// A guarantee in the exact numbers of a plan, which can be compared with other exact numbers without rounding.
struct WrittenGuarantee {
  Number epsilon;
  Number delta;
  bool computed = false;  ///< from probabilities that the plan lists, in exact arithmetic
};

struct ExactOutcome;  // plan/exact_pair.h: the probabilities of one outcome

/// The role of a word of the plan language: the start of a line, an operator after `|`, the tail of a user's profile beyond its last
/// point, or the law of a random number of runs.
enum class Role { source, operation, tail, law };
inline constexpr std::array<Role, 4> all_roles{Role::source, Role::operation, Role::tail, Role::law};

/// The kind of an argument. `?` may replace any number.
enum class Kind {
  number,      ///< 1.5, 1e-5, 256/60000
  integer,     ///< a number without fraction: 14062, 1e3
  numbers,     ///< [0.5, 0.5]
  pairs,       ///< [(1, 1e-5), (2, 1e-7)]
  components,  ///< [(0.3, gaussian(1)), (0.7, (laplace(1) | repeat(2)))]
  plans,       ///< [gaussian(1), (laplace(1) | repeat(2))]
  text,        ///< "file.csv"
  choice,      ///< one of the words in Parameter::choices
  tail_word,   ///< a word whose role is tail: unknown, gaussian(k, s)
  law_word,    ///< a word whose role is law: poisson(mean), exactly(times)
};

/// The numbers that an argument may be, both ends included unless `least` is excluded.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool excludes_least = false;
};
namespace range {
inline constexpr Range any{};
inline constexpr Range positive{.least = 0, .excludes_least = true};
inline constexpr Range non_negative{.least = 0};
inline constexpr Range probability{.least = 0, .most = 1};
/// Whole numbers; an argument above `most` throws TooLargeError instead of DomainError.
[[nodiscard]] constexpr Range whole(std::uint64_t least, std::uint64_t most) {
  return {.least = static_cast<double>(least), .most = static_cast<double>(most)};
}
/// More steps or records than any data set has; beyond it a plan is refused at once instead of after minutes.
inline constexpr std::uint64_t most_steps = 1'000'000'000'000;
}  // namespace range

/// What a larger value of an argument does to privacy. Calibration relies on it, and the page of [parameter-calibration] proves it.
struct Effect {
  bool known = false;          ///< otherwise the argument cannot be calibrated
  bool more_is_safer = false;  ///< more noise: the smallest value is wanted. Otherwise the largest
  bool monotone = true;        ///< where it is not, nothing is concluded from one value about another
  double largest = 1e300;      ///< that is worth trying; the range of the parameter may end earlier

  [[nodiscard]] constexpr Effect up_to(double value) const { return {known, more_is_safer, monotone, value}; }
};
namespace effect {
inline constexpr Effect unknown{};
inline constexpr Effect safer{.known = true, .more_is_safer = true};
inline constexpr Effect riskier{.known = true};
/// More noise, but privacy is not monotone in it: the word has `noise`.
inline constexpr Effect mostly_safer{.known = true, .more_is_safer = true, .monotone = false};
inline constexpr double largest_epsilon = 1e6;  // beyond it nothing is protected
}  // namespace effect

/// One parameter of a word; its index in the list is its position in a call.
struct Parameter {
  std::string_view name;
  Kind kind;
  std::string_view meaning;
  Range range = {};                ///< of numbers and integers
  Effect effect = {};              ///< of a larger value
  std::string_view fallback = {};  ///< the default as plan text; empty if there is none
  int form = 0;                    ///< 0: part of every call; otherwise a call has the parameters of exactly one form
  bool optional = false;           ///< the argument may be left out although it has no default
  std::string_view choices = {};   ///< of a choice: its words, separated by `|`
};

/// What a word may need from the plan that contains it.
class WordContext {
 public:
  using Maker = std::function<LossPointer()>;

  /// The neighbouring relation of the whole plan.
  [[nodiscard]] virtual Neighbours neighbours() const = 0;
  /// A plan that is an argument, as one pair of distributions.
  [[nodiscard]] virtual LossPointer pair_of(const Plan& plan) const = 0;
  /// For a word whose pair is known only to lie between a pair `above` and each of the pairs `below`. The whole plan is composed with the
  /// pair above for the upper ends of answers, and once with each pair below for the lower ends. Returns the pair of the current
  /// composition. [bracketed-pair]
  [[nodiscard]] virtual LossPointer bracket(const Maker& above, const std::vector<Maker>& below) const = 0;
  /// Whether the plan is composed with pairs below. Then all its steps are read in one order. [bracketed-pair]
  [[nodiscard]] virtual bool is_from_below() const = 0;

 protected:
  WordContext() = default;
  WordContext(const WordContext&) = default;
  WordContext& operator=(const WordContext&) = default;
  ~WordContext() = default;
};

/// What people may write for a word that the library calls otherwise.
struct Synonym {
  std::string_view written;
  std::string_view advice = {};  ///< what they are told; if empty, the name of the word
};

/// A word of the plan language and everything that the library knows about it. Each is defined next to its implementation, in the folders
/// mechanism and operators; analyze/registry.cpp lists them. docs/adding.md shows how to add one.
struct Word {
  Role role;
  std::string_view name;
  std::string_view meaning;
  std::vector<Parameter> parameters = {};
  std::vector<Synonym> synonyms = {};
  /// The neighbouring relations for which its theorem holds; empty for any. The first is meant if the plan states none.
  std::vector<Neighbours> neighbours = {};
  /// For a source whose guarantee covers changes of the data that are no neighbouring relation: those changes. A plan that contains it
  /// cannot state neighbours.
  std::string_view changes = {};
  std::string_view norm = {};      ///< the norm of the sensitivity of a vector; empty for single values
  std::string_view sentence = {};  ///< the assumption that a report states for this word
  /// What the numbers of a call promise about the records that take part, for reports; may be empty.
  std::string (*promise)(const Arguments& arguments) = nullptr;
  bool stated = false;  ///< true for a source that states a guarantee instead of describing a mechanism

  /// A source: makes its loss. Throws DomainError for values out of range.
  LossPointer (*make)(const Arguments& arguments, const WordContext& context) = nullptr;
  /// For a source that stands for several uses of its loss, one after the other: how many. `largest_loss` counts them.
  std::uint64_t (*uses)(const Arguments& arguments) = nullptr;
  /// The (epsilon, delta) pairs that a source states itself.
  std::vector<WrittenGuarantee> (*guarantees)(const Arguments& arguments) = nullptr;
  /// The largest privacy loss of a source, the same in both directions, in the exact numbers of the plan; empty if it is no such number.
  /// [largest-loss]
  std::optional<numeric::Rational> (*largest_loss)(const Arguments& arguments) = nullptr;
  /// rho of a source whose divergence of every order a is a * rho, in the exact numbers of the plan. [renyi-curve]
  std::optional<numeric::Rational> (*rho)(const Arguments& arguments) = nullptr;
  /// Every finite loss of the source is a multiple of this number.
  std::optional<numeric::Rational> (*loss_step)(const Arguments& arguments) = nullptr;
  /// The probabilities of every outcome with and without the record, in the exact numbers of the plan. [finite-pair]
  std::optional<std::vector<ExactOutcome>> (*outcomes)(const Arguments& arguments) = nullptr;
  /// Noise whose privacy is not monotone in its scale: what is known for every scale.
  ScaledNoise (*noise)(const Arguments& arguments) = nullptr;
  /// A tail: what it states.
  StatedTail (*tail)(const Arguments& arguments) = nullptr;
  /// The law of a number of runs: makes it.
  std::shared_ptr<const RunsLaw> (*law)(const Arguments& arguments) = nullptr;

  /// An operator has exactly one of the next four. How it transforms the loss of everything before it:
  LossPointer (*apply)(const Arguments& arguments, LossPointer base, const WordContext& context) = nullptr;
  /// How many times it runs everything before it:
  std::uint64_t (*times)(const Arguments& arguments) = nullptr;
  /// Which steps it makes of everything before it, to be composed:
  std::vector<Part> (*expand)(const Arguments& arguments, const LossPointer& base, const WordContext& context) = nullptr;
  /// What it selects from a random number of runs of everything before it; `runs(k)` is the pair of k runs that are all shown:
  LossPointer (*select)(const Arguments& arguments, const std::function<LossPointer(std::uint64_t)>& runs,
                        const WordContext& context) = nullptr;

  /// For a group operator: the group size.
  std::uint64_t (*records)(const Arguments& arguments) = nullptr;
  /// The operator samples records one by one, so that no group may come before it.
  bool samples = false;
  /// For such an operator: it has a theorem for noise that is correlated over the steps of a run.
  bool takes_matrices = false;
  /// For such an operator: the probability that a record takes part, if it takes part at most once.
  Interval (*rate)(const Arguments& arguments) = nullptr;
  /// For such an operator: the records that one user owns at most. More than 1 makes the plan a statement about users.
  std::uint64_t (*examples)(const Arguments& arguments) = nullptr;
  /// A source that speaks of users, not of records: the whole plan then does. [user-level-poisson]
  bool of_users = false;
};

/// The words that a plan may use.
class Vocabulary {
 public:
  /// Throws std::invalid_argument for a word that cannot be analysed, or whose name is taken.
  explicit Vocabulary(std::vector<Word> words);
  /// This vocabulary with one more word.
  [[nodiscard]] Vocabulary with(Word word) const;

  [[nodiscard]] auto begin() const { return words_.begin(); }
  [[nodiscard]] auto end() const { return words_.end(); }
  /// The word, or null.
  [[nodiscard]] const Word* find(Role role, std::string_view name) const;

 private:
  std::vector<Word> words_;
};

/// The words of the library, in the order of the manual. analyze/registry.cpp lists them, because only that room may include all others.
/// Parser, analysis, reports, help texts and documentation all use this table.
[[nodiscard]] const Vocabulary& vocabulary();

using tradeoff::parse;  // the overload below would hide it

/// Like the public functions, with a vocabulary of the caller.
[[nodiscard]] Plan parse(std::string_view text, const Vocabulary& vocabulary);
[[nodiscard]] std::string to_string(const Plan& plan, const Vocabulary& vocabulary);
/// What a plan of one `dp` or `constraints` states outright; nothing for any other plan.
[[nodiscard]] std::vector<WrittenGuarantee> stated_guarantees(const Plan& plan, const Vocabulary& vocabulary);
/// The largest privacy loss of a plan, the same in both directions, if every line has one and it can be computed exactly. [largest-loss]
[[nodiscard]] std::optional<numeric::Rational> exact_largest_loss(const Plan& plan, const Vocabulary& vocabulary);

/// A rho of zero-concentrated DP: divergences add, and those of a group grow with the square of its size; a source with a largest loss
/// epsilon has epsilon^2/2. `is_exact` if every divergence is exactly order * rho. [renyi-curve] [group-zcdp]
struct ExactRho {
  numeric::Rational value;
  bool is_exact = true;
};
[[nodiscard]] std::optional<ExactRho> exact_rho(const Plan& plan, const Vocabulary& vocabulary);
/// A number of which every finite loss of the plan is a multiple; for one line that repeats a source.
[[nodiscard]] std::optional<numeric::Rational> exact_loss_step(const Plan& plan, const Vocabulary& vocabulary);

/// Whether an argument of the word contains plans.
[[nodiscard]] bool holds_plans(const Word& word);

/// The parameter, or null.
[[nodiscard]] const Parameter* find_parameter(const Word& word, std::string_view name);

/// The neighbouring relations for which the theorem of the word holds: "add-remove or zero-out"; empty for any.
[[nodiscard]] std::string relations_of(const Word& word);

/// The words of a choice, in their order.
[[nodiscard]] std::vector<std::string_view> choices_of(const Parameter& parameter);

/// Whether the default of the parameter holds in this call: no argument of another form is given.
[[nodiscard]] bool default_holds(const Word& word, const Call& call, const Parameter& parameter);

/// The form of calls: `gaussian(sigma, sensitivity=1)`, `sample(size, of) or sample(rate)`. Arguments that may be left out and have no
/// default are in brackets.
[[nodiscard]] std::string usage(const Word& word);

/// Of the names, the one that was probably meant: what other libraries call an argument or option, the nearest by insertions, deletions,
/// substitutions and swaps if they are at most a third of the letters, or one that starts with what was written. Empty if there is none.
[[nodiscard]] std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names);

}  // namespace tradeoff::detail
