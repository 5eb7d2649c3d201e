# SPDX-License-Identifier: Apache-2.0
"""Accounts of privacy budget in a durable store that many programs share."""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any, Iterable, NamedTuple

from . import _core
from ._errors import DomainError, UnsupportedError
from ._interval import Interval, upper
from ._numbers import Number, optional_text, stated
from ._plan import PlanLike


class Account(NamedTuple):
    """An account as it is now. Amounts are exact decimals, as text, in the additive unit of the currency: mu squared, rho, epsilon, ...

    Attributes:
        name: of the account.
        currency: gdp, zcdp, pure, rdp(ORDER) or approximate.
        cap: the most that may be spent.
        spent: so far.
        left: cap less spent.
        slack_cap: the most slack that may be spent.
        slack_spent: slack so far.
        entries: number of its entries in the log.
        head: hash of the last entry of the log.
        neighbours: the relation that every plan must cover.
        unit: what is protected, in words.
        stated: the cap as it was stated.
        guarantee: what holds for all spends together, in words.
        planned: the part of spent that is reserved and not used yet.
        block_of: the group of disjoint blocks that it belongs to, or empty.
    """

    name: str
    currency: str
    cap: str
    spent: str
    left: str
    slack_cap: str
    slack_spent: str
    entries: int
    head: str
    neighbours: str
    unit: str
    stated: str
    guarantee: str
    planned: str
    block_of: str


class Charge(NamedTuple):
    """What one account was charged: the measured quantity, and the exact amount.

    Attributes:
        account: its name.
        currency: its currency.
        quantity: what was measured: mu, rho, epsilon, ....
        value: the measured quantity.
        amount: what was charged, an exact decimal.
        slack: the slack charged.
    """

    account: str
    currency: str
    quantity: str
    value: Interval
    amount: str
    slack: str


class Receipt(NamedTuple):
    """The proof of a spend. Keep ``head``: ``Ledger.verify`` finds a log that has lost this entry.

    Attributes:
        key: of the spend.
        sequence: number of the entry.
        head: hash of the log up to this entry.
        charges: one for each account.
        replayed: whether the same spend was acknowledged before.
        token: to draw the noise once, if it was reserved.
        step_by_step: what the first account would have paid for the steps of the plan one by one, if that is another amount.
    """

    key: str
    sequence: int
    head: str
    charges: tuple[Charge, ...]
    replayed: bool
    token: str | None
    step_by_step: str | None


class LedgerEntry(NamedTuple):
    """One spend in the history of an account.

    Attributes:
        sequence: number of the entry.
        time: when it was written, UTC.
        kind: spend, reserve, ....
        key: of the spend.
        plan: what was spent on.
        charge: what this account was charged.
        head: hash of the log up to this entry.
        token: of a reservation, if it is not used up.
    """

    sequence: int
    time: str
    kind: str
    key: str
    plan: str
    charge: Charge
    head: str
    token: str | None


class LedgerVerification(NamedTuple):
    """Whether the log holds together, and what is wrong with it.

    Attributes:
        intact: whether nothing is wrong.
        entries: how many were read.
        head: hash of the last entry.
        faults: what is wrong.
    """

    intact: bool
    entries: int
    head: str
    faults: tuple[str, ...]


def _account(fields: dict[str, Any]) -> Account:
    return Account(fields["account"], **{name: fields[name] for name in Account._fields if name != "name"})


def _charge(account: str, cost: dict[str, Any]) -> Charge:
    (quantity,) = cost.keys() - {"currency", "charged", "slack"}
    value = cost[quantity]
    return Charge(account, cost["currency"], quantity, upper((float(value["lo"]), float(value["hi"]))), cost["charged"], cost["slack"])


def _receipt(fields: dict[str, Any]) -> Receipt:
    each = fields.get("charges", [{"account": fields["account"], "cost": fields["cost"]}])
    charges = tuple(_charge(one["account"], one["cost"]) for one in each)
    return Receipt(fields["key"], fields["sequence"], fields["head"], charges, fields["replayed"], fields.get("token"), fields.get("step_by_step"))


def _names(accounts: str | Iterable[str]) -> list[str]:
    return accounts.split(",") if isinstance(accounts, str) else list(accounts)


class Ledger:
    """A ledger at ``sqlite:PATH`` or ``postgresql://...``. It may be used from several threads and processes, and after a fork.

    At every time each account has spent at most its cap; a receipt is returned only after the store has made the spend durable; a key is
    charged at most once. Each spend is a plan that was fixed before any of its outputs was seen; which plan comes next may depend on
    everything seen so far.

    >>> import tempfile, tradeoff as to
    >>> folder = tempfile.TemporaryDirectory()
    >>> with to.Ledger(f"sqlite:{folder.name}/budget.db", create=True) as ledger:
    ...     account = ledger.create("patients", mu=1)
    ...     receipt = ledger.spend("patients", to.gaussian(sigma=10), key="march")
    ...     print(receipt.charges[0].amount, ledger.account("patients").left)
    0.01 0.99
    """

    __slots__ = ("_opened",)

    def __init__(self, url: str = "sqlite:tradeoff-ledger.db", *, create: bool = False) -> None:
        if not _core.has_ledger:
            raise UnsupportedError("this package was built without the ledger (TRADEOFF_LEDGER=OFF)")
        self._opened: _core.Ledger | None = _core.Ledger(url, create)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection to the store."""
        self._opened = None

    @property
    def _open(self) -> _core.Ledger:
        if self._opened is None:
            raise DomainError("the ledger is closed")
        return self._opened

    def create(
        self,
        account: str,
        *,
        currency: str = "gdp",
        neighbours: str = "add-remove",
        unit: str = "",
        block_of: str = "",
        mu: Number | None = None,
        rho: Number | None = None,
        divergence: Number | None = None,
        advantage: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        slack: Number | None = None,
    ) -> Account:
        """Makes an account. Its cap is ``mu``, ``rho``, ``divergence`` or ``advantage``, or ``epsilon`` with ``delta``.

        Accounts with the same ``block_of`` are for disjoint parts of the data: a record is in one of them only. A spend on that name charges
        all of them.
        """
        cap = stated(mu=mu, rho=rho, divergence=divergence, advantage=advantage, epsilon=epsilon, delta=delta, slack=slack)
        return _account(json.loads(self._open.create(account, currency, neighbours, unit, block_of, cap)))

    def change_cap(
        self,
        account: str,
        *,
        mu: Number | None = None,
        rho: Number | None = None,
        divergence: Number | None = None,
        advantage: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        slack: Number | None = None,
    ) -> Account:
        """Changes the cap, which the log records; refused below what is spent."""
        cap = stated(mu=mu, rho=rho, divergence=divergence, advantage=advantage, epsilon=epsilon, delta=delta, slack=slack)
        return _account(json.loads(self._open.change_cap(account, cap)))

    def spend(self, accounts: str | Iterable[str], plan: PlanLike, *, key: str, slack: Number | None = None) -> Receipt:
        """Charges the plan to all accounts or none. The same key and plan return the same receipt again. Raises ``BudgetError``."""
        return _receipt(json.loads(self._open.spend(_names(accounts), key, str(plan), optional_text("slack", slack))))

    def reserve(self, accounts: str | Iterable[str], plan: PlanLike, *, key: str, slack: Number | None = None) -> Receipt:
        """The same, and opens a token: permission to draw the noise of the plan once, which ``use`` takes."""
        return _receipt(json.loads(self._open.reserve(_names(accounts), key, str(plan), optional_text("slack", slack))))

    def spend_all(self, requests: Iterable[tuple[str | Iterable[str], PlanLike, str]]) -> list[Receipt | str]:
        """Charges many (accounts, plan, key) with one write to the disk. Each gets its receipt, or the text of its refusal."""
        texts = [(_names(accounts), key, str(plan)) for accounts, plan, key in requests]
        return [one if isinstance(one, str) else _receipt(one) for one in json.loads(self._open.spend_all(texts))]

    def use(self, account: str, *, key: str) -> Receipt:
        """Uses up the token of a reservation: returns once, then raises ``SpendKeyError``. Draw the noise after it returns."""
        return _receipt(json.loads(self._open.use(account, key)))

    def accounts(self, name: str | None = None) -> list[Account]:
        """All accounts, by name; or the blocks of one group."""
        return [_account(json.loads(one)) for one in self._open.accounts(name)]

    def account(self, name: str) -> Account:
        """One account."""
        return _account(json.loads(self._open.account(name)))

    def history(self, account: str) -> list[LedgerEntry]:
        """The spends of an account, the oldest first."""
        return [
            LedgerEntry(
                one["sequence"], one["time"], one["kind"], one["key"], one["plan"], _charge(account, one["cost"]), one["head"], one.get("token")
            )
            for one in json.loads(self._open.history(account))
        ]

    def verify(self, expect_head: str | None = None) -> LedgerVerification:
        """Recomputes every hash and balance; with the head of a receipt: the log must still contain that entry."""
        found = json.loads(self._open.verify(expect_head or ""))
        return LedgerVerification(found["intact"], found["entries"], found["head"], tuple(found["faults"]))

    def export(self) -> list[str]:
        """The log as lines of JSON, ``{"hash": ..., "body": ...}``: the hash is the SHA-256 of the body, which names the hash before."""
        return list(self._open.export())
