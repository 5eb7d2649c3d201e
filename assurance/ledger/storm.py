#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills and races through the command line:  assurance/ledger/storm.py TRADEOFF [--seconds S] [--clients N] [--seed X] [--restart]

Many clients start `tradeoff ledger spend`, `reserve`, `use` and `tradeoff release --ledger` on the same accounts and kill a part of them at
a random moment. Then the log is judged by check_export.py, which shares no code with tradeoff, and every receipt is looked for in it. On
SQLite, and on PostgreSQL if TRADEOFF_TEST_POSTGRESQL names a server; with --restart that server is restarted and crashed in the middle.
Exit code 1 and one line for each broken promise.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import check_export

SIGMAS = {5: 40_000_000_000, 10: 10_000_000_000}  # noise, and what it costs in units of 1e-12


class Storm:
    def __init__(self, tradeoff, url, seed):
        self.tradeoff, self.url, self.random = tradeoff, url, random.Random(seed)
        self.lock, self.violations = threading.Lock(), []
        self.receipts = []  # of spends
        self.drawn = collections.Counter()  # values that left, by key
        self.counts = collections.Counter()

    def blame(self, text):
        with self.lock:
            self.violations.append(text)

    def run(self, words, kill_after=None, data=None):
        """Runs tradeoff; kills it after some seconds. Returns (exit code, output)."""
        command = [self.tradeoff, *words]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            timer = threading.Timer(kill_after, process.send_signal, [signal.SIGKILL]) if kill_after is not None else None
            if timer:
                timer.start()
            try:
                out, _ = process.communicate(data)
            finally:
                if timer:
                    timer.cancel()
        return process.returncode, out.decode()

    def ledger(self, *words, **more):
        return self.run(["ledger", *words, "--store", self.url], **more)

    def create(self):
        for i in range(10):
            code, out = self.ledger("create", f"account{i}", "--mu", "1.7320508075688772935" if i else "1000")
            if code != 0:
                self.blame(f"create: {out}")

    def client(self, number, until):
        chance = random.Random(f"{number} {self.random.random()}")
        step = 0
        while time.monotonic() < until:
            step += 1
            key = f"shared{chance.randrange(60)}" if chance.random() < 0.3 else f"own{number}.{step}"
            accounts = ",".join(chance.sample([f"account{i}" for i in range(10)], chance.choice([1, 1, 2, 3])))
            plan = f"gaussian(sigma={chance.choice(list(SIGMAS))})"
            kill_after = chance.uniform(0, 0.15) if chance.random() < 0.4 else None
            kind = chance.random()
            if kind < 0.6:
                code, out = self.ledger("spend", accounts, "--key", key, plan, "--json", kill_after=kill_after)
                if out.endswith("}\n") and code in (0, -9) and "error" not in out:
                    with self.lock:
                        self.receipts.append(json.loads(out))
            else:
                account = accounts.split(",")[0]
                words = ["release", "--ledger", self.url, "--account", account, "--key", "r" + key, "--quiet", plan]
                code, out = self.run(words, kill_after=kill_after, data=b"1000000\n")
                if out:
                    with self.lock:
                        self.drawn[account + " r" + key] += 1
            with self.lock:
                self.counts["killed" if code == -9 else {0: "done", 1: "refused", 3: "in conflict or in error"}.get(code, f"exit {code}")] += 1
            if code not in (-9, 0, 1, 3):
                self.blame(f"exit code {code}: {out}")

    def judge(self):
        code, out = self.ledger("verify", "--json")
        if code != 0:
            self.blame(f"verify: {out}")
        _, export = self.ledger("export")
        lines = export.splitlines()
        count, head, faults, accounts = check_export.check(lines)
        self.violations += faults
        self.counts["entries"] = count
        bodies = [(json.loads(line)["hash"], json.loads(json.loads(line)["body"])) for line in lines]
        for receipt in self.receipts:
            at = bodies[receipt["sequence"] - 1] if receipt["sequence"] <= count else (None, None)
            if at[0] != receipt["head"] or at[1]["key"] != receipt["key"]:
                self.blame(f"key {receipt['key']} was acknowledged as entry {receipt['sequence']} and is lost")
        for key, times in self.drawn.items():
            if times > 1:
                self.blame(f"{key} drew {times} times")
            if not any(body["kind"] == "reserve" and body["key"] == key.split()[1] for _, body in bodies):
                self.blame(f"{key} drew without a charge")
        for line in json.loads(self.ledger("status", "--json")[1])["accounts"]:
            units = round(float(line["spent"]) * 1e12)
            if accounts[line["account"]]["spent"] != units:
                self.blame(f"{line['account']}: the status is not the sum of the log")
        for _, body in [one for one in bodies if one[1]["kind"] == "spend"][:5]:  # a repetition is the same receipt, another plan a conflict
            names = ",".join(charge["account"] for charge in body["charges"])
            again = self.ledger("spend", names, "--key", body["key"], body["plan"], "--json")
            if again[0] != 0 or not json.loads(again[1])["replayed"] or json.loads(again[1])["sequence"] != body["sequence"]:
                self.blame(f"key {body['key']} is not replayed: {again}")
            if self.ledger("spend", names, "--key", body["key"], "gaussian(sigma=7)", "--json")[0] != 3:
                self.blame(f"key {body['key']} is not in conflict with another plan")
        if self.ledger("verify", "--expect-head", head)[0] != 0 or self.ledger("verify", "--expect-head", "1" * 64)[0] != 1:
            self.blame("verify --expect-head is wrong")
        if not self.receipts:
            self.blame("no spend was acknowledged")


def restart(until, failures):
    control, data = os.environ["TRADEOFF_TEST_POSTGRESQL_CONTROL"].split(), os.environ["TRADEOFF_TEST_POSTGRESQL_DATA"]
    for mode in ("fast", "immediate"):
        time.sleep(max(0.5, (until - time.monotonic()) / 3))
        if subprocess.run([*control, f"--pgdata={data}", f"--mode={mode}", "--wait", "restart"], cwd="/", stdout=subprocess.DEVNULL).returncode:
            failures.append(mode)


def run_on(name, url, options):
    storm = Storm(options.tradeoff, url, options.seed)
    storm.create()
    until = time.monotonic() + options.seconds
    threads = [threading.Thread(target=storm.client, args=(i, until)) for i in range(options.clients)]
    failures = []
    if options.restart and name == "postgresql":
        threads.append(threading.Thread(target=restart, args=(until, failures)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    storm.violations += [f"the server did not restart ({mode})" for mode in failures]
    storm.judge()
    print(f"{name}: {len(storm.receipts)} receipts, {sum(storm.drawn.values())} releases, "
          + ", ".join(f"{count} {what}" for what, count in sorted(storm.counts.items())) + f"; {len(storm.violations)} violations")
    for violation in storm.violations[:50]:
        print("  " + violation)
    return not storm.violations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tradeoff")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--restart", action="store_true")
    options = parser.parse_args()
    options.tradeoff = os.path.abspath(options.tradeoff)
    folder = tempfile.mkdtemp()
    good = run_on("sqlite", f"sqlite:{folder}/budget.db", options)
    shutil.rmtree(folder)
    server = os.environ.get("TRADEOFF_TEST_POSTGRESQL")
    if server:
        schema = f"storm{os.getpid()}"
        subprocess.run(["psql", "-q", "-c", f"CREATE SCHEMA {schema}", server], check=True)
        good = run_on("postgresql", f"{server}?options=-csearch_path%3D{schema}", options) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
