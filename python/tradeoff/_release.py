# SPDX-License-Identifier: Apache-2.0
"""Exact noise on a public grid, under a certificate that is used once."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._errors import DomainError
from ._interval import Interval, upper
from ._numbers import Number, stated, to_text
from ._plan import Plan, PlanLike
from ._progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Certificate:
    """A guarantee bound to the noise that will be drawn under it. Made by ``certify`` alone, used up by ``release``, never copied."""

    __slots__ = ("_core", "_document", "_fields", "_keys", "_printed", "_shape")

    def __init__(self, core: _core.Certificate, shape: tuple[int, int] | None, keys: bool = False) -> None:
        self._core = core
        self._keys = keys
        self._fields = core.describe()
        self._shape = shape
        self._document: str | None = None
        self._printed: str | None = None

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
        return {float(delta): upper(epsilon) for delta, epsilon in self._fields["guarantee"]}

    @property
    def mu(self) -> Interval | None:
        """The least mu for which all of it is mu-GDP, if it is known."""
        return None if self._fields["mu"] is None else upper(self._fields["mu"])

    @property
    def advantage(self) -> Interval:
        """Total variation of all of it."""
        return upper(self._fields["advantage"])

    @property
    def document(self) -> str | None:
        """The certificate as JSON, with the SHA-256 of what was released; None before that. ``tradeoff.verify`` checks it."""
        return self._document

    @property
    def is_valid(self) -> bool:
        """False once it has been used."""
        return self._core.is_valid

    def release(self, values: ArrayLike) -> NDArray[np.float64]:
        """Checks every value, then draws the noise. The certificate is spent, unless the shape of the values is refused."""
        import numpy as np

        if self._keys:
            raise DomainError("release: this certificate is for the keys of a table; call release_keys; nothing was released")
        table = _to_doubles(values, np)
        if not self._fits(table.shape):
            wanted = "a list of records" if self._shape is None else "{} rows of {} values".format(*self._shape)
            raise DomainError(f"values: an array of shape {table.shape} is not allowed; the certificate is for {wanted}; nothing was released")
        rows, self._printed, self._document = self._core.release(np.ascontiguousarray(table).reshape(-1))
        return rows

    def release_keys(self, rows: Iterable[tuple[str, str] | tuple[str, str, int]]) -> list[ReleasedKey]:
        """Checks every row, bounds what each user contributes, then draws. For a certificate with ``records="keys"``.

        The certificate is spent, unless a row is refused.
        """
        if not self._keys:
            raise DomainError("release_keys: this certificate is for values; certify with records='keys'; nothing was released")
        table = [_to_key_row(number, row) for number, row in enumerate(rows, 1)]
        if not table:
            raise DomainError("rows: the table has no rows; give (user, key) or (user, key, count); nothing was released")
        keys, self._printed, self._document = self._core.release_keys(table)
        return [ReleasedKey(*one) for one in keys]

    def _fits(self, shape: tuple[int, ...]) -> bool:
        """A single column may come as a list, a single row as a list, a single value as a number."""
        if self._shape is None:
            return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1) or shape == ()
        rows, columns = self._shape
        return shape == (rows, columns) or (len(shape) == 1 and 1 in (rows, columns) and shape[0] == rows * columns) or (
            shape == () and rows * columns == 1
        )

    def __repr__(self) -> str:
        size = "keys" if self._keys else "records" if self._shape is None else "rows={}, columns={}".format(*self._shape)
        return f"Certificate({self._fields['plan']!r}, {size}, {'valid' if self.is_valid else 'used'})"

    def __reduce__(self) -> Any:
        raise TypeError("a certificate is used once and cannot be copied or pickled; keep its document")


class Release(NamedTuple):
    """What was released: rows of multiples of the grid's step, and the certificate (spent by now) that says what they cost.

    Attributes:
        rows: the released values, multiples of the grid step.
        certificate: what they cost; spent by now.
        mean: of ``records="mean"``: sum divided by count, if the count is positive.
    """

    rows: NDArray[np.float64]
    certificate: Certificate
    mean: float | None

    @property
    def text(self) -> str:
        """The rows, and the mean, as the command line prints them: the certificate holds the SHA-256 of this text."""
        return str(self.certificate._printed)


class ReleasedKey(NamedTuple):
    """A key that is shown.

    Attributes:
        key: the key.
        noisy_count: its noisy count, or None if the plan is a ``partition_selection``, which releases keys alone.
    """

    key: str
    noisy_count: int | None


class KeyRelease(NamedTuple):
    """The keys that were released, and the certificate (spent by now) that says what they cost.

    Attributes:
        keys: in the order of their bytes.
        certificate: what they cost; spent by now.
    """

    keys: list[ReleasedKey]
    certificate: Certificate

    @property
    def text(self) -> str:
        """The keys as the command line prints them: the certificate holds the SHA-256 of this text."""
        return str(self.certificate._printed)


class Finding(NamedTuple):
    """One statement of a certificate, and what came out when it was computed again: confirmed, refuted or undecided.

    Attributes:
        what: the statement.
        verdict: ``confirmed``, ``refuted`` or ``undecided``.
        detail: what was computed.
    """

    what: str
    verdict: str
    detail: str


class Verification(NamedTuple):
    """What became of a certificate: confirmed, refuted or undecided, statement by statement, and what must be taken on trust.

    Attributes:
        verdict: ``confirmed``, ``refuted`` or ``undecided``.
        findings: statement by statement.
        taken_on_trust: what no computation can check.
    """

    verdict: str
    findings: list[Finding]
    taken_on_trust: list[str]


def verify(certificate: str, released: bytes | str | None = None) -> Verification:
    """Checks a certificate, given as its JSON: the digest, every claim from the plan, and the plan from the settings of a release.

    Args:
        released: what was released, as it was printed: its SHA-256 is compared. Of a training run, the two lines of the model file
            that hold the parameters.

    Raises:
        Error: the text is no certificate, or was changed after it was written.

    >>> import tradeoff as to
    >>> released = to.release("discrete_laplace(scale=2)", [12])
    >>> to.verify(released.certificate.document, released.text).verdict
    'confirmed'
    """
    given = released.encode() if isinstance(released, str) else released
    with Progress("verify"):
        verdict, findings, trusted = _core.verify(certificate, given)
    return Verification(verdict, [Finding(*one) for one in findings], trusted)


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
    epsilon: Number | None = None,
    delta: Number | None = None,
    mu: Number | None = None,
    slack: Number | None = None,
    advantage: Number | None = None,
    fpr: Number | None = None,
    tpr: Number | None = None,
) -> Certificate:
    """Fixes grid and noise for the plan, rounds every parameter to the safe side and computes what that guarantees.

    Every target that is stated binds: a ``?`` in the plan is found such that the whole release meets them all; without
    one the release must meet them, or ``UnmetError`` is raised.

    Args:
        rows: runs of the plan; composed on the same data, unless ``disjoint`` says that each row is of different people.
        on_grid: the values are on the grid already and refused otherwise; by default they are rounded, at a price in sensitivity.
        records: ``"sum"``, ``"count"`` or ``"mean"`` to release an aggregate over all values as records; ``"keys"`` for the keys of a table.
        grid: step of the grid, a power of two such as 1, 0.25 or ``"2^-20"``.
        bounds: values outside are refused, or clipped if ``clip``.
        epsilon, delta: a target; so are ``mu`` (except with probability ``slack``), ``advantage``, and ``fpr`` with ``tpr``.

    >>> import tradeoff as to
    >>> certificate = to.certify("discrete_laplace(scale=2)")
    >>> certificate.guarantee[0.0].hi <= 0.5000001
    True
    """
    limits = None if bounds is None else (float(bounds[0]), float(bounds[1]))
    targets = stated(epsilon=epsilon, delta=delta, mu=mu, slack=slack, advantage=advantage, fpr=fpr, tpr=tpr)
    core = _core.certify(
        Plan(plan).text, neighbours or "", rows, columns, disjoint, on_grid, records or "", _grid_exponent(grid), limits, clip, targets
    )
    return Certificate(core, None if records else (rows, columns), records == "keys")


def release(
    plan: PlanLike,
    values: ArrayLike,
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mu: Number | None = None,
    slack: Number | None = None,
    advantage: Number | None = None,
    fpr: Number | None = None,
    tpr: Number | None = None,
    neighbours: str | None = None,
    disjoint: bool = False,
    on_grid: bool = False,
    records: str | None = None,
    grid: Number | None = None,
    bounds: tuple[float, float] | None = None,
    clip: bool = False,
) -> Release:
    """Releases the values, row by row, with exact noise. Every target that is stated binds, as for ``certify``.

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
    certificate = certify(
        plan,
        neighbours=neighbours,
        rows=rows,
        columns=columns,
        disjoint=disjoint,
        on_grid=on_grid,
        records=records,
        grid=grid,
        bounds=bounds,
        clip=clip,
        epsilon=epsilon,
        delta=delta,
        mu=mu,
        slack=slack,
        advantage=advantage,
        fpr=fpr,
        tpr=tpr,
    )
    released = certificate.release(table)
    mean = float(released[0, 0] / released[1, 0]) if records == "mean" and released[1, 0] > 0 else None
    return Release(released, certificate, mean)


def release_keys(
    plan: PlanLike,
    rows: Iterable[tuple[str, str] | tuple[str, str, int]],
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    mu: Number | None = None,
    slack: Number | None = None,
    advantage: Number | None = None,
    fpr: Number | None = None,
    tpr: Number | None = None,
    neighbours: str | None = None,
) -> KeyRelease:
    """Releases the keys of a table of users: those whose noisy count reaches a threshold, or that pass a coin.

    What each user contributes is bounded first, as the plan says. Every target that is stated binds, as for ``certify``.

    Args:
        plan: one line ``threshold`` with discrete noise, or ``partition_selection``.
        rows: (user, key) or (user, key, count); rows of one user and key are added.

    >>> import tradeoff as to
    >>> rows = [(f"user{u}", key) for u in range(300) for key in ("berlin", "rome", f"home{u}")]
    >>> released = to.release_keys("threshold(noise=discrete_laplace, scale=5, above=?, partitions=3)", rows, epsilon=1, delta=1e-6)
    >>> [one.key for one in released.keys]
    ['berlin', 'rome']
    >>> to.verify(released.certificate.document, released.text).verdict
    'confirmed'
    """
    table = [_to_key_row(number, row) for number, row in enumerate(rows, 1)]
    certificate = certify(
        plan,
        neighbours=neighbours,
        records="keys",
        epsilon=epsilon,
        delta=delta,
        mu=mu,
        slack=slack,
        advantage=advantage,
        fpr=fpr,
        tpr=tpr,
    )
    return KeyRelease(certificate.release_keys(table), certificate)


_MOST_COUNT = 2**50  # as in release_keys of the library


def _to_key_row(number: int, row: Any) -> tuple[str, str, int]:
    """A row of the table, or an error that names it."""

    def refuse(why: str) -> DomainError:
        return DomainError(f"rows: row {number} {why}; nothing was released")

    if isinstance(row, (str, bytes)) or not hasattr(row, "__len__") or len(row) not in (2, 3):
        raise refuse("is not (user, key) or (user, key, count)")
    for name, cell in zip(("user", "key"), row):
        if not isinstance(cell, str) or not cell:
            raise refuse(f"has {name} = {cell!r}, which is no text; write names as text that is not empty")
        if any(mark in cell for mark in ',"\r\n') or cell != cell.strip():
            raise refuse(f"has {name} = {cell!r}; commas, quotation marks, line ends and outer blanks are not allowed, because keys are printed as rows")
    count = row[2] if len(row) == 3 else 1
    try:
        whole = int(operator.index(count))
    except TypeError:
        whole = 0
    if not 1 <= whole <= _MOST_COUNT or isinstance(count, bool):
        raise refuse(f"has count = {count!r}, which is not a whole number from 1 to 2**50")
    return row[0], row[1], whole


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
