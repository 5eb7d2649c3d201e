// SPDX-License-Identifier: Apache-2.0
// Prints the functions of the C library at many arguments, bit by bit:  name x [y] value. page/judge_libm.cpp compares them with MPFR.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <random>

#include "engine/exact/wide_math.h"
#include "numeric/conversions.h"

namespace {

using tradeoff::detail::numeric::bit_cast;

class Arguments {
 public:
  /// Of every magnitude and both signs: random bits.
  double any() {
    for (;;) {
      const auto x = bit_cast<double>(std::uint64_t{random_()});
      if (std::isfinite(x)) return x;
    }
  }
  double uniform(double low, double high) { return low + (high - low) * (static_cast<double>(random_() >> 11) * 0x1p-53); }
  double scale(double low, double high) { return std::ldexp(uniform(1, 2), static_cast<int>(std::floor(uniform(low, high)))); }

 private:
  std::mt19937_64 random_{7};
};

void print(const char* name, std::initializer_list<double> numbers) {
  std::fputs(name, stdout);
  for (const double number : numbers) std::printf(" %016llx", static_cast<unsigned long long>(bit_cast<std::uint64_t>(number)));
  std::putchar('\n');
}

/// The value of a long double function as the sum of two doubles.
void print_wide(const char* name, double x, long double value) {
  const auto high = static_cast<double>(value);
  print(name, {x, high, static_cast<double>(value - static_cast<long double>(high))});
}

void print_functions(Arguments& arguments) {
  const double e = arguments.uniform(-745, 709.7), small = arguments.uniform(-0.999, 4) * arguments.scale(-40, 0);
  const double near_1 = 1 + arguments.uniform(-1, 1) * arguments.scale(-52, -2), positive = std::abs(arguments.any());
  print("exp", {e, std::exp(e)});
  print("exp", {small, std::exp(small)});
  print("log", {positive, std::log(positive)});
  print("log", {near_1, std::log(near_1)});
  print("expm1", {small, std::expm1(small)});
  print("expm1", {e, std::expm1(e)});
  print("log1p", {small, std::log1p(small)});
  print("log1p", {positive, std::log1p(positive)});
  const double x = arguments.uniform(-6, 27);
  print("erf", {x, std::erf(x)});
  print("erfc", {x, std::erfc(x)});
  print("tanh", {small, std::tanh(small)});
  print("tanh", {x, std::tanh(x)});
  const double angle = arguments.uniform(-1, 1) * arguments.scale(-30, 20);
  print("sin", {angle, std::sin(angle)});
  print("cos", {angle, std::cos(angle)});
  const double any = arguments.any();
  print("sin", {any, std::sin(any)});
  print("cos", {any, std::cos(any)});
  const double a = arguments.uniform(-1, 1) * arguments.scale(-30, 30), b = arguments.uniform(-1, 1) * arguments.scale(-30, 30);
  print("atan2", {a, 1, std::atan2(a, 1)});
  print("atan2", {a, b, std::atan2(a, b)});
  print("hypot", {a, b, std::hypot(a, b)});
  const double gamma = arguments.uniform(0.001, 4), large = arguments.scale(0, 60);
  print("lgamma", {gamma, std::lgamma(gamma)});
  print("lgamma", {large, std::lgamma(large)});
  print("fma", {a, b, small, std::fma(a, b, small)});
  print("fma", {a, b, -(a * b), std::fma(a, b, -(a * b))});
  print("sqrt", {positive, std::sqrt(positive)});
}

void print_wide_functions(Arguments& arguments) {
  namespace exact = tradeoff::detail::exact;
  const double e = arguments.uniform(-700, 700), small = arguments.uniform(-0.999, 4) * arguments.scale(-40, 0);
  const double near_1 = 1 + arguments.uniform(-1, 1) * arguments.scale(-52, -2), positive = arguments.scale(-1000, 1000);
  print_wide("wide_exp", e, exact::wide_exp(e));
  print_wide("wide_exp", small, exact::wide_exp(small));
  print_wide("wide_expm1", small, exact::wide_expm1(small));
  print_wide("wide_log", positive, exact::wide_log(positive));
  print_wide("wide_log", near_1, exact::wide_log(near_1));
  print_wide("wide_log1p", small, exact::wide_log1p(small));
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count > 1 ? std::atoi(words[1]) : 20000;
  Arguments arguments;
  for (int i = 0; i < rounds; ++i) {
    print_functions(arguments);
    if (i % 4 == 0 && LDBL_MANT_DIG > DBL_MANT_DIG) print_wide_functions(arguments);  // otherwise they are the functions above
  }
  return 0;
}
