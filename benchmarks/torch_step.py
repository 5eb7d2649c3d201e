#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times exact noise and private steps of tradeoff.torch beside floating-point ones, in one run:  benchmarks/torch_step.py  (needs PyTorch)."""

import time
from collections.abc import Callable

import torch

import tradeoff.torch as private

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
EXAMPLES, BATCH = 4096, 512


def seconds(work: Callable[[], object], times: int) -> float:
    """Of one call, after one to warm up."""

    def finish() -> float:
        if DEVICE.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    work()
    start = finish()
    for _ in range(times):
        work()
    return (finish() - start) / times


def measure_draws() -> None:
    count = 10**9 if DEVICE.type == "cuda" else 10**7
    source, floats = private.NoiseSource("1.1", 2**20), torch.empty(count, device=DEVICE)
    exact, plain = seconds(lambda: source.draw(count, DEVICE), 5), seconds(floats.normal_, 5)
    print(f"{DEVICE.type}: exact noise {count / exact / 1e9:.2f} billion a second, normal_ {count / plain / 1e9:.2f}, ratio {exact / plain:.2f}")


def dense() -> torch.nn.Module:
    layers = torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)
    return torch.nn.Sequential(torch.nn.Flatten(), *layers)


def convolutional() -> torch.nn.Module:
    first = torch.nn.Conv2d(1, 32, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    second = torch.nn.Conv2d(32, 64, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    return torch.nn.Sequential(*first, *second, torch.nn.Flatten(), torch.nn.Linear(3136, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))


def measure_steps(name: str, model: torch.nn.Module, physical: int) -> None:
    model = model.to(DEVICE)
    inputs, targets = torch.randn(EXAMPLES, 1, 28, 28, device=DEVICE), torch.randint(0, 10, (EXAMPLES,), device=DEVICE)
    run = private.PrivateRun(
        model, torch.optim.SGD(model.parameters(), lr=0.01), torch.nn.functional.cross_entropy,
        batches=private.FixedBatches(BATCH, of=EXAMPLES), clip=1, noise_multiplier=1.1, physical_batch=physical,
    )  # fmt: skip

    def float_step() -> None:
        """The same gradients, clipped, summed and made noisy in single precision."""
        sums = [torch.zeros_like(one) for one in model.parameters()]
        for part in torch.randint(0, EXAMPLES, (BATCH,), device=DEVICE).split(physical):
            rows = run._rows(inputs[part], targets[part])
            factors = (1 / torch.stack([one.flatten(1).square().sum(1) for one in rows]).sum(0).sqrt()).clamp(max=1)
            for total, one in zip(sums, rows):
                total += torch.einsum("b,b...->...", factors, one)
        for one, total in zip(model.parameters(), sums):
            one.grad = (total + 1.1 * torch.randn_like(total)) / BATCH

    exact, plain = seconds(lambda: run.step((inputs, targets)), 10), seconds(float_step, 10)
    print(f"{name}, parts of {physical}: exact step {1e3 * exact:.1f} ms, float step {1e3 * plain:.1f} ms, ratio {exact / plain:.2f}")


if __name__ == "__main__":
    measure_draws()
    for physical in (64, 256, 512) if DEVICE.type == "cuda" else (64,):
        measure_steps("dense", dense(), physical)
        measure_steps("convolutional", convolutional(), physical)
