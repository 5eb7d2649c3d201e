// SPDX-License-Identifier: Apache-2.0
#include "noise/instruction.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/arguments.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::noise {
namespace {

/// A line of the plan, sorted into the parts of an instruction: in the order in which they are drawn, not in the order in which they are
/// written.
struct Shape {
  Call source;
  std::optional<Call> rectify;
  std::optional<Call> sampling;
  std::uint64_t group = 1;
  std::uint64_t runs = 1;
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
  Quantity quantity = Quantity::values;
};

std::uint64_t product(std::uint64_t a, std::uint64_t b, const char* of_what) {
  if (a > most_times / b) throw TooLargeError(std::string("release: too many ") + of_what + "; at most 10^12 are supported");
  return a * b;
}

// Each of these refuses an order of operators whose meaning differs from what is drawn row by row. [grid-release]
void add_repeat(Shape& shape, const Call& operation, const ReleaseTerms&) {
  shape.runs = product(shape.runs, Arguments(operation).count("times", 1, most_times), "runs");
}

void add_group(Shape& shape, const Call& operation, const ReleaseTerms&) {
  shape.group = product(shape.group, Arguments(operation).count("size", 1, most_times), "records in a group");
}

void add_rectify(Shape& shape, const Call& operation, const ReleaseTerms& terms) {
  const DrawnSource* drawn = find_drawn_source(shape.source.name);
  if (shape.rectify || (drawn != nullptr && drawn->is_category) || terms.columns != 1)
    throw UnsupportedError("release: rectify serves single numeric values, once");
  if (shape.runs != 1)
    throw UnsupportedError("release: rectify after repeat would act on all runs at once, but each row is rectified by itself; write " +
                           std::string("rectify before repeat"));
  shape.rectify = operation;
}

void add_sampling(Shape& shape, const Call& operation, const ReleaseTerms& terms) {
  if (terms.aggregate == Aggregate::none)
    throw UnsupportedError("release: " + operation.name + " chooses records, so records must be given: release their sum, count or mean");
  if (shape.runs != 1 || shape.sampling) throw UnsupportedError("release: records are sampled once, before anything is repeated");
  if (shape.group != 1)
    throw UnsupportedError("release: group before " + operation.name + " would sample the records of a group together, but each is " +
                           "sampled by itself; write group after " + operation.name);
  shape.sampling = operation;
}

/// Distributions of drawn noise need no refinement.
void add_refine(Shape&, const Call&, const ReleaseTerms&) {}

/// A quotient of 64-bit integers that is exactly the number written.
std::optional<std::pair<std::uint64_t, std::uint64_t>> rational(const Number& number) {
  const auto quotient = numeric::read_quotient(number.text);
  if (!quotient) return std::nullopt;
  const auto digits = [](const numeric::Decimal& decimal) -> std::optional<std::uint64_t> {
    if (decimal.digits.size() > 15) return std::nullopt;
    return std::stoull(decimal.digits);
  };
  auto numerator = digits(quotient->numerator), denominator = digits(quotient->denominator);
  if (!numerator || !denominator) return std::nullopt;
  for (std::int64_t shift = quotient->numerator.exponent - quotient->denominator.exponent; shift != 0; shift += shift > 0 ? -1 : 1) {
    std::uint64_t& grown = shift > 0 ? *numerator : *denominator;
    if (grown > 100'000'000'000'000'000) return std::nullopt;
    grown *= 10;
  }
  return std::pair(*numerator, *denominator);
}

Sampling make_poisson(const Arguments& arguments) {
  if (arguments.has("at_most")) throw UnsupportedError("release: poisson with at_most is accounted for, but not drawn; leave at_most out");
  if (arguments.has("examples") && arguments.whole("examples") != 1)
    throw UnsupportedError(
        "release: poisson with examples is accounted for, but its noise is not drawn; leave examples out, and state a "
        "group of records after it: poisson(rate) | group(size)");
  static_cast<void>(arguments.probability("rate"));
  const auto rate = rational(arguments.written("rate"));
  if (!rate) arguments.refuse("rate", arguments.written("rate").text, "a quotient of whole numbers below 2^53, or a decimal of few digits");
  return {rate->first, rate->second, 0, 0};
}

Sampling make_sample(const Arguments& arguments) {
  if (arguments.has("rate"))
    throw UnsupportedError("release: sample needs its size and the number of records; a rate alone does not say how many are drawn");
  const std::uint64_t size = arguments.count("size", 1, most_times);
  return {0, 0, size, arguments.count("of", size, most_times)};
}

/// An operator of the plan language that can be carried out: what it adds to a line, and if it samples, how records are chosen.
struct DrawnOperator {
  std::string_view name;
  void (*add)(Shape& shape, const Call& operation, const ReleaseTerms& terms);
  Sampling (*sampling)(const Arguments& arguments) = nullptr;
};
constexpr std::array drawn_operator_rows{
    DrawnOperator{"repeat", add_repeat},
    DrawnOperator{"group", add_group},
    DrawnOperator{"rectify", add_rectify},
    DrawnOperator{"poisson", add_sampling, make_poisson},
    DrawnOperator{"sample", add_sampling, make_sample},
    DrawnOperator{"refine", add_refine},
};

const DrawnOperator& drawn_operator_of(const Call& operation) {
  for (const DrawnOperator& one : drawn_operator_rows)
    if (one.name == operation.name) return one;
  throw UnsupportedError("release: " + operation.name + " cannot be drawn");
}

/// All lines of the plan, plans in parentheses included, in order.
std::vector<Shape> lines_of(const Plan& plan, const ReleaseTerms& terms) {
  std::vector<Shape> shapes;
  for (const Line& line : plan.lines) {
    std::vector<Shape> found;
    if (const auto* inner = std::get_if<Plan>(&line.source)) {
      found = lines_of(*inner, terms);
      if (found.size() > 1 && !line.operators.empty())
        throw UnsupportedError("release: an operator on several lines at once cannot be drawn; write it on each of them");
    } else {
      found.push_back({std::get<Call>(line.source), {}, {}});
    }
    for (Shape& shape : found) {
      for (const Call& operation : line.operators) drawn_operator_of(operation).add(shape, operation, terms);
      shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

/// Draws each line once, for one row. [grid-release]
void assign_aggregate(std::vector<Shape>& shapes, const ReleaseTerms& terms) {
  const bool mean = terms.aggregate == Aggregate::mean;
  const std::size_t needed = mean ? 2 : 1;
  const bool fits = shapes.size() == needed && std::all_of(shapes.begin(), shapes.end(), [](const Shape& one) { return one.runs == 1; });
  if (!fits)
    throw DomainError(mean ? "release: a mean needs a plan of two lines, the first for the sum, the second for the count, each run once"
                           : "release: a sum or a count needs a plan of one line that is run once");
  if (terms.rows != needed)
    throw DomainError("release: rows = " + std::to_string(terms.rows) + " is not allowed; " +
                      (mean ? "a mean has 2" : "a sum or a count has 1"));
  if (terms.columns != 1) throw UnsupportedError("release: sums, counts and means are of single values");
  for (std::size_t i = 0; i < needed; ++i) {
    shapes[i].first_row = i;
    shapes[i].rows = 1;
    shapes[i].quantity = terms.aggregate == Aggregate::count || i == 1 ? Quantity::count : Quantity::sum;
  }
}

/// A plan of one run is run for every row. A longer plan allows as many rows as it has runs, and is charged in full. [grid-release]
void assign_rows(std::vector<Shape>& shapes, const ReleaseTerms& terms) {
  std::uint64_t runs = 0;
  for (const Shape& shape : shapes) runs = std::min(runs + shape.runs, most_times);
  const bool every_row = runs == 1;
  if (terms.rows_are == Rows::disjoint && !every_row)
    throw DomainError(
        "release: rows of different people each receive the plan once, so it must be one line that is run once; this plan has " +
        std::to_string(runs) + " runs");
  if (!every_row && terms.rows > runs)
    throw DomainError("release: the plan has " + std::to_string(runs) + " runs, but " + std::to_string(terms.rows) +
                      " rows were given; give at most as many rows, or a plan of one run, which is run for every row");
  std::uint64_t given = 0;
  for (Shape& shape : shapes) {
    shape.first_row = given;
    shape.rows = every_row ? terms.rows : std::min(terms.rows - given, shape.runs);
    if (terms.rows_are == Rows::composed) shape.runs = std::max(shape.runs, shape.rows);
    given += shape.rows;
  }
}

std::vector<Shape> shapes_of(const Plan& plan, const ReleaseTerms& terms) {
  std::vector<Shape> shapes = lines_of(plan, terms);
  if (terms.aggregate == Aggregate::none)
    assign_rows(shapes, terms);
  else
    assign_aggregate(shapes, terms);
  return shapes;
}

Argument make_argument(std::string name, Number value) { return {std::move(name), {std::move(value), 0}}; }
Argument make_argument(std::string name, double value) { return make_argument(std::move(name), exact_number(value)); }
Argument make_argument(std::string name, std::uint64_t value) { return make_argument(std::move(name), static_cast<double>(value)); }

/// The only place that determines the cost of each kind of instruction. Rows are rectified one by one, so `repeat` comes last. Records are
/// sampled one by one, so a group is formed after the sampling; rectification makes an earlier group irrelevant. [grid-release]
Line charged_line(const Shape& shape) {
  Line line{shape.source, {}};
  const bool grouped = shape.group != 1;
  if (shape.rectify && !grouped) line.operators.push_back(*shape.rectify);
  if (shape.sampling) line.operators.push_back(*shape.sampling);
  if (grouped) line.operators.push_back({"group", {make_argument("size", shape.group)}, 0});
  if (shape.rectify && grouped) line.operators.push_back(*shape.rectify);
  if (shape.runs != 1) line.operators.push_back({"repeat", {make_argument("times", shape.runs)}, 0});
  return line;
}

Call charged_sampling(const Sampling& sampling) {
  if (sampling.denominator == 0) return {"sample", {make_argument("size", sampling.size), make_argument("of", sampling.of)}, 0};
  const Number rate = read_number(std::to_string(sampling.numerator) + "/" + std::to_string(sampling.denominator));
  return {"poisson", {make_argument("rate", rate)}, 0};
}

/// The bounds rounded inward to the grid, and Laplace noise of scale range over epsilon, rounded up. [grid-release]
Rectification make_rectification(const Call& operation, int grid_exponent) {
  const Arguments arguments(operation);
  const Interval step = step_of(grid_exponent);
  const double low = std::ceil((arguments.number("low") / step).hi), high = std::floor((arguments.number("high") / step).lo);
  if (!(low < high && low > -0x1p50 && high < 0x1p50))
    throw DomainError("release: rectify: the range from low = " + arguments.written("low").text +
                      " to high = " + arguments.written("high").text + " must be at least a step and below 2^50 steps of the grid");
  const Dyadic scale = Dyadic::at_least((Interval::exactly(high - low) / arguments.positive("epsilon")).hi);
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high), GridNoise(Law::rounded_laplace, scale)};
}

Call charged_rectification(const Rectification& rectification) {
  const auto text = [](double value) { return to_string(numeric::exact_decimal(value)); };
  const auto low = static_cast<double>(rectification.low), high = static_cast<double>(rectification.high);
  const Number epsilon = read_number(text(high - low) + "/" + text(rectification.noise.scale().value()));
  return {"rectify", {make_argument("epsilon", epsilon), make_argument("low", low), make_argument("high", high)}, 0};
}

Instruction make_instruction(const Shape& shape, const ReleaseTerms& terms) {
  Instruction made{shape.quantity, shape.first_row, shape.rows, shape.runs, make_noise(shape.source, terms), {}, {}, shape.group};
  if (shape.sampling) made.sampling = drawn_operator_of(*shape.sampling).sampling(Arguments(*shape.sampling));
  if (shape.rectify) made.rectification = make_rectification(*shape.rectify, made.noise.grid_exponent);
  if (made.quantity != Quantity::values && made.noise.sampler->drawn_law().source.is_category)
    throw UnsupportedError("release: randomised response cannot be added to a sum");
  if (made.quantity == Quantity::count && made.noise.grid_exponent > 0) throw DomainError("release: a count needs a grid of at most 1");
  return made;
}

Line charged_line(const Instruction& made) {
  Shape shape{charged_source(made.noise), {}, {}, made.group, made.runs};
  if (made.sampling) shape.sampling = charged_sampling(*made.sampling);
  if (made.rectification) shape.rectify = charged_rectification(*made.rectification);
  return charged_line(shape);
}

}  // namespace

std::vector<std::string_view> drawn_operators() {
  std::vector<std::string_view> names;
  for (const DrawnOperator& one : drawn_operator_rows) names.push_back(one.name);
  return names;
}

std::vector<Instruction> make_instructions(const Plan& plan, const ReleaseTerms& terms) {
  std::vector<Instruction> instructions;
  for (const Shape& shape : shapes_of(plan, terms)) instructions.push_back(make_instruction(shape, terms));
  return instructions;
}

Plan charged_plan(const std::vector<Instruction>& instructions) {
  Plan plan;
  for (const Instruction& instruction : instructions) plan.lines.push_back(charged_line(instruction));
  return plan;
}

Plan charged_plan(const Plan& plan, const ReleaseTerms& terms) {
  Plan charged;
  for (const Shape& shape : shapes_of(plan, terms)) charged.lines.push_back(charged_line(shape));
  return charged;
}

DrawnMechanism describe(const Instruction& instruction) {
  DrawnMechanism shown = describe(instruction.noise);
  shown.times = instruction.runs;
  if (const auto& rectification = instruction.rectification) {
    const Dyadic scale = Dyadic::at_least(rectification->noise.scale().value());  // in lowest terms
    shown.rectified = {rectification->low, rectification->high, scale.numerator, scale.exponent};
  }
  return shown;
}

}  // namespace tradeoff::detail::noise
