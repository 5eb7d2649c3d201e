// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loss/loss.h"
#include "tradeoff/curve.h"

namespace tradeoff {

/// The loss of a curve for a question that reads it often. A formula or a finite law is read as it is; a composition that needs an
/// engine for every reading gets a budget of work, and then a wider interval. [profile-bracket]
[[nodiscard]] LossPointer cached_loss(const Curve& curve);

/// The same curve for many questions that are answered together, within one QuestionScope: they share the readings and their budget. What
/// its plan states outright is left out.
[[nodiscard]] Curve cached_curve(const Curve& curve);

}  // namespace tradeoff
