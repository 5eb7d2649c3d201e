// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ask/curve_cache.h"
#include "ask/question.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::ask {

/// A request that cannot be answered because of one of its fields (or of its text, then `field` is empty).
class RequestError final : public std::runtime_error {
 public:
  RequestError(const char* kind, const std::string& message, std::string field, std::size_t offset)
      : std::runtime_error(message), kind_(kind), field_(std::move(field)), offset_(offset) {}
  [[nodiscard]] const char* kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  const char* kind_;
  std::string field_;
  std::size_t offset_;
};

/// Who wrote the fields; a refusal names them as that reader knows them.
enum class Source { json, command_line };

/// One question with its arguments, read and checked. A reader (of JSON, of the command line, of Python) makes it, gives it each field once
/// by `take`, and then calls `complete`. Every refusal is a RequestError that names the field, its value and what is allowed.
class Request {
 public:
  Request(const Question& question, CurveCache& curves, Source source) : question_(&question), curves_(&curves), source_(source) {}

  /// Reads one field. `offset` is where it stands in its text; `is_string` tells a JSON string from a JSON number.
  void take(std::string_view name, std::string text, std::size_t offset = 0, bool is_string = true);
  /// Refuses a request that lacks a required field.
  void complete() const;

  [[nodiscard]] const Question& question() const { return *question_; }
  [[nodiscard]] Source source() const { return source_; }

  /// Whether the field was given.
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The field as it was written, for people.
  [[nodiscard]] const std::string& text(std::string_view name) const { return given(name).text; }
  /// The interval around the exact number.
  [[nodiscard]] Interval value(std::string_view name) const { return given(name).values.front().value; }
  [[nodiscard]] Number number(std::string_view name) const { return given(name).values.front(); }
  [[nodiscard]] const std::vector<Number>& numbers(std::string_view name) const { return given(name).values; }
  /// Of a field whose range is of whole numbers.
  [[nodiscard]] std::uint64_t whole(std::string_view name) const { return static_cast<std::uint64_t>(value(name).lo); }
  /// The names that were given with commas in between.
  [[nodiscard]] std::vector<std::string> words(std::string_view name) const;

  [[nodiscard]] const std::string& plan_text() const { return text("plan"); }
  [[nodiscard]] Plan plan() const { return parse(plan_text()); }
  /// What the plan guarantees; shared with other requests about it.
  [[nodiscard]] std::shared_ptr<const Curve> curve() const;
  /// What another plan, given in this field, guarantees under the same neighbours.
  [[nodiscard]] std::shared_ptr<const Curve> curve_of(std::string_view name) const;
  [[nodiscard]] Direction direction() const { return direction_; }
  /// Those that were stated. A direction speaks of a record that is added or removed: with one, and with a plan that leaves the neighbours
  /// open, they are add-remove.
  [[nodiscard]] Neighbours neighbours() const { return neighbours_of("plan"); }
  [[nodiscard]] Tolerance tolerance() const { return tolerance_; }

  /// Refuses any direction but the worse of both, and says why.
  void require_both_directions(std::string_view why) const;
  /// Refuses a field that was given.
  [[noreturn]] void refuse(std::string_view name, std::string_view allowed) const;

 private:
  struct Argument {
    const Field* field;
    std::string text;
    std::size_t offset = 0;
    std::vector<Number> values{};  ///< of a field of numbers
  };

  [[nodiscard]] const Argument* find(std::string_view name) const;
  [[nodiscard]] const Argument& given(std::string_view name) const;
  [[nodiscard]] Neighbours neighbours_of(std::string_view plan_field) const;
  [[noreturn]] void refuse_unknown(std::string_view name, std::size_t offset) const;

  const Question* question_;
  CurveCache* curves_;
  Source source_;
  std::vector<Argument> arguments_;
  Neighbours neighbours_ = Neighbours::unstated;
  Direction direction_ = Direction::worst;
  Tolerance tolerance_;
};

/// The parts of a text between its commas, without the blanks around them.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace tradeoff::ask
