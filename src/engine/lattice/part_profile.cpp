// SPDX-License-Identifier: Apache-2.0
#include "engine/lattice/part_profile.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "loss/work.h"
#include "numeric/arithmetic.h"
#include "numeric/root.h"

namespace tradeoff::detail::lattice {
namespace {

constexpr std::size_t few_atoms = 16;                                          // summed one by one
constexpr std::size_t most_pairs = 6;                                          // kept for one part in one direction
constexpr std::size_t most_ranges = 16;                                        // the same
constexpr std::size_t most_bytes = sizeof(void*) == 4 ? 8U << 20 : 96U << 20;  // kept by all compositions of the process
std::atomic<std::size_t> bytes_kept = 0;

std::size_t size_of(const Law& law) { return law.index.size() * (sizeof(std::int64_t) + sizeof(double)); }

}  // namespace

PartProfile::PartProfile(const Loss& loss, Direction direction) : loss_(&loss), direction_(direction) {
  const Capabilities known = loss.capabilities(direction);
  batch_ = known.batch;
  many_atoms_ = known.atoms != nullptr && known.atoms->finite.size() > few_atoms ? known.atoms : nullptr;
  atoms_summed_ = known.atoms != nullptr && many_atoms_ == nullptr ? known.atoms->finite.size() : 0;
  keeps_ = batch_ != nullptr || known.atoms != nullptr || known.cost == Cost::formula;
}

PartProfile::~PartProfile() {
  while (!pairs_.empty()) drop_oldest();
}

const AtomsProfile* PartProfile::atoms() const {
  if (many_atoms_ == nullptr) return nullptr;
  std::call_once(atoms_made_, [this] { atoms_.emplace(*many_atoms_); });
  return &*atoms_;
}

template <class Value, class Make>
PartProfile::Kept<Value> PartProfile::made_by(Make&& make) {
  const Recording own;
  const std::uint64_t begin = Work::now();
  Value value = make();
  own.pass_on();
  return {std::move(value), Work::since(begin), own.citations()};
}

/// A kept value, for another question.
template <class Value>
const Value& PartProfile::used(const Kept<Value>& kept) {
  Work::count(kept.work);
  record(kept.basis);
  return kept.value;
}

Pair PartProfile::discretise(const Points& points, BatchProfile::Width width) const {
  const auto make = [&] { return lattice::discretise(*loss_, direction_, points, width, atoms()); };
  if (!keeps_) return make();
  std::shared_ptr<const Kept<Pair>> known;
  {
    const std::lock_guard guard(lock_);
    const auto found = std::find_if(pairs_.begin(), pairs_.end(), [&](const KeptPair& one) {
      return one.points.step == points.step && one.width.relative == width.relative && one.width.absolute == width.absolute &&
             one.points.index == points.index;
    });
    if (found != pairs_.end()) {
      pairs_.splice(pairs_.begin(), pairs_, found);
      known = found->made;
    }
  }
  if (known != nullptr) return used(*known);
  auto made = std::make_shared<const Kept<Pair>>(made_by<Pair>(make));
  keep({points, width, made, points.index.size() * sizeof(std::int64_t) + size_of(made->value.above) + size_of(made->value.below)});
  return made->value;
}

void PartProfile::keep(KeptPair pair) const {
  const std::lock_guard guard(lock_);
  while (pairs_.size() >= most_pairs || (!pairs_.empty() && bytes_kept + pair.bytes > most_bytes)) drop_oldest();
  if ((bytes_kept += pair.bytes) > most_bytes) {  // others keep so much
    bytes_kept -= pair.bytes;
    return;
  }
  pairs_.push_front(std::move(pair));
}

void PartProfile::drop_oldest() const {
  bytes_kept -= pairs_.back().bytes;
  pairs_.pop_back();
}

Interval PartProfile::delta(double epsilon, BatchProfile::Width width) const {
  if (const AtomsProfile* profile = atoms()) {
    loss_->cite();
    return profile->delta(Interval::exactly(epsilon));
  }
  if (batch_ == nullptr) return loss_->delta(direction_, Interval::exactly(epsilon));
  Interval value;
  batch_->deltas(direction_, {&epsilon, 1}, width, {&value, 1});
  return value;
}

/// To the last digit if the range ends in a corner.
Range PartProfile::found_range(const Allowed& allowed, double farthest) const {
  const auto above = [&](double epsilon) { return delta(epsilon, allowed.width).hi; };
  const int halvings = batch_ != nullptr ? 8 : 55;  // no corner to be found, and every value is slow
  const double far = above(farthest);
  const auto end = [&](double sign, auto&& is_beyond) {
    double inner = 0, outer = 0x1p-10;
    while (outer < farthest && !is_beyond(sign * outer)) inner = std::exchange(outer, 2 * outer);
    return sign * numeric::bisect([&](double size) { return is_beyond(sign * size); }, {inner, outer}, halvings).beyond;
  };
  return {end(-1, [&](double e) { return above(e) + std::expm1(e) <= allowed.left; }),
          end(1, [&](double e) { return above(e) - far <= allowed.right; })};
}

Range PartProfile::range(const Allowed& allowed, double farthest) const {
  const auto make = [&] { return found_range(allowed, farthest); };
  if (!keeps_) return make();
  std::optional<Kept<Range>> known;
  {
    const std::lock_guard guard(lock_);
    for (const KeptRange& one : ranges_)
      if (one.allowed == allowed && one.farthest == farthest) known = one.made;
  }
  if (known) return used(*known);
  Kept<Range> made = made_by<Range>(make);
  const std::lock_guard guard(lock_);
  if (ranges_.size() >= most_ranges) ranges_.erase(ranges_.begin());
  ranges_.push_back({allowed, farthest, made});
  return made.value;
}

PartProfiles::PartProfiles(const Parts& parts, Direction direction) : parts_(&parts), direction_(direction) {
  for (const Part& part : parts) profiles_.push_back(std::make_unique<PartProfile>(*part.loss, direction));
}

}  // namespace tradeoff::detail::lattice
