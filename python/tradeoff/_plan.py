# SPDX-License-Identifier: Apache-2.0
"""Plans: what was run on the data, by functions, methods, operators or text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _core
from ._errors import DomainError, ParseError
from ._numbers import Number, to_text

if TYPE_CHECKING:
    from ._curve import Curve

PlanLike = Union["Plan", str]


class Plan:
    """What was run on the data: one line per mechanism, all on the same records. Immutable, hashable, picklable.

    A plan can be written in text, by methods or by operators; ``|`` applies an operator, ``*`` runs both on the same data, ``**`` repeats.

    >>> import tradeoff as to
    >>> plan = to.gaussian(sigma=1.1).poisson(rate="256/60000").repeat(14063)
    >>> plan == to.parse("gaussian(1.1) | poisson(256/60000) | repeat(14063)")
    True
    >>> plan == (to.gaussian(1.1) | to.poisson("256/60000")) ** 14063
    True
    >>> print(plan * to.laplace(scale=2) ** 50)
    gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)
    laplace(scale=2) | repeat(50)
    """

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: PlanLike) -> None:
        if isinstance(text, Plan):
            canonical = text._text
        elif isinstance(text, str):
            canonical = _core.canonical(_encodable(text))
        else:
            raise DomainError(f"plan: a {type(text).__name__} is no plan; give text or a Plan")
        object.__setattr__(self, "_text", canonical)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Plan cannot be changed; its methods make new ones")

    @property
    def text(self) -> str:
        """The plan in its canonical spelling: ``parse(plan.text) == plan``."""
        return self._text

    def curve(self, *, neighbours: str | None = None, relative: Number = 1e-6) -> Curve:
        """What the plan guarantees.

        Args:
            neighbours: ``"add-remove"`` or ``"replace-one"``; may be left out where an operator fixes it or it does not matter.
            relative: target relative width of the answers (they may be wider).

        >>> import tradeoff as to
        >>> to.gaussian(sigma=1).curve().epsilon(delta=1e-5).hi <= 4.378
        True
        """
        from ._curve import analyze

        return analyze(self, neighbours=neighbours, relative=relative)

    def poisson(self, rate: Number) -> Plan:
        """Each record takes part independently with probability ``rate`` (add-remove neighbours)."""
        return self | poisson(rate)

    def sample(self, size: Number | None = None, of: Number | None = None, *, rate: Number | None = None) -> Plan:
        """``size`` records out of ``of``, drawn without replacement (replace-one neighbours)."""
        return self | sample(size, of, rate=rate)

    def sample_with_replacement(self, draws: Number, of: Number) -> Plan:
        """``draws`` draws with replacement out of ``of`` records (replace-one neighbours)."""
        return self | sample_with_replacement(draws, of)

    def repeat(self, times: Number) -> Plan:
        """Run again on the same data with fresh randomness. ``plan ** times`` is the same."""
        return self | repeat(times)

    def group(self, size: Number) -> Plan:
        """Protection of ``size`` records that change together."""
        return self | group(size)

    def rectify(self, epsilon: Number, low: Number, high: Number) -> Plan:
        """Clip to [low, high], then add Laplace noise of scale (high - low)/epsilon: makes any plan Gaussian-DP."""
        return self | rectify(epsilon, low, high)

    def invert(self) -> Plan:
        """The roles of both data sets exchanged: the inverse of the trade-off function."""
        return self | invert()

    def refine(self) -> Plan:
        """The tightest symmetric profile that the given one implies."""
        return self | refine()

    def __or__(self, operator: Operator) -> Plan:
        if not isinstance(operator, Operator):
            return NotImplemented
        return Plan(_core.apply(self._text, operator.text))

    def __mul__(self, other: Plan) -> Plan:
        if not isinstance(other, Plan):
            return NotImplemented
        return compose(self, other)

    def __pow__(self, times: int) -> Plan:
        if isinstance(times, bool) or not isinstance(times, int):
            return NotImplemented
        return self.repeat(times)

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Plan) else NotImplemented

    def __hash__(self) -> int:
        return hash((Plan, self._text))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Plan({self._text!r})"

    def __reduce__(self) -> tuple[type[Plan], tuple[str]]:
        return Plan, (self._text,)


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ParseError("half of a surrogate pair is no character", text[: error.start], len(text[: error.start].encode())) from None
    return text


class Operator:
    """What can follow a ``|``. Operators chain: ``poisson(0.01) | repeat(100)`` is one too.

    >>> import tradeoff as to
    >>> step = to.poisson(0.01) | to.repeat(100)
    >>> to.gaussian(1) | step
    Plan('gaussian(sigma=1) | poisson(rate=0.01) | repeat(100)')
    """

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        carrier = _core.apply("gdp(mu=1)", text)
        object.__setattr__(self, "_text", carrier.removeprefix("gdp(mu=1) | "))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Operator cannot be changed")

    @property
    def text(self) -> str:
        """The operator in its canonical spelling."""
        return self._text

    def __or__(self, other: Operator) -> Operator:
        if not isinstance(other, Operator):
            return NotImplemented
        return Operator(f"{self._text} | {other._text}")

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Operator) else NotImplemented

    def __hash__(self) -> int:
        return hash((Operator, self._text))

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Operator({self._text!r})"

    def __reduce__(self) -> tuple[type[Operator], tuple[str]]:
        return Operator, (self._text,)


def parse(text: str) -> Plan:
    """Reads a plan from text. Raises ParseError, which points at the fault.

    >>> import tradeoff as to
    >>> to.parse("laplace(2) | repeat(50)   # fifty counts")
    Plan('laplace(scale=2) | repeat(50)')
    """
    if not isinstance(text, str):
        raise DomainError(f"plan: a {type(text).__name__} is no text")
    return Plan(text)


def compose(*plans: PlanLike) -> Plan:
    """All of them on the same data.

    >>> import tradeoff as to
    >>> to.compose("gaussian(1)", to.laplace(2)) == to.gaussian(1) * to.laplace(2)
    True
    """
    if not plans:
        raise DomainError("compose: give at least one plan; an empty plan says nothing")
    composed = object.__new__(Plan)  # the core's spelling is canonical, and reading a long plan once more takes its time
    object.__setattr__(composed, "_text", _core.compose([plan._text if isinstance(plan, Plan) else Plan(plan)._text for plan in plans]))
    return composed


class Parameter(NamedTuple):
    """An argument of a word of the plan language. ``default`` is None if it must be given."""

    name: str
    meaning: str
    default: str | None
    form: int


class Word(NamedTuple):
    """A word of the plan language."""

    name: str
    role: str
    usage: str
    meaning: str
    neighbours: str | None
    parameters: tuple[Parameter, ...]


def mechanisms() -> list[Word]:
    """Every word of the plan language: sources, operators and tails.

    >>> import tradeoff as to
    >>> [word.usage for word in to.mechanisms() if word.name == "laplace"]
    ['laplace(scale, sensitivity=1)']
    """
    return [
        Word(name, role, usage, meaning, neighbours or None, tuple(Parameter(n, m, d or None, f) for n, m, d, f in parameters))
        for name, role, usage, meaning, neighbours, parameters in _core.vocabulary()
    ]


# How arguments are spelled in plan text. Each value is checked by itself, so that no text can smuggle in more than a number.


def _number(name: str, value: Any) -> str:
    text = to_text(name, value)
    return text if text == "?" else _core.spell_number(name, text)


def _pairs(name: str, values: Iterable[Any]) -> str:
    return "[" + ", ".join("(" + ", ".join(_number(name, part) for part in _items(name, pair)) + ")" for pair in _items(name, values)) + "]"


def _items(name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes)):
        raise DomainError(f"{name}: text where a list is wanted")
    try:
        return list(values)
    except TypeError:
        raise DomainError(f"{name}: a {type(values).__name__} where a list is wanted") from None


def _call(name: str, **arguments: str | None) -> str:
    return name + "(" + ", ".join(f"{key}={value}" for key, value in arguments.items() if value is not None) + ")"


def _numbers_call(name: str, **arguments: Any) -> str:
    return _call(name, **{key: _number(key, value) for key, value in arguments.items() if value is not None})


def _checked(text: str) -> Plan:
    """The plan of one source whose numbers are in range; one with a ``?`` is checked when its value is found."""
    plan = Plan(text)
    _core.check_ranges(plan.text)
    return plan


def _source(name: str, **arguments: Any) -> Plan:
    return _checked(_numbers_call(name, **arguments))


# Sources


def gaussian(sigma: Number, sensitivity: Number | None = None) -> Plan:
    """Gaussian noise of standard deviation ``sigma``; ``sensitivity`` (1 if left out) is the l2 distance one record can move the answer.

    >>> import tradeoff as to
    >>> to.gaussian(sigma=2, sensitivity=0.5)
    Plan('gaussian(sigma=2, sensitivity=0.5)')
    """
    return _source("gaussian", sigma=sigma, sensitivity=sensitivity)


def laplace(scale: Number, sensitivity: Number | None = None) -> Plan:
    """Laplace noise; ``sensitivity`` (1 if left out) is the l1 distance one record can move the answer.

    >>> import tradeoff as to
    >>> to.laplace(2).curve().epsilon(delta=0)
    Interval(lo=0.5, hi=0.5)
    """
    return _source("laplace", scale=scale, sensitivity=sensitivity)


def truncated_laplace(scale: Number, bound: Number, sensitivity: Number | None = None) -> Plan:
    """Laplace noise restricted to [-bound, bound]."""
    return _source("truncated_laplace", scale=scale, bound=bound, sensitivity=sensitivity)


def discrete_gaussian(sigma: Number, sensitivity: Number | None = None) -> Plan:
    """Gaussian noise on the integers; ``sensitivity`` in steps of the grid."""
    return _source("discrete_gaussian", sigma=sigma, sensitivity=sensitivity)


def discrete_laplace(scale: Number, sensitivity: Number | None = None) -> Plan:
    """Laplace noise on the integers; ``sensitivity`` in steps of the grid."""
    return _source("discrete_laplace", scale=scale, sensitivity=sensitivity)


def truncated_discrete_laplace(scale: Number, bound: Number, sensitivity: Number | None = None) -> Plan:
    """Laplace noise on the integers -bound..bound."""
    return _source("truncated_discrete_laplace", scale=scale, bound=bound, sensitivity=sensitivity)


def randomized_response(epsilon: Number, choices: Number | None = None) -> Plan:
    """k-ary randomised response; the truth is exp(epsilon) times likelier than any other of the ``choices`` (2 if left out) answers."""
    return _source("randomized_response", epsilon=epsilon, choices=choices)


def gdp(mu: Number) -> Plan:
    """Anything known only to be mu-GDP."""
    return _source("gdp", mu=mu)


def dp(epsilon: Number, delta: Number | None = None) -> Plan:
    """Anything known only to be (epsilon, delta)-DP; delta is 0 if left out.

    >>> import tradeoff as to
    >>> to.dp(1, 1e-5).curve().mu().verdict
    'not_gdp'
    """
    return _source("dp", epsilon=epsilon, delta=delta)


def constraints(points: Iterable[Any]) -> Plan:
    """Anything that satisfies all of these (epsilon, delta) at once.

    >>> import tradeoff as to
    >>> to.constraints([(1, 0), (0.5, 0.1)])
    Plan('constraints([(1, 0), (0.5, 0.1)])')
    """
    return _checked(_call("constraints", points=_pairs("points", points)))


def mixture(components: Iterable[tuple[Number, PlanLike]]) -> Plan:
    """One of the plans, chosen by weight, the choice observed: ``mixture([(0.3, a), (0.7, b)])``.

    >>> import tradeoff as to
    >>> to.mixture([(0.25, to.gaussian(1)), (0.75, to.laplace(2).repeat(2))])
    Plan('mixture([(0.25, gaussian(sigma=1)), (0.75, (laplace(scale=2) | repeat(2)))])')
    """
    parts = []
    for component in _items("components", components):
        pair = _items("components", component)
        if len(pair) != 2:
            raise DomainError("components: each entry must be a pair (weight, plan)")
        parts.append(f"({_number('weight', pair[0])}, ({'; '.join(Plan(pair[1]).text.splitlines())}))")
    return Plan(_call("mixture", components="[" + ", ".join(parts) + "]"))


def _plans(name: str, plans: Iterable[PlanLike]) -> str:
    return "[" + ", ".join(f"({'; '.join(Plan(plan).text.splitlines())})" for plan in _items(name, plans)) + "]"


def strongest(guarantees: Iterable[PlanLike]) -> Plan:
    """One mechanism for which each of these is a guarantee: the larger trade-off function.

    >>> import tradeoff as to
    >>> to.strongest([to.gdp(1), to.dp(1)])
    Plan('strongest([gdp(mu=1), dp(epsilon=1)])')
    """
    return Plan(_call("strongest", guarantees=_plans("guarantees", guarantees)))


def weakest(mechanisms: Iterable[PlanLike]) -> Plan:
    """One of these mechanisms, it is not known which: the smaller trade-off function, made convex."""
    return Plan(_call("weakest", mechanisms=_plans("mechanisms", mechanisms)))


def pair(p: Iterable[Number], q: Iterable[Number]) -> Plan:
    """A finite pair of distributions: probabilities with the record, and without it."""
    listed = {name: "[" + ", ".join(_number(name, x) for x in _items(name, values)) + "]" for name, values in (("p", p), ("q", q))}
    return _checked(_call("pair", p=listed["p"], q=listed["q"]))


def rdp(points: Iterable[Any]) -> Plan:
    """Anything known only by Renyi divergences: a list of (order, divergence). Lossy.

    >>> import tradeoff as to
    >>> to.rdp([(2, 0.1), (8, 0.5)])
    Plan('rdp([(2, 0.1), (8, 0.5)])')
    """
    return _checked(_call("rdp", points=_pairs("points", points)))


def zcdp(rho: Number) -> Plan:
    """Anything known only to be rho-zCDP. Lossy."""
    return _source("zcdp", rho=rho)


def sqrt_log_family(a: Number, b: Number, sigma: Number) -> Plan:
    """Known only through sigma = a/epsilon * sqrt(log(b/delta))."""
    return _source("sqrt_log_family", a=a, b=b, sigma=sigma)


def log_family(c: Number, sigma: Number) -> Plan:
    """Known only through sigma = -c log(delta)/epsilon."""
    return _source("log_family", c=c, sigma=sigma)


def icea(users: Number, messages: Number) -> Plan:
    """The invisibility cloak encoder of the shuffle model, as its source states it: for changes that keep the sum of all inputs."""
    return _source("icea", users=users, messages=messages)


def profile(points: Iterable[Any] | None = None, *, file: str | None = None, tail: str | tuple[Number, Number] | None = None) -> Plan:
    """A privacy profile of your own, by points (epsilon, delta) or by a file of them.

    Args:
        tail: what is known beyond the last point: ``"unknown"`` (if left out), ``"zero"``, or ``(k, s)`` for
            delta(e) <= k exp(-e^2/(2 s^2)).

    >>> import tradeoff as to
    >>> to.profile([(0, 0.5), (1, 0.1)], tail="zero")
    Plan('profile(points=[(0, 0.5), (1, 0.1)], tail=zero)')
    """
    word: str | None = tail if isinstance(tail, str) else None
    if tail is not None and not isinstance(tail, str):
        pair = _items("tail", tail)
        if len(pair) != 2:
            raise DomainError("tail: give the pair (k, s) of a Gaussian tail")
        word = f"gaussian(k={_number('k', pair[0])}, s={_number('s', pair[1])})"
    elif tail is not None and tail not in ("unknown", "zero"):
        raise DomainError("tail must be 'unknown', 'zero' or a pair (k, s)")
    return Plan(_call("profile", file=_file(file), points=None if points is None else _pairs("points", points), tail=word))


def curve(points: Iterable[Any] | None = None, *, file: str | None = None) -> Plan:
    """A trade-off function of your own, by points (alpha, beta) or by a file of them. (What a plan guarantees is ``plan.curve()``.)"""
    return Plan(_call("curve", file=_file(file), points=None if points is None else _pairs("points", points)))


def _file(path: Any) -> str | None:
    return None if path is None else _core.quote(_encodable(str(path)))


# Operators


def _operator(name: str, **arguments: Any) -> Operator:
    operator = Operator(_numbers_call(name, **arguments))
    _core.check_ranges(f"gdp(mu=0) | {operator.text}")  # a base that costs nothing
    return operator


def poisson(rate: Number) -> Operator:
    """Each record takes part independently with probability ``rate`` (add-remove neighbours)."""
    return _operator("poisson", rate=rate)


def sample(size: Number | None = None, of: Number | None = None, *, rate: Number | None = None) -> Operator:
    """``size`` records out of ``of``, drawn without replacement (replace-one neighbours)."""
    return _operator("sample", size=size, of=of, rate=rate)


def sample_with_replacement(draws: Number, of: Number) -> Operator:
    """``draws`` draws with replacement out of ``of`` records (replace-one neighbours)."""
    return _operator("sample_with_replacement", draws=draws, of=of)


def repeat(times: Number) -> Operator:
    """Run again on the same data with fresh randomness."""
    return _operator("repeat", times=times)


def group(size: Number) -> Operator:
    """Protection of ``size`` records that change together."""
    return _operator("group", size=size)


def rectify(epsilon: Number, low: Number, high: Number) -> Operator:
    """Clip to [low, high], then add Laplace noise of scale (high - low)/epsilon."""
    return _operator("rectify", epsilon=epsilon, low=low, high=high)


def invert() -> Operator:
    """The roles of both data sets exchanged: the inverse of the trade-off function."""
    return _operator("invert")


def refine() -> Operator:
    """The tightest symmetric profile that the given one implies."""
    return _operator("refine")
