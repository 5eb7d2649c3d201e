# SPDX-License-Identifier: Apache-2.0
"""Exact clipping and noise inside Opacus: a drop-in for its ``DPOptimizer``, for those who keep Opacus.

    from opacus import PrivacyEngine
    from tradeoff.torch.opacus import use_exact_noise

    model, optimizer, loader = PrivacyEngine().make_private(...)
    use_exact_noise(optimizer)

Opacus still computes the per-example gradients, draws the batches and keeps its accountant. Its Poisson batches have varying shapes and its
data loader is not drawn by exact coins, so what ``docs/theory/torch-step.md`` says about batches is not claimed here: this covers
clipping, summing and noise.
"""

from __future__ import annotations

from typing import Any

import torch
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

from .._errors import UnsupportedError
from ._grid import ClipGrid
from ._noise import NoiseSource


class ExactOptimizer(DPOptimizer):
    """A ``DPOptimizer`` that clips to integers, sums integers and adds rounded Gaussian noise on them. Made by ``use_exact_noise``."""

    _grid: ClipGrid
    _noise: NoiseSource
    _noise_for: float

    def _prepare(self) -> None:
        """The grid and the noise of the present norm and multiplier, which schedulers may change."""
        if getattr(self, "_grid", None) is None or self._grid.clip != repr(float(self.max_grad_norm)):
            self._grid, self._noise_for = ClipGrid(repr(float(self.max_grad_norm))), -1.0
        if self._noise_for != self.noise_multiplier:
            self._noise, self._noise_for = NoiseSource(float(self.noise_multiplier), self._grid.bound), self.noise_multiplier

    def clip_and_accumulate(self) -> None:
        self._prepare()
        for parameter in self.params:
            _check_processed_flag(parameter.grad_sample)  # gradients that a step used already are refused
        samples = self.grad_samples
        for parameter in self.params:
            if parameter.summed_grad is None:
                parameter.summed_grad = torch.zeros_like(parameter, dtype=torch.int64, memory_format=torch.contiguous_format)
        if samples and len(samples[0]):
            mask = torch.ones(len(samples[0]), dtype=torch.bool, device=samples[0].device)
            self._grid.add_clipped([one.summed_grad for one in self.params], samples, mask)
        for parameter in self.params:
            _mark_as_processed(parameter.grad_sample)

    def add_noise(self) -> None:
        self._prepare()
        if any(parameter.summed_grad is None for parameter in self.params):
            raise UnsupportedError("a parameter has no gradient of this step; freeze it with requires_grad=False")
        sums = [parameter.summed_grad for parameter in self.params]
        for total in sums:
            _check_processed_flag(total)
        self._noise.add_to(sums)
        for parameter, total in zip(self.params, sums):
            parameter.grad = (total.double() * self._grid.step).to(parameter.dtype)
            _mark_as_processed(total)


def use_exact_noise(optimizer: Any) -> ExactOptimizer:
    """Turns an optimizer that ``make_private`` returned into an exact one, in place."""
    if type(optimizer) is not DPOptimizer:
        raise UnsupportedError(
            f"{type(optimizer).__name__} is not supported; make_private must return a plain DPOptimizer (flat clipping, one process, no ghost clipping)"
        )
    if float(optimizer.noise_multiplier) <= 0:
        raise UnsupportedError("noise_multiplier = 0 adds no noise")
    optimizer.__class__ = ExactOptimizer
    exact: ExactOptimizer = optimizer
    exact._prepare()
    return exact
