# SPDX-License-Identifier: Apache-2.0
"""The functions of the package and the table of questions: the same names, fields, defaults and answers."""

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest

import tradeoff as to
from tradeoff import _core

# How each question is asked in Python, and what its fields are called there if not as in the table.
FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "advantage": (to.Curve.advantage, {}),
    "approximate": (to.Curve.approximate, {}),
    "beta": (to.Curve.beta, {}),
    "calibrate": (to.calibrate, {}),
    "check": (to.Curve.check, {}),
    "clt": (to.Curve.clt, {}),
    "compare": (to.Curve.compare, {"method": "methods"}),
    "delta": (to.Curve.delta, {}),
    "divergences": (to.Curve.divergences, {}),
    "epsilon": (to.Curve.epsilon, {}),
    "gdpt": (to.Curve.gdpt, {}),
    "guarantees": (to.Curve.guarantees, {}),
    "moments": (to.Curve.moments, {}),
    "mu": (to.Curve.mu, {}),
    "naming": (to.Curve.naming_chance, {}),
    "odds": (to.Curve.odds_factor, {}),
    "order": (to.Curve.at_least_as_private, {}),
    "posterior": (to.Curve.posterior, {}),
    "risk": (to.Curve.risk, {}),
    "tpr": (to.Curve.tpr, {}),
}
# Asked otherwise in Python: of objects that answer several questions, or on the command line alone.
ELSEWHERE = {"certify", "limit", "renyi"}
# Fields that a function leaves to others: lists of epsilons to `delta`, runs of polygons, ways to measure mu.
LEFT_OUT = {
    "approximate": {"times", "epsilon"},
    "compare": {"people", "epsilon_max", "width"},
    "guarantees": {"epsilon"},
}

ROWS = {name: fields for name, _, fields, _ in _core.questions()}


def answer(plan: str, question: str, **fields: str) -> Any:
    return json.loads(_core.ask(plan, question, fields))["answer"]


def interval(found: dict[str, Any]) -> to.Interval:
    return to.Interval(float(found["lo"]), float(found["hi"]))


def test_every_question_has_a_function() -> None:
    assert set(ROWS) == set(FUNCTIONS) | ELSEWHERE


@pytest.mark.parametrize("question", sorted(FUNCTIONS))
def test_fields_are_parameters(question: str) -> None:
    function, names = FUNCTIONS[question]
    parameters = inspect.signature(function).parameters
    for field, _, required in ROWS[question]:
        if field in LEFT_OUT.get(question, set()):
            continue
        name = names.get(field, field.removeprefix("target."))
        assert name in parameters
        if required:
            assert parameters[name].default is inspect.Parameter.empty


def test_common_fields_have_the_same_defaults() -> None:
    assert {name for name, _, _ in _core.common_fields()} == {"plan", "neighbours", "relative", "direction"}
    parameters = inspect.signature(to.analyze).parameters
    assert parameters["relative"].default == 1e-6
    assert parameters["neighbours"].default is None
    assert inspect.signature(to.Curve.delta).parameters["direction"].default == "worst"


def test_safe_ends() -> None:
    ends = {name: end for name, _, _, end in _core.questions() if end is not None}
    assert ends.pop("beta") == "lo"
    assert set(ends.values()) == {"hi"}


def test_answers_are_those_of_the_functions() -> None:
    text = "laplace(scale=1)"
    curve = to.analyze(text)
    assert interval(answer(text, "delta", epsilon="0.5")) == curve.delta(0.5)
    assert interval(answer(text, "epsilon", delta="0.01")) == curve.epsilon(0.01)
    assert interval(answer(text, "beta", alpha="0.1", direction="add")) == curve.beta(0.1, direction="add")
    assert interval(answer(text, "tpr", fpr="0.1")) == curve.tpr(0.1)
    assert interval(answer(text, "gdpt", epsilon="0.5")) == curve.gdpt(0.5)
    assert interval(answer(text, "advantage")) == curve.advantage()
    assert interval(answer(text, "naming", people="10")) == curve.naming_chance(10)
    assert interval(answer(text, "odds", chance="0.01")) == curve.odds_factor(0.01)
    assert interval(answer(text, "posterior", prior="0.5")["accuracy"]) == curve.posterior(0.5).accuracy
    assert interval(answer(text, "mu")["mu"]) == curve.mu().mu
    assert answer(text, "check", epsilon="2", delta="0")["verdict"] == curve.check(epsilon=2, delta=0)
    assert answer(text, "order", other="gdp(mu=3)")["verdict"] == curve.at_least_as_private(to.analyze("gdp(mu=3)")).verdict


def test_refusals_name_the_field() -> None:
    with pytest.raises(to.DomainError, match="delta = 2 is not allowed; it must be between 0 and 1"):
        answer("gdp(mu=1)", "epsilon", delta="2")
    with pytest.raises(to.DomainError, match="has no field 'epsilom'; did you mean 'epsilon'"):
        answer("gdp(mu=1)", "delta", epsilom="2")
    with pytest.raises(to.DomainError, match="field 'epsilon' is missing"):
        answer("gdp(mu=1)", "delta")
    with pytest.raises(to.UnsupportedError, match="ask 'dleta' is not known"):
        answer("gdp(mu=1)", "dleta")
    with pytest.raises(to.ParseError):
        answer("gdp(mu=", "advantage")
