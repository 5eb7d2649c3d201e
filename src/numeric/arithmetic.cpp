// SPDX-License-Identifier: Apache-2.0
#include "numeric/arithmetic.h"

// [outward-rounding]
namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

using numeric::down_by;
using numeric::up_by;

Interval operator/(Interval a, Interval b) {
  using namespace numeric;  // NOLINT: local, for the four quotients
  if (b.lo > 0 || b.hi < 0) {
    if (b.hi < 0) {
      a = -a;
      b = -b;
    }
    return {a.lo >= 0 ? divide_down(a.lo, b.hi) : divide_down(a.lo, b.lo), a.hi >= 0 ? divide_up(a.hi, b.lo) : divide_up(a.hi, b.hi)};
  }
  if (b.lo == 0 && b.hi > 0 && a.lo >= 0) return {divide_down(a.lo, b.hi), infinity};
  return Interval::whole();
}

Interval square(Interval a) {
  const double small = a.lo <= 0 && a.hi >= 0 ? 0 : std::min(std::abs(a.lo), std::abs(a.hi));
  const double large = std::max(std::abs(a.lo), std::abs(a.hi));
  return {std::max(0.0, numeric::multiply_down(small, small)), numeric::multiply_up(large, large)};
}

Interval sqrt(Interval a) {
  // IEEE 754 requires a correctly rounded square root, so one unit is enough, and none if the square of the root is exact.
  const auto residual = [](double root, double x) {
    if (x == 0 || root == infinity) return 0.0;
    if (x < 0x1p-900) return std::numeric_limits<double>::quiet_NaN();  // unknown: the residual could underflow
    return std::fma(root, root, -x);
  };
  const double low = std::sqrt(std::max(a.lo, 0.0));
  const double high = std::sqrt(std::max(a.hi, 0.0));
  return {residual(low, std::max(a.lo, 0.0)) <= 0 ? low : numeric::next_down(low),
          residual(high, std::max(a.hi, 0.0)) >= 0 ? high : numeric::next_up(high)};
}

Interval exp(Interval a) {
  const auto below = [](double x) { return x == 0 ? 1.0 : std::max(0.0, down_by(std::exp(x), numeric::libm_ulps::exp)); };
  const auto above = [](double x) { return x == 0 ? 1.0 : x == -infinity ? 0.0 : up_by(std::exp(x), numeric::libm_ulps::exp); };
  const double low = a.lo > 709.7 && a.lo < infinity ? std::min(below(a.lo), std::numeric_limits<double>::max()) : below(a.lo);
  return {low, above(a.hi)};
}

Interval expm1(Interval a) {
  const auto below = [](double x) { return x == 0 ? 0.0 : std::max(-1.0, down_by(std::expm1(x), numeric::libm_ulps::expm1)); };
  const auto above = [](double x) { return x == 0 ? 0.0 : x == -infinity ? -1.0 : up_by(std::expm1(x), numeric::libm_ulps::expm1); };
  const double low = a.lo > 709.7 && a.lo < infinity ? std::min(below(a.lo), std::numeric_limits<double>::max()) : below(a.lo);
  return {low, above(a.hi)};
}

Interval log(Interval a) {
  const auto below = [](double x) { return x <= 0 ? -infinity : x == 1 ? 0.0 : down_by(std::log(x), numeric::libm_ulps::log); };
  const auto above = [](double x) { return x <= 0 ? -infinity : x == 1 ? 0.0 : up_by(std::log(x), numeric::libm_ulps::log); };
  return {below(a.lo), above(a.hi)};
}

Interval log1p(Interval a) {
  const auto below = [](double x) { return x <= -1 ? -infinity : x == 0 ? 0.0 : down_by(std::log1p(x), numeric::libm_ulps::log1p); };
  const auto above = [](double x) { return x <= -1 ? -infinity : x == 0 ? 0.0 : up_by(std::log1p(x), numeric::libm_ulps::log1p); };
  return {below(a.lo), above(a.hi)};
}

Interval tanh(Interval a) {
  const auto below = [](double x) { return x == 0 ? 0.0 : std::max(-1.0, down_by(std::tanh(x), numeric::libm_ulps::tanh)); };
  const auto above = [](double x) { return x == 0 ? 0.0 : std::min(1.0, up_by(std::tanh(x), numeric::libm_ulps::tanh)); };
  return {below(a.lo), above(a.hi)};
}

Interval log1mexp(Interval a) {
  // Decreasing in a. Near 0 the difference 1 - exp(a) is computed by expm1; far from 0 log1p keeps the small term.
  const auto at = [](double x) {
    const Interval point = Interval::exactly(std::min(x, 0.0));
    return x > -0.6931471805599453 ? log(-expm1(point)) : log1p(-exp(point));
  };
  return {at(a.hi).lo, std::min(0.0, at(a.lo).hi)};
}

Interval log_add_exp(Interval a, Interval b) {
  const auto at = [](double x, double y) {
    const double larger = std::max(x, y);
    const double smaller = std::min(x, y);
    if (smaller == -infinity || larger == infinity) return Interval::exactly(larger);
    return larger + log1p(exp(Interval::exactly(smaller) - larger));
  };
  return {at(a.lo, b.lo).lo, at(a.hi, b.hi).hi};
}

Interval power(Interval a, std::uint64_t exponent) {
  Interval result = Interval::exactly(1);
  for (Interval base = a; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * base;
    if (exponent > 1) base = square(base);
  }
  return result;
}

}  // namespace tradeoff
