// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "curve_cache.h"
#include "request.h"
#include "tradeoff/curve.h"
#include "tradeoff/plan.h"

namespace tradeoff::cli {

/// A request with its fields understood. Every refusal is a RequestError that names the field, its value and what is allowed.
class Question {
 public:
  Question(const Request& request, CurveCache& curves);

  /// Whether it was put on the command line, where fields are options.
  [[nodiscard]] bool is_typed() const { return request_.is_typed; }
  /// Whether the optional field is there.
  [[nodiscard]] bool has(std::string_view name) const { return request_.find(name) != nullptr; }
  /// The field as it was written, for people.
  [[nodiscard]] const std::string& text(std::string_view name) const { return field(name).text; }
  /// The exact decimal, enclosed. Finite.
  [[nodiscard]] Interval number(std::string_view name) const;
  /// Several of them, with commas in between, each with its text.
  [[nodiscard]] std::vector<Number> numbers(std::string_view name) const;
  [[nodiscard]] Interval at_least_zero(std::string_view name) const;
  [[nodiscard]] Interval probability(std::string_view name) const;
  /// Strictly between 0 and 1.
  [[nodiscard]] Interval inner_probability(std::string_view name) const;
  /// A real number or `inf`: the mass at infinite loss is delta(inf).
  [[nodiscard]] Interval number_or_infinity(std::string_view name) const;

  [[nodiscard]] const std::string& plan_text() const;
  [[nodiscard]] Plan plan() const { return parse(plan_text()); }
  /// What another plan, given in this field, guarantees under the same neighbours.
  [[nodiscard]] std::shared_ptr<const Curve> curve_of(std::string_view name) const;
  /// What the plan guarantees; shared with other questions about it.
  [[nodiscard]] std::shared_ptr<const Curve> curve() const;
  [[nodiscard]] Direction direction() const { return direction_; }
  /// Those that were stated. A direction speaks of a record that is added or removed: with one, and with a plan that leaves the neighbours
  /// open, they are add-remove.
  [[nodiscard]] Neighbours neighbours() const { return neighbours_of("plan"); }
  [[nodiscard]] Tolerance tolerance() const { return tolerance_; }

  /// Refuses any direction but the worse of both, and says why.
  void require_both_directions(std::string_view why) const;
  [[noreturn]] void refuse(std::string_view name, std::string_view allowed) const;

 private:
  [[nodiscard]] const Request::Field& field(std::string_view name) const;
  [[nodiscard]] const std::string& plan_in(std::string_view name) const;
  [[nodiscard]] Neighbours neighbours_of(std::string_view plan_field) const;

  const Request& request_;
  CurveCache& curves_;
  Neighbours neighbours_ = Neighbours::unstated;
  Direction direction_ = Direction::worst;
  Tolerance tolerance_;
};

}  // namespace tradeoff::cli
