// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/exact/law.h"

namespace tradeoff::detail::exact {

/// The size of the distribution of `times` independent draws.
[[nodiscard]] Size power_size(const Atoms& atoms, std::uint64_t times);

/// The distribution of `times` independent draws from the finite part of the atoms, normalised to total mass 1 [exact-composition].
[[nodiscard]] Law power(const Atoms& atoms, std::uint64_t times);

}  // namespace tradeoff::detail::exact
