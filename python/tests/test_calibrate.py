# SPDX-License-Identifier: Apache-2.0
"""Calibration, training plans and releases."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tradeoff as to


def test_the_safe_end_meets_the_target() -> None:
    text = "gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)"
    found = to.calibrate(text, epsilon=2, delta=1e-5)
    assert found.safe == found.value.hi and found.plan.curve().delta(2).hi <= 1e-5
    assert to.calibrate("gdp(mu=?)", epsilon=1, delta=1e-5).safe <= to.calibrate("gdp(mu=?)", epsilon=2, delta=1e-5).safe
    assert to.calibrate("gaussian(sigma=?)", mu=1).safe == pytest.approx(1)
    assert to.calibrate(to.gaussian("?"), advantage=0.1).plan.curve().advantage().hi <= 0.1
    assert to.calibrate("gaussian(?)", fpr=0.01, tpr=0.05).plan.curve().tpr(0.01).hi <= 0.05
    count = to.calibrate("gaussian(20) | repeat(?)", epsilon=1, delta=1e-5)
    assert count.safe == int(count.safe) == count.value.lo


@pytest.mark.parametrize(
    "target",
    [{}, {"epsilon": 1}, {"delta": 1e-5}, {"epsilon": 1, "mu": 1}, {"epsilon": -1, "delta": 0.1}, {"mu": "x"}, {"fpr": 0.1}, {"advantage": 2}],
)
def test_bad_targets(target: dict[str, Any]) -> None:
    with pytest.raises(to.DomainError):
        to.calibrate("gaussian(sigma=?)", **target)


def test_every_target_binds() -> None:
    alone = [to.calibrate("gaussian(sigma=?)", **target).safe for target in ({"epsilon": 1, "delta": 1e-5}, {"mu": 0.1}, {"advantage": 0.3})]
    both = to.calibrate("gaussian(sigma=?)", epsilon=1, delta=1e-5, mu=0.1, advantage=0.3)
    assert both.safe == pytest.approx(max(alone))
    curve = both.plan.curve()
    assert curve.check(epsilon=1, delta=1e-5) == "within" and curve.mu().mu.hi <= 0.1 and curve.advantage().hi <= 0.3


def test_calibration_wants_one_unknown() -> None:
    for text in ("gaussian(1)", "gaussian(sigma=?); laplace(scale=?)"):
        with pytest.raises(to.ParseError):
            to.calibrate(text, epsilon=1, delta=1e-5)
    with pytest.raises(to.Error):
        to.gaussian("?").curve()


def test_training_asks_for_what_matters() -> None:
    run: dict[str, Any] = {"noise_multiplier": 1.1, "batch": 256, "examples": 60000, "epochs": 60}
    assert to.sgd(**run) == to.sgd(**run, sampling="poisson")
    with pytest.raises(to.DomainError, match="neighbours = add-remove is not allowed"):
        to.sgd(**run, sampling="fixed", neighbours="add-remove")
    with pytest.raises(to.DomainError, match="shuffles is 'shuffled'"):
        to.sgd(**run, sampling="loader")
    assert to.sgd(**run, sampling="fixed").text == "gaussian(sigma=1.1, sensitivity=2) | sample(size=256, of=60000) | repeat(14063)"
    assert to.sgd(**run, sampling="shuffled").text == "gaussian(sigma=1.1) | shuffle(batches=235, passes=60)"
    for wrong in ({"batch": 0}, {"batch": 60001}, {"examples": 1.5}, {"epochs": 0}, {"epochs": "x"}, {"noise_multiplier": "x"}):
        with pytest.raises(to.Error):
            to.sgd(**{**run, **wrong}, sampling="poisson")
    assert to.sgd(noise_multiplier=1, batch=1, examples=10, epochs=0.3).text.endswith("repeat(3)")
    assert to.sgd(noise_multiplier=1, batch=1, examples=10, steps=7).text.endswith("repeat(7)")
    with pytest.raises(to.DomainError, match="either epochs or steps"):
        to.sgd(**run, steps=7)


def test_every_target_binds() -> None:
    plan = "gaussian(sigma=?)"
    one, other = to.calibrate(plan, epsilon=1, delta=1e-5), to.calibrate(plan, mu=0.1)
    both = to.calibrate(plan, epsilon=1, delta=1e-5, mu=0.1)
    assert both.safe >= max(one.safe, other.safe)
    assert to.parse(f"gaussian(sigma={one.printed})") == one.plan
    assert one.plan.curve().check(epsilon=1, delta=1e-5) == "within"
    with pytest.raises(to.DomainError, match="epsilon needs delta"):
        to.calibrate(plan, epsilon=1)
    with pytest.raises(to.DomainError, match="slack needs mu"):
        to.calibrate(plan, epsilon=1, delta=1e-5, slack=1e-5)


def test_noise_has_a_unit() -> None:
    assert to.noisy_sum(2, neighbours="add-remove", unit="clipping norm") == to.gaussian(2)
    assert to.noisy_sum(2, neighbours="replace-one", unit="sensitivity") == to.gaussian(2)
    doubled = to.noisy_sum(2, neighbours="replace-one", unit="clipping norm").curve()
    assert doubled.mu().mu == to.gaussian(1).curve().mu().mu
    with pytest.raises(to.DomainError, match="replacing one moves it by up to 2C"):
        to.noisy_sum(2, neighbours="replace-one", unit="sigma")
    with pytest.raises(TypeError):
        to.noisy_sum(2)  # type: ignore[call-arg]


def test_release() -> None:
    certificate = to.certify("discrete_laplace(scale=2)", rows=2)
    assert certificate.is_valid and 1.0 in certificate.guarantee[0.0] and certificate.document is None
    with pytest.raises(TypeError):
        pickle.dumps(certificate)
    with pytest.raises(TypeError):
        copy.copy(certificate)
    rows = certificate.release([10, 20])
    assert rows.shape == (2, 1) and np.all(rows == np.round(rows)) and not certificate.is_valid
    with pytest.raises(to.DomainError, match="used"):
        certificate.release([10, 20])
    assert to.verify(certificate.document).verdict == "confirmed"  # what it said can still be read


def test_release_meets_its_target() -> None:
    released = to.release("gaussian(sigma=?)", [[1.5], [2.5]], epsilon=1, delta=1e-6)
    assert released.rows.shape == (2, 1) and released.certificate.drawn_plan.curve().explain().method
    summed = to.release("laplace(scale=1)", [0.25, 0.5], records="sum", bounds=(0, 1), grid="2^-10", neighbours="add-remove")
    assert summed.rows.shape == (1, 1) and float(summed.rows[0, 0] * 1024).is_integer()


def test_release_holds_to_every_target() -> None:
    for targets in ({"epsilon": 0.1, "delta": 1e-9}, {"mu": 1, "epsilon": 0.1, "delta": 1e-5}, {"advantage": 0.01}):
        with pytest.raises(to.UnmetError, match="nothing was released"):
            to.release("gaussian(sigma=1)", [1], on_grid=True, **targets)  # type: ignore[arg-type]
    for plan in ("gaussian(sigma=?)", "gaussian(sigma=?) | repeat(3)"):
        mu = to.release(plan, [1, 2, 3], mu=1).certificate.mu
        assert mu is not None and 0.99999 < mu.hi <= 1
    mu = to.release("gaussian(sigma=?)", [1], mu=1, epsilon=0.1, delta=1e-5).certificate.mu
    assert mu is not None and mu.hi < 0.04


def test_release_minds_the_shape() -> None:
    certificate = to.certify("discrete_laplace(scale=2)", rows=3, columns=2)
    for values in ([[1, 2, 3], [4, 5, 6]], [1, 2, 3, 4, 5, 6], [[[1, 2]], [[3, 4]], [[5, 6]]]):
        with pytest.raises(to.DomainError, match="3 rows of 2 values"):
            certificate.release(values)
    assert certificate.release([[1, 2], [3, 4], [5, 6]]).shape == (3, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: to.release("gdp(mu=1)", [1]),
        lambda: to.release("laplace(1)", []),
        lambda: to.release("laplace(1)", [float("nan")]),
        lambda: to.release("laplace(1)", ["1"]),
        lambda: to.release("laplace(1)", [2.0], bounds=(0, 1)),
        lambda: to.release("laplace(1)", [2.0], grid=0.3),
        lambda: to.release("laplace(1)", [2.0], grid="2^9999999999"),
        lambda: to.release("laplace(1)", [2.0], records="median"),
        lambda: to.release("laplace(scale=?)", [2.0]),
    ],
)
def test_release_refuses(call: Any) -> None:
    with pytest.raises(to.Error):
        call()
