// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tradeoff/provenance.h"

// Answers carry their theorems: the code that computes a number records the theorem it uses, with `record`. Without a recording that costs
// one comparison. docs/adr/0011 has the reasons.
namespace tradeoff {

/// A theorem as some code uses it. A copy is the same citation; two that are made apart are not.
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

/// While it lives, and no other begins on the same thread, everything recorded on this thread goes here. What it holds is lost with it
/// unless it is passed on.
class Recording {
 public:
  enum class When { always, if_wanted };
  /// `if_wanted`: only if there is a recording around it. Otherwise it stays empty and costs nothing.
  explicit Recording(When when = When::always) : outer_(current_) {
    if (when == When::always || outer_ != nullptr) current_ = this;
  }
  ~Recording() { current_ = outer_; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] const Citations& citations() const { return citations_; }
  [[nodiscard]] Provenance provenance() const;
  /// Adds what it holds to the recording around it, if there is one.
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
  std::size_t next_ = 0;  // where a repetition of what came before goes on
};

[[nodiscard]] inline bool is_recording() { return Recording::current_ != nullptr; }

/// Says that the answer which is being computed rests on this theorem.
inline void record(const Citation& citation) {
  if (Recording::current_ != nullptr) Recording::current_->add(citation);
}
inline void record(const Citations& citations) {
  if (Recording::current_ != nullptr) Recording::current_->add(citations);
}

/// While it lives nothing is recorded on this thread: for values that steer a search and prove nothing, and for what is built in advance.
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

/// Whether what is computed now is for no answer: within an `Unrecorded`, and no recording began in it. The same whether or not anyone
/// records the answer, so what is computed may depend on it.
[[nodiscard]] inline bool is_unrecorded() { return Unrecorded::lives_ && !is_recording(); }

/// Which part of the recording on this thread is new since this began. It stays where it is unless it is taken out, which is for a result
/// that turns out not to be the last word: whoever uses it records it again, in the same recording.
class RecordedSince {
 public:
  RecordedSince() : recording_(Recording::current_), begin_(recording_ == nullptr ? 0 : recording_->citations_.size()) {}
  [[nodiscard]] Citations take_out() const;

 private:
  Recording* recording_;
  std::size_t begin_;
};

/// What the computation records, for a result that is kept and whose users record it again; nothing of it is recorded now.
template <class Compute>
[[nodiscard]] Citations citations_of(Compute&& compute) {
  const Recording own;
  compute();
  return own.citations();
}

}  // namespace tradeoff
