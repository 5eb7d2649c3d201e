# SPDX-License-Identifier: Apache-2.0
"""Clips gradients to integers whose norm is checked, and sums them without rounding. [torch-step]"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import torch

from .. import _core
from .._errors import DomainError
from .._numbers import Number, to_text


class Tally:
    """Counts of the last step. They depend on the data: show them to its owner only."""

    def __init__(self) -> None:
        self._counts: torch.Tensor | None = None  # stays on its device, so that counting does not wait for a GPU

    def _add(self, *counts: torch.Tensor) -> None:
        more = torch.stack([one.sum() for one in counts])
        self._counts = more if self._counts is None else self._counts + more

    def _add_counts(self, *counts: int) -> None:
        more = torch.tensor(counts)
        self._counts = more if self._counts is None else self._counts + more

    def _count(self, place: int) -> int:
        return 0 if self._counts is None else int(self._counts[place])

    @property
    def examples(self) -> int:
        """Examples of the batch, in this process."""
        return self._count(0)

    @property
    def clipped(self) -> int:
        """Gradients above the clipping norm."""
        return self._count(1)

    @property
    def zeroed(self) -> int:
        """Gradients that are not finite; they contribute nothing."""
        return self._count(2)

    def __repr__(self) -> str:
        return f"Tally(examples={self.examples}, clipped={self.clipped}, zeroed={self.zeroed})"


class ClipGrid:
    """The integers on which gradients are summed: multiples of ``2**exponent``; ``bound`` of them make up the clipping norm.

    >>> ClipGrid(1.0)
    ClipGrid(exponent=-20, bound=1048576)
    """

    aim = 1 - 2.0**-18  # long gradients are scaled to this part of the bound, because norms and products are rounded

    def __init__(self, clip: Number) -> None:
        text = to_text("clip", clip)
        try:
            exact = Fraction(text)
        except (ValueError, ZeroDivisionError):
            raise DomainError(f"clip = {text[:40]} is not allowed; it must be a number between 1e-6 and 1e6") from None
        if not Fraction(1, 10**6) <= exact <= 10**6:
            raise DomainError(f"clip = {text[:40]} is not allowed; it must be between 1e-6 and 1e6")
        bits = 0
        while exact * Fraction(2) ** bits < 2**20:
            bits += 1
        while exact * Fraction(2) ** bits >= 2**21:
            bits -= 1
        self.clip = text
        self.exponent = -bits
        self.bound = int(exact * Fraction(2) ** bits)  # rounded down, below 2**21: a float32 holds every smaller integer
        self.step = float(Fraction(2) ** -bits)

    def __repr__(self) -> str:
        return f"ClipGrid(exponent={self.exponent}, bound={self.bound})"

    def add_clipped(self, sums: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], mask: torch.Tensor, tally: Tally | None = None) -> None:
        """Adds the contributions of a physical batch to sums of 64-bit integers: ``add`` of ``integers``, without storing them.

        On the CPU and, where CUDA's compiler is installed, on a GPU it is one pass for the norms and one or two for the integers.
        """
        rows = [one.detach().reshape(one.shape[0], -1).float().contiguous() for one in gradients]
        totals = [one.view(-1) for one in sums]
        if mask.device.type == "cpu":
            given = mask.to(torch.uint8)
            clipped, zeroed = _core.add_clipped(rows, totals, given, self.step, self.bound, self.aim, torch.get_num_threads())
            if tally is not None:
                tally._add_counts(int(given.sum()), clipped, zeroed)
            return
        if mask.device.type == "cuda":
            from . import _gpu

            if _gpu.is_available():
                long, kept = _gpu.add_clipped(rows, totals, mask, self.step, self.bound, self.aim)
                if tally is not None:
                    tally._add(mask, long & mask, ~kept & mask)
                return
        self.add(sums, self.integers(gradients, mask, tally))

    def integers(self, gradients: Sequence[torch.Tensor], mask: torch.Tensor, tally: Tally | None = None) -> list[torch.Tensor]:
        """The contributions of a physical batch: whole numbers, as floats, whose norm over all parameters is at most ``bound``.

        ``gradients`` has one tensor for each parameter, with the examples in the first dimension; ``mask`` is false for padding. The check
        at the end is the only thing that privacy depends on. It is exact: see docs/theory/torch-step.md.
        """
        flat = [one.detach().reshape(one.shape[0], -1).float() for one in gradients]
        norms = torch.stack([_norms(one) for one in flat]).square().sum(0).sqrt() / self.step
        limit = self.bound * self.aim
        factors = torch.where(norms > limit, limit / norms, torch.ones_like(norms)) / self.step
        scales = factors.float().unsqueeze(1)
        whole = [torch.trunc_(one * scales) for one in flat]
        kept = (squared_norms(whole) <= float(self.bound) ** 2) & mask  # exact; false also for NaN
        if tally is not None:
            tally._add(mask, (norms > limit) & mask, ~kept & mask)
        left_out = ~kept.unsqueeze(1)
        return [one.masked_fill_(left_out, 0).reshape(given.shape) for one, given in zip(whole, gradients)]

    def add(self, sums: Sequence[torch.Tensor], contributions: Iterable[torch.Tensor]) -> None:
        """Adds the contributions of a physical batch to sums of 64-bit integers."""
        for total, one in zip(sums, contributions):
            total += one.sum(0, dtype=torch.float64).to(torch.int64)  # whole numbers below 2**53: no rounding, whatever the order


def _norms(rows: torch.Tensor) -> torch.Tensor:
    """The norm of each row, in double precision."""
    return torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)


def squared_norms(whole: Sequence[torch.Tensor]) -> torch.Tensor:
    """The squared norm of each row over all tensors, exact where it is below 2**50 and the entries are whole numbers.

    A norm is the root of a sum of squares in double precision, which is exact up to 2**53. Its square is within 1/8 of that sum up to
    2**50, so rounding restores it.
    """
    return torch.stack([_norms(one).square().round() for one in whole]).sum(0)
