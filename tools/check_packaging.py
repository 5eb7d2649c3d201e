#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the files for packagers and for a public forge: one version everywhere, every name of a step or script exists, YAML can be read,
the page that is the description of the wheel has no link that leads nowhere on an index of packages.

    tools/check_packaging.py [TREE]        exit 1 and one line for each fault
    tools/check_packaging.py --self-test   proves on seeded faults that the check can fail

The files are read as YAML if PyYAML is installed (Debian: python3-yaml); the other checks need nothing.
"""

import json
import re

import checking

try:
    import yaml
except ImportError:
    yaml = None

OTHER = {"TRADEOFF_LIBS", "TRADEOFF_CFLAGS", "TRADEOFF_NATIVE"}
VERSIONED = {  # file: where its version stands
    "CITATION.cff": r"^version: (\S+)$",
    "r/DESCRIPTION": r"^Version: (\S+)$",
    "docs/index.md": r"^  version = \{(\S+)\},$",
    "packaging/conda/recipe.yaml": r'^  version: "(\S+)"$',
    "packaging/debian/changelog": r"\Atradeoff \(([^()-]+)-\w+\) ",
    "packaging/vcpkg/tradeoff/vcpkg.json": r'^  "version": "(\S+)",$',
}


def faults_in(tree):
    header = tree / "include/tradeoff/version.h"
    version = re.search(r'TRADEOFF_VERSION "([^"]+)"', header.read_text(encoding="utf-8"))[1]
    for name, pattern in VERSIONED.items():
        file = tree / name
        found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE) if file.is_file() else None
        if found is None or found[1] != version:
            yield f"{name}: states version {found[1] if found else 'nowhere'}, the headers {version}"
    try:
        json.loads((tree / "packaging/vcpkg/tradeoff/vcpkg.json").read_text(encoding="utf-8"))
    except ValueError as error:
        yield f"packaging/vcpkg/tradeoff/vcpkg.json: {error}"
    for link in re.findall(r"\]\((?!https?:|#)([^)]*)\)", (tree / "docs/python.md").read_text(encoding="utf-8")):
        yield f"docs/python.md: {link} leads nowhere in the description of the wheel; name the file"
    options = set(re.findall(r"^option\((\w+)", (tree / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)) | {"BUILD_SHARED_LIBS"}
    for file in [*sorted((tree / "packaging").rglob("*")), tree / "docs/packaging.md"]:
        if file.is_file():
            for used in sorted(set(re.findall(r"(?:-D |\w )(TRADEOFF_[A-Z]+)(?:=| |\))", file.read_text(encoding="utf-8")))):
                if used not in options and used not in OTHER:
                    yield f"{file.relative_to(tree)}: CMakeLists.txt has no option {used}"
    steps = set(re.search(r"^steps=\((.*)\)", (tree / "test").read_text(encoding="utf-8"), re.MULTILINE)[1].split())
    for file in sorted([*(tree / ".github").rglob("*.yml"), tree / "CITATION.cff", tree / "packaging/conda/recipe.yaml"]):
        name, text = file.relative_to(tree), file.read_text(encoding="utf-8")
        for used in re.findall(r"\./test ([\w -]+)$", text, re.MULTILINE) + [s for line in re.findall(r"steps: \[(\".*\")\]", text) for s in re.findall(r'"([^"]*)"', line)]:
            for step in used.split():
                if step not in steps:
                    yield f"{name}: ./test has no step {step}"
        for script in re.findall(r"(?<![\w/])(?:tools|docs|page)/\w+(?:\.\w+)?", text):
            if not (tree / script).exists():
                yield f"{name}: {script} does not exist"
        if yaml is not None:
            try:
                if not isinstance(yaml.safe_load(text), dict):
                    yield f"{name}: is not a YAML mapping"
            except yaml.YAMLError as error:
                yield f"{name}: {str(error).splitlines()[0]}"


ALLOWED = {
    "docs/python.md": "# a\n[b](#c) [d](https://example.org)\n",
    "include/tradeoff/version.h": '#define TRADEOFF_VERSION "1.2.3"\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
    "r/DESCRIPTION": "Package: tradeoff\nVersion: 1.2.3\n",
    "docs/index.md": "@software{tradeoff,\n  version = {1.2.3},\n}\n",
    "packaging/conda/recipe.yaml": 'context:\n  version: "1.2.3"\n',
    "packaging/debian/changelog": "tradeoff (1.2.3-1) UNRELEASED; urgency=medium\n",
    "packaging/vcpkg/tradeoff/vcpkg.json": '{\n  "version": "1.2.3",\n  "name": "a"\n}\n',
    "CMakeLists.txt": "option(TRADEOFF_CLI)\n",
    "test": "steps=(checks r)\n",
    "tools/build": "",
    ".github/workflows/a.yml": 'jobs:\n  one: [{run: ./x}]\n  two:\n    - run: tools/build\n    - run: ./test checks r\n  three:\n    steps: ["checks r"]\n',
}
REFUSED = {
    "an old version": {"CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.2\n"},
    "an old version of the Debian package": {"packaging/debian/changelog": "tradeoff (1.2.2-1) UNRELEASED; urgency=medium\n"},
    "no version": {"r/DESCRIPTION": "Package: tradeoff\n"},
    "a relative link of the wheel": {"docs/python.md": "[how](howto/a.md)\n"},
    "bad JSON": {"packaging/vcpkg/tradeoff/vcpkg.json": '{\n  "version": "1.2.3",\n'},
    "an unknown option": {"packaging/Containerfile": "RUN cmake -D TRADEOFF_TOOLS=ON\n"},
    "an unknown step": {".github/workflows/a.yml": "jobs:\n  - run: ./test checks windows\n"},
    "an unknown step in a matrix": {".github/workflows/a.yml": 'jobs:\n  steps: ["checks", "arm"]\n'},
    "a script that is not there": {".github/workflows/a.yml": "jobs:\n  - run: tools/deploy\n"},
}
if yaml is not None:
    REFUSED["bad YAML"] = {".github/workflows/a.yml": "jobs: [\n"}

if __name__ == "__main__":
    checking.run("packaging", faults_in, ALLOWED, REFUSED)
