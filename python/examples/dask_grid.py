# SPDX-License-Identifier: Apache-2.0
"""Calibrates a grid of training runs across the workers of a Dask cluster:  python dask_grid.py [SETTINGS [SCHEDULER]]

SETTINGS: how many of the 100,000 settings, spread evenly over them (default: all). SCHEDULER: the address of a cluster; without it, one process
for each core of this machine. Needs dask[distributed] from PyPI. Writes grid.csv: rate, epochs, epsilon, delta, and the noise multiplier that
meets this target.
"""

from __future__ import annotations

import csv
import itertools
import sys
import time
from typing import Callable, NamedTuple

import tradeoff as to


class Setting(NamedTuple):
    batches: int  # in an epoch: each batch takes one of `batches` of the records
    epochs: int
    epsilon: str
    delta: str


def grid(count: int = 100_000) -> list[Setting]:
    """`count` of 25 rates (1/20 to 1/250) x 50 lengths (10 to 108 epochs) x 20 epsilons (0.2 to 4) x 4 deltas (1e-5 to 1e-8)."""
    batches = [round(20 * 12.5 ** (i / 24)) for i in range(25)]
    epsilons = [f"{i / 5}" for i in range(1, 21)]
    deltas = ["1e-5", "1e-6", "1e-7", "1e-8"]
    settings = [Setting(*one) for one in itertools.product(batches, range(10, 110, 2), epsilons, deltas)]
    if not 1 <= count <= len(settings):
        raise ValueError(f"SETTINGS must be from 1 to {len(settings)}, not {count}")
    return settings[:: len(settings) // count][:count]


def calibrate_some(settings: list[Setting]) -> list[float]:
    """Runs on a worker. Each noise multiplier is rounded up: it meets its target, by proof."""
    return [
        to.calibrate(
            f"gaussian(sigma=?) | poisson(rate=1/{one.batches}) | repeat({one.epochs * one.batches})",
            epsilon=one.epsilon,
            delta=one.delta,
            relative="1e-3",
        ).safe
        for one in settings
    ]


def calibrate_grid(client: object, settings: list[Setting], batch: int = 250, progress: Callable[[int], None] = lambda done: None) -> list[float]:
    """All of them, in batches that take a worker about a second; a batch of a lost worker is computed again elsewhere, with the same result.

    `progress` is called with the number of settings done, after each batch.
    """
    from distributed import as_completed

    batches = [settings[at : at + batch] for at in range(0, len(settings), batch)]
    tasks = client.map(calibrate_some, batches)  # type: ignore[attr-defined]
    place = {task.key: i for i, task in enumerate(tasks)}
    found: list[list[float]] = [[] for _ in batches]
    done = 0
    for task, values in as_completed(tasks, with_results=True):
        found[place[task.key]] = values
        done += len(values)
        progress(done)
    return list(itertools.chain.from_iterable(found))


if __name__ == "__main__":
    from distributed import Client, LocalCluster

    wanted = grid(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    with Client(sys.argv[2]) if len(sys.argv) > 2 else Client(LocalCluster(threads_per_worker=1, dashboard_address=None)) as client:
        start = time.perf_counter()

        def show(done: int) -> None:
            print(f"\r{done} of {len(wanted)} settings, {time.perf_counter() - start:.0f} s", end="", file=sys.stderr, flush=True)

        found = calibrate_grid(client, wanted, progress=show)
        print(file=sys.stderr)
    with open("grid.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["rate", "epochs", "epsilon", "delta", "noise_multiplier"])
        table.writerows((f"1/{one.batches}", *one[1:], sigma) for one, sigma in zip(wanted, found, strict=True))
    print(f"{len(found)} settings in {time.perf_counter() - start:.0f} s, noise multipliers from {min(found):.4g} to {max(found):.4g}")
