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
from ._errors import (
    BudgetError,
    DomainError,
    Error,
    ParseError,
    RandomnessError,
    SpendKeyError,
    StoreError,
    TooLargeError,
    UndecidedError,
    UnmetError,
    UnsupportedError,
)
from ._interval import Interval
from ._ledger import Account, Charge, Ledger, LedgerEntry, LedgerVerification, Receipt
from ._plan import (
    Operator,
    Parameter,
    Plan,
    Runs,
    Word,
    allocate,
    best_of,
    binomial_noise,
    compose,
    constraints,
    curve,
    cyclic,
    discrete_gaussian,
    discrete_gaussian_sum,
    discrete_laplace,
    discrete_laplace_sum,
    dp,
    exponential,
    gaussian,
    gdp,
    group,
    icea,
    invert,
    laplace,
    log_family,
    matrix,
    mechanisms,
    mixture,
    noisy_max,
    pair,
    parse,
    partition_selection,
    poisson,
    profile,
    randomized_response,
    rdp,
    rectify,
    refine,
    repeat,
    sample,
    sample_with_replacement,
    shuffle,
    shuffled_reports,
    skellam,
    sparse_vector,
    sqrt_log_family,
    strongest,
    threshold,
    truncated_discrete_laplace,
    truncated_laplace,
    weakest,
    zcdp,
)
from ._plot import plot, report
from ._records import records
from ._release import Certificate, Finding, KeyRelease, Release, ReleasedKey, Verification, certify, release, release_keys, verify
from ._training import SamplerRow, TrainingPlan, compare_sampling, noisy_sum, sgd

if TYPE_CHECKING:
    from . import algebra as algebra
    from . import interchange as interchange
    from ._audit import Audit as Audit
    from ._audit import OneRunAudit as OneRunAudit
    from ._audit import Refutation as Refutation
    from ._audit import TestedEvent as TestedEvent
    from ._audit import audit as audit
    from ._audit import audit_one_run as audit_one_run
    from ._opinion import Opinion as Opinion
    from ._opinion import opinion as opinion

__version__: str = _core.version
__all__ = [
    "Account",
    "Approximations",
    "Audit",
    "BerryEsseen",
    "BudgetError",
    "Calibration",
    "Certificate",
    "Charge",
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
    "KeyRelease",
    "Ledger",
    "LedgerEntry",
    "LedgerVerification",
    "Limit",
    "Measurement",
    "Method",
    "Moments",
    "OneRunAudit",
    "Operator",
    "Opinion",
    "Order",
    "Parameter",
    "ParseError",
    "Plan",
    "Polygon",
    "Posterior",
    "RandomnessError",
    "Receipt",
    "Refutation",
    "Release",
    "ReleasedKey",
    "Renyi",
    "Risk",
    "Runs",
    "SamplerRow",
    "SlackPair",
    "SpendKeyError",
    "Step",
    "StoreError",
    "Tail",
    "TestedEvent",
    "TooLargeError",
    "TrainingPlan",
    "UndecidedError",
    "UnmetError",
    "UnsupportedError",
    "Verification",
    "Word",
    "allocate",
    "analyze",
    "audit",
    "audit_one_run",
    "best_of",
    "binomial_noise",
    "calibrate",
    "certify",
    "compare_sampling",
    "compose",
    "constraints",
    "curve",
    "cyclic",
    "discrete_gaussian",
    "discrete_gaussian_sum",
    "discrete_laplace",
    "discrete_laplace_sum",
    "dp",
    "exponential",
    "gaussian",
    "gdp",
    "group",
    "icea",
    "invert",
    "laplace",
    "log_family",
    "matrix",
    "mechanisms",
    "mixture",
    "noisy_max",
    "noisy_sum",
    "opinion",
    "pair",
    "parse",
    "partition_selection",
    "plot",
    "poisson",
    "profile",
    "randomized_response",
    "rdp",
    "records",
    "rectify",
    "refine",
    "release",
    "release_keys",
    "repeat",
    "report",
    "sample",
    "sample_with_replacement",
    "sgd",
    "shuffle",
    "shuffled_reports",
    "skellam",
    "sparse_vector",
    "sqrt_log_family",
    "strongest",
    "threshold",
    "truncated_discrete_laplace",
    "truncated_laplace",
    "verify",
    "weakest",
    "zcdp",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Imports rarely used modules at their first use."""
    if name in ("algebra", "interchange"):
        from importlib import import_module

        return import_module(f"tradeoff.{name}")
    if name in ("Audit", "OneRunAudit", "Refutation", "TestedEvent", "audit", "audit_one_run"):
        from . import _audit

        return getattr(_audit, name)
    if name in ("Opinion", "opinion"):
        from . import _opinion

        return getattr(_opinion, name)
    raise AttributeError(f"module 'tradeoff' has no attribute {name!r}")
