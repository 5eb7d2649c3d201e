# SPDX-License-Identifier: Apache-2.0
"""Rounded Gaussian noise on integers, drawn exactly on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .. import _core
from .._numbers import Number, to_text


class NoiseSource:
    """Noise whose standard deviation is at least ``multiplier * bound`` steps of a grid.

    Every draw uses fresh randomness of the operating system: on the CPU the generator that releases use, on a GPU a key of 256 bits
    for each call. No state is kept, so a copied, forked or resumed process repeats nothing.
    """

    def __init__(self, multiplier: Number, bound: int) -> None:
        self._noise = _core.GaussianIntegers(to_text("noise_multiplier", multiplier), bound)

    @property
    def scale(self) -> str:
        """The standard deviation in steps, as an exact decimal: the multiplier times the bound, rounded up."""
        return self._noise.scale

    def draw(self, count: int, device: torch.device | str = "cpu") -> torch.Tensor:
        """So many independent values, as 64-bit integers."""
        device = torch.device(device)
        if device.type == "cuda":
            from . import _gpu

            if _gpu.is_available():
                return _gpu.draw(self._noise, count, device)
        return torch.from_numpy(self._noise.draw(count)).to(device)

    def add_to(self, sums: Sequence[torch.Tensor]) -> None:
        """Adds fresh noise to every entry of these integers, in place."""
        for device in {one.device for one in sums}:
            here = [one for one in sums if one.device == device]
            drawn = self.draw(sum(one.numel() for one in here), device).split([one.numel() for one in here])
            for one, noise in zip(here, drawn):
                one += noise.reshape(one.shape)
