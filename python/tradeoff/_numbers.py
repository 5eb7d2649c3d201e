# SPDX-License-Identifier: Apache-2.0
"""Converts numbers to the decimals that the core reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import DomainError

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    import numpy as np

    # A number, or text such as "256/60000". Floats are read as their shortest decimal; answers also hold for the binary value: 1.1 is
    # answered for every value between the two doubles around the decimal 1.1. For an exact quotient write "256/60000" or Fraction(256, 60000).
    Number = str | int | float | Fraction | Decimal | np.floating[Any] | np.integer[Any]
else:
    Number = object  # the modules above are not worth their time for an annotation


def is_scalar(value: object) -> bool:
    """Whether the value is one number rather than an array or a list of them."""
    if isinstance(value, (str, float, int)):
        return True
    return getattr(value, "ndim", None) == 0 or not (hasattr(value, "__len__") or hasattr(value, "__iter__"))


def to_text(name: str, value: Any) -> str:
    """The value as a decimal or quotient; DomainError if it is not a number."""
    if isinstance(value, str):
        if not value.isascii():
            raise DomainError(f"{name} = {value[:40]!r} is not allowed; it must be a number")
        return value.replace(" ", "")
    if isinstance(value, bool):
        raise DomainError(f"{name} = {value} is not allowed; it must be a number")
    if isinstance(value, int):
        return _digits(name, value)
    if isinstance(value, float):
        return float.__repr__(value)
    if hasattr(value, "as_tuple"):  # decimal.Decimal, which prints all its digits
        return str(value).lower()
    if hasattr(value, "numerator") and hasattr(value, "denominator"):  # fractions.Fraction and NumPy's integers
        top, bottom = int(value.numerator), int(value.denominator)
        return _digits(name, top) if bottom == 1 else f"{_digits(name, top)}/{_digits(name, bottom)}"
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:  # other NumPy scalars
        plain = value.item()
        if type(plain) is not type(value):  # long doubles stay what they are
            return to_text(name, plain)
    raise DomainError(f"{name} = {_shown(value)} is not allowed; it must be a number")


def _digits(name: str, value: int) -> str:
    try:
        return str(int(value))
    except ValueError:  # Python refuses to print integers of more than some thousand digits
        raise DomainError(f"{name} is not allowed; it must be within 1.7976931348623157e308") from None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."


def stated(**numbers: Any) -> dict[str, str]:
    """The text of each number that is not None, by its name."""
    return {name: to_text(name, value) for name, value in numbers.items() if value is not None}


def optional_text(name: str, value: Any) -> str | None:
    """The same, but None stays None."""
    return None if value is None else to_text(name, value)
