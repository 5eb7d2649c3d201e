# SPDX-License-Identifier: Apache-2.0
"""Audits: whether outputs of a program, or the canaries of one training run, refute a claimed plan."""

from __future__ import annotations

from math import exp, log
from typing import Any, Literal, NamedTuple, cast

from . import _core
from ._curve import Curve
from ._errors import DomainError
from ._interval import Interval
from ._plan import Plan, PlanLike


class Refutation(NamedTuple):
    """The event that refuted a claim: the claim allows it at most ``e**epsilon`` times the other probability plus ``delta``.

    Attributes:
        pairs: how many pairs of outputs had been read.
        event: in words.
        likelier: the stream in which it is too likely, ``with`` or ``without``.
        epsilon: of the line of the claimed curve that is violated.
        delta: of the same line.
    """

    pairs: int
    event: str
    likelier: str
    epsilon: float
    delta: float


class TestedEvent(NamedTuple):
    """An event with bounds on its probabilities in the stream where it is expected to be likelier and in the other one.

    Attributes:
        event: in words.
        likelier: the stream in which it is expected to be likelier.
        likelier_rate: its probability there.
        other_rate: its probability in the other stream.
    """

    event: str
    likelier: str
    likelier_rate: Interval
    other_rate: Interval


class Audit(NamedTuple):
    """What samples show. The bounds hold for the program whatever it is, all at once, with the stated confidence.

    Attributes:
        verdict: refuted, consistent or inconclusive.
        confidence: a true claim is refuted with probability at most one less this.
        pairs: how many pairs of outputs were read.
        evidence: the largest wealth of a bettor against the claim who starts with 1, bounded below.
        refutation: what refuted the claim, if anything did.
        events: those that were tested, with bounds on their probabilities.
        mu_below: the program is not mu-GDP for a smaller mu.
        advantage_below: the advantage of some attack is at least this.
        more_pairs: a rough estimate of how many more would decide, if it is inconclusive.
        more_would_refute: whether they would refute rather than support it.
    """

    verdict: Literal["refuted", "consistent", "inconclusive"]
    confidence: float
    pairs: int
    evidence: float
    refutation: Refutation | None
    events: tuple[TestedEvent, ...]
    mu_below: float
    advantage_below: float
    more_pairs: int | None
    more_would_refute: bool

    def epsilon_below(self, delta: float) -> float:
        """The program is not (epsilon, delta)-DP for a smaller epsilon."""
        rates = [(one.likelier_rate.lo - delta, one.other_rate.hi) for one in self.events]
        return max((max(0.0, log(first / second) * (1 - 1e-14) - 1e-14) for first, second in rates if first > second), default=0.0)

    def delta_below(self, epsilon: float) -> float:
        """The program is not (epsilon, delta)-DP for a smaller delta."""
        slope = exp(epsilon) * (1 + 1e-14)
        return max((max(0.0, one.likelier_rate.lo - slope * one.other_rate.hi - 1e-15) for one in self.events), default=0.0)


class OneRunAudit(NamedTuple):
    """What the guesses about canaries of one training run show. Each bound by itself has the stated confidence.

    Attributes:
        verdict: refuted or inconclusive.
        confidence: a true claim is refuted with probability at most one less this.
        canaries, made, right: the canaries, and the guesses that speak most against the claim.
        chance_above: bounds the probability of so many right guesses under the claim.
        epsilon_below: the run is not (epsilon, delta)-DP for a smaller epsilon.
        mu_below: the run is not mu-GDP for a smaller mu.
    """

    verdict: Literal["refuted", "inconclusive"]
    confidence: float
    canaries: int
    made: int
    right: int
    chance_above: float
    epsilon_below: float
    mu_below: float


def audit(
    claim: PlanLike | Curve,
    with_record: Any,
    without_record: Any,
    *,
    confidence: float = 0.999,
    margin: float = 0.05,
    direction: str = "worst",
    features: Literal["values", "low bits"] = "values",
) -> Audit:
    """Tests a claimed plan on independent outputs of a program on two neighbouring data sets.

    Args:
        claim: the plan, or its curve.
        with_record, without_record: one output a row: arrays of shape (n,) or (n, columns), of the same shape.
        confidence: a true claim is refuted with probability at most ``1 - confidence``, and apart from it a bound is wrong.
        margin: ``consistent`` means that no tested event exceeds the claim by more than this probability.
        features: what the events are about: the values, or the lowest bits, which noise in floating-point arithmetic leaks.

    >>> import numpy as np, tradeoff as to
    >>> noise = np.random.default_rng(1)
    >>> to.audit("gaussian(sigma=1)", 2 + noise.normal(size=1000), noise.normal(size=1000)).verdict
    'refuted'
    """
    import numpy as np

    rows = [np.ascontiguousarray(np.asarray(one, dtype=np.float64)) for one in (with_record, without_record)]
    rows = [one.reshape(-1, 1) if one.ndim == 1 else one for one in rows]
    if rows[0].ndim != 2 or rows[0].shape != rows[1].shape:
        raise DomainError(f"with_record and without_record: shapes {rows[0].shape} and {rows[1].shape}; both must be (n,) or (n, columns)")
    if features not in ("values", "low bits"):
        raise DomainError(f"features = {features!r} is not allowed; it must be 'values' or 'low bits'")
    curve = claim if isinstance(claim, Curve) else Plan(claim).curve()
    found = _core.audit_samples(curve._core_for(direction), direction, rows[0], rows[1], _error_of(confidence), float(margin), features == "low bits")
    verdict, pairs, evidence, refutation, events, mu, advantage, more, would = found
    tested = tuple(TestedEvent(text, order, Interval(*first), Interval(*second)) for text, order, first, second in events)
    word = cast('Literal["refuted", "consistent", "inconclusive"]', verdict)
    return Audit(word, confidence, pairs, evidence, Refutation(*refutation) if refutation else None, tested, mu, advantage, more, would)


def audit_one_run(
    claim: PlanLike | Curve,
    *,
    scores: Any = None,
    included: Any = None,
    right: int | None = None,
    made: int | None = None,
    canaries: int | None = None,
    delta: float = 1e-5,
    confidence: float = 0.999,
) -> OneRunAudit:
    """Tests a claimed plan on canaries that independent fair coins included in one training run.

    Args:
        claim: the plan of the run, or its curve.
        scores, included: for each canary a number, computed without its coin, that is larger if it was included, and the coin. The canaries
            with the highest scores are guessed to be included, those with the lowest not; several numbers of guesses share the error.
        right, made, canaries: instead: how many guesses were right, of how many, about how many canaries. The number made is fixed before.
        delta: where epsilon is bounded. Nothing is shown unless it is far below ``(1 - confidence) / canaries``, about.
        confidence: a true claim is refuted with probability at most ``1 - confidence``.

    >>> audit_one_run("dp(epsilon=1)", right=812, made=1000, canaries=1000).verdict
    'refuted'
    >>> audit_one_run("gaussian(sigma=4)", scores=range(100), included=[i >= 50 for i in range(100)]).verdict
    'refuted'
    """
    curve = claim if isinstance(claim, Curve) else Plan(claim).curve()
    error = _error_of(confidence)
    counts = (right, made, canaries)
    if scores is not None or included is not None:
        import numpy as np

        if any(one is not None for one in counts):
            raise DomainError("give scores and included, or right, made and canaries, not both")
        if scores is None or included is None:
            raise DomainError("scores and included: one of them is missing")
        columns = [np.asarray(one, dtype=np.float64) for one in (scores, included)]
        if columns[0].ndim != 1 or columns[0].shape != columns[1].shape:
            raise DomainError(f"scores and included: shapes {columns[0].shape} and {columns[1].shape}; both must be (canaries,)")
        found = _core.audit_canaries(curve._core, np.ascontiguousarray(np.stack(columns, axis=1)), float(delta), error)
    elif right is None or made is None or canaries is None:
        raise DomainError("right, made and canaries are needed, or scores and included")
    else:
        if min(right, made, canaries) < 0:
            raise DomainError("right, made and canaries must not be negative")
        found = _core.audit_guesses(curve._core, int(canaries), int(made), int(right), float(delta), error)
    return OneRunAudit("refuted" if found[3] <= error else "inconclusive", confidence, *found)


def _error_of(confidence: float) -> float:
    if not 0.5 <= confidence <= 0.999999:
        raise DomainError(f"confidence = {confidence!r} is not allowed; it must be between 0.5 and 0.999999")
    return (1 - confidence) * (1 - 1e-9)
