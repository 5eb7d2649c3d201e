# SPDX-License-Identifier: Apache-2.0
"""The same plan through Python and through the command line: the same answer, to the last bit."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

import strategies as our
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tradeoff as to

Query = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def interval(answer: dict[str, Any]) -> to.Interval:
    return to.Interval(float(answer["lo"]), float(answer["hi"]))


@given(our.quick_plans, our.usual_probabilities, st.floats(-3, 8), st.sampled_from(["worst", "remove", "add"]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_question(query: Query, plan: to.Plan, probability: float, epsilon: float, direction: str) -> None:
    about = {"plan": plan.text, "direction": direction}
    answers = query(
        [
            {**about, "ask": "delta", "epsilon": epsilon},
            {**about, "ask": "epsilon", "delta": probability},
            {**about, "ask": "beta", "alpha": probability},
            {**about, "ask": "tpr", "fpr": probability},
            {"plan": plan.text, "ask": "advantage"},
            {"plan": plan.text, "ask": "posterior", "prior": 0.3},
        ]
    )
    curve = plan.curve()
    assert curve.delta(epsilon, direction=direction) == interval(answers[0]["answer"])
    assert curve.epsilon(probability, direction=direction) == interval(answers[1]["answer"])
    assert curve.beta(probability, direction=direction) == interval(answers[2]["answer"])
    assert curve.tpr(probability, direction=direction) == interval(answers[3]["answer"])
    assert curve.advantage() == interval(answers[4]["answer"])
    posterior = curve.posterior(0.3)
    assert posterior.accuracy == interval(answers[5]["answer"]["accuracy"])
    assert posterior.largest == interval(answers[5]["answer"]["largest"])
    told = curve.explain(epsilon=epsilon, direction=direction)
    assert told.method == answers[0]["method"]
    assert [list(step) for step in told.steps] == [[step["theorem"], step["detail"]] for step in answers[0]["steps"]]


def test_the_larger_answers(query: Query) -> None:
    mu, head, corners, polygons, found, gdpt = query(
        [
            {"plan": "laplace(scale=1)", "ask": "mu"},
            {"plan": "dp(1, 1e-5)", "ask": "mu", "epsilon_max": 2},
            {"plan": "dp(1, 1e-5) | repeat(4)", "ask": "guarantees"},
            {"plan": "laplace(scale=1)", "ask": "approximate", "pieces": 2},
            {"plan": "gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)", "ask": "calibrate", "target": {"epsilon": 2, "delta": 1e-5}},
            {"plan": "laplace(scale=1)", "ask": "gdpt", "epsilon": 0.7},
        ]
    )
    measured = to.laplace(1).curve().mu()
    assert (measured.verdict, measured.mu) == (mu["answer"]["verdict"], interval(mu["answer"]["mu"]))
    assert measured.evaluations == mu["answer"]["evaluations"]
    assert [(pair.slack, pair.mu) for pair in measured.with_slack] == [(p["slack"], interval(p["mu"])) for p in mu["answer"]["with_slack"]]
    at_head = to.dp(1, 1e-5).curve().mu(epsilon_max=2)
    assert (at_head.mu, at_head.residual) == (interval(head["answer"]["mu"]), interval(head["answer"]["residual"]))
    listed = to.dp(1, 1e-5).repeat(4).curve().guarantees()
    assert [(c.epsilon, c.delta) for c in listed] == [(interval(c["epsilon"]), interval(c["delta"])) for c in corners["answer"]]
    approximated = to.laplace(1).curve().approximate(2)
    assert approximated.below.area == interval(polygons["answer"]["area_below"])
    assert [c.delta for c in approximated.above.pieces] == [interval(c["delta"]) for c in polygons["answer"]["above"]]
    assert to.calibrate("gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)", epsilon=2, delta=1e-5).value == interval(found["answer"])
    assert to.laplace(1).curve().gdpt(0.7) == interval(gdpt["answer"])


def test_refusals_have_the_same_kind(query: Query) -> None:
    texts = ["gaussian(sigma=-1)", "gaussian(", "gauss(1)", "gaussian(1) | poisson(0.1); gaussian(1) | sample(1, 2)", "gdp(1) | repeat(1e13)"]
    for text, answer in zip(texts, query([{"plan": text, "ask": "advantage"} for text in texts])):
        try:
            to.analyze(text).advantage()
            raise AssertionError(text)
        except to.Error as error:
            assert error.kind == answer["error"]["kind"]
            assert error.args[0] == answer["error"]["message"]


def test_verbs(command_line: str) -> None:
    def run(*arguments: str) -> Any:
        return json.loads(subprocess.run([command_line, *arguments, "--json"], capture_output=True, text=True).stdout)

    risk = to.gaussian(2).curve().risk()
    told = run("risk", "gaussian(sigma=2)")["answer"]
    assert risk.advantage == interval(told["advantage"])
    check = run("check", "--epsilon", "3", "--delta", "1e-5", "gaussian(sigma=2)")["answer"]["verdict"]
    assert to.gaussian(2).curve().check(epsilon=3, delta=1e-5) == check
    for sampling in ("poisson", "shuffled"):
        arguments = ["--noise-multiplier", "1.1", "--batch", "250", "--examples", "60000", "--epochs", "2.5", "--delta", "1e-5", "--sampling", sampling]
        plan = to.sgd(noise_multiplier=1.1, batch=250, examples=60000, epochs=2.5, sampling=sampling)  # type: ignore[arg-type]
        told = run("sgd", *arguments, "--quiet")
        assert plan == to.parse(told["plan"])
        assert plan.curve(neighbours=told["neighbours"]).epsilon(1e-5) == interval(told["epsilon"])
    words = run("mechanisms")
    assert [word.usage for word in to.mechanisms()] == [word["usage"] for word in words]


def test_limits(query: Query) -> None:
    plan = "gaussian(sigma=5) | repeat(10)"
    compared, moments, limit = query([{"plan": plan, "ask": "compare", "delta": 1e-5}, {"plan": plan, "ask": "moments"}, {"plan": plan, "ask": "clt"}])
    curve = to.parse(plan).curve()
    assert curve.moments().kl == interval(moments["answer"]["kl"])
    assert curve.moments().kappa3bar == interval(moments["answer"]["kappa3bar"])
    found = curve.clt()
    assert found.mu_estimate == limit["answer"]["mu"]["estimate"]
    assert found.berry_esseen is not None and found.berry_esseen.gamma == interval(limit["answer"]["berry_esseen"]["gamma"])
    ours = curve.compare(delta=1e-5)
    assert ours.best == compared["answer"]["best"]["method"]
    for row in ours.rows:
        told = compared["answer"][row.method]
        if row.kind == "bound":
            assert row.epsilon == interval(told)
        assert (row.kind == "refused") == ("refused" in told)
