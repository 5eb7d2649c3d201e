# SPDX-License-Identifier: Apache-2.0
"""Second opinions on what others write."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tradeoff as to
from tradeoff._opinion import main

CLAIMED = {"epsilon": 2.4, "delta": 1e-5}
TRAINING = {"noise_multiplier": 1.1, "batch": 256, "examples": 60000, "epochs": 60}


def test_plans_and_training_runs() -> None:
    plan = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)"
    for run in (plan, TRAINING):
        assert to.opinion({"what was run": run, "claimed": CLAIMED}).verdict == "holds"
        found = to.opinion({"what was run": run, "claimed": {"epsilon": "2.38", "delta": "1e-5"}})
        assert found.verdict == "fails" and found.exit_code == 1
        assert found.certified.lo > 2.38
        assert found.if_shuffled is not None and found.if_shuffled.lo > 10  # no amplification by sampling
        assert "fails" in str(found)
    assert to.opinion("gaussian(sigma=1)", claimed={"mu": 1}).verdict == "holds"
    assert to.opinion("gaussian(sigma=1)", claimed={"mu": "0.99"}).verdict == "fails"
    assert to.opinion("gaussian(sigma=1)", claimed={"advantage": "0.39"}).verdict == "holds"


def test_composed_randomised_response() -> None:
    """dp-accounting 0.6.0 reports 1.0987 for this tree: its PLD accountant ignores the count."""
    tree = {"class_name": "SelfComposedDpEvent", "count": 100, "event": {"class_name": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 2}}
    found = to.opinion(tree, claimed={"epsilon": 1.0987, "delta": 1e-5}, neighbours="replace-one")
    assert found.verdict == "fails"
    assert found.certified.lo > 50


def test_events_histories_and_strategies() -> None:
    event = {
        "class_name": "SelfComposedDpEvent",
        "count": 14063,
        "event": {"class_name": "PoissonSampledDpEvent", "sampling_probability": "256/60000", "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}},
    }
    assert to.opinion(event, claimed=CLAIMED, neighbours="add-remove").verdict == "holds"
    with pytest.raises(to.DomainError, match="neighbours"):
        to.opinion(event, claimed=CLAIMED)
    with pytest.raises(to.UnsupportedError, match="UnsupportedDpEvent"):
        to.opinion({"class_name": "UnsupportedDpEvent"}, claimed=CLAIMED, neighbours="add-remove")
    state = {"history": [[1.1, 256 / 60000, 14063]], "mechanism": "prv"}
    assert to.opinion({"what was run": state, "claimed": CLAIMED}).verdict == "holds"
    assert to.opinion(SimpleNamespace(history=[(1.1, 256 / 60000, 14063)]), claimed=CLAIMED).verdict == "holds"
    strategy = type("CyclicPoissonSampling", (), {"sampling_prob": 0.01, "iterations": 1000, "cycle_length": 1, "truncated_batch_size": None, "partition_type": "EQUAL_SPLIT"})()
    assert to.opinion(strategy, claimed={"epsilon": 3, "delta": 1e-5}, neighbours="add-remove", noise_multiplier=1).verdict == "holds"


STATEMENT = """DP-SGD performed over 60000 examples with 256 examples per iteration, noise
multiplier 1.1 for 60 epochs without microbatching, and no bound on number of
examples per user.

Example-level DP with add-or-remove-one adjacency at delta = 1e-05 computed with
RDP accounting:

    Epsilon with each example occurring once per epoch:        48.1
    Epsilon assuming Poisson sampling (*):                      2.6
"""


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("claim.json", json.dumps({"what was run": TRAINING, "claimed": CLAIMED}), 0),
        ("claim.json", json.dumps({"what was run": TRAINING, "claimed": {"epsilon": 1, "delta": 1e-5}}), 1),
        ("card.md", "# Model\n\n```json\n" + json.dumps({"what was run": TRAINING, "claimed": CLAIMED}) + "\n```\n", 0),
        ("statement.txt", STATEMENT, 0),
        ("statement.txt", STATEMENT.replace(" 2.6", " 2.3"), 1),
        ("statement.txt", STATEMENT.replace("without micro", "with micro"), 1),
        ("statement.txt", STATEMENT + "\nUser-level DP with add-or-remove-one adjacency at delta = 1e-05", 0),
        ("statement.txt", "nothing", 3),
        ("claim.json", "{", 3),
        ("claim.json", "[]", 3),
        ("claim.json", json.dumps({"what was run": TRAINING}), 3),
        ("claim.json", json.dumps({"what was run": TRAINING, "claimed": {"rho": 1}}), 3),
        ("claim.json", json.dumps({"what was run": TRAINING, "claimed": CLAIMED, "more": 1}), 3),
        ("claim.json", json.dumps({"what was run": {"noise_multiplier": 1, "batches": 3}, "claimed": CLAIMED}), 3),
        ("claim.json", json.dumps({"what was run": {"x": 1}, "claimed": CLAIMED}), 3),
        ("card.md", "# no claim\n", 3),
    ],
)
def test_files(tmp_path: Path, name: str, text: str, code: int, capsys: Any) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert main(["opinion", str(path)]) == code
    printed = capsys.readouterr()
    assert str(path) in (printed.err if code == 3 else printed.out)
    assert main(["opinion", "--json", str(path)]) == code
    printed = capsys.readouterr()
    assert code == 3 or json.loads(printed.out)["certified"]["epsilon"]["lo"] > 0


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"class_name": "GaussianDpEvent"}, "no member 'noise_multiplier'"),
        ({"class_name": "GaussianDpEvent", "noise_multiplier": [1]}, "noise_multiplier|sigma"),
        ({"class_name": "ComposedDpEvent", "events": 3}, "no allowed value"),
        ({"class_name": "RandomizedResponseDpEvent", "noise_parameter": "x", "num_buckets": 2}, "replace-one|no allowed value"),
        ({"class_name": "SelfComposedDpEvent", "count": -1, "event": {"class_name": "GaussianDpEvent", "noise_multiplier": 1}}, "times = -1"),
        ({"class_name": "FooDpEvent"}, "FooDpEvent is not supported"),
        (None, "no description"),
        (5, "no description"),
        ({"history": [[1, 2]], "mechanism": "rdp"}, "history"),
    ],
)
def test_descriptions_that_cannot_be_read(run: Any, message: str) -> None:
    with pytest.raises(to.Error, match=message):
        to.opinion({"what was run": run, "claimed": CLAIMED, **({"neighbours": "add-remove"} if isinstance(run, dict) and "class_name" in run else {})})


@pytest.mark.parametrize("claimed", [{"mu": "abc"}, {"mu": "1/0"}, {"mu": -1}, {"advantage": "nan"}, {"epsilon": "nan", "delta": 1e-5}, {"epsilon": 1, "delta": 2}, {}])
def test_claims_that_are_no_numbers(claimed: Any) -> None:
    with pytest.raises(to.DomainError):
        to.opinion({"what was run": "gaussian(sigma=1)", "claimed": claimed})


def _opendp(function: str, kind: str = "i32", vector: bool = False, **arguments: Any) -> dict[str, Any]:
    """The form of ``opendp.prelude.serialize``."""
    domain: dict[str, Any] = {"__function__": "atom_domain", "__module__": "domains", "__kwargs__": {"bounds": None, "T": kind}, "__version__": "0.16.0"}
    if vector:
        domain = {"__function__": "vector_domain", "__module__": "domains", "__kwargs__": {"atom_domain": domain, "size": None}, "__version__": "0.16.0"}
    return {"__function__": function, "__module__": "measurements", "__kwargs__": {"input_domain": domain, "k": None, **arguments}, "__version__": "0.16.0"}


@pytest.mark.parametrize(
    ("form", "sensitivity", "plan"),
    [
        (_opendp("make_laplace", scale=2.0), 1, "discrete_laplace(scale=2.0, sensitivity=1)"),
        (_opendp("make_gaussian", scale=2.0), 1, "discrete_gaussian(sigma=2.0, sensitivity=1)"),
        (_opendp("make_laplace", "f64", scale=2.0), 3, "laplace(scale=2.0, sensitivity=3)"),
        (_opendp("make_gaussian", "f64", vector=True, scale=1.5), 1, "gaussian(sigma=1.5, sensitivity=1)"),
        (_opendp("make_laplace_threshold", scale=1.0, threshold=3), [1, 1, 1], "threshold(noise=discrete_laplace, scale=1.0, above=3, partitions=1, contribution=1)"),
        (_opendp("make_randomized_response_bool", prob=0.75), None, "pair(p=[3/4, 1/4], q=[1/4, 3/4])"),
        (_opendp("make_randomized_response", prob="0.5", categories=["a", "b", "c"]), None, "pair(p=[1/2, 1/4, 1/4], q=[1/4, 1/2, 1/4])"),
        (_opendp("make_composition", measurements=2 * [_opendp("make_laplace", scale=2.0)]), 1, 2 * "discrete_laplace(scale=2.0, sensitivity=1)\n"),
        (_opendp("make_fix_delta", delta=1e-5, measurement=_opendp("make_zCDP_to_approxDP", measurement=_opendp("make_gaussian", "f64", scale=1.0))), 1, "gaussian(sigma=1.0, sensitivity=1)"),
        (_opendp("make_chain_mt", measurement1=_opendp("make_laplace", scale=5.0), transformation0={}), 10, "discrete_laplace(scale=5.0, sensitivity=10)"),
    ],
)
def test_measurements_of_opendp(form: Any, sensitivity: Any, plan: str) -> None:
    claim = {"what was run": form, "claimed": {"epsilon": 100, "delta": 0.5}, **({} if sensitivity is None else {"sensitivity": sensitivity})}
    found = to.opinion(claim)
    assert found.verdict == "holds"
    assert found.plan == to.parse(plan)


def test_the_threshold_of_opendp() -> None:
    """OpenDP 0.16.0 states delta = 0.0364 for this measurement; a key of one user is released with probability 0.0989."""
    form = _opendp("make_laplace_threshold", scale=1.0, threshold=3)
    assert to.opinion(form, claimed={"epsilon": 1, "delta": 0.03639726343516558}, sensitivity=[1, 1, 1]).verdict == "fails"
    assert to.opinion(form, claimed={"epsilon": 1, "delta": 0.0990}, sensitivity=[1, 1, 1]).verdict == "holds"


@pytest.mark.parametrize(
    ("form", "sensitivity", "message"),
    [
        (_opendp("make_laplace", scale=2.0), None, "sensitivity"),
        (_opendp("make_laplace"), 1, "no argument 'scale'"),
        (_opendp("make_laplace", scale=[1]), 1, "scale"),
        (_opendp("make_laplace", "f64", scale=1.0, k=-10), 1, "grid"),
        (_opendp("make_laplace", "bool", scale=1.0, k=3), 1, "k = 3|bool"),
        (_opendp("make_gaussian", vector=True, scale=1.0), 1, "vector of whole numbers"),
        (_opendp("make_user_measurement"), 1, "make_user_measurement of OpenDP is not supported"),
        (_opendp("make_laplace_threshold", scale=1.0, threshold=3), 1, "three numbers"),
        (_opendp("make_laplace_threshold", scale=1.0, threshold=3), [2, 1, 1], "a sum of 1"),
        ({"__function__": "make_laplace"}, 1, "__kwargs__"),
    ],
)
def test_measurements_of_opendp_that_are_refused(form: Any, sensitivity: Any, message: str) -> None:
    with pytest.raises(to.Error, match=message):
        to.opinion(form, claimed=CLAIMED, sensitivity=sensitivity)


def test_measurements_of_opendp_itself() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    measurement = dp.t.make_clamp(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance(), bounds=(0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=5.0)
    claimed = {"epsilon": measurement.map(1), "delta": 0}
    assert to.opinion(measurement, claimed=claimed, sensitivity=10).verdict == "holds"
    assert to.opinion(json.loads(dp.serialize(measurement)), claimed=claimed, sensitivity=10).plan == to.parse("discrete_laplace(scale=5, sensitivity=10)")


def test_yaml(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "claim.yaml"
    path.write_text("what was run: gaussian(sigma=1)\nclaimed:\n  epsilon: 5\n  delta: 1e-5\n")
    assert to.opinion(path).verdict == "holds"
    card = tmp_path / "card.md"
    card.write_text("---\nlicense: mit\nprivacy:\n  what was run: gaussian(sigma=1)\n  claimed:\n    epsilon: 4\n    delta: 1e-5\n---\n# Model\n")
    assert to.opinion(card).verdict == "fails"


ROOT = Path(__file__).parents[2]


def test_the_hook_and_the_workflow(tmp_path: Path) -> None:
    """The files that other projects use are YAML, and what they run judges a model card."""
    yaml = pytest.importorskip("yaml")
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language", "files"} <= hook.keys()
    pattern = re.compile(hook["files"])
    for name, wanted in [("MODEL_CARD.md", True), ("models/MODEL_CARD.md", True), ("a.privacy.yaml", True), ("a.privacy.json", True), ("README.md", False), ("MODEL_CARD.md.bak", False)]:
        assert bool(pattern.search(name)) is wanted, name
    workflow = yaml.safe_load((ROOT / "docs/howto/ci/privacy-claims.yml").read_text())
    (job,) = workflow["jobs"].values()
    assert workflow[True] and job["runs-on"]  # YAML reads `on` as true
    commands = [step["run"] for step in job["steps"] if "tradeoff opinion" in step.get("run", "")]
    for command in [*commands, hook["entry"] + " MODEL_CARD.md"]:
        words = command.split()
        assert words[0] == "python"
        for epsilon, code in ((4, 1), (5, 0)):
            (tmp_path / "MODEL_CARD.md").write_text(f"# Model\n\n```yaml\nwhat was run: gaussian(sigma=1)\nclaimed: {{epsilon: {epsilon}, delta: 1e-5}}\n```\n")
            assert subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=False, capture_output=True).returncode == code
    assert commands


def test_missing_file() -> None:
    assert main(["opinion", "no/such/file.json"]) == 3
    assert main([]) == 2


def test_the_manual_lists_every_event() -> None:
    """Each event of the installed dp-accounting has a row; each one that has a row is read or refused by name."""
    dp_event = pytest.importorskip("dp_accounting").dp_event
    page = (ROOT / "docs/howto/opinion.md").read_text()
    listed = set(re.findall(r"`(\w+DpEvent)`", page))
    events = {name for name, kind in vars(dp_event).items() if isinstance(kind, type) and issubclass(kind, dp_event.DpEvent) and kind is not dp_event.DpEvent}
    assert events <= listed
    from tradeoff.interchange.dp_event import _READERS, _REFUSED

    assert listed == {*_READERS, *_REFUSED}
