// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "ask/question.h"
#include "batch.h"
#include "bind.h"
#include "loss/question_scope.h"
#include "text.h"
#include "tradeoff/analyze.h"
#include "tradeoff/approximate.h"
#include "tradeoff/operations.h"
#include "tradeoff/targets.h"

namespace tradeoff::detail::python {
namespace {

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A question with one argument and an interval as answer. The core checks ranges; only delta accepts infinity.
struct Ask {
  std::string argument;
  bool takes_infinity;
  Interval (*value)(const Curve&, Level, Direction);
};

/// The row of the table of questions; the logarithm of delta is a question of Python alone.
Ask find_ask(const std::string& name) {
  if (name == "log_delta")
    return {"epsilon", true, [](const Curve& curve, Level epsilon, Direction side) { return curve.log_delta_at(epsilon, side); }};
  const ask::Question* const question = ask::find_question(name);
  if (question == nullptr || question->value == nullptr) throw UnsupportedError("ask '" + name + "' is not known");
  const ask::Field& field = question->fields.front();
  return {std::string(field.name), field.kind == ask::Kind::number_or_infinity, question->value};
}

Ends answer_one(const Curve& curve, const std::string& name, const std::string& at, const std::string& direction) {
  const Ask question = find_ask(name);
  const bool is_infinite = question.takes_infinity && at == "inf";
  const Number argument{at, is_infinite ? Interval::exactly(infinity) : read_argument(question.argument.c_str(), at)};
  const Direction side = read_direction(direction);
  const nb::gil_scoped_release unlocked;
  return ends(question.value(curve, argument, side));
}

using Cited = std::vector<std::pair<std::string, std::string>>;

/// The answer, its method and its theorems.
std::tuple<Ends, std::string, Cited> explain(const Curve& curve, const std::string& name, const std::string& at,
                                             const std::string& direction) {
  const auto found = explained([&] { return answer_one(curve, name, at, direction); });
  Cited steps;
  for (const Step& step : found.steps) steps.emplace_back(step.theorem, step.detail);
  return {found.value, to_string(found.method), steps};
}

/// Every argument is checked before the first question is answered, so that the error names the first invalid one.
void check_arguments(const Ask& question, const Numbers& at) {
  const bool probability = question.argument != "epsilon";
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double value = at.data()[i];
    const bool fits = probability ? value >= 0 && value <= 1 : std::isfinite(value) || (question.takes_infinity && value == infinity);
    if (!fits)
      throw DomainError(question.argument + "[" + std::to_string(i) + "] is not allowed; it must be " +
                        (probability ? "between 0 and 1" : "a finite number"));
  }
}

Table to_table(std::unique_ptr<std::vector<Interval>> answers) {
  static_assert(sizeof(Interval) == 2 * sizeof(double));
  auto* const raw = answers.release();
  const nb::capsule owner(raw, [](void* memory) noexcept { delete static_cast<std::vector<Interval>*>(memory); });
  return Table(raw->data(), {raw->size(), 2}, owner);
}

Table answer_many(const Curve& curve, const std::string& name, const Numbers& at, const std::string& direction) {
  const Ask question = find_ask(name);
  const Direction side = read_direction(direction);
  auto answers = std::make_unique<std::vector<Interval>>(at.size());
  {
    const nb::gil_scoped_release unlocked;
    check_arguments(question, at);
    for_each_piece(at.size(), [&](std::size_t begin, std::size_t end) {
      const QuestionScope together;
      for (std::size_t i = begin; i < end; ++i) {
        const double value = at.data()[i];
        const Interval argument = value == infinity ? Interval::exactly(value) : enclose_nearby(question.argument.c_str(), value);
        (*answers)[i] = question.value(curve, argument, side);
      }
    });
  }
  return to_table(std::move(answers));
}

std::pair<Ends, Ends> posterior(const Curve& curve, const std::string& prior) {
  const Interval at = read_argument("prior", prior);
  const nb::gil_scoped_release unlocked;
  const Posterior found = curve.posterior_at(at);
  return {ends(found.accuracy), ends(found.largest)};
}

const char* check(const Curve& curve, const std::string& epsilon, const std::string& delta) {
  const Targets targets = stated_targets({{"epsilon", epsilon}, {"delta", delta}});
  const nb::gil_scoped_release unlocked;
  const Met met = check(curve, targets.front().words[0].second, targets.front().words[1].second).within;
  return met == Met::yes ? "within" : met == Met::no ? "exceeded" : "undecided";
}

using Corners = std::vector<std::pair<Ends, Ends>>;

Corners guarantees(const Curve& curve, const std::string& direction) {
  const Direction side = read_direction(direction);
  const nb::gil_scoped_release unlocked;
  Corners corners;
  for (const Guarantee& corner : corners_of(curve, side)) corners.emplace_back(ends(corner.epsilon), ends(corner.delta));
  return corners;
}

std::pair<Corners, Ends> to_polygon(const Approximation& polygon) {
  Corners pieces;
  for (const Guarantee& piece : polygon.pieces) pieces.emplace_back(ends(piece.epsilon), ends(piece.delta));
  return {pieces, ends(polygon.area)};
}

auto approximations(const Curve& curve, std::size_t pieces) {
  const nb::gil_scoped_release unlocked;
  const Approximations found = approximate(curve, pieces);
  std::optional<Ends> area;
  if (found.area) area = ends(*found.area);
  return std::make_tuple(to_polygon(found.below), to_polygon(found.above), to_polygon(found.below_published), area);
}

Curve analyze_text(const std::string& text, const std::string& neighbours, const std::string& relative) {
  const Neighbours whose = read_neighbours(neighbours);
  const Tolerance tolerance = read_relative(relative);
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) { return analyze(plan, whose, tolerance); });
}

Curve extend_by(const Curve& curve, const std::string& text) {
  const nb::gil_scoped_release unlocked;
  return with_plan(text, [&](const Plan& plan) { return extend(curve, plan); });
}

}  // namespace

void bind_curves(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Curve>(module, "Curve")
      .def("answer", answer_one, "ask"_a, "at"_a, "direction"_a)
      .def("answer_many", answer_many, "ask"_a, "at"_a, "direction"_a)
      .def("posterior", posterior, "prior"_a)
      .def("check", check, "epsilon"_a, "delta"_a)
      .def("guarantees", guarantees, "direction"_a)
      .def("approximate", approximations, "pieces"_a)
      .def("extend", extend_by, "text"_a)
      .def_prop_ro("neighbours", [](const Curve& curve) { return neighbours_word(curve.neighbours()); })
      .def("explain", explain, "ask"_a, "at"_a, "direction"_a);
  module.def("analyze", analyze_text, "text"_a, "neighbours"_a, "relative"_a);
}

}  // namespace tradeoff::detail::python
