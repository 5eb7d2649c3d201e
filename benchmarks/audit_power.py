#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many pairs an audit needs to refute classic errors, and how often it refutes honest programs. Writes docs/audit_power.md.

    python benchmarks/audit_power.py [--runs N] [--seeds N] [--check] [--write]

Needs the package tradeoff and NumPy; the auditor of JAX Privacy is compared if its package is installed (its file alone: --no-deps). --check
exits with 1 unless every error is refuted and no honest program more often than its confidence allows; --write writes the page.
"""

import argparse
import importlib.util
import math
import sys
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import numpy as np
import tradeoff as to

PAGE = Path(__file__).resolve().parent.parent / "docs" / "audit_power.md"
CONFIDENCE = 0.999
NULL_CONFIDENCE = 0.95
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


def spread_out(noise, n):  # three coordinates with fresh noise, moved by a vector of length 1
    shift = np.array([1.0, 2.0, 2.0]) / 3
    return shift + noise.normal(size=(n, 3)), noise.normal(size=(n, 3))


def discrete_laplace(noise, n):  # the difference of two geometric variables; scale 1
    def draw():
        return noise.geometric(1 - math.exp(-1), size=n) - noise.geometric(1 - math.exp(-1), size=n)

    return (1 + draw()).astype(float), draw().astype(float)


# The sparse vector technique on queries of sensitivity 1 with threshold 0, for epsilon = 1; the numbers of the variants are those of Lyu, Su and
# Li, "Understanding the sparse vector technique for differential privacy".
def sparse_vector(with_record, without_record, threshold_scale, query_scale, positives, values=False):
    def run(noise, n, queries):
        threshold = noise.laplace(scale=threshold_scale, size=(n, 1))
        noisy = np.asarray(queries, dtype=float) + (noise.laplace(scale=query_scale, size=(n, len(queries))) if query_scale else 0.0)
        above = noisy >= threshold
        if positives is not None:  # nothing is answered after so many positive answers: -1
            before = np.cumsum(above, axis=1) - above
            shown = np.where(before < positives, above.astype(float), -1.0)
        else:
            shown = above.astype(float)
        return np.hstack([shown, np.where(shown == 1, noisy, 0.0)]) if values else shown

    return lambda noise, n: (run(noise, n, with_record), run(noise, n, without_record))


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
    ("sparse vector, variant 3: noisy values are shown", "dp(epsilon=1)", sparse_vector([0, 0, 0, 0, 1], [1, 1, 1, 1, 0], 2, 2, 1, values=True), "values"),
    ("sparse vector, variant 4: noise not scaled to 4 positives", "dp(epsilon=1)", sparse_vector([1] * 4 + [0] * 4, [0] * 4 + [1] * 4, 4, 4 / 3, 4), "values"),
    ("sparse vector, variant 5: no noise on queries", "dp(epsilon=1)", sparse_vector([1, 0] * 3, [0, 1] * 3, 2, 0, None), "values"),
    ("sparse vector, variant 6: no limit of positives", "dp(epsilon=1)", sparse_vector([1] * 6 + [-1] * 6, [0] * 12, 2, 2, None), "values"),
]
HONEST = [
    ("Gaussian exactly at its plan", "gaussian(sigma=1)", gaussian(1), "values"),
    ("Gaussian of small mu", "gaussian(sigma=4)", gaussian(4), "values"),
    ("Gaussian on three coordinates", "gaussian(sigma=1)", spread_out, "values"),
    ("Laplace exactly at its plan", "laplace(scale=1)", laplace(1), "values"),
    ("discrete Laplace exactly at its plan", "discrete_laplace(scale=1)", discrete_laplace, "values"),
    ("discrete Laplace, lowest bits", "discrete_laplace(scale=1)", discrete_laplace, "low bits"),
    ("randomised response exactly at epsilon = 1", "dp(epsilon=1)", response(1), "values"),
    ("sparse vector, variant 1, which is sound", "dp(epsilon=1)", sparse_vector([1] * 4 + [0] * 4, [0] * 4 + [1] * 4, 2, 4, 1), "values"),
]


# Canaries of one run: a score for each coin.
def gaussian_canaries(noise, coins):
    return coins + noise.normal(size=len(coins))


def response_canaries(noise, coins):  # randomised response of epsilon = 1: only two scores
    return np.where(noise.random(len(coins)) < 1 / (1 + math.exp(-1)), coins, 1 - coins)


def linked_canaries(noise, coins):  # the log-likelihood ratios of all canaries have one size, so that guesses are right together; 1-GDP each
    size = abs(0.5 + noise.normal())
    return size * np.where(noise.random(len(coins)) < 1 / (1 + math.exp(-size)), 2 * coins - 1, 1 - 2 * coins)


CANARIES = [
    ("Gaussian canaries exactly at their plan", "gaussian(sigma=1)", gaussian_canaries),
    ("canaries by randomised response exactly at epsilon = 1", "dp(epsilon=1)", response_canaries),
    ("Gaussian canaries that are right together", "gaussian(sigma=1)", linked_canaries),
]


def jax_auditor():
    """CanaryScoreAuditor of JAX Privacy, whose package imports JAX; this file of it does not."""
    try:
        path = Path(distribution("jax-privacy").locate_file("jax_privacy/auditing.py"))
    except PackageNotFoundError:
        return None
    specification = importlib.util.spec_from_file_location("jax_privacy_auditing", path)
    module = importlib.util.module_from_spec(specification)
    sys.modules["jax_privacy_auditing"] = module
    specification.loader.exec_module(module)
    return module.CanaryScoreAuditor


def samples_to_refute(plan, program, features, seed):
    """The least size in a doubling series at which the audit refutes, and how many of those pairs it needed."""
    n = 125
    while n <= MOST:
        found = to.audit(plan, *program(np.random.default_rng(seed), n), confidence=CONFIDENCE, features=features)
        if found.refutation is not None:
            return n, found.refutation.pairs
        n *= 2
    return None


def jax_samples_to_refute(auditor, plan, program, seed, deltas):
    """The same for Clopper-Pearson bounds of JAX Privacy, in its best case: the best of the deltas and of both orders is not paid for."""
    claims = [(delta, to.parse(plan).curve().epsilon(delta).hi) for delta in deltas]
    n = 125
    while n <= MOST:
        one, other = program(np.random.default_rng(seed), n)
        for first, second in ((one, other), (-one, -other)):
            for delta, epsilon in claims:
                if auditor(first, second).epsilon_clopper_pearson(significance=1 - CONFIDENCE, delta=delta) > epsilon:
                    return n
        n *= 2
    return None


def power_rows(seeds, auditor):
    faults = []
    rows = ["| error | claimed plan | pairs until refuted, median (smallest, largest) | size of the series | JAX Privacy |", "|---|---|---|---|---|"]
    for name, plan, program, features in BROKEN:
        found = [samples_to_refute(plan, program, features, seed) for seed in range(seeds)]
        if None in found:
            faults.append(f"{name}: not refuted by {MOST} pairs")
        pairs = sorted(one[1] if one else MOST + 1 for one in found)
        sizes = sorted(one[0] if one else MOST + 1 for one in found)
        theirs = "not run"
        if auditor is not None:
            one, _ = program(np.random.default_rng(0), 1)
            theirs = "takes one score" if one.ndim == 2 or features != "values" else None
        if theirs is None:
            series = [jax_samples_to_refute(auditor, plan, program, seed, (0.0, 1e-5, 1e-3, 0.01, 0.1, 0.25)) for seed in range(min(seeds, 5))]
            median = sorted(one if one else MOST + 1 for one in series)[len(series) // 2]
            theirs = f"{median:,}" if median <= MOST else f"above {MOST:,}"
        rows.append(f"| {name} | `{plan}` | {pairs[len(pairs) // 2]:,} ({pairs[0]:,}, {pairs[-1]:,}) | {sizes[len(sizes) // 2]:,} | {theirs} |")
        print(rows[-1], flush=True)
    return rows, faults


def most_allowed(runs):
    """The least count that a false alarm rate of exactly 1 - NULL_CONFIDENCE exceeds with probability below 1e-6."""
    rate = 1 - NULL_CONFIDENCE
    chance, count = 1.0, 0
    while chance > 1e-6:
        chance -= math.exp(math.lgamma(runs + 1) - math.lgamma(count + 1) - math.lgamma(runs - count + 1) + count * math.log(rate) + (runs - count) * math.log1p(-rate))
        count += 1
    return count


def null_rows(runs):
    faults = []
    rows = ["| honest program | claimed plan | runs | refuted at confidence 0.95 |", "|---|---|---|---|"]

    def add(name, plan, refuted):
        if refuted > most_allowed(runs):
            faults.append(f"{name}: {refuted} of {runs} runs refuted")
        rows.append(f"| {name} | `{plan}` | {runs:,} | {refuted} ({100 * refuted / runs:.2f} %) |")
        print(rows[-1], flush=True)

    for name, plan, program, features in HONEST:
        curve = to.parse(plan).curve()
        outputs = (program(np.random.default_rng(10**6 + i), 400) for i in range(runs))
        add(name, plan, sum(to.audit(curve, one, other, confidence=NULL_CONFIDENCE, features=features).verdict == "refuted" for one, other in outputs))
    for name, plan, score in CANARIES:
        curve = to.parse(plan).curve()
        refuted = 0
        for i in range(runs):
            noise = np.random.default_rng(2 * 10**6 + i)
            coins = (noise.random(100) < 0.5).astype(float)
            refuted += to.audit_one_run(curve, scores=score(noise, coins), included=coins, delta=1e-9, confidence=NULL_CONFIDENCE).verdict == "refuted"
        add(f"{name}, 100 of them", plan, refuted)
    return rows, faults


HEAD = """# The power of audits

`python benchmarks/audit_power.py --write` measures how many pairs of outputs `tradeoff.audit` needs to refute programs with classic errors, at confidence 0.999, and how often it refutes honest programs.
The rows are what it prints; all seeds are fixed. `./test audit` runs it and fails if an error is not refuted, or if an honest program is refuted too often.

A program is audited on 125, 250, 500, ... fresh pairs until it is refuted. The third column shows after how many pairs of that audit, the fourth the size of the series.
"""
PEERS = """
The last column is the size of the series at which the Clopper-Pearson bound of JAX Privacy {version} (`CanaryScoreAuditor`, Bonferroni over thresholds, confidence 0.999, median of 5) exceeds the claimed
epsilon at one of six deltas, in either order; choosing the best of these twelve tests is not paid for, so that this is its best case. It takes one score for each output, and no vectors.
DP-Sniper, Delta-Siege, StatDP, dp-auditorium and PrivacyGuard have no package on PyPI and were not run.
"""
NULL = """
## Honest programs

The stated confidence of these runs is 0.95, so that false refutations can be counted at all: at most 5 % may be refuted. Far fewer are, because a bet against a true claim loses on average. Runs with outputs have 400
pairs; canaries are those of one training run, judged by [one-run-audit](theory/one-run-audit.md).

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="of each honest program")
    parser.add_argument("--seeds", type=int, default=9, help="of each error")
    parser.add_argument("--check", action="store_true", help="exit with 1 if an error is not refuted or an honest program too often")
    parser.add_argument("--write", action="store_true", help="write docs/audit_power.md")
    chosen = parser.parse_args()
    auditor = None if chosen.check else jax_auditor()
    power, missed = power_rows(chosen.seeds, auditor)
    null, wrong = null_rows(chosen.runs)
    for fault in [*missed, *wrong]:
        print(f"FAULT: {fault}")
    if chosen.write:
        if auditor is None:
            raise SystemExit("--write needs the package jax-privacy")
        peers = PEERS.format(version=version("jax-privacy"))
        PAGE.write_text(HEAD + "\n" + "\n".join(power) + "\n" + peers + NULL + "\n".join(null) + "\n", encoding="utf-8")
    return 1 if chosen.check and (missed or wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
