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
