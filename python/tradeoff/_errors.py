# SPDX-License-Identifier: Apache-2.0
"""The exceptions; their kinds are those of the command line: parse, domain, unsupported, too_large."""


class Error(ValueError):
    """Base class of all exceptions of this package. ``kind`` is the word that ``tradeoff query`` prints."""

    kind: str = "error"


class ParseError(Error):
    """Text that is not a plan. It prints the line at fault with a caret below.

    Attributes:
        message: what is wrong.
        text: the text that was read.
        position: index of the character at fault in ``text``.

    >>> import tradeoff as to
    >>> try:
    ...     to.parse("gaussian(sigma=1) | poison(rate=0.1)")
    ... except to.ParseError as error:
    ...     print(error)  # doctest: +ELLIPSIS
    ...     print(error.position)
    unknown operator 'poison': did you mean 'poisson'? ...
    gaussian(sigma=1) | poison(rate=0.1)
                        ^
    20
    """

    kind = "parse"
    message: str
    text: str
    position: int

    def __init__(self, message: str, text: str = "", offset: int = 0) -> None:
        super().__init__(message, text, offset)
        self.message = message
        self.text = text
        self.position = len(text.encode()[:offset].decode(errors="ignore"))

    def __str__(self) -> str:
        if not self.text:
            return self.message
        from . import _core

        return self.message + "\n" + _core.point_at(self.text, self.args[2])


class DomainError(Error):
    """A value outside its range; the message names the argument, the value and what is allowed."""

    kind = "domain"


class UnmetError(DomainError):
    """A stated target that the plan is not proved to meet."""


class UndecidedError(Error):
    """A comparison of an answer that its interval does not decide, or a claim where either end may be meant."""

    kind = "undecided"


class UnsupportedError(Error):
    """A meaningful question that no implemented theorem covers."""

    kind = "unsupported"


class TooLargeError(Error):
    """A problem above the documented size limits, refused before any work."""

    kind = "too_large"


class RandomnessError(Error):
    """The operating system gave no randomness; nothing was released."""

    kind = "randomness"


class BudgetError(Error):
    """A spend that an account of a ledger cannot afford; nothing was charged."""

    kind = "budget"


class SpendKeyError(Error):
    """A key of a ledger that was used for something else, or whose token is used up; nothing was charged."""

    kind = "key"


class StoreError(Error):
    """The store of a ledger cannot be opened, read or written."""

    kind = "store"
