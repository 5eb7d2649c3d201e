# SPDX-License-Identifier: Apache-2.0
"""Canaries for an audit of one training run: examples that join the data by fair coins. [one-run-audit]"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .. import _core
from .._errors import DomainError

Fetch = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
Losses = Callable[[torch.Tensor, torch.Tensor], list[float]]


class Canaries:
    """Made-up examples, the coins that decided which of them joined, and their losses before the run."""

    def __init__(self, inputs: torch.Tensor, targets: torch.Tensor, *, included: torch.Tensor, losses: Losses) -> None:
        if len(inputs) != len(targets) or not len(inputs):
            raise DomainError(f"canaries: {len(inputs)} inputs and {len(targets)} targets; there must be equally many, and at least one")
        self._inputs, self._targets, self._included = inputs, targets, included
        self._before = losses(inputs, targets)

    @staticmethod
    def toss(count: int) -> torch.Tensor:
        """The indices of the canaries that join, each by an exact fair coin."""
        return torch.from_numpy(_core.poisson_batch(1, 2, count))

    def join(self, fetch: Fetch, examples: int) -> tuple[Fetch, int]:
        """The data with the canaries that joined behind them."""
        ours = self._inputs[self._included], self._targets[self._included]

        def both(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            theirs, mine = part[part < examples], part[part >= examples] - examples
            if not len(mine):
                return fetch(theirs)
            added = ours[0][mine], ours[1][mine]
            if not len(theirs):
                return added
            inputs, targets = fetch(theirs)
            return torch.cat([inputs, added[0].to(inputs)]), torch.cat([targets, added[1].to(targets)])

        return both, examples + len(self._included)

    def table(self, losses: Losses) -> str:
        """A row ``score,included`` for each canary. The score, by how much its loss fell, is computed without the coins."""
        scores = [before - after for before, after in zip(self._before, losses(self._inputs, self._targets))]
        joined = set(self._included.tolist())
        return "".join(f"{score!r},{int(place in joined)}\n" for place, score in enumerate(scores))

    def state(self) -> dict[str, Any]:
        return {"included": self._included.tolist(), "before": list(self._before)}

    def load(self, state: dict[str, Any]) -> None:
        if len(state["before"]) != len(self._before):
            raise DomainError(f"state: the run had {len(state['before'])} canaries, and this one has {len(self._before)}")
        self._included, self._before = torch.tensor(state["included"], dtype=torch.int64), list(state["before"])
