# SPDX-License-Identifier: Apache-2.0
"""Curves: what a plan guarantees, and every question about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

from . import _core
from ._errors import DomainError, UnsupportedError
from ._interval import Interval, SafeEnd, upper
from ._numbers import Number, is_scalar, to_text
from ._plan import Plan, PlanLike, compose
from ._progress import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._core import Curve as CoreCurve

    Numbers = list[Any] | tuple[Any, ...] | NDArray[Any]
    Intervals = NDArray[np.float64]


class Step(NamedTuple):
    """A theorem that an answer uses, and its use there.

    Attributes:
        theorem: the id of the theorem; ``tradeoff theorems ID`` shows its source.
        detail: what it is used for here.
    """

    theorem: str
    detail: str


class Explanation(NamedTuple):
    """An answer and how it was computed: ``method`` is ``closed form``, ``exact``, ``contour`` or ``lattice``.

    Attributes:
        ask: the question: epsilon, delta, beta or tpr.
        at: where it was asked: ``delta = 1e-5``.
        value: the answer.
        method: ``closed form``, ``exact``, ``contour`` or ``lattice``.
        steps: the theorems that were used.
    """

    ask: str
    at: str
    value: Interval
    method: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        lines = [f"  [{step.theorem}]  {step.detail}" for step in self.steps]
        return "\n".join([f"{self.ask} at {self.at}: {self.value}", *lines, f"({self.method})"])

    def _repr_html_(self) -> str:
        from ._notebook import table

        return table((self.ask, "at", "method"), [(self.value, self.at, self.method)]) + table(("theorem", "use"), self.steps)


class Guarantee(NamedTuple):
    """A corner of the profile: the plan is (epsilon.hi, delta.hi)-DP.

    Attributes:
        epsilon: claim its upper end.
        delta: claim its upper end.
    """

    epsilon: Interval
    delta: Interval


class Posterior(NamedTuple):
    """Accuracy of the best guess of membership at a prior, and the largest posterior that any output can cause.

    Attributes:
        accuracy: largest probability that a guess of membership is right.
        largest: largest posterior that any output can cause; 1 if a rare output may leave no doubt.
    """

    accuracy: Interval
    largest: Interval


class Tail(NamedTuple):
    """What is proved about delta for large epsilon; the plan is not mu-GDP for any mu below ``limit.lo``.

    Attributes:
        kind: ``unknown``, ``zero``, ``gdp``, ``gaussian``, ``exponential``, ``polynomial`` or ``floor``.
        from_epsilon: it holds for every epsilon from here on.
        limit: limit of the transform ``gdpt`` for large epsilon.
    """

    kind: str
    from_epsilon: float
    limit: Interval


class SlackPair(NamedTuple):
    """Gaussian DP except with probability ``slack``: a guarantee for the whole curve, so it composes.

    Attributes:
        slack: with at most this probability everything may be revealed.
        mu: mu of the Gaussian guarantee otherwise.
    """

    slack: float
    mu: Interval


class Measurement(NamedTuple):
    """Whether the plan is Gaussian-DP, and for which mu. ``verdict`` is ``gdp``, ``not_gdp`` or ``undecided``.

    Attributes:
        verdict: ``gdp``, ``not_gdp`` or ``undecided``.
        mu: least mu, if the verdict is ``gdp``.
        at_epsilon: the epsilon that decides mu; inf if the far tail does.
        tail: what is proved for large epsilon.
        with_slack: mu for some slacks.
        evaluations: how often the profile was evaluated.
        warnings: remarks for the caller.
    """

    verdict: str
    mu: Interval
    at_epsilon: float
    tail: Tail
    with_slack: tuple[SlackPair, ...]
    evaluations: int
    warnings: tuple[str, ...]


class HeadMeasurement(NamedTuple):
    """mu over epsilon <= epsilon_max only, and the delta at epsilon_max. It bounds nothing beyond, and does not compose.

    Attributes:
        mu: least mu for epsilon <= epsilon_max.
        residual: delta at epsilon_max.
        at_epsilon: the epsilon that decides mu.
        epsilon_max: end of the range.
        warnings: remarks for the caller.
    """

    mu: Interval
    residual: Interval
    at_epsilon: float
    epsilon_max: float
    warnings: tuple[str, ...]


class Polygon(NamedTuple):
    """A trade-off function made of (epsilon, delta) constraints, steepest first, and the area under it.

    Attributes:
        pieces: the (epsilon, delta) constraints, steepest first.
        area: area under the trade-off function.
    """

    pieces: tuple[Guarantee, ...]
    area: Interval


class Approximations(NamedTuple):
    """Polygons around the curve: compositions of ``below`` bound delta from above, compositions of ``above`` from below.

    Attributes:
        below: the best polygon below the trade-off function; safe to claim.
        above: the best polygon above it.
        below_published: the polygon below by the published construction.
        area: area under the curve itself, if it is known.
    """

    below: Polygon
    above: Polygon
    below_published: Polygon
    area: Interval | None


class Risk(NamedTuple):
    """What the best possible attacker can learn about one person. Keys are false-positive rates, priors, numbers of people, probabilities.

    ``belief`` is the largest posterior that an output can cause, except for outputs of total probability ``rare``.

    Attributes:
        advantage: largest true-positive rate minus false-positive rate.
        tpr: largest true-positive rate by false-positive rate.
        accuracy: accuracy of the best guess of membership, by prior.
        posterior: largest posterior that any output can cause, by prior.
        naming: probability to pick the right person, by number of people.
        odds: largest factor on the odds, by the probability of the outputs left out.
        gaussian: mu of Gaussian DP with a slack.
        sentences: all this in plain words.
        rare: probability of the outputs that ``belief`` leaves out.
        belief: largest posterior except for such outputs, by prior.
    """

    advantage: Interval
    tpr: dict[float, Interval]
    accuracy: dict[float, Interval]
    posterior: dict[float, Interval]
    naming: dict[int, Interval]
    odds: dict[float, Interval]
    gaussian: SlackPair
    sentences: tuple[str, ...]
    rare: float
    belief: dict[float, Interval]

    def _repr_html_(self) -> str:
        from ._notebook import risk_to_html

        return risk_to_html(self)


class Method(NamedTuple):
    """The epsilon of one method. ``kind`` is ``bound``, ``estimate`` (proves nothing), ``at_least`` or ``refused``.

    Attributes:
        method: its name.
        kind: ``bound``, ``estimate``, ``at_least`` or ``refused``.
        epsilon: its epsilon.
        remark: what it does, or why it does not cover the plan.
    """

    method: str
    kind: str
    epsilon: Interval
    remark: str


class Comparison(NamedTuple):
    """The epsilon of every method at one delta; ``epsilon`` encloses the true value, ``best`` is the method with the smallest bound.

    Attributes:
        rows: one for each method.
        best: the method with the smallest bound.
        epsilon: encloses the true value.
        warnings: remarks on the methods.
    """

    rows: tuple[Method, ...]
    best: str
    epsilon: Interval
    warnings: tuple[str, ...]

    def __getitem__(self, key: Any) -> Any:
        """The row of a method by its name, or by its index."""
        if isinstance(key, str):
            for row in self.rows:
                if row.method == key:
                    return row
            raise KeyError(key)
        fields: tuple[Any, ...] = (self.rows, self.best, self.epsilon, self.warnings)
        return fields[key]

    def _repr_html_(self) -> str:
        from ._notebook import comparison_to_html

        return comparison_to_html(self)


class Divergences(NamedTuple):
    """Divergences of the output with a record from the output without it: lossy summaries of the curve.

    Attributes:
        total_variation: the advantage of the best attack.
        kl: Kullback-Leibler divergence in nats.
        chi_square: chi-square divergence.
    """

    total_variation: Interval
    kl: Interval
    chi_square: Interval


class Converted(NamedTuple):
    """The bound by the best Renyi order. ``value.hi`` may be claimed; it is never better than the curve itself.

    Attributes:
        value: epsilon or delta; claim its upper end.
        order: the best order.
    """

    value: Interval
    order: float


class Renyi:
    """The Renyi divergences of a plan at every order; RDP accountants add them over mechanisms. Lossy.

    >>> import tradeoff as to
    >>> 1 in to.gaussian(1).curve().renyi().at(2)
    True
    """

    __slots__ = ("_core", "_directed")

    def __init__(self, core: _core.RenyiCurve, directed: Callable[[], _core.RenyiCurve]) -> None:
        self._core = core
        self._directed = directed

    def _core_for(self, direction: str) -> _core.RenyiCurve:
        return self._core if direction == "worst" else self._directed()

    def at(self, order: float, *, direction: str = "worst") -> Interval:
        """The divergence of this order above 1."""
        return upper(self._core_for(direction).at(float(order), direction))

    def epsilon(self, delta: Number, *, direction: str = "worst") -> Converted:
        """The least epsilon over all orders at this delta."""
        value, order = self._core_for(direction).epsilon(to_text("delta", delta), direction)
        return Converted(upper(value), order)

    def delta(self, epsilon: Number, *, direction: str = "worst") -> Converted:
        """The least delta over all orders at this epsilon."""
        value, order = self._core_for(direction).delta(to_text("epsilon", epsilon), direction)
        return Converted(upper(value), order)

    def zcdp(self) -> Interval | None:
        """A rho such that the plan is rho-zCDP, or None if none is known."""
        rho = self._core.zcdp()
        return None if rho is None else upper(rho)


class Edgeworth:
    """The central limit theorem refined by skewness and kurtosis of the loss. Estimates, which prove nothing: plain floats."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.Edgeworth) -> None:
        self._core = core

    def epsilon(self, delta: float) -> float:
        """An estimate of epsilon at this delta."""
        return self._core.epsilon(float(delta))

    def delta(self, epsilon: float) -> float:
        """An estimate of delta at this epsilon."""
        return self._core.delta(float(epsilon))


class Order(NamedTuple):
    """Whether one curve is at least as private as another: ``yes``, ``no`` (with a point that proves it), ``undecided``.

    Attributes:
        verdict: ``yes``, ``no`` or ``undecided``.
        alpha: type I error of the attack that decides, if the verdict is ``no`` and one was found.
        epsilon: where the profiles differ, if the verdict is ``no`` and one was found.
    """

    verdict: str
    alpha: float | None
    epsilon: float | None


class Moments(NamedTuple):
    """Moments of the privacy loss, which the limit theorems use.

    Attributes:
        kl: E L, the mean of the loss.
        kappa2: E L^2.
        kappa3: E |L|^3.
        kappa3bar: E |L - kl|^3.
        chi2plus: integral of ((|f'| - 1)+)^2.
    """

    kl: Interval
    kappa2: Interval
    kappa3: Interval
    kappa3bar: Interval
    chi2plus: Interval


class BerryEsseen(NamedTuple):
    """A guarantee: f(a) >= G_mu(a + gamma) - gamma for every a; it proves no delta below ``floor``.

    Attributes:
        mu: of the Gaussian in the bound.
        gamma: its error term.
        floor: no delta below this is proved.
    """

    mu: Interval
    gamma: Interval
    floor: Interval


class Limit(NamedTuple):
    """The limit of the plan. ``mu_estimate`` proves nothing; ``berry_esseen`` is a bound, or ``refusal`` states why there is none.

    Attributes:
        mu_estimate: mu of the limit theorem; proves nothing.
        revealed_estimate: probability of an infinite loss in the limit.
        theorems: those that were used.
        berry_esseen: the proved bound, or None.
        refusal: why there is no bound.
    """

    mu_estimate: float
    revealed_estimate: float
    theorems: tuple[str, ...]
    berry_esseen: BerryEsseen | None
    refusal: str


# The end that may be claimed, by question, as in the table of the command line.
_SAFE_ENDS: dict[str, SafeEnd | None] = {name: cast("SafeEnd | None", end) for name, _, _, end in _core.questions()}
_SAFE_ENDS.setdefault("log_delta", _SAFE_ENDS["delta"])
# An estimate may not be claimed, and a refusal says nothing.
_SAFE_END_OF_KIND: dict[str, SafeEnd | None] = {"bound": "hi", "at_least": "lo", "estimate": None, "refused": None}

_SLACKS = (1e-5, 1e-8, 1e-10, 1e-15)  # as the command line: from what a survey tolerates to what cryptographers ask for


class Curve:
    """What a plan guarantees. Immutable, hashable, picklable, safe to share between threads; every answer is a proved enclosure.

    A question with one number is answered by an Interval; with an array or a list of n numbers by an array of shape (n, 2), on all cores.

    >>> import tradeoff as to
    >>> curve = to.gaussian(sigma=1.1).poisson(rate="256/60000").repeat(14063).curve()
    >>> curve.epsilon(delta=1e-5).hi <= 2.382
    True
    >>> curve.delta([0.5, 1, 2]).shape
    (3, 2)
    >>> curve
    Curve('gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)', neighbours='add-remove')
    """

    __slots__ = ("_core", "_directed", "_made", "_plan", "_relative", "_stated", "_text")

    _core: CoreCurve
    _directed: CoreCurve | None  # what answers about one direction, once asked for
    _plan: Plan | None  # None for a curve that no plan describes
    _text: str  # the plan with the contents of its files, which may change later, in the place of their names
    _made: tuple[Any, ...]  # then: the function of tradeoff.algebra that made it, and its arguments
    _stated: str
    _relative: str

    def __init__(self, plan: PlanLike, *, neighbours: str | None = None, relative: Number = 1e-6) -> None:
        if neighbours is not None and not (isinstance(neighbours, str) and neighbours):
            raise DomainError(f"neighbours = {neighbours!r} is not allowed; it must be add-remove, replace-one or zero-out")
        self._plan = Plan(plan)
        self._text = _with_tables(self._plan.text)
        self._stated = neighbours or ""
        self._relative = to_text("relative", relative)
        self._made = ()
        self._core = _core.analyze(self._text, self._stated, self._relative)
        self._directed = None

    @classmethod
    def _of(cls, core: CoreCurve, plan: Plan | None, text: str, stated: str, relative: str, made: tuple[Any, ...] = ()) -> Curve:
        """A curve whose core is known already."""
        curve = cls.__new__(cls)
        curve._core, curve._plan, curve._text, curve._made, curve._stated, curve._relative = core, plan, text, made, stated, relative
        curve._directed = None
        return curve

    @property
    def plan(self) -> Plan:
        """The plan. A curve of ``tradeoff.algebra`` has none."""
        if self._plan is None:
            raise UnsupportedError(f"{self!r}: no plan describes this curve")
        return self._plan

    def extend(self, more: PlanLike) -> Curve:
        """The curve of this plan with more lines after it. Earlier results are reused, so that one more step of a long
        run costs microseconds.

        >>> import tradeoff as to
        >>> step = to.gaussian(1).poisson(0.01)
        >>> step.repeat(500).curve().extend(step).epsilon(1e-5).hi <= step.repeat(502).curve().epsilon(1e-5).lo
        True
        """
        added = Plan(more)
        text = _with_tables(added.text)
        return Curve._of(self._core.extend(text), compose(self.plan, added), f"{self._text}\n{text}", self._stated, self._relative)

    @property
    def neighbours(self) -> str | None:
        """``add-remove``, ``replace-one``, ``zero-out``, or None if it is not stated."""
        return self._core.neighbours or None

    def explain(
        self, *, delta: Any = None, epsilon: Any = None, alpha: Any = None, fpr: Any = None, direction: str = "worst"
    ) -> Explanation:
        """One answer with its method and its theorems, recorded while it was computed.

        The question is epsilon at ``delta``, delta at ``epsilon``, beta at ``alpha`` or the true-positive rate at ``fpr``; epsilon at
        delta = 1e-5 if nothing is given. Other questions may use other theorems.

        >>> Plan("gaussian(sigma=2)").curve().explain(epsilon=1).method
        'closed form'
        """
        asked = {"epsilon": ("delta", delta), "delta": ("epsilon", epsilon), "beta": ("alpha", alpha), "tpr": ("fpr", fpr)}
        given = {ask: field for ask, field in asked.items() if field[1] is not None} or {"epsilon": ("delta", "1e-5")}
        if len(given) > 1:
            raise DomainError("explain: give one of delta, epsilon, alpha and fpr")
        (ask, (name, at)) = next(iter(given.items()))
        text = to_text(name, at)
        ends, method, steps = self._core.explain(ask, text, direction)
        return Explanation(ask, f"{name} = {text}", Interval._make(ends, _SAFE_ENDS[ask]), method, tuple(Step(*step) for step in steps))

    def _core_for(self, direction: str) -> CoreCurve:
        """A direction means a record that is added or removed: a plan without stated neighbours is then read under add-remove."""
        if direction == "worst" or self.neighbours or self._plan is None:
            return self._core
        if self._directed is None:
            self._directed = _core.analyze(self._text, "add-remove", self._relative)
        return self._directed

    def _ask(self, ask: str, name: str, at: Any, direction: str) -> Any:
        if is_scalar(at):
            return Interval._make(self._core_for(direction).answer(ask, to_text(name, at), direction), _SAFE_ENDS[ask])
        import numpy as np

        values = np.asarray(at)
        if not _are_doubles(values):
            answers: list[Any] = []
            with Progress(ask, values.size) as progress:
                for value in values.reshape(-1).tolist():
                    answers.append(self._ask(ask, name, value, direction))
                    progress.done += 1
            return np.array(answers, dtype=np.float64).reshape(*values.shape, 2)
        flat = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
        with Progress(f"{ask} at {flat.size} points"):
            return self._core_for(direction).answer_many(ask, flat, direction).reshape(*values.shape, 2)

    @overload
    def delta(self, epsilon: Number, *, direction: str = "worst") -> Interval: ...
    @overload
    def delta(self, epsilon: Numbers, *, direction: str = "worst") -> Intervals: ...
    def delta(self, epsilon: Any, *, direction: str = "worst") -> Any:
        """The least delta such that the plan is (epsilon, delta)-DP; epsilon is any real number, or inf for the mass at infinite loss.

        Args:
            direction: ``"worst"``, ``"remove"`` (present vs absent) or ``"add"`` (absent vs present).

        >>> import tradeoff as to
        >>> to.randomized_response(epsilon=1).curve().delta(1)
        Interval(lo=0.0, hi=0.0)
        """
        return self._ask("delta", "epsilon", epsilon, direction)

    @overload
    def log_delta(self, epsilon: Number, *, direction: str = "worst") -> Interval: ...
    @overload
    def log_delta(self, epsilon: Numbers, *, direction: str = "worst") -> Intervals: ...
    def log_delta(self, epsilon: Any, *, direction: str = "worst") -> Any:
        """Natural logarithm of delta, for values that a double cannot hold.

        >>> import tradeoff as to
        >>> to.gaussian(1).curve().log_delta(100).hi < -4000
        True
        """
        return self._ask("log_delta", "epsilon", epsilon, direction)

    @overload
    def epsilon(self, delta: Number, *, direction: str = "worst") -> Interval: ...
    @overload
    def epsilon(self, delta: Numbers, *, direction: str = "worst") -> Intervals: ...
    def epsilon(self, delta: Any, *, direction: str = "worst") -> Any:
        """The least epsilon >= 0 such that the plan is (epsilon, delta)-DP."""
        return self._ask("epsilon", "delta", delta, direction)

    @overload
    def beta(self, alpha: Number, *, direction: str = "worst") -> Interval: ...
    @overload
    def beta(self, alpha: Numbers, *, direction: str = "worst") -> Intervals: ...
    def beta(self, alpha: Any, *, direction: str = "worst") -> Any:
        """The trade-off function: least type II error of a test whose type I error is alpha. The end ``lo`` may be claimed."""
        return self._ask("beta", "alpha", alpha, direction)

    @overload
    def tpr(self, fpr: Number, *, direction: str = "worst") -> Interval: ...
    @overload
    def tpr(self, fpr: Numbers, *, direction: str = "worst") -> Intervals: ...
    def tpr(self, fpr: Any, *, direction: str = "worst") -> Any:
        """Largest true-positive rate of any attack with this false-positive rate."""
        return self._ask("tpr", "fpr", fpr, direction)

    @overload
    def gdpt(self, epsilon: Number, *, direction: str = "worst") -> Interval: ...
    @overload
    def gdpt(self, epsilon: Numbers, *, direction: str = "worst") -> Intervals: ...
    def gdpt(self, epsilon: Any, *, direction: str = "worst") -> Any:
        """The profile in units of Gaussian mu: mu_GDP(epsilon, delta(epsilon)). Constant for a Gaussian."""
        return self._ask("gdpt", "epsilon", epsilon, direction)

    def advantage(self) -> Interval:
        """Total variation: the largest true-positive rate minus false-positive rate of any attack."""
        return upper(self._core.answer("delta", "0", "worst"))

    def posterior(self, prior: Number) -> Posterior:
        """Accuracy of the best guess of membership at this prior, and the largest posterior that any output can cause.

        >>> import tradeoff as to
        >>> to.dp(1).curve().posterior(0.5).largest.hi <= 0.732
        True
        """
        accuracy, largest = self._core.posterior(to_text("prior", prior))
        return Posterior(upper(accuracy), upper(largest))

    @overload
    def mu(self, *, slack: Number | None = None) -> Measurement: ...
    @overload
    def mu(self, *, epsilon_max: Number) -> HeadMeasurement: ...
    def mu(self, *, slack: Number | None = None, epsilon_max: Number | None = None) -> Measurement | HeadMeasurement:
        """Whether the plan is Gaussian-DP and for which mu; and for each slack the pair (mu, slack) that holds globally.

        With ``epsilon_max``: the supremum over epsilon <= epsilon_max alone, with what is left there.

        >>> import tradeoff as to
        >>> to.laplace(scale=1).curve().mu().mu.hi <= 1.0301
        True
        """
        if epsilon_max is not None:
            if slack is not None:
                raise DomainError("mu: give slack or epsilon_max, not both")
            text = to_text("epsilon_max", epsilon_max)
            with Progress("mu"):
                mu, residual, at, warnings = _core.measure_head_mu(self._core, text)
            return HeadMeasurement(upper(mu), upper(residual), at, _to_float(text), tuple(warnings))
        slacks = [to_text("slack", value) for value in (_SLACKS if slack is None else (slack,))]
        with Progress("mu"):
            verdict, mu, at, (kind, start, limit), pairs, evaluations, warnings = _core.measure_mu(self._core, slacks)
        with_slack = tuple(SlackPair(_to_float(text), upper(pair)) for text, pair in zip(slacks, pairs))
        return Measurement(verdict, upper(mu), at, Tail(kind, start, Interval(*limit)), with_slack, evaluations, tuple(warnings))

    def guarantees(self, *, direction: str = "worst") -> tuple[Guarantee, ...]:
        """The (epsilon, delta) corners, for plans composed exactly."""
        return _to_corners(self._core_for(direction).guarantees(direction))

    def approximate(self, pieces: int) -> Approximations:
        """Best from below and from above by that many (epsilon, delta) constraints (1 to 64)."""
        if isinstance(pieces, bool) or not isinstance(pieces, int) or not 1 <= pieces <= 64:
            raise DomainError(f"pieces = {pieces!r} is not allowed; it must be a whole number from 1 to 64")
        with Progress("approximate"):
            below, above, published, area = self._core.approximate(pieces)
        return Approximations(_to_polygon(below), _to_polygon(above), _to_polygon(published), None if area is None else Interval(*area))

    def risk(self) -> Risk:
        """What the best possible attacker can learn about one person, from anything that the curve covers.

        >>> import tradeoff as to
        >>> to.gaussian(sigma=2).curve().risk().tpr[0.01].hi <= 0.0339
        True
        """
        with Progress("risk"):
            advantage, rates, accuracies, posteriors, naming, odds, gaussian, sentences, rare, beliefs = _core.risk(self._core)
        slack, mu = gaussian
        return Risk(
            upper(advantage),
            {_to_float(given): upper(value) for given, value in rates},
            {_to_float(given): upper(value) for given, value in accuracies},
            {_to_float(given): upper(value) for given, value in posteriors},
            {int(given): upper(value) for given, value in naming},
            {_to_float(given): upper(value) for given, value in odds},
            SlackPair(_to_float(slack), upper(mu)),
            tuple(sentences),
            _to_float(rare),
            {_to_float(given): upper(value) for given, value in beliefs},
        )

    def naming_chance(self, people: int) -> Interval:
        """The largest probability of picking the one of that many equally likely people whose record was used."""
        if isinstance(people, bool) or not isinstance(people, int) or not 2 <= people < 2**63:
            raise DomainError(f"people = {people!r} is not allowed; it must be a whole number of at least 2")
        return upper(_core.naming_chance(self._core, people))

    def odds_factor(self, chance: Number) -> Interval:
        """The least factor k such that, except with this probability, no output multiplies the odds about a record by more than k."""
        return upper(_core.odds_factor(self._core, to_text("chance", chance)))

    def at_least_as_private(self, other: Curve, *, tolerance: Number | None = None) -> Order:
        """Whether no attack does better against this curve than against the other.

        With a ``tolerance`` the other may also reveal everything with that probability, so that what is rarer does not decide.

        >>> import tradeoff as to
        >>> to.gaussian(2).curve().at_least_as_private(to.gaussian(1).curve()).verdict
        'yes'
        >>> sampled = to.gaussian(1.1).poisson("256/60000").repeat(1000).curve()
        >>> sampled.at_least_as_private(to.gdp(1).curve()).verdict  # at a delta of 1e-133
        'no'
        >>> sampled.at_least_as_private(to.gdp(1).curve(), tolerance=1e-12).verdict
        'yes'
        """
        _must_be_curve("at_least_as_private", other)
        against = other._core if tolerance is None else _core.with_revealing(other._core, to_text("tolerance", tolerance))
        with Progress("order"):
            return Order(*_core.at_least_as_private(self._core, against))

    def compare(self, delta: Number, *, methods: Sequence[str] = ()) -> Comparison:
        """epsilon by every applicable method, or by those named: bounds, estimates, and refusals with their reasons.

        >>> import tradeoff as to
        >>> found = to.gaussian(5).repeat(10).curve().compare(delta=1e-5)
        >>> found["exact"].epsilon.hi <= found["rdp"].epsilon.hi
        True
        """
        with Progress("compare"):
            rows, best, epsilon, warnings = _core.compare(
                self._of_plan(), to_text("delta", delta), list(methods), self._stated, self._relative
            )
        listed = tuple(Method(method, kind, Interval._make(value, _SAFE_END_OF_KIND[kind]), remark) for method, kind, value, remark in rows)
        return Comparison(listed, best, upper(epsilon), tuple(warnings))

    def moments(self, *, direction: str = "worst") -> Moments:
        """Moments of the privacy loss.

        >>> import tradeoff as to
        >>> 0.5 in to.gaussian(1).curve().moments().kl
        True
        """
        return Moments(*(Interval(*value) for value in _core.moments(self._core_for(direction), direction)))

    def clt(self) -> Limit:
        """Limit theorems: an estimate of mu, and the Berry-Esseen bound."""
        with Progress("clt"):
            mu, revealed, theorems, proved, refusal = _core.limit(self._of_plan(), self._stated, self._relative)
        bound = None if proved is None else BerryEsseen(*(upper(value) for value in proved))
        return Limit(mu, revealed, tuple(theorems), bound, refusal)

    def edgeworth(self) -> Edgeworth:
        """The central limit theorem refined: estimates of epsilon and delta.

        >>> import tradeoff as to
        >>> curve = to.laplace(20).repeat(400).curve()
        >>> abs(curve.edgeworth().epsilon(1e-3) - curve.epsilon(1e-3).hi) < 0.02
        True
        """
        return Edgeworth(_core.edgeworth(self._of_plan(), self._stated, self._relative))

    def renyi(self) -> Renyi:
        """The Renyi divergences of the plan."""
        text, relative = self._of_plan(), self._relative
        stated = self._stated if self.neighbours else "add-remove"
        return Renyi(_core.renyi(text, self._stated, relative), lambda: _core.renyi(text, stated, relative))

    def divergences(self, *, direction: str = "worst") -> Divergences:
        """Total variation, Kullback-Leibler and chi-square divergence.

        >>> import tradeoff as to
        >>> 0.5 in to.gaussian(1).curve().divergences().kl
        True
        """
        return Divergences(*(Interval(*value) for value in _core.divergences(self._core_for(direction), direction)))

    def check(self, *, epsilon: Number, delta: Number) -> str:
        """``"within"`` if the plan is certainly (epsilon, delta)-DP, ``"exceeded"`` if it certainly is not, otherwise ``"undecided"``.
        The budget must be met in both directions.

        >>> import tradeoff as to
        >>> to.gaussian(sigma=2).curve().check(epsilon=3, delta=1e-5)
        'within'
        """
        return self._core.check(to_text("epsilon", epsilon), to_text("delta", delta))

    def plot(self, kind: str = "tradeoff", *, axes: Any = None, points: int = 201) -> Any:
        """Draws the curve with matplotlib and returns the axes; ``tradeoff.plot`` draws several. ``kind`` is ``tradeoff``, ``profile`` or ``gdpt``."""
        from ._plot import plot

        return plot(self, kind, axes=axes, points=points)

    def __eq__(self, other: object) -> bool:
        return self._identity() == other._identity() if isinstance(other, Curve) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity())

    def _of_plan(self) -> str:
        """The plan text for questions that use the lines of the plan; UnsupportedError for a curve that no plan describes."""
        return self._text if self._plan is not None else self.plan.text

    def _identity(self) -> tuple[Any, ...]:
        return self._made if self._plan is None else (self._plan.text, self._text, self._stated, self._relative)

    def _name(self) -> str:
        return self._plan.text if self._plan is not None else self._made[0].__name__

    def __repr__(self) -> str:
        whose = f", neighbours={self.neighbours!r}" if self.neighbours else ""
        return f"Curve({self._name()!r}{whose})"

    def _repr_html_(self) -> str:
        from ._notebook import curve_to_html

        return curve_to_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._plan is None:
            return self._made[0], self._made[1:]
        return _rebuild, self._identity()


def _must_be_curve(what: str, other: object) -> None:
    if not isinstance(other, Curve):
        raise DomainError(f"{what}: a {type(other).__name__} is no Curve")


def _rebuild(plan: str, text: str, neighbours: str, relative: str) -> Curve:
    """The curve of a pickle, with the content of its files from when it was made."""
    return Curve._of(_core.analyze(text, neighbours, relative), Plan(plan), text, neighbours, relative)


def _with_tables(text: str) -> str:
    return _core.with_tables(text) if "file=" in text else text


def analyze(plan: PlanLike, *, neighbours: str | None = None, relative: Number = 1e-6) -> Curve:
    """What the plan, given as text or as a Plan, guarantees.

    >>> import tradeoff as to
    >>> to.analyze("gdp(mu=1)").beta(alpha=0.05).lo >= 0.74
    True
    """
    return Curve(plan, neighbours=neighbours, relative=relative)


def _to_corners(corners: Any) -> tuple[Guarantee, ...]:
    return tuple(Guarantee(upper(epsilon), upper(delta)) for epsilon, delta in corners)


def _to_polygon(polygon: Any) -> Polygon:
    corners, area = polygon
    return Polygon(_to_corners(corners), Interval(*area))


def _to_float(text: str) -> float:
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


def _are_doubles(values: Any) -> bool:
    """Whether the array converts to doubles without rounding; other numbers are converted one by one, exactly."""
    kind, bits = values.dtype.kind, 8 * values.dtype.itemsize
    if kind == "f":
        return bool(bits <= 64)
    exact = 2**53  # every integer up to here is a double
    return bool(kind in "iu" and (bits <= 32 or values.size == 0 or -exact <= int(values.min()) and int(values.max()) <= exact))
