// SPDX-License-Identifier: Apache-2.0
#include "loss/recording.h"

#include <algorithm>
#include <iterator>

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

const char* to_string(Method method) {
  switch (method) {
    case Method::closed_form:
      return "closed form";
    case Method::exact:
      return "exact";
    case Method::contour:
      return "contour";
    case Method::lattice:
      break;
  }
  return "lattice";
}

namespace {
constexpr std::size_t usual_citations = 8;  // few answers use more theorems
}

// A profile that is evaluated repeatedly records the same citations in the same order, so the search starts after the last match.
void Recording::add(const Citation& citation) {
  if (next_ >= citations_.size() || !(citations_[next_] == citation)) {
    const auto known = std::find(citations_.begin(), citations_.end(), citation);
    next_ = static_cast<std::size_t>(known - citations_.begin());
    if (known == citations_.end()) {
      if (citations_.empty()) citations_.reserve(usual_citations);
      citations_.push_back(citation);
    }
  }
  ++next_;
  if (next_ == citations_.size()) next_ = 0;
}

Citations RecordedSince::take_out() const {
  if (recording_ == nullptr) return {};
  Citations& all = recording_->citations_;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin_);
  Citations taken(std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
  recording_->next_ = 0;
  return taken;
}

Provenance Recording::provenance() const {
  Provenance found;
  for (const Citation& citation : citations_) {
    found.method = std::max(found.method, citation.method());
    const Step& step = citation.step();
    const bool known = std::any_of(found.steps.begin(), found.steps.end(),
                                   [&](const Step& other) { return other.theorem == step.theorem && other.detail == step.detail; });
    if (!known) found.steps.push_back(step);
  }
  return found;
}

Provenance provenance_of(const std::function<void()>& computation) {
  const Recording own;
  computation();
  own.pass_on();
  return own.provenance();
}

}  // namespace tradeoff
