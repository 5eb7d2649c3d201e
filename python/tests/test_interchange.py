# SPDX-License-Identifier: Apache-2.0
"""Other accountants: their interfaces, their histories, their events."""

import copy
import importlib
import math
import pickle
import sys
import time
import types
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tradeoff as to
from tradeoff import interchange
from tradeoff.interchange import Accountant, prv

steps = st.lists(st.tuples(st.sampled_from([0.9, 1.1, 2.0]), st.sampled_from([0.01, 0.02]), st.integers(1, 500)), min_size=1, max_size=4)


# Opacus


def test_steps_are_counted() -> None:
    accountant = Accountant()
    for _ in range(3):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    accountant.step(noise_multiplier=1.2, sample_rate=0.01)
    assert accountant.history == [(1.1, 0.01, 3), (1.2, 0.01, 1)] and len(accountant) == 2
    assert accountant.plan == to.parse("gaussian(1.1) | poisson(0.01) | repeat(3); gaussian(1.2) | poisson(0.01) | repeat(1)")
    assert accountant.get_epsilon(1e-5) == accountant.plan.curve(neighbours="add-remove").epsilon(1e-5).hi
    assert accountant.mechanism() == Accountant.mechanism() == "tradeoff"


def test_numbers_of_other_kinds_are_merged() -> None:
    accountant = Accountant()
    for noise in (1.5, np.float64(1.5), np.float32(1.5), np.array(1.5)):
        accountant.step(noise_multiplier=noise, sample_rate=0.25)  # type: ignore[arg-type]
    assert accountant.history == [(1.5, 0.25, 4)]


@pytest.mark.parametrize("history", [[], [(1.1, 0.01, 0)]])
def test_no_step_is_no_silent_zero(history: list[Any]) -> None:
    accountant = Accountant.from_history(history)
    for ask in (lambda: accountant.get_epsilon(1e-5), lambda: accountant.get_epsilon_interval(1e-5).hi, lambda: accountant.get_delta(0)):
        with pytest.warns(interchange.NoStepsWarning, match="before") as caught:
            assert ask() == 0
        assert caught[0].filename == __file__  # it points at the caller
    with pytest.warns(interchange.NoStepsWarning):
        assert accountant.curve.epsilon(0).hi == 0
    accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert accountant.get_epsilon(1e-5) > 0


@settings(max_examples=10, deadline=None)
@given(history=steps, more=steps)
def test_a_history_that_grows_answers_as_one_that_is_whole(history: list[Any], more: list[Any]) -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 100)])
    for noise, rate, count in history + more:
        accountant.get_epsilon(1e-5)
        for _ in range(count % 7):
            accountant.step(noise_multiplier=noise, sample_rate=rate)
        accountant.merge([(noise, rate, count)])
    grown, whole = accountant.get_epsilon_interval(1e-6), accountant.plan.curve(neighbours="add-remove").epsilon(1e-6)
    assert grown.lo <= whole.hi and whole.lo <= grown.hi and grown.width < 1e-8


def test_a_history_that_shrinks_is_analysed_anew() -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 1000), (1.0, 0.02, 5)])
    spent = accountant.get_epsilon(1e-5)
    for history in ([(1.1, 0.01, 900), (1.0, 0.02, 5)], [(1.1, 0.01, 1000)], [(1.2, 0.01, 1000), (1.0, 0.02, 9)]):
        accountant.history = list(history)
        assert accountant.get_epsilon(1e-5) < spent


def test_accountants_are_copied_and_stored() -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 100)])
    spent = accountant.get_epsilon(1e-5)
    for other in (copy.deepcopy(accountant), pickle.loads(pickle.dumps(accountant))):
        other.step(noise_multiplier=1.1, sample_rate=0.01)
        assert other.get_epsilon(1e-5) > spent and accountant.get_epsilon(1e-5) == spent
    assert accountant.curve == accountant.plan.curve(neighbours="add-remove")


def test_a_query_changes_nothing() -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 1000)])
    before = copy.deepcopy(accountant.history)
    first = accountant.get_epsilon(delta=1e-5, eps_error=0.1, alphas=[2, 3])
    accountant.get_epsilon(1e-3)
    assert accountant.history == before and accountant.get_epsilon(1e-5) == pytest.approx(first, rel=1e-9)


@pytest.mark.parametrize(
    "step",
    [
        {"noise_multiplier": 0, "sample_rate": 0.1},
        {"noise_multiplier": -1, "sample_rate": 0.1},
        {"noise_multiplier": math.nan, "sample_rate": 0.1},
        {"noise_multiplier": math.inf, "sample_rate": 0.1},
        {"noise_multiplier": 1, "sample_rate": 256},
        {"noise_multiplier": 1, "sample_rate": -0.1},
        {"noise_multiplier": "1", "sample_rate": 0.1},
        {"noise_multiplier": None, "sample_rate": 0.1},
        {"noise_multiplier": True, "sample_rate": 0.1},
    ],
)
def test_a_refused_step_changes_nothing(step: dict[str, Any]) -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 10)])
    with pytest.raises(to.DomainError):
        accountant.step(**step)
    assert accountant.history == [(1.1, 0.01, 10)]
    accountant.history.append((step["noise_multiplier"], step["sample_rate"], 1))  # smuggled in: found when asked
    with pytest.raises(to.Error):
        accountant.get_epsilon(1e-5)


def test_states_travel() -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 10)])
    state = accountant.state_dict()
    assert dict(state) == {"history": [(1.1, 0.01, 10)], "mechanism": "tradeoff"}
    accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    assert state["history"] == [(1.1, 0.01, 10)]
    other = Accountant()
    other.load_state_dict(pickle.loads(pickle.dumps(state)))
    assert other.history == [(1.1, 0.01, 10)]
    other.load_state_dict({"history": [(2.0, 0.5, 3)], "mechanism": "prv"})  # a checkpoint of another accountant
    assert other.history == [(2.0, 0.5, 3)]
    for bad in (None, {}, {"history": []}, {"mechanism": "prv"}, {"history": [(1, 2)], "mechanism": "prv"}, {"history": [], "mechanism": "laplace"}):
        with pytest.raises(ValueError):
            other.load_state_dict(bad)
    assert other.history == [(2.0, 0.5, 3)]


def test_assumptions_are_stated() -> None:
    with pytest.raises(to.UnsupportedError, match="shuffles"):
        Accountant(sampling="shuffled")
    with pytest.raises(to.UnsupportedError, match="2C"):
        Accountant(neighbours="replace-one")
    with pytest.raises(to.UnsupportedError, match="Poisson"):
        Accountant().get_epsilon(1e-5, poisson=False)
    with pytest.raises(TypeError):
        Accountant().get_epsilon(1e-5, epsilon_error=1)


def test_the_hook_counts_accumulated_batches_one_by_one() -> None:
    """Their sum with noise is what can be computed from the noisy sums of each, with a part of the variance."""
    accountant = Accountant()
    hook = accountant.get_optimizer_hook_fn(sample_rate=0.01)
    hook(types.SimpleNamespace(noise_multiplier=1.1, accumulated_iterations=1))
    assert accountant.history == [(1.1, 0.01, 1)]
    hook(types.SimpleNamespace(noise_multiplier=1.1, accumulated_iterations=4))
    assert accountant.history[1:] == [(pytest.approx(0.55, rel=1e-14), 0.01, 4)] and accountant.history[1][0] < 0.55


@given(steps, steps)
@settings(max_examples=15)
def test_histories_merge(one: list[Any], other: list[Any]) -> None:
    accountant = Accountant.from_history(one)
    accountant.merge(Accountant.from_history(other))
    assert sum(entry[2] for entry in accountant.history) == sum(entry[2] for entry in one + other)
    together = interchange.merge_histories(one, other)
    assert interchange.read_history(together) == interchange.read_history(one + other) == accountant.plan


def test_every_step_of_a_long_run_is_answered_at_once() -> None:
    accountant = Accountant.from_history([(1.1, 0.01, 5000)])
    accountant.get_epsilon(1e-5)
    last = 0.0
    start = time.process_time()
    for _ in range(200):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)
        epsilon = accountant.get_epsilon(1e-5)
        assert epsilon > last
        last = epsilon
    assert (time.process_time() - start) / 200 < 5e-3


@pytest.fixture
def opacus() -> Iterator[Any]:
    """The accountants of the real package; the rest of it, which needs PyTorch, is left out."""
    spec = importlib.util.find_spec("opacus")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("opacus is not installed")
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "opacus"}
    package = types.ModuleType("opacus")
    package.__path__ = list(spec.submodule_search_locations)
    optimizers = types.ModuleType("opacus.optimizers")
    optimizers.DPOptimizer = object  # type: ignore[attr-defined]
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    try:
        yield importlib.import_module("opacus.accountants")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "opacus"]:
            del sys.modules[name]
        sys.modules.update(kept)


def test_inside_opacus(opacus: Any) -> None:
    interchange.opacus.register()
    ours, theirs = opacus.create_accountant("tradeoff"), opacus.create_accountant("prv")
    assert isinstance(ours, Accountant) and to.interchange.Accountant is Accountant
    for accountant in (ours, theirs):
        for _ in range(500):
            accountant.step(noise_multiplier=1.1, sample_rate=0.02)
    assert ours.history == theirs.history
    low, high = ours.get_epsilon_interval(1e-5)
    assert low <= high <= theirs.get_epsilon(1e-5) + 1e-9  # theirs is an upper bound with an allowance of 0.01
    assert theirs.get_epsilon(1e-5) - high < 0.05
    assert interchange.read_history(theirs) == ours.plan
    ours.load_state_dict(theirs.state_dict())
    utils = importlib.import_module("opacus.accountants.utils")
    sigma = utils.get_noise_multiplier(target_epsilon=2, target_delta=1e-5, sample_rate=0.02, steps=500, accountant="tradeoff")
    assert to.gaussian(sigma).poisson(0.02).repeat(500).curve().epsilon(1e-5).hi <= 2
    assert set(opacus.IAccountant.__abstractmethods__) <= set(dir(Accountant))


# dp-accounting

dp_accounting = pytest.importorskip("dp_accounting")
events = dp_accounting.dp_event
relation = dp_accounting.NeighboringRelation


def pessimistic(event: Any, neighbours: Any, delta: float, grid: float = 1e-3) -> float:
    from dp_accounting.pld import PLDAccountant

    return float(PLDAccountant(neighbours, value_discretization_interval=grid).compose(event).get_epsilon(delta))


ADD_REMOVE_EVENTS = [
    events.GaussianDpEvent(2.0),
    events.LaplaceDpEvent(1.5),
    events.DiscreteLaplaceDpEvent(0.7, 2),
    events.SelfComposedDpEvent(events.LaplaceDpEvent(4.0), 5),
    events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.02, events.GaussianDpEvent(1.1)), 1000),
    events.ComposedDpEvent(
        [events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(0.9)), 800), events.GaussianDpEvent(3.0), events.NoOpDpEvent()]
    ),
]


@pytest.mark.parametrize("event", ADD_REMOVE_EVENTS, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_never_above_the_pessimistic_answer(event: Any, delta: float) -> None:
    plan = interchange.from_dp_event(event, neighbours=relation.ADD_OR_REMOVE_ONE)
    theirs = pessimistic(event, relation.ADD_OR_REMOVE_ONE, delta)
    found = plan.curve(neighbours="add-remove").epsilon(delta)
    assert found.hi <= theirs + 1e-9
    assert theirs - found.lo <= 0.05 * theirs + 0.01
    assert interchange.from_dp_event(event.to_named_tuple(), neighbours="add-remove") == plan


@pytest.mark.parametrize(
    "event",
    [
        events.GaussianDpEvent(3.0),
        events.RandomizedResponseDpEvent(0.3, 4),
        events.ComposedDpEvent([events.RandomizedResponseDpEvent(0.5, 2)] * 6),  # SelfComposed counts once there, which is too little
    ],
    ids=lambda event: type(event).__name__,
)
def test_replace_one_has_a_factor_of_two(event: Any) -> None:
    plan = interchange.from_dp_event(event, neighbours="replace-one", unit="clipping norm")
    theirs = pessimistic(event, relation.REPLACE_ONE, 1e-4)
    found = plan.curve(neighbours="replace-one").epsilon(1e-4)
    assert found.hi <= theirs + 1e-9 and theirs - found.lo <= 0.05 * theirs + 0.01


def test_events_ask_for_what_they_do_not_say() -> None:
    gaussian = events.GaussianDpEvent(1.0)
    with pytest.raises(TypeError):
        interchange.from_dp_event(gaussian)  # type: ignore[call-arg]
    with pytest.raises(to.DomainError, match="2C"):
        interchange.from_dp_event(gaussian, neighbours="replace-one")
    assert interchange.from_dp_event(gaussian, neighbours="replace-one", unit="sensitivity") == to.gaussian(1.0)
    for event, neighbours in (
        (events.PoissonSampledDpEvent(0.1, events.LaplaceDpEvent(1.0)), "replace-one"),
        (events.SampledWithoutReplacementDpEvent(100, 10, gaussian), "add-remove"),
        (events.RandomizedResponseDpEvent(0.5, 2), "add-remove"),
        (events.ZCDpEvent(1.0, xi=0.1), "add-remove"),
        (events.UnsupportedDpEvent(), "add-remove"),
    ):
        with pytest.raises(to.UnsupportedError, match=type(event).__name__):
            interchange.from_dp_event(event, neighbours=neighbours, unit="clipping norm")
    for neighbours in ("cousins", None):
        with pytest.raises(to.DomainError, match="neighbours"):
            interchange.from_dp_event(gaussian, neighbours=neighbours)


def test_the_best_of_a_random_number_of_runs_is_read() -> None:
    gaussian = events.GaussianDpEvent(2.0)
    for shape, law in ((1.0, "geometric(mean=10)"), (float("inf"), "poisson(mean=10)")):
        plan = interchange.from_dp_event(events.RepeatAndSelectDpEvent(gaussian, 10.0, shape), neighbours="add-remove", unit="clipping norm")
        assert plan == to.gaussian(2).best_of(law), shape


@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0, 3.0, float("inf")])
def test_the_best_of_a_random_number_of_runs_travels(shape: float) -> None:
    from dp_accounting.rdp import rdp_privacy_accountant as peer

    event = events.RepeatAndSelectDpEvent(events.GaussianDpEvent(2.0), 10.0, shape)
    plan = interchange.from_dp_event(event, neighbours="add-remove")
    back = interchange.to_dp_event(plan, neighbours="add-remove")
    assert (back.event, back.shape) == (event.event, shape)
    assert 10.0 <= back.mean <= 10.0 * (1 + 1e-13)
    if shape not in (1.0, float("inf")):
        success = float(plan.text.split("success=")[1].split(")")[0])
        assert success == pytest.approx(peer._gamma_truncated_negative_binomial(shape, 10.0), rel=1e-8)
    account = peer.RdpAccountant()
    account.compose(back)
    assert plan.curve(neighbours="add-remove").epsilon(delta=1e-5).hi <= account.get_epsilon(1e-5) * (1 + 1e-9)


def test_laws_of_runs_without_an_event_are_refused() -> None:
    for law in ("exactly(3)", "binomial(trials=4, chance=0.5)", "poisson_positive(mean=3)"):
        with pytest.raises(to.UnsupportedError, match="RepeatAndSelectDpEvent knows"):
            interchange.to_dp_event(to.gaussian(2).best_of(law), neighbours="add-remove")


def test_every_event_is_read_or_refused_for_its_own_reason() -> None:
    from tradeoff.interchange import dp_event as ours

    known = {name for name, kind in vars(events).items() if isinstance(kind, type) and issubclass(kind, events.DpEvent)}
    assert known - {"DpEvent"} <= set(ours._READERS) | set(ours._REFUSED) and not set(ours._READERS) & set(ours._REFUSED)
    gaussian = events.GaussianDpEvent(1.0)
    for event, reason in (
        (events.SingleEpochTreeAggregationDpEvent(1.0, 8), "zero-out"),
        (events.RepeatAndSelectDpEvent(gaussian, 10.0, -0.5), "shape"),
        (events.MixtureOfGaussiansDpEvent(1.0, [0, 1, 2], [0.5, 0.4, 0.1]), "no plan describes this law"),
        (events.UnsupportedDpEvent(), "nothing is known"),
        (events.ZCDpEvent(1.0, xi=0.5), "xi = 0.5"),
    ):
        with pytest.raises(to.UnsupportedError, match=f"{type(event).__name__}.*{reason}"):
            interchange.from_dp_event(event, neighbours="add-remove")


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_zcdp_travels(neighbours: str) -> None:
    from dp_accounting.rdp import RdpAccountant

    event = events.ComposedDpEvent([events.ZCDpEvent(0.05), events.SelfComposedDpEvent(events.ZCDpEvent(0.01), 5)])
    plan = interchange.from_dp_event(event, neighbours=neighbours)
    assert plan == to.zcdp(0.05) * to.zcdp(0.01).repeat(5)
    written = interchange.to_dp_event(plan, neighbours=neighbours)
    theirs = {"add-remove": relation.ADD_OR_REMOVE_ONE, "replace-one": relation.REPLACE_ONE}[neighbours]
    for delta in (1e-3, 1e-6):
        found = plan.curve(neighbours=neighbours).epsilon(delta)
        bound = RdpAccountant(neighboring_relation=theirs).compose(written).get_epsilon(delta)
        assert 0.9 * bound < found.hi <= bound  # theirs tries a list of orders
    assert Fraction(interchange.to_dp_event(to.zcdp("1/3"), neighbours=neighbours).rho) >= Fraction(1, 3)
    assert interchange.from_dp_event(events.ZCDpEvent(0.0), neighbours=neighbours) == to.dp(0)


def test_nothing_and_everything() -> None:
    assert interchange.from_dp_event(events.NoOpDpEvent(), neighbours="add-remove").curve().epsilon(0).hi < 1e-300
    for event in (events.NonPrivateDpEvent(), events.GaussianDpEvent(0.0), events.SelfComposedDpEvent(events.NonPrivateDpEvent(), 3)):
        assert interchange.from_dp_event(event, neighbours="add-remove").curve().delta(10) == (1, 1)


@pytest.mark.parametrize("event", ADD_REMOVE_EVENTS, ids=lambda event: type(event).__name__)
def test_events_round_trip(event: Any) -> None:
    plan = interchange.from_dp_event(event, neighbours="add-remove")
    written = interchange.to_dp_event(plan, neighbours="add-remove")
    again = interchange.from_dp_event(written, neighbours="add-remove")
    assert again.curve(neighbours="add-remove").epsilon(1e-4).hi == pytest.approx(plan.curve(neighbours="add-remove").epsilon(1e-4).hi)


def test_writing_rounds_to_the_safe_side() -> None:
    event = interchange.to_dp_event(to.gaussian("1/3").poisson("1/3").repeat(7), neighbours="add-remove")
    assert event.count == 7 and event.event.sampling_probability > 1 / 3 - 1e-17
    assert Fraction(event.event.event.noise_multiplier) <= Fraction(1, 3) <= Fraction(event.event.sampling_probability)
    doubled = interchange.to_dp_event(to.gaussian(1, 2), neighbours="replace-one", unit="clipping norm")
    assert doubled.noise_multiplier == 1.0
    sampled = interchange.to_dp_event(to.gaussian(1, 2).sample(3, 10), neighbours="replace-one", unit="clipping norm")
    assert (sampled.source_dataset_size, sampled.sample_size) == (10, 3)
    for plan, name in (
        (to.dp(1, 0.1), "dp"),
        (to.truncated_laplace(1, 3), "truncated_laplace"),
        (to.gaussian(1).refine(), "refine"),
        (to.gaussian(1).group(2), "group"),
        (to.constraints([(1, 0)]), "constraints"),
        (to.rdp([(2, 1)]), "rdp"),
    ):
        with pytest.raises(to.UnsupportedError, match=f"^{name} has no event in dp-accounting"):
            interchange.to_dp_event(plan, neighbours="add-remove")


def test_choices_are_read_and_written() -> None:
    from types import SimpleNamespace

    chosen = SimpleNamespace(class_name="ExponentialMechanismDpEvent", epsilon=0.5)
    flipped = SimpleNamespace(class_name="PermuteAndFlipDpEvent", epsilon=0.5)
    plan = interchange.from_dp_event(SimpleNamespace(class_name="SelfComposedDpEvent", event=chosen, count=3), neighbours="add-remove")
    assert plan == to.exponential(0.5).repeat(3)
    flips = interchange.from_dp_event(flipped, neighbours="add-remove")
    assert flips == to.noisy_max("exponential", 4)
    assert flips.curve().epsilon(0).hi == 0.5
    if not hasattr(events, "PermuteAndFlipDpEvent"):
        pytest.skip("this version of dp-accounting has no such events")
    assert interchange.to_dp_event(plan, neighbours="add-remove") == events.SelfComposedDpEvent(events.ExponentialMechanismDpEvent(0.5), 3)
    assert interchange.to_dp_event(flips, neighbours="add-remove") == events.PermuteAndFlipDpEvent(0.5)
    best = to.noisy_max("gumbel", 4, monotone=True, top=2)
    assert interchange.to_dp_event(best, neighbours="add-remove").count == 2
    with pytest.raises(to.UnsupportedError, match="noisy_max with laplace noise has no event"):
        interchange.to_dp_event(to.noisy_max("laplace", 4), neighbours="add-remove")


def test_writing_refuses_what_it_cannot_say() -> None:
    with pytest.raises(to.DomainError, match="sigma = [?]"):
        interchange.to_dp_event("gaussian(sigma=?)", neighbours="add-remove")
    with pytest.raises(to.UnsupportedError, match="write sample.size, of."):
        interchange.to_dp_event(to.gaussian(1).sample(rate=0.1), neighbours="replace-one", unit="sensitivity")
    for text in ("gaussian(sigma=-1)", "gaussian(sigma=1) | poisson(rate=2)", "zcdp(rho=-1)", "discrete_laplace(scale=0)"):
        with pytest.raises(to.DomainError, match="is not allowed"):
            interchange.to_dp_event(text, neighbours="add-remove")
    assert interchange.to_dp_event(to.gaussian(1, 0), neighbours="add-remove") == events.NoOpDpEvent()
    assert interchange.to_dp_event("randomized_response(epsilon=100000)", neighbours="replace-one").noise_parameter == 0


@given(epsilon=st.floats(1e-6, 700), choices=st.integers(2, 10**6))
def test_written_responses_are_no_more_private(epsilon: float, choices: int) -> None:
    import flint

    event = interchange.to_dp_event(to.randomized_response(epsilon, choices), neighbours="replace-one")
    noise = flint.arb(event.noise_parameter)
    assert (1 + choices * (1 - noise) / noise).log() >= flint.arb(epsilon)  # the epsilon of the event


def test_ledgers_are_read_in_one_call() -> None:
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(relation.ADD_OR_REMOVE_ONE, value_discretization_interval=1e-2)
    accountant.compose(events.GaussianDpEvent(5.0), 3)
    assert interchange.read_history(accountant).curve().epsilon(1e-4).hi <= accountant.get_epsilon(1e-4)
    for stranger in (3, "history", object()):
        with pytest.raises(to.UnsupportedError):
            interchange.read_history(stranger)


# PRV and gdpnum


def test_triples() -> None:
    accountant = prv.PRVAccountant(
        [prv.PoissonSubsampledGaussianMechanism(noise_multiplier=0.8, sampling_probability=0.01), prv.GaussianMechanism(noise_multiplier=5)],
        max_self_compositions=[1000, 10],
        eps_error=0.01,
        delta_error=1e-10,
    )
    low, estimate, high = accountant.compute_epsilon(delta=1e-6, num_self_compositions=[1000, 2])
    assert 0 < low <= estimate <= high < low + 1e-3
    assert accountant.compute_delta(estimate, [1000, 2])[1] == pytest.approx(1e-6, rel=1e-3)
    with pytest.raises(to.DomainError):
        accountant.compute_epsilon(1e-6, [1])
    assert prv.LaplaceMechanism(mu=0.5).curve().epsilon(0) == (0.5, 0.5)


def test_mu_and_regret() -> None:
    found = interchange.mu_and_regret(to.gaussian(1).poisson(0.01).repeat(1000).curve())
    assert 0.46 < found.mu < 0.53 and 0 < found.regret.lo <= found.regret.hi < 0.03
    assert found.regret.width < 0.1 * found.regret.hi
    exact = interchange.mu_and_regret(to.gdp(1).curve(), slack=0)
    assert exact.regret.lo == 0 and exact.regret.hi < 1e-4
    with pytest.raises(to.UnsupportedError):
        interchange.mu_and_regret(to.dp(1, 0.01).curve())
    assert np.isfinite(interchange.mu_and_regret(to.laplace(1).curve(), slack=0).regret.hi)
