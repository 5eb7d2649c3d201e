# SPDX-License-Identifier: Apache-2.0
"""Operations on curves, and what else is asked of them."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import tradeoff as to
from tradeoff import algebra

one, other = to.gaussian(1).curve(), to.laplace(1).curve()
directed = to.gaussian(1).poisson(0.25).curve()
combined = [
    algebra.inverse(directed),
    algebra.symmetrized(directed),
    algebra.strongest([one, other]),
    algebra.weakest([one, other]),
    algebra.product([one, other]),
    algebra.mixture([(Fraction(1, 3), one), ("2/3", other)]),
    algebra.with_revealing(one, "1/1000"),
    algebra.grouped(one, 3),
    algebra.from_guarantees([(1, 0), (0.5, 0.01)], neighbours="add-remove"),
    algebra.from_tradeoff([(0, 1), (0.2, 0.3), (1, 0)]),
]


@pytest.mark.parametrize("curve", combined, ids=[curve._name() for curve in combined])
def test_made_curves_are_values(curve: to.Curve) -> None:
    again = pickle.loads(pickle.dumps(curve))
    assert again == curve and hash(again) == hash(curve) and again != one
    assert again.delta(0.25) == curve.delta(0.25) and repr(again) == repr(curve)
    answer = curve.epsilon(0.01)
    assert 0 <= answer.lo <= answer.hi
    with pytest.raises(to.UnsupportedError, match="no plan describes"):
        curve.plan


def test_the_operations_do_what_they_say() -> None:
    at = np.array([0.1, 0.5, 1.0, 2.0])
    smaller, larger = np.minimum(one.delta(at), other.delta(at)), np.maximum(one.delta(at), other.delta(at))
    np.testing.assert_allclose(algebra.weakest([one, other]).delta(at), larger, rtol=1e-9)
    assert np.all(algebra.strongest([one, other]).delta(at)[:, 0] <= smaller[:, 1])
    np.testing.assert_allclose(algebra.with_revealing(one, "1/8").delta(at), 1 / 8 + 7 / 8 * one.delta(at), rtol=1e-12)
    np.testing.assert_allclose(algebra.grouped(one, 3).delta(at), to.gdp(3).curve().delta(at), rtol=1e-9)
    np.testing.assert_allclose(algebra.mixture([("1/4", one), ("3/4", other)]).delta(at), one.delta(at) / 4 + other.delta(at) * 3 / 4, rtol=1e-9)
    whole = algebra.product([one, other]).delta(at)
    np.testing.assert_allclose(whole, (to.compose(to.gaussian(1), to.laplace(1))).curve().delta(at), rtol=1e-5)
    assert algebra.inverse(directed).delta(0.5, direction="add") == directed.delta(0.5, direction="remove")
    for epsilon, delta in algebra.to_guarantees(one, [0.5, 1]):
        assert one.delta(epsilon.hi).lo <= delta.hi <= one.delta(epsilon.hi).hi * (1 + 1e-12)


def test_bad_operands_are_refused() -> None:
    with pytest.raises(to.DomainError):
        algebra.strongest([one, "gaussian(1)"])  # type: ignore[list-item]
    with pytest.raises(to.DomainError):
        algebra.mixture([("1/2", one), ("1/3", other)])
    with pytest.raises(to.DomainError):
        algebra.grouped(one, 0)
    with pytest.raises(to.DomainError):
        algebra.product([directed, to.gaussian(1).sample(rate=0.1).curve()])
    with pytest.raises(to.DomainError):
        algebra.from_guarantees([(1, 2)])


def test_extending_is_composing() -> None:
    grown = to.gaussian(1).poisson(0.01).repeat(300).curve().extend("laplace(20) | repeat(10)").extend(to.dp(0, "1e-9"))
    whole = grown.plan.curve().epsilon(1e-6)
    assert grown.epsilon(1e-6).lo <= whole.hi and whole.lo <= grown.epsilon(1e-6).hi
    assert pickle.loads(pickle.dumps(grown)) == grown
    with pytest.raises(to.DomainError, match="neighbours"):
        grown.extend("gaussian(1) | sample(rate=0.1)")
    with pytest.raises(to.ParseError):
        grown.extend("gaussian(")


def test_divergences_and_orders() -> None:
    found = one.divergences()
    assert 0.5 in found.kl and one.advantage() == found.total_variation
    renyi = one.renyi()
    assert 2 in renyi.at(4) and renyi.zcdp() is not None and 0.5 in renyi.zcdp()  # type: ignore[operator]
    assert renyi.epsilon(1e-5).value.hi >= one.epsilon(1e-5).lo
    assert renyi.delta(3).value.hi >= one.delta(3).lo
    with pytest.raises(to.DomainError):
        renyi.at(1)
    curve = to.laplace(20).repeat(400).curve()
    refined, certain = curve.edgeworth(), curve.delta(1.5)
    assert refined.delta(1.5) == pytest.approx(certain.hi, rel=0.05)


def test_risk_is_said_in_words() -> None:
    risk = directed.risk()
    assert risk.naming and risk.odds and risk.gaussian.mu.hi > 0
    assert all(sentence.endswith(".") for sentence in risk.sentences) and len(risk.sentences) >= 4
    assert risk.tpr[0.01] == directed.tpr(0.01)
    assert risk.rare == 1e-5 and set(risk.belief) == set(risk.posterior)
    assert all(risk.belief[prior].hi <= risk.posterior[prior].hi for prior in risk.belief)
    with pytest.raises(TypeError):
        directed.risk(direction="add")  # what is said of a person who took part has no second direction
