# SPDX-License-Identifier: Apache-2.0
"""The interface of the PRV accountant: mechanisms with counts in, (low, estimate, high) triples out.

>>> accountant = PRVAccountant(prvs=[PoissonSubsampledGaussianMechanism(noise_multiplier=1.1, sampling_probability=0.01)])
>>> low, estimate, high = accountant.compute_epsilon(delta=1e-5, num_self_compositions=[1000])
>>> low <= estimate <= high <= 1.7
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._curve import Curve
from .._errors import DomainError
from .._interval import Interval
from .._numbers import Number
from .._plan import Plan, compose, dp, gaussian, laplace

Triple = tuple[float, float, float]


def GaussianMechanism(noise_multiplier: Number) -> Plan:
    """Gaussian noise, in units of the sensitivity."""
    return gaussian(noise_multiplier)


def LaplaceMechanism(mu: Number) -> Plan:
    """Laplace noise of scale 1/mu on a sum of sensitivity 1."""
    return laplace(1, sensitivity=mu)


def PureDPMechanism(eps: Number) -> Plan:
    """Anything (eps, 0)-DP."""
    return dp(eps)


def PoissonSubsampledGaussianMechanism(noise_multiplier: Number, sampling_probability: Number) -> Plan:
    """A step of private training under Poisson sampling and add-remove neighbours."""
    return gaussian(noise_multiplier).poisson(sampling_probability)


class PRVAccountant:
    """Composition of mechanisms, each any number of times. Every answer is valid; no error parameters are needed."""

    def __init__(self, prvs: Plan | Sequence[Plan], **errors: Any) -> None:
        unknown = set(errors) - {"max_self_compositions", "eps_error", "delta_error"}  # accepted for their sake, and not needed
        if unknown:
            raise TypeError(f"PRVAccountant() got an unexpected keyword argument '{min(unknown)}'")
        self._plans = [prvs] if isinstance(prvs, Plan) else [Plan(plan) for plan in prvs]

    def curve(self, num_self_compositions: int | Sequence[int]) -> Curve:
        """The curve of the mechanisms, each run that many times."""
        counts = list(num_self_compositions) if isinstance(num_self_compositions, Sequence) else [num_self_compositions]
        if len(counts) != len(self._plans):
            raise DomainError(f"num_self_compositions: {len(counts)} counts for {len(self._plans)} mechanisms")
        return compose(*(plan.repeat(count) for plan, count in zip(self._plans, counts))).curve()

    def compute_epsilon(self, delta: Number, num_self_compositions: int | Sequence[int]) -> Triple:
        """Lower bound, estimate and upper bound of epsilon."""
        return to_triple(self.curve(num_self_compositions).epsilon(delta))

    def compute_delta(self, epsilon: Number, num_self_compositions: int | Sequence[int]) -> Triple:
        """Lower bound, estimate and upper bound of delta."""
        return to_triple(self.curve(num_self_compositions).delta(epsilon))


def to_triple(answer: Interval) -> Triple:
    """(lo, middle, hi); the middle is an estimate, the ends are proved."""
    middle = answer.lo + (answer.hi - answer.lo) / 2 if answer.hi < float("inf") else answer.lo
    return answer.lo, min(max(middle, answer.lo), answer.hi), answer.hi
