#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every source file states its licence. What a binary links is checked by tools/check_linkage.

    tools/check_licence.py [TREE]        exit 1 and one line for each fault
    tools/check_licence.py --self-test   proves on seeded faults that the check can fail
"""

import checking

LINE = "SPDX-License-Identifier: Apache-2.0"


def faults_in(tree):
    scripts = [tree / name for name in ("run", "test", "bench", ".ci/run")] + sorted((tree / "tools").glob("*"))
    sources = checking.source_files(tree, "include", "src", "cli", "page", "tests", "benchmarks", "assurance")
    for file in [*sources, *(script for script in scripts if script.is_file())]:
        with file.open(encoding="utf-8") as lines:
            if not any(LINE in line for _, line in zip(range(3), lines)):
                yield f"{file.relative_to(tree)}: no `{LINE}` in its first three lines"


ALLOWED = {"src/numeric/root.cpp": f"// {LINE}\n", "run": f"#!/usr/bin/env bash\n# {LINE}\n"}
REFUSED = {
    "a source file without licence": {"tests/numeric/root_test.cpp": "int main() {}\n"},
    "another licence": {"src/numeric/fft.cpp": "// SPDX-License-Identifier: GPL-2.0-or-later\n"},
    "a script without licence": {"run": "#!/usr/bin/env bash\n"},
}

if __name__ == "__main__":
    checking.run("licence lines", faults_in, ALLOWED, REFUSED)
