# SPDX-License-Identifier: Apache-2.0
"""Private training in the words of training libraries."""

from __future__ import annotations

from typing import Literal

from . import _core
from ._errors import DomainError
from ._numbers import Number, optional_text, to_text
from ._plan import Plan, gaussian

Sampling = Literal["poisson", "fixed", "shuffled"]
Unit = Literal["clipping norm", "sensitivity"]

FACTOR_OF_TWO = (
    "A noise multiplier is the standard deviation of the noise divided by a length, and there are two such lengths. "
    "Adding or removing a record moves a sum of clipped values by at most the clipping norm C; replacing one moves it by up to 2C. "
    "Under replace-one neighbours noise of multiplier s in units of the clipping norm is therefore s/2 in units of the sensitivity: "
    "say unit='clipping norm' (training libraries) or unit='sensitivity' (textbooks)."
)


def noisy_sum(noise_multiplier: Number, *, neighbours: str, unit: str) -> Plan:
    """Gaussian noise on a sum of clipped values, with its unit and its neighbours spelled out.

    >>> import tradeoff as to
    >>> to.noisy_sum(1.1, neighbours="replace-one", unit="clipping norm")
    Plan('gaussian(sigma=1.1, sensitivity=2)')
    """
    if neighbours not in ("add-remove", "replace-one"):
        raise DomainError(f"neighbours = {neighbours!r} is not allowed; it must be one of add-remove, replace-one. {FACTOR_OF_TWO}")
    if unit not in ("clipping norm", "sensitivity"):
        raise DomainError(f"unit = {unit!r} is not allowed. {FACTOR_OF_TWO}")
    doubled = neighbours == "replace-one" and unit == "clipping norm"
    return gaussian(noise_multiplier, sensitivity=2 if doubled else None)


def sgd(
    *,
    noise_multiplier: Number,
    batch: int,
    examples: int,
    epochs: Number | None = None,
    steps: int | None = None,
    sampling: Sampling = "poisson",
    neighbours: str | None = None,
) -> Plan:
    """The plan of a run of private gradient descent.

    Args:
        noise_multiplier: standard deviation of the noise on the sum of clipped gradients, divided by the clipping norm; or ``"?"``.
        epochs: passes over the data: ``ceil(epochs * examples / batch)`` steps, exactly. Or state ``steps``.
        sampling: how batches are drawn. ``"poisson"`` (default): every example joins each batch independently (add-remove neighbours);
            ``"fixed"``: each batch is a fresh sample of fixed size without replacement (replace-one); ``"shuffled"``: the data is
            shuffled and cut into batches (replace-one; no amplification is claimed).
        neighbours: those that the sampling needs; stating others is an error.

    >>> import tradeoff as to
    >>> to.sgd(noise_multiplier=1.1, batch=256, examples=60000, epochs=60)
    Plan('gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)')
    """
    for name, value in (("examples", examples), ("batch", batch), ("steps", steps)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**12):
            raise DomainError(f"{name} = {value!r} is not allowed; it must be a whole number from 1 to 10**12")
    return Plan(
        _core.sgd(
            to_text("noise_multiplier", noise_multiplier),
            batch,
            examples,
            optional_text("epochs", epochs),
            steps,
            str(sampling),
            neighbours or "",
        )
    )
