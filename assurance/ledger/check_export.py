#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the log of a ledger without tradeoff:  tradeoff ledger export --store URL | assurance/ledger/check_export.py [HEAD]

Recomputes every hash, follows the chain, and adds up every account in whole units: at no entry may an account have spent more than the cap
that it had. With the head of a receipt: the log must contain it. Exit code 1 and one line for each fault.
"""

import hashlib
import json
import sys


def check(lines, expected=None):
    """Returns (entries, head, faults, accounts); accounts maps a name to its cap and what it has spent."""
    head, number, faults, accounts, keys, tokens, found = "0" * 64, 0, [], {}, set(), {}, expected is None
    for line in lines:
        entry = json.loads(line)
        body = json.loads(entry["body"])
        number += 1
        if hashlib.sha256(entry["body"].encode()).hexdigest() != entry["hash"]:
            faults.append(f"entry {number}: the hash is not that of the body")
        if body["previous"] != head or body["sequence"] != number:
            faults.append(f"entry {number} does not continue the one before")
        head = entry["hash"]
        found = found or head == expected
        if body["kind"] in ("create", "cap"):
            terms = json.loads(body["detail"])
            account = accounts.setdefault(terms["account"], {"spent": 0, "slack_spent": 0})
            account.update(cap=int(terms["cap"]), slack_cap=int(terms["slack_cap"]))
        if body["kind"] == "reserve":
            tokens[number] = "open"
        if body["kind"] == "use" and tokens.pop(int(body["detail"]), None) is None:
            faults.append(f"entry {number} uses a token that is not open")
        for charge in body["charges"]:
            account = accounts[charge["account"]]
            account["spent"] += int(charge["amount"])
            account["slack_spent"] += int(charge["slack"])
            if account["spent"] > account["cap"] or account["slack_spent"] > account["slack_cap"]:
                faults.append(f"entry {number} overspends {charge['account']}")
            if (charge["account"], body["key"]) in keys:
                faults.append(f"entry {number} charges key {body['key']} again")
            keys.add((charge["account"], body["key"]))
    if not found:
        faults.append(f"the log does not contain {expected}")
    return number, head, faults, accounts


if __name__ == "__main__":
    count, last, wrong, _ = check(sys.stdin, sys.argv[1] if len(sys.argv) > 1 else None)
    print("\n".join(wrong) or f"{count} entries, head {last}")
    sys.exit(1 if wrong else 0)
