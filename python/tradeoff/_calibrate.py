# SPDX-License-Identifier: Apache-2.0
"""Inverse questions: the value of the one ``?`` in a plan that meets a target."""

from __future__ import annotations

from typing import NamedTuple

from . import _core
from ._interval import Interval
from ._numbers import Number, stated, to_text
from ._plan import Plan, PlanLike
from ._progress import Progress


class Calibration(NamedTuple):
    """The smallest (or largest) value that meets the targets, its proved end, and a plan with that value.

    ``printed`` is the safe end rounded to its safe side; that decimal itself was verified, and ``plan`` has it in place of ``?``.

    Attributes:
        value: encloses the exact solution.
        safe: the end of ``value`` that meets the targets.
        plan: the plan with ``printed`` in place of ``?``.
        printed: the safe end as a short decimal, rounded to its safe side and verified.
    """

    value: Interval
    safe: float
    plan: Plan
    printed: str


def calibrate(
    plan: PlanLike,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mu: Number | None = None,
    slack: Number | None = None,
    advantage: Number | None = None,
    fpr: Number | None = None,
    tpr: Number | None = None,
    neighbours: str | None = None,
    relative: Number = 1e-6,
) -> Calibration:
    """Finds the smallest noise, or the largest rate, count or budget, that meets every target stated.

    The plan holds one ``?``. A target is epsilon and delta, or mu (except with probability
    ``slack``), or advantage, or fpr and tpr.

    >>> import tradeoff as to
    >>> found = to.calibrate("gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)", epsilon=2, delta=1e-5)
    >>> found.plan.curve().check(epsilon=2, delta=1e-5)
    'within'
    """
    text = Plan(plan).text
    targets = stated(epsilon=epsilon, delta=delta, mu=mu, slack=slack, advantage=advantage, fpr=fpr, tpr=tpr)
    with Progress("calibrate"):
        value, safe_end_is_hi, printed = _core.calibrate(text, targets, neighbours or "", to_text("relative", relative))
    safe = value[1] if safe_end_is_hi else value[0]
    return Calibration(Interval._make(value, "hi" if safe_end_is_hi else "lo"), safe, Plan(_core.substitute_text(text, printed)), printed)
