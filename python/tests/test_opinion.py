# SPDX-License-Identifier: Apache-2.0
"""Second opinions on what others write."""

import json
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
    assert (str(path) in capsys.readouterr().out) is True


def test_yaml(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "claim.yaml"
    path.write_text("what was run: gaussian(sigma=1)\nclaimed:\n  epsilon: 5\n  delta: 1e-5\n")
    assert to.opinion(path).verdict == "holds"
    card = tmp_path / "card.md"
    card.write_text("---\nlicense: mit\nprivacy:\n  what was run: gaussian(sigma=1)\n  claimed:\n    epsilon: 4\n    delta: 1e-5\n---\n# Model\n")
    assert to.opinion(card).verdict == "fails"


def test_missing_file() -> None:
    assert main(["opinion", "no/such/file.json"]) == 3
    assert main([]) == 2
