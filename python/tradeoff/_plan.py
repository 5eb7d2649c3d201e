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
            raise DomainError(f"plan: {text!r:.40} is no plan (it is of type {type(text).__name__}); give text or a Plan")
        object.__setattr__(self, "_text", canonical)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Plan cannot be changed; its methods make new ones")

    if not TYPE_CHECKING:  # a type checker knows the attributes

        def __getattr__(self, name: str) -> object:
            from ._curve import Curve

            if not name.startswith("_") and hasattr(Curve, name):
                raise AttributeError(f"a Plan has no {name}; ask its curve: plan.curve().{name}", name=name, obj=self)
            raise AttributeError(f"a Plan has no {name}", name=name, obj=self)

    @property
    def text(self) -> str:
        """The plan in its canonical spelling: ``parse(plan.text) == plan``."""
        return self._text

    def curve(self, *, neighbours: str | None = None, relative: Number = 1e-6) -> Curve:
        """What the plan guarantees.

        Args:
            neighbours: ``"add-remove"``, ``"replace-one"`` or ``"zero-out"``; may be left out where an operator fixes it or it does not matter.
            relative: target relative width of the answers (they may be wider).

        >>> import tradeoff as to
        >>> to.gaussian(sigma=1).curve().epsilon(delta=1e-5).hi <= 4.378
        True
        """
        from ._curve import analyze

        return analyze(self, neighbours=neighbours, relative=relative)

    def poisson(
        self,
        rate: Number,
        *,
        of: Number | None = None,
        of_is: str | None = None,
        at_most: Number | None = None,
        examples: Number | None = None,
    ) -> Plan:
        """Each record takes part independently with probability ``rate``; of more than ``at_most``, so many are kept; one user owns at most
        ``examples`` records."""
        return self | poisson(rate, of=of, of_is=of_is, at_most=at_most, examples=examples)

    def allocate(self, steps: Number, *, passes: Number | None = None, times: Number | None = None) -> Plan:
        """Each record takes part in one step of ``steps``, drawn uniformly; ``passes`` reuse the draw."""
        return self | allocate(steps, passes=passes, times=times)

    def shuffle(self, batches: Number, *, passes: Number | None = None, reuse: bool | None = None) -> Plan:
        """The records in a random order, cut into ``batches`` batches (zero-out or replace-one neighbours)."""
        return self | shuffle(batches, passes=passes, reuse=reuse)

    def cyclic(self, groups: Number, rate: Number, steps: Number, *, by: str | None = None) -> Plan:
        """``groups`` groups of records take turns in ``steps`` steps, each sampled with probability ``rate``."""
        return self | cyclic(groups, rate, steps, by=by)

    def sample(self, size: Number | None = None, of: Number | None = None, *, rate: Number | None = None) -> Plan:
        """``size`` records out of ``of``, drawn without replacement (replace-one neighbours)."""
        return self | sample(size, of, rate=rate)

    def sample_with_replacement(self, draws: Number, of: Number) -> Plan:
        """``draws`` draws with replacement out of ``of`` records (replace-one neighbours)."""
        return self | sample_with_replacement(draws, of)

    def repeat(self, times: Number) -> Plan:
        """Run again on the same data with fresh randomness. ``plan ** times`` is the same."""
        return self | repeat(times)

    def best_of(self, runs: Runs | str) -> Plan:
        """Run a random number of times; only the run with the best score is shown. ``runs`` is the law of that number."""
        return self | best_of(runs)

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
    """An argument of a word of the plan language. ``default`` is None if it must be given.

    Attributes:
        name: as in a plan.
        meaning: in words.
        default: None if it must be given.
        form: 0 if it is part of every call; otherwise a call has the parameters of exactly one form.
    """

    name: str
    meaning: str
    default: str | None
    form: int


class Word(NamedTuple):
    """A word of the plan language.

    Attributes:
        name: as in a plan.
        role: ``source``, ``operator``, ``tail`` or ``law``.
        usage: the word with its arguments.
        meaning: in words.
        neighbours: the relations that its theorem covers, None for all.
        parameters: its arguments.
    """

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


def _spelled(numbers: dict[str, Any]) -> dict[str, str | None]:
    return {key: None if value is None else _number(key, value) for key, value in numbers.items()}


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


def gaussian(sigma: Number, sensitivity: Number | None = None, *, clip: Number | None = None) -> Plan:
    """Gaussian noise of standard deviation ``sigma``; ``sensitivity`` (1 if left out) is the l2 distance one record can move the answer.
    Instead, ``clip`` bounds the norm of each record's contribution: the distance is ``clip``, and twice that under replace-one neighbours.

    >>> import tradeoff as to
    >>> to.gaussian(sigma=2, sensitivity=0.5)
    Plan('gaussian(sigma=2, sensitivity=0.5)')
    """
    if clip is None or sensitivity is not None:
        return _source("gaussian", sigma=sigma, sensitivity=sensitivity, clip=clip)
    _source("gaussian", sigma=sigma, sensitivity=clip)  # refuses numbers out of range; what a clip norm means depends on the neighbours
    return Plan(_numbers_call("gaussian", sigma=sigma, clip=clip))


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


def exponential(
    epsilon: Number | None = None, *, weight: Number | None = None, sensitivity: Number | None = None, monotone: bool = False
) -> Plan:
    """The exponential mechanism: a candidate is chosen with a probability proportional to ``exp(weight * utility)``. Either ``epsilon``, the
    length of the interval that holds all privacy losses, or ``weight``, with the ``sensitivity`` of one utility (1 if left out) and whether
    all utilities move the same way (``monotone``).

    >>> import tradeoff as to
    >>> 1.0 in to.exponential(weight=0.5).curve().epsilon(delta=0)
    True
    """
    numbers = {"epsilon": epsilon, "weight": weight, "sensitivity": sensitivity}
    return _checked(_call("exponential", **_spelled(numbers), monotone="true" if monotone else None))


def noisy_max(
    noise: str,
    scale: Number,
    sensitivity: Number | None = None,
    *,
    monotone: bool = False,
    candidates: Number | None = None,
    top: Number | None = None,
) -> Plan:
    """The index of the largest of several utilities with noise: ``"gumbel"``, ``"exponential"`` (permute-and-flip), ``"laplace"`` or
    ``"gaussian"``, which needs an upper bound on the number of ``candidates``. ``top``: how many of the largest are published, from one
    draw of Gumbel noise."""
    if noise not in ("gumbel", "exponential", "laplace", "gaussian"):
        raise DomainError(f"noisy_max: noise = {noise!r} is not allowed; it must be gumbel, exponential, laplace or gaussian")
    numbers = {"scale": scale, "sensitivity": sensitivity, "candidates": candidates, "top": top}
    return _checked(_call("noisy_max", noise=noise, **_spelled(numbers), monotone="true" if monotone else None))


def threshold(noise: str, scale: Number, above: Number, *, partitions: Number | None = None, contribution: Number | None = None) -> Plan:
    """The keys and noisy counts of partitions, released above a threshold. The plan protects users, who are added or removed.

    Args:
        noise: ``"gaussian"`` or ``"laplace"``; ``"discrete_gaussian"`` or ``"discrete_laplace"`` on whole counts.
        scale: sigma or scale of the noise on each count.
        above: a count is released if it is at least this after the noise.
        partitions: how many partitions one user has at most; 1 if left out.
        contribution: how much one user adds to one partition at most; 1 if left out.

    >>> import tradeoff as to
    >>> to.threshold("gaussian", 4, 30, partitions=3)
    Plan('threshold(noise=gaussian, scale=4, above=30, partitions=3)')
    """
    numbers = {"scale": scale, "above": above, "partitions": partitions, "contribution": contribution}
    texts: dict[str, str | None] = {"noise": _choice("noise", noise, ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace"))}
    texts |= {key: None if value is None else _number(key, value) for key, value in numbers.items()}
    return _checked(_call("threshold", **texts))


def partition_selection(
    epsilon: Number | None = None, delta: Number | None = None, *, keep: Iterable[Number] | None = None, partitions: Number | None = None
) -> Plan:
    """The keys of a table, each kept with a probability that depends on its number of users. The plan protects users.

    Args:
        epsilon: of the best rule for one partition, together with ``delta``.
        delta: above 0.
        keep: another rule: the probabilities for 1 user, 2 users and so on; the last one is for all larger numbers.
        partitions: how many partitions one user has at most; the rule is charged so many times. 1 if left out.

    >>> import tradeoff as to
    >>> to.partition_selection(1, 1e-5)
    Plan('partition_selection(epsilon=1, delta=1e-5)')
    """
    numbers = {"epsilon": epsilon, "delta": delta, "partitions": partitions}
    texts: dict[str, str | None] = {key: None if value is None else _number(key, value) for key, value in numbers.items()}
    if keep is not None:
        texts["keep"] = "[" + ", ".join(_number("keep", one) for one in _items("keep", keep)) + "]"
    return _checked(_call("partition_selection", **texts))


def shuffled_reports(epsilon: Number, users: Number, *, randomizer: str | None = None, choices: Number | None = None) -> Plan:
    """Reports of a local randomiser, one of each user, through a shuffler; one user's input is replaced.

    Args:
        epsilon: of the local randomiser, the same for all users.
        users: honest users who surely report.
        randomizer: ``"any"`` (if left out) or ``"randomized_response"``, whose curve is better.
        choices: the number of possible answers of randomised response; 2 if left out.

    >>> import tradeoff as to
    >>> to.shuffled_reports(1, 10000)
    Plan('shuffled_reports(epsilon=1, users=10000)')
    """
    numbers = {"epsilon": epsilon, "users": users}
    texts: dict[str, str | None] = {key: _number(key, value) for key, value in numbers.items()}
    texts["randomizer"] = _choice("randomizer", randomizer, ("any", "randomized_response"))
    texts["choices"] = None if choices is None else _number("choices", choices)
    return _checked(_call("shuffled_reports", **texts))


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
    parts: list[str] = []
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
    if isinstance(points, (str, Plan)):
        raise DomainError("points: a list of pairs (alpha, beta) is wanted; the curve of a plan is tradeoff.analyze(plan) or plan.curve()")
    return Plan(_call("curve", file=_file(file), points=None if points is None else _pairs("points", points)))


def sparse_vector(
    threshold_scale: Number,
    query_scale: Number,
    *,
    positives: Number | None = None,
    sensitivity: Number | None = None,
    monotone: str | None = None,
    noise: str | None = None,
    redraw: bool | None = None,
    queries: Number | None = None,
) -> Plan:
    """Queries compared with a noisy threshold; only the answers are released, and after ``positives`` answers above it stops.

    Args:
        sensitivity: how far one record can move one query; 1 if left out.
        monotone: ``"rising"`` if no query falls when a record is added, ``"falling"`` if none rises, ``"either"`` if all move the same way.
        noise: ``"laplace"`` (if left out), ``"exponential"`` or ``"gaussian"``, which needs ``queries``.
        redraw: whether the threshold gets fresh noise after each answer above.

    >>> import tradeoff as to
    >>> to.sparse_vector(2, 40, positives=10, monotone="rising")
    Plan('sparse_vector(threshold_scale=2, query_scale=40, positives=10, monotone=rising)')
    """
    numbers = {"threshold_scale": threshold_scale, "query_scale": query_scale, "positives": positives, "sensitivity": sensitivity}
    texts: dict[str, str | None] = {key: _number(key, value) for key, value in numbers.items() if value is not None}
    return _checked(
        _call(
            "sparse_vector",
            **texts,
            monotone=_choice("monotone", monotone, ("no", "rising", "falling", "either")),
            noise=_choice("noise", noise, ("laplace", "exponential", "gaussian")),
            redraw=None if redraw is None else str(bool(redraw)).lower(),
            queries=None if queries is None else _number("queries", queries),
        )
    )


def skellam(
    variance: Number,
    *,
    clients: Number | None = None,
    honest: Number | None = None,
    dropouts: Number | None = None,
    sensitivity: Number | None = None,
    coordinates: Number | None = None,
) -> Plan:
    """The difference of two Poisson variables on a single integer; ``variance`` is that of one of the ``clients``.

    >>> import tradeoff as to
    >>> to.skellam(4, clients=100, honest=0.9, dropouts=5)
    Plan('skellam(variance=4, clients=100, honest=0.9, dropouts=5)')
    """
    return _source(
        "skellam", variance=variance, clients=clients, honest=honest, dropouts=dropouts, sensitivity=sensitivity, coordinates=coordinates
    )


def binomial_noise(
    trials: Number,
    *,
    chance: Number | None = None,
    clients: Number | None = None,
    honest: Number | None = None,
    dropouts: Number | None = None,
    sensitivity: Number | None = None,
    coordinates: Number | None = None,
) -> Plan:
    """Successes of independent trials on a single integer; ``trials`` are those of one of the ``clients``."""
    return _source(
        "binomial_noise",
        trials=trials,
        chance=chance,
        clients=clients,
        honest=honest,
        dropouts=dropouts,
        sensitivity=sensitivity,
        coordinates=coordinates,
    )


def discrete_gaussian_sum(
    sigma: Number,
    clients: Number,
    *,
    honest: Number | None = None,
    dropouts: Number | None = None,
    sensitivity: Number | None = None,
    coordinates: Number | None = None,
) -> Plan:
    """Discrete Gaussian noise of many clients on a single integer: that of the honest ones that do not drop out remains."""
    return _source(
        "discrete_gaussian_sum", sigma=sigma, clients=clients, honest=honest, dropouts=dropouts, sensitivity=sensitivity, coordinates=coordinates
    )


def discrete_laplace_sum(
    scale: Number,
    clients: Number,
    *,
    honest: Number | None = None,
    dropouts: Number | None = None,
    sensitivity: Number | None = None,
    coordinates: Number | None = None,
) -> Plan:
    """Discrete Laplace noise of many clients on a single integer: that of the honest ones that do not drop out remains."""
    return _source(
        "discrete_laplace_sum", scale=scale, clients=clients, honest=honest, dropouts=dropouts, sensitivity=sensitivity, coordinates=coordinates
    )


def matrix(
    sigma: Number,
    *,
    coefficients: Iterable[Number] | None = None,
    file: str | None = None,
    lower: Iterable[Number] | None = None,
    kind: str | None = None,
    scales: Iterable[Number] | None = None,
    decays: Iterable[Number] | None = None,
    steps: Number | None = None,
    participations: Number | None = None,
    separation: Number | None = None,
    pattern: str | None = None,
    sensitivity: Number | None = None,
    clip: Number | None = None,
) -> Plan:
    """Gaussian noise correlated over the steps of a run: ``C X + Z`` with a lower triangular matrix C.

    Args:
        coefficients: c_0, c_1, ... of a Toeplitz matrix; those that are not given are 0.
        file: a table of a lower triangular matrix, one row per line.
        lower: the rows of a lower triangular matrix, one after the other.
        kind: ``"tree"``, ``"square_root"``, ``"prefix"`` or ``"blt"`` (with ``scales`` and ``decays``).
        participations: in how many steps one record takes part at most; 1 if left out. You promise this.
        separation: how far apart two of them are at least; 1 if left out. You promise this.
        pattern: ``"min_sep"`` (if left out), or ``"every"``: exactly ``separation`` apart.

    >>> import tradeoff as to
    >>> to.matrix(2, kind="square_root", steps=1000, participations=4, separation=250)
    Plan('matrix(sigma=2, kind=square_root, steps=1000, participations=4, separation=250)')
    """

    def numbers(name: str, values: Iterable[Number] | None) -> str | None:
        return None if values is None else "[" + ", ".join(_number(name, value) for value in _items(name, values)) + "]"

    def number(name: str, value: Number | None) -> str | None:
        return None if value is None else _number(name, value)

    text = _call(
        "matrix",
        sigma=_number("sigma", sigma),
        coefficients=numbers("coefficients", coefficients),
        file=_file(file),
        lower=numbers("lower", lower),
        kind=_choice("kind", kind, ("tree", "square_root", "prefix", "blt")),
        scales=numbers("scales", scales),
        decays=numbers("decays", decays),
        steps=number("steps", steps),
        participations=number("participations", participations),
        separation=number("separation", separation),
        pattern=_choice("pattern", pattern, ("min_sep", "every")),
        sensitivity=number("sensitivity", sensitivity),
        clip=number("clip", clip),
    )
    return _checked(text) if file is None else Plan(text)  # a file is read when the plan is analysed


def _file(path: Any) -> str | None:
    return None if path is None else _core.quote(_encodable(str(path)))


# Operators


def _operator(name: str, **arguments: Any) -> Operator:
    return _checked_operator(_numbers_call(name, **arguments))


def _checked_operator(text: str) -> Operator:
    operator = Operator(text)
    _core.check_ranges(f"gdp(mu=0) | {operator.text}")  # a base that costs nothing
    return operator


def _choice(name: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    if value is not None and value not in allowed:
        raise DomainError(f"{name} must be one of {', '.join(allowed)}")
    return value


def poisson(
    rate: Number,
    *,
    of: Number | None = None,
    of_is: str | None = None,
    at_most: Number | None = None,
    examples: Number | None = None,
) -> Operator:
    """Each record takes part independently with probability ``rate``.

    Args:
        at_most: the largest batch; of more drawn records so many are kept, uniformly. Needs ``of``.
        of: the number of records of the larger data set, public.
        of_is: ``"exact"`` (if left out), or ``"at_most"`` if ``of`` is an upper bound.
        examples: the records that one user owns at most, each drawn on its own; the plan then protects users.

    >>> import tradeoff as to
    >>> to.gaussian(1).poisson(0.01, of=10000, at_most=150)
    Plan('gaussian(sigma=1) | poisson(rate=0.01, of=10000, at_most=150)')
    >>> to.gaussian(1).poisson(0.01, examples=4)
    Plan('gaussian(sigma=1) | poisson(rate=0.01, examples=4)')
    """
    numbers = {"rate": rate, "of": of, "at_most": at_most, "examples": examples}
    texts: dict[str, str | None] = {key: None if value is None else _number(key, value) for key, value in numbers.items()}
    texts["of_is"] = _choice("of_is", of_is, ("exact", "at_most"))
    return _checked_operator(_call("poisson", **texts))


def allocate(steps: Number, *, passes: Number | None = None, times: Number | None = None) -> Operator:
    """Each record takes part in one step of an epoch of ``steps`` steps, drawn uniformly and independently of all others.

    Repeat it for epochs with fresh draws.

    Args:
        passes: epochs that reuse the same draw; 1 if left out.
        times: the number of steps that a record draws; 1 if left out. With more, answers lie between two pairs.

    >>> import tradeoff as to
    >>> to.gaussian(1).allocate(1000).repeat(10)
    Plan('gaussian(sigma=1) | allocate(steps=1000) | repeat(10)')
    """
    return _operator("allocate", steps=steps, passes=passes, times=times)


def shuffle(batches: Number, *, passes: Number | None = None, reuse: bool | None = None) -> Operator:
    """The records in a random order, cut into ``batches`` batches of equal size (zero-out or replace-one neighbours).

    Args:
        passes: passes over the data; 1 if left out.
        reuse: whether all passes use the same order.

    >>> import tradeoff as to
    >>> to.gaussian(1).shuffle(1000, passes=10)
    Plan('gaussian(sigma=1) | shuffle(batches=1000, passes=10)')
    """
    numbers = {"batches": batches, "passes": passes}
    texts: dict[str, str | None] = {key: None if value is None else _number(key, value) for key, value in numbers.items()}
    texts["reuse"] = None if reuse is None else "true" if reuse else "false"
    return _checked_operator(_call("shuffle", **texts))


def cyclic(groups: Number, rate: Number, steps: Number, *, by: str | None = None) -> Operator:
    """Records are split into ``groups`` groups that take turns; each of the ``steps`` steps draws the records of one group with probability
    ``rate``. After Gaussian noise, or after a banded ``matrix``.

    Args:
        by: what the groups are cut by: ``"identity"`` (if left out) or ``"position"``.

    >>> import tradeoff as to
    >>> to.gaussian(1).cyclic(groups=10, rate=0.1, steps=1000)
    Plan('gaussian(sigma=1) | cyclic(groups=10, rate=0.1, steps=1000)')
    """
    numbers = {"groups": groups, "rate": rate, "steps": steps}
    texts: dict[str, str | None] = {key: _number(key, value) for key, value in numbers.items()}
    return _checked_operator(_call("cyclic", **texts, by=_choice("by", by, ("identity", "position"))))


def sample(size: Number | None = None, of: Number | None = None, *, rate: Number | None = None) -> Operator:
    """``size`` records out of ``of``, drawn without replacement (replace-one neighbours)."""
    return _operator("sample", size=size, of=of, rate=rate)


def sample_with_replacement(draws: Number, of: Number) -> Operator:
    """``draws`` draws with replacement out of ``of`` records (replace-one neighbours)."""
    return _operator("sample_with_replacement", draws=draws, of=of)


def repeat(times: Number) -> Operator:
    """Run again on the same data with fresh randomness."""
    return _operator("repeat", times=times)


class Runs:
    """The law of the number of runs of ``best_of``: public, and independent of the data.

    >>> import tradeoff as to
    >>> to.Runs.geometric(10)
    Runs('geometric(mean=10)')
    >>> to.gdp(1).best_of(to.Runs.poisson(10))
    Plan('gdp(mu=1) | best_of(runs=poisson(mean=10))')
    """

    __slots__ = ("text",)
    text: str

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "text", text)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a law of runs cannot be changed")

    def __repr__(self) -> str:
        return f"Runs({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @staticmethod
    def geometric(mean: Number | None = None, *, success: Number | None = None) -> Runs:
        """1, 2, 3, ... runs: after each, stop with probability ``success`` = 1/``mean``; give one of the two."""
        if (mean is None) == (success is None):
            raise DomainError("geometric: give mean or success, one of the two")
        return Runs(_numbers_call("geometric", mean=mean) if success is None else _numbers_call("geometric", success=success))

    @staticmethod
    def poisson(mean: Number) -> Runs:
        """A Poisson number of runs; 0 is possible."""
        return Runs(_numbers_call("poisson", mean=mean))

    @staticmethod
    def poisson_positive(mean: Number) -> Runs:
        """A Poisson number of runs, drawn again while it is 0; ``mean`` is that before it is drawn again."""
        return Runs(_numbers_call("poisson_positive", mean=mean))

    @staticmethod
    def negative_binomial(shape: Number, success: Number) -> Runs:
        """A negative binomial number of runs, drawn again while it is 0."""
        return Runs(_numbers_call("negative_binomial", shape=shape, success=success))

    @staticmethod
    def logarithmic(success: Number) -> Runs:
        """The negative binomial law of shape 0."""
        return Runs(_numbers_call("logarithmic", success=success))

    @staticmethod
    def binomial(trials: Number, chance: Number) -> Runs:
        """Each of ``trials`` trials is run with this chance; 0 runs are possible."""
        return Runs(_numbers_call("binomial", trials=trials, chance=chance))

    @staticmethod
    def exactly(times: Number) -> Runs:
        """Always the same number of runs."""
        return Runs(_numbers_call("exactly", times=times))

    @staticmethod
    def pmf(probabilities: Iterable[Number]) -> Runs:
        """The probabilities of 0, 1, 2, ... runs; their sum must be exactly 1."""
        return Runs("pmf([" + ", ".join(_number("probabilities", one) for one in _items("probabilities", probabilities)) + "])")


def best_of(runs: Runs | str) -> Operator:
    """Run a random number of times; only the run with the best score is shown. For tuning: every run draws its settings afresh.

    Args:
        runs: the law of the number of runs, such as ``Runs.geometric(10)`` or ``"geometric(mean=10)"``.

    >>> import tradeoff as to
    >>> to.gdp(1).best_of("geometric(mean=10)").curve().epsilon(delta=1e-5).hi <= 7
    True
    """
    text = runs.text if isinstance(runs, Runs) else runs
    if not isinstance(text, str):
        raise DomainError(f"best_of: runs is a {type(text).__name__}; give a law such as Runs.geometric(10) or Runs.exactly({text!r})")
    return _checked_operator(_call("best_of", runs=text))


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
