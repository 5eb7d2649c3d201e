// SPDX-License-Identifier: Apache-2.0
#include "engine/layered.h"

#include <algorithm>
#include <utility>

#include "numeric/arithmetic.h"

namespace tradeoff {
namespace {

class LayeredLoss final : public Loss {
 public:
  LayeredLoss(std::vector<LossPointer> paths, Tail tail, Tolerance tolerance)
      : paths_(std::move(paths)), tail_(std::move(tail)), tolerance_(tolerance) {}

  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    // Below the smallest plain doubles relative width has no meaning; the logarithm is asked for there.
    return first_tight({0, 1}, [&](const Loss& path) { return path.delta(direction, epsilon); },
                       [this](Interval found) { return found.width() <= tolerance_.relative * found.hi || found.hi < 1e-290; });
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return first_tight({-infinity, 0}, [&](const Loss& path) { return path.log_delta(direction, epsilon); },
                       [this](Interval found) { return found.width() <= tolerance_.relative || found.hi == -infinity; });
  }
  [[nodiscard]] bool symmetric() const override { return paths_.front()->symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return paths_.front()->infinite_mass(direction); }
  [[nodiscard]] Tail tail() const override { return tail_; }
  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    const Interval anything{0, infinity};
    const Interval found =
        first_tight(anything, [&](const Loss& path) { return path.closed_epsilon(direction, delta).value_or(anything); },
                    [this](Interval known) { return known.width() <= tolerance_.relative * known.hi || known.hi == 0; });
    // Where no engine inverts by itself, the profile of all of them is inverted instead.
    const bool useful = found.lo == infinity || (found.hi < infinity && found.width() <= 0.01 * found.hi);
    if (!useful) return std::nullopt;
    return found;
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    for (const LossPointer& path : paths_)
      if (const auto test = path->test_at(direction, epsilon)) return test;
    return std::nullopt;
  }
  void explain(std::vector<Step>& steps) const override { paths_.front()->explain(steps); }

 private:
  template <class Ask, class IsTight>
  [[nodiscard]] Interval first_tight(Interval known, Ask&& ask, IsTight&& is_tight) const {
    for (const LossPointer& path : paths_) {
      const Interval answer = ask(*path);
      const Interval both{std::max(answer.lo, known.lo), std::min(answer.hi, known.hi)};
      known = both.lo <= both.hi ? both : hull(answer, known);  // disjoint enclosures would mean a defect: claim no more than either
      if (is_tight(known)) break;
    }
    return known;
  }

  std::vector<LossPointer> paths_;
  Tail tail_;
  Tolerance tolerance_;
};

}  // namespace

LossPointer layered_loss(std::vector<LossPointer> paths, Tail tail, Tolerance tolerance) {
  std::erase(paths, nullptr);
  return std::make_shared<LayeredLoss>(std::move(paths), std::move(tail), tolerance);
}

}  // namespace tradeoff
