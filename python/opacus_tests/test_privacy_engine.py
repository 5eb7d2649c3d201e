# SPDX-License-Identifier: Apache-2.0
"""The accountant inside the real PrivacyEngine of Opacus, which trains a small model on the CPU with PyTorch."""

import copy
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from opacus import PrivacyEngine
from opacus.accountants import IAccountant, PRVAccountant, RDPAccountant, create_accountant
from opacus.accountants import registry
from opacus.schedulers import ExponentialNoise
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch.utils.data import DataLoader, TensorDataset

import tradeoff as to
from tradeoff import interchange
from tradeoff.interchange import Accountant, NoStepsWarning

DELTA = 1e-5
EXAMPLES, BATCH = 400, 20


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Warnings of ours are errors unless a test expects them; those of PyTorch and Opacus are their own business."""
    torch.manual_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", NoStepsWarning)
        yield


@pytest.fixture
def named() -> Iterator[None]:
    """The accountant known to Opacus by name, and forgotten afterwards."""
    interchange.opacus.register()
    yield
    del registry._ACCOUNTANTS["tradeoff"]


class Run:
    """A model, its data, and its training by an engine."""

    def __init__(self, engine: PrivacyEngine, *, noise: float = 1.1, target: float | None = None, epochs: int = 2, **more: Any):
        self.engine = engine
        model = torch.nn.Linear(4, 2)
        data = TensorDataset(torch.randn(EXAMPLES, 4), torch.randint(0, 2, (EXAMPLES,)))
        loader = DataLoader(data, batch_size=BATCH)
        parts: dict[str, Any] = dict(module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), data_loader=loader, max_grad_norm=1.0)
        if target is None:
            made = engine.make_private(noise_multiplier=noise, **parts, **more)
        else:
            made = engine.make_private_with_epsilon(target_epsilon=target, target_delta=DELTA, epochs=epochs, **parts, **more)
        self.model, self.optimizer, self.loader = made

    def step(self, features: Any, labels: Any) -> None:
        self.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(self.model(features), labels).backward()
        self.optimizer.step()

    def train(self, epochs: int = 1) -> "Run":
        for _ in range(epochs):
            for features, labels in self.loader:
                self.step(features, labels)
        return self


def engine_with(accountant: Accountant) -> PrivacyEngine:
    engine = PrivacyEngine()
    engine.accountant = accountant
    return engine


def assert_agrees_with_opacus(history: list[Any], delta: float = DELTA) -> None:
    """Not above what Renyi accounting proves; inside what the PRV accountant encloses."""
    ours = Accountant.from_history(history).get_epsilon_interval(delta)
    rdp, prv = RDPAccountant(), PRVAccountant()
    rdp.history, prv.history = list(history), list(history)
    assert ours.hi <= rdp.get_epsilon(delta)
    low, _, high = prv._get_dprv(eps_error=0.01, delta_error=delta / 1000).compute_epsilon(delta, delta / 1000, 0.01)
    assert low - 1e-9 <= ours.hi and ours.lo <= high + 1e-9 and high - low < 0.1


def test_attached_before() -> None:
    accountant = Accountant()
    run = Run(engine_with(accountant)).train(3)
    assert accountant.history == [(1.1, BATCH / EXAMPLES, 60)]
    exact = to.gaussian(1.1).poisson(BATCH / EXAMPLES).repeat(60).curve().epsilon(DELTA)
    assert run.engine.get_epsilon(DELTA) == accountant.get_epsilon(DELTA) == exact.hi
    assert_agrees_with_opacus(accountant.history)


def test_attached_after_is_never_a_silent_zero() -> None:
    run = Run(PrivacyEngine())
    counted, run.engine.accountant = run.engine.accountant, Accountant()
    run.train()
    assert len(counted) == 1  # the steps went to the accountant that make_private found
    for ask in (run.engine.get_epsilon, run.engine.accountant.get_epsilon_interval, run.engine.accountant.get_delta):
        with pytest.warns(NoStepsWarning, match="make_private"):
            ask(DELTA)
    with pytest.warns(NoStepsWarning):
        run.engine.accountant.curve
    with warnings.catch_warnings(record=True) as shown:
        warnings.resetwarnings()  # as in a fresh interpreter, where a UserWarning is shown
        run.engine.get_epsilon(DELTA)
    assert [one.category for one in shown] == [NoStepsWarning] and "privacy_engine" in shown[0].filename
    taken_over = Accountant.from_history(counted)
    assert 0 < taken_over.get_epsilon(DELTA) and taken_over.history == counted.history


def test_by_name(named: None) -> None:
    run = Run(PrivacyEngine(accountant="tradeoff"))
    assert isinstance(run.engine.accountant, Accountant) and isinstance(run.engine.accountant, IAccountant)
    with pytest.warns(NoStepsWarning):
        assert run.engine.get_epsilon(DELTA) == 0
    run.train(2)
    assert run.engine.accountant.history == [(1.1, BATCH / EXAMPLES, 40)] and 0 < run.engine.get_epsilon(DELTA)
    assert isinstance(create_accountant("tradeoff"), Accountant)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="tradeoff"):
        PrivacyEngine(accountant="tradeoff")
    with pytest.raises(ValueError, match="tradeoff"):  # an object that Opacus cannot find by its name
        Run(engine_with(Accountant()), target=2.0)


@pytest.mark.parametrize("target", [0.8, 3.0])
def test_make_private_with_epsilon(named: None, target: float) -> None:
    run = Run(PrivacyEngine(accountant="tradeoff"), target=target, epochs=2).train(2)
    spent = run.engine.get_epsilon(DELTA)
    assert target - 0.02 <= spent <= target
    assert run.engine.accountant.history == [(run.optimizer.noise_multiplier, BATCH / EXAMPLES, 40)]
    other = Run(PrivacyEngine(accountant="rdp"), target=target, epochs=2)
    assert run.optimizer.noise_multiplier <= other.optimizer.noise_multiplier  # the same promise with no more noise


def test_checkpoints(named: None, tmp_path: Path) -> None:
    first = Run(PrivacyEngine(accountant="tradeoff")).train()
    path = tmp_path / "checkpoint.pt"
    first.engine.save_checkpoint(path=path, module=first.model, optimizer=first.optimizer)
    second = Run(PrivacyEngine(accountant="tradeoff"))
    second.engine.load_checkpoint(path=path, module=second.model, optimizer=second.optimizer)
    assert second.engine.get_epsilon(DELTA) == first.engine.get_epsilon(DELTA)
    assert all(torch.equal(a, b) for a, b in zip(first.model.state_dict().values(), second.model.state_dict().values()))
    second.train()  # goes on counting
    assert [run.engine.accountant.history for run in (first, second)] == [[(1.1, BATCH / EXAMPLES, 20)], [(1.1, BATCH / EXAMPLES, 40)]]
    assert second.engine.get_epsilon(DELTA) > first.engine.get_epsilon(DELTA)


def test_checkpoints_of_other_accountants(named: None) -> None:
    for mechanism in ("prv", "rdp"):
        theirs = Run(PrivacyEngine(accountant=mechanism)).train()
        stored = io.BytesIO()
        theirs.engine.save_checkpoint(path=stored, module=theirs.model)
        stored.seek(0)
        ours = Run(PrivacyEngine(accountant="tradeoff"))
        ours.engine.load_checkpoint(path=stored, module=ours.model)
        assert ours.engine.accountant.history == theirs.engine.accountant.history
        assert ours.engine.get_epsilon(DELTA) <= theirs.engine.get_epsilon(DELTA) + 1e-9
    with pytest.raises(ValueError, match="tradeoff"):
        theirs.engine.accountant.load_state_dict(ours.engine.accountant.state_dict())


def test_state_dict_travels(named: None) -> None:
    run = Run(PrivacyEngine(accountant="tradeoff")).train()
    state = copy.deepcopy(run.engine.accountant.state_dict())
    run.train()
    other = create_accountant("tradeoff")
    other.load_state_dict(state)
    assert other.history == [(1.1, BATCH / EXAMPLES, 20)] and other.get_epsilon(DELTA) < run.engine.get_epsilon(DELTA)


def test_noise_changes_during_training(named: None) -> None:
    run = Run(PrivacyEngine(accountant="tradeoff"), noise=2.0)
    scheduler = ExponentialNoise(run.optimizer, gamma=0.9)
    for _ in range(3):
        run.train()
        scheduler.step()
    noises = [entry[0] for entry in run.engine.accountant.history]
    assert noises == pytest.approx([2.0, 1.8, 1.62]) and all(entry[2] == 20 for entry in run.engine.accountant.history)
    assert_agrees_with_opacus(run.engine.accountant.history)


def test_sample_rate_changes_between_runs(named: None) -> None:
    accountant = Accountant()
    Run(engine_with(accountant)).train()
    first = accountant.get_epsilon(DELTA)
    second = Run(engine_with(accountant), noise=0.9)
    with BatchMemoryManager(data_loader=second.loader, max_physical_batch_size=7, optimizer=second.optimizer) as split:
        for features, labels in split:
            second.step(features, labels)
    assert accountant.history == [(1.1, 0.05, 20), (0.9, 0.05, 20)]  # a batch that is split is one step
    accountant.step(noise_multiplier=1.0, sample_rate=0.2)
    assert first < accountant.get_epsilon(DELTA)
    assert_agrees_with_opacus(accountant.history)


def test_accumulated_batches_cost_at_least_what_they_release() -> None:
    """A record may be in several of the batches that are summed before noise is added: more than one batch at twice the rate can leak."""
    accountant = Accountant()
    run = Run(engine_with(accountant), noise=1.0, poisson_sampling=False)
    batches = list(run.loader)
    run.optimizer.zero_grad()
    for features, labels in batches[:2]:
        torch.nn.functional.cross_entropy(run.model(features), labels).backward()
    run.optimizer.step()
    (noise, rate, steps), *rest = accountant.history
    assert not rest and rate == BATCH / EXAMPLES and steps == 2 and 0 < 2**0.5 * noise <= 1
    # Exactly: with the record the sum is shifted by Binomial(2, rate) clipping norms. delta at epsilon = 1 by quadrature:
    at = torch.linspace(-12, 14, 260_001, dtype=torch.float64)
    density = lambda shift: torch.exp(-((at - shift) ** 2) / 2) / (2 * torch.pi) ** 0.5
    present = (1 - rate) ** 2 * density(0) + 2 * rate * (1 - rate) * density(1) + rate**2 * density(2)
    for epsilon in (0.1, 1.0, 2.0):
        truth = float(torch.trapezoid(torch.clamp(present - 2.718281828459045**epsilon * density(0), min=0), at))
        assert truth <= accountant.get_delta(epsilon)
        if epsilon == 2.0:  # and what Opacus counts, one batch at twice the rate, is too little
            assert truth > to.gaussian(1).poisson(2 * rate).curve().delta(epsilon).hi


def test_a_step_without_noise_is_refused() -> None:
    accountant = Accountant()
    run = Run(engine_with(accountant), noise=0.0)
    with pytest.raises(to.DomainError, match="noise_multiplier"):
        run.train()
    assert accountant.history == []


def test_read_history_of_a_trained_engine() -> None:
    run = Run(PrivacyEngine(accountant="prv")).train()
    assert interchange.read_history(run.engine.accountant) == to.gaussian(1.1).poisson(BATCH / EXAMPLES).repeat(20)
