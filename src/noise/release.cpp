// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "noise/certificate.h"
#include "noise/release_step.h"
#include "noise/secret.h"
#include "noise/secure_stream.h"
#include "numeric/usual_arithmetic.h"
#include "tradeoff/error.h"

// [grid-release] All noise is drawn before the first value is looked at.
namespace tradeoff {
namespace {

using noise::DrawnLine;
using noise::SecretVector;
using noise::SecureStream;

constexpr double largest_value = 0x1p50;  // in steps: decimals are then read to an eighth of a step

/// The noise of one line: for all its values, and a second helping for rectification.
struct Pool {
  SecretVector<std::int64_t> noise;
  SecretVector<std::int64_t> rectifying;
};

Pool draw_pool(const DrawnLine& line, std::size_t count, SecureStream& words) {
  Pool pool{SecretVector<std::int64_t>(count), {}};
  std::visit([&](const auto& sampler) { sampler.draw(words, pool.noise); }, line.sampler);
  if (line.rectification) {
    pool.rectifying.resize(count);
    line.rectification->noise.draw(words, pool.rectifying);
  }
  return pool;
}

[[noreturn]] void refuse(std::size_t index, const std::string& why) {
  throw DomainError("release: value " + std::to_string(index + 1) + " is " + why + "; nothing was released");
}

std::int64_t to_steps(double value, std::size_t index, const DrawnLine& line, const ReleaseTerms& terms) {
  if (!std::isfinite(value)) refuse(index, "not a finite number");
  if (terms.bounds && !(value >= terms.bounds->low && value <= terms.bounds->high)) {
    if (!terms.clip) refuse(index, "out of the declared bounds");
    value = value < terms.bounds->low ? terms.bounds->low : terms.bounds->high;
  }
  const double scaled = std::ldexp(value, -line.terms.grid_exponent);
  if (!(std::abs(scaled) <= largest_value)) refuse(index, "too large for the grid (2^50 steps)");
  const double nearest = std::round(scaled);
  if ((line.integers || terms.inputs == Inputs::on_grid) && nearest != scaled) refuse(index, "not on the grid");
  if (line.terms.choices != 0 && !(nearest >= 0 && nearest < static_cast<double>(line.terms.choices)))
    refuse(index, "not one of the choices 0.." + std::to_string(line.terms.choices - 1));
  return static_cast<std::int64_t>(nearest);
}

/// Adds the pool's noise to values in steps. [grid-release]
std::vector<double> finish(const DrawnLine& line, const Pool& pool, SecretVector<std::int64_t> steps) {
  bool fits = noise::add_noise(steps, pool.noise, steps);
  if (line.terms.choices != 0)
    for (std::int64_t& step : steps)  // modulo the number of choices, without a division whose time depends on the answer
      step -=
          static_cast<std::int64_t>(line.terms.choices) & -static_cast<std::int64_t>(step >= static_cast<std::int64_t>(line.terms.choices));
  if (line.rectification) {
    for (std::int64_t& step : steps) step = std::min(std::max(step, line.rectification->low), line.rectification->high);
    fits = noise::add_noise(steps, pool.rectifying, steps) && fits;
  }
  if (!fits) throw DomainError("release: a noisy value is too large for the grid; nothing was released");
  std::vector<double> values;
  values.reserve(steps.size());
  for (const std::int64_t step : steps) values.push_back(std::ldexp(static_cast<double>(step), line.terms.grid_exponent));
  return values;
}

/// Bounded records as steps, inside the bounds of the grid, added with overflow as an error. [grid-release]
std::int64_t checked_sum(std::span<const double> records, const std::vector<std::uint64_t>& chosen, const DrawnLine& line,
                         const ReleaseTerms& terms) {
  const double step = std::ldexp(1.0, line.terms.grid_exponent);
  const auto low = static_cast<std::int64_t>(std::ceil(terms.bounds->low / step));
  const auto high = static_cast<std::int64_t>(std::floor(terms.bounds->high / step));
  std::int64_t sum = 0;
  for (const std::uint64_t i : chosen) {
    const std::int64_t steps = std::min(std::max(to_steps(records[i], i, line, terms), low), high);
    if (__builtin_add_overflow(sum, steps, &sum)) throw DomainError("release: the sum overflows; nothing was released");
  }
  return sum;
}

std::vector<std::uint64_t> choose_records(const DrawnLine& line, std::size_t count, SecureStream& words) {
  if (line.participation && line.participation->coin) return bernoulli_subset(*line.participation->coin, count, words);
  if (line.participation) {
    if (line.participation->of != count)
      throw DomainError("release: the plan samples from " + std::to_string(line.participation->of) + " records, but " +
                        std::to_string(count) + " were given");
    return fixed_subset(line.participation->size, count, words);
  }
  std::vector<std::uint64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

Release release_aggregate(const Certificate::Content& content, std::span<const double> records, SecureStream& words) {
  std::vector<Pool> pools;
  pools.reserve(content.lines.size());
  for (const DrawnLine& line : content.lines) pools.push_back(draw_pool(line, 1, words));
  Release released{{}, content.digest};
  for (std::size_t i = 0; i < content.lines.size(); ++i) {
    const DrawnLine& line = content.lines[i];
    const bool counts = content.terms.aggregate == Aggregate::count || i == 1;
    const std::vector<std::uint64_t> chosen = choose_records(line, records.size(), words);
    const double exact = counts ? std::ldexp(static_cast<double>(chosen.size()), -line.terms.grid_exponent)
                                : static_cast<double>(checked_sum(records, chosen, line, content.terms));
    if (!(std::abs(exact) <= largest_value)) throw DomainError("release: the exact answer is too large for the grid; nothing was released");
    released.rows.push_back(finish(line, pools[i], {static_cast<std::int64_t>(exact)}));
  }
  return released;
}

Release release_rows(const Certificate::Content& content, std::span<const double> values, SecureStream& words) {
  const std::uint64_t columns = content.terms.columns, rows = content.terms.rows;
  if (values.size() != rows * columns)
    throw DomainError("release: the certificate is for " + std::to_string(rows) + " rows of " + std::to_string(columns) + " values, but " +
                      std::to_string(values.size()) + " values were given");
  struct Portion {
    const DrawnLine* line;
    std::uint64_t rows;
    Pool pool;
  };
  std::vector<Portion> portions;
  std::uint64_t left = rows;
  for (const DrawnLine& line : content.lines) {
    const bool every_row = content.terms.rows_are == Rows::disjoint && content.lines.size() == 1;
    const std::uint64_t taken = every_row ? left : std::min(left, line.terms.times);
    portions.push_back({&line, taken, draw_pool(line, taken * columns, words)});
    left -= taken;
  }
  Release released{{}, content.digest};
  std::size_t at = 0;
  for (const Portion& portion : portions) {
    SecretVector<std::int64_t> steps;
    for (std::uint64_t i = 0; i < portion.rows * columns; ++i, ++at)
      steps.push_back(to_steps(values[at], at, *portion.line, content.terms));
    const std::vector<double> noisy = finish(*portion.line, portion.pool, std::move(steps));
    for (std::uint64_t row = 0; row < portion.rows; ++row)
      released.rows.emplace_back(noisy.begin() + static_cast<std::ptrdiff_t>(row * columns),
                                 noisy.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns));
  }
  return released;
}

}  // namespace

Release release(Certificate&& certificate, std::span<const double> values) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return release(std::move(certificate), values); });

  const Certificate used = std::move(certificate);  // spent, whatever happens below
  if (!used.is_valid()) throw DomainError("release: this certificate has been used");
  const Certificate::Content& content = used.content();
  SecureStream& words = noise::thread_stream();
  return content.terms.aggregate == Aggregate::none ? release_rows(content, values, words) : release_aggregate(content, values, words);
}

}  // namespace tradeoff
