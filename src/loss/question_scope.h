// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

namespace tradeoff {

/// One question, or several that are answered together. While it lives on a thread, engines keep here what may serve again: contours,
/// lattices, readings of slow profiles and how much work those were. The next question begins afresh, so an answer depends neither on
/// what was asked before nor on what other threads ask. A scope within another belongs to that one. [profile-bracket]
class QuestionScope {
 public:
  QuestionScope() {
    if (current_ == nullptr) current_ = this;
  }
  ~QuestionScope() {
    if (current_ == this) current_ = nullptr;
  }
  QuestionScope(const QuestionScope&) = delete;
  QuestionScope& operator=(const QuestionScope&) = delete;

  /// A number that no other owner has.
  [[nodiscard]] static std::uint64_t new_owner() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  /// What the owner of this number keeps for the question that is open. The number must belong to one owner alone, for ever.
  template <class State>
  [[nodiscard]] static State& state_of(std::uint64_t owner) {
    std::shared_ptr<void>& found = current_->states_[owner];
    if (found == nullptr) found = std::make_shared<State>();
    return *static_cast<State*>(found.get());
  }

 private:
  static inline constinit thread_local QuestionScope* current_ = nullptr;
  std::map<std::uint64_t, std::shared_ptr<void>> states_;
};

}  // namespace tradeoff
