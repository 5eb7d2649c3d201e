// SPDX-License-Identifier: Apache-2.0
#include "mechanism/profile.h"

#include "mechanism/constraints.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "plan/arguments.h"
#include "plan/table_file.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

[[noreturn]] void refuse_profile_row(std::size_t row, const std::string& fault) {
  throw DomainError("profile: row " + std::to_string(row + 1) + ": " + fault);
}

/// The slope of delta in x = e^epsilon between two rows, times e^{-epsilon of the second}; finite also for large epsilon.
Interval scaled_drop(const std::pair<Interval, Interval>& from, const std::pair<Interval, Interval>& to) {
  return (from.second - to.second) / -expm1(from.first - to.first);
}

void check_profile_row(const std::vector<std::pair<Interval, Interval>>& rows, std::size_t row) {
  const auto& [epsilon, delta] = rows[row];
  if (!(epsilon.lo >= 0 && epsilon.hi < infinity)) refuse_profile_row(row, "epsilon must be 0 or above");
  if (!(delta.lo >= 0 && delta.hi <= 1)) refuse_profile_row(row, "delta must be between 0 and 1");
  if (row == 0) return;
  if (!(epsilon.lo > rows[row - 1].first.hi)) refuse_profile_row(row, "epsilon must be larger than in the row before");
  if (delta.lo > rows[row - 1].second.hi) refuse_profile_row(row, "delta must not rise");
  if (row == 1) return;
  const Interval before = scaled_drop(rows[row - 2], rows[row - 1]) * exp(rows[row].first - rows[row - 1].first);
  if (scaled_drop(rows[row - 1], rows[row]).lo > before.hi)
    refuse_profile_row(
        row, "the profile is not convex in e^epsilon there: it falls faster than before; leave out the row before, or use constraints");
}

}  // namespace

// [canonical-constraints] A convex profile is the upper envelope of the lines that its rows imply.
LossPointer profile_loss(const std::vector<std::pair<Interval, Interval>>& rows, const StatedTail& tail) {
  if (rows.empty()) throw DomainError("profile: at least one row is needed");
  std::vector<Guarantee> constraints;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    check_profile_row(rows, row);
    constraints.push_back({rows[row].first, rows[row].second});
  }
  if (tail.kind == StatedTail::Kind::zero && rows.back().second.hi > 0)
    refuse_profile_row(rows.size() - 1, "tail = zero needs a last delta of 0, because a profile cannot jump");
  auto stated = std::make_shared<ConstraintsLoss>(std::move(constraints), false);
  if (tail.kind != StatedTail::Kind::gaussian || rows.back().second.hi == 0) return stated;
  return std::make_shared<TailedProfile>(std::move(stated), gaussian_tail_family(log(tail.factor), tail.width, rows.back().first.hi));
}

// [naive-profile] Both bounds hold at every epsilon, so the smaller one does; each is mirrored below 0 separately.
Interval TailedProfile::delta(Direction direction, Interval epsilon) const {
  return min(parts_.pair->delta(direction, epsilon), parts_.bound->delta(direction, epsilon));
}
Interval TailedProfile::log_delta(Direction direction, Interval epsilon) const {
  return min(parts_.pair->log_delta(direction, epsilon), parts_.bound->log_delta(direction, epsilon));
}

std::string TailedProfile::key() const {
  const std::string pair = parts_.pair->key(), bound = parts_.bound->key();
  return pair.empty() || bound.empty() ? std::string() : "tailed(" + pair + "," + bound + ")";
}

void TailedProfile::cite() const {
  parts_.pair->cite();
  parts_.bound->cite();
}

namespace {

/// A tail word stands alone, or is called with arguments.
StatedTail stated_tail_of(const Arguments& arguments) {
  if (!arguments.has("tail")) return {};
  const auto* called = std::get_if<Plan>(&arguments.value("tail").content);
  const Call call = called != nullptr ? std::get<Call>(called->lines.front().source) : Call{arguments.word("tail"), {}, 0};
  const Word* word = arguments.vocabulary().find(Role::tail, call.name);
  if (word == nullptr) arguments.refuse("tail", call.name, "a tail of the plan language");
  return word->tail(arguments.of(call));
}

LossPointer make_profile(const Arguments& arguments, const WordContext&) {
  return profile_loss(rows_of(arguments), stated_tail_of(arguments));
}

StatedTail make_unknown_tail(const Arguments&) { return {}; }
StatedTail make_zero_tail(const Arguments&) { return {.kind = StatedTail::Kind::zero, .factor = {}, .width = {}}; }
StatedTail make_gaussian_tail(const Arguments& arguments) {
  return {.kind = StatedTail::Kind::gaussian, .factor = arguments.number("k"), .width = arguments.number("s")};
}

}  // namespace

Word profile_word() {
  return {
      .role = Role::source,
      .name = "profile",
      .meaning = "a privacy profile of your own",
      .parameters = {{.name = "file", .kind = Kind::text, .meaning = "table of epsilon, delta", .form = 1},
                     {.name = "points", .kind = Kind::pairs, .meaning = "list of (epsilon, delta)", .form = 2},
                     {.name = "tail", .kind = Kind::tail_word, .meaning = "what is known beyond the last point", .fallback = "unknown"}},
      .stated = true,
      .make = make_profile};
}

Word unknown_tail_word() {
  return {
      .role = Role::tail, .name = "unknown", .meaning = "nothing is known: delta may stay at its last value", .tail = make_unknown_tail};
}

Word zero_tail_word() {
  return {.role = Role::tail, .name = "zero", .meaning = "delta is zero beyond the last point", .tail = make_zero_tail};
}

Word gaussian_tail_word() {
  return {
      .role = Role::tail,
      .name = "gaussian",
      .meaning = "delta(epsilon) <= k exp(-epsilon^2 / (2 s^2)) beyond the last point",
      .parameters = {{"k", Kind::number, "factor of the tail", range::positive}, {"s", Kind::number, "width of the tail", range::positive}},
      .tail = make_gaussian_tail};
}

}  // namespace tradeoff::detail
