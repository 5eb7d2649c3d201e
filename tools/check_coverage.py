#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of src/ no test runs: each must have a reason in docs/coverage.md.

  tools/check_coverage.py BUILD          after the tests of a build with TRADEOFF_COVERAGE have run (./test coverage)

Prints the share of lines that run, lists the others in BUILD/uncovered.txt and fails if docs/coverage.md does not list one of them. There a
line is an item `- FILE: CODE`, both in backquotes: the text of the line, not its number, which moves.
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
    text = subprocess.run(["gcovr", "--root", str(ROOT), "--filter", "src/", "--json", "-", str(build)], check=True, capture_output=True, text=True, cwd=ROOT).stdout
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
    total = run = 0
    missing, listing = [], []
    for file in sorted(lines):
        text = (ROOT / file).read_text().splitlines()
        for number, count in sorted(lines[file].items()):
            code = text[number - 1].strip() if number <= len(text) else ""
            if not re.search(r"\w", code):
                continue  # a lone brace: where the compiler puts what it cleans up
            total += 1
            run += count > 0
            if count == 0:
                listing.append(f"{file}:{number}: {code}")
                if (file, code) not in known:
                    missing.append(f"- `{file}`: `{code}`" if "`" not in code else f"- `{file}`: `` {code} ``")
    (build / "uncovered.txt").write_text("\n".join(listing) + "\n")
    print(f"{run} of {total} lines of src/ run ({100 * run / max(total, 1):.2f} %); {len(listing)} do not")
    if missing:
        print("without a reason in docs/coverage.md:\n" + "\n".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
