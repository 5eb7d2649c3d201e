// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tradeoff/provenance.h"

// Every answer carries its theorems: the code that computes a number records the theorem it uses, with `record`. If nothing records, that
// costs one comparison. docs/adr/0011 gives the reasons.
namespace tradeoff::detail {

/// A theorem and its use in some code. Copies are the same citation; two citations constructed separately differ.
class Citation {
 public:
  Citation(std::string theorem, std::string detail, Method method = Method::closed_form)
      : content_(std::make_shared<const Content>(Content{{std::move(theorem), std::move(detail)}, method})) {}
  [[nodiscard]] const Step& step() const { return content_->step; }
  [[nodiscard]] Method method() const { return content_->method; }
  friend bool operator==(const Citation& one, const Citation& other) { return one.content_ == other.content_; }

 private:
  struct Content {
    Step step;
    Method method;
  };
  std::shared_ptr<const Content> content_;
};
using Citations = std::vector<Citation>;

/// Collects everything recorded on this thread while it exists, except what an inner recording collects. Its content is discarded at its
/// end unless it is passed on.
class Recording {
 public:
  enum class When { always, if_wanted };
  /// `if_wanted`: collects only if there is an outer recording. Otherwise it stays empty and costs nothing.
  explicit Recording(When when = When::always) : outer_(current_) {
    if (when == When::always || outer_ != nullptr) current_ = this;
  }
  ~Recording() { current_ = outer_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] const Citations& citations() const { return citations_; }
  [[nodiscard]] Provenance provenance() const;
  /// Adds its content to the outer recording, if there is one.
  void pass_on() const {
    if (outer_ != nullptr) outer_->add(citations_);
  }

 private:
  friend void record(const Citation& citation);
  friend void record(const Citations& citations);
  friend bool is_recording();
  friend class Unrecorded;
  friend class RecordedSince;

  void add(const Citation& citation);
  void add(const Citations& citations) {
    for (const Citation& one : citations) add(one);
  }

  static inline constinit thread_local Recording* current_ = nullptr;
  Recording* outer_;
  Citations citations_;   // in the order of first use
  std::size_t next_ = 0;  // where the next repeated citation is expected
};

[[nodiscard]] inline bool is_recording() { return Recording::current_ != nullptr; }

/// Records that the current answer uses this theorem.
inline void record(const Citation& citation) {
  if (Recording::current_ != nullptr) Recording::current_->add(citation);
}
inline void record(const Citations& citations) {
  if (Recording::current_ != nullptr) Recording::current_->add(citations);
}

/// While it exists, nothing is recorded on this thread: for values that steer a search but prove nothing, and for values computed in
/// advance.
class Unrecorded {
 public:
  Unrecorded() : outer_(Recording::current_), is_within_(std::exchange(lives_, true)) { Recording::current_ = nullptr; }
  ~Unrecorded() {
    Recording::current_ = outer_;
    lives_ = is_within_;
  }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  friend bool is_unrecorded();

  static inline constinit thread_local bool lives_ = false;
  Recording* outer_;
  bool is_within_;
};

/// True if the current computation is for no answer: it is inside an `Unrecorded`, and no recording began there. The result does not depend
/// on whether anyone records the answer, so computations may depend on it.
[[nodiscard]] inline bool is_unrecorded() { return Unrecorded::lives_ && !is_recording(); }

/// Marks the part of this thread's recording that is new since its construction. The part stays unless it is taken out. It is taken out if
/// the result is only intermediate; the code that uses the result records the part again.
class RecordedSince {
 public:
  RecordedSince() : recording_(Recording::current_), begin_(recording_ == nullptr ? 0 : recording_->citations_.size()) {}
  [[nodiscard]] Citations take_out() const;

 private:
  Recording* recording_;
  std::size_t begin_;
};

/// What the computation records, for a result that is stored. Nothing is recorded now; every later use of the result records it.
template <class Compute>
[[nodiscard]] Citations citations_of(Compute&& compute) {
  const Recording own;
  compute();
  return own.citations();
}

}  // namespace tradeoff::detail
