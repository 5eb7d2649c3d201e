#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times exact noise and private steps of tradeoff.torch beside floating-point ones and, where it is installed, Opacus, in one run:

    benchmarks/torch_step.py        needs PyTorch

Every step draws its batch, computes gradients of single examples, clips, sums, adds noise and updates the weights of the same model. On the
processor the numbers are processor time, which another program on the machine disturbs less."""

import importlib.util
import time
import warnings
from collections.abc import Callable

import torch

import tradeoff.torch as private

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
EXAMPLES = 4096


def seconds(work: Callable[[], object], times: int) -> float:
    """Of one call, after one to warm up."""

    def finish() -> float:
        if DEVICE.type == "cuda":
            torch.cuda.synchronize()
            return time.perf_counter()
        return time.process_time()

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


def opacus_step(model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor, batch: int) -> Callable[[], None]:
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = GradSampleModule(model)
    plain = torch.optim.SGD(wrapped.parameters(), lr=0.01)
    optimizer = DPOptimizer(plain, noise_multiplier=1.1, max_grad_norm=1.0, expected_batch_size=batch)

    def step() -> None:
        part = torch.randperm(EXAMPLES)[:batch].to(DEVICE)
        optimizer.zero_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.nn.functional.cross_entropy(wrapped(inputs[part]), targets[part]).backward()
        optimizer.step()

    return step


def measure_steps(name: str, make: Callable[[], torch.nn.Module], batch: int) -> None:
    """One step on a batch that is one physical batch, for everyone."""
    model = make().to(DEVICE)
    inputs, targets = torch.randn(EXAMPLES, 1, 28, 28, device=DEVICE), torch.randint(0, 10, (EXAMPLES,), device=DEVICE)
    run = private.PrivateRun(
        model, torch.optim.SGD(model.parameters(), lr=0.01), torch.nn.functional.cross_entropy,
        batches=private.FixedBatches(batch, of=EXAMPLES), clip=1, noise_multiplier=1.1, physical_batch=batch,
    )  # fmt: skip

    def float_step() -> None:
        """The same gradients, clipped, summed and made noisy in single precision."""
        part = torch.randperm(EXAMPLES)[:batch].to(DEVICE)
        rows = run._rows(inputs[part], targets[part])
        factors = (1 / torch.stack([one.flatten(1).square().sum(1) for one in rows]).sum(0).sqrt()).clamp(max=1)
        for one, row in zip(model.parameters(), rows):
            total = torch.einsum("b,b...->...", factors, row)
            one.grad = (total + 1.1 * torch.randn_like(total)) / batch
        run._optimizer.step()

    times = 20 if DEVICE.type == "cuda" else 3
    exact, plain = seconds(lambda: run.step((inputs, targets)), times), seconds(float_step, times)
    line = f"{name}, batch {batch}: exact step {1e3 * exact:.2f} ms, float step {1e3 * plain:.2f} ms, ratio {exact / plain:.2f}"
    if importlib.util.find_spec("opacus"):
        peer = seconds(opacus_step(make().to(DEVICE), inputs, targets, batch), times)
        line += f"; Opacus {1e3 * peer:.2f} ms, ratio {exact / peer:.2f}"
    print(f"{line}; {run._rows.way}")


def small() -> torch.nn.Module:
    """The network of benchmarks/torch_accuracy.py."""
    layers = [torch.nn.Conv2d(1, 16, 8, 2, padding=3), torch.nn.Tanh(), torch.nn.MaxPool2d(2, 1)]
    layers += [torch.nn.Conv2d(16, 32, 4, 2), torch.nn.Tanh(), torch.nn.MaxPool2d(2, 1), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(512, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10))


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name() if DEVICE.type == 'cuda' else f'{torch.get_num_threads()} threads'}")
    measure_draws()
    for size in (64, 256, 512) if DEVICE.type == "cuda" else (64, 256):
        for kind, make in (("dense", dense), ("convolutional", convolutional), ("small convolutional", small)):
            measure_steps(kind, make, size)
