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

// What a plan has to meet. Every target that a user states binds: a plan meets them only if it is certain to meet each.
namespace tradeoff {

/// Each is a requirement on the worse direction.
struct EpsilonDeltaTarget {
  Interval epsilon;
  Interval delta;
};
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
using Target = std::variant<EpsilonDeltaTarget, MuTarget, AdvantageTarget, AttackTarget>;

/// A target as it was stated: ("epsilon", 1), ("delta", 1e-5).
struct StatedTarget {
  Target target;
  std::vector<std::pair<std::string, Number>> words;
};
using Targets = std::vector<StatedTarget>;

enum class Met { yes, no, undecided };

/// The words that state targets, in the order in which they are told.
inline constexpr std::string_view target_words[] = {"epsilon", "delta", "mu", "slack", "advantage", "fpr", "tpr"};

/// Reads every target that is stated; none is an empty list. `text_of(word)` is what the user wrote for a word of `target_words`, if
/// anything; `prefix` stands before the words in messages: "--" on the command line. Throws DomainError for a word without the one it goes
/// with ("--epsilon needs --delta") and for a value out of range.
[[nodiscard]] Targets read_targets(const std::function<std::optional<std::string>(std::string_view)>& text_of, std::string_view prefix);

/// "epsilon = 1, delta = 1e-5"; several are joined by " and ".
[[nodiscard]] std::string to_string(const StatedTarget& target);
[[nodiscard]] std::string to_string(const Targets& targets);

/// Throws DomainError that names the number unless the target makes sense.
void check(const Target& target);

/// Whether the curve meets the target: yes and no are certain.
[[nodiscard]] Met meets(const Curve& curve, const Target& target);
/// The same, and yes as well where the plan states this guarantee.
[[nodiscard]] Met meets(const Curve& curve, const StatedTarget& target);
/// All of them: yes if each is met, no if one is certainly not.
[[nodiscard]] Met meets(const Curve& curve, const Targets& targets);

/// Throws UnmetError that names the first target which the curve is not certain to meet, and what it does instead.
void require_met(const Curve& curve, const Targets& targets);

}  // namespace tradeoff
