# SPDX-License-Identifier: Apache-2.0
"""Small models and data that every test of tradeoff.torch uses."""

import pytest
import torch

import tradeoff.torch as private


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)


DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device(request.param)


def small_model(device: torch.device | str = "cpu") -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).to(device)


def small_data(examples: int = 40) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(examples, 6), torch.randint(0, 3, (examples,))


def small_run(model: torch.nn.Module, examples: int = 40, **more: object) -> private.PrivateRun:
    terms: dict[str, object] = dict(batches=private.PoissonBatches(10, of=examples), clip=1, noise_multiplier=1.5, physical_batch=8)
    optimizer = more.pop("optimizer", None) or torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=0.1)
    return private.PrivateRun(model, optimizer, torch.nn.functional.cross_entropy, **{**terms, **more})  # type: ignore[arg-type]
