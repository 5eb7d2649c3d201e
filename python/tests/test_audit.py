# SPDX-License-Identifier: Apache-2.0
"""Audits from Python."""

import numpy as np
import pytest

import tradeoff as to


def test_honest_and_broken_programs() -> None:
    noise = np.random.default_rng(3)
    honest = to.audit(to.gaussian(1), 1 + noise.normal(size=20000), noise.normal(size=20000))
    assert honest.verdict != "refuted"
    assert 0.85 < honest.mu_below <= 1
    assert honest.advantage_below <= 0.3829249225480263
    assert honest.delta_below(1) <= 0.126936506
    assert 1 < honest.epsilon_below(1e-5) <= 4.3771
    broken = to.audit("gaussian(sigma=1)", 2 + noise.normal(size=2000), noise.normal(size=2000))
    assert broken.verdict == "refuted"
    assert broken.refutation is not None and broken.refutation.pairs <= 2000 and broken.evidence >= 1000


def test_vectors_and_low_bits() -> None:
    noise = np.random.default_rng(4)
    shift = np.array([1.0, 0, 1, 0])
    assert to.audit("gaussian(sigma=1)", shift + noise.normal(size=(4000, 4)), noise.normal(size=(4000, 4))).verdict == "refuted"
    one, other = 1 + noise.laplace(size=3000), noise.laplace(size=3000)
    assert to.audit("laplace(scale=1)", one, other).verdict != "refuted"
    assert to.audit("laplace(scale=1)", one, other, features="low bits").verdict == "refuted"


def test_one_run() -> None:
    found = to.audit_one_run("dp(epsilon=1)", right=812, made=1000, canaries=1000)
    assert found.verdict == "refuted" and found.epsilon_below > 1
    assert to.audit_one_run("dp(epsilon=1)", right=731, made=1000, canaries=1000).verdict == "inconclusive"


def test_canaries_with_scores() -> None:
    noise = np.random.default_rng(5)
    coins = noise.random(4000) < 0.5
    scores = coins + noise.normal(size=4000)
    honest = to.audit_one_run("gaussian(sigma=1)", scores=scores, included=coins, delta=1e-8)
    assert honest.verdict == "inconclusive" and 0 < honest.mu_below <= 1 and honest.canaries == 4000
    assert to.audit_one_run("gaussian(sigma=4)", scores=scores, included=coins, delta=1e-8).verdict == "refuted"
    ties = to.audit_one_run("gaussian(sigma=4)", scores=np.zeros(4000), included=np.arange(4000) < 2000)
    assert ties.verdict == "inconclusive" and ties.mu_below == 0
    for bad in [{"scores": scores}, {"scores": scores, "included": coins[1:]}, {"scores": scores, "included": coins, "right": 1}, {"right": 1}, {}]:
        with pytest.raises(to.DomainError):
            to.audit_one_run("gdp(1)", **bad)
    for column in (np.full(4000, np.nan), np.full((4000, 1), 1.0)):
        with pytest.raises(to.DomainError):
            to.audit_one_run("gdp(1)", scores=column, included=coins)
    with pytest.raises(to.DomainError, match="0 or 1"):
        to.audit_one_run("gdp(1)", scores=scores, included=2 * coins)


def test_bad_input() -> None:
    rows = np.arange(200.0)
    for one, other in [(rows, rows), (rows, rows[:-1]), (rows[:50], rows[:50]), (np.full(200, np.nan), rows), (np.ones(200), np.ones(200))]:
        with pytest.raises(to.DomainError):
            to.audit("gdp(1)", one, other)
    with pytest.raises(to.DomainError):
        to.audit("gdp(1)", rows, rows + 1, confidence=1)
    with pytest.raises(to.DomainError):
        to.audit_one_run("gdp(1)", right=5, made=4, canaries=10)
