# SPDX-License-Identifier: Apache-2.0
"""The questions, and what the answers are. Truths come from truth.py by `python workloads.py`, which writes truths.json."""

from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TRUTHS = pathlib.Path(__file__).with_name("truths.json")

CASES = {
    "a": (1.0, 0.01, 1000),
    "b": (0.8, 0.005, 10000),
    "mnist": (1.1, 256 / 60000, 14062),
    "c": (0.6, 0.001, 100000),
    "d": (4.0, 0.1, 2000),
}
EPSILONS = np.linspace(0.01, 4, 1000).tolist()
ALPHAS = np.logspace(-6, -0.05, 1000).tolist()
PROBES = list(range(0, 1000, 111))  # where long lists are held against the truth
PAIRS = [(float(e), float(d)) for e in np.logspace(-2, 1, 20) for d in (1e-3, 1e-5, 1e-8, 1e-10, 1e-12)]
MIXED: dict[str, Any] = {
    "scales": np.linspace(5, 50, 1000).tolist(),
    "sigmas": np.linspace(5, 50, 500).tolist(),
    "steps": [(1.0, 0.01, 100)],
}


def distinct(count: int) -> list[tuple[float, float, int]]:
    return [(float(s), float(q), 1) for s, q in zip(np.linspace(0.8, 2, count), np.linspace(0.005, 0.05, count))]


@dataclass(frozen=True)
class Workload:
    """`unsafe` is the side on which an error is a false claim: +1 if too large an answer is, -1 if too small a one is, 0 if neither."""

    name: str
    title: str
    method: str
    arguments: dict[str, Any]
    unsafe: int = -1
    relative: bool = False
    quick: bool = False
    probes: list[int] | None = None
    patience: float = 200
    peers: list[str] | None = field(default=None)


def one(case: str) -> list[tuple[float, float, int]]:
    return [CASES[case]]


WORKLOADS = [
    Workload("W1 deltas", "Gaussian, delta at 1000 epsilons", "gaussian_deltas", {"sigma": 1.0, "epsilons": np.linspace(0, 10, 1000).tolist()}, relative=True, quick=True, probes=PROBES),
    Workload("W1 sigmas", "Gaussian, sigma for 100 pairs (epsilon, delta)", "gaussian_sigmas", {"pairs": PAIRS}, relative=True, quick=True),
    *(
        Workload(f"W2 {name}", "training: sigma %g, rate %.4g, T %g; epsilon at 1e-5" % case, "epsilon", {"steps": [case], "delta": 1e-5}, quick=name in "ad")
        for name, case in CASES.items()
    ),
    Workload("W3", "sigma for epsilon 2 at 1e-5, rate 0.01, T 1000", "sigma", {"rate": 0.01, "times": 1000, "epsilon": 2.0, "delta": 1e-5}, quick=True),
    Workload("W4 deltas", "training a, delta at 1000 epsilons", "deltas", {"steps": one("a"), "epsilons": EPSILONS}, quick=True, probes=PROBES),
    Workload("W4 betas", "training a, beta at 1000 alphas", "betas", {"steps": one("a"), "alphas": ALPHAS}, unsafe=1, quick=True, probes=PROBES),
    Workload("W5 mixed", "1000 Laplace, 500 Gaussian, 100 sampled steps; epsilon at 1e-5", "mixed", {**MIXED, "delta": 1e-5}),
    Workload("W5 fifty", "50 mechanisms of 0.2-DP; epsilon at 1e-4", "pure", {"guarantees": [(0.2, 0.0, 50)], "delta": 1e-4}, quick=True),
    *(
        Workload(f"W6 {delta:.0e}", f"training a, epsilon at {delta:.0e}", "epsilon", {"steps": one("a"), "delta": delta}, quick=delta in (1e-12, 1e-50))
        for delta in (1e-12, 1e-15, 1e-20, 1e-50, 1e-300)
    ),
    *(
        Workload(f"W7 T={times:.0e}", f"sigma 10, rate 0.01, T {times:.0e}; epsilon at 1e-5", "epsilon", {"steps": [(10.0, 0.01, times)], "delta": 1e-5})
        for times in (10**6, 10**7)
    ),
    *(
        Workload(f"W7 {count} distinct", f"{count} distinct sampled steps; epsilon at 1e-5", "epsilon", {"steps": distinct(count), "delta": 1e-5})
        for count in (100, 1000)
    ),
    Workload("W8 a", "mu of training a (ours: with slack 1e-10)", "mu", {"steps": one("a")}, quick=True),
    Workload("W9 advantage", "sigma for advantage 0.1, rate 0.01, T 1000", "sigma_for_advantage", {"rate": 0.01, "times": 1000, "advantage": 0.1}, quick=True),
    Workload("W9 rates", "sigma for TPR 5 % at FPR 1 %, rate 0.01, T 1000", "sigma_for_rates", {"rate": 0.01, "times": 1000, "fpr": 0.01, "tpr": 0.05}),
    *(
        Workload(f"few {times}", f"sigma 1, rate 0.01, {times} steps; epsilon at 1e-8", "epsilon", {"steps": [(1.0, 0.01, times)], "delta": 1e-8}, quick=times in (2, 30))
        for times in (2, 5, 10, 30, 100)
    ),
    Workload("exact 80+80", "80 of (0.1, 1e-6) and 80 of (0.05, 0); epsilon at 1e-3", "pure", {"guarantees": [(0.1, 1e-6, 80), (0.05, 0.0, 80)], "delta": 1e-3}, quick=True),
    Workload("exact 1000+1000", "1000 of (0.0123, 0) and 1000 of (0.0501, 1e-8); epsilon at 1e-4", "pure", {"guarantees": [(0.0123, 0.0, 1000), (0.0501, 1e-8, 1000)], "delta": 1e-4}),
    Workload("allocated", "random allocation: sigma 1, one epoch of 1,000 steps; delta at 0.1", "allocated_delta", {"sigma": 1.0, "steps": 1000, "epsilon": 0.1}, relative=True, quick=True, patience=600),
    Workload("tuned", "best of a geometric number of runs, mean 10, sigma 1; epsilon at 1e-5", "tuned_epsilon", {"steps": [(1.0, 1, 1)], "mean": 10, "delta": 1e-5}, quick=True),
    Workload("tuned mnist", "best of a geometric number of trainings mnist, mean 10; epsilon at 1e-5", "tuned_epsilon", {"steps": one("mnist"), "mean": 10, "delta": 1e-5}, quick=True),
    Workload("noise", "100,000 exact discrete Gaussians, sigma 100 (the answer is their deviation)", "noise", {"scale": 100.0, "draws": 100_000}, unsafe=0, quick=True),
]


def truths() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TRUTHS.read_text())
    return found


def main() -> None:
    """Computes what is not in truths.json yet; all of it takes half an hour."""
    import truth

    found = truths() if TRUTHS.exists() else {}
    for workload in WORKLOADS:
        if workload.name not in found:
            found[workload.name] = truth.answer(workload)
            print(workload.name, found[workload.name], flush=True)
            TRUTHS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
