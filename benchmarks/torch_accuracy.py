#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains classifiers privately with tradeoff.torch and, where Opacus is installed, with Opacus at the same epsilon, model and seeds:

    benchmarks/torch_accuracy.py [--task images|text] [--seeds N] [--epochs E]

Images: Fashion-MNIST (Debian's dataset-fashion-mnist), a small convolutional network. Text: sentences of this repository's documents
against lines of its code, as bags of hashed words. Prints accuracy on held-out examples, the certified epsilon and the time."""

import argparse
import gzip
import importlib.util
import pathlib
import re
import time
import warnings
import zlib

import torch

import tradeoff as to
import tradeoff.torch as private

DELTA, CLIP = 1e-5, 1.0
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent


def images(folder: pathlib.Path, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    pixels = gzip.open(folder / f"{kind}-images-idx3-ubyte.gz").read()[16:]
    labels = gzip.open(folder / f"{kind}-labels-idx1-ubyte.gz").read()[8:]
    table = torch.frombuffer(bytearray(pixels), dtype=torch.uint8).reshape(-1, 1, 28, 28).float() / 255 - 0.5
    return table.to(DEVICE), torch.frombuffer(bytearray(labels), dtype=torch.uint8).long().to(DEVICE)


def network() -> torch.nn.Module:
    layers = [torch.nn.Conv2d(1, 16, 8, 2, padding=3), torch.nn.Tanh(), torch.nn.MaxPool2d(2, 1)]
    layers += [torch.nn.Conv2d(16, 32, 4, 2), torch.nn.Tanh(), torch.nn.MaxPool2d(2, 1), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(512, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10)).to(DEVICE)


def lines_of(*patterns: str) -> list[str]:
    return [line.strip() for one in patterns for file in sorted(ROOT.glob(one)) for line in file.read_text(encoding="utf-8").splitlines() if len(line) > 40]


def text() -> tuple[torch.Tensor, torch.Tensor]:
    """Words hashed into 512 counts; label 1 for documents, 0 for code. Shuffled by a fixed seed."""
    groups = lines_of("src/*/*.cpp"), lines_of("docs/*.md", "docs/*/*.md")
    rows, labels = [], []
    for label, lines in enumerate(groups):
        for line in lines:
            row = torch.zeros(512)
            for word in re.findall(r"[A-Za-z]+", line):
                row[zlib.crc32(word.encode()) % 512] += 1
            rows.append(row / max(1.0, float(row.norm())))
            labels.append(label)
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    return torch.stack(rows)[order].to(DEVICE), torch.tensor(labels)[order].to(DEVICE)


def accuracy(model: torch.nn.Module, data: tuple[torch.Tensor, torch.Tensor]) -> float:
    with torch.no_grad():
        return float((model(data[0]).argmax(1) == data[1]).float().mean())


def train_exact(model: torch.nn.Module, data: tuple[torch.Tensor, torch.Tensor], batch: int, steps: int, noise: str, rate: float) -> float:
    run = private.PrivateRun(
        model, torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9), torch.nn.functional.cross_entropy,
        batches=private.PoissonBatches(batch, of=len(data[0])), clip=CLIP, noise_multiplier=noise, physical_batch=512 if DEVICE.type == "cuda" else 256, steps=steps,
    )  # fmt: skip
    for _ in range(steps):
        run.step(data)
    return run.epsilon(DELTA).hi


def train_opacus(model: torch.nn.Module, data: tuple[torch.Tensor, torch.Tensor], batch: int, steps: int, noise: str, rate: float) -> float:
    from opacus import PrivacyEngine

    engine = PrivacyEngine()
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data), batch_size=batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, optimizer, loader = engine.make_private(
            module=model, optimizer=torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9), data_loader=loader, noise_multiplier=float(noise), max_grad_norm=CLIP
        )
        done = 0
        while done < steps:
            for inputs, targets in loader:
                optimizer.zero_grad()
                if len(inputs):
                    torch.nn.functional.cross_entropy(made(inputs), targets).backward()
                optimizer.step()
                done += 1
                if done == steps:
                    break
    return float(engine.get_epsilon(DELTA))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=["images", "text"], default="images")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--epsilon", default="3")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    given = parser.parse_args()
    if given.task == "images":
        data, held_out, batch, rate = images(given.data, "train"), images(given.data, "t10k"), 1024, 0.25
    else:
        inputs, labels = text()
        cut = len(inputs) * 4 // 5
        data, held_out, batch, rate = (inputs[:cut], labels[:cut]), (inputs[cut:], labels[cut:]), 512, 2.0
    steps = max(1, round(given.epochs * len(data[0]) / batch))
    plan = f"gaussian(sigma=?) | poisson(rate={batch}/{len(data[0])}) | repeat({steps})"
    noise = to.calibrate(plan, epsilon=given.epsilon, delta=DELTA).printed
    print(f"{given.task}: {len(data[0])} examples, batch {batch}, {steps} steps, noise multiplier {noise}, on {DEVICE.type}")
    trainers = {"tradeoff.torch": train_exact}
    if importlib.util.find_spec("opacus"):
        trainers["Opacus"] = train_opacus
    for name, train in trainers.items():
        found, start, epsilon = [], time.perf_counter(), 0.0
        for seed in range(given.seeds):
            torch.manual_seed(seed)
            model = network() if given.task == "images" else torch.nn.Linear(512, 2).to(DEVICE)
            epsilon = train(model, data, batch, steps, noise, rate)
            found.append(accuracy(model, held_out))
        spread = f" ({min(found):.4f} to {max(found):.4f})" if len(found) > 1 else ""
        print(f"{name}: accuracy {sum(found) / len(found):.4f}{spread}, epsilon <= {epsilon:.4f} at delta {DELTA}, {(time.perf_counter() - start) / given.seeds:.1f} s a run")


if __name__ == "__main__":
    main()
