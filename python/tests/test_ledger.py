# SPDX-License-Identifier: Apache-2.0
"""The ledger from Python: one behaviour with the command line, several threads and processes, errors with their kinds."""

import hashlib
import json
import multiprocessing
import threading

import pytest

import tradeoff as to


@pytest.fixture
def url(tmp_path):
    return f"sqlite:{tmp_path}/budget.db"


@pytest.fixture
def ledger(url):
    with to.Ledger(url, create=True) as opened:
        opened.create("a", mu=1, unit="one patient")
        yield opened


def test_spends_up_to_the_cap(ledger):
    for i in range(4):
        receipt = ledger.spend("a", to.gaussian(sigma=2), key=f"k{i}")
        assert receipt.charges[0].amount == "0.25"
        assert receipt.charges[0].value.lo <= 0.5 <= receipt.charges[0].value.hi
    with pytest.raises(to.BudgetError, match="has 0 left"):
        ledger.spend("a", to.gaussian(sigma=2), key="more")
    account = ledger.account("a")
    assert (account.cap, account.spent, account.left, account.entries) == ("1", "1", "0", 4)
    assert ledger.verify(account.head).intact
    assert not ledger.verify("0" * 64).intact


def test_keys_and_tokens(ledger):
    first = ledger.reserve("a", "gaussian(sigma=2)", key="k")
    assert not first.replayed and first.token == "open"
    assert ledger.reserve("a", "gaussian(sigma=2)", key="k").replayed
    assert ledger.use("a", key="k").token == "used"
    with pytest.raises(to.SpendKeyError, match="used up"):
        ledger.use("a", key="k")
    with pytest.raises(to.SpendKeyError):
        ledger.spend("a", "gaussian(sigma=3)", key="k")
    (entry,) = ledger.history("a")
    assert (entry.kind, entry.key, entry.plan, entry.token) == ("reserve", "k", "gaussian(sigma=2)", "used")


def test_several_accounts_and_currencies(ledger):
    ledger.create("b", epsilon=1, currency="pure")
    ledger.create("c", epsilon=1, delta=1e-5, currency="approximate")
    receipt = ledger.spend(["a", "b", "c"], to.laplace(scale=100), key="k")
    assert [one.quantity for one in receipt.charges] == ["mu", "epsilon", "epsilon"]
    assert ledger.spend("b,a", to.laplace(scale=100), key="l").charges[1].amount == "0.01"
    assert [one.name for one in ledger.accounts()] == ["a", "b", "c"]


def test_blocks(ledger):
    for name in ("january", "february"):
        assert ledger.create(name, mu=1, block_of="visits").block_of == "visits"
    ledger.spend("january", "gaussian(sigma=4)", key="k")
    assert len(ledger.reserve("visits", "gaussian(sigma=4)", key="all").charges) == 2
    january = {one.name: one for one in ledger.accounts("visits")}["january"]
    assert (january.spent, january.planned) == ("0.125", "0.0625")
    assert ledger.use("visits", key="all").token == "used"
    assert ledger.account("january").planned == "0"


def test_receipt_says_what_a_batch_saves(ledger):
    receipt = ledger.spend("a", "dp(0.05) | repeat(20)", key="k")
    assert float(receipt.step_by_step) > float(receipt.charges[0].amount)
    assert ledger.spend("a", "gaussian(10)", key="l").step_by_step is None


def test_threads_share_writes(ledger):
    keys = [f"k{i}" for i in range(16)]
    threads = [threading.Thread(target=lambda key=key: ledger.spend("a", "gaussian(sigma=8)", key=key)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.account("a").spent == "0.25"
    assert sorted(entry.key for entry in ledger.history("a")) == sorted(keys)


def test_many_with_one_write(ledger):
    outcomes = ledger.spend_all([("a", "gaussian(sigma=2)", f"k{i}") for i in range(5)])
    assert [isinstance(one, to.Receipt) for one in outcomes] == [True] * 4 + [False]


def test_errors(ledger, tmp_path):
    with pytest.raises(to.StoreError, match="no ledger"):
        to.Ledger(f"sqlite:{tmp_path}/other.db")
    with pytest.raises(to.DomainError, match="no account"):
        ledger.spend("b", "gaussian(1)", key="k")
    with pytest.raises(to.ParseError):
        ledger.spend("a", "gausian(1)", key="k")
    with pytest.raises(to.DomainError, match="is spent already"):
        ledger.spend("a", "gaussian(2)", key="k")
        ledger.change_cap("a", mu=0.1)
    ledger.close()
    with pytest.raises(to.DomainError, match="closed"):
        ledger.accounts()


def test_export_can_be_checked(ledger):
    ledger.spend("a", "gaussian(2)", key="k")
    previous = "0" * 64
    for line in ledger.export():
        entry = json.loads(line)
        assert hashlib.sha256(entry["body"].encode()).hexdigest() == entry["hash"]
        assert json.loads(entry["body"])["previous"] == previous
        previous = entry["hash"]
    assert previous == ledger.verify().head


def _spend_some(url, name):
    with to.Ledger(url) as ledger:
        for i in range(10):
            try:
                ledger.spend("a", "gaussian(sigma=5)", key=f"{name}.{i}")
            except to.BudgetError:
                pass


def test_processes_and_threads(ledger, url):
    workers = [multiprocessing.get_context("spawn").Process(target=_spend_some, args=(url, f"p{i}")) for i in range(2)]
    workers += [threading.Thread(target=_spend_some, args=(url, f"t{i}")) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert ledger.account("a").spent == "1"
    assert ledger.account("a").entries == 25
    assert ledger.verify().intact
