# SPDX-License-Identifier: Apache-2.0
"""Curves: arrays, threads, copies, refusals."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies as our
from hypothesis import given, settings
from hypothesis import strategies as st

import tradeoff as to

training = to.gaussian(1.1).poisson("256/60000").repeat(14063)


def test_arrays_answer_like_numbers() -> None:
    curve = training.curve()
    for ask, at in (
        (curve.delta, [-1, 0, 0.5, 1.0, 30, float("inf")]),
        (curve.log_delta, [0, 3]),
        (curve.epsilon, [0.1, 1e-5, 1e-30, 1]),
        (curve.beta, [0, 0.01, 0.5, 1]),
        (curve.tpr, [0.001, 0.1]),
        (curve.gdpt, [0.1, 2]),
    ):
        one_by_one = np.array([ask(x) for x in at])
        together = ask(at)
        assert together.shape == (len(at), 2) and together.dtype == np.float64
        for answers in (together, ask(np.array(at)), ask(tuple(at))):  # the engine remembers earlier work, so last digits may differ
            np.testing.assert_allclose(answers, one_by_one, rtol=1e-9)
            assert np.all(answers[:, 0] <= one_by_one[:, 1]) and np.all(one_by_one[:, 0] <= answers[:, 1])
    assert curve.delta(np.zeros((2, 3))).shape == (2, 3, 2)
    assert curve.delta([]).shape == (0, 2)
    assert curve.delta(np.arange(6)[::2]).shape == (3, 2)


def test_numbers_that_are_no_doubles_stay_exact() -> None:
    curve = to.gaussian(1).curve()
    listed: list[Any] = ["1/3", Decimal("1e-5"), 0.1]
    np.testing.assert_array_equal(curve.epsilon(listed), np.array([curve.epsilon(x) for x in listed]))
    third = curve.epsilon("1/3")
    assert third.lo <= curve.epsilon(1 / 3).hi
    assert curve.delta(np.array([2**53 + 1, 0])).shape == (2, 2)


@given(st.lists(st.one_of(st.floats(-40, 40), st.floats(1e-12, 1e-3), st.decimals(-3, 3, places=4).map(float)), min_size=1, max_size=50))
def test_arrays_read_numbers_as_single_questions_do(at: list[float]) -> None:
    curve = to.laplace(1).curve()  # a closed form, which remembers nothing
    many, ones = curve.delta(at), np.array([curve.delta(x) for x in at])
    assert np.all(many[:, 0] <= ones[:, 0]) and np.all(many[:, 1] >= ones[:, 1])  # the same numbers, read with a rounding to spare
    np.testing.assert_allclose(many, ones, rtol=1e-14, atol=2e-14)


def test_arrays_read_short_fractions_exactly() -> None:
    curve, at = to.laplace(1).curve(), [0.0, 0.5, -1.25, 3 / 1024, 7.0]
    np.testing.assert_array_equal(curve.delta(at), np.array([curve.delta(x) for x in at]))


def test_many_questions_at_once() -> None:
    curve = training.curve()
    at = np.linspace(0.01, 3, 3000)
    answers = curve.delta(at)
    assert np.all(answers[:, 0] <= answers[:, 1]) and np.all(np.diff(answers[:, 1]) <= 0)
    for i in (0, 1234, 2999):
        assert answers[i, 1] == pytest.approx(curve.delta(at[i]).hi, rel=1e-9)


@pytest.mark.parametrize(
    "question",
    [
        lambda c: c.delta(float("nan")),
        lambda c: c.delta(-float("inf")),
        lambda c: c.delta([0.1, float("nan")]),
        lambda c: c.delta("one"),
        lambda c: c.delta(None),
        lambda c: c.delta(1, direction="sideways"),
        lambda c: c.delta([True, False]),
        lambda c: c.delta(np.array([1j])),
        lambda c: c.epsilon(-1e-9),
        lambda c: c.epsilon(1.5),
        lambda c: c.epsilon([0.5, 1.5]),
        lambda c: c.epsilon(float("inf")),
        lambda c: c.beta("1e400"),
        lambda c: c.beta([0.5, -0.1]),
        lambda c: c.tpr(2),
        lambda c: c.posterior(0),
        lambda c: c.posterior(1),
        lambda c: c.mu(slack=2),
        lambda c: c.mu(slack=0.1, epsilon_max=3),
        lambda c: c.mu(epsilon_max=0),
        lambda c: c.approximate(0),
        lambda c: c.approximate(65),
        lambda c: c.approximate(1.5),
        lambda c: c.check(epsilon=-1, delta=0.1),
        lambda c: c.plot("pie"),
        lambda c: c.plan.curve(neighbours="cousins"),
        lambda c: c.plan.curve(neighbours=""),
        lambda c: c.plan.curve(relative=0),
    ],
)
def test_refusals_are_errors_of_ours(question: Any) -> None:
    with pytest.raises(to.Error):
        question(to.gaussian(1).curve())


def test_a_refused_array_names_the_entry() -> None:
    with pytest.raises(to.DomainError, match=r"delta\[1\]"):
        to.gaussian(1).curve().epsilon([0.5, 1.5, 2.5])


def test_neighbours_must_agree() -> None:
    with pytest.raises(to.DomainError, match="replace-one"):
        to.gaussian(1).sample(1, 10).curve(neighbours="add-remove")
    with pytest.raises(to.DomainError, match="one neighbour relation"):
        (to.gaussian(1).poisson(0.1) * to.gaussian(1).sample(1, 10)).curve()
    assert to.gaussian(1).poisson(0.1).curve().neighbours == "add-remove"
    assert to.gaussian(1).curve().neighbours is None


def test_curves_are_values() -> None:
    curve = training.curve()
    again = pickle.loads(pickle.dumps(curve))
    assert again == curve and hash(again) == hash(curve) and {again: 1}[curve] == 1
    assert again.epsilon(1e-5) == curve.epsilon(1e-5) and again.explain() == curve.explain()
    assert curve != training.curve(relative=1e-3) and curve != 3
    assert "poisson" in repr(curve) and "(contour)" in str(curve.explain())


@given(our.quick_plans)
@settings(max_examples=25)
def test_answers_hold_together(plan: to.Plan) -> None:
    curve = plan.curve()
    low, high = curve.delta(1.0)
    assert 0 <= low <= high <= 1
    epsilon = curve.epsilon(0.01)
    assert 0 <= epsilon.lo <= epsilon.hi
    if epsilon.hi < 700:
        assert curve.delta(epsilon.hi).lo <= 0.01
    beta, tpr = curve.beta(0.1), curve.tpr(0.1)
    assert beta.lo <= 1 - tpr.lo and 1 - tpr.hi <= beta.hi + 1e-15
    assert curve.advantage() == curve.delta(0)


def test_threads_share_a_curve() -> None:
    fresh = (to.gaussian(0.9).poisson(0.02).repeat(3000) * to.gaussian(1.1).poisson(0.01).repeat(500)).curve()
    at = [0.01 * i for i in range(60)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(fresh.delta, at))
    alone = fresh.plan.curve()
    for x, answer in zip(at, answers):
        other = alone.delta(x)
        assert answer.lo <= other.hi and other.lo <= answer.hi  # both hold the truth; what is cached may differ


def test_the_lock_is_released() -> None:
    curve = training.curve()
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            done.wait(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    curve.beta(np.linspace(0.001, 0.999, 4000))
    done.set()
    counter.join()
    assert ticks > 5


@given(st.floats(0, 1))
def test_a_float_is_its_decimal_and_itself(delta: float) -> None:
    curve = to.gaussian(1).curve()
    assert curve.epsilon(delta) == curve.epsilon(repr(delta))


def test_gaussian_dp() -> None:
    found = to.laplace(1).curve().mu()
    assert found.verdict == "gdp" and found.mu.width < 1e-6 and 1.03 in to.Interval(1.0300, 1.0301)
    assert to.dp(1, 1e-5).curve().mu().verdict == "not_gdp"
    head = to.dp(1, 1e-5).curve().mu(epsilon_max=2)
    assert head.mu.hi < float("inf") and head.residual.lo <= 1e-5 <= head.residual.hi
    assert [pair.slack for pair in found.with_slack] == [1e-5, 1e-8, 1e-10, 1e-15]
    assert len(to.laplace(1).curve().mu(slack="1e-6").with_slack) == 1


def test_corners_and_polygons() -> None:
    corners = to.dp(1).repeat(3).curve().guarantees()
    assert corners[0].delta.hi <= 1e-12 and corners[0].epsilon.hi >= 3 - 1e-9
    with pytest.raises(to.UnsupportedError):
        to.gaussian(1).curve().guarantees()
    polygons = to.laplace(1).curve().approximate(2)
    assert polygons.area is not None and polygons.below.area.hi <= polygons.area.hi <= polygons.above.area.hi


def test_order_and_plain_words() -> None:
    noisy, exposed = to.gaussian(2).curve(), to.gaussian(1).curve()
    assert noisy.at_least_as_private(exposed).verdict == "yes"
    found = exposed.at_least_as_private(noisy)
    assert found.verdict == "no" and (found.alpha is not None or found.epsilon is not None)
    assert noisy.naming_chance(10).hi <= exposed.naming_chance(10).hi < 1
    assert 1 <= noisy.odds_factor(0.01).hi <= exposed.odds_factor(0.01).hi
    for wrong in (lambda: noisy.naming_chance(1), lambda: noisy.odds_factor(0), lambda: noisy.at_least_as_private(3)):  # type: ignore[arg-type]
        with pytest.raises(to.Error):
            wrong()


def test_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for kind in ("tradeoff", "profile", "gdpt"):
        assert to.gaussian(1).curve().plot(kind, points=20).get_xlabel()


def test_a_curve_keeps_what_its_file_held(tmp_path: Path) -> None:
    table = tmp_path / "profile.csv"
    table.write_text("0, 0.5\n1, 0.1\n")
    plan = to.profile(file=str(table))
    before = plan.curve()
    asks = (lambda c: c.epsilon("0.3"), lambda c: c.compare("0.3", methods=["exact"])["exact"].epsilon, lambda c: c.extend("dp(0)").delta(1))
    answers = [ask(before) for ask in asks]
    stored, known = pickle.dumps(before), {before: "old"}
    table.write_text("0, 0.9\n3, 0.2\n")
    assert [ask(before) for ask in asks] == answers == [ask(pickle.loads(stored)) for ask in asks]
    after = plan.curve()
    assert after.plan == before.plan == pickle.loads(stored).plan
    assert after != before and after not in known and known[pickle.loads(stored)] == "old"
    assert all(ask(after) != answer for ask, answer in zip(asks, answers))
    table.unlink()
    assert [ask(before) for ask in asks] == answers
    with pytest.raises(to.Error, match="profile.csv"):
        plan.curve()


def test_a_direction_reads_open_neighbours_as_add_remove() -> None:
    plan = "pair(p=[0.1, 0.6, 0.01, 0.29], q=[0.01, 0.01, 0.01, 0.97]) | repeat(2)"
    curve, stated = to.analyze(plan), to.analyze(plan, neighbours="add-remove")
    assert curve.delta(3).hi >= 0.5664953321531927  # a record that is replaced may be seen in both orders
    assert curve.delta(3, direction="remove") == stated.delta(3, direction="remove")
    assert curve.moments(direction="add") == stated.moments(direction="add")
    assert curve.renyi().at(2, direction="remove") == stated.renyi().at(2, direction="remove")
