# SPDX-License-Identifier: Apache-2.0
"""A ``PrivacyAccountant`` of Google's dp-accounting whose answers are certified."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

from .._curve import Curve
from .._errors import DomainError, UnsupportedError
from .._plan import Plan
from .dp_event import from_dp_event

try:
    from dp_accounting import privacy_accountant  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    raise ImportError("tradeoff.interchange.dp_accounting makes an accountant of dp-accounting: pip install dp-accounting") from None

_Relation = privacy_accountant.NeighboringRelation
_WORDS = {_Relation.ADD_OR_REMOVE_ONE: "add-remove", _Relation.REPLACE_ONE: "replace-one", _Relation.REPLACE_SPECIAL: "zero-out"}


def _parts(event: Any) -> Iterator[Any]:
    """The events that are composed: errors name the one at fault."""
    name = type(event).__name__
    if name == "ComposedDpEvent":
        for one in event.events:
            yield from _parts(one)
    elif name == "SelfComposedDpEvent":
        yield from _parts(event.event)
    else:
        yield event


class CertifiedAccountant(privacy_accountant.PrivacyAccountant):  # type: ignore[misc]
    """Composes events; ``get_epsilon`` and ``get_delta`` are upper ends of certified intervals.

    Under replace-one neighbours noise multipliers are in units of the clipping norm, as the events document. Events without a plan are
    refused by ``supports`` and ``compose``, with the reason.
    """

    def __init__(self, neighboring_relation: Any = _Relation.ADD_OR_REMOVE_ONE, *, unit: str = "clipping norm") -> None:
        if neighboring_relation not in _WORDS:
            raise DomainError(f"neighboring_relation = {neighboring_relation!r} is not known here")
        super().__init__(neighboring_relation)
        self._unit = unit
        self._curve: Curve | None = None

    def _read(self, event: Any) -> Plan:
        return from_dp_event(event, neighbours=self._neighboring_relation, unit=self._unit)

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        for part in _parts(event):
            try:
                self._read(part).curve(neighbours=_WORDS[self._neighboring_relation])
            except (UnsupportedError, DomainError) as reason:
                return privacy_accountant.PrivacyAccountant.CompositionErrorDetails(invalid_event=part, error_message=str(reason))
        if do_compose:
            self._curve = None  # of the ledger, which the base class keeps
        return None

    @property
    def curve(self) -> Curve:
        """What the composed events guarantee."""
        if self._curve is None:
            self._curve = self._read(self.ledger).curve(neighbours=_WORDS[self._neighboring_relation])
        return self._curve

    def get_epsilon(self, target_delta: float) -> float:
        """An epsilon that holds at this delta."""
        if not 0 <= target_delta <= 1:
            raise ValueError(f"target_delta = {target_delta} is not allowed; it must be between 0 and 1")
        if self.curve.delta(inf).lo == 1:
            return inf  # everything may be told: dp-accounting then states no epsilon, not even for delta = 1
        return self.curve.epsilon(target_delta).hi

    def get_delta(self, target_epsilon: float) -> float:
        """A delta that holds at this epsilon."""
        if not target_epsilon >= 0:
            raise ValueError(f"target_epsilon = {target_epsilon} is not allowed; it must be at least 0")
        return self.curve.delta(target_epsilon).hi
