#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the 500 stored certificates again:  make_certificates.py build/release/cli/tradeoff > tests/certificates/stored.jsonl

Plans and questions are drawn with the seed below. Drawn again: what the program refuses or gives no finite end or no width to, and what is too
hard for the checker (standard error names them). A certificate that the checker calls false ends it. It needs python-flint, and 7 minutes.
"""

import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "assurance" / "checker"))
import check_certificate

SEED = 20261115
COUNT = 500


def number(low, high, digits=3):
    """Log-uniform, with few digits."""
    return f"{float(f'{low * (high / low) ** random.random():.{digits}g}'):g}"


def gaussian():
    return random.choice([f"gaussian(sigma={number(0.3, 30)})", f"gaussian(sigma={number(1, 30)}, sensitivity={number(0.2, 3)})",
                          f"gdp(mu={number(0.05, 3)})"])


def laplace():
    return random.choice([f"laplace(scale={number(0.3, 20)})", f"laplace(scale={number(2, 20)}, sensitivity={number(0.5, 3)})",
                          f"truncated_laplace(scale={number(0.5, 3)}, bound={number(10, 30)})"])


def finite():
    weights = [[random.randint(0, 9) for _ in range(3)] for _ in range(2)]
    p, q = (", ".join(f"{weight}/{sum(row) or 1}" for weight in row) for row in weights)
    return random.choice([
        f"dp(epsilon={number(0.02, 3)})", f"dp(epsilon={number(0.02, 3)}, delta={number(1e-12, 1e-3)})",
        f"randomized_response(epsilon={number(0.1, 4)})", f"randomized_response(epsilon={number(0.1, 4)}, choices={random.randint(3, 50)})",
        f"discrete_laplace(scale={number(0.5, 20)})", f"discrete_laplace(scale={number(2, 20)}, sensitivity={random.randint(2, 6)})",
        f"truncated_discrete_laplace(scale={number(0.5, 5)}, bound={random.randint(6, 40)})",
        f"discrete_gaussian(sigma={number(0.5, 5)})", f"discrete_gaussian(sigma={number(2, 5)}, sensitivity={random.randint(2, 4)})",
        f"pair(p=[{p}], q=[{q}])"])


def repeat(most):
    times = int(float(number(1, most)))
    return f" | repeat({times})" if times > 1 else ""


def training():
    rate = random.choice([number(0.001, 0.2), f"{random.choice([64, 128, 256, 512])}/{random.choice([50000, 60000])}"])
    share = float(rate) if "/" not in rate else int(rate.split("/")[0]) / int(rate.split("/")[1])
    return f"gaussian(sigma={number(0.6, 4)}) | poisson(rate={rate}) | repeat({int(float(number(12, 60)) / share)})"


def sampled():
    """Many steps on samples whose noise has a corner in its loss, or atoms: the checker needs more of them."""
    if random.random() < 0.5:
        part = random.choice([f"rate={number(0.003, 0.3)}", f"size={random.choice([64, 128, 256, 512])}, of={random.choice([5000, 10000, 50000])}"])
        return f"gaussian(sigma={number(0.7, 4)}) | sample({part}) | repeat({int(float(number(200, 4000)))})"
    part = random.choice(["poisson", "sample"]) + f"(rate={number(0.01, 0.5)})"
    return f"laplace(scale={number(0.5, 5)}) | {part} | repeat({int(float(number(200, 4000)))})"


def plan():
    kind = random.random()
    if kind < 0.12:
        return gaussian() + repeat(1000)
    if kind < 0.15:
        return f"gaussian(sigma={number(2, 30)}) | group({random.randint(2, 9)})" + repeat(50)
    if kind < 0.29:
        return laplace() + repeat(40)
    if kind < 0.47:
        return finite() + repeat(60)
    if kind < 0.53:
        return random.choice([f"laplace(scale={number(0.3, 5)})", f"gaussian(sigma={number(0.4, 5)})"]) + random.choice(
            [f" | poisson(rate={number(0.01, 0.9)})", f" | sample(rate={number(0.01, 0.9)})"])
    if kind < 0.59:
        return f"dp(epsilon={number(0.1, 2)})" + random.choice(
            [f" | poisson(rate={number(0.01, 0.9)})", f" | sample(rate={number(0.01, 0.9)})"]) + repeat(60)
    if kind < 0.71:
        return training()
    if kind < 0.82:
        return sampled()
    if kind < 0.86:
        return training() + "\n" + random.choice([gaussian, laplace, finite])() + repeat(20)
    if kind < 0.89:
        return f"({gaussian()}{repeat(6)}; {random.choice([laplace, finite])()}) | repeat({random.randint(2, 8)})"
    if kind < 0.94:
        return gaussian() + repeat(20) + "\n" + random.choice([laplace, finite])() + repeat(10)
    return laplace() + repeat(6) + "\n" + f"randomized_response(epsilon={number(0.1, 2)})" + repeat(6)


def question():
    """Its option and value, and whether a direction is added."""
    kind = random.random()
    if kind < 0.4:
        options = ["--delta", random.choice(["1e-5", "1e-6", "1e-8", "1e-10", "1e-12", "1e-15", "1e-20", "1e-30", "1e-50", "0.01"])]
    elif kind < 0.75:
        options = ["--epsilon", random.choice([number(0.01, 20), number(0.5, 5), "0", "-" + number(0.05, 2)])]
    else:
        options = [random.choice(["--alpha", "--fpr"]), random.choice([number(1e-6, 0.9), number(0.01, 0.5)])]
    return options + (["--direction", random.choice(["remove", "add"])] if random.random() < 0.25 else [])


# Random draws are rarely averages over the counts of a part. These are, and the checker can decide them.
AVERAGED = [
    (["--epsilon", "0.7"], "discrete_gaussian(sigma=3) | repeat(2)\nlaplace(scale=2)"),
    (["--delta", "1e-4"], "discrete_gaussian(sigma=2.4) | repeat(3)\nlaplace(scale=1.5)"),
    (["--epsilon", "1.2"], "discrete_gaussian(sigma=4)\nlaplace(scale=2.5) | repeat(2)"),
    (["--delta", "1e-6"], "discrete_gaussian(sigma=2) | repeat(2)\ntruncated_laplace(scale=1.5, bound=20)"),
]


def averaged_certificates(command):
    for options, text in AVERAGED:
        found = json.loads(subprocess.run([command, "certify", *options, text], capture_output=True, text=True, check=True).stdout)
        code, words, _ = check_certificate.check(json.dumps(found))
        if code != 0:
            sys.exit(f"the checker does not confirm a certificate of an average: {words}: {text}")
        yield found


def certificate(command):
    """One that the checker can decide."""
    while True:
        found = drawn(command)
        code, words, _ = check_certificate.check(json.dumps(found))
        if code == 0:
            return found
        print(f"left out, {words}: {found['plan']}", file=sys.stderr)
        if code != 4:
            sys.exit(f"the checker refuses a certificate: {json.dumps(found)}")


def drawn(command):
    while True:
        words = [command, "certify", *question(), plan()]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout) if done.returncode == 0 else None
        answer = found and found["guarantees"][0]["answer"]
        if found and answer["hi"] != "inf" and answer["lo"] != answer["hi"]:
            return found


def main():
    random.seed(SEED)
    written = list(averaged_certificates(sys.argv[1]))
    while len(written) < COUNT:
        written.append(certificate(sys.argv[1]))
    for found in written:
        print(json.dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    main()
