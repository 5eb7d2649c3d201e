// SPDX-License-Identifier: Apache-2.0
#include "noise/drawn_line.h"

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "mechanism/arguments.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "tradeoff/error.h"

namespace tradeoff::noise {
namespace {

constexpr int default_fineness = 20;  // a step of 2^-20 of the noise: far below what anyone reads, far above what needs more than one word
constexpr std::uint64_t most_times = 1'000'000'000'000;

Argument argument(std::string name, double value) { return {std::move(name), {exact_number(value), 0}}; }

Interval step_of(int grid_exponent) { return Interval::exactly(std::ldexp(1.0, grid_exponent)); }

int checked_grid(int exponent) {
  if (exponent < -200 || exponent > 200)
    throw DomainError("release: grid = 2^" + std::to_string(exponent) + " is not allowed; it must be between 2^-200 and 2^200");
  return exponent;
}

/// How far rounding can move the difference of two rows, per coordinate: half a step each, and an eighth each for reading a decimal as a
/// double, which is what 2^-53 of at most 2^50 steps comes to. [grid-release]
constexpr double rounding_per_value = 1.25;

/// Turns the call of a source into what is drawn. Real noise: scale and sensitivity are in the units of the data. [grid-release]
class Drawer {
 public:
  Drawer(const Call& call, const ReleaseTerms& terms) : call_(call), arguments_(call), terms_(terms) {}

  [[nodiscard]] DrawnLine gaussian() const {
    const Dyadic scale = real_scale("sigma");
    const Interval width = sqrt(Interval::exactly(static_cast<double>(terms_.columns)));
    return real("rounded gaussian", "sigma", scale, real_sensitivity(width), GridNoise(Law::rounded_gaussian, scale));
  }
  [[nodiscard]] DrawnLine laplace() const {
    const Dyadic scale = real_scale("scale");
    const Interval width = Interval::exactly(static_cast<double>(terms_.columns));
    return real("rounded laplace", "scale", scale, real_sensitivity(width), GridNoise(Law::rounded_laplace, scale));
  }
  [[nodiscard]] DrawnLine truncated_laplace() const {
    one_column();
    const Dyadic scale = real_scale("scale");
    const double steps = std::ceil((arguments_.positive("bound") / step_of(grid("scale"))).hi);
    if (!(steps < 0x1p50)) arguments_.refuse("bound", arguments_.written("bound").text, "below 2^50 steps of the grid");
    DrawnLine line = real("rounded truncated laplace", "scale", scale, real_sensitivity(Interval::exactly(1)),
                          Truncated(GridNoise(Law::rounded_laplace, scale), static_cast<std::uint64_t>(steps)));
    line.terms.bound = static_cast<std::uint64_t>(steps);
    std::get<Call>(line.accounted.source)
        .arguments.insert(std::get<Call>(line.accounted.source).arguments.begin() + 1, argument("bound", steps + 0.5));
    return line;
  }
  [[nodiscard]] DrawnLine discrete_laplace() const {
    const Dyadic scale = Dyadic::at_least(arguments_.positive("scale").hi);
    return integer("discrete laplace", "scale", scale, GridNoise(Law::discrete_laplace, scale));
  }
  [[nodiscard]] DrawnLine truncated_discrete_laplace() const {
    one_column();
    const Dyadic scale = Dyadic::at_least(arguments_.positive("scale").hi);
    const std::uint64_t bound = arguments_.count("bound", 1, most_times);
    DrawnLine line = integer("truncated discrete laplace", "scale", scale, Truncated(GridNoise(Law::discrete_laplace, scale), bound));
    line.terms.bound = bound;
    std::get<Call>(line.accounted.source)
        .arguments.insert(std::get<Call>(line.accounted.source).arguments.begin() + 1, argument("bound", static_cast<double>(bound)));
    return line;
  }
  [[nodiscard]] DrawnLine discrete_gaussian() const {
    const Dyadic sigma = Dyadic::at_least(arguments_.positive("sigma").hi);
    return integer("discrete gaussian", "sigma", sigma, DiscreteGaussian(sigma));
  }
  [[nodiscard]] DrawnLine randomized_response() const {
    one_column();
    const Interval epsilon = arguments_.non_negative("epsilon");
    if (!(epsilon.hi <= Coin::largest_epsilon)) arguments_.refuse("epsilon", arguments_.written("epsilon").text, "at most 512");
    const std::uint64_t choices = arguments_.count("choices", 2, most_times);
    const Dyadic exact = epsilon.lo > 0 ? Dyadic::at_most(epsilon.lo) : Dyadic{};
    DrawnLine line{{Call{call_.name, {argument("epsilon", exact.value()), argument("choices", static_cast<double>(choices))}, 0}, {}},
                   {"randomised response", 0, exact.numerator, exact.exponent, 1, 0, choices, 1, {}},
                   Response(exact, choices),
                   true,
                   {},
                   {}};
    if (terms_.grid_exponent.value_or(0) != 0) throw DomainError("release: randomised response has no grid; its answers are 0, 1, 2, ...");
    return line;
  }

 private:
  [[nodiscard]] int grid(std::string_view name) const {
    if (terms_.grid_exponent) return checked_grid(*terms_.grid_exponent);
    return checked_grid(std::ilogb(arguments_.positive(name).hi) - default_fineness);
  }
  [[nodiscard]] Dyadic real_scale(std::string_view name) const {
    return Dyadic::at_least((arguments_.positive(name) / step_of(grid(name))).hi);
  }
  /// In steps, with what rounding adds to a row of the given norm of (1, ..., 1).
  [[nodiscard]] double real_sensitivity(Interval width) const {
    const Interval plain = arguments_.non_negative("sensitivity") / step_of(grid(call_.name == "gaussian" ? "sigma" : "scale"));
    const bool exact = terms_.inputs == Inputs::on_grid || terms_.aggregate != Aggregate::none;
    return exact ? plain.hi : (plain + rounding_per_value * width).hi;
  }
  void one_column() const {
    if (terms_.columns != 1) throw UnsupportedError("release: " + call_.name + " is accounted for single values, not for rows of several");
  }
  [[nodiscard]] DrawnLine real(const char* law, const char* scale_name, Dyadic scale, double sensitivity, const Sampler& sampler) const {
    return {{Call{call_.name, {argument(scale_name, scale.value()), argument("sensitivity", sensitivity)}, 0}, {}},
            {law, grid(scale_name), scale.numerator, scale.exponent, sensitivity, 0, 0, 1, {}},
            sampler,
            false,
            {},
            {}};
  }
  /// Scale and sensitivity are in steps already.
  [[nodiscard]] DrawnLine integer(const char* law, const char* scale_name, Dyadic scale, const Sampler& sampler) const {
    const auto sensitivity = static_cast<double>(arguments_.count("sensitivity", 0, most_times));
    return {{Call{call_.name, {argument(scale_name, scale.value()), argument("sensitivity", sensitivity)}, 0}, {}},
            {law, checked_grid(terms_.grid_exponent.value_or(0)), scale.numerator, scale.exponent, sensitivity, 0, 0, 1, {}},
            sampler,
            true,
            {},
            {}};
  }

  const Call& call_;
  Arguments arguments_;
  const ReleaseTerms& terms_;
};

DrawnLine draw_source(const Call& call, const ReleaseTerms& terms) {
  using Make = DrawnLine (Drawer::*)() const;
  struct Entry {
    std::string_view name;
    Make make;
  };
  static constexpr std::array entries{
      Entry{"gaussian", &Drawer::gaussian},
      Entry{"laplace", &Drawer::laplace},
      Entry{"truncated_laplace", &Drawer::truncated_laplace},
      Entry{"discrete_laplace", &Drawer::discrete_laplace},
      Entry{"truncated_discrete_laplace", &Drawer::truncated_discrete_laplace},
      Entry{"discrete_gaussian", &Drawer::discrete_gaussian},
      Entry{"randomized_response", &Drawer::randomized_response},
  };
  const Drawer drawer(call, terms);
  for (const Entry& entry : entries)
    if (entry.name == call.name) return (drawer.*entry.make)();
  throw UnsupportedError("release: " + call.name + " says what is guaranteed, not which noise to add; nothing can be drawn for it");
}

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

void apply_repeat(DrawnLine& line, const Call& operation) {
  const std::uint64_t times = Arguments(operation).count("times", 0, most_times);
  if (times != 0 && line.terms.times > most_times / times) throw TooLargeError("release: too many runs");
  line.terms.times *= times;
}

/// Bounds on the grid, inward, and Laplace noise of the range over epsilon, rounded up. [grid-release]
void apply_rectify(DrawnLine& line, const Call& operation, const ReleaseTerms& terms) {
  const Arguments arguments(operation);
  if (terms.columns != 1 || line.rectification || line.terms.choices != 0)
    throw UnsupportedError("release: rectify serves single numeric values, once");
  const Interval step = step_of(line.terms.grid_exponent);
  const double low = std::ceil((arguments.number("low") / step).hi), high = std::floor((arguments.number("high") / step).lo);
  if (!(low < high && low > -0x1p50 && high < 0x1p50))
    throw DomainError("release: rectify: the range from low to high must be at least a step and below 2^50 steps of the grid");
  const Interval range = Interval::exactly(high - low);
  const Dyadic scale = Dyadic::at_least((range / arguments.positive("epsilon")).hi);
  line.rectification.emplace(
      Rectification{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high), GridNoise(Law::rounded_laplace, scale)});
  line.terms.rectified = {line.rectification->low, line.rectification->high, scale.numerator, scale.exponent};
}

void apply_sampling(DrawnLine& line, const Call& operation, const ReleaseTerms& terms) {
  if (terms.aggregate == Aggregate::none)
    throw UnsupportedError("release: " + operation.name + " chooses records, so records must be given: release their sum, count or mean");
  if (line.terms.times != 1 || line.participation) throw UnsupportedError("release: records are sampled once, before anything is repeated");
  const Arguments arguments(operation);
  Participation participation;
  if (operation.name == "poisson") {
    const auto rate = rational(arguments.written("rate"));
    if (!rate)
      arguments.refuse("rate", arguments.written("rate").text, "a quotient of whole numbers below 2^53, or a decimal of few digits");
    participation.coin = Coin::rational(rate->first, rate->second);
  } else if (arguments.has("rate")) {
    throw UnsupportedError("release: sample needs its size and the number of records; a rate alone does not say how many are drawn");
  } else {
    participation.size = arguments.count("size", 1, most_times);
    participation.of = arguments.count("of", participation.size, most_times);
  }
  line.participation = participation;
}

void apply(DrawnLine& line, const Call& operation, const ReleaseTerms& terms) {
  if (operation.name == "repeat") {
    apply_repeat(line, operation);
  } else if (operation.name == "rectify") {
    apply_rectify(line, operation, terms);
  } else if (operation.name == "poisson" || operation.name == "sample") {
    apply_sampling(line, operation, terms);
  } else if (operation.name != "group" && operation.name != "refine") {
    throw UnsupportedError("release: " + operation.name + " cannot be drawn");
  }
  line.accounted.operators.push_back(operation);
}

}  // namespace

std::vector<DrawnLine> draw_lines(const Plan& plan, const ReleaseTerms& terms) {
  std::vector<DrawnLine> lines;
  for (const Line& written : plan.lines) {
    std::vector<DrawnLine> found;
    if (const auto* inner = std::get_if<Plan>(&written.source)) {
      found = draw_lines(*inner, terms);
      if (found.size() > 1 && !written.operators.empty())
        throw UnsupportedError("release: an operator on several lines at once cannot be drawn; write it on each of them");
    } else {
      found.push_back(draw_source(std::get<Call>(written.source), terms));
    }
    for (DrawnLine& line : found) {
      for (const Call& operation : written.operators) apply(line, operation, terms);
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace tradeoff::noise
