# SPDX-License-Identifier: Apache-2.0
"""The package as installed: quick to import, typed, complete."""

import pickle
import re
import subprocess
import sys
import threading
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import pytest

import tradeoff as to


def best_time(statement: str) -> float:
    program = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"  # not what others on the machine take
    return min(float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout) for _ in range(7))


def test_import_is_quick() -> None:
    assert best_time("import tradeoff") <= 0.05


def test_import_leaves_numpy_alone() -> None:
    program = "import sys, tradeoff; tradeoff.gaussian(1).curve().epsilon(1e-5); print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_types_are_shipped() -> None:
    assert resources.files(to).joinpath("py.typed").is_file()
    assert resources.files(to).joinpath("_core.pyi").is_file()


def test_version_and_names() -> None:
    assert to.__version__ == metadata.version("tradeoff")
    assert all(hasattr(to, name) for name in to.__all__)
    assert all(getattr(to, name).__doc__ for name in to.__all__)


def test_the_manual_runs() -> None:
    manual = Path(__file__).parents[2].joinpath("docs", "python.md").read_text(encoding="utf-8")
    ours, others = manual.split("## Coming from another accountant")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", ours, re.DOTALL):
        exec(block, names)
    found = names["plan"].curve().epsilon(delta=1e-5)
    assert 2.38168972614165 in found and found.width < 1e-12
    assert "from_dp_event" in others


def test_named_tuples_document_their_fields() -> None:
    tuples = [value for value in vars(to).values() if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")]
    assert len(tuples) >= 30
    for one in tuples:
        if one is not to.Interval:
            told = re.findall(r"^ +(\w+): ", (one.__doc__ or "").split("Attributes:")[1], re.MULTILINE)
            assert told == list(one._fields), one


def test_tutorials_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    pages = Path(__file__).parents[2].joinpath("docs", "tutorials")
    for name in ("opacus.md", "curves.md"):
        names: dict[str, Any] = {}
        blocks = re.findall(r"```python\n(.*?)```", pages.joinpath(name).read_text(encoding="utf-8"), re.DOTALL)
        assert blocks, name
        for block in blocks:
            exec(block, names)
    assert (tmp_path / "profiles.pdf").read_bytes().startswith(b"%PDF")


def test_records_are_rows_of_plain_values() -> None:
    curve = to.gaussian(1).poisson(0.01).repeat(100).curve()
    samplers = to.compare_sampling(noise_multiplier=1, batch=10, examples=100, epochs=1, delta=1e-5)
    for answers in (curve.compare(1e-5), curve.risk(), curve, curve.posterior(0.5), samplers, [curve.delta(1), curve.delta(2)]):
        rows = to.records(answers)
        assert rows
        for row in rows:
            assert all(value is None or isinstance(value, (str, int, float)) for value in row.values()), row
    assert to.records(curve.epsilon(1e-5))[0]["value"] == curve.epsilon(1e-5).hi
    refused = [row for row in to.records(curve.compare(1e-5)) if row["kind"] == "refused"]
    assert refused and all(row["epsilon"] is None for row in refused)  # a refusal claims nothing
    with pytest.raises(to.DomainError):
        to.records("text")
    pandas = pytest.importorskip("pandas")
    assert list(pandas.DataFrame(to.records(curve))) == ["alpha", "beta", "beta_lo", "beta_hi"]


def test_slow_calls_show_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    from tradeoff import _progress

    shown: list[tuple[str, int | None, int]] = []

    class Bar:
        n = 0

        def __init__(self, what: str, total: int | None) -> None:
            self.what, self.total = what, total

        def refresh(self) -> None: ...

        def close(self) -> None:
            shown.append((self.what, self.total, self.n))

    monkeypatch.setattr(_progress, "PATIENCE", 0.01)
    monkeypatch.setattr(_progress, "_bar", Bar)
    with _progress.Progress("slow", 3) as progress:
        for _ in range(3):
            threading.Event().wait(0.02)
            progress.done += 1
    assert shown == [("slow", 3, 3)]
    monkeypatch.setattr(_progress, "PATIENCE", 60.0)
    with _progress.Progress("quick"):
        pass
    assert len(shown) == 1


def test_training_runs_say_what_a_paper_needs() -> None:
    run = to.sgd(noise_multiplier=1.1, sample_rate=0.004, examples=60000, epochs=60)
    assert run == to.sgd(noise_multiplier=1.1, batch=240, examples=60000, steps=15000)
    assert pickle.loads(pickle.dumps(run)).sentence("1e-5") == run.sentence("1e-5")
    claim = run.curve().epsilon("1e-5")
    assert f"ε = {claim:.6g} and δ = 1e-5" in run.sentence("1e-5")
    for words in ("T = 15000 steps", "q = 240/60000", "σ = 1.1", "add-remove neighbours", f"tradeoff {to.__version__}", run.text):
        assert words in run.sentence("1e-5")
    assert to.sgd(noise_multiplier=2, batch=10, examples=100, epochs=1, sampling="shuffled").curve().neighbours == "zero-out"
    for wrong in ({}, {"batch": 240, "sample_rate": 0.004}, {"sample_rate": 1.5}, {"sample_rate": 0}, {"sample_rate": "x"}):
        with pytest.raises(to.DomainError):
            to.sgd(noise_multiplier=1.1, examples=60000, epochs=60, **wrong)  # type: ignore[arg-type]
    with pytest.raises(to.DomainError, match="delta = 2 is not allowed"):
        run.sentence(2)


def test_statements_hold_published_values() -> None:
    curve = to.analyze("discrete_laplace(scale=2)", neighbours="add-remove")
    text = to.report(curve, values={"North": 12, "South": 3.5}, disjoint=True, date="2026-11-17", contact="privacy@agency.example")
    assert "| North | 12 | ± 6 |\n| South | 3.5 | ± 6 |" in text
    assert "Published: 2026-11-17. Contact: privacy@agency.example." in text
    with pytest.raises(to.DomainError, match="2 published values, but the plan releases 1"):
        to.report(curve, values={"North": 12, "South": 3})


def test_sgd_takes_what_people_have() -> None:
    by_size = to.sgd(noise_multiplier=1.1, batch_size=256, examples=60000, epochs=60)
    assert by_size == to.sgd(noise_multiplier=1.1, batch=256, examples=60000, epochs=60)
    opacus = to.sgd(noise_multiplier=1.1, sample_rate=1 / 235, steps=14100)  # one over the length of the data loader
    assert opacus.text == "gaussian(sigma=1.1) | poisson(rate=1/235) | repeat(14100)"
    assert opacus == to.sgd(noise_multiplier=1.1, sample_rate=1 / 235, examples=60000, epochs=60)
    assert "rate q = 1/235" in opacus.sentence(delta=1e-5)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"batch": 256}, "batch needs examples"),
        ({"batch": 256, "batch_size": 256, "examples": 60000}, "the same"),
        ({"batch": 256, "sample_rate": 0.1, "examples": 60000}, "either batch"),
        ({"sample_rate": 1.5}, "above 0 and at most 1"),
        ({"sample_rate": "x"}, "sample_rate"),
        ({"sample_rate": 1 / 235, "sampling": "fixed"}, "examples is missing"),
        ({"sample_rate": 1 / 235, "examples": 60000, "at_most": 300}, "whole number"),
    ]
    for arguments, told in wrong:
        with pytest.raises(to.DomainError, match=told):
            to.sgd(noise_multiplier=1.1, steps=10, **arguments)


def test_questions_to_the_wrong_object_say_whom_to_ask() -> None:
    with pytest.raises(AttributeError, match=r"plan\.curve\(\)\.epsilon"):
        to.gaussian(1).epsilon(1e-5)  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="a Plan has no nonsense"):
        to.gaussian(1).nonsense  # type: ignore[attr-defined]
    with pytest.raises(to.DomainError, match=r"tradeoff\.analyze"):
        to.curve("gaussian(1)")
    with pytest.raises(to.DomainError, match="3 is no plan"):
        to.Plan(3)  # type: ignore[arg-type]
    assert "TYPE_CHECKING" not in dir(to) and "sgd" in dir(to)


def test_a_bound_just_beyond_a_short_decimal_is_not_rounded_away() -> None:
    assert "<b>0.9900000001</b>" in to.gaussian(2).curve().posterior(0.01).accuracy._repr_html_()
    assert "<b>0.5</b>" in to.laplace(2).curve().epsilon(0)._repr_html_()
