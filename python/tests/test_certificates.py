# SPDX-License-Identifier: Apache-2.0
"""The checker of certificates: every stored one is proved true, and nothing forged passes."""

import concurrent.futures
import copy
import hashlib
import importlib.util
import json
import pathlib
from fractions import Fraction

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORED = (ROOT / "tests/certificates/stored.jsonl").read_text(encoding="utf-8").splitlines()
SAMPLE = STORED[::29]
TRUE, FALSE, CHANGED, UNDECIDED = 0, 1, 3, 4

pytest.importorskip("flint")
_spec = importlib.util.spec_from_file_location("check_certificate", ROOT / "checker/check_certificate.py")
checker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(checker)


def code(text):
    return checker.check(text)[0]


def seal(certificate):
    """The certificate with the digest that its content has: what a forger would do."""
    covered = {key: value for key, value in certificate.items() if key != "digest"}
    canonical = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps({**covered, "digest": hashlib.sha256(canonical.encode()).hexdigest()})


def leaves(value, path=()):
    """The path of every string in it."""
    if isinstance(value, str):
        yield path
    else:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))


def changed(certificate, path, value):
    forged = copy.deepcopy(certificate)
    at = forged
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return forged


def decimal(value):
    """Enough digits of an exact number."""
    return f"{value.numerator * 10**330 // value.denominator}e-330"


def test_500_stored_certificates_are_proved_true():
    assert len(STORED) == 500
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        codes = list(pool.map(code, STORED, chunksize=10))
    assert [number for number, found in enumerate(codes, 1) if found != TRUE] == []


def test_stored_certificates_are_varied():
    found = [json.loads(line) for line in STORED]
    assert {one["question"]["ask"] for one in found} == {"delta", "epsilon", "beta", "tpr"}
    assert {one["question"]["direction"] for one in found} == {"worst", "remove", "add"}
    assert sum(one["question"].get("delta") == "1e-50" for one in found) >= 10
    assert len({item["source"]["name"] for one in found for item in one["items"]}) >= 10
    assert sum("poisson" in one["plan"] for one in found) >= 60


@pytest.mark.parametrize("line", SAMPLE)
def test_an_edited_field_is_noticed(line):
    certificate = json.loads(line)
    for path in leaves(certificate):
        at = certificate
        for key in path:
            at = at[key]
        forged = changed(certificate, path, at[:-1] + ("1" if at[-1:] != "1" else "2"))
        assert code(json.dumps(forged)) == CHANGED, path
    for key in certificate:
        assert code(json.dumps({name: value for name, value in certificate.items() if name != key})) == CHANGED


@pytest.mark.parametrize("line", SAMPLE)
def test_a_false_interval_is_refused_even_with_its_digest(line):
    certificate = json.loads(line)
    lo, hi = (Fraction(certificate["answer"][end]) for end in ("lo", "hi"))
    width = max(hi - lo, hi / 10**15)
    for low, high in [(hi + width, hi + 2 * width), (lo - 2 * width, lo - width), (hi + width, lo - width), (lo, lo), (hi, hi)]:
        forged = changed(certificate, ("answer",), {"lo": decimal(low), "hi": decimal(high)})
        assert code(seal(forged)) in (FALSE, UNDECIDED), (float(low), float(high))
    shifted = changed(certificate, ("answer",), {"lo": decimal(hi + width), "hi": decimal(hi + 3 * width)})
    assert code(seal(shifted)) == FALSE


@pytest.mark.parametrize("line", SAMPLE)
def test_another_question_or_plan_is_refused_even_with_its_digest(line):
    certificate = json.loads(line)
    question = certificate["question"]
    field = checker.ASKED[question["ask"]]
    asked = Fraction(question[field])
    others = (asked * 2, asked / 2) if asked and question["ask"] != "epsilon" else (Fraction(1, 3), Fraction(1, 7))  # far enough away
    for other in others:
        forged = changed(certificate, ("question", field), decimal(other))
        assert code(seal(forged)) != TRUE
    others = {"delta": "epsilon", "epsilon": "delta", "beta": "tpr", "tpr": "beta"}
    swapped = {"ask": others[question["ask"]], checker.ASKED[others[question["ask"]]]: question[field]}
    forged = changed(certificate, ("question",), {**swapped, "direction": question["direction"], "relative": question["relative"]})
    forged["claim"] = "lo" if forged["question"]["ask"] == "beta" else "hi"
    assert code(seal(forged)) != TRUE
    for text in ("gaussian(sigma=1.2345)", certificate["plan"] + "\ngaussian(sigma=1.2345)", certificate["plan"] + "\ngdp(mu=0.001)"):
        forged = changed(certificate, ("plan",), text)
        assert code(seal(forged)) != TRUE  # the items are still those of the other plan
        try:
            forged["items"] = checker.items_of(text)
        except checker.Undecided:
            continue
        if forged["neighbours"] == "unstated" or "sample" not in text:
            assert code(seal(forged)) != TRUE, text


def test_swapped_directions_are_refused():
    lines = [json.loads(line) for line in STORED]
    directed = [one for one in lines if "poisson" in one["plan"] and one["question"]["direction"] != "worst" and one["question"]["ask"] == "epsilon"]
    assert len(directed) >= 3
    for one in directed[:4]:
        other = "add" if one["question"]["direction"] == "remove" else "remove"
        assert code(seal(changed(one, ("question", "direction"), other))) == FALSE


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "[" * 100000, '{"digest": 1}', STORED[0][:-1], STORED[0].replace('"claim"', '"plan":"","claim"'), "\ud800"],
)
def test_what_is_no_certificate(text):
    assert code(text) == CHANGED


def test_what_is_too_hard_is_undecided_and_not_true():
    certificate = json.loads(next(line for line in STORED if '"ask":"epsilon"' in line))
    for plan in ("mixture([(1, gdp(mu=1))])", "gdp(mu=1) | nothing()", "(gdp(mu=1))", "__import__('os')", "gdp(mu=1); x = 1", "1" * 5000):
        assert code(seal(changed(certificate, ("plan",), plan))) in (UNDECIDED, CHANGED)
    for times in ("0", "-1", "1.5", "1e99"):
        text = f"laplace(scale=1) | repeat({times})"
        forged = changed(changed(certificate, ("plan",), text), ("items",), checker.items_of(text))
        assert code(seal(forged)) == UNDECIDED
