#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/peers_answers.md: answers of other libraries and published claims that do not hold, beside the certified interval.

    python tools/make_peers_answers.py            writes the page
    python tools/make_peers_answers.py --check    exit 1 if the page differs

Needs the packages tradeoff, dp-accounting, opacus (with PyTorch), opendp, autodp and tensorflow-privacy (its file alone: --no-deps). The code
that the page shows for a row is the code that is run here. A row whose claim holds or is undecided stops the program: it has no place there.
"""

import io
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tradeoff as to

PAGE = Path(__file__).resolve().parent.parent / "docs" / "peers_answers.md"
BU = "Bu, Dong, Long and Su, Deep Learning with Gaussian Differential Privacy, Harvard Data Science Review 2020, figure 4"


@dataclass
class Case:
    """`code` leaves the claim in `epsilon`, and in `delta` if the library states it; a published claim is stated in the code."""

    source: str  # a package, or a publication
    what: str
    code: str
    plan: str
    neighbours: str
    delta: float = 1e-5
    why: str = ""


PLD = """
from dp_accounting import dp_event
from dp_accounting.pld import pld_privacy_accountant

step = dp_event.PoissonSampledDpEvent({rate}, dp_event.GaussianDpEvent({sigma}))
accountant = pld_privacy_accountant.PLDAccountant().compose(dp_event.SelfComposedDpEvent(step, {steps}))
epsilon = accountant.get_epsilon({delta})
"""
OPACUS = """
from opacus.accountants import {accountant}

accountant = {accountant}()
accountant.history = [({sigma}, {rate}, {steps})]
epsilon = accountant.get_epsilon(delta={delta})
"""


def pld(sigma: str, rate: str, steps: int, delta: float) -> Case:
    return Case(
        "dp-accounting",
        f"PLD accountant, {steps} Poisson samples at rate {rate}, noise {sigma}",
        PLD.format(sigma=sigma, rate=rate, steps=steps, delta=delta),
        f"gaussian(sigma={sigma}) | poisson(rate={rate}) | repeat({steps})",
        "add-remove",
        delta,
        "the grid is meant to be pessimistic; no bound of the rounding errors is added",
    )


def response(steps: int, delta: float) -> Case:
    code = f"""
from dp_accounting import dp_event, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant

event = dp_event.SelfComposedDpEvent(dp_event.RandomizedResponseDpEvent(0.5, 2), {steps})
accountant = pld_privacy_accountant.PLDAccountant(privacy_accountant.NeighboringRelation.REPLACE_ONE)
epsilon = accountant.compose(event).get_epsilon({delta})
"""
    plan = f"pair(p=[0.75, 0.25], q=[0.25, 0.75]) | repeat({steps})"
    return Case("dp-accounting", f"PLD accountant, {steps} answers by randomised response", code, plan, "replace-one", delta, "the count is ignored")


def opacus(accountant: str, sigma: str, rate: str, steps: int, plan: str = "", neighbours: str = "add-remove", why: str = "", delta: float = 1e-5) -> Case:
    code = OPACUS.format(accountant=accountant, sigma=sigma, rate=rate, steps=steps, delta=delta)
    if plan:
        what = f"{accountant}, a loader that shuffles (`poisson_sampling=False`), {plan.split('| ')[1]}, noise {sigma}"
    else:
        what = f"{accountant}, {steps} Poisson samples at rate {rate}, noise {sigma}"
    return Case("opacus", what, code, plan or f"gaussian(sigma={sigma}) | poisson(rate={rate}) | repeat({steps})", neighbours, delta, why)


def opendp(noise: str, metric: str, plan: str, epsilon: str, why: str) -> Case:
    code = f"""
import opendp.prelude as dp

dp.enable_features("contrib")
space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), dp.{metric}(dp.absolute_distance(T=int))
guarantee = dp.m.make_{noise}_threshold(*space, scale=1.0, threshold=3).map((1, 1, 1))
{epsilon}
"""
    return Case("opendp", f"make_{noise}_threshold on whole numbers: one user, one key, count 1, threshold 3", code, plan, "add-remove", why=why)


def autodp(name: str, made: str, times: int, plan: str) -> Case:
    code = f"""
from autodp.mechanism_zoo import {name}
from autodp.transformer_zoo import ComposeAFA

epsilon = float(ComposeAFA()([{made}], [{times}]).get_approxDP(1e-5))
"""
    return Case("autodp", f"characteristic functions (ComposeAFA), {times} times {made}", code, plan, "add-remove", why="a negative epsilon; the other accountants of the package do not share the fault")


def published(epsilon: str, sigma: str, epochs: int) -> Case:
    steps = -(-60000 * epochs // 256)
    return Case(
        BU,
        f"MNIST, noise {sigma}, rate 256/60000, {epochs} epochs, by the central limit theorem",
        f"epsilon = {epsilon}  # as published\n",
        f"gaussian(sigma={sigma}) | poisson(rate=256/60000) | repeat({steps})",
        "add-remove",
        why="the limit theorem is an approximation without a bound",
    )


LIMIT = "the limit theorem is an approximation without a bound"
SHUFFLED = "the accountant assumes Poisson sampling whatever the loader does"
TENSORFLOW = """
import importlib.util  # the package itself imports TensorFlow; this file of it does not
from importlib.metadata import distribution

path = distribution("tensorflow-privacy").locate_file("tensorflow_privacy/privacy/analysis/gdp_accountant.py")
specification = importlib.util.spec_from_file_location("gdp_accountant", path)
gdp_accountant = importlib.util.module_from_spec(specification)
specification.loader.exec_module(gdp_accountant)
epsilon = gdp_accountant.compute_eps_poisson(15, 1.3, 60000, 256, 1e-5)
"""
CASES = [
    response(100, 1e-6),
    response(10, 1e-5),
    pld("0.5", "1e-4", 10000, 1e-12),
    pld("0.3", "1e-4", 100, 1e-12),
    pld("0.4", "1e-4", 100, 1e-10),
    pld("0.3", "1e-4", 100, 1e-8),
    opacus("GaussianAccountant", "1.1", "256/60000", 14063, why=LIMIT),
    opacus("GaussianAccountant", "0.7", "256/60000", 10547, why=LIMIT),
    opacus("GaussianAccountant", "0.5", "0.001", 1000, why=LIMIT),
    opacus("PRVAccountant", "0.7", "1/100", 100, "gaussian(sigma=0.7) | shuffle(batches=100)", "zero-out", SHUFFLED),
    opacus("PRVAccountant", "0.5", "1/100", 500, "gaussian(sigma=0.5) | shuffle(batches=100, passes=5)", "zero-out", SHUFFLED),
    opacus("RDPAccountant", "0.5", "1/100", 100, "gaussian(sigma=0.5) | shuffle(batches=100)", "zero-out", SHUFFLED),
    Case("tensorflow-privacy", "gdp_accountant, 15 epochs, batches of 256 of 60000, noise 1.3", TENSORFLOW, "gaussian(sigma=1.3) | poisson(rate=256/60000) | repeat(3516)", "add-remove", why=LIMIT),
    opendp("laplace", "l01inf_distance", "threshold(noise=discrete_laplace, scale=1, above=3)", "epsilon, delta = guarantee", "the tail leaves out the threshold itself, which is released"),
    opendp("gaussian", "l02inf_distance", "threshold(noise=discrete_gaussian, scale=1, above=3)", "rho, delta = guarantee\nepsilon = 20  # far above what rho = 0.5 adds", "the tail is that of continuous noise; the noise is discrete"),
    autodp("GaussianMechanism", "GaussianMechanism(10.0, phi_off=False)", 100, "gaussian(sigma=10) | repeat(100)"),
    autodp("LaplaceMechanism", "LaplaceMechanism(5.0, phi_off=False)", 20, "laplace(scale=5) | repeat(20)"),
    published("1.34", "1.06", 20),
    published("8.68", "0.638", 70),
]


def claim_of(case: Case) -> tuple[float, float]:
    found: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):
        exec(case.code, found)  # the code that the page shows
    return float(found["epsilon"]), float(found.get("delta", case.delta))


def floor_text(number: float) -> str:
    """Eight significant digits, rounded down."""
    found = Decimal(number)
    return str(found.quantize(Decimal(1).scaleb(found.adjusted() - 7), rounding=ROUND_FLOOR).normalize())


def page() -> str:
    rows, codes = [], []
    for number, case in enumerate(CASES, 1):
        epsilon, delta = claim_of(case)
        curve = to.parse(case.plan).curve(neighbours=case.neighbours)
        if curve.check(epsilon=max(0.0, epsilon), delta=delta) != "exceeded":
            raise SystemExit(f"row {number} ({case.source}, {case.what}) does not fail: {epsilon} at {delta}")
        ours = curve.epsilon(delta)
        certified = f"at least {floor_text(ours.lo)}" if ours.lo < float("inf") else f"none: delta is at least {floor_text(curve.delta(epsilon).lo)}"
        source = case.source if " " in case.source else f"{case.source} {version(case.source)}"
        rows.append(f"| {number} | {source} | {case.what} | {epsilon:.8g} at {delta:.4g} | {certified} | {case.why} |")
        codes += [f"Row {number}, {case.neighbours} neighbours, `{case.plan}`:", "", "```python", case.code.strip(), "```", ""]
    head = [
        "# Answers that fail",
        "",
        "Claims `(epsilon, delta)` of other libraries and of publications that do not hold: the certified lower end of epsilon is above the claim. `tools/make_peers_answers.py` runs the code",
        f"below and writes this page; a row that does not fail stops it. Python {sys.version_info.major}.{sys.version_info.minor}, NumPy {version('numpy')}, SciPy {version('scipy')}.",
        "Rows about loaders that shuffle compare the accountant's answer for the history that the engine records with what is run then.",
        "",
        "| row | source | what was run | claimed epsilon at delta | certified epsilon | why |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, "", "## The code", "", *codes])


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
