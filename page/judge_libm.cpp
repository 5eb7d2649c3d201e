// SPDX-License-Identifier: Apache-2.0
// Reads what page/libm_values.cpp printed, in WebAssembly or on this machine, and compares every value with MPFR. Each function must be
// twice as accurate as src/numeric/libm_bounds.h assumes, as tests/numeric/arithmetic_test.cpp requires of the C library of this machine.
// [outward-rounding]
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "numeric/libm_bounds.h"

namespace {

namespace ulps = tradeoff::detail::numeric::libm_ulps;

/// What is allowed, in units in the last place of a double; of a wide function, in units of 2^-63, the last place of 64 bits.
const std::map<std::string, double> allowed = {
    {"exp", ulps::exp},
    {"log", ulps::log},
    {"expm1", ulps::expm1},
    {"log1p", ulps::log1p},
    {"erf", ulps::erf},
    {"erfc", ulps::erfc},
    {"tanh", ulps::tanh},
    {"sin", ulps::sin},
    {"cos", ulps::cos},
    {"atan2", ulps::atan2},
    {"lgamma", ulps::lgamma},
    {"hypot", 2},
    {"fma", 1},
    {"sqrt", 1},
    {"wide_exp", 8},
    {"wide_expm1", 8},
    {"wide_log", 8},
    {"wide_log1p", 8},
};

class Judge {
 public:
  Judge() {
    for (mpfr_ptr one : {x_, y_, z_, truth_}) mpfr_init2(one, 300);
  }

  /// The error of one line, in the units of `allowed`.
  double error_of(const std::string& name, const std::vector<double>& numbers) {
    mpfr_set_d(x_, numbers[0], MPFR_RNDN);
    if (numbers.size() > 2) mpfr_set_d(y_, numbers[1], MPFR_RNDN);
    if (name == "fma") mpfr_set_d(z_, numbers[2], MPFR_RNDN);
    find_truth(name);
    const bool wide = name.rfind("wide_", 0) == 0;
    const double size = std::abs(mpfr_get_d(truth_, MPFR_RNDN));
    const double unit = wide ? size * 0x1p-63 : name == "lgamma" ? std::max(1.0, size) * 0x1p-52 : size * 0x1p-52 + 0x1p-1074;
    mpfr_sub_d(truth_, truth_, numbers[numbers.size() - 1], MPFR_RNDN);
    if (wide) mpfr_sub_d(truth_, truth_, numbers[numbers.size() - 2], MPFR_RNDN);
    const double difference = std::abs(mpfr_get_d(truth_, MPFR_RNDA));
    return difference == 0 ? 0 : difference / unit;
  }

 private:
  void find_truth(const std::string& name) {
    const std::string plain = name.rfind("wide_", 0) == 0 ? name.substr(5) : name;
    if (plain == "exp") mpfr_exp(truth_, x_, MPFR_RNDN);
    if (plain == "log") mpfr_log(truth_, x_, MPFR_RNDN);
    if (plain == "expm1") mpfr_expm1(truth_, x_, MPFR_RNDN);
    if (plain == "log1p") mpfr_log1p(truth_, x_, MPFR_RNDN);
    if (plain == "erf") mpfr_erf(truth_, x_, MPFR_RNDN);
    if (plain == "erfc") mpfr_erfc(truth_, x_, MPFR_RNDN);
    if (plain == "tanh") mpfr_tanh(truth_, x_, MPFR_RNDN);
    if (plain == "sin") mpfr_sin(truth_, x_, MPFR_RNDN);
    if (plain == "cos") mpfr_cos(truth_, x_, MPFR_RNDN);
    if (plain == "sqrt") mpfr_sqrt(truth_, x_, MPFR_RNDN);
    if (plain == "lgamma") mpfr_lngamma(truth_, x_, MPFR_RNDN);
    if (plain == "atan2") mpfr_atan2(truth_, x_, y_, MPFR_RNDN);
    if (plain == "hypot") mpfr_hypot(truth_, x_, y_, MPFR_RNDN);
    if (plain == "fma") mpfr_fma(truth_, x_, y_, z_, MPFR_RNDN);
  }

  mpfr_t x_, y_, z_, truth_;
};

}  // namespace

int main() {
  Judge judge;
  std::map<std::string, double> worst;
  std::map<std::string, std::size_t> counts;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string name, bits;
    words >> name;
    std::vector<double> numbers;
    while (words >> bits) numbers.push_back(std::bit_cast<double>(static_cast<std::uint64_t>(std::stoull(bits, nullptr, 16))));
    if (!allowed.contains(name) || numbers.size() < 2) {
      std::cerr << "not a line of libm_values: " << line << '\n';
      return 2;
    }
    worst[name] = std::max(worst[name], judge.error_of(name, numbers));
    ++counts[name];
  }
  bool good = worst.size() == allowed.size();
  for (const auto& [name, error] : worst) {
    const bool within = error <= allowed.at(name) / 2;
    good = good && within;
    std::cout << name << ": " << error << " units at worst of " << counts[name] << " arguments, " << allowed.at(name) << " assumed"
              << (within ? "" : "  TOO MUCH") << '\n';
  }
  return good ? 0 : 1;
}
