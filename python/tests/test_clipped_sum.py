# SPDX-License-Identifier: Apache-2.0
"""The integer core of tradeoff.torch, without PyTorch: clipped integers of examples, and their exact sum. [torch-step]"""

from __future__ import annotations

import numpy as np
import pytest

import tradeoff as to
from tradeoff import _core

STEP, BOUND, AIM = 2.0**-20, 2**20, 1 - 2.0**-18


def test_sums_are_those_of_the_integers_of_single_examples() -> None:
    generator = np.random.default_rng(5)
    gradients = [generator.normal(size=(40, columns)).astype(np.float32) * 0.05 for columns in (3000, 7)]
    gradients[0][4, 9] = np.nan
    mask = np.ones(40, np.uint8)
    mask[30:] = 0
    sums = [np.zeros(columns, np.int64) for columns in (3000, 7)]
    assert _core.add_clipped(gradients, sums, mask, STEP, BOUND, AIM, 2) == (29, 1)
    expected = [np.zeros(columns, np.int64) for columns in (3000, 7)]
    for row in range(30):
        alone = [np.zeros(columns, np.int64) for columns in (3000, 7)]
        _core.add_clipped(gradients, alone, (np.arange(40) == row).astype(np.uint8), STEP, BOUND, AIM, 1)
        assert sum(int(x) ** 2 for one in alone for x in one.tolist()) <= BOUND**2
        for total, one in zip(expected, alone):
            total += one
    assert all((one == two).all() for one, two in zip(sums, expected))


def test_shapes_that_do_not_fit_are_refused() -> None:
    gradients, mask = [np.ones((4, 3), np.float32)], np.ones(4, np.uint8)
    for sums, rows, bound in (([np.zeros(2, np.int64)], mask, BOUND), ([], mask, BOUND), ([np.zeros(3, np.int64)], mask[:3], BOUND), ([np.zeros(3, np.int64)], mask, 2**22)):
        with pytest.raises(to.DomainError):
            _core.add_clipped(gradients, sums, rows, STEP, bound, AIM, 1)
