// SPDX-License-Identifier: Apache-2.0
#include "engine/adaptive_block.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tradeoff::detail {
namespace {

const AdaptiveUses* adaptive_uses_of(const Part& part) { return part.loss->capabilities(Direction::remove).adaptive; }

/// All uses of one adaptive mechanism, and the pair that replaces them.
struct AdaptiveBlock {
  std::string name;
  std::uint64_t uses = 0;
  LossPointer pair;
};

std::optional<AdaptiveBlock> best_block(const Parts& parts) {
  std::map<std::string, std::pair<const AdaptiveUses*, std::uint64_t>> found;
  for (const Part& part : parts) {
    const AdaptiveUses* uses = part.times == 0 ? nullptr : adaptive_uses_of(part);
    if (uses == nullptr) continue;
    auto& [first, total] = found[uses->name()];
    if (first == nullptr) first = uses;
    total += part.times;
  }
  std::optional<AdaptiveBlock> best;
  double most = 0;
  for (const auto& [name, group] : found) {
    const auto& [uses, total] = group;
    LossPointer pair = uses->together(total);
    if (pair == nullptr || (best && !(uses->gain(total) > most))) continue;
    most = uses->gain(total);
    best = AdaptiveBlock{name, total, std::move(pair)};
  }
  return best;
}

bool belongs_to(const Part& part, const std::string& name) {
  const AdaptiveUses* uses = adaptive_uses_of(part);
  return uses != nullptr && uses->name() == name;
}

/// The keys of all parts, the block by its name, with their numbers. Empty if some part has no key.
std::optional<std::map<std::string, std::uint64_t>> identity_of(const Parts& parts) {
  const auto block = best_block(parts);
  std::map<std::string, std::uint64_t> identity;
  for (const Part& part : parts) {
    if (part.times == 0) continue;
    const bool in_block = block && belongs_to(part, block->name);
    const std::string key = in_block ? "block " + block->name : part.loss->key();
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
  std::erase_if(parts, [&](const Part& part) { return part.times == 0 || belongs_to(part, block->name); });
  parts.push_back({std::move(block->pair), 1});
  return parts;
}

bool equal_with_block(const Parts& one, const Parts& other) {
  const auto first = identity_of(one), second = identity_of(other);
  return first && second && *first == *second;
}

}  // namespace tradeoff::detail
