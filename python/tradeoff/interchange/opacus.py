# SPDX-License-Identifier: Apache-2.0
"""An accountant with the interface of Opacus. Attach it before ``make_private``, either by name::

    tradeoff.interchange.opacus.register()
    engine = PrivacyEngine(accountant="tradeoff")
    model, optimizer, loader = engine.make_private(...)          # or make_private_with_epsilon

or as an object::

    engine = PrivacyEngine()
    engine.accountant = tradeoff.interchange.Accountant()
    model, optimizer, loader = engine.make_private(...)

``make_private`` connects the optimizer to the accountant that the engine has at that time. One that is attached later sees no step; it
warns with ``NoStepsWarning`` when it is asked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from functools import lru_cache
from math import sqrt
from typing import Any, cast
from warnings import warn

from .. import _core
from .._curve import Curve
from .._errors import DomainError, UnsupportedError
from .._interval import Interval, upper
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
    added: list[str] = []
    for index, (noise, rate, steps) in enumerate(after):
        if index < len(before):
            if before[index][:2] != (noise, rate) or before[index][2] > steps:
                return None
            steps -= before[index][2]
        if steps > 0 and rate > 0:
            added.append(f"{_step_text(noise, rate)} | repeat({steps})")
    return "; ".join(added) if len(after) >= len(before) else None


class NoStepsWarning(UserWarning):
    """The accountant has recorded no step. Its answer 0 is not valid for a model that was trained."""


class Accountant:
    """Counts steps of private training; ``get_epsilon`` is a guarantee, never an estimate.

    The numbers have the same meaning as in Opacus: every example joins each batch independently with probability ``sample_rate``
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
            raise UnsupportedError(f"neighbours = {neighbours!r}: Poisson sampling needs add-remove neighbours here. {FACTOR_OF_TWO}")
        if unit not in ("clipping norm", "sensitivity"):
            raise DomainError(f"unit = {unit!r} is not allowed. {FACTOR_OF_TWO}")
        self.history: list[Entry] = []
        self._known: tuple[tuple[Entry, ...], _core.Curve] | None = None

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Records a step. A refused step does not change the history."""
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
        self._warn_without_steps()
        return Curve._of(self._analysed(), self.plan, self.plan.text, "add-remove", _RELATIVE)

    def _warn_without_steps(self) -> None:
        """Called by public methods only, so that the warning names the line of their caller."""
        if not any(steps > 0 for _, _, steps in map(check_entry, self.history)):
            warn(
                "the accountant has seen no step, so its answer 0 says nothing about a model that was trained. In make_private, Opacus "
                "connects the optimizer to the engine's accountant: attach this one before, or write PrivacyEngine(accountant='tradeoff')",
                NoStepsWarning,
                stacklevel=3,
            )

    def _answer(self, ask: str, name: str, at: Number) -> Interval:
        return upper(self._analysed().answer(ask, to_text(name, at), "worst"))

    def _analysed(self) -> _core.Curve:
        """The curve is cached and extended by new steps, so that every step of a long run may be queried."""
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
        self._warn_without_steps()
        return self._answer("epsilon", "delta", delta)

    def get_epsilon(self, delta: Number, **options: Any) -> float:
        """The epsilon spent so far, as a guarantee. Changes nothing. Without any step it is 0, and a ``NoStepsWarning`` is given."""
        if options.get("poisson") is False:
            raise UnsupportedError("poisson=False: without Poisson sampling the history does not say what was run; use tradeoff.sgd")
        unknown = set(options) - _OPTIONS_OF_OTHERS - {"poisson"}
        if unknown:
            raise TypeError(f"get_epsilon() got an unexpected keyword argument '{min(unknown)}'")
        self._warn_without_steps()
        return self._answer("epsilon", "delta", delta).hi

    def get_delta(self, epsilon: Number) -> float:
        """The delta at this epsilon, as a guarantee."""
        self._warn_without_steps()
        return self._answer("delta", "epsilon", epsilon).hi

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
        """A callback for ``DPOptimizer.attach_step_hook``.

        Where the gradients of k batches are accumulated before the noise is added, a record may be in several of them. The noisy sum is
        then the sum of k noisy sums of one batch each, with 1/k of the variance: k steps are recorded, with the noise divided by sqrt(k).
        """

        def hook_fn(optimizer: Any) -> None:
            batches = max(1, int(optimizer.accumulated_iterations))
            noise, rate = check_step(optimizer.noise_multiplier, sample_rate)
            if batches > 1:
                noise *= (1 - 1e-15) / sqrt(batches)  # the rounding of both is below 1e-15
            for _ in range(batches):
                self.step(noise_multiplier=noise, sample_rate=rate)

        return hook_fn

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The state, for a checkpoint: ``history`` and ``mechanism``."""
        found: MutableMapping[str, Any] = OrderedDict() if destination is None else destination
        found["history"] = [tuple(entry) for entry in self.history]
        found["mechanism"] = self.mechanism()
        return found

    def load_state_dict(self, state_dict: Any) -> None:
        """Loads a state, also one written by an accountant of Opacus; its history has the same meaning. A refused state changes nothing."""
        self.history = history_of_state(state_dict)

    @classmethod
    def from_history(cls, history: Any) -> Accountant:
        """An accountant that continues another one (or its history, or its state_dict)."""
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
    try:
        from opacus.accountants import IAccountant, register_accountant  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("register makes this accountant known to Opacus: pip install opacus") from None
    cast("Any", IAccountant).register(Accountant)  # isinstance() of theirs says yes
    register_accountant(Accountant.mechanism(), Accountant, force=force)  # pyright: ignore[reportArgumentType]  # it has the interface, without the base class
