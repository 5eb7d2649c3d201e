# SPDX-License-Identifier: Apache-2.0
"""The package inside a local Dask cluster of two processes: objects travel, a grid is calibrated, noise is drawn once under one ledger."""

import os
import pathlib
import sys

import pytest

import tradeoff as to

distributed = pytest.importorskip("distributed")
EXAMPLES = str(pathlib.Path(__file__).resolve().parents[1] / "examples")
sys.path.append(EXAMPLES)
import dask_grid  # noqa: E402
import dask_noise  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as opened,
    ):
        opened.run(sys.path.append, EXAMPLES)
        yield opened


@pytest.fixture
def ledger_url(tmp_path):
    """PostgreSQL under tools/with_postgresql, otherwise a file."""
    return os.environ.get("TRADEOFF_TEST_POSTGRESQL") or f"sqlite:{tmp_path}/budget.db"


def test_plans_curves_and_accountants_travel(client):
    plan = to.gaussian(1.1) | to.poisson("256/60000") | to.repeat(1000)
    curve = plan.curve()
    here = curve.epsilon(delta=1e-5)
    for there in (
        client.submit(lambda one: one.curve().epsilon(delta=1e-5), plan),
        client.submit(lambda one: one.epsilon(delta=1e-5), curve),
        client.submit(lambda text: to.analyze(text).epsilon(delta=1e-5), str(plan)),
    ):
        assert there.result() == here
    assert client.submit(lambda one: one.curve(), plan).result().epsilon(delta=1e-5) == here
    run = to.sgd(noise_multiplier=1.1, batch=256, examples=60000, epochs=1)
    assert client.submit(lambda one: one.sentence(delta=1e-5), run).result() == run.sentence(delta=1e-5)
    accountant = to.interchange.opacus.Accountant()
    for _ in range(3):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)

    def one_more_step(one):
        one.step(noise_multiplier=1.1, sample_rate=0.01)
        return one

    grown = client.submit(one_more_step, accountant).result()
    assert accountant.history == [(1.1, 0.01, 3)] and grown.history == [(1.1, 0.01, 4)]
    assert grown.get_epsilon(delta=1e-5) > accountant.get_epsilon(delta=1e-5)


def test_errors_come_back_as_they_are(client):
    with pytest.raises(to.ParseError):
        client.submit(to.analyze, "gauss(1)").result()
    with pytest.raises(Exception, match="cannot be copied or pickled"):
        client.submit(to.certify, "discrete_laplace(scale=2)").result()


def test_grid_is_that_of_one_process(client):
    assert len(set(dask_grid.grid())) == 100_000
    settings = dask_grid.grid(48)
    assert len(set(settings)) == 48
    with pytest.raises(ValueError, match="from 1 to 100000, not 0"):
        dask_grid.grid(0)
    done = []
    found = dask_grid.calibrate_grid(client, settings, batch=5, progress=done.append)
    assert len(done) == 10 and done == sorted(done) and done[-1] == 48
    assert found[::12] == dask_grid.calibrate_some(settings[::12])
    for one, sigma in list(zip(settings, found))[::16]:
        curve = to.analyze(f"gaussian(sigma={sigma!r}) | poisson(rate=1/{one.batches}) | repeat({one.epochs * one.batches})")
        assert curve.check(epsilon=one.epsilon, delta=one.delta) == "within"


def test_noise_is_drawn_once_for_each_partition(client, ledger_url):
    partitions = [[1000.0, 2000.0] for _ in range(12)]  # equal values: equal noise would show
    with to.Ledger(ledger_url, create=True) as ledger:
        ledger.create("counts", mu=1)
        released = dask_noise.release_all(client, ledger_url, "counts", "first", partitions)
        account = ledger.account("counts")
        assert account.entries == 12 and account.planned == "0"
        assert ledger.verify(account.head).intact
        noise = [tuple(rows) for rows, _ in released]
        # 12 draws of two values with sigma 20: some of 66 pairs agree with probability 66 / (4 pi 400) = 1.3 %, three with 1e-6 or so
        assert len(set(noise)) >= 10
        for rows, document in released:
            assert to.verify(document).verdict == "confirmed"
            assert all(abs(value - truth) < 400 for value, truth in zip(rows, [1000, 2000]))  # 20 standard deviations
        # a task that Dask repeats: charged once, and nothing is drawn again
        with pytest.raises(to.SpendKeyError):
            client.submit(dask_noise.release_partition, ledger_url, "counts", "first-3", [1000.0, 2000.0], pure=False).result()
        assert ledger.account("counts").spent == account.spent


def test_all_workers_together_stay_below_the_cap(client, ledger_url):
    with to.Ledger(ledger_url, create=True) as ledger:
        ledger.create("small", mu="0.1")  # mu squared 0.01; a partition of one value costs about 1/400 = 0.0025
        tasks = [client.submit(dask_noise.release_partition, ledger_url, "small", f"k{i}", [5.0], pure=False) for i in range(8)]
        distributed.wait(tasks)
        assert 3 <= sum(task.status == "finished" for task in tasks) <= 4
        assert all(isinstance(task.exception(), to.BudgetError) for task in tasks if task.status == "error")
        account = ledger.account("small")
        assert float(account.spent) <= float(account.cap)
