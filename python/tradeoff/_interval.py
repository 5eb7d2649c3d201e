# SPDX-License-Identifier: Apache-2.0
"""The answer type."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ._errors import UndecidedError

SafeEnd = Literal["lo", "hi"]


class _Ends(NamedTuple):
    lo: float
    hi: float


class Interval(_Ends):
    """A closed interval that is proved to contain the true value, rounding included.

    It unpacks to its two ends. An answer also knows which end may be claimed: ``hi`` for delta, epsilon, mu, advantage and true-positive
    rate, ``lo`` for beta. ``claim``, ``float()`` and ``format()`` use that end; ``format`` rounds it to the safe side.

    >>> lo, hi = Interval(0.25, 0.5)
    >>> 0.3 in Interval(0.25, 0.5)
    True
    >>> Interval(0.25, 0.5).width
    0.25
    >>> epsilon = Interval(2.38168, 2.38169, safe="hi")
    >>> epsilon.claim, f"{epsilon:.2f}"
    (2.38169, '2.39')

    Comparisons with numbers and with other intervals are certain, or they raise :class:`UndecidedError`:

    >>> epsilon <= 3, epsilon > 2
    (True, True)
    >>> try:
    ...     epsilon < 2.381685
    ... except UndecidedError as error:
    ...     print(error)
    [2.38168, 2.38169] < 2.381685 cannot be decided: the two overlap; compare .lo, .hi or .claim
    """

    _safe: SafeEnd | None

    def __new__(cls, lo: float, hi: float, safe: SafeEnd | None = None) -> Interval:
        interval = super().__new__(cls, lo, hi)
        interval._safe = safe
        return interval

    @classmethod
    def _make(cls, ends: Iterable[float], safe: SafeEnd | None = None) -> Interval:  # type: ignore[override]
        lo, hi = ends
        return cls(lo, hi, safe)

    @property
    def safe(self) -> SafeEnd | None:
        """The end that may be claimed, ``"lo"`` or ``"hi"``; None where it depends on the use, as for moments."""
        return self._safe

    @property
    def claim(self) -> float:
        """The end that may be claimed. Raises :class:`UndecidedError` where it depends on the use, unless both ends are equal."""
        if self._safe is None:
            if self.lo != self.hi:
                raise UndecidedError(f"{self._shown()}: which end may be claimed depends on the use; take .lo or .hi")
            return self.lo
        return self.lo if self._safe == "lo" else self.hi

    @property
    def width(self) -> float:
        """The width hi - lo; 0 for an exact answer."""
        return 0.0 if self.lo == self.hi else self.hi - self.lo

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.lo <= value <= self.hi

    def __float__(self) -> float:
        """The end that may be claimed."""
        return float(self.claim)

    def __format__(self, specification: str) -> str:
        """The claim, rounded to the safe side; without a specification the whole interval."""
        if not specification:
            return str(self)
        claim = self.claim
        if not math.isfinite(claim):
            return format(claim, specification)
        if specification[-1].isdigit() and "." not in specification:  # a width alone
            return format(claim, specification)
        if "." not in specification:
            specification = f"{specification[:-1]}.6{specification[-1]}"  # as for floats
        import decimal  # here, because importing it takes longer than importing this package

        rounding = {"lo": decimal.ROUND_FLOOR, "hi": decimal.ROUND_CEILING, None: decimal.ROUND_HALF_EVEN}[self._safe]
        with decimal.localcontext(decimal.Context(prec=800, rounding=rounding)):  # every double has at most 767 digits
            return format(decimal.Decimal(claim), specification)

    def _ends_of(self, other: object) -> tuple[Any, Any] | None:
        if isinstance(other, Interval):
            return other.lo, other.hi
        return (other, other) if isinstance(other, numbers.Real) else None

    def _decided(self, sign: str, other: object, holds: bool, fails: bool) -> bool:
        if holds == fails:  # neither: they overlap, or something is NaN
            shown = other._shown() if isinstance(other, Interval) else str(other)
            raise UndecidedError(f"{self._shown()} {sign} {shown} cannot be decided: the two overlap; compare .lo, .hi or .claim")
        return holds

    def __lt__(self, other: object) -> bool:
        ends = self._ends_of(other)
        return NotImplemented if ends is None else self._decided("<", other, self.hi < ends[0], self.lo >= ends[1])

    def __le__(self, other: object) -> bool:
        ends = self._ends_of(other)
        return NotImplemented if ends is None else self._decided("<=", other, self.hi <= ends[0], self.lo > ends[1])

    def __gt__(self, other: object) -> bool:
        ends = self._ends_of(other)
        return NotImplemented if ends is None else self._decided(">", other, self.lo > ends[1], self.hi <= ends[0])

    def __ge__(self, other: object) -> bool:
        ends = self._ends_of(other)
        return NotImplemented if ends is None else self._decided(">=", other, self.lo >= ends[1], self.hi < ends[0])

    def __repr__(self) -> str:
        return f"Interval(lo={self.lo!r}, hi={self.hi!r})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.lo, self.hi, self._safe)

    def _shown(self) -> str:
        return f"[{self.lo!r}, {self.hi!r}]"

    def _claimed(self) -> str:
        """The claim in six digits, as on the command line; in ten where six would add a whole step to a bound just beyond a short decimal."""
        claim, nearest = self.claim, float(f"{self.claim:.5e}")
        is_just_beyond = math.isfinite(claim) and claim != nearest and abs(claim - nearest) <= 1e-10 * abs(claim)
        return f"{self:.10g}" if is_just_beyond else f"{self:.6g}"

    def _repr_html_(self) -> str:
        ends = f"[{self.lo!r}, {self.hi!r}]"
        if self._safe is None:
            return ends
        sign = "≤" if self._safe == "hi" else "≥"
        return f'{sign} <b>{self._claimed()}</b> <small style="opacity: 0.7">proved: {ends}</small>'


def upper(ends: Iterable[float]) -> Interval:
    """An answer whose upper end may be claimed."""
    return Interval._make(ends, "hi")
