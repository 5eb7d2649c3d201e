#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of representative questions and compares them with what was recorded: additional work is detected at once.

    tools/check_instructions.py TRADEOFF             exit 1 and one line for each question that does more work than recorded
    tools/check_instructions.py --record TRADEOFF    writes what is counted now
    tools/check_instructions.py --self-test          proves that the comparison can fail

Counts are those of callgrind, start-up included. They do not depend on load; they do a little on the C library, hence the tolerance.
"""

import json
import pathlib
import re
import subprocess
import sys

RECORD = pathlib.Path(__file__).parent.parent / "benchmarks" / "instructions.json"
TOLERANCE = 0.15

TRAINING = "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)"
QUESTIONS = {
    "start-up": ["version"],
    "Gaussian delta": ["delta", "--epsilon", "1", "gaussian(sigma=1)"],
    "Gaussian calibration": ["calibrate", "--epsilon", "1", "--delta", "1e-5", "gaussian(sigma=?)"],
    "training epsilon": ["epsilon", "--delta", "1e-5", TRAINING],
    "training epsilon, tiny delta": ["epsilon", "--delta", "1e-300", TRAINING],
    "training beta": ["beta", "--alpha", "0.01", TRAINING],
    "training, a curve of 200 points": ["curve", "--points", "200", "--format", "csv", TRAINING],
    "training calibration": ["calibrate", "--epsilon", "2", "--delta", "1e-5", "gaussian(sigma=?) | poisson(rate=0.01) | repeat(1000)"],
    "few steps": ["epsilon", "--delta", "1e-8", "gaussian(sigma=1) | poisson(rate=0.01) | repeat(10)"],
    "exact composition": ["epsilon", "--delta", "1e-4", "dp(0.0123) | repeat(1000); dp(0.0501, 1e-8) | repeat(1000)"],
}


def count(command):
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], capture_output=True, text=True, check=False
    )
    found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        sys.exit(f"instructions: {' '.join(command)} failed:\n{run.stderr[-2000:]}")
    return int(found[1])


def faults_in(counted, recorded):
    for name, now in counted.items():
        if name not in recorded:
            yield f"{name}: not recorded; run tools/check_instructions.py --record"
        elif now > recorded[name] * (1 + TOLERANCE):
            yield f"{name}: {now:,} instructions, {now / recorded[name] - 1:+.0%} of the {recorded[name]:,} recorded"


def self_test():
    recorded = {"question": 1000}
    assert not list(faults_in({"question": 1140}, recorded)), "within the tolerance"
    assert list(faults_in({"question": 1160}, recorded)), "more work must be refused"
    assert list(faults_in({"another": 1}, recorded)), "a question without a record must be refused"
    print("instructions: the comparison can fail")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    record = arguments[:1] == ["--record"]
    counted = {name: count([arguments[-1], *question]) for name, question in QUESTIONS.items()}
    if record:
        RECORD.write_text(json.dumps(counted, indent=2) + "\n")
        return print(f"instructions: {len(counted)} questions recorded")
    recorded = json.loads(RECORD.read_text())
    faults = list(faults_in(counted, recorded))
    for name, now in counted.items():
        print(f"{name}: {now:,} ({now / recorded.get(name, now) - 1:+.1%})")
    if faults:
        sys.exit("\n".join(f"instructions: {fault}" for fault in faults))


if __name__ == "__main__":
    main(sys.argv[1:])
