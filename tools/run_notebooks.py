#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks of the documentation and stores their outputs, which the site shows. Pictures are stored as SVG.

    tools/run_notebooks.py      needs the package, matplotlib, nbclient, nbformat and ipykernel
"""

import os
from pathlib import Path

import nbclient
import nbformat

FIRST = "%config InlineBackend.figure_formats = ['svg']\nimport matplotlib; matplotlib.rcParams['svg.hashsalt'] = 'tradeoff'"


def run(path):
    notebook = nbformat.read(path, as_version=4)
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(FIRST))
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    del notebook.cells[0]
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of the run
        if cell.cell_type != "code":
            continue
        cell.execution_count = None
        for output in cell.outputs:
            output.pop("execution_count", None)
            if output.output_type == "execute_result":
                output.execution_count = None
            for kind in ("image/png", "text/latex"):
                output.get("data", {}).pop(kind, None)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for path in sorted(Path(__file__).resolve().parents[1].glob("docs/notebooks/*.ipynb")):
        run(path)
        print(path.name)
