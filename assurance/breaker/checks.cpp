// SPDX-License-Identifier: Apache-2.0
#include "checks.h"

#include <functional>
#include <sstream>
#include <vector>

#include "tradeoff/error.h"

namespace tradeoff::detail::breaker {
namespace {

std::string shown(Interval interval) {
  std::ostringstream out;
  out.precision(17);
  out << "[" << interval.lo << ", " << interval.hi << "]";
  return out.str();
}

}  // namespace

const Answers& Examination::answers() {
  if (answers_ == nullptr) answers_ = answers_of(trial_.plan);
  return *answers_;
}

std::size_t Examination::pick(std::size_t count) const {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a: std::hash may differ between machines
  for (const char letter : to_text(trial_)) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return (hash >> 20) % count;
}

void Examination::require(bool holds, const std::string& claim) {
  if (!holds) throw Broken(claim);
}

void Examination::require_at_most(double low, double high, const std::string& claim) {
  if (low <= high) return;
  std::ostringstream out;
  out.precision(17);
  out << claim << ": " << low << " is not at most " << high;
  throw Broken(out.str());
}

void Examination::require_meet(Interval one, Interval other, const std::string& claim) {
  if (!(one.lo <= other.hi && other.lo <= one.hi)) throw Broken(claim + ": " + shown(one) + " and " + shown(other) + " do not meet");
}

void Examination::require_order(Interval smaller, Interval larger, const std::string& claim) {
  if (!(smaller.lo <= larger.hi)) throw Broken(claim + ": " + shown(smaller) + " is above " + shown(larger));
}

std::span<const Check> checks() {
  static const std::vector<Check> all = [] {
    std::vector<Check> joined(laws().begin(), laws().end());
    joined.insert(joined.end(), bounds().begin(), bounds().end());
    joined.insert(joined.end(), sentences().begin(), sentences().end());
    return joined;
  }();
  return all;
}

const Check& find_check(const std::string& name) {
  std::string names;
  for (const Check& check : checks()) {
    if (name == check.name) return check;
    names += std::string(names.empty() ? "" : ", ") + check.name;
  }
  throw DomainError("no check is called '" + name + "'; there are " + names);
}

}  // namespace tradeoff::detail::breaker
