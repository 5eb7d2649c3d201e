// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "loss/atoms.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// [group-privacy] The guarantee for a group of `size` >= 1 records: the trade-off function iterated, 1 - (1 - f)^(size times). A loss that
/// is not symmetric enters by the symmetric curve below both its orders, so that any mix of additions and removals is covered; a question
/// about one direction is answered for that kind of change only. Throws TooLargeError if the iteration has no closed form and would take
/// too long.
[[nodiscard]] LossPointer group_loss(LossPointer base, std::uint64_t size);

/// The same for a finite symmetric distribution, edge by edge: exact.
[[nodiscard]] Atoms group_atoms(const Atoms& atoms, std::uint64_t size);

/// Of an iterated curve, where the curve of one record is all that is used.
inline constexpr const char* what_iteration_is =
    "it is the worst over all mechanisms with that curve, so the lower end is no statement about this mechanism";
/// The tail and the key of a group.
[[nodiscard]] Tail group_tail(const Tail& base, std::size_t size);
[[nodiscard]] std::string group_key(const Loss& base, std::size_t size);

/// The group of a loss that is not symmetric: a symmetric pair that covers additions and removals mixed, and the pair for one kind of
/// change, which answers if a direction is given.
struct GroupSides {
  LossPointer mixed;
  LossPointer one_kind;
};
/// Null for any other loss.
[[nodiscard]] const GroupSides* group_sides_of(const Loss& loss);
/// The loss to use for further steps: the symmetric pair of such a group; any other loss unchanged.
[[nodiscard]] LossPointer mixed_changes_of(LossPointer loss);
/// The same group with its two directions exchanged.
[[nodiscard]] LossPointer exchanged_group(const GroupSides& sides);

}  // namespace tradeoff::detail
