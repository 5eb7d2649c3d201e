// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/lattice/pair.h"
#include "engine/part.h"

namespace tradeoff::detail::lattice {

/// The range in which a profile is neither 1 - exp(epsilon) nor constant, up to what is negligible.
struct Range {
  double low;
  double high;
};

/// One part of a composition in one direction, as lattices evaluate it. A discretisation is a function of the part, the points and the
/// width alone, so it is kept for later questions, with the work and the theorems that it took: a later question counts and records them as
/// if it had done the work, and has the same answer. A profile that uses the state of a question (an engine inside an operator) is
/// evaluated anew each time. Safe to use from many threads.
class PartProfile {
 public:
  PartProfile(const Loss& loss, Direction direction);
  PartProfile(const PartProfile&) = delete;
  PartProfile& operator=(const PartProfile&) = delete;
  ~PartProfile();

  [[nodiscard]] bool batches() const { return batch_ != nullptr; }
  /// How many atoms every evaluation sums.
  [[nodiscard]] std::size_t atoms_summed() const { return atoms_summed_; }
  [[nodiscard]] Pair discretise(const Points& points, BatchProfile::Width width) const;
  /// What may be cut off on the left and on the right, and the width at which a profile that evaluates many points together is asked.
  struct Allowed {
    double left;
    double right;
    BatchProfile::Width width;
    friend bool operator==(const Allowed& a, const Allowed& b) {
      return a.left == b.left && a.right == b.right && a.width.relative == b.width.relative && a.width.absolute == b.width.absolute;
    }
  };
  [[nodiscard]] Range range(const Allowed& allowed, double farthest) const;

 private:
  template <class Value>
  struct Kept {
    Value value;
    double work;
    Citations basis;
  };
  struct KeptPair {
    Points points;
    BatchProfile::Width width;
    std::shared_ptr<const Kept<Pair>> made;
    std::size_t bytes;
  };
  struct KeptRange {
    Allowed allowed;
    double farthest;
    Kept<Range> made;
  };
  template <class Value, class Make>
  [[nodiscard]] static Kept<Value> made_by(Make&& make);
  template <class Value>
  [[nodiscard]] static const Value& used(const Kept<Value>& kept);
  [[nodiscard]] const AtomsProfile* atoms() const;
  [[nodiscard]] Interval delta(double epsilon, BatchProfile::Width width) const;
  [[nodiscard]] Range found_range(const Allowed& allowed, double farthest) const;
  void keep(KeptPair pair) const;
  void drop_oldest() const;

  const Loss* loss_;
  Direction direction_;
  const BatchProfile* batch_;
  const Atoms* many_atoms_;  // null if there are few or none
  std::size_t atoms_summed_;
  bool keeps_;  // the profile does not depend on the state of a question
  mutable std::once_flag atoms_made_;
  mutable std::optional<AtomsProfile> atoms_;
  mutable std::mutex lock_;            // of the two members below
  mutable std::list<KeptPair> pairs_;  // the newest first
  mutable std::vector<KeptRange> ranges_;
};

/// All parts of a composition in one direction.
class PartProfiles {
 public:
  /// `parts` must outlive it.
  PartProfiles(const Parts& parts, Direction direction);
  [[nodiscard]] const Parts& parts() const { return *parts_; }
  [[nodiscard]] Direction direction() const { return direction_; }
  [[nodiscard]] const PartProfile& operator[](std::size_t i) const { return *profiles_[i]; }

 private:
  const Parts* parts_;
  Direction direction_;
  std::vector<std::unique_ptr<PartProfile>> profiles_;
};

}  // namespace tradeoff::detail::lattice
