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

namespace tradeoff::detail::ask {

/// A request that cannot be answered because of one of its fields; `field` is empty if the text itself is wrong.
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

/// Where the fields come from; error messages use the names of that interface.
enum class Source { json, command_line };

/// One question with its arguments, read and checked. The reader (of JSON, of the command line, of Python) creates it, passes each field
/// once to `take`, and then calls `complete`. Every error is a RequestError that names the field, its value and what is allowed.
class Request {
 public:
  Request(const Question& question, CurveCache& curves, Source source) : question_(&question), curves_(&curves), source_(source) {}

  /// Reads one field. `offset` is its position in the text; `is_string` is true for a JSON string and false for a JSON number.
  void take(std::string_view name, std::string text, std::size_t offset = 0, bool is_string = true);
  /// Throws if a required field is missing.
  void complete() const;

  [[nodiscard]] const Question& question() const { return *question_; }
  [[nodiscard]] Source source() const { return source_; }

  /// Whether the field was given.
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The field as written, for messages.
  [[nodiscard]] const std::string& text(std::string_view name) const { return given(name).text; }
  /// A number for a sentence: as written, or 0.0001 for 10e-5, which is easily misread.
  [[nodiscard]] std::string shown(std::string_view name) const;
  /// An interval around the exact number.
  [[nodiscard]] Interval value(std::string_view name) const { return given(name).values.front().value; }
  [[nodiscard]] Number number(std::string_view name) const { return given(name).values.front(); }
  [[nodiscard]] const std::vector<Number>& numbers(std::string_view name) const { return given(name).values; }
  /// For a field whose range is whole numbers.
  [[nodiscard]] std::uint64_t whole(std::string_view name) const { return static_cast<std::uint64_t>(value(name).lo); }
  /// The names, which were separated by commas.
  [[nodiscard]] std::vector<std::string> words(std::string_view name) const;

  [[nodiscard]] const std::string& plan_text() const { return text("plan"); }
  [[nodiscard]] Plan plan() const { return parse(plan_text()); }
  /// The curve of the plan; shared with other requests about it.
  [[nodiscard]] std::shared_ptr<const Curve> curve() const;
  /// The curve of another plan, given in this field, under the same neighbours.
  [[nodiscard]] std::shared_ptr<const Curve> curve_of(std::string_view name) const;
  [[nodiscard]] Direction direction() const { return direction_; }
  /// The stated neighbours. A direction means that a record is added or removed, so with a direction the neighbours are add-remove unless
  /// the plan fixes others.
  [[nodiscard]] Neighbours neighbours() const { return neighbours_of("plan"); }
  [[nodiscard]] Tolerance tolerance() const { return tolerance_; }

  /// Throws for any direction except `worst`; the message states why.
  void require_both_directions(std::string_view why) const;
  /// Throws if the field was given.
  [[noreturn]] void refuse(std::string_view name, std::string_view allowed) const;

 private:
  struct Argument {
    const Field* field;
    std::string text;
    std::size_t offset = 0;
    std::vector<Number> values{};  ///< if the field is a list of numbers
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

/// Splits a text at its commas and trims the blanks.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace tradeoff::detail::ask
