# SPDX-License-Identifier: Apache-2.0
"""Random plans of every word that can be analysed, and random numbers in every spelling."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import strategies as st

import tradeoff as to

noises = st.floats(0.4, 20, allow_subnormal=False)
rates = st.one_of(st.floats(0.001, 0.5), st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=100000))
counts = st.integers(1, 200)
probabilities = st.one_of(st.floats(0, 1), st.decimals(0, 1, places=6), st.sampled_from([0, 1, 1e-5, 1e-12, "1e-30", "1/3", Decimal("0.1")]))
epsilons = st.floats(-5, 30)

finite = st.one_of(
    st.builds(to.randomized_response, st.floats(0.05, 3), st.integers(2, 5)),
    st.builds(to.dp, st.floats(0, 3), st.floats(0, 0.1)),
    st.builds(lambda a, b, c: to.constraints([(a + b, 0), (a, c)]), st.floats(0.1, 1), st.floats(0.1, 1), st.floats(0.001, 0.1)),
)
smooth = st.one_of(
    st.builds(to.gaussian, noises, st.one_of(st.none(), st.floats(0.5, 2))),
    st.builds(to.laplace, noises),
    st.builds(to.gdp, st.floats(0.1, 3)),
)
discrete = st.one_of(
    st.builds(to.discrete_gaussian, st.floats(0.5, 8)),
    st.builds(to.discrete_laplace, st.floats(0.5, 8), st.integers(1, 3)),
    st.builds(to.truncated_discrete_laplace, st.floats(0.5, 4), st.integers(2, 12)),
)
sources = st.one_of(finite, smooth, discrete, st.builds(to.truncated_laplace, noises, st.floats(1, 40)))
poisson_steps = st.builds(lambda source, rate, times: (source | to.poisson(rate)).repeat(times), smooth, rates, counts)
fixed_steps = st.builds(lambda source, size, times: source.sample(size, 1000).repeat(times), smooth, st.integers(1, 300), counts)
small = st.builds(lambda source, times: source**times, st.one_of(finite, smooth), st.integers(1, 12))
add_remove_plans = st.builds(lambda plans: to.compose(*plans), st.lists(st.one_of(poisson_steps, small), min_size=1, max_size=3))
plans = st.one_of(sources, small, poisson_steps, fixed_steps, add_remove_plans)

usual_probabilities = st.floats(1e-9, 0.99)

# Plans whose every question, beta included, takes milliseconds; the others are for questions about text alone.
training = st.builds(
    lambda sigma, rate, times: to.gaussian(sigma).poisson(rate).repeat(times), st.floats(0.7, 1.5), st.floats(0.005, 0.02), st.integers(1000, 20000)
)
quick_plans = st.one_of(
    training,
    st.builds(lambda a, b: a * b, training, training),
    st.builds(lambda source, times: source**times, finite, st.integers(1, 6)),
    st.builds(lambda source, rate: source.sample(rate=rate), st.builds(to.gaussian, noises), rates),
    smooth,
    discrete,
)
