# SPDX-License-Identifier: Apache-2.0
"""The answer type."""

from __future__ import annotations

from typing import NamedTuple


class Interval(NamedTuple):
    """A closed interval that is proved to contain the true value, rounding included.

    For delta, epsilon, mu, advantage and true-positive rate the end ``hi`` may be claimed; for beta it is ``lo``.

    >>> lo, hi = Interval(0.25, 0.5)
    >>> 0.3 in Interval(0.25, 0.5)
    True
    >>> Interval(0.25, 0.5).width
    0.25
    """

    lo: float
    hi: float

    @property
    def width(self) -> float:
        """The width hi - lo; 0 for an exact answer."""
        return 0.0 if self.lo == self.hi else self.hi - self.lo

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.lo <= value <= self.hi
