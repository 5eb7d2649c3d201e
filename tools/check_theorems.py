#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that theorems, code and tests point at each other.

Every page docs/theory/<id>.md has the form that docs/theory/README.md describes; each file it names under Code and Tests
exists and cites `[<id>]`; and every citation of that form in a comment of the library or its tests has a page.

    tools/check_theorems.py [TREE]        exit 1 and one line for each fault
    tools/check_theorems.py --self-test   proves on seeded faults that the check can fail
"""

import re

import checking

FIELDS = ["Id", "Source", "Code", "Tests"]
SECTIONS = ["Statement", "Assumptions", "Proof", "Floating point"]

FIELD = re.compile(r"^- (\w+): *(.*)$", re.MULTILINE)
CITATION = re.compile(r"\[([a-z][a-z0-9]+(?:-[a-z0-9]+)+)\]")  # an id has at least two words, so that [lo] or [i] are none


def sections_of(text):
    """Maps each `## Heading` to what stands below it."""
    pieces = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(pieces[1::2], pieces[2::2])}


def page_faults(tree, page):
    text = page.read_text(encoding="utf-8")
    if not re.match(r"# \S", text):
        yield "the first line is not a title"
    head = text.split("\n## ")[0]
    fields = {name: value.strip() for name, value in FIELD.findall(head)}
    sections = sections_of(text)
    for name in FIELDS:
        if not fields.get(name):
            yield f"no `- {name}:`"
    for name in SECTIONS:
        if not sections.get(name):
            yield f"section `## {name}` is missing or empty"
    if not CITATION.fullmatch(f"[{page.stem}]"):
        yield "an id is at least two lower-case words joined by hyphens"
    if fields.get("Id") and fields["Id"] != page.stem:
        yield f"the id {fields['Id']} is not the file's name"
    for field in ("Code", "Tests"):
        for name in filter(None, re.split(r"[,\s]+", fields.get(field, ""))):
            file = tree / name
            if not file.is_file():
                yield f"{field} names {name}, which does not exist"
            elif f"[{page.stem}]" not in file.read_text(encoding="utf-8"):
                yield f"{name} does not cite [{page.stem}]"


def citations(tree):
    """Yields (path, line number, id) for each citation in a comment."""
    for file in checking.source_files(tree, "include", "src", "tests"):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            for identifier in CITATION.findall(line.partition("//")[2]):
                yield file.relative_to(tree), number, identifier


def faults_in(tree):
    pages = [page for page in sorted((tree / "docs/theory").glob("*.md")) if page.name != "README.md"]
    for page in pages:
        yield from (f"{page.relative_to(tree)}: {fault}" for fault in page_faults(tree, page))
    known = {page.stem for page in pages}
    for path, line, identifier in citations(tree):
        if identifier not in known:
            yield f"{path}:{line}: [{identifier}] has no page"


GOOD_PAGE = """# Gaussians add squares

- Id: gaussian-sum
- Source: Dong, Roth and Su, Corollary 3.3
- Code: src/engine/closed_form.cpp
- Tests: tests/engine/closed_form_test.cpp

## Statement
Text.

## Assumptions
Text.

## Proof
Text.

## Floating point
Text.
"""

PAGE, CODE, TEST = "docs/theory/gaussian-sum.md", "src/engine/closed_form.cpp", "tests/engine/closed_form_test.cpp"
ALLOWED = {PAGE: GOOD_PAGE, CODE: "// [gaussian-sum] weights[i - 1] of [lo]\n", TEST: "// [gaussian-sum]\n"}
REFUSED = {
    "wrong id": {PAGE: GOOD_PAGE.replace("Id: gaussian-sum", "Id: gaussian-product")},
    "no title": {PAGE: GOOD_PAGE.replace("# Gaussians add squares", "Gaussians add squares")},
    "no source": {PAGE: GOOD_PAGE.replace("- Source: Dong, Roth and Su, Corollary 3.3\n", "")},
    "empty proof": {PAGE: GOOD_PAGE.replace("## Proof\nText.", "## Proof\n")},
    "no floating point": {PAGE: GOOD_PAGE.replace("## Floating point\nText.\n", "")},
    "code that is gone": {PAGE: GOOD_PAGE.replace("closed_form.cpp", "gone.cpp")},
    "code that does not cite": {CODE: "int main() {}\n"},
    "test that does not cite": {TEST: "\n"},
    "citation without page": {"src/gdp/measure.cpp": "int x;  // [mirror-law]\n"},
}

if __name__ == "__main__":
    checking.run("theorems", faults_in, ALLOWED, REFUSED)
