#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of src/ no test runs.

  tools/check_coverage.py BUILD          after the tests of a build with TRADEOFF_COVERAGE have run (./test coverage)

Prints the share of lines that run, room by room, and lists the others in BUILD/uncovered.txt, those without a reason in docs/coverage.md
marked by `?`. There a line is an item `- FILE: CODE`, both in backquotes: the text of the line, not its number, which moves.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ITEM = re.compile(r"^- `(src/[^`]+)`: `` ?(.*?) ?``$|^- `(src/[^`]+)`: `([^`]*)`$")


def counted(build):
    """{file: {line: count}} of src/, summed over all test programs."""
    text = subprocess.run(["gcovr", "--root", str(ROOT), "--filter", "src/", "--gcov-ignore-parse-errors", "--json", "-", str(build)], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    lines = {}
    for file in json.loads(text)["files"]:
        counts = lines.setdefault(file["file"], {})
        for line in file["lines"]:
            if not line.get("gcovr/noncode", False):
                counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    return lines


def reasons():
    found = set()
    for line in (ROOT / "docs" / "coverage.md").read_text().splitlines():
        if match := ITEM.match(line):
            found.add((match[1] or match[3], (match[2] or match[4] or "").strip()))
    return found


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lines, known = counted(build), reasons()
    rooms, listing, unexplained = {}, [], 0
    for file in sorted(lines):
        text = (ROOT / file).read_text().splitlines()
        room = rooms.setdefault(file.split("/")[1], [0, 0])
        for number, count in sorted(lines[file].items()):
            code = text[number - 1].strip() if number <= len(text) else ""
            if not re.search(r"\w", code):
                continue  # a lone brace: where the compiler puts what it cleans up
            room[0] += count > 0
            room[1] += 1
            if count == 0:
                explained = (file, code) in known
                unexplained += not explained
                listing.append(f"{' ' if explained else '?'} {file}:{number}: {code}")
    (build / "uncovered.txt").write_text("\n".join(listing) + "\n")
    rooms["all"] = [sum(room[i] for room in rooms.values()) for i in (0, 1)]
    for name, (run, total) in rooms.items():
        print(f"{name:10} {run:6} of {total:6} lines run  {100 * run / max(total, 1):6.2f} %")
    print(f"{len(listing)} lines do not, {unexplained} of them without a reason: see {build}/uncovered.txt")
    return 0 if lines else 1  # nothing counted: the tests did not run


if __name__ == "__main__":
    sys.exit(main())
