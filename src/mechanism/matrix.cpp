// SPDX-License-Identifier: Apache-2.0
#include "mechanism/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "loss/forwarding_loss.h"
#include "mechanism/gaussian.h"
#include "mechanism/matrix_sensitivity.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "numeric/conversions.h"
#include "numeric/rational.h"
#include "plan/arguments.h"
#include "plan/number.h"
#include "plan/table_file.h"
#include "tradeoff/error.h"

namespace tradeoff::detail {
namespace {

constexpr std::uint64_t most_toeplitz_steps = 10'000'000;  // one coefficient each is kept

/// [matrix-mechanism] A Gaussian loss that remembers the matrix behind it.
class MatrixLoss final : public ForwardingLoss {
 public:
  MatrixLoss(LossPointer gaussian, std::shared_ptr<const MatrixNoise> noise) : gaussian_(std::move(gaussian)), noise_(std::move(noise)) {}

  [[nodiscard]] Capabilities capabilities(Direction direction) const override {
    Capabilities all = ForwardingLoss::capabilities(direction);
    all.matrix = noise_.get();
    return all;
  }

 protected:
  [[nodiscard]] const Loss& base() const override { return *gaussian_; }

 private:
  LossPointer gaussian_;
  std::shared_ptr<const MatrixNoise> noise_;
};

/// A matrix as the plan describes it: its sensitivity and the norms of its columns, for contributions of norm 1.
struct DescribedMatrix {
  std::uint64_t steps = 0;
  MatrixSensitivity sensitivity;
  std::optional<std::uint64_t> bandwidth;
  std::function<std::vector<Interval>()> norms;
};

Participation participation_of(const Arguments& arguments, std::uint64_t steps) {
  Participation allowed{
      .steps = steps, .most = arguments.whole("participations"), .separation = arguments.whole("separation"), .every = false};
  allowed.every = arguments.has("pattern") && arguments.choice("pattern") == "every";
  return allowed;
}

std::vector<Interval> values_of_numbers(const std::vector<Number>& numbers) {
  std::vector<Interval> values;
  for (const Number& number : numbers) {
    if (!std::isfinite(number.value.lo) || !std::isfinite(number.value.hi)) throw DomainError("matrix: " + number.text + " is too large");
    values.push_back(number.value);
  }
  return values;
}

/// Whether a_0 >= a_1 >= ... >= 0 for the exact numbers.
bool falls_to_zero(const std::vector<Number>& numbers) {
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i)
    if (!surely_at_most(numbers[i + 1], numbers[i])) return false;
  return numbers.back().value.lo >= 0;
}

DescribedMatrix toeplitz_matrix(std::vector<Interval> coefficients, bool falling, const Participation& allowed) {
  const auto c = std::make_shared<const std::vector<Interval>>(std::move(coefficients));
  std::uint64_t width = std::min<std::uint64_t>(c->size(), allowed.steps);
  while (width > 1 && (*c)[width - 1] == Interval::exactly(0)) --width;
  const std::size_t steps = numeric::to_size(allowed.steps);
  return {allowed.steps, toeplitz_sensitivity(*c, falling, allowed), width, [c, steps] { return toeplitz_norms(*c, steps); }};
}

std::uint64_t toeplitz_steps(const Arguments& arguments) {
  const std::uint64_t steps = arguments.whole("steps");
  if (steps > most_toeplitz_steps)
    throw TooLargeError("matrix: steps = " + std::to_string(steps) + " is too large; at most " + std::to_string(most_toeplitz_steps) +
                        " is supported");
  return steps;
}

// [matrix-sensitivity] c_0 = 1 and c_j = sum a_i l_i^(j-1) fall to 0 if a_i >= 0, 0 <= l_i <= 1 and sum a_i <= 1.
DescribedMatrix buffered_matrix(const Arguments& arguments) {
  if (!arguments.has("scales") || !arguments.has("decays"))
    throw DomainError("matrix: kind = blt needs scales and decays: c_0 = 1 and c_j = sum of scale * decay^(j-1)");
  const std::vector<Number> scales = arguments.numbers("scales"), decays = arguments.numbers("decays");
  if (scales.empty() || scales.size() != decays.size())
    throw DomainError("matrix: scales and decays must have the same length, at least 1; they have " + std::to_string(scales.size()) +
                      " and " + std::to_string(decays.size()));
  const Number one = tradeoff::read_number("1");
  bool falling = true;
  std::optional<numeric::Rational> sum = numeric::Rational{};
  for (std::size_t i = 0; i < scales.size(); ++i) {
    falling = falling && scales[i].value.lo >= 0 && decays[i].value.lo >= 0 && surely_at_most(decays[i], one);
    sum = numeric::sum(sum, exact_rational(scales[i]));
  }
  falling = falling && sum && numeric::compare(*sum, {1, 1}) != std::strong_ordering::greater;
  const std::uint64_t steps = toeplitz_steps(arguments);
  return toeplitz_matrix(buffered_coefficients(values_of_numbers(scales), values_of_numbers(decays), numeric::to_size(steps)), falling,
                         participation_of(arguments, steps));
}

DescribedMatrix matrix_of_kind(const Arguments& arguments) {
  const std::string_view kind = arguments.choice("kind");
  if (kind == "blt") return buffered_matrix(arguments);
  if (kind == "tree") {
    const std::uint64_t leaves = arguments.whole("steps");
    if (!std::has_single_bit(leaves))
      arguments.refuse("steps", std::to_string(leaves),
                       "a power of two for kind = tree; the next one, " + std::to_string(std::bit_ceil(leaves)) + ", gives an upper bound");
    return {leaves, tree_sensitivity(participation_of(arguments, leaves)), std::nullopt, nullptr};
  }
  const std::uint64_t steps = toeplitz_steps(arguments);
  const std::size_t count = numeric::to_size(steps);
  std::vector<Interval> c = kind == "prefix" ? std::vector<Interval>(count, Interval::exactly(1)) : square_root_coefficients(count);
  return toeplitz_matrix(std::move(c), true, participation_of(arguments, steps));
}

/// The number of rows of a lower triangle with this many entries.
std::size_t rows_of_triangle(const Arguments& arguments, std::size_t entries) {
  auto rows = static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(entries)));
  while (rows * (rows + 1) / 2 < entries) ++rows;
  if (entries == 0 || rows * (rows + 1) / 2 != entries)
    arguments.refuse("lower", std::to_string(entries) + " numbers", "1 + 2 + ... + n numbers, the rows of a lower triangular matrix");
  return rows;
}

DescribedMatrix written_matrix(const Arguments& arguments) {
  const std::vector<Number> numbers = arguments.has("file") ? read_lower_triangle(arguments.word("file")) : arguments.numbers("lower");
  const std::size_t rows = rows_of_triangle(arguments, numbers.size());
  if (arguments.has("steps") && arguments.whole("steps") != rows)
    arguments.refuse("steps", std::to_string(arguments.whole("steps")), "the number of rows of the matrix, " + std::to_string(rows));
  const auto matrix = std::make_shared<const LowerTriangle>(values_of_numbers(numbers), rows);
  return {rows, triangle_sensitivity(*matrix, participation_of(arguments, rows)), matrix->bandwidth(),
          [matrix] { return triangle_norms(*matrix); }};
}

DescribedMatrix described_matrix(const Arguments& arguments) {
  std::string given;
  for (const char* name : {"coefficients", "file", "lower", "kind"})
    if (arguments.has(name)) given.append(given.empty() ? "" : " and ").append(name);
  if (given.empty() || given.find(' ') != std::string::npos)
    throw DomainError("matrix: give exactly one of coefficients, file, lower and kind" + (given.empty() ? "" : ", not " + given));
  if (!arguments.has("kind") || arguments.choice("kind") != "blt")
    for (const char* name : {"scales", "decays"})
      if (arguments.has(name)) throw DomainError("matrix: " + std::string(name) + " belongs to kind = blt");
  if (arguments.has("kind")) return matrix_of_kind(arguments);
  if (!arguments.has("coefficients")) return written_matrix(arguments);
  const std::vector<Number> coefficients = arguments.numbers("coefficients");
  if (coefficients.empty()) arguments.refuse("coefficients", "[]", "a list [c_0, c_1, ...] of at least one number");
  const std::uint64_t steps = toeplitz_steps(arguments);
  if (coefficients.size() > steps)
    arguments.refuse("coefficients", std::to_string(coefficients.size()) + " numbers", "at most one for each of the steps");
  return toeplitz_matrix(values_of_numbers(coefficients), falls_to_zero(coefficients), participation_of(arguments, steps));
}

/// How far one record moves what it contributes to one step. [clip-norm]
Interval distance_of(const Arguments& arguments, Neighbours neighbours) {
  if (arguments.has("clip") && arguments.has("sensitivity")) throw DomainError("matrix: give clip or sensitivity, not both");
  if (arguments.has("sensitivity")) return arguments.number("sensitivity");
  const bool replaced = neighbours == Neighbours::replace_one;
  if (!arguments.has("clip") && replaced)
    throw DomainError(
        "matrix: give clip, the largest norm of a contribution (a replaced record moves it twice as far), or sensitivity, the distance "
        "itself");
  const Interval clip = arguments.has("clip") ? arguments.number("clip") : Interval::exactly(1);
  return replaced ? 2.0 * clip : clip;
}

/// "at most 3 steps, any two of them at least 30 apart".
std::string promised_steps(const Arguments& arguments) {
  const bool every = arguments.has("pattern") && arguments.choice("pattern") == "every";
  const std::uint64_t separation = arguments.whole("separation"), most = arguments.whole("participations");
  if (most == 1) return "at most 1 step";
  return "at most " + std::to_string(most) + " steps, " +
         (every ? "each " + std::to_string(separation) + " steps after the one before"
                : "any two of them at least " + std::to_string(separation) + " apart");
}

/// [matrix-mechanism] The steps in which a record takes part are promised by the user.
Citation citation_of(const Arguments& arguments) {
  return {"matrix-mechanism",
          "exactly Gaussian, also if steps depend on earlier ones; you promise that a record takes part in " + promised_steps(arguments)};
}

std::string promise_of_matrix(const Arguments& arguments) {
  return "In `matrix`, a record takes part in " + promised_steps(arguments) + "; which steps these are does not depend on the data.";
}

LossPointer make_matrix(const Arguments& arguments, const WordContext& context) {
  const Interval unit = distance_of(arguments, context.neighbours()) / arguments.number("sigma");
  const DescribedMatrix matrix = described_matrix(arguments);
  const Citations origin{citation_of(arguments), Citation(matrix.bandwidth ? "matrix-sensitivity" : "tree-sensitivity",
                                                          "the sensitivity of the matrix, " + matrix.sensitivity.how)};
  const bool clipped = !arguments.has("sensitivity");
  const auto noise = std::make_shared<const MatrixNoise>(MatrixNoise{matrix.steps, matrix.bandwidth, [norms = matrix.norms, unit] {
                                                                       std::vector<Interval> mus;
                                                                       for (const Interval& norm : norms()) mus.push_back(norm * unit);
                                                                       return mus;
                                                                     }});
  const auto with_mu = [&](Interval mu) -> LossPointer {
    return std::make_shared<MatrixLoss>(gaussian_loss(mu, origin, clipped ? GaussianOf::clipped_sums : GaussianOf::curve), noise);
  };
  const Interval mu = matrix.sensitivity.value * unit;
  constexpr double rounding = 1e-9;  // a wider enclosure is more than rounding: its ends are composed apart
  if (mu.width() <= rounding * mu.hi) return with_mu(mu);
  return context.bracket([&] { return with_mu(Interval::exactly(mu.hi)); }, {[&] { return with_mu(Interval::exactly(mu.lo)); }});
}

}  // namespace

Word matrix_word() {
  constexpr auto chosen = [](std::string_view name, Kind kind, std::string_view meaning) {
    return Parameter{.name = name, .kind = kind, .meaning = meaning, .optional = true};
  };
  return {.role = Role::source,
          .name = "matrix",
          .meaning = "Gaussian noise correlated over steps by a matrix",
          .parameters = {{"sigma", Kind::number, "standard deviation of the noise", range::positive, effect::safer},
                         chosen("coefficients", Kind::numbers, "c_0, c_1, ... of a Toeplitz matrix; the others are 0"),
                         chosen("file", Kind::text, "table of a lower triangular matrix"),
                         chosen("lower", Kind::numbers, "rows of a lower triangular matrix, one after the other"),
                         {.name = "kind",
                          .kind = Kind::choice,
                          .meaning = "tree, square_root, prefix or blt",
                          .optional = true,
                          .choices = "tree|square_root|prefix|blt"},
                         chosen("scales", Kind::numbers, "of kind = blt: c_j = sum of scale * decay^(j-1)"),
                         chosen("decays", Kind::numbers, "of kind = blt, one for each scale"),
                         {.name = "steps",
                          .kind = Kind::integer,
                          .meaning = "steps of the run; a file has as many rows",
                          .range = range::whole(1, range::most_steps),
                          .optional = true},
                         {.name = "participations",
                          .kind = Kind::integer,
                          .meaning = "steps in which one record takes part at most",
                          .range = range::whole(1, range::most_steps),
                          .fallback = "1"},
                         {.name = "separation",
                          .kind = Kind::integer,
                          .meaning = "two steps of one record are at least so far apart",
                          .range = range::whole(1, range::most_steps),
                          .fallback = "1"},
                         {.name = "pattern",
                          .kind = Kind::choice,
                          .meaning = "min_sep (the default) or every: exactly `separation` apart",
                          .optional = true,
                          .choices = "min_sep|every"},
                         {.name = "sensitivity",
                          .kind = Kind::number,
                          .meaning = "how far one record can move one contribution",
                          .range = range::non_negative,
                          .effect = effect::riskier,
                          .optional = true},
                         {.name = "clip",
                          .kind = Kind::number,
                          .meaning = "largest norm of one contribution",
                          .range = range::non_negative,
                          .effect = effect::riskier,
                          .optional = true}},
          .synonyms = {{"tree_aggregation", "write matrix(sigma, kind=tree, steps)"},
                       {"blt", "write matrix(sigma, kind=blt, scales, decays, steps)"},
                       {"dp_ftrl", "write matrix(sigma, kind=tree, steps), or matrix with the coefficients of your noise"}},
          .neighbours = {Neighbours::zero_out, Neighbours::replace_one, Neighbours::add_remove},  // the last only before cyclic
          .norm = "l2",
          .promise = promise_of_matrix,
          .make = make_matrix};
}

}  // namespace tradeoff::detail
