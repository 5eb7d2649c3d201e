#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that README.md and docs/ show, and compares what they print with what the page says.

In a code block a line `$ tradeoff ...` or `$ ./run ...` is run; the lines below it, up to the next `$` or the end, are its output. A line
`...` stands for any lines. Times vary, so `12 ms` is equal to any number of milliseconds. A line that starts with `tradeoff ` or `./run `
is run too and must succeed; its output is not shown. Commands of one page share a directory of their own.

    tools/check_documents.py COMMAND [TREE]      exit 1 and one line for each fault; COMMAND is the built command line
    tools/check_documents.py --update COMMAND    writes what the commands print into the pages
    tools/check_documents.py --self-test         proves on seeded faults that the check can fail
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = {"docs/theory", "docs/adr", "docs/training"}  # theorems and decisions are no manuals; training takes minutes and has tests of its own
TIME = re.compile(r"\b[0-9.]+ ms\b")


def pages_of(tree):
    yield from (page for page in [tree / "README.md"] if page.is_file())
    for page in sorted((tree / "docs").rglob("*.md")):
        if not any(str(page.relative_to(tree)).startswith(folder + "/") for folder in SKIPPED):
            yield page


class Command:
    """A command, where it stands, and the lines of its output in the page (none if it is not shown)."""

    def __init__(self, text, line, indent, shown):
        self.text, self.line, self.indent, self.shown = text, line, indent, shown
        self.output = []


def commands_of(lines):
    fenced, current, found = False, None, []
    for number, line in enumerate(lines):
        if line.startswith("```"):
            fenced, current = not fenced, None
            continue
        indent = "" if fenced else "    "
        if not fenced and not line.startswith("    "):
            current = None
            continue
        body = line[len(indent) :]
        if body.startswith("$ "):
            current = Command(body[2:], number, indent, True)
            found.append(current)
        elif re.match(r"(\./run|tradeoff)( |$)", body) and (current is None or not current.shown):
            found.append(Command(re.sub(r" +# .*", "", body), number, indent, False))
        elif current is not None:
            current.output.append(body)
    return found


def run(text, command, folder):
    tools = Path(folder, ".tools")
    tools.mkdir(exist_ok=True)
    for name in ("tradeoff", "run"):
        if not (tools / name).exists():
            (tools / name).symlink_to(Path(command).resolve())
    script = re.sub(r"(^|[|;&(] *)\./run\b", r"\1run", text)
    script = "run tour" if script.strip() == "run" else script  # as the script ./run does
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def agree(wanted, found):
    """Whether the output is the one of the page, `...` being any lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(TIME.sub("* ms", line)) + r"\n" for line in wanted)
    return re.fullmatch(pattern, "".join(TIME.sub("* ms", line) + "\n" for line in found)) is not None


def trimmed(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return [line.rstrip() for line in lines]


def page_faults(page, name, command):
    lines = page.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        for one in commands_of(lines):
            code, output = run(one.text, command, folder)
            found = trimmed(output.splitlines())
            if not one.shown and code != 0:
                yield f"{name}:{one.line + 1}: exit code {code}: {one.text}\n{output}"
            elif one.shown and not agree(trimmed(one.output), found):
                yield f"{name}:{one.line + 1}: {one.text}\n  prints\n" + "\n".join("    " + line for line in found)


def update(page, command):
    lines = page.read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        commands = commands_of(lines)
        found = [trimmed(run(one.text, command, folder)[1].splitlines()) for one in commands]
    for one, output in reversed(list(zip(commands, found))):
        if one.shown and not agree(trimmed(one.output), output):
            rest = len(trimmed(one.output))
            lines[one.line + 1 : one.line + 1 + rest] = [(one.indent + line).rstrip() for line in output]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def faults_in(tree, command):
    for page in pages_of(tree):
        yield from page_faults(page, str(page.relative_to(tree)), command)


def self_test():
    good = "# Page\n\n```console\n$ tradeoff one\nfirst 3.5 ms\nlast\n$ tradeoff one | tail -n 1\nlast\n```\n\n    ./run two   # a remark\n"
    cases = {
        "good": (good, 0),
        "any lines": (good.replace("first 3.5 ms\nlast\n$", "...\nlast\n$"), 0),
        "another time": (good.replace("3.5 ms", "70 ms"), 0),
        "wrong output": (good.replace("first", "fist"), 1),
        "missing line": (good.replace("first 3.5 ms\n", ""), 1),
        "line too many": (good.replace("last\n```", "last\nmore\n```"), 1),
        "command that fails": (good.replace("./run two", "./run none"), 1),
    }
    with tempfile.TemporaryDirectory() as folder:
        command = Path(folder, "command")
        command.write_text("#!/bin/sh\ncase $1 in one) echo first 12 ms; echo last ;; two) ;; *) exit 3 ;; esac\n", encoding="utf-8")
        command.chmod(0o755)
        for name, (text, wanted) in cases.items():
            Path(folder, "README.md").write_text(text, encoding="utf-8")
            faults = list(faults_in(Path(folder), command))
            if len(faults) != wanted:
                yield f"{name}: {len(faults)} faults instead of {wanted}: {faults}"


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        faults = list(self_test())
    elif len(arguments) == 2 and arguments[0] == "--update":
        faults = []
        for document in pages_of(ROOT):
            update(document, arguments[1])
    elif 1 <= len(arguments) <= 2 and not arguments[0].startswith("-"):
        faults = list(faults_in(Path(arguments[1]) if len(arguments) == 2 else ROOT, arguments[0]))
    else:
        sys.exit(__doc__)
    print("\n".join(faults) if faults else "documents: clean")
    sys.exit(1 if faults else 0)
