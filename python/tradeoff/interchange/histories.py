# SPDX-License-Identifier: Apache-2.0
"""Histories of private training, as (noise_multiplier, sample_rate, num_steps), and what other accountants have recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from .._errors import DomainError, UnsupportedError
from .._plan import Plan, compose, dp, gaussian

Entry = tuple[float, float, int]


def check_entry(entry: Any) -> Entry:
    """A valid step of the history, or DomainError."""
    try:
        noise_multiplier, sample_rate, steps = entry
    except (TypeError, ValueError):
        raise DomainError(f"history: {entry!r} is no triple (noise_multiplier, sample_rate, num_steps)") from None
    noise_multiplier, sample_rate = check_step(noise_multiplier, sample_rate)
    if isinstance(steps, bool) or not hasattr(steps, "__index__") or not 0 <= int(steps) <= 10**12:
        raise DomainError(f"history: num_steps = {steps!r} is not allowed; it must be a whole number of at least 0")
    return noise_multiplier, sample_rate, int(steps)


def check_step(noise_multiplier: Any, sample_rate: Any) -> tuple[float, float]:
    """The two as plain numbers. Raises DomainError unless this is a step whose cost is known."""
    for name, value in (("noise_multiplier", noise_multiplier), ("sample_rate", sample_rate)):
        if isinstance(value, (bool, str)) or not _is_finite(value):
            raise DomainError(f"{name} = {value!r} is not allowed; it must be a finite number")
    if not noise_multiplier > 0:
        raise DomainError(f"noise_multiplier = {noise_multiplier!r} is not allowed; it must be above 0: without noise there is no privacy")
    if not 0 <= sample_rate <= 1:
        raise DomainError(
            f"sample_rate = {sample_rate!r} is not allowed; it must be between 0 and 1: "
            "the probability that a given record is in the batch, not the number of records"
        )
    return _plain(noise_multiplier), _plain(sample_rate)


def _plain(value: Any) -> float:
    """Converts tensors of one element to floats, so that equal steps compare equal."""
    return value if isinstance(value, (int, float)) else float(value)


def _is_finite(value: Any) -> bool:
    try:
        return bool(-float("inf") < float(value) < float("inf"))
    except (TypeError, ValueError, OverflowError):
        return False


def merge_histories(*histories: Iterable[Any]) -> list[Entry]:
    """One history of all steps, with equal steps counted together: the order of steps does not affect privacy.

    >>> merge_histories([(1.0, 0.01, 10), (1.0, 0.02, 5)], [(1.0, 0.01, 7)])
    [(1.0, 0.01, 17), (1.0, 0.02, 5)]
    """
    merged: dict[tuple[float, float], int] = {}
    for history in histories:
        for entry in history:
            noise_multiplier, sample_rate, steps = check_entry(entry)
            merged[noise_multiplier, sample_rate] = merged.get((noise_multiplier, sample_rate), 0) + steps
    return [(noise, rate, steps) for (noise, rate), steps in merged.items()]


def plan_of_history(history: Iterable[Any]) -> Plan:
    """Poisson-sampled steps under add-remove neighbours, noise in units of the clipping norm: what such a history means in Opacus."""
    lines = [gaussian(noise).poisson(rate).repeat(steps) for noise, rate, steps in merge_histories(history) if steps > 0 and rate > 0]
    return compose(*lines) if lines else dp(0)


def read_history(source: Any, *, unit: str | None = None) -> Plan:
    """The plan of what another accountant has recorded, in one call.

    Args:
        source: an accountant with ``history`` (Opacus and those that copy its interface), its ``state_dict``, such a history itself, or
            an accountant of dp-accounting with ``ledger`` and ``neighboring_relation``.
        unit: of noise multipliers, where the neighbours make it matter: see ``from_dp_event``.

    >>> read_history([(1.1, 0.01, 100)])
    Plan('gaussian(sigma=1.1) | poisson(rate=0.01) | repeat(100)')
    """
    if hasattr(source, "ledger") and hasattr(source, "neighboring_relation"):
        from .dp_event import from_dp_event

        return from_dp_event(source.ledger, neighbours=source.neighboring_relation, unit=unit)
    if isinstance(source, Mapping):
        return plan_of_history(history_of_state(source))
    history = getattr(source, "history", source)
    if isinstance(history, (str, bytes)) or not hasattr(history, "__iter__"):
        raise UnsupportedError(f"a {type(source).__name__} records no history that is known here")
    return plan_of_history(history)


def history_of_state(state: Any) -> list[Entry]:
    """The history in a ``state_dict`` of Opacus. What it means does not depend on which of its accountants wrote it."""
    if not isinstance(state, Mapping) or not state:
        raise DomainError("state_dict: it is empty or no mapping, and cannot be loaded")
    for key in ("history", "mechanism"):
        if key not in state:
            raise DomainError(f"state_dict: it has no key '{key}'")
    if state["mechanism"] not in ("rdp", "gdp", "prv", "tradeoff"):
        raise DomainError(f"state_dict: the mechanism {state['mechanism']!r} is not known to record Poisson-sampled Gaussian steps")
    history = cast("list[Any]", state["history"])
    return [check_entry(entry) for entry in history]
