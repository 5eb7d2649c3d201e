// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "tradeoff/curve.h"

namespace tradeoff::detail {

/// The loss of a curve for a question that evaluates it often. A formula or a finite distribution is used directly; a composition that
/// needs an engine for every evaluation gets a budget of work, and after that the intervals are wider. [profile-bracket]
[[nodiscard]] LossPointer cached_loss(const Curve& curve);

/// The same curve for many questions that are answered together, within one QuestionScope: they share the evaluations and their budget.
/// Guarantees that the plan itself states are left out.
[[nodiscard]] Curve cached_curve(const Curve& curve);

}  // namespace tradeoff::detail
