# SPDX-License-Identifier: Apache-2.0
"""Pictures with matplotlib (``pip install matplotlib``), and the privacy statement."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Union

from . import _core
from ._curve import Curve, analyze
from ._errors import DomainError
from ._numbers import Number, to_text
from ._plan import Plan
from ._progress import Progress

Drawable = Union[Curve, Plan, str]

# The colours of Okabe and Ito without yellow, as in the pictures of the command line; the last one is grey.
_ON_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#b0578d", "#c98500", "#3a9bd9", "#24292f", "#8c959f")
_ON_DARK = ("#56b4e9", "#ff8c42", "#2fc79a", "#e69fc6", "#f0b429", "#8fb8ff", "#e6edf3", "#8b949e")
_DASHES = {"solid": "-", "dashed": "--", "dotted": ":"}
_VISIBLE = 0.0025  # of the height: a narrower band is hidden by its own line


def _curve_of(what: Drawable) -> Curve:
    return what if isinstance(what, Curve) else analyze(what)


def _curves_of(what: Drawable | Sequence[Drawable]) -> list[Curve]:
    if isinstance(what, (Curve, Plan, str)):
        return [_curve_of(what)]
    return [_curve_of(one) for one in what]


def plot(
    what: Drawable | Sequence[Drawable],
    kind: str = "tradeoff",
    *,
    axes: Any = None,
    points: int = 201,
    direction: str = "worst",
    labels: Sequence[str] | None = None,
    file: str | PathLike[str] | None = None,
) -> Any:
    """Draws curves or plans, one or a list of them, and returns the matplotlib axes.

    ``file`` also writes the picture, in the format of its suffix: ``.pdf``, ``.png``, ``.svg`` or ``.pgf`` (for LaTeX).

    ``kind`` is ``tradeoff`` (beta of alpha), ``profile`` (delta of epsilon) or ``gdpt`` (mu of epsilon). The description is the one that
    the command line draws; the certified band is shown where it is wide enough to be seen. On dark axes the colours are light.
    """
    if kind not in ("tradeoff", "profile", "gdpt"):
        raise DomainError(f"kind = {kind!r} is not allowed; it must be one of tradeoff, profile, gdpt")
    curves = _curves_of(what)
    names = [curve.plan.text for curve in curves] if labels is None else list(labels)
    if not curves or len(names) != len(curves):
        raise DomainError(f"{len(names)} labels for {len(curves)} curves")
    try:
        import matplotlib.pyplot as pyplot  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("plot draws with matplotlib, which is not installed: pip install matplotlib") from None
    picture = json.loads(_core.picture(kind, [(n, c._core_for(direction)) for n, c in zip(names, curves)], direction, points))
    drawing: Any = pyplot
    axes = axes if axes is not None else drawing.figure(figsize=(5.2, 5.6) if picture["square"] else (6.4, 5.2)).add_subplot()
    _draw(picture, axes)
    if file is not None:
        axes.figure.savefig(file, bbox_inches="tight")
    return axes


def _is_dark(axes: Any) -> bool:
    from matplotlib.colors import to_rgb  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return sum(to_rgb(axes.get_facecolor())) < 1.5


def _draw(picture: dict[str, Any], axes: Any) -> None:
    palette = _ON_DARK if _is_dark(axes) else _ON_LIGHT
    for name, axis in (("x", picture["x"]), ("y", picture["y"])):
        getattr(axes, f"set_{name}label")(axis["label"])
        getattr(axes, f"set_{name}scale")(axis["scale"])
    height = _height_of(picture)
    following = 0
    for series in picture["series"]:
        colour = series["colour"]
        if colour is None:
            colour, following = following % (len(palette) - 1), following + 1
        _draw_series(series, palette[colour], height, axes)
    axes.set_xlim(left=picture["x"]["low"], right=picture["x"]["high"])
    axes.set_ylim(bottom=picture["y"]["low"], top=picture["y"]["high"])
    axes.set_title(picture["title"])
    axes.grid(alpha=0.25, linewidth=0.8)
    axes.set_axisbelow(True)
    if picture["square"]:
        axes.set_aspect("equal")
    elif picture["x"]["high"] is None:
        axes.set_xlim(right=max(x for series in picture["series"] for x in series["x"] if x is not None))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False, fontsize="small")
    if axes.figure.get_layout_engine() is None:
        axes.figure.set_layout_engine("constrained")  # makes room for the legend below


def _height_of(picture: dict[str, Any]) -> float:
    """What the y axis spans; nothing is said about bands on a logarithmic one."""
    if picture["y"]["scale"] == "log":
        return float("inf")
    if picture["y"]["high"] is not None:
        return float(picture["y"]["high"] - (picture["y"]["low"] or 0))
    return float(max((v for series in picture["series"] for v in series["hi"] if v is not None), default=1))


def _draw_series(series: dict[str, Any], colour: str, height: float, axes: Any) -> None:
    import numpy as np

    x, lo, hi = (np.array([np.nan if v is None else v for v in series[key]], dtype=float) for key in ("x", "lo", "hi"))
    label = series["label"] or "_nolegend_"
    if series["shape"] == "area":
        axes.fill_between(x, lo, hi, color=colour, alpha=0.16, linewidth=0, label=label)
    elif series["shape"] == "markers":
        axes.plot(x, (lo + hi) / 2, "o", color=colour, markersize=6, label=label)
    else:
        style: dict[str, Any] = {"color": colour, "linestyle": _DASHES[series["stroke"]], "linewidth": 1.8, "label": label}
        if series["shape"] == "steps":
            style["drawstyle"] = "steps-post"
        axes.plot(x, (lo + hi) / 2, **style)
        if np.nanmax(hi - lo, initial=0) > _VISIBLE * height:
            axes.fill_between(x, lo, hi, color=colour, alpha=0.25, linewidth=0, step="post" if series["shape"] == "steps" else None)


def report(
    what: Drawable,
    *others: Drawable,
    format: str = "md",
    unit: str = "",
    title: str = "",
    delta: Number | None = None,
    date: str = "",
    contact: str = "",
    values: Mapping[str, Number] | None = None,
    disjoint: bool = False,
) -> str:
    """The privacy statement of a plan or curve, as Markdown (``md``), as one HTML page (``html``) or as JSON; others are set beside it.

    Args:
        unit: what one record is to people: ``"one patient"``.
        delta: of the headline; 1e-5 if nothing is said.
        date: of publication.
        contact: whom a reader may ask.
        values: the published values by their labels, shown with the margin of error of the noise. The plan must release as many.
        disjoint: each of these values is about other people, so the plan releases one of them.

    >>> import tradeoff as to
    >>> print(to.report("laplace(scale=2)", unit="one patient").splitlines()[2])
    > **Certified: ε ≤ 0.49998 at δ = 1e-5, for one patient.**
    """
    if format not in ("md", "html", "json"):
        raise DomainError(f"format = {format!r} is not allowed; it must be one of md, html, json")
    if len(others) > 7:
        raise DomainError("at most 8 plans fit one page")
    curves = [_curve_of(one) for one in (what, *others)]
    published = [(str(label), to_text(f"values[{label!r}]", value)) for label, value in (values or {}).items()]
    with Progress("report"):
        return _core.statement(
            [(curve.plan.text, curve._core) for curve in curves],
            format,
            title,
            unit,
            "" if delta is None else to_text("delta", delta),
            date,
            contact,
            published,
            disjoint,
        )
