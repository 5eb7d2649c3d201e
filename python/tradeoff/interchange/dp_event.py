# SPDX-License-Identifier: Apache-2.0
"""Event trees of Google's dp-accounting, read and written. Reading needs no import of it; named tuples of events are read as well."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from math import exp, inf, nextafter
from sys import float_info
from typing import Any

from .. import _core
from .._errors import DomainError, UnsupportedError
from .._numbers import to_text
from .._plan import Plan, PlanLike, compose, discrete_laplace, dp, gaussian, laplace, randomized_response, zcdp
from .._training import FACTOR_OF_TWO


class _Terms:
    """The neighbours of an event, and the sensitivity of a sum in the unit of the noise multiplier."""

    def __init__(self, neighbours: Any, unit: str | None) -> None:
        named = getattr(neighbours, "name", neighbours)
        words = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace-one", "add-remove": "add-remove", "replace-one": "replace-one"}
        if named not in words:
            raise DomainError(f"neighbours = {named!r} is not allowed; it must be one of add-remove, replace-one")
        if unit not in (None, "clipping norm", "sensitivity"):
            raise DomainError(f"unit = {unit!r} is not allowed. {FACTOR_OF_TWO}")
        self.neighbours = words[named]
        self.unit = unit

    def reach(self, event: str) -> int:
        """1 or 2: the sensitivity in units of the length that the noise multiplier is divided by."""
        if self.neighbours == "add-remove" or self.unit == "sensitivity":
            return 1
        if self.unit is None:
            raise DomainError(f"unit: {event} under replace-one neighbours needs the unit of its noise multiplier. {FACTOR_OF_TWO}")
        return 2

    def demand(self, event: str, neighbours: str) -> None:
        if self.neighbours != neighbours:
            raise UnsupportedError(f"{event} is known under {neighbours} neighbours alone, not under {self.neighbours}. {FACTOR_OF_TWO}")


def from_dp_event(event: Any, *, neighbours: Any, unit: str | None = None) -> Plan:
    """The plan that an event tree describes.

    Args:
        event: a ``DpEvent`` of dp-accounting, or its named tuple.
        neighbours: ``"add-remove"``, ``"replace-one"`` or a ``NeighboringRelation``: an event tree does not say.
        unit: of noise multipliers, wanted under replace-one neighbours, where it makes a factor of two: ``"clipping norm"`` (what the
            events document: the bound on the norm of each value) or ``"sensitivity"``.
    """
    plan = _read(event, _Terms(neighbours, unit))
    return plan if plan is not None else dp(0)


def _read(event: Any, terms: _Terms) -> Plan | None:
    """None for an event that costs nothing."""
    name = str(getattr(event, "class_name", None) or type(event).__name__)
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


def _read_self_composed(event: Any, terms: _Terms) -> Plan | None:
    inner = _read(event.event, terms)
    return None if inner is None or event.count == 0 else inner.repeat(event.count)


def _read_composed(event: Any, terms: _Terms) -> Plan | None:
    found = [plan for plan in (_read(one, terms) for one in event.events) if plan is not None]
    return compose(*found) if found else None


def _read_poisson(event: Any, terms: _Terms) -> Plan | None:
    terms.demand("PoissonSampledDpEvent", "add-remove")
    inner = _read(event.event, terms)
    return None if inner is None or event.sampling_probability == 0 else inner.poisson(event.sampling_probability)


def _read_without_replacement(event: Any, terms: _Terms) -> Plan | None:
    terms.demand("SampledWithoutReplacementDpEvent", "replace-one")
    inner = _read(event.event, terms)
    return None if inner is None or event.sample_size == 0 else inner.sample(event.sample_size, event.source_dataset_size)


def _read_with_replacement(event: Any, terms: _Terms) -> Plan | None:
    terms.demand("SampledWithReplacementDpEvent", "replace-one")
    inner = _read(event.event, terms)
    return None if inner is None or event.sample_size == 0 else inner.sample_with_replacement(event.sample_size, event.source_dataset_size)


_READERS: dict[str, Callable[[Any, _Terms], Plan | None]] = {
    "NoOpDpEvent": lambda event, terms: None,
    "NonPrivateDpEvent": lambda event, terms: Plan(_REVEALING),
    "GaussianDpEvent": _noisy("GaussianDpEvent", gaussian),
    "LaplaceDpEvent": _noisy("LaplaceDpEvent", laplace),
    "DiscreteLaplaceDpEvent": _read_discrete_laplace,
    "RandomizedResponseDpEvent": _read_randomized_response,
    "ZCDpEvent": _read_zcdp,
    "SelfComposedDpEvent": _read_self_composed,
    "ComposedDpEvent": _read_composed,
    "PoissonSampledDpEvent": _read_poisson,
    "SampledWithoutReplacementDpEvent": _read_without_replacement,
    "SampledWithReplacementDpEvent": _read_with_replacement,
}

_REFUSED = {
    "UnsupportedDpEvent": "it stands for something that was run and about which nothing is known",
    "SingleEpochTreeAggregationDpEvent": "its neighbours replace a record by a zero one (REPLACE_SPECIAL), which no plan describes",
    "RepeatAndSelectDpEvent": "no plan describes the choice of the best of a random number of runs",
    "MixtureOfGaussiansDpEvent": "no plan describes Gaussian noise with a random sensitivity",
    "TruncatedSubsampledGaussianDpEvent": "no plan describes Poisson sampling with a largest batch",
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

    def write(self, lines: list[Any]) -> Any:
        found = [self.write_line(source, operators) for source, operators in lines]
        return found[0] if len(found) == 1 else self.events.ComposedDpEvent(found)

    def write_line(self, source: Any, operators: list[Any]) -> Any:
        event = self.write(source) if isinstance(source, list) else self.write_source(*source)
        for name, arguments in operators:
            event = self.apply(name, arguments, event)
        return event

    def write_source(self, name: str, arguments: dict[str, Any]) -> Any:
        writer = getattr(self, f"_write_{name}", None)
        if writer is None:
            raise UnsupportedError(f"{name} has no event in dp-accounting")
        return writer({key: _exact(name, key, value) for key, value in arguments.items()})

    def _relative_sensitivity(self, name: str, values: dict[str, Fraction]) -> Fraction:
        """The sensitivity in units of the length that a noise multiplier is divided by."""
        return values.get("sensitivity", Fraction(1)) / self.terms.reach(name)

    def _write_gaussian(self, values: dict[str, Fraction]) -> Any:
        length = self._relative_sensitivity("gaussian", values)
        return self.events.GaussianDpEvent(_below(values["sigma"] / length)) if length else self.events.NoOpDpEvent()

    def _write_laplace(self, values: dict[str, Fraction]) -> Any:
        length = self._relative_sensitivity("laplace", values)
        return self.events.LaplaceDpEvent(_below(values["scale"] / length)) if length else self.events.NoOpDpEvent()

    def _write_gdp(self, values: dict[str, Fraction]) -> Any:
        return self.events.GaussianDpEvent(_below(self.terms.reach("gdp") / values["mu"])) if values["mu"] else self.events.NoOpDpEvent()

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

    def _write_dp(self, values: dict[str, Fraction]) -> Any:
        if values.get("delta") == 1:
            return self.events.NonPrivateDpEvent()
        if values["epsilon"] == 0 and not values.get("delta"):
            return self.events.NoOpDpEvent()
        raise UnsupportedError("dp has no event in dp-accounting, but for epsilon = delta = 0 and for delta = 1")

    def apply(self, name: str, arguments: dict[str, Any], event: Any) -> Any:
        if name not in ("repeat", "poisson", "sample", "sample_with_replacement"):
            raise UnsupportedError(f"{name} has no event in dp-accounting")
        values = {key: _exact(name, key, value) for key, value in arguments.items()}
        if name == "repeat":
            return self.events.SelfComposedDpEvent(event, int(values["times"]))
        if name == "poisson":
            self.terms.demand("poisson", "add-remove")
            return self.events.PoissonSampledDpEvent(min(1.0, _above(values["rate"])), event)
        self.terms.demand(name, "replace-one")
        if "rate" in values:
            raise UnsupportedError("sample(rate): SampledWithoutReplacementDpEvent counts records; write sample(size, of)")
        if name == "sample":
            return self.events.SampledWithoutReplacementDpEvent(int(values["of"]), int(values["size"]), event)
        return self.events.SampledWithReplacementDpEvent(int(values["of"]), int(values["draws"]), event)


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
