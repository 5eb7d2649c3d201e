// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/vocabulary.h"

// The sources of the plan language. Each is defined at the end of the file that holds its loss.
namespace tradeoff::detail {

[[nodiscard]] Word gaussian_word();
[[nodiscard]] Word laplace_word();
[[nodiscard]] Word truncated_laplace_word();
[[nodiscard]] Word discrete_gaussian_word();
[[nodiscard]] Word discrete_laplace_word();
[[nodiscard]] Word truncated_discrete_laplace_word();
[[nodiscard]] Word randomized_response_word();
[[nodiscard]] Word exponential_word();
[[nodiscard]] Word noisy_max_word();
[[nodiscard]] Word shuffled_reports_word();
[[nodiscard]] Word matrix_word();
[[nodiscard]] Word sparse_vector_word();
[[nodiscard]] Word skellam_word();
[[nodiscard]] Word binomial_noise_word();
[[nodiscard]] Word discrete_gaussian_sum_word();
[[nodiscard]] Word discrete_laplace_sum_word();
[[nodiscard]] Word gdp_word();
[[nodiscard]] Word dp_word();
[[nodiscard]] Word constraints_word();
[[nodiscard]] Word pair_word();
[[nodiscard]] Word rdp_word();
[[nodiscard]] Word zcdp_word();
[[nodiscard]] Word sqrt_log_family_word();
[[nodiscard]] Word log_family_word();
[[nodiscard]] Word icea_word();
[[nodiscard]] Word profile_word();
[[nodiscard]] Word curve_word();

// How a profile continues beyond its last point.
[[nodiscard]] Word unknown_tail_word();
[[nodiscard]] Word zero_tail_word();
[[nodiscard]] Word gaussian_tail_word();

/// The sensitivity of noise on the real numbers.
inline constexpr Parameter sensitivity_parameter{"sensitivity",       Kind::number,    "how far one record can move the exact answer",
                                                 range::non_negative, effect::riskier, "1"};
/// The same parameter in one form of a word.
[[nodiscard]] constexpr Parameter in_form(Parameter parameter, int form) {
  parameter.form = form;
  return parameter;
}
/// Limit of the sensitivity of noise on the integers, in steps: more would make every question slow, and so fine a grid serves no purpose.
inline constexpr std::uint64_t most_discrete_shift = 100'000;
inline constexpr Parameter grid_sensitivity_parameter{"sensitivity",
                                                      Kind::integer,
                                                      "how far one record can move the exact answer, in steps of the grid",
                                                      range::whole(0, most_discrete_shift),
                                                      effect::riskier,
                                                      "1"};

}  // namespace tradeoff::detail
