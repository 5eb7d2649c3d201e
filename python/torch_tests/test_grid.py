# SPDX-License-Identifier: Apache-2.0
"""Clipping to integers: the norm is checked exactly, whatever the gradients are. [torch-step]"""

from fractions import Fraction

import pytest
import torch

import tradeoff as to
from tradeoff.torch import ClipGrid, Tally
from tradeoff.torch._grid import squared_norms


def squared_norm(contributions: list[torch.Tensor], example: int) -> int:
    """In Python's integers: nothing of the product's arithmetic."""
    return sum(int(x) ** 2 for one in contributions for x in one[example].reshape(-1).tolist())


@pytest.mark.parametrize("clip", ["1", "0.3", "1e-6", "1e6", "7/3", 0.1])
def test_the_bound_is_at_most_the_clipping_norm(clip: object) -> None:
    grid = ClipGrid(clip)  # type: ignore[arg-type]
    exact = Fraction(str(clip))
    assert Fraction(grid.bound) * Fraction(2) ** grid.exponent <= exact < Fraction(grid.bound + 1) * Fraction(2) ** grid.exponent
    assert 2**20 <= grid.bound < 2**21


@pytest.mark.parametrize("clip", ["0", "-1", "nan", "inf", "1e7", "x", "1/0"])
def test_other_norms_are_refused(clip: str) -> None:
    with pytest.raises(to.DomainError, match="clip = "):
        ClipGrid(clip)


@pytest.mark.parametrize("size", [1e-30, 1e-6, 0.01, 1.0, 1.0000001, 3.0, 1e4, 1e18])
def test_no_contribution_exceeds_the_bound(size: float, device: torch.device) -> None:
    grid = ClipGrid(1)
    gradients = [torch.randn(16, 7, 3), torch.randn(16, 3), torch.randn(16, 301)]
    scale = size / torch.stack([one.reshape(16, -1).square().sum(1) for one in gradients]).sum(0).sqrt()
    scaled = [(one * scale.reshape(-1, *[1] * (one.dim() - 1))).to(device) for one in gradients]
    whole = grid.integers(scaled, torch.ones(16, dtype=torch.bool, device=device))
    for example in range(16):
        found = squared_norm(whole, example)
        assert found <= grid.bound**2
        if size >= 0.01:  # and not much is lost
            wanted = min(size, 1.0) * grid.bound
            assert found >= (wanted * (1 - 2**-15) - 40) ** 2
    assert all(torch.equal(one, one.trunc()) for one in whole)


def test_values_that_are_not_finite_contribute_nothing(device: torch.device) -> None:
    gradients = [torch.ones(5, 4)]
    for row, bad in enumerate([float("nan"), float("inf"), -float("inf"), 3e38]):
        gradients[0][row, row % 4] = bad
    tally = Tally()
    whole = ClipGrid(1).integers([one.to(device) for one in gradients], torch.ones(5, dtype=torch.bool, device=device), tally)
    assert not whole[0][:3].any()
    assert whole[0][4].any()
    assert all(squared_norm(whole, row) <= ClipGrid(1).bound ** 2 for row in range(5))
    assert (tally.examples, tally.zeroed) == (5, 3)


def test_padding_contributes_nothing(device: torch.device) -> None:
    mask = torch.tensor([True, False, True, False], device=device)
    whole = ClipGrid(1).integers([torch.ones(4, 3, device=device)], mask)
    assert whole[0].any(1).tolist() == [True, False, True, False]


def test_sums_do_not_depend_on_the_order(device: torch.device) -> None:
    grid = ClipGrid(1)
    gradients = torch.randn(64, 1000, device=device)
    whole = grid.integers([gradients], torch.ones(64, dtype=torch.bool, device=device))
    exact = [sum(int(x) for x in column) for column in whole[0].T.tolist()]
    for order in (torch.arange(64), torch.randperm(64)):
        total = torch.zeros(1000, dtype=torch.int64, device=device)
        for part in whole[0][order.to(device)].split(7):
            grid.add([total], [part])
        assert total.tolist() == exact


def test_the_check_is_exact(device: torch.device) -> None:
    """One step above the bound is seen, and random whole numbers have the squared norm that Python's integers give."""
    grid = ClipGrid(1)
    at, above = torch.zeros(1, 300_000, device=device), torch.zeros(1, 300_000, device=device)
    at[0, 0] = above[0, 0] = float(grid.bound)
    above[0, -1] = 1.0
    assert float(squared_norms([at])) == grid.bound**2
    assert float(squared_norms([above])) == grid.bound**2 + 1
    assert float(squared_norms([at, above])) == 2 * grid.bound**2 + 1
    rows = [torch.randint(-(2**21), 2**21, (5, columns), device=device).float() for columns in (1, 17, 70)]
    assert [int(one) for one in squared_norms(rows)] == [squared_norm(rows, row) for row in range(5)]
    far = torch.full((1, 10_000), 1e18, device=device)  # far above what a double counts exactly
    assert float(squared_norms([far])) > grid.bound**2


def test_the_fused_sum_is_that_of_the_integers(device: torch.device) -> None:
    """One pass of the core, or of the GPU, adds what the integers add up to; also for padding, long, short and bad gradients."""
    grid = ClipGrid("0.7")
    rows = 1100  # more than are summed at once
    gradients = [torch.randn(rows, 3, 5), torch.randn(rows, 2049), torch.randn(rows, 1)]
    size = torch.logspace(-8, 4, rows)
    gradients = [(one * size.reshape(-1, *[1] * (one.dim() - 1)) / 40).to(device) for one in gradients]
    gradients[1][7, 3], gradients[0][8, 1, 1], gradients[2][9, 0] = float("nan"), float("inf"), 3e38
    mask = torch.ones(rows, dtype=torch.bool, device=device)
    mask[100:200] = False
    gradients[1][150] = float("nan")
    tally, sums = Tally(), [torch.zeros(one.shape[1:], dtype=torch.int64, device=device) for one in gradients]
    grid.add_clipped(sums, gradients, mask, tally)
    assert (tally.examples, tally.zeroed) == (rows - 100, 2)
    assert 100 < tally.clipped < 700
    whole = grid.integers(gradients, mask)
    for total, one in zip(sums, whole):
        wanted = one.double().sum(0).to(torch.int64)
        assert int((total - wanted).abs().max()) <= rows  # the norms may be rounded otherwise, by a unit in the last place
    for place in (0, 550, rows - 1):  # one example at a time: the norm, in Python's integers
        alone = [torch.zeros_like(one) for one in sums]
        grid.add_clipped(alone, gradients, torch.arange(rows, device=device) == place)
        assert sum(int(x) ** 2 for one in alone for x in one.reshape(-1).tolist()) <= grid.bound**2
        moved = [torch.zeros_like(one) for one in sums]
        grid.add_clipped(moved, [one.roll(13, 0) for one in gradients], torch.arange(rows, device=device) == (place + 13) % rows)
        assert all(torch.equal(one, two) for one, two in zip(alone, moved))  # bit for bit, whatever the place


def test_an_example_that_fails_the_check_adds_nothing(device: torch.device) -> None:
    """Scaled to twice the bound, every long gradient fails; what was added of it is taken back exactly."""
    grid = ClipGrid(1)
    grid.aim = 2.0
    gradients = [torch.randn(70, 5000, device=device), torch.randn(70, 3, device=device)]
    gradients[0][1] *= 1e-5
    gradients[1][1] *= 1e-5
    mask, tally = torch.ones(70, dtype=torch.bool, device=device), Tally()
    sums = [torch.full((5000,), 5, dtype=torch.int64, device=device), torch.full((3,), -5, dtype=torch.int64, device=device)]
    grid.add_clipped(sums, gradients, mask, tally)
    assert (tally.examples, tally.clipped, tally.zeroed) == (70, 69, 69)
    whole = grid.integers(gradients, mask)
    assert whole[0].any(1).tolist() == [place == 1 for place in range(70)]
    assert torch.equal(sums[0] - 5, whole[0][1].to(torch.int64))
    assert torch.equal(sums[1] + 5, whole[1][1].to(torch.int64))
