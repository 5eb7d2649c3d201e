# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# It reads documents of other programs, whose members can be anything.
"""A second opinion on a privacy claim that somebody made."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from ._errors import DomainError, Error, UnsupportedError
from ._interval import Interval
from ._numbers import to_text
from ._plan import Plan
from ._training import sgd

Verdict = Literal["holds", "fails", "undecided"]
EXIT_CODES: dict[str, int] = {"holds": 0, "fails": 1, "undecided": 4}

_RUN = ("what was run", "what_was_run", "plan")
_FIELDS = {*_RUN, "claimed", "neighbours", "unit", "sensitivity", "name"}
_POISSON = re.compile(r"gaussian\(sigma=([^,()]+)\) \| poisson\(rate=([^,()]+)\) \| repeat\((?:times=)?(\d+)\)")


class Opinion(NamedTuple):
    """The verdict on a claim. ``certified`` encloses the true value of the claimed quantity at the claimed delta.

    Attributes:
        verdict: holds, fails or undecided.
        claimed: the numbers of the claim.
        certified: encloses the true value.
        quantity: which number is judged.
        plan: what was run.
        neighbours: the relation that the verdict speaks of.
        assumed: what the claim did not say.
        if_shuffled: the same quantity if the loader shuffles, by what is proved without amplification.
    """

    verdict: Verdict
    claimed: dict[str, str]
    certified: Interval
    quantity: str
    plan: Plan
    neighbours: str
    assumed: tuple[str, ...]
    if_shuffled: Interval | None

    @property
    def exit_code(self) -> int:
        """For scripts: 0 holds, 1 fails, 4 undecided."""
        return EXIT_CODES[self.verdict]

    def __str__(self) -> str:
        claim = ", ".join(f"{name} = {value}" for name, value in self.claimed.items())
        lines = [
            f"{self.verdict}: the claim {claim}",
            f"    certified: {self.quantity} between {_rounded(self.certified.lo, 9, ROUND_FLOOR)} and {_rounded(self.certified.hi, 9, ROUND_CEILING)}",
            f"    what was run: {self.plan.text}",
            *(f"    assumed: {one}" for one in self.assumed),
        ]
        if self.if_shuffled is not None:
            above = _rounded(self.if_shuffled.hi, 6, ROUND_CEILING)
            lines.append(f"    if the loader shuffles instead: {self.quantity} <= {above} is what is proved without amplification")
        return "\n".join(lines)

    def to_json(self) -> str:
        """One line of JSON, with the members that ``tradeoff opinion --json`` prints."""

        def ends(interval: Interval) -> dict[str, Any]:
            return {name: value if value < float("inf") else "inf" for name, value in (("lo", interval.lo), ("hi", interval.hi))}

        shuffled = None if self.if_shuffled is None else {self.quantity.split(" ")[0]: ends(self.if_shuffled)}
        return json.dumps(
            {
                "verdict": self.verdict,
                "claimed": self.claimed,
                "certified": {self.quantity.split(" ")[0]: ends(self.certified)},
                "plan": self.plan.text,
                "neighbours": self.neighbours,
                "assumed": self.assumed,
                "if_shuffled": shuffled,
            }
        )


def _rounded(number: float, digits: int, direction: str) -> str:
    """Rounded to the side that keeps the statement true."""
    if number == 0 or number == float("inf"):
        return str(number)
    exact = Decimal(number)
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=direction)):.{digits}g}"


def opinion(
    source: Any,
    *,
    claimed: Mapping[str, Any] | None = None,
    neighbours: str | None = None,
    unit: str | None = None,
    noise_multiplier: Any = None,
    num_examples: int | None = None,
    sensitivity: Any = None,
) -> Opinion:
    """Whether a claim holds for what was run.

    Args:
        source: the path of a file (a claim as JSON or YAML, a model card in Markdown with such a block, a statement of TensorFlow
            Privacy), a mapping of the same form, a plan, an event of dp-accounting, an accountant or state of Opacus, a strategy or
            configuration of JAX Privacy, or a measurement of OpenDP, also in the form that its ``serialize`` writes.
        claimed: ``{"epsilon": ..., "delta": ...}``, ``{"mu": ...}`` (with ``"slack"`` if one was allowed) or ``{"advantage": ...}``; needed
            where the source itself claims nothing.
        neighbours, unit: what an event tree or a strategy does not say; see ``interchange.from_dp_event``.
        noise_multiplier, num_examples: what a strategy of JAX Privacy does not say.
        sensitivity: what a measurement of OpenDP does not say; see ``interchange.from_opendp``.

    >>> print(opinion({"what was run": "gaussian(sigma=2)", "claimed": {"epsilon": 1, "delta": 1e-5}}).verdict)
    fails
    """
    said: dict[str, Any] = {"neighbours": neighbours, "unit": unit, "noise_multiplier": noise_multiplier, "num_examples": num_examples, "sensitivity": sensitivity}
    if isinstance(source, Path) or (isinstance(source, str) and "(" not in source):
        source = read_claim(Path(source))
    if isinstance(source, Mapping) and any(name in source for name in _RUN):
        run, inside, stated = _parts(source)
        claimed = inside if claimed is None else claimed
        for name, value in stated.items():
            if said[name] is not None and said[name] != value:
                raise DomainError(f"{name}: the claim says {value!r} and the caller {said[name]!r}")
            said[name] = value
    else:
        run = source
    plan, whose, assumed = _read_run(run, said)
    if isinstance(source, Mapping) and "user-level" in str(source.get("name", "")):
        assumed.append(str(source["name"]))
    if claimed is None:
        raise DomainError("claimed: what is claimed is missing, for example {'epsilon': 8, 'delta': 1e-5}")
    return _judge(plan, whose, dict(claimed), assumed)


def _parts(form: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], dict[str, Any]]:
    unknown = sorted(str(name) for name in form if name not in _FIELDS)
    if unknown:
        raise DomainError(f"the claim has the unknown member '{unknown[0]}'; known are {', '.join(sorted(_FIELDS))}")
    runs = [form[name] for name in _RUN if name in form]
    if len(runs) != 1:
        raise DomainError("the claim must say once what was run")
    if "claimed" not in form or not isinstance(form["claimed"], Mapping):
        raise DomainError("the claim has no member 'claimed' with an epsilon and a delta, a mu or an advantage")
    return runs[0], form["claimed"], {name: form[name] for name in ("neighbours", "unit", "sensitivity") if name in form}


def _read_run(run: Any, said: dict[str, Any]) -> tuple[Plan, str | None, list[str]]:
    """The plan, its neighbours and what had to be assumed."""
    from . import interchange

    neighbours, unit = said["neighbours"], said["unit"]
    assumed: list[str] = []
    if isinstance(run, (str, Plan)):
        return Plan(run), neighbours, assumed
    if isinstance(run, Mapping):
        if "class_name" in run:
            run = _object_of(run)
        elif "__function__" in run:
            return _read_opendp(run, said)
        elif "history" in run:
            return _read_history(run, neighbours)
        elif "noise_multiplier" in run:
            try:
                plan: Plan = sgd(**run)
            except TypeError as error:
                raise DomainError(f"what was run: {error}".replace("sgd()", "a training run")) from None
            sampling = run.get("sampling", "poisson")
            assumed.append(f"batches are drawn by {sampling} sampling" + ("" if "sampling" in run else ", which was not stated"))
            return plan, run.get("neighbours", neighbours), assumed
        else:
            raise UnsupportedError(
                "what was run: a mapping must be a training run (noise_multiplier, batch, examples, epochs), an event tree (class_name), "
                "a state of Opacus (history) or a measurement of OpenDP (__function__)"
            )
    if run is None or isinstance(run, (bool, int, float)):
        raise UnsupportedError(f"what was run: {run!r} is no description; it must be a plan, a training run, an event tree or a state of an accountant")
    name = getattr(run, "class_name", None) or type(run).__name__
    if str(getattr(type(run), "__module__", "")).split(".")[0] == "opendp":
        return _read_opendp(run, said)
    if name.endswith("DpEvent"):
        if neighbours is None:
            raise DomainError("neighbours: an event tree does not say how neighbouring data sets differ: add-remove, replace-one or zero-out")
        word = getattr(neighbours, "name", neighbours)
        try:
            plan = interchange.from_dp_event(run, neighbours=neighbours, unit=unit)
        except Error:
            raise
        except AttributeError as error:
            raise DomainError(f"what was run: an event has no member '{error.name}'") from None
        except (TypeError, ValueError, ArithmeticError) as error:
            raise DomainError(f"what was run: a member of {name}, or of an event in it, has no allowed value: {error}") from None
        assumed.append(f"{word} neighbours, as stated; noise multipliers are in units of the {unit or 'sensitivity of one record'}")
        if "Poisson" in str(name) or "poisson" in plan.text:
            assumed.append("batches are drawn by Poisson sampling, as the event says")
        words = {"ADD_OR_REMOVE_ONE": "add-remove", "REPLACE_ONE": "replace-one", "REPLACE_SPECIAL": "zero-out"}
        return plan, words.get(str(word), str(word)), assumed
    if hasattr(run, "history") or isinstance(run, (list, tuple)):
        return _read_history(run, neighbours)
    if neighbours is None:
        raise DomainError(f"neighbours: {name} does not say how neighbouring data sets differ: add-remove, replace-one or zero-out")
    plan = interchange.from_jax_privacy(
        run, noise_multiplier=said["noise_multiplier"], neighbours=neighbours, num_examples=said["num_examples"]
    )
    return plan, neighbours, [f"{neighbours} neighbours, as stated; the noise multiplier is in units of the clipping norm"]


def _read_opendp(run: Any, said: dict[str, Any]) -> tuple[Plan, str | None, list[str]]:
    from .interchange import from_opendp

    assumed = ["neighbours are the data sets that are as far apart as the stated sensitivity says"]
    return from_opendp(run, sensitivity=said["sensitivity"]), said["neighbours"], assumed


def _read_history(run: Any, neighbours: str | None) -> tuple[Plan, str | None, list[str]]:
    from .interchange import read_history

    if neighbours not in (None, "add-remove"):
        raise UnsupportedError(f"a history of Opacus means add-remove neighbours, not {neighbours}")
    return read_history(run), "add-remove", ["Poisson sampling and add-remove neighbours, which is what a history of Opacus means"]


def _object_of(form: Mapping[str, Any]) -> Any:
    """The members of an event or a strategy as attributes, with the name of its class."""

    def convert(value: Any) -> Any:
        if isinstance(value, Mapping):
            return _object_of(value) if "class_name" in value else value
        return [convert(one) for one in value] if isinstance(value, (list, tuple)) else value

    fields = {name: convert(value) for name, value in form.items() if name != "module_name"}
    if str(form["class_name"]).endswith("DpEvent"):
        return SimpleNamespace(**fields)
    return type(str(fields.pop("class_name")), (), fields)()


def _judge(plan: Plan, neighbours: str | None, claimed: dict[str, Any], assumed: list[str]) -> Opinion:
    curve = plan.curve(neighbours=neighbours) if neighbours else plan.curve()
    texts = {name: to_text(name, value) for name, value in claimed.items()}
    verdict: str
    if set(texts) == {"epsilon", "delta"}:
        certified, quantity = curve.epsilon(texts["delta"]), f"epsilon at delta = {texts['delta']}"
        verdict = {"within": "holds", "exceeded": "fails"}.get(curve.check(epsilon=texts["epsilon"], delta=texts["delta"]), "undecided")
    elif set(texts) in ({"mu"}, {"mu", "slack"}):
        slack = texts.get("slack")
        certified, quantity = curve.mu(slack=slack).mu, "mu" + (f" except with probability {slack}" if slack else "")
        verdict = _compare(certified, texts["mu"])
    elif set(texts) == {"advantage"}:
        certified, quantity = curve.advantage(), "advantage"
        verdict = _compare(certified, texts["advantage"])
    else:
        raise DomainError(f"claimed: {', '.join(sorted(texts)) or 'nothing'} is not allowed; it must be epsilon and delta, mu (and slack), or advantage")
    whose = curve.neighbours or "unstated"
    if not assumed:
        assumed.append(f"the plan is what was run, under {whose} neighbours" if whose != "unstated" else "the plan is what was run")
    return Opinion(verdict, texts, certified, quantity, plan, whose, tuple(assumed), _if_shuffled(plan, texts))  # type: ignore[arg-type]


def _compare(certified: Interval, text: str) -> str:
    try:
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise DomainError(f"claimed: {text[:40]!r} is not a number") from None
    if exact < 0:
        raise DomainError(f"claimed: {text[:40]} is not allowed; it must not be negative")
    if certified.hi < float("inf") and Fraction(certified.hi) <= exact:
        return "holds"
    return "fails" if certified.lo == float("inf") or Fraction(certified.lo) > exact else "undecided"


def _if_shuffled(plan: Plan, claimed: Mapping[str, str]) -> Interval | None:
    """Each record takes part once in an epoch: the composition of that many steps without sampling is proved for any order."""
    found = _POISSON.fullmatch(plan.text)
    if found is None or "delta" not in claimed:
        return None
    passes = -(-Fraction(found[3]) * Fraction(found[2]) // 1)
    try:
        return Plan(f"gaussian(sigma={found[1]}) | repeat({passes})").curve(neighbours="zero-out").epsilon(claimed["delta"])
    except Error:
        return None


def read_claim(path: Path) -> Mapping[str, Any]:
    """The claim in a file: JSON, YAML, a model card with a fenced block or YAML header, or a statement of TensorFlow Privacy."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return _mapping(_parse_json(text, str(path)), path)
    if path.suffix in (".yaml", ".yml"):
        return _mapping(_parse_yaml(text, str(path)), path)
    if path.suffix in (".md", ".markdown"):
        return _claim_of_card(text, path)
    statement = _read_tensorflow(text)
    if statement is None:
        raise UnsupportedError(f"{path}: it is no claim that is known here; known are .json, .yaml, .md and statements of TensorFlow Privacy")
    return statement


def _mapping(found: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise DomainError(f"{path}: the claim must be a mapping with 'what was run' and 'claimed'")
    return found


def _parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_constant=lambda word: word)  # decimals stay exact
    except ValueError as error:
        raise DomainError(f"{name}: it is no JSON: {error}") from None


def _parse_yaml(text: str, name: str) -> Any:
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise UnsupportedError(f"{name}: reading YAML needs PyYAML (pip install pyyaml); or write the claim as JSON") from None
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # every number stays text
    except yaml.YAMLError as error:
        raise DomainError(f"{name}: it is no YAML: {error}") from None


def _claim_of_card(text: str, path: Path) -> Mapping[str, Any]:
    found: list[Mapping[str, Any]] = []
    for language, block in re.findall(r"^```([\w-]*)\s*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        if not any(f'"{name}"' in block or f"{name}:" in block for name in _RUN):
            continue
        found.append(_mapping(_parse_json(block, str(path)) if language == "json" or block.lstrip().startswith("{") else _parse_yaml(block, str(path)), path))
    header = re.match(r"---\n(.*?)\n---\n", text, flags=re.DOTALL)
    if header and "privacy" in header[1]:
        whole = _parse_yaml(header[1], str(path))
        if isinstance(whole, Mapping) and isinstance(whole.get("privacy"), Mapping):
            found.append(whole["privacy"])
    if len(found) != 1:
        raise DomainError(f"{path}: the model card has {len(found)} privacy claims ('what was run' and 'claimed'); it must have one")
    return found[0]


def _read_tensorflow(text: str) -> Mapping[str, Any] | None:
    """The statement that compute_dp_sgd_privacy_statement of TensorFlow Privacy prints; its claim under Poisson sampling."""
    flat = " ".join(text.split())
    run = re.search(r"DP-SGD performed over (\d+) examples with (\d+) examples per iteration, noise multiplier ([\d.e+-]+) for ([\d.e+-]+) epochs (with|without) microbatching", flat)
    delta = re.search(r"adjacency at delta = ([\d.e+-]+)", flat)
    epsilon = re.search(r"Epsilon assuming Poisson sampling \(\*\): ([\d.e+-]+)", flat)
    if not run or not delta or not epsilon:
        return None
    # One example changes one microbatch, whose clipped mean then moves by up to twice the clipping norm.
    noise = run[3] if run[5] == "without" else to_text("noise multiplier", Fraction(run[3]) / 2)
    terms = {"noise_multiplier": noise, "batch": int(run[2]), "examples": int(run[1]), "epochs": run[4], "sampling": "poisson"}
    claim = {"what was run": terms, "claimed": {"epsilon": epsilon[1], "delta": delta[1]}}
    return {**claim, "name": "the example-level claim; the user-level one is not judged"} if "User-level DP with" in flat else claim


def main(arguments: list[str]) -> int:
    """``python -m tradeoff opinion FILE...``: prints each opinion; the exit code is that of the worst, 3 for bad input."""
    files = [one for one in arguments[1:] if one != "--json"]
    if not files or arguments[0] != "opinion":
        print("usage: python -m tradeoff opinion [--json] FILE...\nexit code: 0 all claims hold, 1 one fails, 3 bad input, 4 one is undecided")
        return 2
    codes = []
    for name in files:
        try:
            found = opinion(Path(name))
            print(found.to_json() if "--json" in arguments else f"{name}: {found}")
            codes.append(found.exit_code)
        except (Error, OSError, UnicodeDecodeError, RecursionError) as error:
            print(f"{name}: {error}; no opinion is given", file=sys.stderr)
            codes.append(3)
    return next(code for code in (3, 1, 4, 0) if code in codes)
