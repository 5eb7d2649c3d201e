// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>

namespace tradeoff::detail {

/// One question, or several that are answered together. While it exists on a thread, engines store here what they may need again: contours,
/// lattices, evaluations of slow profiles and the work spent on them. The next question starts empty, so an answer depends neither on
/// earlier questions nor on other threads. A scope inside another one shares the outer scope's storage. [profile-bracket]
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

  /// The state that the owner of this number keeps for the current question. A number must never be used by two owners.
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

}  // namespace tradeoff::detail
