# SPDX-License-Identifier: Apache-2.0
"""The script that audits the training of a PyTorch model in one run: honest training is not refuted, three faults are."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("torch")


def _script() -> ModuleType:
    path = Path(__file__).parents[2] / "docs" / "howto" / "one_run_audit.py"
    specification = importlib.util.spec_from_file_location("one_run_audit", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(5))
def test_honest_training_is_not_refuted(seed: int) -> None:
    assert _script().main(["--seed", str(seed), "--steps", "60"]) == 0


@pytest.mark.parametrize("fault", ["no-noise", "divided-noise", "no-clipping"])
def test_faults_are_refuted(fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _script().main(["--seed", "1", "--fault", fault]) == 1
    assert "refuted" in capsys.readouterr().out
