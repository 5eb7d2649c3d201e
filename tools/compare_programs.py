#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks two programs the same 200 questions: each pair of intervals must overlap, because both enclose the truth, and be of similar width.

    tools/compare_programs.py NATIVE OTHER...   OTHER: the words that start the other program, an emulator among them
    tools/compare_programs.py --self-test       proves on made-up answers that the comparison can fail
"""

import json
import random
import subprocess
import sys


def some_plans(count):
    """Plans of every kind, always the same ones."""
    draw = random.Random(5)
    plans = []

    def number(low, high):
        return f"{low * (high / low) ** draw.random():.4g}"

    def whole(low, high):
        return str(round(low * (high / low) ** draw.random()))

    sources = [
        lambda: f"gaussian(sigma={number(0.5, 20)})",
        lambda: f"laplace(scale={number(0.5, 20)})",
        lambda: f"randomized_response(epsilon={number(0.1, 3)})",
        lambda: f"dp(epsilon={number(0.05, 2)}, delta={number(1e-9, 1e-6)})",
        lambda: f"gdp(mu={number(0.05, 2)})",
        lambda: f"discrete_laplace(scale={whole(1, 20)})",
        lambda: f"discrete_gaussian(sigma={whole(2, 30)})",
        lambda: f"zcdp(rho={number(0.01, 1)})",
    ]
    for i in range(count):
        plan = sources[i % len(sources)]()
        kind = draw.random()
        if plan.startswith(("gaussian", "laplace")) and kind < 0.6:
            plan += f" | poisson(rate={number(1e-3, 0.2)})"
        if kind < 0.8:
            plan += f" | repeat({whole(1, 2000 if plan.startswith('gaussian') else 60)})"
        if kind > 0.9:
            plan += "\n" + sources[draw.randrange(3)]()
        plans.append(plan)
    return plans


def some_requests(count):
    asks = [{"ask": "epsilon", "delta": "1e-5"}, {"ask": "delta", "epsilon": "1"}, {"ask": "beta", "alpha": "0.01"}, {"ask": "advantage"}]
    return [{"plan": plan, **asks[i % 4]} for i, plan in enumerate(some_plans(count))]


def disagreement(here, there):
    """What is wrong about a pair of answers, or None."""
    if ("error" in here) != ("error" in there):
        return "one program refuses"
    if "error" in there:
        return None
    a, b = ({end: float(one["answer"][end]) for end in ("lo", "hi")} for one in (here, there))
    if not (a["lo"] <= b["hi"] and b["lo"] <= a["hi"]):
        return "the intervals do not overlap"
    if not a["hi"] - a["lo"] <= 10 * (b["hi"] - b["lo"]) + 1e-5 * abs(b["hi"]) + 1e-12:
        return "much wider"
    return None


def ask(words, requests):
    lines = "".join(json.dumps(one) + "\n" for one in requests)
    result = subprocess.run([*words, "query"], input=lines, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    if len(answers) != len(requests):
        sys.exit(f"{' '.join(words)}: {len(answers)} answers to {len(requests)} questions; {result.stderr[-500:]}")
    return answers


def self_test():
    good = {"answer": {"lo": 1.0, "hi": 1.5}}
    assert disagreement(good, good) is None and disagreement({"error": "a"}, {"error": "b"}) is None
    for bad in ({"error": "a"}, {"answer": {"lo": 1.6, "hi": 1.7}}, {"answer": {"lo": 0.0, "hi": 9.0}}, {"answer": {"lo": "nan", "hi": "nan"}}):
        assert disagreement(bad, good), bad


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        sys.exit(0)
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    questions = some_requests(200)
    native, other = ask(sys.argv[1:2], questions), ask(sys.argv[2:], questions)
    bad = equal = answered = 0
    for request, here, there in zip(questions, other, native, strict=True):
        fault = disagreement(here, there)
        if fault:
            bad += 1
            print(f"{request}: {fault}: {str(here)[:200]} there, {str(there)[:200]} by the native program")
        answered += "answer" in there
        equal += "answer" in here and here["answer"] == there.get("answer")
    print(f"{len(questions)} questions: {answered} answered, {equal} equal to the last bit, {bad} in disagreement")
    sys.exit(1 if bad or answered < len(questions) * 9 // 10 else 0)
