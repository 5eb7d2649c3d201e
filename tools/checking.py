# SPDX-License-Identifier: Apache-2.0
"""Code shared by the checks of this folder: the command line, and a temporary tree for seeded faults."""

import sys
import tempfile
from pathlib import Path


def source_files(tree, *folders):
    """C++ files below the given folders of the tree, in a fixed order."""
    for folder in folders:
        yield from (file for file in sorted((tree / folder).rglob("*")) if file.suffix in (".h", ".cpp"))


def run(subject, faults_in, allowed, refused):
    """Checks the tree given on the command line (by default the one this file is in) and exits.

    With --self-test it proves instead that the check can fail: `allowed` maps file names to contents without fault,
    and each entry of `refused` (a name and the files it changes) must add exactly one fault.
    """

    def faults_of(files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            return list(faults_in(Path(folder)))

    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        subject += " (self-test)"
        faults = [f"refused what is allowed: {fault}" for fault in faults_of(allowed)]
        faults += [f"missed: {name}" for name, change in refused.items() if len(faults_of({**allowed, **change})) != 1]
    else:
        faults = list(faults_in(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent))
    print("\n".join(faults) if faults else f"{subject}: clean")
    sys.exit(1 if faults else 0)
