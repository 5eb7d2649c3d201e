# SPDX-License-Identifier: Apache-2.0
"""Exact noise on a public grid, under a certificate that is used once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._calibrate import calibrate
from ._errors import DomainError, UnsupportedError
from ._interval import Interval
from ._numbers import Number, to_text
from ._plan import Plan, PlanLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Certificate:
    """A guarantee bound to the noise that will be drawn under it. Made by ``certify`` alone, used up by ``release``, never copied."""

    __slots__ = ("_core", "_fields", "_shape")

    def __init__(self, core: _core.Certificate, shape: tuple[int, int]) -> None:
        self._core = core
        self._fields = core.describe()
        self._shape = shape

    @property
    def plan(self) -> Plan:
        """The plan as it was written."""
        return Plan(self._fields["plan"])

    @property
    def drawn_plan(self) -> Plan:
        """The plan as it is drawn: exact parameters in steps of the grid. The guarantee is that of this one."""
        return Plan(self._fields["drawn_plan"])

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """Each law as it is drawn. ``scale`` is (numerator, power): numerator * 2**power steps of 2**grid_exponent."""
        return [dict(one) for one in self._fields["mechanisms"]]

    @property
    def guarantee(self) -> dict[float, Interval]:
        """epsilon for some customary delta."""
        return {float(delta): Interval(*epsilon) for delta, epsilon in self._fields["guarantee"]}

    @property
    def mu(self) -> Interval | None:
        """The least mu for which all of it is mu-GDP, if it is known."""
        return None if self._fields["mu"] is None else Interval(*self._fields["mu"])

    @property
    def advantage(self) -> Interval:
        """Total variation of all of it."""
        return Interval(*self._fields["advantage"])

    @property
    def statement(self) -> str:
        """All of the above as text, line by line."""
        return str(self._fields["statement"])

    @property
    def digest(self) -> str:
        """SHA-256 of the statement."""
        return str(self._fields["digest"])

    @property
    def is_valid(self) -> bool:
        """False once it has been used."""
        return self._core.is_valid

    def release(self, values: ArrayLike) -> NDArray[np.float64]:
        """Draws the noise, then looks at the values. The certificate is spent, whatever happens."""
        import numpy as np

        return self._core.release(np.ascontiguousarray(_to_doubles(values, np)).reshape(-1))

    def __repr__(self) -> str:
        rows, columns = self._shape
        return f"Certificate({self._fields['plan']!r}, rows={rows}, columns={columns}, {'valid' if self.is_valid else 'used'})"

    def __reduce__(self) -> Any:
        raise TypeError("a certificate is used once and cannot be copied or pickled; keep its statement and digest")


class Release(NamedTuple):
    """What was released: rows of multiples of the grid's step, and the certificate (spent by now) that says what they cost."""

    rows: NDArray[np.float64]
    certificate: Certificate
    mean: float | None


def certify(
    plan: PlanLike,
    *,
    neighbours: str | None = None,
    rows: int = 1,
    columns: int = 1,
    disjoint: bool = False,
    on_grid: bool = False,
    records: str | None = None,
    grid: Number | None = None,
    bounds: tuple[float, float] | None = None,
    clip: bool = False,
) -> Certificate:
    """Fixes grid and noise for the plan, rounds every parameter to the safe side and computes what that guarantees.

    Args:
        rows: runs of the plan; composed on the same data, unless ``disjoint`` says that each row is of different people.
        on_grid: the values are on the grid already and refused otherwise; by default they are rounded, at a price in sensitivity.
        records: ``"sum"``, ``"count"`` or ``"mean"`` to release an aggregate over all values as records.
        grid: step of the grid, a power of two such as 1, 0.25 or ``"2^-20"``.
        bounds: values outside are refused, or clipped if ``clip``.

    >>> import tradeoff as to
    >>> certificate = to.certify("discrete_laplace(scale=2)")
    >>> certificate.guarantee[0.0].hi <= 0.5000001
    True
    """
    limits = None if bounds is None else (float(bounds[0]), float(bounds[1]))
    core = _core.certify(
        Plan(plan).text, neighbours or "", rows, columns, disjoint, on_grid, records or "", _grid_exponent(grid), limits, clip
    )
    return Certificate(core, (rows, columns))


def release(
    plan: PlanLike,
    values: ArrayLike,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mu: Number | None = None,
    neighbours: str | None = None,
    disjoint: bool = False,
    on_grid: bool = False,
    records: str | None = None,
    grid: Number | None = None,
    bounds: tuple[float, float] | None = None,
    clip: bool = False,
) -> Release:
    """Releases the values, row by row, with exact noise. A ``?`` in the plan is found such that the whole release meets the target.

    >>> import tradeoff as to
    >>> released = to.release("discrete_laplace(scale=2)", [12])
    >>> released.rows.shape, released.certificate.is_valid
    ((1, 1), False)
    """
    import numpy as np

    table = _to_doubles(values, np)
    if table.size == 0 or table.ndim > 2:
        raise DomainError("values: give a number, a list of rows, or a table of rows and columns")
    columns = table.shape[1] if table.ndim == 2 else 1
    rows = {None: table.size // columns, "mean": 2}.get(records, 1)
    terms = dict(
        neighbours=neighbours, rows=rows, columns=columns, disjoint=disjoint, on_grid=on_grid, records=records, grid=grid, bounds=bounds, clip=clip
    )
    written = Plan(plan)
    if _core.count_unknowns(written.text) > 0:
        certificate = _calibrated(written, terms, epsilon, delta, mu)
    else:
        certificate = certify(written, **terms)
    released = certificate.release(table)
    mean = float(released[0, 0] / released[1, 0]) if records == "mean" and released[1, 0] > 0 else None
    return Release(released, certificate, mean)


def _calibrated(plan: Plan, terms: dict[str, Any], epsilon: Any, delta: Any, mu: Any) -> Certificate:
    """What rounding to the grid costs is won back by slightly more noise."""
    whole = plan if terms["rows"] == 1 or terms["disjoint"] else plan.repeat(terms["rows"])
    found = calibrate(whole, epsilon=epsilon, delta=delta, mu=mu, neighbours=terms["neighbours"])
    if found.safe != found.value.hi:
        raise UnsupportedError("release: only a noise scale can be found for a release; calibrate the rest beforehand")
    widened = 0.0
    for attempt in range(24):
        certificate = certify(_core.substitute(plan.text, found.safe * (1 + widened)), **terms)
        if _meets(certificate, epsilon, delta, mu):
            return certificate
        widened = 2.0 ** (attempt - 21)
    raise DomainError("release: no noise on this grid meets the target; choose a finer grid")


def _meets(certificate: Certificate, epsilon: Any, delta: Any, mu: Any) -> bool:
    from fractions import Fraction

    if mu is not None:
        return certificate.mu is not None and Fraction(certificate.mu.hi) <= Fraction(to_text("mu", mu))
    return Fraction(certificate._core.delta(to_text("epsilon", epsilon))[1]) <= Fraction(to_text("delta", delta))


def _to_doubles(values: Any, np: Any) -> Any:
    table = np.asarray(values)
    if table.dtype.kind not in "iuf":
        raise DomainError(f"values: an array of {table.dtype} where numbers are wanted; nothing was released")
    return table.astype(np.float64)


def _grid_exponent(grid: Any) -> int | None:
    """The exponent of a step that is a power of two."""
    if grid is None:
        return None
    from fractions import Fraction

    text = to_text("grid", grid)
    try:
        step = Fraction(2) ** int(text[2:]) if text.startswith("2^") and len(text) <= 6 else Fraction(text)
    except (ValueError, ZeroDivisionError):
        step = Fraction(0)
    exponent = step.numerator.bit_length() - step.denominator.bit_length()
    if step <= 0 or step != Fraction(2) ** exponent or abs(exponent) > 200:
        raise DomainError(f"grid = {grid!r} is not allowed; it must be a power of two such as 1, 0.25 or 2^-20")
    return exponent
