// SPDX-License-Identifier: Apache-2.0
#include "engine/adaptive_block.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tradeoff::detail {
namespace {

const AdaptiveUses* adaptive_uses_of(const Part& part) { return part.loss->capabilities(Direction::remove).adaptive; }

/// All uses of some adaptive mechanisms, and the pair that replaces them.
struct AdaptiveBlock {
  std::set<std::string> names;
  LossPointer pair;

  [[nodiscard]] bool holds(const Part& part) const {
    const AdaptiveUses* uses = adaptive_uses_of(part);
    return uses != nullptr && names.contains(uses->name());
  }
};

using Shares = std::vector<AdaptiveUses::Share>;

/// All adaptive mechanisms, those with the largest gain first.
Shares shares_of(const Parts& parts) {
  std::map<std::string, AdaptiveUses::Share> found;
  for (const Part& part : parts) {
    const AdaptiveUses* uses = part.times == 0 ? nullptr : adaptive_uses_of(part);
    if (uses != nullptr) found.try_emplace(uses->name(), AdaptiveUses::Share{uses, 0}).first->second.uses += part.times;
  }
  Shares shares;
  for (const auto& [name, share] : found) shares.push_back(share);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& one, const auto& other) { return one.of->gain(one.uses) > other.of->gain(other.uses); });
  return shares;
}

/// As many mechanisms that join the first one as have a known worst case together.
std::optional<AdaptiveBlock> joint_block(Shares shares) {
  const AdaptiveUses& first = *shares.front().of;
  std::erase_if(shares, [&](const auto& one) { return !first.joins(*one.of); });
  for (; shares.size() > 1; shares.pop_back())
    if (LossPointer pair = first.jointly(shares)) {
      AdaptiveBlock block{{}, std::move(pair)};
      for (const auto& one : shares) block.names.insert(one.of->name());
      return block;
    }
  return std::nullopt;
}

std::optional<AdaptiveBlock> best_block(const Parts& parts) {
  Shares shares = shares_of(parts);
  for (; !shares.empty(); shares.erase(shares.begin())) {
    if (auto joint = joint_block(shares)) return joint;
    if (LossPointer pair = shares.front().of->together(shares.front().uses))
      return AdaptiveBlock{{shares.front().of->name()}, std::move(pair)};
  }
  return std::nullopt;
}

/// The keys of all parts, those of the block by their names, with their numbers. Empty if some part has no key.
std::optional<std::map<std::string, std::uint64_t>> identity_of(const Parts& parts) {
  const auto block = best_block(parts);
  std::map<std::string, std::uint64_t> identity;
  for (const Part& part : parts) {
    if (part.times == 0) continue;
    const std::string key = block && block->holds(part) ? "block " + adaptive_uses_of(part)->name() : part.loss->key();
    if (key.empty()) return std::nullopt;
    identity[key] += part.times;
  }
  return identity;
}

}  // namespace

// [adaptive-block]
Parts with_one_block(Parts parts) {
  auto block = best_block(parts);
  if (!block) return parts;
  std::erase_if(parts, [&](const Part& part) { return part.times == 0 || block->holds(part); });
  parts.push_back({std::move(block->pair), 1});
  return parts;
}

bool equal_with_block(const Parts& one, const Parts& other) {
  const auto first = identity_of(one), second = identity_of(other);
  return first && second && *first == *second;
}

}  // namespace tradeoff::detail
