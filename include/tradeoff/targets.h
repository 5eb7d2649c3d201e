// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tradeoff/curve.h"
#include "tradeoff/guarantee.h"

// The targets of a plan. A plan meets its targets only if it is proved to meet every one of them.
namespace tradeoff {

// Each is a requirement in the worse direction; a `Guarantee` is one as well.

/// mu-GDP, except with probability `slack`.
struct MuTarget {
  Interval mu;
  Interval slack = Interval::exactly(0);
};
struct AdvantageTarget {
  Interval advantage;
};
struct AttackTarget {
  Interval fpr;
  Interval tpr;
};
using Target = std::variant<Guarantee, MuTarget, AdvantageTarget, AttackTarget>;

/// One field of a target as stated: ("epsilon", 1), ("delta", 1e-5).
struct StatedTarget {
  Target target;
  std::vector<std::pair<std::string, Number>> words;
};
using Targets = std::vector<StatedTarget>;

enum class Met { yes, no, undecided };

/// The words that state targets, in the order of messages.
inline constexpr std::string_view target_words[] = {"epsilon", "delta", "mu", "slack", "advantage", "fpr", "tpr"};

/// Reads every stated target; the list is empty if there is none. `text_of(word)` returns the user's text for a word of `target_words`, if
/// any; messages put `prefix` before the words: "--" on the command line. Throws DomainError for a word without its partner ("--epsilon
/// needs --delta") and for a value out of range.
[[nodiscard]] Targets read_targets(const std::function<std::optional<std::string>(std::string_view)>& text_of, std::string_view prefix);

/// "epsilon = 1, delta = 1e-5"; several are joined by " and ".
[[nodiscard]] std::string to_string(const StatedTarget& target);
[[nodiscard]] std::string to_string(const Targets& targets);

/// Throws DomainError that names the number unless the target is valid.
void validate(const Target& target);

/// Whether a plan keeps a budget.
struct BudgetCheck {
  Met within = Met::undecided;  ///< yes and no are certain
  Interval delta;               ///< the plan's own, at the epsilon of the budget
};

/// Whether the plan is (epsilon, delta)-DP in both directions. Exact numbers decide also where the plan states this very guarantee.
/// Throws DomainError unless epsilon is at least 0 and delta between 0 and 1.
[[nodiscard]] BudgetCheck check(const Curve& curve, Level epsilon, Level delta);

/// Whether the curve meets the target; `yes` and `no` are proved.
[[nodiscard]] Met meets(const Curve& curve, const Target& target);
/// The same, and `yes` also if the plan itself states this guarantee.
[[nodiscard]] Met meets(const Curve& curve, const StatedTarget& target);
/// All of them: `yes` if each is met, `no` if one is proved not to be.
[[nodiscard]] Met meets(const Curve& curve, const Targets& targets);

/// Throws UnmetError that names the first target that the curve is not proved to meet, and the bound it has instead.
void require_met(const Curve& curve, const Targets& targets);

}  // namespace tradeoff
