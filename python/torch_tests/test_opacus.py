# SPDX-License-Identifier: Apache-2.0
"""Exact clipping and noise inside Opacus' own engine."""

import warnings

import pytest
import torch

import tradeoff as to
from conftest import small_data, small_model

opacus = pytest.importorskip("opacus")
from tradeoff.torch.opacus import ExactOptimizer, use_exact_noise  # noqa: E402


def private_parts(noise: float = 1.1, **more: object) -> tuple[torch.nn.Module, ExactOptimizer, torch.utils.data.DataLoader]:
    model = small_model()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*small_data(200)), batch_size=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = opacus.PrivacyEngine().make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=loader, noise_multiplier=noise, max_grad_norm=1.0, **more
        )
    return made[0], made[1], made[2]


def test_a_step_is_the_exact_sum_with_exact_noise() -> None:
    model, optimizer, loader = private_parts()
    exact = use_exact_noise(optimizer)
    steps = 0
    for inputs, targets in loader:
        exact.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        exact.step()
        steps += 1
        for one in exact.params:
            assert one.summed_grad.dtype == torch.int64
            wanted = one.summed_grad.double() * exact._grid.step / exact.expected_batch_size
            assert torch.allclose(one.grad.double(), wanted, rtol=1e-6)
    assert steps == 10


def test_gradients_are_used_once() -> None:
    model, optimizer, loader = private_parts()
    exact = use_exact_noise(optimizer)
    inputs, targets = next(iter(loader))
    torch.nn.functional.cross_entropy(model(inputs), targets).backward()
    exact.step()
    with pytest.raises(ValueError, match="zero_grad"):
        exact.step()


def test_noise_has_the_stated_size() -> None:
    model, optimizer, _ = private_parts(noise=2.0)
    exact = use_exact_noise(optimizer)
    for one in exact.params:
        one.summed_grad = torch.zeros_like(one, dtype=torch.int64)
        one.grad_sample = torch.zeros((0, *one.shape))
    drawn = []
    for _ in range(200):
        for one in exact.params:
            one.summed_grad = torch.zeros_like(one, dtype=torch.int64)
        exact.add_noise()
        drawn.append(torch.cat([one.grad.reshape(-1) for one in exact.params]))
    assert abs(float(torch.stack(drawn).std()) - 2.0) < 0.08


def test_what_is_not_a_plain_optimizer_is_refused() -> None:
    with pytest.raises(to.UnsupportedError, match="plain DPOptimizer"):
        use_exact_noise(torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1))
    _, optimizer, _ = private_parts()
    use_exact_noise(optimizer)
    with pytest.raises(to.UnsupportedError):
        use_exact_noise(optimizer)  # already exact
