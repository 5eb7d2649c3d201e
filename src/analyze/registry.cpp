// SPDX-License-Identifier: Apache-2.0
#include "mechanism/words.h"
#include "operators/words.h"
#include "plan/vocabulary.h"

namespace tradeoff::detail {

// One row per word, in the order of the manual. docs/adding.md shows how to add one.
const Vocabulary& vocabulary() {
  static const Vocabulary words({
      gaussian_word(),
      laplace_word(),
      truncated_laplace_word(),
      discrete_gaussian_word(),
      discrete_laplace_word(),
      truncated_discrete_laplace_word(),
      randomized_response_word(),
      exponential_word(),
      noisy_max_word(),
      threshold_word(),
      partition_selection_word(),
      shuffled_reports_word(),
      matrix_word(),
      sparse_vector_word(),
      skellam_word(),
      binomial_noise_word(),
      discrete_gaussian_sum_word(),
      discrete_laplace_sum_word(),
      gdp_word(),
      dp_word(),
      constraints_word(),
      mixture_word(),
      strongest_word(),
      weakest_word(),
      pair_word(),
      rdp_word(),
      zcdp_word(),
      sqrt_log_family_word(),
      log_family_word(),
      icea_word(),
      profile_word(),
      curve_word(),

      poisson_word(),
      allocate_word(),
      shuffle_word(),
      cyclic_word(),
      sample_word(),
      sample_with_replacement_word(),
      repeat_word(),
      best_of_word(),
      group_word(),
      rectify_word(),
      invert_word(),
      refine_word(),

      unknown_tail_word(),
      zero_tail_word(),
      gaussian_tail_word(),

      geometric_runs_word(),
      poisson_runs_word(),
      poisson_positive_runs_word(),
      negative_binomial_runs_word(),
      logarithmic_runs_word(),
      binomial_runs_word(),
      exact_runs_word(),
      stated_runs_word(),
  });
  return words;
}

}  // namespace tradeoff::detail
