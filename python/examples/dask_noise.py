# SPDX-License-Identifier: Apache-2.0
"""Releases one count for each partition of a data set, with exact noise drawn on the workers and charged to one ledger:

    python dask_noise.py LEDGER ACCOUNT RUN [PARTITIONS [SCHEDULER]]

LEDGER: postgresql://... or sqlite:FILE, with ACCOUNT in it; RUN: a name that no earlier run had. Needs dask[distributed] from PyPI.
"""

from __future__ import annotations

import sys

import tradeoff as to

PLAN = "discrete_gaussian(sigma=20)"


def release_partition(ledger_url: str, account: str, key: str, values: list[float]) -> tuple[list[float], str]:
    """Runs on a worker: charges the account, takes the permission to draw once, and draws.

    Every process seeds its own generator from the operating system, and again after a fork, so partitions share no randomness and no seed
    travels. Dask repeats the task of a worker that was lost: the charge is then made once, because the key is the same; but if the
    noise may have been drawn before, `use` raises SpendKeyError, and no second draw of the same value gets out.
    """
    certificate = to.certify(PLAN, rows=len(values), on_grid=True)
    with to.Ledger(ledger_url) as ledger:
        ledger.reserve(account, certificate.drawn_plan, key=key)
        ledger.use(account, key=key)
    rows = certificate.release(values)
    return [float(one) for one in rows[:, 0]], str(certificate.document)


def release_all(client: object, ledger_url: str, account: str, run: str, partitions: list[list[float]]) -> list[tuple[list[float], str]]:
    """One task for each partition. `pure=False`: Dask must not take one result for two partitions with the same values."""
    tasks = [
        client.submit(release_partition, ledger_url, account, f"{run}-{i}", values, pure=False)  # type: ignore[attr-defined]
        for i, values in enumerate(partitions)
    ]
    return list(client.gather(tasks))  # type: ignore[attr-defined]


if __name__ == "__main__":
    from distributed import Client, LocalCluster

    if len(sys.argv) < 4:
        sys.exit(__doc__)
    parts = [[float(1000 + i)] for i in range(int(sys.argv[4]) if len(sys.argv) > 4 else 8)]
    with Client(sys.argv[5]) if len(sys.argv) > 5 else Client(LocalCluster(threads_per_worker=1)) as client:
        for noisy, _ in release_all(client, *sys.argv[1:4], parts):
            print(*noisy)
