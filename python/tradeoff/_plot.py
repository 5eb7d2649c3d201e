# SPDX-License-Identifier: Apache-2.0
"""Pictures of curves, with matplotlib (``pip install tradeoff[plot]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import DomainError

if TYPE_CHECKING:
    from ._curve import Curve

_LEAST_DELTA = 1e-10  # beyond the epsilon of this delta a plot shows nothing
_FALLBACK_EPSILON = 10.0  # if there is no such epsilon


def plot(curve: Curve, kind: str, axes: Any, points: int) -> Any:
    """The band between both ends of every answer; on a page it is a line."""
    if kind not in ("tradeoff", "profile", "gdpt"):
        raise DomainError(f"kind = {kind!r} is not allowed; it must be one of tradeoff, profile, gdpt")
    import matplotlib.pyplot as pyplot  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import numpy as np

    band: Any
    axes = axes if axes is not None else pyplot.figure().add_subplot()
    if kind == "tradeoff":
        at = np.linspace(0, 1, points) ** 3  # denser near alpha = 0, where attacks are judged
        band, labels = curve.beta(at), ("false positives (alpha)", "misses (beta)")
        axes.plot([0, 1], [1, 0], linestyle=":", color="grey", label="pure guessing")
    else:
        last = curve.epsilon(_LEAST_DELTA).hi
        at = np.linspace(0, last if 0 < last < float("inf") else _FALLBACK_EPSILON, points)
        band = curve.delta(at) if kind == "profile" else curve.gdpt(at)
        labels = ("epsilon", "delta" if kind == "profile" else "mu")
    axes.fill_between(at, band[:, 0], band[:, 1], alpha=0.3)
    axes.plot(at, band[:, 0] if kind == "tradeoff" else band[:, 1], label=str(curve.plan))
    if kind == "profile":
        axes.set_yscale("log")
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.legend()
    return axes
