# SPDX-License-Identifier: Apache-2.0
"""mu with its regret, as gdpnum reports them, but certified."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._curve import Curve
from .._errors import UnsupportedError
from .._interval import Interval
from .._numbers import Number
from .._plan import compose, dp, gdp


class MuAndRegret(NamedTuple):
    """The plan is mu-GDP except with probability ``slack``; ``regret`` bounds the loss of accuracy of that summary.

    The regret is the least k such that f(alpha + k) - k <= g(alpha) everywhere, with f the trade-off function of the plan and g that of
    the guarantee.
    """

    mu: float
    slack: float
    regret: Interval


def mu_and_regret(curve: Curve, *, slack: Number = 1e-10, points: int = 1000) -> MuAndRegret:
    """The least mu for this slack, and its regret.

    DP-SGD is mu-GDP only for a huge mu. The mu that tools quote ignores false-positive rates below about 1e-10. Here a slack states this,
    so that (mu, slack) is a guarantee about the whole curve.

    >>> import tradeoff as to
    >>> found = mu_and_regret(to.gaussian(sigma=1).curve(), slack=0)
    >>> 1 <= found.mu < 1.000001 and found.regret.hi < 1e-4
    True
    """
    measured = curve.mu(slack=slack)
    pair = measured.with_slack[0]
    if not pair.mu.hi < float("inf"):
        raise UnsupportedError("mu: the plan reveals everything with a larger chance than this slack, so there is no mu")
    guarantee = compose(gdp(pair.mu.hi), dp(0, slack)).curve()
    return MuAndRegret(pair.mu.hi, pair.slack, _regret(curve, guarantee, points))


def _regret(curve: Curve, guarantee: Curve, points: int) -> Interval:
    """Turned by 45 degrees the curves are functions v(u), u = alpha - beta, v = alpha + beta, and the regret is half their distance.

    From above a convex curve lies below its chords, from below above their continuations; both are polygons, so that the distance is
    largest at a corner.
    """
    import numpy as np

    tail = np.geomspace(1e-9, 1 / points, points // 20)  # near 1 a beta costs a millisecond; more of them change no digit of a regret
    at = np.unique(np.concatenate([[0.0, 1.0], tail, 1 - tail, np.linspace(0, 1, points)]))
    f, g = curve.beta(at), guarantee.beta(at)
    f_above, f_below, g_above = _turn(at, f[:, 1]), _turn(at, f[:, 0]), _turn(at, g[:, 1])
    g_below = _turn(*_polygon_below(np, at, g[:, 0], g[:, 1]))
    corners = np.union1d(f_above[0], g_below[0])
    above = float(np.max(np.interp(corners, *f_above) - np.interp(corners, *g_below)) / 2)  # pyright: ignore[reportUnknownArgumentType]
    below = float(np.max(f_below[1] - np.interp(f_below[0], *g_above)) / 2)  # pyright: ignore[reportUnknownArgumentType]
    rounding = 1e-12  # far above that of a few operations on numbers of size one
    return Interval(max(0.0, below - rounding), max(0.0, above + rounding), "hi")


def _turn(alpha: Any, beta: Any) -> tuple[Any, Any]:
    return alpha - beta, alpha + beta


def _polygon_below(np: Any, at: Any, lo: Any, hi: Any) -> tuple[Any, Any]:
    """Corners of a polygon below the convex curve that runs between lo and hi at these places.

    Between two places it follows the chord before, continued, then the chord after, continued; in the first and the last gap, which are
    tiny, it goes down at once.
    """
    before = (lo[1:] - hi[:-1]) / np.diff(at)  # at most the slope of the chord, which may be continued to the right
    after = (hi[1:] - lo[:-1]) / np.diff(at)  # at least the slope, which may be continued to the left
    a, b, left, right = at[1:-2], at[2:-1], before[:-2], after[2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = (lo[2:-1] - lo[1:-2] + left * a - right * b) / (left - right)
    meet = np.clip(np.where(np.isfinite(meet), meet, a), a, b)
    height = np.minimum(lo[1:-2] + left * (meet - a), lo[2:-1] + right * (meet - b))
    inner = np.concatenate([[at[0]], meet, [at[-2]]]), np.concatenate([[lo[1]], height, [lo[-1]]])
    alpha, beta = np.empty(2 * len(at) - 1), np.empty(2 * len(at) - 1)
    alpha[::2], alpha[1::2] = at, inner[0]
    beta[::2], beta[1::2] = lo, inner[1]
    return alpha, beta
