# SPDX-License-Identifier: Apache-2.0
"""Every workload for every accountant that can do it, interleaved in one run; called by ./bench.

Times are CPU seconds, medians of repetitions, each from a cold start in a process that has imported what it needs. A peer's error is what
it reports less the truth; one on the unsafe side is called by its name.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import select
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

from adapters import PEERS
from workloads import WORKLOADS, Workload, distinct, truths

OURS = "tradeoff"
HERE = pathlib.Path(__file__).parent
MEMORY = 8 << 30
MOST_REPETITIONS, QUICK = 25, 0.1  # what is done in less CPU seconds than this is repeated more often
TOLERANCE = 2e-7  # of the truths: an error below it is none


class Worker:
    """A process that answers one question as often as it is asked."""

    def __init__(self, peer: str, workload: Workload) -> None:
        arguments = json.dumps(workload.arguments)
        command = [sys.executable, str(HERE / "worker.py"), peer, workload.method, arguments]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, preexec_fn=limit_memory
        )
        self.buffer = ""

    def read(self, patience: float) -> dict[str, Any]:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        while "\n" not in self.buffer:
            if not select.select([descriptor], [], [], patience)[0]:
                self.process.kill()
                return {"failure": f"no answer within {patience:.0f} s"}
            data = os.read(descriptor, 1 << 16)
            if not data:
                return {"failure": "the process died (memory is limited to 8 GB)"}
            self.buffer += data.decode()
        line, self.buffer = self.buffer.split("\n", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, patience: float) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"failure": "the process died"}
        return self.read(patience)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@dataclass
class Result:
    """What one accountant did with one workload."""

    peer: str
    times: list[float] = field(default_factory=list)
    startup: float = math.nan
    memory: float = 0
    value: Any = None
    failure: str = ""
    error: float | None = None
    width: float | None = None
    wrong: bool = False

    @property
    def cpu(self) -> float:
        return statistics.median(self.times) if self.times else math.inf


def measure(workload: Workload, peers: list[str], repetitions: int, patience: float) -> list[Result]:
    results = [Result(peer) for peer in peers]
    workers = [Worker(peer, workload) for peer in peers]
    for result, worker in zip(results, workers):
        start = worker.read(120)
        result.failure, result.startup = start.get("failure", ""), start.get("wall", math.nan)
    for turn in range(MOST_REPETITIONS):
        for result, worker in zip(results, workers):
            spent = sum(result.times)
            if result.failure or spent > (3 if repetitions <= 3 else 20) or (turn >= repetitions and spent > QUICK):
                continue
            answer = worker.ask(patience)
            if "failure" in answer:
                result.failure = answer["failure"]
                continue
            result.times.append(answer["cpu"])
            result.memory, result.value = answer["memory"], answer["value"]
    for worker in workers:
        worker.close()
    return results


def claimed(value: Any, unsafe: int) -> tuple[float, float | None]:
    """The end of an answer that its giver claims, and the width between both ends if there are two."""
    if isinstance(value, list):
        low, high = value
        return (low if unsafe > 0 else high), high - low
    return value, None


def judge(workload: Workload, result: Result, truth: Any) -> None:
    if result.value is None or result.failure:
        return
    values = result.value
    if isinstance(truth, list) or workload.probes is not None:
        listed = [values[i] for i in workload.probes] if workload.probes is not None else values
    else:
        listed = [values]
    ends = [claimed(value, workload.unsafe) for value in listed]
    widths = [width for _, width in ends if width is not None]
    result.width = max(widths) if widths else None
    if any(not math.isfinite(end) for end, _ in ends):
        result.failure = "infinite"
        return
    if truth is None:
        return
    expected = truth if isinstance(truth, list) else [truth]
    errors = [(end - one) / (one if workload.relative else 1) for (end, _), one in zip(ends, expected)]
    result.error = max(errors, key=abs)
    unsafe = [error for error in errors if workload.unsafe * error > TOLERANCE]
    if unsafe and workload.unsafe:
        result.wrong, result.error = True, max(unsafe, key=abs)


def si(seconds: float) -> str:
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.2g} us"


def fastest(results: list[Result], error: float) -> Result | None:
    fit = [r for r in results if r.peer != OURS and not r.failure and not r.wrong and (r.error is None or abs(r.error) <= error)]
    return min(fit, key=lambda r: r.cpu, default=None)


def ratio(ours: Result, peer: Result | None) -> str:
    return "none can" if peer is None else f"{peer.cpu / ours.cpu:,.0f}x" if peer.cpu >= 10 * ours.cpu else f"{peer.cpu / ours.cpu:.2g}x"


def row(workload: Workload, results: list[Result]) -> list[str]:
    ours = next(r for r in results if r.peer == OURS)
    best = fastest(results, math.inf)
    shown = "none" if best is None else f"{best.peer}, {si(best.cpu)}" + ("" if best.error is None else f", {best.error:+.1e}")
    failures = [f"{r.peer}: {r.failure}" for r in results if r.peer != OURS and r.failure]
    failures += [f"{r.peer}: wrong by {r.error:+.1e}" for r in results if r.peer != OURS and r.wrong]
    return [
        workload.name,
        workload.title,
        ours.failure or ("WRONG " if ours.wrong else "") + si(ours.cpu),
        "" if ours.width is None else f"{ours.width:.0e}",
        shown,
        ratio(ours, best),
        ratio(ours, fastest(results, 1e-2)),
        ratio(ours, fastest(results, 1e-4)),
        "; ".join(failures),
    ]


INTRODUCTION = """# Beside other accountants

Generated by `./bench {options}--markdown docs/benchmarks.md`, which installs the peers from PyPI and runs everything anew. Times are CPU seconds, medians of
repetitions that each start cold; imports are listed apart. A peer is *right* if what it reports is not on the unsafe side of the truth by more
than 2e-7. The columns *within* compare with the fastest peer that is right and errs by at most so much. Truths come from
`benchmarks/peers/truth.py`, which shares no code with the library, except for few steps, where they are the middles of our own certified answers. Our answers are intervals that are proved; theirs are bounds, estimates or
both, as their makers say. [Where our time goes](performance.md) is told apart.

"""

HEADINGS = ["", "workload", "ours", "our width", "fastest peer that is right", "ratio", "within 1e-2", "within 1e-4", "failures and wrong answers"]


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return "\n".join(lines + ["| " + " | ".join(cell.replace("|", "/") for cell in one) + " |" for one in rows]) + "\n"


def can(peer: str, workload: Workload) -> bool:
    return getattr(PEERS[peer], workload.method, None) is not None


def growth(quick: bool, patience: float) -> tuple[str, list[dict[str, Any]]]:
    """Time and memory against what grows, for us and for the most exact peer."""
    steps = (10**3, 10**5, 10**7, 10**9)
    counts = (10, 100) if quick else (10, 100, 1000)
    series = [
        ("T", [(f"{t:.0e}", Workload("", "", "epsilon", {"steps": [(10.0, 0.01, t)], "delta": 1e-5})) for t in steps]),
        ("distinct mechanisms", [(str(n), Workload("", "", "epsilon", {"steps": distinct(n), "delta": 1e-5})) for n in counts]),
        ("1/delta", [(f"{1 / d:.0e}", Workload("", "", "epsilon", {"steps": [(1.0, 0.01, 1000)], "delta": d})) for d in (1e-5, 1e-15, 1e-50, 1e-300)]),
    ]
    text, record = "", []
    for name, points in series:
        rows = []
        for label, workload in points:
            found = {r.peer: r for r in measure(workload, [OURS, "dp-accounting PLD"], 3, min(patience, 60))}
            for result in found.values():
                judge(workload, result, None)
            record += [{"series": name, "at": label, "peer": r.peer, "cpu": r.cpu if r.times else None, "memory": r.memory, "failure": r.failure} for r in found.values()]
            rows.append([label] + [r.failure or f"{si(r.cpu)}, {r.memory / 2**20:.0f} MB" for r in found.values()])
        text += table([name, "tradeoff", "dp-accounting PLD"], rows) + "\n"
    return text, record


def machine() -> str:
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    names = ("tradeoff", "dp-accounting", "prv-accountant", "opacus", "autodp", "gdpnum", "riskcal", "opendp", "PLD_accounting", "numpy", "scipy")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return f"{datetime.date.today()}, {model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}; {versions}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="./bench", description="Measures this accountant beside its peers, in one run on one machine.")
    parser.add_argument("--quick", action="store_true", help="fewer workloads and repetitions: under three minutes")
    parser.add_argument("--only", metavar="TEXT", help="workloads whose name begins so")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables here")
    parser.add_argument("--json", metavar="FILE", help="also write every measurement here")
    options = parser.parse_args()

    known, patience = truths(), 12.0 if options.quick else 60.0
    chosen = [w for w in WORKLOADS if (w.quick or not options.quick) and w.name.startswith(options.only or "")]
    if not chosen:
        parser.error(f"no workload begins with {options.only!r}; they are: {', '.join(w.name for w in WORKLOADS)}")
    rows, record, startups, failed = [], [], {}, False
    for workload in chosen:
        peers = [peer for peer in PEERS if can(peer, workload)]
        if options.quick and "prv 0.001" in peers:
            peers.remove("prv 0.001")
        results = measure(workload, peers, 3 if options.quick else 5, patience)
        for result in results:
            judge(workload, result, None if result.peer == OURS and workload.method == "mu" else known.get(workload.name))
            startups.setdefault(result.peer, []).append(result.startup)
            failed = failed or (result.peer == OURS and (result.wrong or bool(result.failure)))
            record.append({"workload": workload.name, **{k: v for k, v in vars(result).items() if k != "value"}})
        rows.append(row(workload, results))
        print(f"{rows[-1][0]:16} {rows[-1][2]:>9} {rows[-1][3]:>7}  {rows[-1][5]:>9}  {rows[-1][6]:>9}  {rows[-1][7]:>9}  {rows[-1][4]}", flush=True)
        if rows[-1][8]:
            print(f"{'':16} {rows[-1][8]}", flush=True)
    text = INTRODUCTION.format(options="--quick " if options.quick else "") + f"Measured {machine()}.\n\n" + table(HEADINGS, rows) + "\n"
    text += table(["start-up (wall)", ""], [[peer, si(statistics.median(times))] for peer, times in startups.items()]) + "\n"
    if not options.only:
        more, series = growth(options.quick, patience)
        print("\n" + more, flush=True)
        text += more
        record += series
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"machine": machine(), "results": record}, indent=1, default=str) + "\n")
    print(f"\n{machine()}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
