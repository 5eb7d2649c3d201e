#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/peers_answers.md: answers of other libraries that do not hold, each computed here and now, beside the certified interval.

    python tools/make_peers_answers.py            needs the package tradeoff and dp-accounting; writes the page
    python tools/make_peers_answers.py --check    exit 1 if the page differs
"""

import sys
from importlib.metadata import version
from pathlib import Path

import tradeoff as to
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant

REPLACE = privacy_accountant.NeighboringRelation.REPLACE_ONE
PAGE = Path(__file__).resolve().parent.parent / "docs" / "peers_answers.md"


def response(count: int) -> dp_event.DpEvent:
    return dp_event.SelfComposedDpEvent(dp_event.RandomizedResponseDpEvent(0.5, 2), count)


# What it is, the accountant, the event, its neighbours as the accountant and as we name them, delta.
CASES = [
    ("100 answers by randomised response, PLD", pld_privacy_accountant.PLDAccountant, response(100), REPLACE, "replace-one", 1e-5),
    ("100 answers by randomised response, PLD", pld_privacy_accountant.PLDAccountant, response(100), REPLACE, "replace-one", 1e-6),
    ("10 answers by randomised response, PLD", pld_privacy_accountant.PLDAccountant, response(10), REPLACE, "replace-one", 1e-5),
    ("100 answers by randomised response, RDP", rdp_privacy_accountant.RdpAccountant, response(100), REPLACE, "replace-one", 1e-5),
]


def rows() -> list[str]:
    found = []
    for name, accountant, event, relation, neighbours, delta in CASES:
        theirs = accountant(neighboring_relation=relation).compose(event).get_epsilon(delta)
        ours = to.opinion(event, claimed={"epsilon": theirs, "delta": delta}, neighbours=neighbours)
        if ours.verdict == "fails":
            found.append(f"| {name} | {theirs:.6g} | {ours.certified.lo:.8g} to {ours.certified.hi:.8g} | `{event}`, {neighbours} neighbours, delta = {delta} |")
    return found


def main() -> int:
    text = "\n".join(
        [
            "# Answers that fail",
            "",
            f"Epsilons of dp-accounting {version('dp-accounting')} that are below the certified lower end: the claim `(epsilon, delta)` does not hold. `tools/make_peers_answers.py` computes",
            "both sides and writes this page; only rows whose verdict is `fails` are listed.",
            "",
            "| what was run | their epsilon | certified epsilon | reproduce |",
            "|---|---|---|---|",
            *rows(),
            "",
        ]
    )
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
