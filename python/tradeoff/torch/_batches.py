# SPDX-License-Identifier: Apache-2.0
"""How batches are drawn, and what the plan says about it."""

from __future__ import annotations

from typing import Union

import torch

from .. import _core
from .._errors import DomainError


def _check(size: object, of: object) -> None:
    for name, value in (("size", size), ("of", of)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**32:
            raise DomainError(f"{name} = {value!r} is not allowed; it must be a whole number from 1 to 2**32 - 1")
    if size > of:  # type: ignore[operator]
        raise DomainError(f"size = {size} is not allowed; it must be at most of = {of}")


class PoissonBatches:
    """Every example joins each batch independently with probability ``size / of``, by an exact coin.

    Neighbours add or remove one example. ``of`` is a public number that does not move with the data; the sum is divided by ``size``, not
    by the number of examples that joined.
    """

    neighbours = "add-remove"
    contributions = 1  #: how many clipping norms a neighbouring data set moves the sum

    def __init__(self, size: int, *, of: int) -> None:
        _check(size, of)
        self.size, self.of = size, of

    def draw(self, examples: int) -> torch.Tensor:
        """The indices of the examples that join."""
        return torch.from_numpy(_core.poisson_batch(self.size, self.of, examples))

    @property
    def operation(self) -> str:
        return f"poisson(rate={self.size}/{self.of})"

    def __repr__(self) -> str:
        return f"PoissonBatches({self.size}, of={self.of})"


class FixedBatches:
    """Exactly ``size`` of ``of`` examples without replacement, drawn anew at each step, every subset equally likely.

    Neighbours replace one example, so the number ``of`` of examples is public and the sum moves by up to two clipping norms.
    """

    neighbours = "replace-one"
    contributions = 2

    def __init__(self, size: int, *, of: int) -> None:
        _check(size, of)
        self.size, self.of = size, of

    def draw(self, examples: int) -> torch.Tensor:
        """The indices of the examples of a step."""
        if examples != self.of:
            raise DomainError(f"data: {examples} examples are not allowed; the batches are drawn from exactly {self.of}")
        return torch.from_numpy(_core.fixed_batch(self.size, self.of))

    @property
    def operation(self) -> str:
        return f"sample(size={self.size}, of={self.of})"

    def __repr__(self) -> str:
        return f"FixedBatches({self.size}, of={self.of})"


Batches = Union[PoissonBatches, FixedBatches]
