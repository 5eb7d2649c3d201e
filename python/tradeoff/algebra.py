# SPDX-License-Identifier: Apache-2.0
"""The algebra of curves, for curves that no plan describes. Curves that are combined must have the same neighbours.

>>> import tradeoff as to
>>> from tradeoff import algebra
>>> both = algebra.strongest([to.dp(1).curve(), to.gaussian(1).curve()])
>>> both.delta(0.5).hi <= to.gaussian(1).curve().delta(0.5).hi
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._curve import Curve, Guarantee
from ._errors import DomainError
from ._interval import upper
from ._numbers import Number, to_text

Point = tuple[Number, Number]

__all__ = [
    "from_guarantees",
    "from_tradeoff",
    "grouped",
    "inverse",
    "mixture",
    "product",
    "strongest",
    "symmetrized",
    "to_guarantees",
    "weakest",
    "with_revealing",
]


def inverse(curve: Curve) -> Curve:
    """Both directions exchanged: the trade-off function's inverse. Lossless."""
    return _made(_core.inverse(_core_of(curve)), inverse, curve)


def symmetrized(curve: Curve) -> Curve:
    """The symmetric curve below both orders: what may be claimed without knowing which order occurs."""
    return _made(_core.symmetrized(_core_of(curve)), symmetrized, curve)


def strongest(curves: Iterable[Curve]) -> Curve:
    """One mechanism for which every one of these is a valid guarantee: the larger trade-off function, the smaller profile."""
    listed = tuple(curves)
    return _made(_core.strongest([_core_of(curve) for curve in listed]), strongest, listed)


def weakest(curves: Iterable[Curve]) -> Curve:
    """One of these mechanisms, it is not known which: the smaller trade-off function, made convex; the larger profile."""
    listed = tuple(curves)
    return _made(_core.weakest([_core_of(curve) for curve in listed]), weakest, listed)


def product(curves: Iterable[Curve]) -> Curve:
    """All of these on the same data: the tensor product."""
    listed = tuple(curves)
    return _made(_core.product([_core_of(curve) for curve in listed]), product, listed)


def mixture(components: Iterable[tuple[Number, Curve]]) -> Curve:
    """One of these mechanisms is drawn with these probabilities and the draw is public. Weights must sum to 1.

    >>> import tradeoff as to
    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> mixture([(third, to.dp(1).curve()), (1 - third, to.dp(2).curve())]).epsilon(0).hi
    2.0
    """
    listed = tuple((to_text("weight", weight), curve) for weight, curve in components)
    return _made(_core.mixture([(weight, _core_of(curve)) for weight, curve in listed]), mixture, listed)


def with_revealing(curve: Curve, probability: Number) -> Curve:
    """Beside a chance of revealing everything."""
    text = to_text("probability", probability)
    return _made(_core.with_revealing(_core_of(curve), text), with_revealing, curve, text)


def grouped(curve: Curve, size: int) -> Curve:
    """For this many records that change together."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size < 2**63:
        raise DomainError(f"size = {size!r} is not allowed; it must be a whole number of at least 1")
    return _made(_core.grouped(_core_of(curve), size), grouped, curve, size)


def from_guarantees(points: Iterable[Point], neighbours: str | None = None) -> Curve:
    """Anything that is (epsilon, delta)-DP for every one of the pairs. Lossless: the curve says what the list says and no more.

    >>> 0.5 in from_guarantees([(1, 0), (0.5, 1e-3)]).epsilon(1e-3)
    True
    """
    listed = tuple((to_text("epsilon", epsilon), to_text("delta", delta)) for epsilon, delta in points)
    return _made(_core.from_guarantees(list(listed), neighbours or ""), from_guarantees, listed, neighbours)


def from_tradeoff(points: Iterable[Point], neighbours: str | None = None) -> Curve:
    """The polygon through points (alpha, beta) of a trade-off function, from alpha = 0 down to beta = 0."""
    listed = tuple((to_text("alpha", alpha), to_text("beta", beta)) for alpha, beta in points)
    return _made(_core.from_tradeoff(list(listed), neighbours or ""), from_tradeoff, listed, neighbours)


def to_guarantees(curve: Curve, epsilons: Iterable[float]) -> tuple[Guarantee, ...]:
    """(epsilon, delta) at each epsilon: a valid list of guarantees, lossy between them."""
    found = _core.to_guarantees(_core_of(curve), [float(epsilon) for epsilon in epsilons])
    return tuple(Guarantee(upper(epsilon), upper(delta)) for epsilon, delta in found)


def _core_of(curve: Curve) -> _core.Curve:
    if not isinstance(curve, Curve):
        raise DomainError(f"a {type(curve).__name__} is no Curve")
    return curve._core


def _made(core: _core.Curve, maker: Callable[..., Curve], *arguments: Any) -> Curve:
    return Curve._of(core, None, "", "", "", (maker, *arguments))
