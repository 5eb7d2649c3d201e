#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes a small transformer privately with low-rank adapters (LoRA), with tradeoff.torch:

    benchmarks/torch_lora.py [--width 128] [--blocks 2] [--pretrain 300] [--epochs 3] [--epsilon 3]        needs PyTorch

No model is fetched. A transformer on bytes is trained from scratch, without privacy, on this repository's documents; its weights are then
frozen, and adapters are trained privately on windows of its source code, each window an example. Prints the loss on held-out
windows in nats a byte before, after, and after the same fine-tuning without clipping and noise; the certified epsilon; and the time of a
step beside the same step in floating point."""

import argparse
import copy
import pathlib
import time

import torch

import tradeoff as to
import tradeoff.torch as private

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent
WINDOW, SYMBOLS, DELTA = 64, 128, 1e-5


def windows(*patterns: str) -> torch.Tensor:
    """The text of these files as rows of WINDOW + 1 bytes, shuffled by a fixed seed."""
    text = b"".join(file.read_bytes() for one in patterns for file in sorted(ROOT.glob(one)))
    symbols = torch.frombuffer(bytearray(text), dtype=torch.uint8).long().clamp(max=SYMBOLS - 1)
    rows = symbols[: len(symbols) // (WINDOW + 1) * (WINDOW + 1)].reshape(-1, WINDOW + 1)
    return rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))].to(DEVICE)


class Block(torch.nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (torch.nn.Linear(width, width) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.register_buffer("future", torch.full((WINDOW, WINDOW), float("-inf")).triu(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = self.first(x)
        query, key, value = (one(seen).unflatten(-1, (self.heads, -1)).transpose(-3, -2) for one in (self.query, self.key, self.value))
        weights = (query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5 + self.future).softmax(-1)
        x = x + self.out((weights @ value).transpose(-3, -2).flatten(-2))
        return x + self.down(torch.nn.functional.gelu(self.up(self.second(x))))


class Transformer(torch.nn.Module):
    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.symbols, self.places = torch.nn.Embedding(SYMBOLS, width), torch.nn.Parameter(0.02 * torch.randn(WINDOW, width))
        self.blocks = torch.nn.ModuleList(Block(width, 4) for _ in range(blocks))
        self.last, self.head = torch.nn.LayerNorm(width), torch.nn.Linear(width, SYMBOLS)

    def forward(self, symbols: torch.Tensor) -> torch.Tensor:
        x = self.symbols(symbols) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(self.last(x))


class Adapted(torch.nn.Module):
    """A frozen linear layer and a trained product of two narrow ones, which starts at zero."""

    def __init__(self, layer: torch.nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.narrow, self.wide = torch.nn.Linear(layer.in_features, rank, bias=False), torch.nn.Linear(rank, layer.out_features, bias=False)
        torch.nn.init.zeros_(self.wide.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.wide(self.narrow(x))


def adapted(model: torch.nn.Module, rank: int) -> torch.nn.Module:
    made = copy.deepcopy(model).requires_grad_(False)
    for block in made.blocks:
        for name in ("query", "value", "up", "down"):
            setattr(block, name, Adapted(getattr(block, name), rank))
    return made.to(DEVICE)


def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(output.flatten(0, 1), target.flatten())


def held_out_loss(model: torch.nn.Module, rows: torch.Tensor) -> float:
    with torch.no_grad():
        return sum(float(loss(model(part[:, :-1]), part[:, 1:])) * len(part) for part in rows.split(256)) / len(rows)


def train_openly(model: torch.nn.Module, rows: torch.Tensor, steps: int, batch: int, rate: float) -> None:
    optimizer = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], lr=rate)
    for _ in range(steps):
        part = rows[torch.randint(0, len(rows), (batch,), device=rows.device)]
        optimizer.zero_grad()
        loss(model(part[:, :-1]), part[:, 1:]).backward()
        optimizer.step()


def clock() -> float:
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--pretrain", type=int, default=300, help="steps without privacy, on documents")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--physical", type=int, default=128)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--epsilon", default="3")
    given = parser.parse_args()
    torch.manual_seed(0)
    public, protected = windows("docs/*.md", "docs/*/*.md"), windows("src/*/*.cpp", "src/*/*.h")
    cut = len(protected) * 9 // 10
    protected, held_out = protected[:cut], protected[cut:]
    steps = max(1, round(given.epochs * cut / given.batch))
    base = Transformer(given.width, given.blocks).to(DEVICE)
    train_openly(base, public, given.pretrain, 128, 5e-4)
    model, twin = adapted(base, given.rank), adapted(base, given.rank)
    trained = [one for one in model.parameters() if one.requires_grad]
    plan = f"gaussian(sigma=?) | poisson(rate={given.batch}/{cut}) | repeat({steps})"
    noise = to.calibrate(plan, epsilon=given.epsilon, delta=DELTA).printed
    where = torch.cuda.get_device_name() if DEVICE.type == "cuda" else f"{torch.get_num_threads()} threads"
    print(f"{sum(one.numel() for one in base.parameters())} weights, {sum(one.numel() for one in trained)} in adapters, on {where}")
    print(f"{len(public)} public windows, {cut} protected ones, batch {given.batch}, {steps} steps, noise multiplier {noise}")
    before = held_out_loss(model, held_out)
    run = private.PrivateRun(
        model, torch.optim.Adam(trained, lr=given.rate), loss,
        batches=private.PoissonBatches(given.batch, of=cut), clip=1.0, noise_multiplier=noise, physical_batch=given.physical, steps=steps,
    )  # fmt: skip
    data = protected[:, :-1], protected[:, 1:]
    start = clock()
    for _ in range(steps):
        run.step(data)
    exact = (clock() - start) / steps
    start = clock()
    for part in protected[: given.batch].split(given.physical):  # the gradients alone, clipped and made noisy in floating point
        rows = run._rows(part[:, :-1], part[:, 1:])
        factors = (1 / torch.stack([one.flatten(1).square().sum(1) for one in rows]).sum(0).sqrt()).clamp(max=1)
        _ = [torch.einsum("b,b...->...", factors, one) + torch.randn_like(one[0]) for one in rows]
    plain = clock() - start
    train_openly(twin, protected, steps, given.batch, given.rate)
    after, openly = held_out_loss(model, held_out), held_out_loss(twin, held_out)
    print(f"held-out loss, nats a byte: {before:.4f} before, {after:.4f} fine-tuned privately, {openly:.4f} without privacy")
    print(f"epsilon <= {run.epsilon(DELTA).hi:.4f} at delta {DELTA}; {1e3 * exact:.1f} ms a step, {given.batch / exact:.0f} examples a second; float step {1e3 * plain:.1f} ms")


if __name__ == "__main__":
    main()
