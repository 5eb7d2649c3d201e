# SPDX-License-Identifier: Apache-2.0
"""Batch selection strategies and configurations of JAX Privacy, read and written. Reading needs no import of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Any

from .. import _core
from .._errors import DomainError, UnsupportedError
from .._numbers import Number, to_text
from .._plan import Plan, PlanLike

_RELATIONS = ("add-remove", "zero-out", "replace-one")


class _Run:
    """What a strategy does not say: the noise, the neighbours and the number of examples."""

    def __init__(self, noise_multiplier: Any, neighbours: str, num_examples: int | None) -> None:
        if neighbours not in _RELATIONS:
            raise DomainError(f"neighbours = {neighbours!r} is not allowed; it must be one of {', '.join(_RELATIONS)}")
        if num_examples is not None and (isinstance(num_examples, bool) or not isinstance(num_examples, int) or num_examples < 1):
            raise DomainError(f"num_examples = {num_examples!r} is not allowed; it must be a whole number from 1")
        self.noise = to_text("noise_multiplier", noise_multiplier)
        self.neighbours = neighbours
        self.num_examples = num_examples

    def gaussian(self) -> str:
        return f"gaussian(sigma={self.noise}, clip=1)" if self.neighbours == "replace-one" else f"gaussian(sigma={self.noise})"

    def size(self, name: str) -> int:
        if self.num_examples is None:
            raise DomainError(f"num_examples: {name} needs the number of examples of the data")
        return self.num_examples

    def demand(self, name: str, relations: tuple[str, ...], why: str) -> None:
        if self.neighbours not in relations:
            raise UnsupportedError(f"{name} under {self.neighbours} neighbours is not supported: {why}; state {' or '.join(relations)}")


def from_jax_privacy(strategy: Any, *, noise_multiplier: Number | None = None, neighbours: str, num_examples: int | None = None) -> Plan:
    """The plan of a ``BatchSelectionStrategy`` with Gaussian noise, or of a ``BandMFConfig``.

    Args:
        strategy: a batch selection strategy or configuration of JAX Privacy. Of a ``UserSelectionStrategy`` a record is a user.
        noise_multiplier: standard deviation of the noise divided by the clipping norm; a ``BandMFConfig`` states its own.
        neighbours: ``"add-remove"``, ``"zero-out"`` or ``"replace-one"``; the strategy does not say.
        num_examples: the number of examples (of users, for a ``UserSelectionStrategy``), where the strategy needs it.
    """
    name = type(strategy).__name__
    if name == "UserSelectionStrategy":
        return from_jax_privacy(strategy.base_strategy, noise_multiplier=noise_multiplier, neighbours=neighbours, num_examples=num_examples)
    reader = _READERS.get(name)
    if reader is None:
        reason = _REFUSED.get(name, "it is no strategy that is known here")
        raise UnsupportedError(f"{name} is not supported: {reason}; supported are {', '.join(sorted(_READERS))}")
    if name == "BandMFConfig":
        if noise_multiplier is not None:
            raise DomainError("noise_multiplier: a BandMFConfig states its own")
        noise_multiplier = "?" if strategy.noise_multiplier is None else strategy.noise_multiplier
        num_examples = strategy.num_examples if num_examples is None else num_examples
    elif noise_multiplier is None:
        raise DomainError(f"noise_multiplier: {name} does not state the noise; give it, or '?'")
    return Plan(reader(strategy, _Run(noise_multiplier, neighbours, num_examples)))


def _rate(name: str, value: Any) -> str:
    return to_text(name, value)


def _by_groups(rate: str, groups: int, steps: int, cap: int | None, equal_split: bool, run: _Run, source: str | None = None) -> str:
    """Cyclic Poisson sampling: groups of equal size by position, or of random size by an independent draw for each example."""
    name = "CyclicPoissonSampling"
    if groups > 1 and equal_split:
        run.demand(name, ("zero-out", "replace-one"), "groups of equal size change with every example added or removed (EQUAL_SPLIT)")
    if cap is not None:
        largest = run.size(name) // groups if equal_split else run.size(name)
        bound = ", of_is=at_most" if groups > 1 or run.neighbours == "add-remove" else ""
        sampler = f"poisson(rate={rate}, of={largest}{bound}, at_most={cap})" if cap < largest else f"poisson(rate={rate})"
        return f"{run.gaussian()} | {sampler} | repeat({-(-steps // groups)})"
    if groups == 1 and source is None:
        return f"{run.gaussian()} | poisson(rate={rate}) | repeat({steps})"
    by = ", by=position" if equal_split else ""
    return f"{source or run.gaussian()} | cyclic(groups={groups}, rate={rate}, steps={steps}{by})"


def _read_cyclic(strategy: Any, run: _Run) -> str:
    equal_split = getattr(strategy.partition_type, "name", strategy.partition_type) == "EQUAL_SPLIT"
    rate = _rate("sampling_prob", strategy.sampling_prob)
    return _by_groups(rate, strategy.cycle_length, strategy.iterations, strategy.truncated_batch_size, equal_split, run)


def _read_balls_in_bins(strategy: Any, run: _Run) -> str:
    passes, rest = divmod(strategy.iterations, strategy.cycle_length)
    if rest:
        raise UnsupportedError(
            f"BallsInBinsSampling: iterations = {strategy.iterations} is no multiple of cycle_length = {strategy.cycle_length}, so "
            "examples take part unequally often; with iterations rounded up to a multiple the plan is an upper bound"
        )
    return f"{run.gaussian()} | allocate(steps={strategy.cycle_length}, passes={passes})"


def _read_allocation(strategy: Any, run: _Run) -> str:
    return f"{run.gaussian()} | allocate(steps={strategy.iterations}, times={strategy.total_participations})"


def _read_fixed(strategy: Any, run: _Run) -> str:
    run.demand("FixedBatchSampling", ("replace-one",), "a sample of fixed size is known under replace-one neighbours alone")
    word = "sample_with_replacement(draws" if strategy.replace else "sample(size"
    source = f"gaussian(sigma={run.noise}, sensitivity=2)"
    return f"{source} | {word}={strategy.batch_size}, of={run.size('FixedBatchSampling')}) | repeat({strategy.iterations})"


def _read_band_mf(config: Any, run: _Run) -> str:
    if config.column_normalize:
        raise UnsupportedError("BandMFConfig: column_normalize is not supported; give the normalised matrix to matrix(file=...) | cyclic(...)")
    coefficients = [Fraction(to_text("strategy", float(one))) for one in config.strategy]
    rate = Fraction(to_text("expected_participations", config.expected_participations)) * len(coefficients) / config.iterations
    source = None
    if config.truncated_batch_size is None and run.noise != "?":
        sigma = _root_below(sum((one * one for one in coefficients), Fraction(0)) * Fraction(run.noise) ** 2)
        numbers = ", ".join(f"{one.numerator}/{one.denominator}" if one.denominator != 1 else str(one.numerator) for one in coefficients)
        source = f"matrix(sigma={sigma}, coefficients=[{numbers}], steps={config.iterations}, clip=1)"
    return _by_groups(
        f"{rate.numerator}/{rate.denominator}",
        len(coefficients),
        config.iterations,
        config.truncated_batch_size,
        config.num_examples is not None,
        run,
        source,
    )


def _root_below(square: Fraction) -> Decimal:
    """A decimal just below the square root."""
    with localcontext() as context:
        context.prec, context.rounding = 40, ROUND_FLOOR
        near = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        context.prec = 30
        return +near * (1 - Decimal("1e-28"))


_READERS: dict[str, Callable[[Any, _Run], str]] = {
    "CyclicPoissonSampling": _read_cyclic,
    "BallsInBinsSampling": _read_balls_in_bins,
    "RandomAllocationSampling": _read_allocation,
    "FixedBatchSampling": _read_fixed,
    "BandMFConfig": _read_band_mf,
}

_MIN_SEP = (
    "whether an example takes part depends on its last steps, and no amplification is proved for that; "
    "matrix(..., participations, separation) accounts for it without amplification"
)
_REFUSED = {
    "BMinSepSampling": _MIN_SEP,
    "MultiOwnerMinSepSampling": _MIN_SEP,
    "NonPrivateConfig": "it adds no noise",
}


def to_jax_privacy(plan: PlanLike, *, neighbours: str) -> tuple[float, Any]:
    """The noise multiplier and the batch selection strategy of a plan of one Gaussian line. The noise is rounded towards less privacy.

    Plans that no strategy describes are refused by name.
    """
    try:
        from jax_privacy import batch_selection as strategies  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("to_jax_privacy makes strategies of JAX Privacy: pip install jax-privacy") from None
    from .dp_event import _below, _exact

    text = Plan(plan).text
    _core.analyze(text, neighbours, "1e-6")  # refuses what is out of range
    lines = _core.tree(text)
    if len(lines) != 1 or isinstance(lines[0][0], list) or lines[0][0][0] != "gaussian":
        raise UnsupportedError("to_jax_privacy: the plan must be one line that starts with gaussian")
    (_, noise), operators = lines[0]
    values = {key: _exact("gaussian", key, value) for key, value in noise.items()}
    length = values.get("clip") or values.get("sensitivity", Fraction(1)) / (2 if neighbours == "replace-one" else 1)
    calls = [(name, {key: value for key, value in arguments.items()}) for name, arguments in operators]
    repeated = int(_exact("repeat", "times", calls.pop()[1]["times"])) if calls and calls[-1][0] == "repeat" else 1
    if len(calls) != 1:
        raise UnsupportedError("to_jax_privacy: the plan must have one sampler, then repeat")
    return _below(values["sigma"] / length), _strategy_of(strategies, *calls[0], repeated, neighbours)


def _strategy_of(strategies: Any, name: str, arguments: dict[str, Any], repeated: int, neighbours: str) -> Any:
    from .dp_event import _above, _exact

    numbers = {key: _exact(name, key, value) for key, value in arguments.items() if key not in ("by", "of_is")}
    if name == "poisson" and numbers.get("examples", 1) == 1:
        cap = int(numbers["at_most"]) if "at_most" in numbers else None
        return strategies.CyclicPoissonSampling(min(1.0, _above(numbers["rate"])), repeated, cap)
    if name == "cyclic" and repeated == 1:
        partition = strategies.PartitionType.EQUAL_SPLIT if arguments.get("by") == "position" else strategies.PartitionType.INDEPENDENT
        return strategies.CyclicPoissonSampling(
            min(1.0, _above(numbers["rate"])), int(numbers["steps"]), None, int(numbers["groups"]), partition
        )
    if name == "allocate" and repeated == 1:
        steps, passes, times = (int(numbers.get(key, 1)) for key in ("steps", "passes", "times"))
        if times == 1:
            return strategies.BallsInBinsSampling(steps * passes, steps)
        if passes == 1:
            strategy = getattr(strategies, "RandomAllocationSampling", None)
            if strategy is None:
                raise UnsupportedError("to_jax_privacy: allocate with times > 1 needs RandomAllocationSampling, which this JAX Privacy does not have")
            return strategy(times, steps)
    if name == "sample" and "size" in numbers:
        return strategies.FixedBatchSampling(int(numbers["size"]), repeated)
    if name == "sample_with_replacement":
        return strategies.FixedBatchSampling(int(numbers["draws"]), repeated, True)
    raise UnsupportedError(f"to_jax_privacy: {name} as written here has no batch selection strategy in JAX Privacy")
