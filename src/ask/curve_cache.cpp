// SPDX-License-Identifier: Apache-2.0
#include "ask/curve_cache.h"

#include <algorithm>

#include "tradeoff/analyze.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail::ask {

std::shared_ptr<const Curve> CurveCache::find(std::string_view plan, Neighbours neighbours, Tolerance tolerance) {
  Plan read = with_tables(parse(plan));
  const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.neighbours == neighbours && entry.relative == tolerance.relative && entry.plan == read;
  });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return known->curve;
  }
  auto curve = std::make_shared<const Curve>(analyze(read, neighbours, tolerance));
  const std::size_t bytes = to_string(read).size();
  entries_.push_front({std::move(read), bytes, neighbours, tolerance.relative, curve});
  bytes_ += bytes;
  while (entries_.size() > entry_limit || bytes_ > byte_limit) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return curve;
}

}  // namespace tradeoff::detail::ask
