#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the flow of a question in docs/architecture.md against the sources.

A line of its ```text block is `FILE: FUNCTION  remark`; it is called by the nearest line above it that is indented less.
Every file exists and holds the name of its function, and the file of the caller holds it as well.

    tools/check_architecture.py [TREE]        exit 1 and one line for each fault
    tools/check_architecture.py --self-test   proves on seeded faults that the check can fail
"""

import re

import checking

PAGE = "docs/architecture.md"
BLOCK = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"( *)([\w./]+): (\w+)(?:  +\S.*)?")


def holds(tree, file, name):
    return re.search(rf"\b{name}\b", (tree / file).read_text(encoding="utf-8")) is not None


def fault_of(tree, callers, file, name):
    """Why a line is wrong, or None. `callers` are the lines above it that are indented less."""
    if not (tree / file).is_file():
        return f"{file} does not exist"
    if not holds(tree, file, name):
        return f"{file} does not hold {name}"
    if callers and (tree / callers[-1][1]).is_file() and not holds(tree, callers[-1][1], name):
        return f"{callers[-1][1]} does not call {name}"
    return None


def faults_in(tree):
    page = tree / PAGE
    blocks = BLOCK.findall(page.read_text(encoding="utf-8")) if page.is_file() else []
    if not blocks:
        yield f"{PAGE}: no ```text block that shows the flow"
    for block in blocks:
        callers = []
        for text in block.splitlines():
            line = LINE.fullmatch(text)
            if line is None:
                yield f"{PAGE}: '{text.strip()}' is not `FILE: FUNCTION  remark`"
                continue
            indent, file, name = len(line[1]), line[2], line[3]
            while callers and callers[-1][0] >= indent:
                callers.pop()
            fault = fault_of(tree, callers, file, name)
            if fault:
                yield f"{PAGE}: {fault}"
            callers.append((indent, file))


def page(*lines):
    return {PAGE: "# Flow\n\n```text\n" + "".join(line + "\n" for line in lines) + "```\n"}


ALLOWED = {
    **page("cli/main.cpp: main", "  cli/verbs.cpp: verbs  the table", "    src/ask/delta.cpp: ask_delta", "  src/report/svg.cpp: draw"),
    "cli/main.cpp": "int main() { verbs(); draw(); }\n",
    "cli/verbs.cpp": "void verbs() { ask_delta(); }\n",
    "src/ask/delta.cpp": "void ask_delta() {}\n",
    "src/report/svg.cpp": "void draw() {}\n",
}
REFUSED = {
    "no flow": {PAGE: "# Flow\n"},
    "a file that is not there": page("cli/main.cpp: main", "  cli/verb.cpp: verbs"),
    "a function that is not there": {"src/ask/delta.cpp": "void ask_epsilon() {}\n"},
    "a caller that does not call": {"cli/verbs.cpp": "void verbs() {}\n"},
    "a caller whose call is only part of a longer name": {"cli/verbs.cpp": "void verbs() { ask_delta_at(); }\n"},
    "a line without a function": page("cli/main.cpp: main", "  cli/verbs.cpp"),
}

if __name__ == "__main__":
    checking.run("architecture", faults_in, ALLOWED, REFUSED)
