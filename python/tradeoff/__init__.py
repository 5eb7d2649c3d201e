# SPDX-License-Identifier: Apache-2.0
"""A privacy accountant whose answers are certified intervals.

>>> import tradeoff as to
>>> plan = to.gaussian(sigma=1.1).poisson(rate="256/60000").repeat(14063)
>>> plan.curve().epsilon(delta=1e-5).hi <= 2.382
True
"""

from typing import TYPE_CHECKING, Any

from . import _core
from ._calibrate import Calibration, calibrate
from ._curve import (
    Approximations,
    BerryEsseen,
    Comparison,
    Converted,
    Curve,
    Divergences,
    Edgeworth,
    Explanation,
    Guarantee,
    HeadMeasurement,
    Limit,
    Measurement,
    Method,
    Moments,
    Order,
    Polygon,
    Posterior,
    Renyi,
    Risk,
    SlackPair,
    Step,
    Tail,
    analyze,
)
from ._errors import DomainError, Error, ParseError, RandomnessError, TooLargeError, UnmetError, UnsupportedError
from ._interval import Interval
from ._plan import (
    Operator,
    Parameter,
    Plan,
    Word,
    compose,
    constraints,
    curve,
    discrete_gaussian,
    discrete_laplace,
    dp,
    gaussian,
    gdp,
    group,
    icea,
    invert,
    laplace,
    log_family,
    mechanisms,
    mixture,
    pair,
    parse,
    poisson,
    profile,
    randomized_response,
    rdp,
    rectify,
    refine,
    repeat,
    sample,
    sample_with_replacement,
    sqrt_log_family,
    strongest,
    truncated_discrete_laplace,
    truncated_laplace,
    weakest,
    zcdp,
)
from ._plot import plot, report
from ._release import Certificate, Finding, Release, Verification, certify, release, verify
from ._training import noisy_sum, sgd

if TYPE_CHECKING:
    from . import algebra as algebra
    from . import interchange as interchange

__version__: str = _core.version
__all__ = [
    "Approximations",
    "BerryEsseen",
    "Calibration",
    "Certificate",
    "Comparison",
    "Converted",
    "Curve",
    "Divergences",
    "DomainError",
    "Edgeworth",
    "Error",
    "Explanation",
    "Finding",
    "Guarantee",
    "HeadMeasurement",
    "Interval",
    "Limit",
    "Measurement",
    "Method",
    "Moments",
    "Operator",
    "Order",
    "Parameter",
    "ParseError",
    "Plan",
    "Polygon",
    "Posterior",
    "RandomnessError",
    "Release",
    "Renyi",
    "Risk",
    "SlackPair",
    "Step",
    "Tail",
    "TooLargeError",
    "UnmetError",
    "UnsupportedError",
    "Verification",
    "Word",
    "analyze",
    "calibrate",
    "certify",
    "compose",
    "constraints",
    "curve",
    "discrete_gaussian",
    "discrete_laplace",
    "dp",
    "gaussian",
    "gdp",
    "group",
    "icea",
    "invert",
    "laplace",
    "log_family",
    "mechanisms",
    "mixture",
    "noisy_sum",
    "pair",
    "parse",
    "plot",
    "poisson",
    "profile",
    "randomized_response",
    "rdp",
    "rectify",
    "refine",
    "release",
    "repeat",
    "report",
    "sample",
    "sample_with_replacement",
    "sgd",
    "sqrt_log_family",
    "strongest",
    "truncated_discrete_laplace",
    "truncated_laplace",
    "verify",
    "weakest",
    "zcdp",
]


def __getattr__(name: str) -> Any:
    """Imports rarely used modules at their first use."""
    if name in ("algebra", "interchange"):
        from importlib import import_module

        return import_module(f"tradeoff.{name}")
    raise AttributeError(f"module 'tradeoff' has no attribute {name!r}")
