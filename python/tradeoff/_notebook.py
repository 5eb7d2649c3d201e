# SPDX-License-Identifier: Apache-2.0
"""How answers look in a notebook: plain tables, and the trade-off function as a small picture."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ._interval import Interval

if TYPE_CHECKING:
    from ._curve import Comparison, Curve, Risk

_DELTAS = ("1e-5", "1e-6", "1e-8")
_QUICK = 0.02  # seconds for the first answer: a slower curve is drawn only if asked for
_SIDE = 180  # of the picture, in pixels
_POINTS = 61


def _cell(value: Any) -> str:
    if isinstance(value, Interval):
        return value._repr_html_()
    return escape(format(value, "g") if isinstance(value, float) else str(value))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table; intervals show the end that may be claimed first."""
    left = ' style="text-align: left"'
    top = "".join(f"<th{left}>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td{left}>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _picture(curve: Curve) -> str:
    """The trade-off function: the end of beta that may be claimed, and the diagonal, which is perfect privacy."""
    ends = curve.beta([i / (_POINTS - 1) for i in range(_POINTS)])
    line = " ".join(f"{_SIDE * i / (_POINTS - 1):.1f},{_SIDE * (1 - float(beta[0])):.1f}" for i, beta in enumerate(ends))
    return (
        f'<svg width="{_SIDE + 60}" height="{_SIDE + 40}" viewBox="-45 -10 {_SIDE + 60} {_SIDE + 40}" role="img" '
        f'aria-label="trade-off function: type II error against type I error" style="font: 11px sans-serif" fill="currentColor">'
        f'<rect width="{_SIDE}" height="{_SIDE}" fill="none" stroke="currentColor" opacity="0.4"/>'
        f'<path d="M0 0L{_SIDE} {_SIDE}" stroke="currentColor" opacity="0.4" stroke-dasharray="3"/>'
        f'<polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="2"/>'
        f'<text x="{_SIDE / 2}" y="{_SIDE + 24}" text-anchor="middle">type I error</text>'
        f'<text x="-12" y="{_SIDE / 2}" text-anchor="middle" transform="rotate(-90 -12 {_SIDE / 2})">type II error</text></svg>'
    )


def curve_to_html(curve: Curve) -> str:
    """The epsilons of a curve at usual deltas and its advantage; a picture if the first answer was quick."""
    start = time.perf_counter()
    rows = [(f"epsilon at delta = {delta}", curve.epsilon(delta)) for delta in _DELTAS]
    quick = (time.perf_counter() - start) / len(_DELTAS) <= _QUICK
    rows.append(("advantage of any attack", curve.advantage()))
    picture = _picture(curve) if quick else "<p><small>curve.plot() draws the trade-off function.</small></p>"
    neighbours = curve.neighbours or "not stated"
    return f"<p><code>{escape(curve._name())}</code><br>neighbours: {escape(neighbours)}</p>{table(('', 'proved'), rows)}{picture}"


def risk_to_html(risk: Risk) -> str:
    """The sentences first, then the numbers."""
    sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in risk.sentences)
    rows: list[tuple[str, Interval]] = [("advantage of any attack", risk.advantage)]
    rows += [(f"true-positive rate at false-positive rate {fpr:g}", value) for fpr, value in risk.tpr.items()]
    rows += [(f"accuracy of a guess at prior {prior:g}", value) for prior, value in risk.accuracy.items()]
    rows += [(f"naming one of {people} people", value) for people, value in risk.naming.items()]
    return f"<ul>{sentences}</ul>{table(('', 'proved'), rows)}"


def comparison_to_html(comparison: Comparison) -> str:
    """Every method that answers, the best first; refusals come last."""
    signs = {"bound": "proved", "estimate": "estimate, proves nothing", "at_least": "lower bound", "refused": "refused"}
    answered = sorted((row for row in comparison.rows if row.kind != "refused"), key=lambda row: row.epsilon.hi)
    refused = [row for row in comparison.rows if row.kind == "refused"]
    shown = [(row.method, row.epsilon if row.kind != "refused" else "", signs[row.kind], row.remark) for row in [*answered, *refused]]
    return table(("method", "epsilon", "kind", "remark"), shown)
