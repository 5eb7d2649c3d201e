# SPDX-License-Identifier: Apache-2.0
"""Private training of any ``torch.nn.Module`` with exact noise, exact clipping and a certificate.

    import torch
    import tradeoff.torch as private

    run = private.PrivateRun(model, optimizer, torch.nn.functional.cross_entropy,
                             batches=private.PoissonBatches(256, of=60000), clip=1.0, noise_multiplier=1.1)
    for _ in range(steps):
        run.step((images, labels))
    run.epsilon(delta=1e-5)

Each example's gradient is clipped and rounded to integers whose norm is checked, the integers are summed without rounding, and rounded
Gaussian noise is drawn exactly on the same integers, on the CPU or on a GPU. ``docs/howto/torch.md`` describes it, and
``docs/theory/private-step.md`` and ``docs/theory/torch-step.md`` prove it.

This module needs PyTorch 2.1 or later; ``tradeoff`` itself does not.
"""

from __future__ import annotations

from ._batches import FixedBatches, PoissonBatches
from ._grid import ClipGrid, Tally
from ._noise import NoiseSource
from ._rows import RowsMixError, UnsupportedModuleError
from ._run import PrivateRun

__all__ = ["ClipGrid", "FixedBatches", "NoiseSource", "PoissonBatches", "PrivateRun", "RowsMixError", "Tally", "UnsupportedModuleError"]
