# SPDX-License-Identifier: Apache-2.0
"""Calibrates a grid of training runs across the workers of a Dask cluster:  python dask_grid.py [SETTINGS [SCHEDULER]]

SETTINGS: how many (default 100000). SCHEDULER: the address of a cluster; without it, one process for each core of this machine.
Needs dask[distributed] from PyPI. Writes grid.csv: rate, steps, epsilon, and the noise multiplier that meets it at delta = 1e-6.
"""

from __future__ import annotations

import csv
import itertools
import sys
import time
from typing import Iterator, NamedTuple

import tradeoff as to


class Setting(NamedTuple):
    rate: str
    steps: int
    epsilon: str


def grid(count: int) -> Iterator[Setting]:
    """`count` settings: rates from 1/4096 to 1/64, 100 to 10,000 steps, epsilon from 1 to 8."""
    side = max(1, round((count / 8) ** 0.5))
    rates = [f"1/{round(64 * 64 ** (i / side))}" for i in range(side)]
    steps = [round(100 * 100 ** (i / side)) for i in range(-(-count // (8 * side)))]
    return itertools.islice((Setting(*one) for one in itertools.product(rates, steps, map(str, range(1, 9)))), count)


def calibrate_some(settings: list[Setting]) -> list[float]:
    """Runs on a worker. Each noise multiplier is rounded up: it meets its target, by proof."""
    return [
        to.calibrate(f"gaussian(sigma=?) | poisson(rate={one.rate}) | repeat({one.steps})", epsilon=one.epsilon, delta="1e-6", relative="1e-3").safe
        for one in settings
    ]


def calibrate_grid(client: object, settings: list[Setting], batch: int = 50) -> list[float]:
    """All of them, in batches that take a worker some seconds; a batch of a lost worker is computed again elsewhere, with the same result."""
    batches = [settings[at : at + batch] for at in range(0, len(settings), batch)]
    return list(itertools.chain.from_iterable(client.gather(client.map(calibrate_some, batches))))  # type: ignore[attr-defined]


if __name__ == "__main__":
    from distributed import Client, LocalCluster

    wanted = list(grid(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
    with Client(sys.argv[2]) if len(sys.argv) > 2 else Client(LocalCluster(threads_per_worker=1)) as client:
        start = time.perf_counter()
        found = calibrate_grid(client, wanted)
    with open("grid.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["rate", "steps", "epsilon", "noise_multiplier"])
        table.writerows((*setting, sigma) for setting, sigma in zip(wanted, found, strict=True))
    print(f"{len(found)} settings in {time.perf_counter() - start:.0f} s")
