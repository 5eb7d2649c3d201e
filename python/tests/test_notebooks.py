# SPDX-License-Identifier: Apache-2.0
"""The notebooks of the documentation run from start to end."""

from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NOTEBOOKS = sorted(Path(__file__).resolve().parents[2].glob("docs/notebooks/*.ipynb"))


def told(cell: Any) -> list[str]:
    """What a cell printed or returned as text, without the descriptions of pictures."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return [text for text in texts if text and not text.startswith(("<Axes", "<Figure"))]


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.read(path, as_version=4)
    stored = [told(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert any(stored), "tools/run_notebooks.py stores the outputs, which the site shows"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert [told(cell) for cell in notebook.cells if cell.cell_type == "code"] == stored, "run tools/run_notebooks.py"
