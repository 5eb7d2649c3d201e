#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many pairs an audit needs to refute classic errors, and how often it refutes honest programs. Prints the tables of docs/audit_power.md.

    python benchmarks/audit_power.py [NULL_RUNS]      needs the package tradeoff and NumPy
"""

import sys

import numpy as np
import tradeoff as to

CONFIDENCE = 0.999
MOST = 100_000


def gaussian(sigma, shift=1.0):
    return lambda noise, n: (shift + sigma * noise.normal(size=n), sigma * noise.normal(size=n))


def laplace(scale):
    return lambda noise, n: (1 + noise.laplace(scale=scale, size=n), noise.laplace(scale=scale, size=n))


def rounded_noise(noise, n):  # the noise is rounded towards 0 to whole numbers after it was drawn: small noise disappears
    return 1 + np.trunc(noise.normal(size=n)), np.trunc(noise.normal(size=n))


def reused(noise, n):  # two coordinates get the same noise
    one, other = noise.normal(size=(n, 1)), noise.normal(size=(n, 1))
    return np.hstack([1 + one, one]), np.hstack([other, other])


def unlimited_sparse_vector(noise, n):  # sparse vector that answers above the threshold without stopping and without noise on the queries
    def run(shift):
        threshold = noise.laplace(scale=2, size=(n, 1))
        queries = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]) + shift * np.array([1, -1, 1, -1, 1, -1])
        return (queries >= threshold).astype(float)

    return run(1.0), run(0.0)


def response(epsilon):
    def run(noise, n):
        keep = 1 / (1 + np.exp(-epsilon))
        return (noise.random(n) < keep).astype(float), (noise.random(n) >= keep).astype(float)

    return run


BROKEN = [
    ("Gaussian, noise halved", "gaussian(sigma=1)", gaussian(0.5), "values"),
    ("Gaussian, sensitivity doubled", "gaussian(sigma=1)", gaussian(1, 2), "values"),
    ("Gaussian, noise 10 % too small", "gaussian(sigma=1)", gaussian(0.9), "values"),
    ("Gaussian, noise rounded towards 0", "gaussian(sigma=1)", rounded_noise, "values"),
    ("Gaussian, the same noise on two coordinates", "gaussian(sigma=1)", reused, "values"),
    ("Laplace, noise halved", "laplace(scale=1)", laplace(0.5), "values"),
    ("Laplace in floating-point arithmetic", "laplace(scale=1)", laplace(1), "low bits"),
    ("randomised response of epsilon 1.2 sold as 1", "dp(epsilon=1)", response(1.2), "values"),
    ("sparse vector without noise on the queries, as epsilon = 1", "dp(epsilon=1)", unlimited_sparse_vector, "values"),
]
HONEST = [
    ("Gaussian exactly at its plan", "gaussian(sigma=1)", gaussian(1)),
    ("Laplace exactly at its plan", "laplace(scale=1)", laplace(1)),
    ("randomised response exactly at epsilon = 1", "dp(epsilon=1)", response(1)),
    ("Gaussian of small mu", "gaussian(sigma=4)", gaussian(4)),
]


def pairs_to_refute(plan, program, features, seed):
    """The least number of pairs in a doubling series at which the audit refutes."""
    n = 125
    while n <= MOST:
        found = to.audit(plan, *program(np.random.default_rng(seed), n), confidence=CONFIDENCE, features=features)
        if found.refutation is not None:
            return found.refutation.pairs
        n *= 2
    return None


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| error | claimed plan | pairs until refuted, median of 9 (smallest, largest) |\n|---|---|---|")
    for name, plan, program, features in BROKEN:
        found = sorted((one if (one := pairs_to_refute(plan, program, features, seed)) else MOST + 1) for seed in range(9))
        shown = [f"{one:,}" if one <= MOST else f"above {MOST:,}" for one in found]
        print(f"| {name} | `{plan}` | {shown[4]} ({shown[0]}, {shown[8]}) |", flush=True)
    print(f"\n| honest program | claimed plan | runs of 400 pairs | refuted at confidence 0.95 |\n|---|---|---|---|")
    for name, plan, program in HONEST:
        curve = to.parse(plan).curve()
        refuted = sum(to.audit(curve, *program(np.random.default_rng(10**6 + i), 400), confidence=0.95).verdict == "refuted" for i in range(runs))
        print(f"| {name} | `{plan}` | {runs:,} | {refuted} ({100 * refuted / runs:.2f} %) |", flush=True)


if __name__ == "__main__":
    main()
