# SPDX-License-Identifier: Apache-2.0
"""Samplers in the terms of training libraries, and the events and strategies of other libraries that describe them."""

import dataclasses
import enum
import sys
import types
from math import comb
from typing import Any

import pytest

import tradeoff as to
from tradeoff import interchange


def run(**more: Any) -> dict[str, Any]:
    return {"noise_multiplier": 1, "batch": 10, "examples": 100, "epochs": 2, **more}


def test_every_sampler_has_a_plan() -> None:
    assert to.sgd(**run(neighbours="replace-one")).text == "gaussian(sigma=1, clip=1) | poisson(rate=10/100) | repeat(20)"
    assert to.sgd(**run(sampling="shuffled")).text == "gaussian(sigma=1) | shuffle(batches=10, passes=2)"
    assert to.sgd(**run(sampling="shuffled", reuse=True)).text == "gaussian(sigma=1) | shuffle(batches=10, passes=2, reuse=true)"
    assert to.sgd(**run(sampling="allocated")).text == "gaussian(sigma=1) | allocate(steps=10) | repeat(2)"
    assert to.sgd(**run(sampling="allocated", reuse=True)).text == "gaussian(sigma=1) | allocate(steps=10, passes=2)"
    assert to.sgd(**run(sampling="cyclic", groups=5)).text == "gaussian(sigma=1) | cyclic(groups=5, rate=50/100, steps=20)"
    assert "of=100, of_is=at_most, at_most=20" in to.sgd(**run(at_most=20)).text
    assert "examples=3" in to.sgd(**run(per_user=3)).text
    assert to.sgd(**run(layers=4)).text == "gaussian(sigma=1) | repeat(4) | poisson(rate=10/100) | repeat(20)"
    assert "gaussian(sigma=5, sensitivity=1/2)" in to.sgd(**run(count_noise=5)).text
    assert to.sgd(**run(count_noise=5, noise_is_total=True)).text == "gaussian(sigma=1) | poisson(rate=10/100) | repeat(20)"
    assert "kind=square_root" in to.sgd(**run(sampling="shuffled", matrix="square_root")).text
    assert "coefficients=[1, 0.5]" in to.sgd(**run(sampling="cyclic", groups=2, matrix=[1, 0.5])).text
    assert "decays=[0.9]" in to.sgd(**run(sampling="shuffled", matrix={"scales": [0.3], "decays": [0.9]})).text


@pytest.mark.parametrize(
    "wrong",
    [
        {"sampling": "cyclic"},
        {"groups": 3},
        {"reuse": True},
        {"per_user": 0},
        {"per_user": 2, "at_most": 20},
        {"layers": True},
        {"matrix": "square_root"},
        {"sampling": "shuffled", "matrix": "cubic_root"},
        {"sampling": "shuffled", "matrix": {"scales": [1]}},
        {"sampling": "shuffled", "neighbours": "add-remove"},
        {"count_noise": 0},
    ],
)
def test_what_is_not_proved_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(to.DomainError):
        to.sgd(**run(**wrong))


def test_adaptive_clipping_is_one_release() -> None:
    split = to.sgd(noise_multiplier=3, count_noise=2, batch=10, examples=100, steps=10).curve().epsilon(1e-5)
    total = to.sgd(noise_multiplier=2.4, batch=10, examples=100, steps=10).curve().epsilon(1e-5)
    assert split.lo <= total.hi and total.lo <= split.hi and split.width < 1e-6


def test_samplers_are_compared() -> None:
    rows = to.compare_sampling(noise_multiplier=1, batch=10, examples=100, epochs=1, delta=1e-5)
    assert {row.sampler for row in rows} >= {"poisson", "poisson, capped", "cyclic", "allocated", "fixed", "shuffled"}
    for row in rows:
        assert not row.refused and row.plan is not None and f"{row.neighbours} neighbours" in row.assumes
        assert 0 < row.epsilon.lo <= row.epsilon.hi < 20


# JAX Privacy. These classes have the fields of its strategies; a strategy is known by the name of its class.


class PartitionType(enum.Enum):
    INDEPENDENT = 1
    EQUAL_SPLIT = 2


@dataclasses.dataclass
class CyclicPoissonSampling:
    sampling_prob: float
    iterations: int
    truncated_batch_size: int | None = None
    cycle_length: int = 1
    partition_type: PartitionType = PartitionType.EQUAL_SPLIT


@dataclasses.dataclass
class BallsInBinsSampling:
    iterations: int
    cycle_length: int


@dataclasses.dataclass
class RandomAllocationSampling:
    total_participations: int
    iterations: int


@dataclasses.dataclass
class FixedBatchSampling:
    batch_size: int
    iterations: int
    replace: bool = False


@dataclasses.dataclass
class BMinSepSampling:
    sampling_prob: float
    iterations: int
    min_sep: int


@dataclasses.dataclass
class UserSelectionStrategy:
    base_strategy: Any


@dataclasses.dataclass
class BandMFConfig:
    iterations: int
    expected_participations: float
    strategy: list[float]
    noise_multiplier: float | None = None
    truncated_batch_size: int | None = None
    num_examples: int | None = None
    column_normalize: bool = False


def test_strategies_are_read() -> None:
    def read(strategy: Any, neighbours: str = "add-remove", **more: Any) -> str:
        return interchange.from_jax_privacy(strategy, noise_multiplier=2, neighbours=neighbours, **more).text

    assert read(CyclicPoissonSampling(0.01, 100)) == "gaussian(sigma=2) | poisson(rate=0.01) | repeat(100)"
    assert read(UserSelectionStrategy(CyclicPoissonSampling(0.01, 100))) == "gaussian(sigma=2) | poisson(rate=0.01) | repeat(100)"
    by_identity = CyclicPoissonSampling(0.01, 100, None, 4, PartitionType.INDEPENDENT)
    assert read(by_identity) == "gaussian(sigma=2) | cyclic(groups=4, rate=0.01, steps=100)"
    by_position = CyclicPoissonSampling(0.01, 100, None, 4)
    assert read(by_position, "replace-one") == "gaussian(sigma=2, clip=1) | cyclic(groups=4, rate=0.01, steps=100, by=position)"
    capped = CyclicPoissonSampling(0.1, 100, 20)
    assert read(capped, "zero-out", num_examples=100) == "gaussian(sigma=2) | poisson(rate=0.1, of=100, at_most=20) | repeat(100)"
    groups = CyclicPoissonSampling(0.1, 10, 9, 4)
    assert "of=25, of_is=at_most, at_most=9) | repeat(3)" in read(groups, "zero-out", num_examples=103)
    assert read(BallsInBinsSampling(30, 10)) == "gaussian(sigma=2) | allocate(steps=10, passes=3)"
    assert read(RandomAllocationSampling(3, 30)) == "gaussian(sigma=2) | allocate(steps=30, times=3)"
    fixed = FixedBatchSampling(5, 10)
    assert read(fixed, "replace-one", num_examples=50) == "gaussian(sigma=2, sensitivity=2) | sample(size=5, of=50) | repeat(10)"
    assert "sample_with_replacement" in read(FixedBatchSampling(5, 10, True), "replace-one", num_examples=50)


def test_strategies_without_a_theorem_are_refused_by_name() -> None:
    for strategy, neighbours, reason in (
        (BMinSepSampling(0.1, 10, 2), "zero-out", "BMinSepSampling.*no amplification"),
        (CyclicPoissonSampling(0.1, 10, None, 4), "add-remove", "EQUAL_SPLIT"),
        (BallsInBinsSampling(31, 10), "zero-out", "no multiple of cycle_length"),
        (FixedBatchSampling(5, 10), "add-remove", "replace-one"),
        (object(), "zero-out", "object is not supported"),
    ):
        with pytest.raises(to.UnsupportedError, match=reason):
            interchange.from_jax_privacy(strategy, noise_multiplier=1, neighbours=neighbours, num_examples=100)
    with pytest.raises(to.DomainError, match="num_examples"):
        interchange.from_jax_privacy(CyclicPoissonSampling(0.1, 10, 20), noise_multiplier=1, neighbours="zero-out")
    with pytest.raises(to.DomainError, match="neighbours"):
        interchange.from_jax_privacy(CyclicPoissonSampling(0.1, 10), noise_multiplier=1, neighbours="cousins")


def test_a_banded_configuration_is_what_its_event_says() -> None:
    """Its event is Poisson sampling for ceil(iterations / bands) steps with the noise in units of the largest column."""
    config = BandMFConfig(100, 20.0, [1.0, 0.5, 0.25], 1.5)
    plan = interchange.from_jax_privacy(config, neighbours="add-remove")
    assert "| cyclic(groups=3, rate=3/5, steps=100)" in plan.text
    event = to.gaussian(1.5).poisson("3/5").repeat(34)
    found, told = plan.curve(neighbours="add-remove").epsilon(1e-5), event.curve().epsilon(1e-5)
    assert found.lo <= told.hi and found.hi >= 0.99 * told.lo  # the last columns are cut off
    capped = dataclasses.replace(config, truncated_batch_size=20, num_examples=100, expected_participations=5.0)
    assert "of=33, of_is=at_most, at_most=20) | repeat(34)" in interchange.from_jax_privacy(capped, neighbours="zero-out").text


def test_strategies_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("jax_privacy")
    module.batch_selection = sys.modules[__name__]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax_privacy", module)
    for text, neighbours, strategy in (
        ("gaussian(2) | poisson(0.25) | repeat(10)", "add-remove", CyclicPoissonSampling(0.25, 10)),
        ("gaussian(2) | poisson(rate=0.25, of=9, at_most=5) | repeat(10)", "zero-out", CyclicPoissonSampling(0.25, 10, 5)),
        ("gaussian(2, clip=1) | allocate(steps=5, passes=2)", "zero-out", BallsInBinsSampling(10, 5)),
        ("gaussian(2) | allocate(steps=5, times=2)", "zero-out", RandomAllocationSampling(2, 5)),
        ("gaussian(4, sensitivity=4) | sample(size=2, of=9) | repeat(3)", "replace-one", FixedBatchSampling(2, 3)),
    ):
        noise, found = interchange.to_jax_privacy(text, neighbours=neighbours)
        assert noise == 2 and found == strategy
    for text in ("laplace(1)", "gaussian(2) | shuffle(batches=5)", "gaussian(2) | allocate(steps=5) | repeat(2)"):
        with pytest.raises(to.UnsupportedError):
            interchange.to_jax_privacy(text, neighbours="zero-out")


# dp-accounting

dp_accounting = pytest.importorskip("dp_accounting")
events = dp_accounting.dp_event
relation = dp_accounting.NeighboringRelation
RELATIONS = {"add-remove": relation.ADD_OR_REMOVE_ONE, "zero-out": relation.REPLACE_SPECIAL, "replace-one": relation.REPLACE_ONE}


def pessimistic(event: Any, neighbours: str, delta: float = 1e-5) -> float:
    from dp_accounting.pld import PLDAccountant

    return float(PLDAccountant(RELATIONS[neighbours], value_discretization_interval=1e-3).compose(event).get_epsilon(delta))


def binomial(count: int, rate: float) -> list[float]:
    return [comb(count, k) * rate**k * (1 - rate) ** (count - k) for k in range(count + 1)]


def test_a_user_with_several_examples_is_a_mixture_of_gaussians() -> None:
    event = events.SelfComposedDpEvent(events.MixtureOfGaussiansDpEvent(1.0, [0, 1, 2, 3], binomial(3, 0.01)), 100)
    plan = interchange.from_dp_event(event, neighbours="add-remove")
    assert "examples=3" in plan.text
    found, theirs = plan.curve().epsilon(1e-5), pessimistic(event, "add-remove")
    assert found.hi <= theirs + 1e-6 and theirs - found.lo <= 0.02 * theirs
    written = interchange.to_dp_event("gaussian(2) | poisson(rate=0.01, examples=3) | repeat(100)", neighbours="add-remove")
    assert written.event.sensitivities == [0, 1, 2, 3] and sum(written.event.sampling_probs) == pytest.approx(1)
    assert interchange.from_dp_event(events.MixtureOfGaussiansDpEvent(1.0, [0, 1], [0.75, 0.25]), neighbours="zero-out") == to.parse(
        "gaussian(1) | poisson(1/4)"
    )
    assert interchange.from_dp_event(events.MixtureOfGaussiansDpEvent(1.0, [2], [1]), neighbours="zero-out") == to.gaussian(1.0, sensitivity=2)


@pytest.mark.parametrize("neighbours", ["zero-out", "replace-one"])
def test_capped_batches_travel(neighbours: str) -> None:
    event = events.SelfComposedDpEvent(events.TruncatedSubsampledGaussianDpEvent(50, 0.1, 12, 1.0), 5)
    plan = interchange.from_dp_event(event, neighbours=neighbours, unit="clipping norm")
    assert "poisson(rate=0.1, of=50, at_most=12)" in plan.text
    # Both are upper bounds by different theorems; the truth is below each, so our lower end is below theirs.
    assert plan.curve(neighbours=neighbours).epsilon(1e-5).lo <= pessimistic(event, neighbours)
    assert interchange.to_dp_event(plan, neighbours=neighbours, unit="clipping norm") == event


def test_poisson_under_replace_one_travels() -> None:
    event = events.SelfComposedDpEvent(events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.0)), 100)
    plan = interchange.from_dp_event(event, neighbours="replace-one", unit="clipping norm")
    assert plan.text == "gaussian(sigma=1.0, clip=1) | poisson(rate=0.01) | repeat(100)" or plan == to.parse(
        "gaussian(1, clip=1) | poisson(0.01) | repeat(100)"
    )
    found, theirs = plan.curve(neighbours="replace-one").epsilon(1e-5), pessimistic(event, "replace-one")
    assert found.hi <= theirs + 1e-6 and theirs - found.lo <= 0.05 * theirs + 0.01
    assert interchange.to_dp_event(plan, neighbours="replace-one", unit="clipping norm") == event
    with pytest.raises(to.UnsupportedError, match="clip"):
        interchange.to_dp_event("gaussian(1) | poisson(0.01)", neighbours="replace-one", unit="clipping norm")


@pytest.mark.parametrize("steps", [1, 5, 8, [3, 16]])
def test_trees_travel(steps: Any) -> None:
    from dp_accounting.rdp import RdpAccountant

    event = events.SingleEpochTreeAggregationDpEvent(4.0, steps)
    plan = interchange.from_dp_event(event, neighbours=relation.REPLACE_SPECIAL)
    depth = max(steps if isinstance(steps, list) else [steps]).bit_length()
    assert plan.curve(neighbours="zero-out").delta(1) == to.gaussian(4).repeat(depth).curve(neighbours="zero-out").delta(1)
    bound = RdpAccountant(neighboring_relation=relation.REPLACE_SPECIAL).compose(event).get_epsilon(1e-5)
    assert plan.curve(neighbours="zero-out").epsilon(1e-5).hi <= bound
    written = interchange.to_dp_event(plan, neighbours="zero-out")
    assert written.noise_multiplier == 4.0 and written.step_counts.bit_length() == depth
    with pytest.raises(to.UnsupportedError, match="zero-out"):
        interchange.from_dp_event(event, neighbours="add-remove")
