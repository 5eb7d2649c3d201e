# SPDX-License-Identifier: Apache-2.0
"""Private gradient descent on any module. [torch-step]"""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from .. import _core
from .._curve import Curve
from .._errors import DomainError, UnsupportedError
from .._interval import Interval
from .._numbers import Number, to_text
from .._plan import Plan
from ._batches import Batches, FixedBatches, PoissonBatches
from ._canaries import Canaries
from ._grid import ClipGrid, Tally
from ._noise import NoiseSource
from ._rows import WAYS, Loss, RowGradients, RowsMixError

if TYPE_CHECKING:
    from .._ledger import Ledger

#: Inputs and targets as tensors with the examples in the first dimension, or a data set of such pairs.
Data = Any


class PrivateRun:
    """A run of private gradient descent. Each ``step`` draws a batch, sums clipped integer gradients, adds exact noise, and steps the optimizer.

    Args:
        model: any module without layers that use statistics of the batch. Parameters with ``requires_grad=False`` are left alone.
        optimizer: any optimizer of the model's parameters, with any parameter groups; it receives the noisy mean as ``grad``.
        loss: ``loss(output, target)`` of a batch of one example, a scalar.
        batches: ``PoissonBatches`` or ``FixedBatches``.
        clip: the norm to which the gradient of each example is clipped, over all trained parameters together.
        noise_multiplier: standard deviation of the noise on the sum, divided by the clipping norm.
        physical_batch: how many examples are computed at a time. The shape is fixed: a batch is cut into such parts, and the last one is
            padded and masked.
        steps: the number of steps of the whole run; further ones are refused. Needed for ``ledger``.
        autocast: the type of mixed precision in the forward pass, for example ``torch.bfloat16``.
        group: a process group of ``torch.distributed``. Every process holds the same data and model and computes a share of the batch;
            the integers are summed over processes, and one process draws batch and noise.
        ledger, account, key: charges the plan of all ``steps`` to an account before the first step.
        canaries: ``(inputs, targets)`` of examples made up for an audit of this run. Each joins the data by a fair coin of its own;
            ``write_canaries`` writes the file that ``tradeoff audit --canaries`` reads. For Poisson batches.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        loss: Loss,
        *,
        batches: Batches,
        clip: Number,
        noise_multiplier: Number,
        physical_batch: int = 64,
        steps: int | None = None,
        autocast: torch.dtype | None = None,
        group: Any = None,
        ledger: Ledger | None = None,
        account: str | None = None,
        key: str | None = None,
        canaries: tuple[torch.Tensor, torch.Tensor] | None = None,
    ) -> None:
        for name, value in (("physical_batch", physical_batch), ("steps", steps)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**9):
                raise DomainError(f"{name} = {value!r} is not allowed; it must be a whole number from 1 to 10**9")
        if not isinstance(batches, (PoissonBatches, FixedBatches)):
            raise DomainError("batches: must be PoissonBatches or FixedBatches; the guarantee depends on how a batch is drawn")
        self.batches, self.grid = batches, ClipGrid(clip)
        self.noise_multiplier = to_text("noise_multiplier", noise_multiplier)
        self.noise = NoiseSource(noise_multiplier, self.grid.bound)
        self.steps, self.steps_done, self.tally = steps, 0, Tally()
        self._rows = RowGradients(model, loss, autocast)
        self._optimizer, self._physical, self._group = optimizer, physical_batch, group
        self._check_optimizer()
        self._canaries = self._plant(canaries) if canaries is not None else None
        self._settled = False
        if ledger is not None:
            if steps is None or account is None or key is None:
                raise DomainError("ledger: state steps, account and key as well; the whole run is charged before its first step")
            ledger.spend(account, self._plan_of(steps), key=key)

    def _check_optimizer(self) -> None:
        trained = {id(one) for one in self._rows.parameters}
        for number, group in enumerate(self._optimizer.param_groups):
            for one in group["params"]:
                if one.requires_grad and id(one) not in trained:
                    raise DomainError(f"optimizer: group {number} holds a parameter that the model does not have; it would be trained without noise")

    # ---- what was run ----

    def _plan_of(self, steps: int) -> Plan:
        sensitivity = self.batches.contributions * self.grid.bound
        return Plan(f"gaussian(sigma={self.noise.scale}, sensitivity={sensitivity}) | {self.batches.operation} | repeat({steps})")

    @property
    def plan(self) -> Plan:
        """The steps done so far, with the noise as it is drawn. If looking at results decided when to stop, use ``planned``."""
        return self._plan_of(self.steps_done)

    @property
    def planned(self) -> Plan:
        """All steps of the run."""
        if self.steps is None:
            raise DomainError("steps: the number of steps of the run was not stated")
        return self._plan_of(self.steps)

    @property
    def curve(self) -> Curve:
        """What the steps done so far guarantee."""
        return self.plan.curve(neighbours=self.batches.neighbours)

    def epsilon(self, delta: Number) -> Interval:
        """epsilon of the steps done so far; its ``hi`` may be claimed."""
        return self.curve.epsilon(delta=delta)

    def certificate(self, delta: Number, *, planned: bool = False) -> str:
        """epsilon at this delta as a certificate, the same that ``tradeoff certify`` writes; ``tradeoff verify`` checks it.

        With ``planned`` it is about all steps of the run.
        """
        plan = self.planned if planned else self.plan
        fields = {"delta": to_text("delta", delta), "neighbours": self.batches.neighbours}
        return json.dumps(json.loads(_core.ask(plan.text, "certify", fields))["answer"], indent=2) + "\n"

    # ---- training ----

    def step(self, data: Data) -> None:
        """One step. ``data`` is ``(inputs, targets)`` or a data set of pairs; all of it, because the batch is drawn here."""
        if self.steps is not None and self.steps_done >= self.steps:
            raise DomainError(f"the run has all its {self.steps} steps; a further one would exceed its plan")
        fetch, examples = _reader(data)
        if self._canaries is not None:
            fetch, examples = self._canaries.join(fetch, examples)
        chosen = self._shared(self.batches.draw(examples) if self._is_first() else None)
        parameters = self._rows.parameters
        flat = torch.zeros(sum(one.numel() for one in parameters), dtype=torch.int64, device=parameters[0].device)
        sums = [part.view(one.shape) for part, one in zip(flat.split([one.numel() for one in parameters]), parameters)]
        self.tally = Tally()
        if not self._settled and examples:
            self._settle(*self._padded(fetch, torch.zeros(1, dtype=torch.int64), parameters[0].device)[:2])
        for part in self._parts(chosen):
            inputs, targets, mask = self._padded(fetch, part, parameters[0].device)
            self.grid.add_clipped(sums, self._rows(inputs, targets), mask, self.tally)
        self._finish(parameters, sums, flat)

    def _settle(self, inputs: torch.Tensor, targets: torch.Tensor) -> None:
        """Tests that rows do not mix. All processes must compute an example in the same way, since its place decides who does."""
        self._rows.settle(inputs, targets)
        if self._group is not None:
            found: list[Any] = [None] * torch.distributed.get_world_size(self._group)
            name = torch.cuda.get_device_name(inputs.device) if inputs.device.type == "cuda" else inputs.device.type
            torch.distributed.all_gather_object(found, (name, torch.__version__, self._rows.way), group=self._group)
            if len({one[:2] for one in found}) > 1:
                raise UnsupportedError(f"group: processes on different devices or versions ({found}) would round the same example differently")
            slowest = max((one[2] for one in found), key=WAYS.index)
            if slowest != self._rows.way:
                self._rows.way = slowest
                self._rows.settle(inputs, targets)
                if self._rows.way != slowest:
                    raise RowsMixError("group: a process needs a slower way to keep its rows apart than the others; use physical_batch=1")
        self._settled = True

    def _finish(self, parameters: list[torch.nn.Parameter], sums: list[torch.Tensor], flat: torch.Tensor) -> None:
        """Noise, and the step of the optimizer. ``sums`` are parts of ``flat``."""
        if self._group is not None:
            torch.distributed.all_reduce(flat, group=self._group)
        if self._is_first():
            self.noise.add_to(sums)
        if self._group is not None:
            torch.distributed.broadcast(flat, torch.distributed.get_global_rank(self._group, 0), group=self._group)
        self._optimizer.zero_grad(set_to_none=True)
        means = (flat.double() * (self.grid.step / self.batches.size)).split([one.numel() for one in parameters])
        for one, mean in zip(parameters, means):
            one.grad = mean.view(one.shape).to(one.dtype)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.steps_done += 1

    def _parts(self, chosen: torch.Tensor) -> list[torch.Tensor]:
        """The physical batches of this process."""
        parts = list(chosen.split(self._physical)) if len(chosen) else []
        if self._group is None:
            return parts
        return parts[torch.distributed.get_rank(self._group) :: torch.distributed.get_world_size(self._group)]

    def _padded(
        self, fetch: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]], part: torch.Tensor, device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        inputs, targets = fetch(part)
        missing = self._physical - len(part)
        if missing:
            inputs = torch.cat([inputs, torch.zeros_like(inputs[:1]).expand(missing, *inputs.shape[1:])])
            targets = torch.cat([targets, torch.zeros_like(targets[:1]).expand(missing, *targets.shape[1:])])
        mask = torch.arange(self._physical, device=device) < len(part)
        return inputs.to(device), targets.to(device), mask

    # ---- audits ----

    def _plant(self, canaries: tuple[torch.Tensor, torch.Tensor]) -> Canaries:
        if not isinstance(self.batches, PoissonBatches):
            raise DomainError("canaries: need PoissonBatches; the number of examples depends on their coins")
        return Canaries(*canaries, included=self._shared(Canaries.toss(len(canaries[0])) if self._is_first() else None), losses=self._losses)

    def _losses(self, inputs: torch.Tensor, targets: torch.Tensor) -> list[float]:
        return self._rows.losses(inputs, targets)

    def write_canaries(self, path: str | PathLike[str]) -> None:
        """Writes a row ``score,included`` for each canary; the score is by how much the run lowered its loss. For the auditor only."""
        if self._canaries is None:
            raise DomainError("canaries: this run has none")
        Path(path).write_text(self._canaries.table(self._losses), encoding="utf-8")

    # ---- several processes ----

    def _is_first(self) -> bool:
        return self._group is None or torch.distributed.get_rank(self._group) == 0

    def _shared(self, chosen: torch.Tensor | None) -> torch.Tensor:
        """The batch that the first process drew."""
        if self._group is None:
            assert chosen is not None
            return chosen
        box = [chosen]
        torch.distributed.broadcast_object_list(box, torch.distributed.get_global_rank(self._group, 0), group=self._group)
        assert box[0] is not None
        return box[0]

    # ---- resuming ----

    def state_dict(self) -> dict[str, Any]:
        """The public terms and the steps done. Keep the states of model and optimizer beside it; no state of a generator exists.

        With canaries it holds their coins as well, and is for the auditor only.
        """
        coins = {} if self._canaries is None else {"canaries": self._canaries.state()}
        return {**self._terms(), "steps_done": self.steps_done, **coins}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues a run with the same terms. The data must be the same: this cannot check it."""
        expected = self._terms()
        for name, value in expected.items():
            if state.get(name) != value:
                raise DomainError(f"state: {name} is {state.get(name)!r}, and this run has {value!r}; a run goes on with the terms it began with")
        done = state.get("steps_done")
        if isinstance(done, bool) or not isinstance(done, int) or done < self.steps_done:
            raise DomainError(f"state: steps_done = {done!r} is not allowed; it must be a whole number of at least {self.steps_done}")
        if ("canaries" in state) != (self._canaries is not None):
            raise DomainError("state: canaries must be given to both runs or to neither")
        if self._canaries is not None:
            self._canaries.load(state["canaries"])
        self.steps_done = done

    def _terms(self) -> dict[str, Any]:
        return {"batches": repr(self.batches), "clip": self.grid.clip, "noise_multiplier": self.noise_multiplier, "steps": self.steps}

    def __repr__(self) -> str:
        return f"PrivateRun({self.batches!r}, clip={self.grid.clip}, noise_multiplier={self.noise_multiplier}, steps_done={self.steps_done})"


def _reader(data: Data) -> tuple[Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]], int]:
    """A function from indices to inputs and targets, and the number of examples."""
    if isinstance(data, tuple) and len(data) == 2 and all(isinstance(one, torch.Tensor) for one in data):
        inputs, targets = data
        if len(inputs) != len(targets):
            raise DomainError(f"data: {len(inputs)} inputs and {len(targets)} targets; there must be equally many")
        return lambda part: (inputs[part.to(inputs.device)], targets[part.to(targets.device)]), len(inputs)
    if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        raise DomainError("data: must be a pair of tensors or a data set with a length; a data loader draws batches of its own, which this run does not account for")
    if isinstance(data, torch.utils.data.DataLoader):
        raise DomainError("data: a data loader draws batches of its own; give its data set")

    def fetch(part: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows = [data[int(i)] for i in part]
        return torch.stack([torch.as_tensor(one[0]) for one in rows]), torch.stack([torch.as_tensor(one[1]) for one in rows])

    return fetch, len(data)
