# SPDX-License-Identifier: Apache-2.0
"""The checker of certificates: every stored one is proved true, and nothing forged passes."""

import concurrent.futures
import copy
import hashlib
import importlib.util
import json
import os
import pathlib
import re
from fractions import Fraction

import pytest

import tradeoff as to

ROOT = pathlib.Path(__file__).resolve().parents[2]
STORED = (ROOT / "tests/certificates/stored.jsonl").read_text(encoding="utf-8").splitlines()
SAMPLE = STORED[::29]
TRUE, FALSE, CHANGED, UNDECIDED = 0, 1, 3, 4

pytest.importorskip("flint")
_spec = importlib.util.spec_from_file_location("check_certificate", ROOT / "assurance/checker/check_certificate.py")
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
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(code, STORED))
    assert [number for number, found in enumerate(codes, 1) if found != TRUE] == []


def test_stored_certificates_are_varied():
    found = [json.loads(line) for line in STORED]
    questions = [guarantee["question"] for one in found for guarantee in one["guarantees"]]
    assert {one["ask"] for one in questions} >= {"delta", "epsilon", "beta", "tpr"}
    assert {one["direction"] for one in questions} == {"worst", "remove", "add"}
    assert sum(one.get("delta") == "1e-50" for one in questions) >= 10
    assert len({item["source"]["name"] for one in found for item in one["items"] if isinstance(item["source"], dict)}) >= 10
    assert sum(one["plan"].startswith("(") for one in found) >= 5  # plans in plans
    terms = [term for one in found for guarantee in one["guarantees"] for term in guarantee["evaluations"]]
    assert {term["theorem"] for term in terms} >= {"contour-inversion", "bent-contour", "averaged-counts"}
    assert sum("poisson" in one["plan"] for one in found) >= 60
    for noise, sampling in (("gaussian", "sample"), ("laplace", "sample"), ("laplace", "poisson")):  # many steps
        steps = re.compile(rf"{noise}\([^|]*\| {sampling}\([^|]*\| repeat\(\d{{3,}}\)")
        assert sum(bool(steps.fullmatch(one["plan"])) for one in found) >= 5, (noise, sampling)
    assert sum("group" in one["plan"] for one in found) >= 5


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
    lo, hi = (Fraction(certificate["guarantees"][0]["answer"][end]) for end in ("lo", "hi"))
    width = max(hi - lo, hi / 10**15)
    for low, high in [(hi + width, hi + 2 * width), (lo - 2 * width, lo - width), (hi + width, lo - width), (lo, lo), (hi, hi)]:
        forged = changed(certificate, ("guarantees", 0, "answer"), {"lo": decimal(low), "hi": decimal(high)})
        assert code(seal(forged)) in (FALSE, UNDECIDED), (float(low), float(high))
    shifted = changed(certificate, ("guarantees", 0, "answer"), {"lo": decimal(hi + width), "hi": decimal(hi + 3 * width)})
    assert code(seal(shifted)) == FALSE


@pytest.mark.parametrize("line", SAMPLE)
def test_another_question_or_plan_is_refused_even_with_its_digest(line):
    certificate = json.loads(line)
    question = certificate["guarantees"][0]["question"]
    field = checker.ASKED[question["ask"]]
    asked = Fraction(question[field])
    others = (asked * 2, asked / 2) if asked and question["ask"] != "epsilon" else (Fraction(1, 3), Fraction(1, 7))  # far enough away
    for other in others:
        forged = changed(certificate, ("guarantees", 0, "question", field), decimal(other))
        assert code(seal(forged)) != TRUE
    others = {"delta": "epsilon", "epsilon": "delta", "beta": "tpr", "tpr": "beta"}
    swapped = {"ask": others[question["ask"]], checker.ASKED[others[question["ask"]]]: question[field]}
    swapped |= {"direction": question["direction"], "relative": question["relative"]}
    forged = changed(certificate, ("guarantees", 0, "question"), swapped)
    forged["guarantees"][0]["claim"] = "lo" if swapped["ask"] == "beta" else "hi"
    assert code(seal(forged)) != TRUE
    source = {"name": "gdp", "arguments": {"mu": "0.321"}}
    item = {"source": source, "operators": []}
    for text, items in (("gdp(mu=0.321)", [item]), (certificate["plan"] + "\ngdp(mu=0.321)", [*certificate["items"], item])):
        forged = changed(certificate, ("plan",), text)
        assert code(seal(forged)) == CHANGED  # the items are still those of the other plan
        assert code(seal({**forged, "items": items})) != TRUE, text


def test_swapped_directions_are_refused():
    lines = [json.loads(line) for line in STORED]
    directed = []
    for one in lines:
        question = one["guarantees"][0]["question"]
        if "poisson" in one["plan"] and question["direction"] != "worst" and question["ask"] == "epsilon":
            directed.append((one, "add" if question["direction"] == "remove" else "remove"))
    assert len(directed) >= 3
    for one, other in directed[:4]:
        assert code(seal(changed(one, ("guarantees", 0, "question", "direction"), other))) == FALSE


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "[" * 100000, '{"digest": 1}', STORED[0][:-1], STORED[0].replace('"claim"', '"plan":"","claim"'), "\ud800"],
)
def test_what_is_no_certificate(text):
    assert code(text) == CHANGED


OF_GUARANTEE = ("question", "answer", "claim", "method", "steps", "evaluations")


def gdp(**changes):
    """A certificate that is true: what gdp(mu=1) costs at delta 1e-5, in closed form."""
    guarantee = {
        "claim": "hi", "method": "closed form", "question": {"ask": "epsilon", "delta": "1e-5", "direction": "worst", "relative": "1e-6"},
        "answer": {"lo": "4.377178095681", "hi": "4.377178095682"}, "steps": [{"theorem": "gaussian-profile", "detail": ""}],
        "evaluations": [{"theorem": "gaussian-profile", "direction": "remove", "epsilon": "4.3771780956812", "counts": {"nodes": "7"},
                         "log_delta": {"lo": "-11.5129254650", "hi": "-11.5129254649"}, "settings": {"step": "-0.5"}, "errors": {"rounding": "1e-11"}}],
    }  # fmt: skip
    certificate = {
        "certificate": "tradeoff certificate 1", "kind": "answer", "version": "0.1.0", "plan": "gdp(mu=1)", "neighbours": "unstated",
        "unit": "one record", "items": [{"source": {"name": "gdp", "arguments": {"mu": "1"}}, "operators": []}], "guarantees": [guarantee],
    }  # fmt: skip
    for path, value in changes.pop("at", ()):
        certificate = changed(certificate, ("guarantees", 0, *path) if path[0] in OF_GUARANTEE else path, value)
    for key, value in changes.items():
        certificate = changed(certificate, ("guarantees", 0, key) if key in OF_GUARANTEE else (key,), value)
    return certificate


def planned(plan, *operators, answer=("4.377178095681", "4.377178095682"), **changes):
    """The same question about another plan of one line, with its items."""
    name, _, rest = plan.partition(" | ")[0].rstrip(")").partition("(")
    arguments = dict(word.split("=") for word in rest.split(", "))
    items = [{"source": {"name": name, "arguments": arguments}, "operators": [{"name": word, "arguments": given} for word, given in operators]}]
    return gdp(plan=plan, items=items, answer=dict(zip(("lo", "hi"), answer)), evaluations=[], **changes)


def asked(ask, value, lo, hi, **more):
    question = {"ask": ask, checker.ASKED[ask]: value, "direction": "worst", "relative": "1e-6"}
    return gdp(question=question, answer={"lo": lo, "hi": hi, **more}, claim="lo" if ask == "beta" else "hi", evaluations=[])


TERMS = ("evaluations", 0)
ANSWER_LO, ANSWER_HI = ("answer", "lo"), ("answer", "hi")
FORGERIES = {
    "shifted up": (gdp(answer={"lo": "4.377178095683", "hi": "4.377178095684"}), FALSE),
    "shifted down": (gdp(answer={"lo": "4.377178095679", "hi": "4.377178095680"}), FALSE),
    "upper end lowered by 1e-12": (gdp(at=[(ANSWER_HI, "4.377178095681")]), FALSE),
    "lower end raised by 1e-12": (gdp(at=[(ANSWER_LO, "4.377178095682"), (ANSWER_HI, "4.4")]), FALSE),
    "ends swapped": (gdp(answer={"lo": "4.377178095682", "hi": "4.377178095681"}), FALSE),
    "one double": (gdp(answer={"lo": "4.377178095681204", "hi": "4.377178095681204"}), FALSE),
    "negative": (gdp(answer={"lo": "-2", "hi": "-1"}), FALSE),
    "nothing is lost": (gdp(answer={"lo": "0", "hi": "0"}), FALSE),
    "lower end infinite": (gdp(answer={"lo": "inf", "hi": "inf"}), FALSE),
    "upper end minus infinity": (gdp(answer={"lo": "-inf", "hi": "-inf"}), FALSE),
    "1e400": (gdp(answer={"lo": "1e400", "hi": "1e401"}), UNDECIDED),
    "1e-400": (gdp(answer={"lo": "0", "hi": "1e-400"}), FALSE),
    "an exponent of 5 digits": (gdp(at=[(ANSWER_HI, "1e99999")]), CHANGED),
    "a million digits": (gdp(at=[(ANSWER_HI, "4." + "3" * 900000)]), CHANGED),
    "nan": (gdp(at=[(ANSWER_HI, "nan")]), CHANGED),
    "NaN as JSON": (gdp(at=[(ANSWER_HI, float("nan"))]), CHANGED),
    "Infinity as JSON": (gdp(at=[(ANSWER_HI, float("inf"))]), CHANGED),
    "a number as JSON": (gdp(at=[(ANSWER_HI, 9)]), CHANGED),
    "true": (gdp(at=[(ANSWER_HI, True)]), CHANGED),
    "a list": (gdp(at=[(ANSWER_HI, ["9"])]), CHANGED),
    "hexadecimal": (gdp(at=[(ANSWER_HI, "0x9")]), CHANGED),
    "an underscore": (gdp(at=[(ANSWER_HI, "9_0")]), CHANGED),
    "a space": (gdp(at=[(ANSWER_HI, " 9")]), CHANGED),
    "other digits": (gdp(at=[(ANSWER_HI, "\uff19")]), CHANGED),
    "division by zero": (gdp(at=[(ANSWER_HI, "1/0")]), UNDECIDED),
    "an extra member": (gdp(comment="true"), CHANGED),
    "an extra member of the answer": (gdp(at=[(("answer", "middle"), "4.3")]), CHANGED),
    "an extra member of an item": (gdp(at=[(("items", 0, "times"), "2")]), CHANGED),
    "an extra argument": (gdp(at=[(("items", 0, "source", "arguments", "sensitivity"), "1")]), UNDECIDED),
    "logarithm of an epsilon": (gdp(at=[(("answer", "log10"), {"lo": "0", "hi": "1"})]), UNDECIDED),
    "delta for epsilon": (asked("delta", "1e-5", "4.377178095681", "4.377178095682"), FALSE),
    "tpr for beta": (asked("beta", "0.05", "0.2595", "0.2596"), FALSE),
    "beta for tpr": (asked("tpr", "0.05", "0.7404", "0.7405"), FALSE),
    "the end of the other side": (gdp(claim="lo"), CHANGED),
    "a probability above 1": (asked("delta", "1", "0.1269", "0.127", log10={"lo": "-0.5", "hi": "0"}), FALSE),
    "delta at infinity": (asked("delta", "inf", "0.1", "0.2"), FALSE),
    "epsilon at infinity": (asked("epsilon", "inf", "1", "2"), CHANGED),
    "another mu": (planned("gdp(mu=1.0000001)"), FALSE),
    "a quotient": (planned("gdp(mu=10/9)"), FALSE),
    "a quotient that is 1": (planned("gdp(mu=3/3)"), TRUE),
    "twice": (planned("gdp(mu=1) | repeat(2)", ("repeat", {"times": "2"})), FALSE),
    "repeat that is only in the items": (planned("gdp(mu=1)", ("repeat", {"times": "1"})), CHANGED),
    "huge repeats": (planned("gdp(mu=1) | repeat(999999999)", ("repeat", {"times": "999999999"})), FALSE),
    "repeats beyond all": (planned("gdp(mu=1) | repeat(1e400)", ("repeat", {"times": "1e400"})), UNDECIDED),
    "half a repeat": (planned("gdp(mu=1) | repeat(1/2)", ("repeat", {"times": "1/2"})), UNDECIDED),
    "no repeat": (planned("gdp(mu=1) | repeat(0)", ("repeat", {"times": "0"})), FALSE),
    "a group of a half": (planned("gdp(mu=2) | group(1/2)", ("group", {"size": "1/2"})), CHANGED),
    "a rate of 0": (planned("gdp(mu=1) | poisson(rate=0)", ("poisson", {"rate": "0"}), neighbours="add-remove"), UNDECIDED),
    "a rate above 1": (planned("gdp(mu=1) | poisson(rate=3/2)", ("poisson", {"rate": "3/2"}), neighbours="add-remove"), UNDECIDED),
    "sampled, other neighbours": (planned("gdp(mu=1) | sample(rate=0.5)", ("sample", {"rate": "0.5"}), neighbours="add-remove"), CHANGED),
    "sampled, no neighbours": (planned("gdp(mu=1) | sample(rate=0.5)", ("sample", {"rate": "0.5"})), CHANGED),
    "sampled": (planned("gdp(mu=1) | poisson(rate=0.5)", ("poisson", {"rate": "0.5"}), neighbours="add-remove"), FALSE),
    "noise of no size": (planned("gaussian(sigma=0)"), UNDECIDED),
    "noise of negative size": (planned("gaussian(sigma=-1)"), UNDECIDED),
    "look-alike letters": (gdp(plan="gd\u0440(mu=1)"), CHANGED),
    "look-alike digits": (gdp(plan="gdp(mu=\uff11)"), CHANGED),
    "a comment in the plan": (gdp(plan="gdp(mu=1) # | repeat(9)"), CHANGED),
    "an empty plan": (gdp(plan="", items=[]), CHANGED),
    "code in the plan": (gdp(plan="__import__('os')"), CHANGED),
    "an unknown mechanism": (gdp(plan="magic(mu=1)", at=[(("items", 0, "source", "name"), "magic")]), UNDECIDED),
    "another direction": (gdp(at=[(("question", "direction"), "both")]), CHANGED),
    "another format": (gdp(certificate="tradeoff answer 2"), CHANGED),
    "another kind": (gdp(kind="release"), CHANGED),
    "an unknown kind": (gdp(kind="promise"), CHANGED),
    "another unit": (gdp(unit="a group of 3 records"), CHANGED),
    "no guarantees": (gdp(guarantees=[]), CHANGED),
    "a smaller mu": (asked("mu", "0", "0.9", "0.99"), FALSE),
    "a smaller mu with a slack": (asked("mu", "1e-5", "0", "0.9"), FALSE),
    "another version": (gdp(version="latest"), CHANGED),
    "no steps": (gdp(steps="none"), CHANGED),
    "a question of another kind": (gdp(at=[(("question", "ask"), "mu")]), CHANGED),
    "a negative error": (gdp(at=[((*TERMS, "errors", "rounding"), "-1e-12")]), CHANGED),
    "an error that is no number": (gdp(at=[((*TERMS, "errors", "rounding"), "nan")]), CHANGED),
    "errors beyond the width": (gdp(at=[((*TERMS, "errors", "alias"), "1e-9")]), CHANGED),
    "no nodes": (gdp(at=[((*TERMS, "counts", "nodes"), "0")]), CHANGED),
    "half a node": (gdp(at=[((*TERMS, "counts", "nodes"), "1.5")]), CHANGED),
    "negative nodes": (gdp(at=[((*TERMS, "counts", "nodes"), "-7")]), CHANGED),
    "an enclosure that is false": (gdp(at=[((*TERMS, "log_delta"), {"lo": "-12", "hi": "-11.6"})]), FALSE),
    "an enclosure elsewhere": (gdp(at=[((*TERMS, "epsilon"), "4.4")]), FALSE),
    "an enclosure upside down": (gdp(at=[((*TERMS, "log_delta"), {"lo": "-11", "hi": "-12"})]), CHANGED),
}  # fmt: skip


def test_what_the_forgeries_start_from_is_true():
    assert code(seal(gdp())) == TRUE
    assert code(seal(asked("beta", "0.05", "0.7404", "0.7405"))) == TRUE
    assert code(seal(asked("tpr", "0.05", "0.2595", "0.2596"))) == TRUE
    assert code(seal(asked("delta", "1", "0.1269", "0.127"))) == TRUE
    assert code(seal(asked("mu", "0", "1", "1"))) == TRUE
    assert code(seal(asked("mu", "1e-5", "0", "1"))) == TRUE


def test_moments_beyond_any_float():
    """Of high orders, when the checker chooses its line: each loss is up to 1.9, and an order up to 3000 is looked at."""
    operators = [("poisson", {"rate": "0.0992"}), ("repeat", {"times": "835"})]
    found = planned(
        "laplace(scale=0.533, sensitivity=1) | poisson(rate=0.0992) | repeat(835)",
        *operators,
        answer=("42.170651032068", "42.170651032099"),
        neighbours="add-remove",
        at=[(("question", "delta"), "1e-8")],
    )
    assert code(seal(found)) == TRUE


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries(name):
    """Each with the digest of its content, as a forger would write it."""
    certificate, expected = FORGERIES[name]
    found, words, _ = checker.check(seal(certificate))
    assert found == expected, words


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "empty"), (" \n", "empty"), (STORED[0][:200], "cut off"), ("{" * 10**6, "cut off"), (" " * 10**6 + "{}", "empty, or longer"),
     ("{}", "is missing in 'certificate'"), ('{"plan": "", "plan": ""}', "'plan' is there twice"), (b"\xff\xfe{}", "utf-8")],
)  # fmt: skip
def test_refusals_say_what_is_wrong(text, words):
    found, said, _ = checker.check(text)
    assert found == CHANGED
    assert words in said


def test_the_command_names_the_file(tmp_path, capsys):
    path = tmp_path / "answer.json"
    path.write_text("")
    assert checker.main([str(path)]) == CHANGED
    assert f"{path}:1: malformed or changed" in capsys.readouterr().out
    assert checker.main([str(tmp_path / "nowhere.json")]) == CHANGED
    assert "cannot be read" in capsys.readouterr().out
    path.write_text(STORED[0])
    assert checker.main([str(path)]) == TRUE


def test_work_without_end_is_cut_off(monkeypatch):
    monkeypatch.setattr(checker, "LIMIT", 0.3)
    monkeypatch.setattr(checker, "guarantee_verdict", lambda *_: [None for _ in iter(int, 1)])
    found, words, _ = checker.check(STORED[0])
    assert found == UNDECIDED
    assert "seconds" in words


@pytest.mark.parametrize("line", (ROOT / "tests/certificates/mixtures.jsonl").read_text(encoding="utf-8").splitlines())
def test_mixtures_of_gaussians_are_proved(line):
    """Users with several examples, and records that are drawn and replaced; an interval that was moved is refused."""
    assert code(line) == TRUE
    found = json.loads(line)
    one = found["guarantees"][0]
    moved = {end: decimal(Fraction(one["answer"][end]) * Fraction(999999, 1000000)) for end in ("lo", "hi")}
    assert code(seal({**found, "guarantees": [{**one, "answer": moved, "evaluations": []}]})) == FALSE


CHOICES = (ROOT / "tests/certificates/choices.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", CHOICES)
def test_choices_and_thresholds_are_proved(line):
    """One choice among candidates, and a threshold; an interval that was moved is refuted."""
    assert code(line) == TRUE
    found = json.loads(line)
    one = found["guarantees"][0]
    moved = {end: decimal(Fraction(one["answer"][end]) * Fraction(9999, 10000)) for end in ("lo", "hi")}
    assert code(seal({**found, "guarantees": [{**one, "answer": moved, "evaluations": []}]})) == FALSE


def test_several_choices_are_no_product_of_pairs():
    """Two uses of the exponential mechanism have a worst case that the checker does not compute; permute-and-flip is not bounded-range."""
    found = json.loads(CHOICES[0])
    twice = json.dumps(found).replace('"operators": []', '"operators": [{"name": "repeat", "arguments": {"times": "2"}}]')
    twice = twice.replace('"plan": "exponential(epsilon=0.5)"', '"plan": "exponential(epsilon=0.5) | repeat(2)"')
    assert code(seal(json.loads(twice))) == UNDECIDED
    gumbel = next(line for line in CHOICES if "gumbel" in line)
    assert code(seal(json.loads(gumbel.replace("gumbel", "exponential")))) == FALSE
    assert code(seal({**json.loads(CHOICES[2]), "neighbours": "replace-one"})) == UNDECIDED  # monotone utilities


def test_records_that_are_replaced_need_a_clip_norm():
    """With a sensitivity in place of the clip norm, or for another relation, the same interval is not proved."""
    found = json.loads((ROOT / "tests/certificates/mixtures.jsonl").read_text(encoding="utf-8").splitlines()[2])
    assert found["neighbours"] == "replace-one"
    text = json.dumps(found).replace("clip=1", "sensitivity=2").replace('"clip": "1"', '"sensitivity": "2"')
    assert code(seal(json.loads(text))) in (FALSE, UNDECIDED)
    assert code(seal({**found, "neighbours": "add-remove"})) == FALSE


SAMPLERS = (ROOT / "tests/certificates/samplers.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", SAMPLERS)
def test_samplers_of_training_runs_are_proved(line):
    """Allocated, shuffled, capped and cyclic batches, and correlated noise; an interval below the certain part of the bracket is refuted."""
    assert code(line) == TRUE
    found = json.loads(line)
    one = found["guarantees"][0]
    moved = {"lo": "0", "hi": decimal(Fraction(one["answer"]["lo"]) * Fraction(999, 1000))}
    assert code(seal({**found, "guarantees": [{**one, "answer": moved, "evaluations": []}]})) == FALSE


@pytest.mark.parametrize(
    ("plan", "change"),
    [
        ("allocate(steps=100)", (("steps=100", "steps=50"), ('"steps": "100"', '"steps": "50"'))),
        ("at_most=20) | repeat(100)", (("at_most=20", "at_most=12"), ('"at_most": "20"', '"at_most": "12"'))),
        ("participations=4", (("participations=4", "participations=3"), ('"participations": "4"', '"participations": "3"'))),
        ("separation=16", (("separation=16", "separation=12"), ('"separation": "16"', '"separation": "12"'))),
        ("sensitivity=1) | poisson(rate=0.01) | repeat(100)", (("rate=0.01", "rate=0.011"), ('"rate": "0.01"', '"rate": "0.011"'))),
    ],
)
def test_other_samplers_do_not_have_the_same_interval(plan, change):
    """The certificate of one plan is not that of a plan in which records take part more or less often."""
    text = next(line for line in SAMPLERS if plan in json.loads(line)["plan"])
    for before, after in change:
        assert before in text
        text = text.replace(before, after)
    found = json.loads(text)
    one = found["guarantees"][0]
    assert code(seal({**found, "guarantees": [{**one, "evaluations": []}]})) in (FALSE, UNDECIDED)


UNCOMPUTED = (ROOT / "tests/certificates/undecided.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("number", "name"),
    list(enumerate([
        "several epochs of an allocation",
        "one beside other lines",
        "an allocation to several of the steps",
    ])),
)
def test_allocations_that_are_not_computed_are_refused_by_name(number, name):
    """A claim that simple bounds refute is false; any other is undecided, with the reason."""
    found = json.loads(UNCOMPUTED[number])
    one = found["guarantees"][0]
    codes = []
    for answer in (one["answer"], {"lo": "0", "hi": "0.1"}, {"lo": "30", "hi": "40"}):
        result, words, _ = checker.check(seal({**found, "guarantees": [{**one, "answer": answer, "evaluations": []}]}))
        codes.append(result)
        assert result == FALSE or ("cannot check" in words and name in words)
    assert codes == [UNDECIDED, FALSE, FALSE]


def test_a_matrix_does_not_speak_of_added_records_alone():
    found = json.loads(next(line for line in SAMPLERS if "square_root" in line))
    assert code(seal({**found, "neighbours": "add-remove"})) == UNDECIDED


def test_the_checker_has_the_arguments_of_the_program():
    known = {word.name: {one.name: one.default or "" for one in word.parameters} for word in to.mechanisms() if word.role in ("source", "operator")}
    for name, arguments in checker.ARGUMENTS.items():  # of arguments that may be left out it knows none, and then it is undecided
        assert arguments.items() <= known[name].items(), name
