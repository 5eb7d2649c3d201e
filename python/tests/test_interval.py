# SPDX-License-Identifier: Apache-2.0
"""The answer type: which end may be claimed, comparisons that are certain, formatting to the safe side, notebooks."""

import copy
import decimal
import math
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradeoff as to

TRAINING = to.gaussian(sigma=1.1).poisson(rate="256/60000").repeat(14063)
finite = st.floats(min_value=-1e12, max_value=1e12)


def ends(drawn: list[float]) -> tuple[float, float]:
    return min(drawn), max(drawn)


def test_every_answer_knows_its_safe_end() -> None:
    curve = TRAINING.curve()
    assert curve.epsilon(1e-5).safe == curve.delta(1).safe == curve.tpr(0.01).safe == curve.advantage().safe == "hi"
    assert curve.beta(0.01).safe == "lo" and curve.beta(0.01).claim == curve.beta(0.01).lo
    assert curve.epsilon(1e-5).claim == float(curve.epsilon(1e-5)) == curve.epsilon(1e-5).hi
    assert curve.explain(alpha=0.01).value.safe == "lo" and curve.explain(delta=1e-5).value.safe == "hi"
    kinds = {row.kind: row.epsilon.safe for row in curve.compare(1e-5).rows}
    assert kinds["bound"] == "hi" and kinds.get("estimate") is None
    assert to.calibrate("gaussian(sigma=?)", epsilon=1, delta=1e-5).value.safe == "hi"
    assert to.calibrate("dp(epsilon=?) | repeat(3)", epsilon=1, delta=0).value.safe == "lo"


def test_no_claim_without_a_safe_end() -> None:
    with pytest.raises(to.UndecidedError, match=r"\[1.0, 2.0\]: which end may be claimed depends on the use"):
        float(to.Interval(1.0, 2.0))
    assert float(to.Interval(1.5, 1.5)) == 1.5
    assert to.gaussian(1).curve().moments().kl.safe is None


@given(st.lists(finite, min_size=2, max_size=2), st.lists(finite, min_size=2, max_size=2))
def test_comparisons_are_certain_or_raise(one: list[float], two: list[float]) -> None:
    first, second = to.Interval(*ends(one)), to.Interval(*ends(two))
    tests: list[tuple[Any, Any]] = [
        (lambda a, b: a < b, lambda a, b: a < b),
        (lambda a, b: a <= b, lambda a, b: a <= b),
        (lambda a, b: a > b, lambda a, b: a > b),
        (lambda a, b: a >= b, lambda a, b: a >= b),
    ]
    for compare, truth in tests:
        possible = {truth(a, b) for a in first for b in second}
        if len(possible) == 1:
            assert compare(first, second) == possible.pop()
        else:
            with pytest.raises(to.UndecidedError):
                compare(first, second)


def test_compares_with_numbers_of_every_kind() -> None:
    epsilon = to.Interval(2.25, 2.5, "hi")
    assert epsilon <= 2.5 and epsilon < 3 and 3 > epsilon and Fraction(9, 4) <= epsilon and not epsilon > Fraction(5, 2)
    with pytest.raises(to.UndecidedError, match=r"\[2.25, 2.5\] < 2.5 cannot be decided"):
        _ = epsilon < 2.5
    with pytest.raises(to.UndecidedError):
        _ = epsilon < math.nan
    with pytest.raises(TypeError):
        _ = epsilon < "3"


@given(st.lists(finite, min_size=2, max_size=2), st.sampled_from(["lo", "hi"]), st.sampled_from([".0f", ".3f", ".2e", ".4g", "e", "g", "f", "12.2f"]))
def test_formatting_rounds_to_the_safe_side(drawn: list[float], safe: Any, specification: str) -> None:
    interval = to.Interval(*ends(drawn), safe)
    printed = decimal.Decimal(format(interval, specification).strip())
    exact = decimal.Decimal(interval.claim)
    assert printed >= exact if safe == "hi" else printed <= exact
    assert abs(printed - exact) <= abs(exact) * decimal.Decimal("1.01") + 1


def test_formatting_of_infinity_and_of_no_specification() -> None:
    assert f"{to.Interval(0, math.inf, 'hi'):.2f}" == "inf"
    assert f"{to.Interval(0.5, 0.75, 'hi')}" == "Interval(lo=0.5, hi=0.75)"
    assert f"{to.Interval(0.5, 0.75, 'hi'):10}" == "      0.75"


def test_unpacks_and_is_kept_by_copies() -> None:
    epsilon = TRAINING.curve().epsilon(1e-5)
    lo, hi = epsilon
    assert (lo, hi) == epsilon and lo in epsilon
    for kept in (pickle.loads(pickle.dumps(epsilon)), copy.copy(epsilon), copy.deepcopy(epsilon)):
        assert kept == epsilon and kept.safe == "hi" and hash(kept) == hash(epsilon)


def test_notebooks_show_the_claim_first() -> None:
    curve = TRAINING.curve()
    shown = curve.epsilon(1e-5)._repr_html_()
    assert shown.startswith("≤ <b>2.38169</b>") and "proved" in shown
    assert curve.beta(0.01)._repr_html_().startswith("≥")
    page = curve._repr_html_()
    assert "add-remove" in page and "epsilon at delta = 1e-5" in page and "<svg" in page and "2.38169" in page
    risk = curve.risk()._repr_html_()
    assert risk.startswith("<ul><li>") and "true-positive rate" in risk
    assert "<td" in curve.compare(1e-5)._repr_html_() and "contour" in curve.explain(delta=1e-5)._repr_html_()
