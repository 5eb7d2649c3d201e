# SPDX-License-Identifier: Apache-2.0
"""Whole runs: what is released is exactly the clipped sum plus noise of the stated size, and the plan says so. [torch-step]"""

import math
import os
import socket
from pathlib import Path

import pytest
import torch

import tradeoff as to
import tradeoff.torch as private
from conftest import small_data, small_model, small_run


def gradients_alone(run: private.PrivateRun, inputs: torch.Tensor, targets: torch.Tensor, physical: int) -> list[torch.Tensor]:
    """The sum of the contributions, one example at a time, each somewhere in a batch of noise."""
    sums = [torch.zeros_like(one, dtype=torch.int64) for one in run._rows.parameters]
    for i in range(len(inputs)):
        around, aims = torch.randn(physical, *inputs.shape[1:], device=inputs.device), torch.zeros_like(targets[:1]).repeat(physical)
        place = i * 7 % physical  # any place
        around[place], aims[place] = inputs[i], targets[i]
        mask = torch.arange(physical, device=inputs.device) == place
        run.grid.add_clipped(sums, run._rows(around, aims), mask)
    return sums


class Recorder:
    """Stands in for the noise: records what it is added to."""

    def __init__(self, source: private.NoiseSource, *, silent: bool) -> None:
        self.source, self.silent, self.calls, self.scale = source, silent, 0, source.scale
        self.sums: list[torch.Tensor] = []

    def add_to(self, sums: list[torch.Tensor]) -> None:
        self.calls += 1
        self.sums = [one.clone() for one in sums]
        if not self.silent:
            self.source.add_to(sums)


@pytest.mark.parametrize("physical", [1, 8, 64])
@pytest.mark.parametrize("width", [6, 784])
def test_the_sum_is_that_of_single_examples(physical: int, width: int, device: torch.device) -> None:
    """Padding, masks, parts and the place in the batch change nothing, bit for bit; also where large matrix products depend on it."""
    model = torch.nn.Sequential(torch.nn.Linear(width, 512), torch.nn.Tanh(), torch.nn.Linear(512, 3)).to(device)
    inputs, targets = torch.randn(40, width), torch.randint(0, 3, (40,))
    run = small_run(model, batches=private.FixedBatches(37, of=40), physical_batch=physical)
    chosen: list[torch.Tensor] = []
    draw = run.batches.draw
    run.batches.draw = lambda examples: chosen.append(draw(examples)) or chosen[-1]  # type: ignore[method-assign,func-returns-value]
    run.noise = Recorder(run.noise, silent=True)  # type: ignore[assignment]
    before = [one.detach().clone() for one in run._rows.parameters]
    run.step((inputs, targets))
    after = [one.detach().clone() for one in run._rows.parameters]
    with torch.no_grad():
        for one, old in zip(run._rows.parameters, before):
            one.copy_(old)
    alone = gradients_alone(run, inputs[chosen[0]].to(device), targets[chosen[0]].to(device), physical)
    assert all(torch.equal(one, two) for one, two in zip(run.noise.sums, alone))  # type: ignore[attr-defined]
    for new, old, total in zip(after, before, alone):  # plain SGD of rate 0.1 on the mean
        assert torch.allclose(new, old - 0.1 * (total.double() * run.grid.step / 37).float(), atol=1e-6)


def test_every_parameter_gets_fresh_noise_once_a_step(device: torch.device) -> None:
    model, data = small_model(device), small_data()
    run = small_run(model)
    run.noise = Recorder(run.noise, silent=False)  # type: ignore[assignment]
    weights = [one.detach().clone() for one in model.parameters()]
    noises = []
    for _ in range(30):
        run.step(data)
        moved = [(old - new.detach()) / 0.1 * 10 for old, new in zip(weights, model.parameters())]  # the noisy sum
        weights = [one.detach().clone() for one in model.parameters()]
        known = run.noise.sums  # type: ignore[attr-defined]
        noises.append(torch.cat([(m - k.double() * run.grid.step).reshape(-1).cpu() for m, k in zip(moved, known)]))
    drawn = torch.stack(noises).double()
    assert run.noise.calls == 30  # type: ignore[attr-defined]
    assert abs(float(drawn.std()) - 1.5) < 5 * 1.5 / math.sqrt(2 * drawn.numel())
    for column in (0, 20, drawn.shape[1] - 1):  # the first layer, its bias, the last
        assert 0.8 < float(drawn[:, column].std()) < 2.3
    within = drawn.std(dim=1)  # of 53 weights each: the bounds are five deviations away
    assert 0.75 < float(within.min()) <= float(within.max()) < 2.25
    steps = torch.corrcoef(drawn)
    assert float((steps - torch.eye(30)).abs().max()) < 0.6  # no two steps share their noise (53 weights)


def test_the_plan_states_the_noise_as_drawn() -> None:
    run = small_run(small_model(), steps=5)
    data = small_data()
    for _ in range(3):
        run.step(data)
    assert run.plan == to.parse(f"gaussian(sigma={run.noise.scale}, sensitivity={run.grid.bound}) | poisson(rate=10/40) | repeat(3)")
    stated = to.parse("gaussian(sigma=1.5) | poisson(rate=10/40) | repeat(3)").curve().epsilon(delta=1e-5)
    assert stated.lo * 0.999999 <= run.epsilon(1e-5).hi <= stated.hi * 1.000001
    fixed = small_run(small_model(), batches=private.FixedBatches(10, of=40))
    fixed.step(data)
    assert f"sensitivity={2 * fixed.grid.bound}" in fixed.plan.text
    assert fixed.curve.neighbours == "replace-one"
    run.step(data)
    run.step(data)
    with pytest.raises(to.DomainError, match="all its 5 steps"):
        run.step(data)


def test_the_certificate_can_be_verified() -> None:
    run = small_run(small_model(), steps=5)
    run.step(small_data())
    for planned in (False, True):
        found = to.verify(run.certificate(1e-5, planned=planned))
        assert found.verdict == "confirmed"
    assert run.plan.text in run.certificate(1e-5)


def test_an_empty_batch_is_a_step_of_noise() -> None:
    model = small_model()
    run = small_run(model, batches=private.PoissonBatches(1, of=4_000_000_000))
    before = [one.detach().clone() for one in model.parameters()]
    run.step(small_data())
    assert run.steps_done == 1
    assert all(not torch.equal(one, two.detach()) for one, two in zip(before, model.parameters()))


def test_frozen_layers_stay_and_groups_differ() -> None:
    model = small_model()
    model[0].requires_grad_(False)
    optimizer = torch.optim.Adam([{"params": [model[2].weight], "lr": 0.1}, {"params": [model[2].bias], "lr": 0.01}])
    run = small_run(model, optimizer=optimizer)
    before = [one.detach().clone() for one in model.parameters()]
    run.step(small_data())
    after = list(model.parameters())
    assert [torch.equal(one, two.detach()) for one, two in zip(before, after)] == [True, True, False, False]


def test_mixed_precision_keeps_rows_apart(device: torch.device) -> None:
    run = small_run(small_model(device), autocast=torch.bfloat16, physical_batch=1)
    run.step(small_data())
    assert run.steps_done == 1


def test_layers_that_mix_examples_are_refused() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 3))
    with pytest.raises(private.UnsupportedModuleError, match="statistics of the batch"):
        small_run(model)
    with pytest.raises(to.UnsupportedError, match="nothing to train"):
        small_run(small_model().requires_grad_(False), optimizer=torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1))


def test_rows_that_differ_by_their_place_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    run = small_run(small_model())
    honest = run._rows.__class__.__call__

    def leaky(self: object, inputs: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
        found = honest(self, inputs, targets)  # type: ignore[arg-type]
        return [one + inputs.mean() * 1e-6 for one in found]  # a little of the others

    monkeypatch.setattr(run._rows.__class__, "__call__", leaky)
    with pytest.raises(private.RowsMixError, match="differs in its last bits"):
        for _ in range(20):
            run.step(small_data())


def test_a_foreign_parameter_is_refused() -> None:
    other = torch.nn.Parameter(torch.zeros(3))
    model = small_model()
    with pytest.raises(to.DomainError, match="trained without noise"):
        small_run(model, optimizer=torch.optim.SGD([*model.parameters(), other], lr=0.1))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((torch.zeros(3, 6), torch.zeros(4, dtype=torch.long)), "equally many"),
        (torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*small_data())), "data loader"),
        (7, "pair of tensors"),
    ],
)
def test_bad_data_is_refused_and_nothing_is_counted(data: object, words: str) -> None:
    run = small_run(small_model())
    with pytest.raises(to.DomainError, match=words):
        run.step(data)
    assert run.steps_done == 0


def test_a_data_set_serves_as_well() -> None:
    run = small_run(small_model())
    run.step(torch.utils.data.TensorDataset(*small_data()))
    assert run.steps_done == 1


def test_a_run_goes_on_with_its_terms_alone() -> None:
    data = small_data()
    first = small_run(small_model(), steps=10)
    first.step(data)
    state = first.state_dict()
    second = small_run(small_model(), steps=10)
    second.load_state_dict(state)
    assert second.steps_done == 1
    other = small_run(small_model(), steps=10, noise_multiplier=2)
    with pytest.raises(to.DomainError, match="noise_multiplier"):
        other.load_state_dict(state)
    with pytest.raises(to.DomainError, match="steps_done"):
        second.load_state_dict({**state, "steps_done": -1})
    assert not any("key" in name or "seed" in name for name in state)


@pytest.mark.skipif(not to._core.has_ledger, reason="built without the ledger")
def test_the_run_is_charged_before_its_first_step(tmp_path: Path) -> None:
    url = f"sqlite:{tmp_path}/budget.db"
    with to.Ledger(url, create=True) as ledger:
        ledger.create("training", mu=10)
        small_run(small_model(), steps=20, ledger=ledger, account="training", key="run 1")
        assert len(ledger.history("training")) == 1
        ledger.create("poor", mu="0.01")
        with pytest.raises(to.BudgetError):
            small_run(small_model(), steps=20, ledger=ledger, account="poor", key="run 2")
        with pytest.raises(to.DomainError, match="state steps"):
            small_run(small_model(), ledger=ledger, account="training", key="run 3")


def _worker(rank: int, port: int, folder: str) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(7)
    model, data = small_model(), small_data()
    run = small_run(model, batches=private.FixedBatches(30, of=40), group=torch.distributed.group.WORLD)
    run.noise = Recorder(run.noise, silent=False)  # type: ignore[assignment]
    for _ in range(3):
        run.step(data)
    torch.save({"weights": model.state_dict(), "calls": run.noise.calls, "examples": run.tally.examples}, f"{folder}/{rank}.pt")  # type: ignore[attr-defined]
    torch.distributed.destroy_process_group()


def test_two_processes_draw_one_noise(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(_worker, (port, str(tmp_path)), nprocs=2)
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert (first["calls"], second["calls"]) == (3, 0)  # the first process alone draws
    assert first["examples"] + second["examples"] == 30
    assert 0 < first["examples"] < 30
    assert all(torch.equal(first["weights"][name], second["weights"][name]) for name in first["weights"])


def test_canaries_feed_an_audit_of_the_run(tmp_path: Path) -> None:
    """Canaries that a run without noise learns by heart refute it; those of a private run do not."""
    made_up = torch.eye(400), torch.randint(0, 3, (400,))
    found, verdicts = {}, {}
    for noise in ("1e-4", "50"):
        model = torch.nn.Linear(400, 3, bias=False)
        run = small_run(model, batches=private.PoissonBatches(100, of=200), noise_multiplier=noise, canaries=made_up)
        data = torch.zeros(2, 400), torch.zeros(2, dtype=torch.long)
        for _ in range(15):
            run.step(data)
        run.write_canaries(tmp_path / "canaries.csv")
        rows = [line.split(",") for line in (tmp_path / "canaries.csv").read_text().splitlines()]
        assert len(rows) == 400
        included = [int(one) for _, one in rows]
        assert 140 < sum(included) < 260  # fair coins
        best = sorted(range(400), key=lambda i: -float(rows[i][0]))[:100]
        found[noise] = sum(included[i] for i in best)
        claimed = "gaussian(sigma=50) | poisson(rate=100/200) | repeat(15)"
        verdicts[noise] = to.audit_one_run(claimed, scores=[float(score) for score, _ in rows], included=[one == 1 for one in included]).verdict
    assert found["1e-4"] > 95
    assert found["50"] < 80
    assert verdicts == {"1e-4": "refuted", "50": "inconclusive"}
    with pytest.raises(to.DomainError, match="PoissonBatches"):
        small_run(small_model(), batches=private.FixedBatches(10, of=40), canaries=small_data(4))
    with pytest.raises(to.DomainError, match="has none"):
        small_run(small_model()).write_canaries(tmp_path / "none.csv")


def test_canaries_keep_their_coins_when_a_run_goes_on() -> None:
    made_up = small_data(30)
    first = small_run(small_model(), canaries=made_up)
    first.step(small_data())
    second = small_run(small_model(), canaries=made_up)
    second.load_state_dict(first.state_dict())
    assert second.state_dict() == first.state_dict()
    with pytest.raises(to.DomainError, match="canaries"):
        small_run(small_model()).load_state_dict(first.state_dict())


def test_every_way_has_the_gradients_of_pytorch(monkeypatch: pytest.MonkeyPatch, device: torch.device) -> None:
    from contextlib import nullcontext

    from tradeoff.torch import _rows

    layers = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1), torch.nn.Tanh(), torch.nn.Conv2d(4, 5, (2, 3), dilation=2, bias=False)
    model = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.LazyLinear(2)).to(device)
    inputs, targets = torch.randn(6, 3, 17, 19, device=device), torch.randint(0, 2, (6,), device=device)
    model(inputs)
    rows = _rows.RowGradients(model, torch.nn.functional.cross_entropy, None)
    found = {}
    assert rows.way == "chain"
    for way in _rows.WAYS:
        rows.way = way
        found[way] = rows(inputs, targets)
    monkeypatch.setattr(_rows, "UnfoldedConvolutions", nullcontext)
    rows.way = "shared"
    plain = rows(inputs, targets)
    for way in _rows.WAYS:
        assert all(torch.allclose(one, two, rtol=1e-3, atol=1e-5) for one, two in zip(found[way], plain)), way


class Centred(torch.nn.Tanh):
    """Looks like a common layer and mixes rows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x - x.mean(0))


def test_chains_have_the_gradients_of_single_rows(device: torch.device) -> None:
    from tradeoff.torch import _rows

    many = torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Sequential(torch.nn.GroupNorm(2, 8), torch.nn.Linear(8, 5, bias=False)), torch.nn.Flatten(), torch.nn.Linear(5, 3)
    ).to(device)  # fmt: skip
    many[5].bias.requires_grad_(False)
    for one in many[1].parameters():
        torch.nn.init.normal_(one)
    inputs, targets = (one.to(device) for one in small_data(9))
    rows = _rows.RowGradients(many, torch.nn.functional.cross_entropy, None)
    assert rows.way == "chain"
    chain = rows(inputs, targets)
    rows.way = "shared"
    assert len(chain) == len(rows.names)
    assert all(torch.allclose(one, two, rtol=1e-3, atol=1e-5) for one, two in zip(chain, rows(inputs, targets)))


def test_what_is_no_chain_is_computed_row_by_row() -> None:
    from tradeoff.torch._chain import layers_of

    model = small_model()
    assert layers_of(model) is not None
    shared = torch.nn.Linear(6, 6)
    hooked = small_model()
    hooked[0].register_forward_hook(lambda module, inputs, output: output - output.mean(0))
    others = [torch.nn.Sequential(Centred()), torch.nn.Sequential(shared, torch.nn.Tanh(), shared), hooked, torch.nn.Sequential(torch.nn.Flatten(0))]
    assert all(layers_of(one) is None for one in others)
    run = small_run(torch.nn.Sequential(torch.nn.Linear(6, 5), Centred(), torch.nn.Linear(5, 3)))
    run.step(small_data())  # each row is a batch of one: its mean is itself, so nothing mixes
    assert run._rows.way == "shared"


def test_dropout_works_and_in_place_layers_are_no_chain() -> None:
    from tradeoff.torch._chain import layers_of

    for layer in (torch.nn.Dropout(0.5), torch.nn.ReLU(inplace=True)):
        model = torch.nn.Sequential(torch.nn.Linear(6, 5), layer, torch.nn.Linear(5, 3))
        run = small_run(model)
        run.step(small_data())
        assert run.steps_done == 1
        assert model.training
    assert layers_of(model) is None
