// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loss/atoms.h"
#include "loss/loss.h"

namespace tradeoff {

/// [group-privacy] The guarantee for `size` >= 1 records that change together: the trade-off function iterated, 1 - (1 - f)^(size times).
/// A directed loss counts by the symmetric curve below both its orders, so that any mix of additions and removals is covered; asked in one
/// direction it answers for that kind of change alone.
/// Throws TooLargeError where the iteration has no closed form and would be too long.
[[nodiscard]] LossPointer group_loss(LossPointer base, std::uint64_t size);

/// The same for a finite mirrored law, edge by edge: exact.
[[nodiscard]] Atoms group_atoms(const Atoms& atoms, std::uint64_t size);

/// What is known of the group of a directed loss: a symmetric pair that covers additions and removals mixed, and the pair for one kind of
/// change alone, which answers where a direction is given.
struct GroupSides {
  LossPointer mixed;
  LossPointer one_kind;
};
/// Null for any other loss.
[[nodiscard]] const GroupSides* group_sides_of(const Loss& loss);
/// What further steps build on: the symmetric pair of such a group; any other loss itself.
[[nodiscard]] LossPointer mixed_changes_of(LossPointer loss);
/// Such a group with its two directions exchanged.
[[nodiscard]] LossPointer exchanged_group(const GroupSides& sides);

}  // namespace tradeoff
