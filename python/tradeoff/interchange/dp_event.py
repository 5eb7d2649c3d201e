# SPDX-License-Identifier: Apache-2.0
"""Event trees of Google's dp-accounting, read and written. Reading needs no import of it; named tuples of events are read as well."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import comb, exp, fsum, inf, nextafter
from sys import float_info
from typing import Any

from .. import _core
from .._errors import DomainError, UnsupportedError
from .._numbers import to_text
from .._plan import Plan, PlanLike, Runs, compose, discrete_laplace, dp, exponential, gaussian, laplace, matrix, noisy_max, randomized_response, zcdp
from .._training import FACTOR_OF_TWO


class _Terms:
    """The neighbours of an event, and the sensitivity of a sum in the unit of the noise multiplier."""

    def __init__(self, neighbours: Any, unit: str | None) -> None:
        named = getattr(neighbours, "name", neighbours)
        words = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace-one", "REPLACE_SPECIAL": "zero-out"}
        words.update({word: word for word in words.values()})
        if named not in words:
            raise DomainError(f"neighbours = {named!r} is not allowed; it must be one of add-remove, replace-one, zero-out")
        if unit not in (None, "clipping norm", "sensitivity"):
            raise DomainError(f"unit = {unit!r} is not allowed. {FACTOR_OF_TWO}")
        self.neighbours = words[named]
        self.unit = unit
        self.sampled = False  # inside a sampler, whose theorem needs the clip norm under replace-one neighbours

    def reach(self, event: str) -> int:
        """1 or 2: the sensitivity in units of the length that the noise multiplier is divided by."""
        if self.neighbours != "replace-one" or self.unit == "sensitivity":
            return 1
        if self.unit is None:
            raise DomainError(f"unit: {event} under replace-one neighbours needs the unit of its noise multiplier. {FACTOR_OF_TWO}")
        return 2

    def demand(self, event: str, *neighbours: str) -> None:
        if self.neighbours not in neighbours:
            known = " or ".join(neighbours)
            raise UnsupportedError(f"{event} is known under {known} neighbours alone, not under {self.neighbours}. {FACTOR_OF_TWO}")


def from_dp_event(event: Any, *, neighbours: Any, unit: str | None = None) -> Plan:
    """The plan that an event tree describes.

    Args:
        event: a ``DpEvent`` of dp-accounting, or its named tuple.
        neighbours: ``"add-remove"``, ``"replace-one"``, ``"zero-out"`` or a ``NeighboringRelation``: an event tree does not say.
        unit: of noise multipliers, wanted under replace-one neighbours, where it makes a factor of two: ``"clipping norm"`` (what the
            events document: the bound on the norm of each value) or ``"sensitivity"``.
    """
    plan = _read(event, _Terms(neighbours, unit))
    return plan if plan is not None else dp(0)


def _name_of(event: Any) -> str:
    return str(getattr(event, "class_name", None) or type(event).__name__)


def _read(event: Any, terms: _Terms) -> Plan | None:
    """None for an event that costs nothing."""
    name = _name_of(event)
    reader = _READERS.get(name)
    if reader is None:
        reason = _REFUSED.get(name, "it is no event that is known here")
        raise UnsupportedError(f"{name} is not supported: {reason}; supported are {', '.join(sorted(_READERS))}")
    return reader(event, terms)


_REVEALING = "dp(epsilon=0, delta=1)"  # may tell everything


def _noisy(name: str, make: Callable[..., Plan]) -> Callable[[Any, _Terms], Plan]:
    def read(event: Any, terms: _Terms) -> Plan:
        reach = terms.reach(name)
        if event.noise_multiplier == 0:
            return Plan(_REVEALING)
        if terms.sampled and reach == 2 and make is gaussian:
            return gaussian(event.noise_multiplier, clip=1)
        return make(event.noise_multiplier, sensitivity=None if reach == 1 else reach)

    return read


def _read_discrete_laplace(event: Any, terms: _Terms) -> Plan:
    reach = terms.reach("DiscreteLaplaceDpEvent")
    if event.noise_parameter == 0:
        return Plan(_REVEALING)
    return discrete_laplace(f"1/{to_text('noise_parameter', event.noise_parameter)}", sensitivity=reach * int(event.sensitivity))


def _read_randomized_response(event: Any, terms: _Terms) -> Plan | None:
    terms.demand("RandomizedResponseDpEvent", "replace-one")
    noise, buckets = Fraction(to_text("noise_parameter", event.noise_parameter)), int(event.num_buckets)
    if buckets == 1 or noise == 1:
        return None
    if not 0 <= noise <= 1 or buckets < 1:
        raise DomainError(f"RandomizedResponseDpEvent: noise_parameter = {event.noise_parameter}, num_buckets = {buckets} is not allowed")
    if noise == 0:
        return Plan(_REVEALING)
    return randomized_response(_log_above(1 + buckets * (1 - noise) / noise), buckets)


def _read_zcdp(event: Any, terms: _Terms) -> Plan | None:
    if event.xi != 0:
        raise UnsupportedError(f"ZCDpEvent: xi = {event.xi} is not supported; it must be 0, which is rho-zCDP")
    return None if event.rho == 0 else zcdp(event.rho)


def _read_exponential(event: Any, terms: _Terms) -> Plan | None:
    return None if event.epsilon == 0 else exponential(event.epsilon)


def _read_permute_and_flip(event: Any, terms: _Terms) -> Plan | None:
    """The same law as the largest utility with exponential noise, whose epsilon is twice the sensitivity over the scale."""
    return None if event.epsilon == 0 else noisy_max("exponential", _spelled(2 / Fraction(to_text("epsilon", event.epsilon))))


def _read_self_composed(event: Any, terms: _Terms) -> Plan | None:
    inner = _read(event.event, terms)
    return None if inner is None or event.count == 0 else inner.repeat(event.count)


def _read_composed(event: Any, terms: _Terms) -> Plan | None:
    found = [plan for plan in (_read(one, terms) for one in event.events) if plan is not None]
    return compose(*found) if found else None


def _read_poisson(event: Any, terms: _Terms) -> Plan | None:
    if terms.neighbours == "replace-one" and _name_of(event.event) != "GaussianDpEvent":
        raise UnsupportedError("PoissonSampledDpEvent under replace-one neighbours is known for a GaussianDpEvent alone")
    outside, terms.sampled = terms.sampled, True
    inner = _read(event.event, terms)
    terms.sampled = outside
    return None if inner is None or event.sampling_probability == 0 else inner.poisson(event.sampling_probability)


def _read_truncated(event: Any, terms: _Terms) -> Plan | None:
    if not event.sampling_probability or not event.truncated_batch_size or not event.dataset_size:
        return None
    outside, terms.sampled = terms.sampled, True
    noise = _noisy("TruncatedSubsampledGaussianDpEvent", gaussian)(event, terms)
    terms.sampled = outside
    if event.noise_multiplier == 0 or event.truncated_batch_size >= event.dataset_size:
        return noise if event.noise_multiplier == 0 else noise.poisson(event.sampling_probability)
    # With a record added or removed the size is no public number: only a bound of it is used.
    bound = "at_most" if terms.neighbours == "add-remove" else None
    return noise.poisson(event.sampling_probability, of=event.dataset_size, of_is=bound, at_most=event.truncated_batch_size)


def _read_tree(event: Any, terms: _Terms) -> Plan:
    """Nodes that were completed: the record is in as many as the largest complete tree has levels."""
    terms.demand("SingleEpochTreeAggregationDpEvent", "zero-out")
    stated: Any = event.step_counts
    counts: list[Any] = [*stated] if isinstance(stated, (list, tuple)) else [stated]  # pyright: ignore[reportUnknownVariableType]
    steps = max((int(one) for one in counts), default=0)
    if steps < 1:
        raise DomainError(f"SingleEpochTreeAggregationDpEvent: step_counts = {event.step_counts} is not allowed; it must be 1 or more")
    if event.noise_multiplier == 0:
        return Plan(_REVEALING)
    return matrix(event.noise_multiplier, kind="tree", steps=2 ** (steps.bit_length() - 1))


def _read_mixture_of_gaussians(event: Any, terms: _Terms) -> Plan | None:
    """The law of the sensitivity of a user whose examples are drawn one by one is binomial; no plan describes another law."""
    terms.demand("MixtureOfGaussiansDpEvent", "add-remove", "zero-out")
    law: dict[Fraction, Fraction] = {}
    for size, chance in zip(event.sensitivities, event.sampling_probs, strict=True):
        key = Fraction(to_text("sensitivities", size))
        law[key] = law.get(key, Fraction(0)) + Fraction(to_text("sampling_probs", chance))
    if any(size < 0 for size in law) or any(chance < 0 for chance in law.values()):
        raise DomainError("MixtureOfGaussiansDpEvent: sensitivities and sampling_probs must not be negative")
    largest = max((size for size, chance in law.items() if chance), default=Fraction(0))
    if largest == 0:
        return None
    if event.standard_deviation == 0:
        return Plan(_REVEALING)
    sizes = sorted(size for size, chance in law.items() if size and chance)
    unit = sizes[0]
    if law.get(largest) == 1:
        return gaussian(event.standard_deviation, sensitivity=_spelled(largest))
    found = _binomial(law, unit, len(sizes)) if sizes == [unit * count for count in range(1, len(sizes) + 1)] else None
    if found is None:
        raise UnsupportedError(
            "MixtureOfGaussiansDpEvent: no plan describes this law of the sensitivity; a binomial one is that of a user with K examples, "
            "poisson(rate, examples=K)"
        )
    noise = gaussian(event.standard_deviation, sensitivity=None if unit == 1 else _spelled(unit))
    examples = f", examples={len(sizes)}" if len(sizes) > 1 else ""
    return Plan(f"{noise.text} | poisson(rate={_spelled(found)}{examples})")


def _binomial(law: dict[Fraction, Fraction], unit: Fraction, count: int) -> Fraction | None:
    """The least rate in steps of 2^-60 whose binomial law exceeds this one, if the two differ by rounding alone. A count that is more
    often large is a mechanism that dominates."""
    tails = [sum((chance for size, chance in law.items() if size >= unit * k), Fraction(0)) for k in range(count + 1)]
    if count == 1:
        return tails[1] if tails[1] <= 1 else None

    def exceeds(rate: Fraction) -> bool:
        chances = [comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(count + 1)]
        return all(sum(chances[k:], Fraction(0)) >= tails[k] for k in range(1, count + 1))

    mean = sum((size / unit * chance for size, chance in law.items()), Fraction(0)) / count
    step = Fraction(1, 2**60)
    low, high = Fraction(0), min(Fraction(1), mean * (1 + Fraction(1, 10**9)))
    if not exceeds(high):
        return None
    while high - low > step:
        middle = (low + high) / 2
        low, high = (low, middle) if exceeds(middle) else (middle, high)
    chances = [comb(count, k) * high**k * (1 - high) ** (count - k) for k in range(count + 1)]
    excess = max(abs(sum(chances[k:], Fraction(0)) - tails[k]) / max(tails[k], Fraction(1, 10**30)) for k in range(1, count + 1))
    return high if excess <= Fraction(1, 10**8) else None


def _spelled(exact: Fraction) -> str:
    return str(exact.numerator) if exact.denominator == 1 else f"{exact.numerator}/{exact.denominator}"


def _read_without_replacement(event: Any, terms: _Terms) -> Plan | None:
    terms.demand("SampledWithoutReplacementDpEvent", "replace-one")
    inner = _read(event.event, terms)
    return None if inner is None or event.sample_size == 0 else inner.sample(event.sample_size, event.source_dataset_size)


def _read_with_replacement(event: Any, terms: _Terms) -> Plan | None:
    terms.demand("SampledWithReplacementDpEvent", "replace-one")
    inner = _read(event.event, terms)
    return None if inner is None or event.sample_size == 0 else inner.sample_with_replacement(event.sample_size, event.source_dataset_size)


def _read_repeat_and_select(event: Any, terms: _Terms) -> Plan | None:
    inner = _read(event.event, terms)
    return None if inner is None else inner.best_of(_runs(event.mean, event.shape))


def _runs(mean: float, shape: float) -> Runs:
    """The law of the number of runs. Where the event states the mean and a plan the chance of success, this is rounded down: to more runs."""
    if not shape >= 0:
        raise UnsupportedError(f"RepeatAndSelectDpEvent: shape = {shape} is not allowed; it must be at least 0")
    if shape == inf:
        return Runs.poisson(mean)
    if shape == 1:
        return Runs.geometric(mean)
    if not 1 < mean < inf:
        raise UnsupportedError(f"RepeatAndSelectDpEvent: mean = {mean} is not supported for shape = {shape}; it must be above 1")
    success = _success_below(Decimal(mean), Decimal(shape))
    return Runs.negative_binomial(shape, success) if shape else Runs.logarithmic(success)


_DIGITS = 50  # of logarithms and powers


def _mean_of_runs(success: Decimal, shape: Decimal) -> Decimal:
    """The mean of the negative binomial law without 0, whose limit for the shape 0 is the logarithmic law; to about 40 digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        if not shape:
            return (1 / success - 1) / -success.ln()
        return shape * (1 / success - 1) / (1 - (shape * success.ln()).exp())


def _success_below(mean: Decimal, shape: Decimal) -> str:
    """The largest chance of 15 digits whose mean is at least this; the mean falls in it."""
    with localcontext() as context:
        context.prec = _DIGITS
        low, high = Decimal(0), Decimal(1)
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if _mean_of_runs(middle, shape) >= mean else (low, middle)
        context.prec, context.rounding = 15, ROUND_FLOOR
        return str(+low)


_READERS: dict[str, Callable[[Any, _Terms], Plan | None]] = {
    "NoOpDpEvent": lambda event, terms: None,
    "NonPrivateDpEvent": lambda event, terms: Plan(_REVEALING),
    "GaussianDpEvent": _noisy("GaussianDpEvent", gaussian),
    "LaplaceDpEvent": _noisy("LaplaceDpEvent", laplace),
    "DiscreteLaplaceDpEvent": _read_discrete_laplace,
    "RandomizedResponseDpEvent": _read_randomized_response,
    "ExponentialMechanismDpEvent": _read_exponential,
    "PermuteAndFlipDpEvent": _read_permute_and_flip,
    "ZCDpEvent": _read_zcdp,
    "SelfComposedDpEvent": _read_self_composed,
    "RepeatAndSelectDpEvent": _read_repeat_and_select,
    "ComposedDpEvent": _read_composed,
    "PoissonSampledDpEvent": _read_poisson,
    "TruncatedSubsampledGaussianDpEvent": _read_truncated,
    "SingleEpochTreeAggregationDpEvent": _read_tree,
    "MixtureOfGaussiansDpEvent": _read_mixture_of_gaussians,
    "SampledWithoutReplacementDpEvent": _read_without_replacement,
    "SampledWithReplacementDpEvent": _read_with_replacement,
}

_REFUSED = {
    "UnsupportedDpEvent": "it stands for something that was run and about which nothing is known",
}


def to_dp_event(plan: PlanLike, *, neighbours: Any, unit: str | None = None) -> Any:
    """The event tree of a plan, for accountants of dp-accounting. Numbers are rounded towards less privacy.

    Arguments as for ``from_dp_event``. A source or an operator without an event is refused by name, and so is a number out of range.
    """
    try:
        from dp_accounting import dp_event as events  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("to_dp_event makes events of dp-accounting: pip install dp-accounting") from None
    terms, text = _Terms(neighbours, unit), Plan(plan).text
    event = _Writer(events, terms).write(_core.tree(text))
    _core.analyze(text, terms.neighbours, "1e-6")  # refuses what is out of range
    return event


class _Writer:
    def __init__(self, events: Any, terms: _Terms) -> None:
        self.events = events
        self.terms = terms
        self.clipped = False  # the last Gaussian source states a clip norm

    def write(self, lines: list[Any]) -> Any:
        found = [self.write_line(source, operators) for source, operators in lines]
        return found[0] if len(found) == 1 else self.events.ComposedDpEvent(found)

    def write_line(self, source: Any, operators: list[Any]) -> Any:
        event = self.write([*source]) if isinstance(source, list) else self.write_source(*source)  # pyright: ignore[reportUnknownArgumentType]
        for name, arguments in operators:
            event = self.apply(name, arguments, event)
        return event

    def write_source(self, name: str, arguments: dict[str, Any]) -> Any:
        writer = getattr(self, f"_write_{name}", None)
        if writer is None:
            raise UnsupportedError(f"{name} has no event in dp-accounting")
        return writer({key: value if key in _WORDS else _exact(name, key, value) for key, value in arguments.items()})

    def _relative_sensitivity(self, name: str, values: dict[str, Fraction]) -> Fraction:
        """The sensitivity in units of the length that a noise multiplier is divided by."""
        if "clip" in values:
            doubled = self.terms.neighbours == "replace-one" and self.terms.unit == "sensitivity"
            self.terms.reach(name)  # refuses a missing unit
            return 2 * values["clip"] if doubled else values["clip"]
        return values.get("sensitivity", Fraction(1)) / self.terms.reach(name)

    def _write_gaussian(self, values: dict[str, Fraction]) -> Any:
        self.clipped = "clip" in values
        length = self._relative_sensitivity("gaussian", values)
        return self.events.GaussianDpEvent(_below(values["sigma"] / length)) if length else self.events.NoOpDpEvent()

    def _write_laplace(self, values: dict[str, Fraction]) -> Any:
        length = self._relative_sensitivity("laplace", values)
        return self.events.LaplaceDpEvent(_below(values["scale"] / length)) if length else self.events.NoOpDpEvent()

    def _write_gdp(self, values: dict[str, Fraction]) -> Any:
        return self.events.GaussianDpEvent(_below(self.terms.reach("gdp") / values["mu"])) if values["mu"] else self.events.NoOpDpEvent()

    def _write_matrix(self, values: dict[str, Any]) -> Any:
        self.terms.demand("matrix", "zero-out")
        if values.get("kind") != "tree" or values.get("participations", 1) != 1:
            raise UnsupportedError(
                "matrix has no event in dp-accounting, but for kind = tree with one participation; "
                "what it guarantees is Gaussian: ask for its mu and write gdp(mu)"
            )
        length = values.get("clip") or values.get("sensitivity", Fraction(1))
        return self.events.SingleEpochTreeAggregationDpEvent(_below(values["sigma"] / length), int(values["steps"]))

    def _write_zcdp(self, values: dict[str, Fraction]) -> Any:
        return self.events.ZCDpEvent(_above(values["rho"]))

    def _write_discrete_laplace(self, values: dict[str, Fraction]) -> Any:
        length = self._relative_sensitivity("discrete_laplace", values)
        if length.denominator != 1:
            raise UnsupportedError("discrete_laplace: its sensitivity is odd, so it is no change of one clipped record by another")
        if not values["scale"]:
            return self.events.NonPrivateDpEvent()
        return self.events.DiscreteLaplaceDpEvent(_above(1 / values["scale"]), int(length))

    def _write_randomized_response(self, values: dict[str, Fraction]) -> Any:
        self.terms.demand("randomized_response", "replace-one")
        choices, epsilon = int(values.get("choices", 2)), float(values["epsilon"])
        likelier = exp(epsilon) if epsilon <= 700 else inf
        # exp() of a rounded epsilon up to 700 is off by less than 1e-13 of itself.
        return self.events.RandomizedResponseDpEvent(choices / (likelier + choices - 1) * (1 - 1e-12), choices)

    def _write_exponential(self, values: dict[str, Any]) -> Any:
        epsilon = values["epsilon"] if "epsilon" in values else values["weight"] * self._relative_shift(values)
        return self.events.ExponentialMechanismDpEvent(_above(epsilon)) if epsilon else self.events.NoOpDpEvent()

    def _write_noisy_max(self, values: dict[str, Any]) -> Any:
        noise, epsilon = values["noise"], self._relative_shift(values) / values["scale"]
        if noise not in ("gumbel", "exponential"):
            raise UnsupportedError(f"noisy_max with {noise} noise has no event in dp-accounting; only gumbel and exponential noise have one")
        if not epsilon:
            return self.events.NoOpDpEvent()
        if noise == "exponential":
            return self.events.PermuteAndFlipDpEvent(_above(epsilon))
        event = self.events.ExponentialMechanismDpEvent(_above(epsilon))
        return event if values.get("top", 1) == 1 else self.events.SelfComposedDpEvent(event, int(values["top"]))

    @staticmethod
    def _relative_shift(values: dict[str, Any]) -> Fraction:
        """How far one utility moves relative to another."""
        sensitivity: Fraction = values.get("sensitivity", Fraction(1))
        return sensitivity if values.get("monotone") == "true" else 2 * sensitivity

    def _write_dp(self, values: dict[str, Fraction]) -> Any:
        if values.get("delta") == 1:
            return self.events.NonPrivateDpEvent()
        if values["epsilon"] == 0 and not values.get("delta"):
            return self.events.NoOpDpEvent()
        raise UnsupportedError("dp has no event in dp-accounting, but for epsilon = delta = 0 and for delta = 1")

    def apply(self, name: str, arguments: dict[str, Any], event: Any) -> Any:
        if name == "best_of":
            return self.apply_best_of(arguments, event)
        if name not in ("repeat", "poisson", "sample", "sample_with_replacement"):
            raise UnsupportedError(f"{name} has no event in dp-accounting")
        values = {key: _exact(name, key, value) for key, value in arguments.items() if key not in _WORDS}
        if name == "repeat":
            return self.events.SelfComposedDpEvent(event, int(values["times"]))
        if name == "poisson":
            return self.apply_poisson(values, arguments, event)
        self.terms.demand(name, "replace-one")
        if "rate" in values:
            raise UnsupportedError("sample(rate): SampledWithoutReplacementDpEvent counts records; write sample(size, of)")
        if name == "sample":
            return self.events.SampledWithoutReplacementDpEvent(int(values["of"]), int(values["size"]), event)
        return self.events.SampledWithReplacementDpEvent(int(values["of"]), int(values["draws"]), event)


    def apply_best_of(self, arguments: dict[str, Any], event: Any) -> Any:
        [((law, stated), _)] = arguments["runs"]
        if law not in ("poisson", "geometric", "negative_binomial", "logarithmic"):
            raise UnsupportedError(
                f"best_of(runs={law}) has no event in dp-accounting; RepeatAndSelectDpEvent knows poisson, geometric, negative_binomial and logarithmic"
            )
        values = {key: _exact(law, key, value) for key, value in stated.items()}
        if "mean" in values:
            return self.events.RepeatAndSelectDpEvent(event, _above(values["mean"]), inf if law == "poisson" else 1.0)
        shape, success = values.get("shape", Fraction(law == "geometric")), values["success"]
        if shape < 0 or float(shape) != shape:
            raise UnsupportedError(f"best_of: RepeatAndSelectDpEvent needs a shape of at least 0 that is a double; found {shape}")
        if shape == 1:
            return self.events.RepeatAndSelectDpEvent(event, _above(1 / success), 1.0)
        if success == 1:
            return self.events.RepeatAndSelectDpEvent(event, 1.0, float(shape))
        with localcontext() as context:
            context.prec = _DIGITS
            mean = _mean_of_runs(Decimal(success.numerator) / Decimal(success.denominator), Decimal(float(shape)))
        return self.events.RepeatAndSelectDpEvent(event, _above(Fraction(mean * (1 + Decimal("1e-30")))), float(shape))

    def apply_poisson(self, values: dict[str, Fraction], arguments: dict[str, Any], event: Any) -> Any:
        noise = type(event).__name__ == "GaussianDpEvent"
        if self.terms.neighbours == "replace-one" and not (noise and self.clipped):
            raise UnsupportedError(
                "poisson under replace-one neighbours has an event for gaussian(sigma, clip) alone: the event bounds each value, "
                "not the difference of two"
            )
        rate = min(1.0, _above(values["rate"]))
        if "at_most" in values:
            if not noise:
                raise UnsupportedError("poisson(at_most): TruncatedSubsampledGaussianDpEvent is for gaussian noise alone")
            if arguments.get("of_is") == "at_most":
                raise UnsupportedError("poisson(of_is=at_most): TruncatedSubsampledGaussianDpEvent knows the exact size of the data alone")
            return self.events.TruncatedSubsampledGaussianDpEvent(
                int(values["of"]), rate, int(values["at_most"]), event.noise_multiplier
            )
        count = int(values.get("examples", 1))
        if count == 1:
            return self.events.PoissonSampledDpEvent(rate, event)
        self.terms.demand("poisson(examples)", "add-remove", "zero-out")
        if not noise:
            raise UnsupportedError("poisson(examples): MixtureOfGaussiansDpEvent is for gaussian noise alone")
        exact = values["rate"]
        chances = [_above(comb(count, k) * exact**k * (1 - exact) ** (count - k)) for k in range(1, count + 1)]
        nothing = max(0.0, 1.0 - fsum(chances))
        return self.events.MixtureOfGaussiansDpEvent(event.noise_multiplier, [float(k) for k in range(count + 1)], [nothing, *chances])


_WORDS = ("of_is", "by", "noise", "monotone", "kind", "pattern", "file", "coefficients", "lower", "scales", "decays")  # arguments that are no single number


def _exact(name: str, key: str, value: str) -> Fraction:
    if value == "?":
        raise DomainError(f"{name}: {key} = ? has no event; find its value first, with tradeoff.calibrate")
    top, _, bottom = value.partition("/")
    return Fraction(top) / Fraction(bottom or 1)


def _log_above(exact: Fraction) -> Decimal:
    """A decimal just above the logarithm, nearer than any double."""
    with localcontext() as context:
        context.prec = 50
        return (Decimal(exact.numerator) / Decimal(exact.denominator)).ln() + Decimal("1e-40")


def _below(exact: Fraction) -> float:
    """The largest double that is not above."""
    if exact > float_info.max:
        return float_info.max
    near = float(exact)
    return near if Fraction(near) <= exact else nextafter(near, 0.0)


def _above(exact: Fraction) -> float:
    if exact > float_info.max:
        return inf
    near = float(exact)
    return near if Fraction(near) >= exact else nextafter(near, inf)
