# SPDX-License-Identifier: Apache-2.0
"""Answers as rows for data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._curve import Comparison, Curve, Risk
from ._errors import DomainError
from ._interval import Interval
from ._plan import Plan

Row = dict[str, Any]


def records(answers: Any) -> list[Row]:
    """Rows of plain values, one dictionary each: ``pandas.DataFrame(tradeoff.records(...))``.

    ``answers`` is a comparison, a risk statement, a curve, one answer that is a named tuple, or a list of such answers. An interval becomes
    three columns: ``NAME`` (the end that may be claimed, None if that depends on the use), ``NAME_lo`` and ``NAME_hi``. A curve becomes
    its trade-off function.

    >>> import tradeoff as to
    >>> rows = to.records(to.dp(0.2).repeat(50).curve().compare(1e-3, methods=["exact", "basic"]))
    >>> [(row["method"], round(row["epsilon"], 3)) for row in rows]
    [('exact', 4.731), ('basic', 9.999)]
    >>> to.records(to.gdp(1).curve())[0]
    {'alpha': 0.0, 'beta': 1.0, 'beta_lo': 1.0, 'beta_hi': 1.0}
    """
    if isinstance(answers, Comparison):
        return [_flat(row) for row in answers.rows]
    if isinstance(answers, Risk):
        return _rows_of_risk(answers)
    if isinstance(answers, Curve):
        return _rows_of_curve(answers)
    if isinstance(answers, Interval):
        return [_columns("value", answers)]
    if _is_record(answers):
        return [_flat(answers)]
    if isinstance(answers, (str, bytes)) or not isinstance(answers, Iterable):
        raise DomainError(f"records: a {type(answers).__name__} has no rows")  # pyright: ignore
    parts: list[Any] = [*answers]  # pyright: ignore[reportUnknownVariableType]
    return [row for one in parts for row in records(one)]


def _is_record(value: Any) -> bool:
    return hasattr(value, "_fields") and hasattr(value, "_asdict") and not isinstance(value, Interval)


def _columns(name: str, value: Any) -> Row:
    if isinstance(value, Interval):
        claim = value.claim if value.safe is not None or value.lo == value.hi else None
        return {name: claim, f"{name}_lo": value.lo, f"{name}_hi": value.hi}
    if _is_record(value):
        return {f"{name}_{inner}": one for inner, one in _flat(value).items()}
    return {name: value.text if isinstance(value, Plan) else value}


def _flat(record: Any) -> Row:
    return {column: one for field in record._fields for column, one in _columns(field, getattr(record, field)).items()}


def _rows_of_risk(risk: Risk) -> list[Row]:
    rows: list[Row] = [{"quantity": "advantage", "at": None, **_columns("value", risk.advantage)}]
    named: list[tuple[str, Mapping[Any, Interval]]] = [
        ("true-positive rate", risk.tpr),
        ("accuracy", risk.accuracy),
        ("posterior", risk.posterior),
        (f"posterior except with probability {risk.rare:g}", risk.belief),
        ("naming", risk.naming),
        ("odds", risk.odds),
    ]
    return rows + [{"quantity": name, "at": at, **_columns("value", value)} for name, values in named for at, value in values.items()]


def _rows_of_curve(curve: Curve, points: int = 101) -> list[Row]:
    alphas = [(i / (points - 1)) ** 3 for i in range(points)]  # as the tables of the command line
    betas = curve.beta(alphas)
    return [{"alpha": a, "beta": float(lo), "beta_lo": float(lo), "beta_hi": float(hi)} for a, (lo, hi) in zip(alphas, betas.tolist())]
