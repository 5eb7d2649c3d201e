# SPDX-License-Identifier: Apache-2.0
"""The package as installed: quick to import, typed, complete."""

import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import Any

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
