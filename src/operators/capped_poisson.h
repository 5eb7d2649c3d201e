// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "loss/loss.h"
#include "plan/vocabulary.h"

namespace tradeoff::detail {

class Arguments;

/// A Poisson sample of which at most `at_most` records are used: what the numbers of the plan say.
struct CappedSample {
  Interval rate;          ///< with which each record is drawn
  Interval largest_rate;  ///< bounds the probability that a record is used if at least `at_most` others were drawn
  Interval overfull;      ///< the probability that at least `at_most` others were drawn
  Interval alone;         ///< the probability that a record is used: `rate` times the mean of min(1, at_most / (others drawn + 1))
  std::uint64_t of = 0;
  std::uint64_t at_most = 0;
  bool exact = true;  ///< `of` is exact, otherwise an upper bound
};

/// [capped-poisson] The sample for `of` records, the larger data set. `of` is exact and the records that stay are drawn uniformly, or it is
/// an upper bound and they are kept by any rule that does not look at the data.
[[nodiscard]] CappedSample capped_sample(Interval rate, std::uint64_t of, bool exact, std::uint64_t at_most);

/// [capped-poisson] The pair above and the pair below, for Gaussian noise with the mu of one record. `clipped`: every contribution has a
/// known norm bound, which is mu / 2 under replace-one neighbours and mu otherwise.
[[nodiscard]] LossPointer capped_poisson_above(const CappedSample& sample, Interval mu, bool clipped, Neighbours neighbours);
[[nodiscard]] LossPointer capped_poisson_below(const CappedSample& sample, Interval mu, bool clipped, Neighbours neighbours);

/// The arguments of `poisson` for batches of at most so many records.
inline constexpr std::array<Parameter, 3> cap_parameters{{{.name = "of",
                                                           .kind = Kind::integer,
                                                           .meaning = "with at_most: records of the larger data set",
                                                           .range = range::whole(1, range::most_steps),
                                                           .optional = true},
                                                          {.name = "of_is",
                                                           .kind = Kind::choice,
                                                           .meaning = "with at_most: exact (the default) or at_most",
                                                           .optional = true,
                                                           .choices = "exact|at_most"},
                                                          {.name = "at_most",
                                                           .kind = Kind::integer,
                                                           .meaning = "records of a batch; of more, so many are kept",
                                                           .range = range::whole(1, range::most_steps),
                                                           .optional = true}}};

/// Whether a call of `poisson` states a cap. Throws DomainError for `of` or `of_is` without one.
[[nodiscard]] bool is_capped(const Arguments& arguments);

/// What a call with a cap promises, for reports; empty without one.
[[nodiscard]] std::string promise_of_cap(const Arguments& arguments);

/// `poisson(rate, of, at_most)`: both pairs. Throws DomainError or UnsupportedError for what is not proved.
[[nodiscard]] LossPointer capped_poisson(const Arguments& arguments, const LossPointer& base, const WordContext& context);

}  // namespace tradeoff::detail
