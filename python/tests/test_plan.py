# SPDX-License-Identifier: Apache-2.0
"""Plans: every way to write one, and what is refused."""

import copy
import inspect
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import strategies as our
from hypothesis import given
from hypothesis import strategies as st

import tradeoff as to


@given(our.plans)
def test_round_trips(plan: to.Plan) -> None:
    assert to.parse(plan.text) == plan == to.parse(str(plan)) == to.Plan(plan)
    assert hash(to.parse(plan.text)) == hash(plan)
    assert pickle.loads(pickle.dumps(plan)) == plan == copy.deepcopy(plan)
    assert eval(repr(plan), {"Plan": to.Plan}) == plan


def test_every_word_has_a_function_with_its_parameters() -> None:
    for word in to.mechanisms():
        if word.role in ("tail", "law"):
            continue
        places = [getattr(to, word.name)] + ([getattr(to.Plan, word.name)] if word.role == "operator" else [])
        for function in places:
            parameters = [name for name in inspect.signature(function).parameters if name != "self"]
            assert sorted(parameters) == sorted(parameter.name for parameter in word.parameters), word.name
            assert inspect.getdoc(function)


def test_operators_read_like_the_language() -> None:
    text = "gaussian(sigma=1.1) | poisson(rate=0.01) | repeat(100)"
    assert to.gaussian(1.1) | to.poisson(0.01) | to.repeat(100) == to.parse(text)
    assert (to.gaussian(1.1) | to.poisson(0.01)) ** 100 == to.parse(text)
    assert to.gaussian(1.1) | (to.poisson(0.01) | to.repeat(100)) == to.parse(text)
    both = to.gaussian(1) * to.laplace(2)
    assert both.repeat(3) == to.parse("(gaussian(1); laplace(2)) | repeat(3)")
    assert both * to.gdp(1) == to.parse("gaussian(1); laplace(2); gdp(1)")
    assert pickle.loads(pickle.dumps(to.poisson(0.01))) == to.poisson("0.01")
    for wrong in (lambda: to.gaussian(1) | 3, lambda: to.gaussian(1) * 3, lambda: to.gaussian(1) ** 0.5, lambda: to.gaussian(1) ** True):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    "number, text",
    [
        (1, "1"),
        (1.1, "1.1"),
        (1e-300, "1e-300"),
        ("256/60000", "256/60000"),
        (Fraction(1, 3), "1/3"),
        (Decimal("0.10"), "0.1"),
        (Decimal("1E-7"), "1e-7"),
        (np.float64(1.1), "1.1"),
        (np.float32(0.5), "0.5"),
        (np.int32(7), "7"),
        (np.array(2.5), "2.5"),
        (2**60 + 1, "1152921504606846977"),
        ("?", "?"),
    ],
)
def test_numbers_are_what_they_print(number: object, text: str) -> None:
    assert to.gaussian(number).text == f"gaussian(sigma={text})"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "hostile",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        True,
        None.__class__,
        "1) | poisson(rate=0.1",
        "1; laplace(1)",
        "",
        "0x10",
        "1_000",
        "nan",
        "1e400",
        "1/0",
        "\x00",
        "٣",
        b"1",
        [1],
        pytest.param(10**5000, id="5001 digits"),
        Decimal("NaN"),
        np.longdouble(1) / 3,
        1j,
        object(),
    ],
)
def test_hostile_numbers_are_refused(hostile: object) -> None:
    with pytest.raises(to.Error):
        to.gaussian(hostile)  # type: ignore[arg-type]


def test_errors_point_at_the_fault() -> None:
    with pytest.raises(to.ParseError) as caught:
        to.parse("gaussian(sigma=1)\nlaplace(scale=2) | poison(rate=0.1)")
    assert isinstance(caught.value, ValueError)
    assert caught.value.position == 37 and caught.value.kind == "parse"
    message, line, caret = str(caught.value).splitlines()
    assert "poisson" in message and line.index("poison") == caret.index("^")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.position == 37
    with pytest.raises(to.ParseError) as caught:
        to.parse("gaussian(sigma=1) # ü\n?")
    assert caught.value.text[caught.value.position] == "?"


@pytest.mark.parametrize("text", ["", "gaussian", "gaussian(", "gaussian(1))", "\x00", "\ufeffgdp(1)", "(" * 10000, "gdp(1)|" * 3, "gdp(1); ; |"])
def test_hostile_texts_are_refused(text: str) -> None:
    with pytest.raises(to.Error):
        to.analyze(text)


@given(st.text(max_size=60))
def test_any_text_is_a_plan_or_an_error(text: str) -> None:
    try:
        assert to.parse(to.parse(text).text) == to.parse(text)
    except to.Error as error:
        assert str(error)


def test_no_plan_at_all() -> None:
    for hostile in (None, 3, b"gdp(1)", ["gdp(1)"]):
        with pytest.raises(to.Error):
            to.parse(hostile)  # type: ignore[arg-type]
    with pytest.raises(to.Error):
        to.compose()
    with pytest.raises(to.Error):
        to.parse("gdp(1)\ud800")  # not a character


def test_plans_do_not_change() -> None:
    plan = to.gdp(1)
    with pytest.raises(AttributeError):
        plan._text = "gdp(mu=2)"
    with pytest.raises(AttributeError):
        plan.other = 1  # type: ignore[attr-defined]


def test_user_tables(tmp_path: object) -> None:
    assert to.profile([(0, 0.5), (1, 0.1)], tail=(1, 2)).text == "profile(points=[(0, 0.5), (1, 0.1)], tail=gaussian(k=1, s=2))"
    assert to.profile(file='a "b" c.csv').text == r'profile(file="a \"b\" c.csv")'
    assert 0.25 in to.curve([(0, 1), (0.5, 0.25), (1, 0)]).curve().beta(0.5)
    for wrong in (lambda: to.profile([(0, 0.5)], tail="zero)"), lambda: to.profile(3), lambda: to.constraints("ab"), lambda: to.mixture([3])):  # type: ignore
        with pytest.raises(to.Error):
            wrong()


def test_correlated_noise_and_samplers() -> None:
    noise = to.matrix(1, coefficients=[1, "3/4"], steps=8).curve().epsilon(delta=1e-5)
    known = to.gdp(1.25).curve().epsilon(delta=1e-5)
    assert max(noise.lo, known.lo) <= min(noise.hi, known.hi)
    assert to.matrix(1, lower=[1, 0, 1], clip=2, pattern="every").text == "matrix(sigma=1, lower=[1, 0, 1], pattern=every, clip=2)"
    assert to.matrix(1, file="a b.csv").text == 'matrix(sigma=1, file="a b.csv")'
    turns = to.matrix("5/4", coefficients=[1, 0.75], steps=8).cyclic(2, 0.1, 8).curve(neighbours="zero-out").epsilon(delta=1e-5)
    steps = to.gaussian(1).poisson(0.1).repeat(4).curve(neighbours="zero-out").epsilon(delta=1e-5)
    assert max(turns.lo, steps.lo) <= min(turns.hi, steps.hi)
    capped = to.gaussian(1).poisson(0.1, of=50, at_most=10).curve().delta(epsilon=1)
    plain = to.gaussian(1).poisson(0.1).curve().delta(epsilon=1)
    assert capped.lo <= plain.hi <= capped.hi


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: to.gaussian(0), "sigma = 0 is not allowed; it must be above 0"),
        (lambda: to.gaussian(-1), "sigma = -1"),
        (lambda: to.laplace(scale=1, sensitivity=-1), "sensitivity = -1"),
        (lambda: to.dp(1, 2), "delta = 2"),
        (lambda: to.zcdp(-0.5), "rho = -0.5"),
        (lambda: to.constraints([(1, 2)]), "delta"),
        (lambda: to.pair([0.5, 0.6], [0.5, 0.5]), "p"),
        (lambda: to.rdp([(0.5, 1)]), "order"),
        (lambda: to.poisson(1.5), "rate = 1.5"),
        (lambda: to.poisson(0.1, at_most=5), "at_most needs of"),
        (lambda: to.poisson(0.1, of=50, of_is="about", at_most=5), "of_is"),
        (lambda: to.cyclic(0, 0.1, 10), "groups = 0"),
        (lambda: to.cyclic(2, 0.1, 10, by="hash"), "by must be"),
        (lambda: to.matrix(0, kind="prefix", steps=4), "sigma = 0"),
        (lambda: to.matrix(1, kind="prefixes", steps=4), "kind must be"),
        (lambda: to.matrix(1, kind="tree", steps=6), "power of two"),
        (lambda: to.matrix(1, steps=6), "exactly one of"),
        (lambda: to.gaussian(1).sample(5, 3), "size = 5"),
        (lambda: to.gaussian(1).group(0), "size = 0"),
        (lambda: to.gaussian(1).rectify(1, 2, 1), "high"),
        (lambda: to.gaussian(1).repeat(-1), "times"),
    ],
)
def test_numbers_out_of_range_are_refused_at_once(make: Callable[[], object], message: str) -> None:
    with pytest.raises(to.Error, match=message):
        make()


def test_an_unknown_value_is_not_checked() -> None:
    assert to.gaussian("?").poisson("?").repeat("?").text == "gaussian(sigma=?) | poisson(rate=?) | repeat(?)"
