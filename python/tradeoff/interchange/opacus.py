# SPDX-License-Identifier: Apache-2.0
"""An accountant with the interface of Opacus.

    engine = PrivacyEngine()
    engine.accountant = tradeoff.interchange.Accountant()        # instead of Opacus' own

or, to be found by name (also by ``make_private_with_epsilon`` and ``get_noise_multiplier``)::

    tradeoff.interchange.opacus.register()
    engine = PrivacyEngine(accountant="tradeoff")
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from functools import lru_cache
from typing import Any

from .. import _core
from .._curve import Curve
from .._errors import DomainError, UnsupportedError
from .._interval import Interval
from .._numbers import Number, to_text
from .._plan import Plan, gaussian
from .._training import FACTOR_OF_TWO
from .histories import Entry, check_entry, check_step, history_of_state, merge_histories, plan_of_history

_RELATIVE = to_text("relative", 1e-6)  # as for any curve
_OPTIONS_OF_OTHERS = {"alphas", "eps_error", "delta_error"}  # how tight an estimate should be: every answer here is as tight as it gets


@lru_cache(maxsize=1024)
def _step_text(noise: float, rate: float) -> str:
    return gaussian(noise).poisson(rate).text


def _growth(before: tuple[Entry, ...], after: tuple[Entry, ...]) -> str | None:
    """The plan of the steps taken since; None unless the one history begins with the other."""
    added = []
    for index, (noise, rate, steps) in enumerate(after):
        if index < len(before):
            if before[index][:2] != (noise, rate) or before[index][2] > steps:
                return None
            steps -= before[index][2]
        if steps > 0 and rate > 0:
            added.append(f"{_step_text(noise, rate)} | repeat({steps})")
    return "; ".join(added) if len(after) >= len(before) else None


class Accountant:
    """Counts steps of private training; ``get_epsilon`` is a guarantee, never an estimate.

    What the numbers mean is what they mean in Opacus: every example joins each batch independently with probability ``sample_rate``
    (Poisson sampling), neighbours differ by one record added or removed, and the noise multiplier is the standard deviation of the noise
    divided by the clipping norm. Stating anything else is an error, because the number would be wrong. One thread at a time may step it.

    >>> accountant = Accountant()
    >>> for _ in range(100):
    ...     accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    >>> accountant.history
    [(1.1, 0.01, 100)]
    >>> accountant.get_epsilon(delta=1e-5) <= 0.57
    True
    """

    def __init__(self, *, sampling: str = "poisson", neighbours: str = "add-remove", unit: str = "clipping norm") -> None:
        if sampling != "poisson":
            raise UnsupportedError(
                f"sampling = {sampling!r}: a history of sample rates means Poisson sampling. If the loader shuffles instead, the amplification "
                "of sampling does not hold; use tradeoff.sgd(sampling='shuffled' or 'fixed') for what was run"
            )
        if neighbours != "add-remove":
            raise UnsupportedError(f"neighbours = {neighbours!r}: Poisson sampling speaks of add-remove neighbours here. {FACTOR_OF_TWO}")
        if unit not in ("clipping norm", "sensitivity"):
            raise DomainError(f"unit = {unit!r} is not allowed. {FACTOR_OF_TWO}")
        self.history: list[Entry] = []
        self._known: tuple[tuple[Entry, ...], _core.Curve] | None = None

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Records a step. A refused step leaves the history as it was."""
        noise, rate = check_step(noise_multiplier, sample_rate)
        history = self.history
        if history and tuple(history[-1][:2]) == (noise, rate):
            history[-1] = (noise, rate, history[-1][2] + 1)
        else:
            history.append((noise, rate, 1))

    @property
    def plan(self) -> Plan:
        """What was run so far."""
        return plan_of_history(self.history)

    @property
    def curve(self) -> Curve:
        """What it guarantees."""
        return Curve._of(self._analysed(), self.plan, "add-remove", _RELATIVE)

    def _analysed(self) -> _core.Curve:
        """Kept until the next step, and then extended by what is new: every step of a long run may be asked about."""
        state = tuple(self.history)
        if self._known is None or self._known[0] != state:
            growth = None if self._known is None else _growth(self._known[0], state)
            if self._known is None or growth is None:
                core = _core.analyze(plan_of_history(state).text, "add-remove", _RELATIVE)
            else:
                core = self._known[1].extend(growth) if growth else self._known[1]
            self._known = (state, core)
        return self._known[1]

    def get_epsilon_interval(self, delta: Number) -> Interval:
        """The epsilon spent so far, enclosed."""
        return Interval(*self._analysed().answer("epsilon", to_text("delta", delta), "worst"))

    def get_epsilon(self, delta: Number, **options: Any) -> float:
        """The epsilon spent so far, as a guarantee. Changes nothing."""
        if options.get("poisson") is False:
            raise UnsupportedError("poisson=False: without Poisson sampling the history does not say what was run; use tradeoff.sgd")
        unknown = set(options) - _OPTIONS_OF_OTHERS - {"poisson"}
        if unknown:
            raise TypeError(f"get_epsilon() got an unexpected keyword argument '{min(unknown)}'")
        return self.get_epsilon_interval(delta).hi

    def get_delta(self, epsilon: Number) -> float:
        """The delta at this epsilon, as a guarantee."""
        return Interval(*self._analysed().answer("delta", to_text("epsilon", epsilon), "worst")).hi

    def merge(self, other: Any) -> None:
        """Adds the steps of another accountant (or history) that ran on the same data."""
        self.history = merge_histories(self.history, getattr(other, "history", other))

    def __len__(self) -> int:
        """Entries of the history, as in Opacus: a run of equal steps is one."""
        return len(self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name it is registered under."""
        return "tradeoff"

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """A callback for ``DPOptimizer.attach_step_hook``."""

        def hook_fn(optimizer: Any) -> None:
            # Gradients of several batches that are accumulated before the noise is added are one larger batch.
            self.step(noise_multiplier=optimizer.noise_multiplier, sample_rate=sample_rate * optimizer.accumulated_iterations)

        return hook_fn

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The state, for a checkpoint: ``history`` and ``mechanism``."""
        found: MutableMapping[str, Any] = OrderedDict() if destination is None else destination
        found["history"] = [tuple(entry) for entry in self.history]
        found["mechanism"] = self.mechanism()
        return found

    def load_state_dict(self, state_dict: Any) -> None:
        """Takes over a state; one written by an accountant of Opacus is fine, its history means the same. A refused one changes nothing."""
        self.history = history_of_state(state_dict)

    @classmethod
    def from_history(cls, history: Any) -> Accountant:
        """An accountant that goes on where another (or its history, or its state_dict) stopped."""
        accountant = cls()
        if hasattr(history, "keys"):
            accountant.load_state_dict(history)
        else:
            accountant.history = [check_entry(entry) for entry in getattr(history, "history", history)]
        return accountant

    def __getstate__(self) -> dict[str, Any]:
        return {"history": list(self.history), "_known": None}  # what was found out is found again

    def __repr__(self) -> str:
        return f"Accountant({self.history!r})"


def register(force: bool = True) -> None:
    """Makes ``PrivacyEngine(accountant="tradeoff")`` work."""
    from opacus.accountants.registry import register_accountant  # type: ignore[import-not-found, import-untyped, unused-ignore]

    register_accountant(Accountant.mechanism(), Accountant, force=force)
