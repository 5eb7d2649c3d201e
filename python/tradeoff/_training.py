# SPDX-License-Identifier: Apache-2.0
"""Private training in the words of training libraries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from . import _core
from ._errors import DomainError
from ._interval import Interval
from ._numbers import Number, optional_text, to_text
from ._plan import Plan, gaussian
from ._progress import Progress

if TYPE_CHECKING:
    from ._curve import Curve

Sampling = Literal["poisson", "fixed", "shuffled", "allocated", "cyclic"]
Unit = Literal["clipping norm", "sensitivity"]

FACTOR_OF_TWO = (
    "A noise multiplier is the standard deviation of the noise divided by a length, and there are two such lengths. "
    "Adding or removing a record moves a sum of clipped values by at most the clipping norm C; replacing one moves it by up to 2C. "
    "Under replace-one neighbours noise of multiplier s in units of the clipping norm is therefore s/2 in units of the sensitivity: "
    "say unit='clipping norm' (training libraries) or unit='sensitivity' (textbooks)."
)


def noisy_sum(noise_multiplier: Number, *, neighbours: str, unit: str) -> Plan:
    """Gaussian noise on a sum of clipped values, with its unit and its neighbours spelled out.

    >>> import tradeoff as to
    >>> to.noisy_sum(1.1, neighbours="replace-one", unit="clipping norm")
    Plan('gaussian(sigma=1.1, sensitivity=2)')
    """
    if neighbours not in ("add-remove", "replace-one", "zero-out"):
        raise DomainError(
            f"neighbours = {neighbours!r} is not allowed; it must be one of add-remove, replace-one, zero-out. {FACTOR_OF_TWO}"
        )
    if unit not in ("clipping norm", "sensitivity"):
        raise DomainError(f"unit = {unit!r} is not allowed. {FACTOR_OF_TWO}")
    doubled = neighbours == "replace-one" and unit == "clipping norm"
    return gaussian(noise_multiplier, sensitivity=2 if doubled else None)


def sgd(
    *,
    noise_multiplier: Number,
    batch: int | None = None,
    examples: int | None = None,
    batch_size: int | None = None,
    sample_rate: Number | None = None,
    epochs: Number | None = None,
    steps: int | None = None,
    sampling: Sampling = "poisson",
    neighbours: str | None = None,
    reuse: bool = False,
    groups: int | None = None,
    at_most: int | None = None,
    per_user: int = 1,
    layers: int = 1,
    count_noise: Number | None = None,
    further_noise_multipliers: Iterable[Number] = (),
    noise_is_total: bool = False,
    matrix: str | Mapping[str, Iterable[Number]] | Iterable[Number] | None = None,
) -> TrainingPlan:
    """The plan of a run of private gradient descent, with the sentence for a paper: ``sgd(...).sentence(delta=1e-5)``.

    Args:
        noise_multiplier: standard deviation of the noise on the sum of clipped gradients, divided by the clipping norm; or ``"?"``.
        batch: examples in a batch, on average for Poisson sampling; also ``batch_size``. Or state ``sample_rate``.
        examples: the number of examples in the data. May be left out if Poisson batches are described by ``sample_rate``.
        sample_rate: batch / examples, as in Opacus: ``1 / len(data_loader)``.
        epochs: passes over the data: ``ceil(epochs * examples / batch)`` steps, exactly. Or state ``steps``.
        sampling: how batches are drawn. ``"poisson"`` (default): every example joins each batch independently; ``"fixed"``: each batch is
            a fresh sample of fixed size without replacement; ``"shuffled"``: the data is shuffled and cut into batches, as data loaders
            do; ``"allocated"``: every example draws one step of each epoch (balls and bins); ``"cyclic"``: ``groups`` take turns.
        neighbours: ``"add-remove"``, ``"zero-out"`` or ``"replace-one"``, where a theorem for the sampling exists. Default: add-remove;
            zero-out for shuffled batches, replace-one for fixed ones.
        reuse: shuffled, allocated: every epoch uses the order or the draw of the first.
        groups: cyclic: how many groups take turns.
        at_most: poisson: the largest batch; of more examples drawn, a random so many are kept.
        per_user: poisson: protect a user who owns at most so many examples.
        layers: layers that are clipped on their own, each with this noise multiplier.
        count_noise: adaptive clipping: standard deviation of the noise on the count of gradients within the norm, where each example
            counts -1/2 or 1/2.
        further_noise_multipliers: of further releases on each batch.
        noise_is_total: the noise multiplier is that of all releases on a batch together.
        matrix: correlated noise: ``"square_root"``, ``"prefix"``, ``"tree"``, the coefficients of a Toeplitz matrix, or
            ``{"scales": ..., "decays": ...}`` of a BLT. For shuffled batches, and for cyclic ones if it is banded.

    >>> import tradeoff as to
    >>> to.sgd(noise_multiplier=1.1, batch=256, examples=60000, epochs=60)
    Plan('gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)')
    >>> to.sgd(noise_multiplier=1, batch=100, examples=10000, epochs=10, neighbours="replace-one")
    Plan('gaussian(sigma=1, clip=1) | poisson(rate=100/10000) | repeat(1000)')
    >>> run = to.sgd(noise_multiplier=1.1, sample_rate=0.004, examples=60000, steps=1000)
    >>> print(run.sentence(delta=1e-5)[:87])
    We train with DP-SGD for T = 1000 steps on Poisson-sampled batches (rate q = 240/60000)
    >>> to.sgd(noise_multiplier=1.1, sample_rate=1 / 235, epochs=60)
    Plan('gaussian(sigma=1.1) | poisson(rate=1/235) | repeat(14100)')
    """
    if batch is not None and batch_size is not None:
        raise DomainError("batch and batch_size are the same; state one of them")
    batch, examples = _sizes_of(batch if batch is not None else batch_size, sample_rate, examples, sampling, at_most is not None)
    counts = {"examples": examples, "batch": batch, "steps": steps, "groups": groups, "at_most": at_most}
    _check_counts({**counts, "per_user": per_user, "layers": layers})
    arguments = (
        to_text("noise_multiplier", noise_multiplier),
        batch,
        examples,
        optional_text("epochs", epochs),
        steps,
        str(sampling),
        neighbours or "",
        bool(reuse),
        groups,
        at_most,
        per_user,
        layers,
        optional_text("count_noise", count_noise),
        [to_text("further_noise_multipliers", one) for one in further_noise_multipliers],
        bool(noise_is_total),
        _matrix_arguments(matrix),
    )
    run: tuple[Any, ...] = (*arguments, None)
    text, relation, _ = _core.sgd(*run)
    return TrainingPlan(text, relation, arguments)


class TrainingPlan(Plan):
    """The plan of a training run. It remembers the run, and so the neighbours that its theorem covers and the sentence for a paper."""

    __slots__ = ("_neighbours", "_run")
    _neighbours: str
    _run: tuple[Any, ...]

    def __init__(self, text: str, neighbours: str, run: tuple[Any, ...]) -> None:
        super().__init__(text)
        object.__setattr__(self, "_neighbours", neighbours)
        object.__setattr__(self, "_run", run)

    @property
    def neighbours(self) -> str:
        """The neighbouring relation of the run."""
        return self._neighbours

    def curve(self, *, neighbours: str | None = None, relative: Number = 1e-6) -> Curve:
        """What the run guarantees, under its own neighbours unless others are stated."""
        return super().curve(neighbours=neighbours or self._neighbours, relative=relative)

    def sentence(self, delta: Number) -> str:
        """What a paper should say: sampling, noise multiplier, rate, steps, neighbours, certified epsilon at delta, accountant, version.

        >>> import tradeoff as to
        >>> run = to.sgd(noise_multiplier=1.1, batch=256, examples=60000, epochs=60)
        >>> "ε = 2.38169 and δ = 1e-5 for one example under add-remove neighbours" in run.sentence(delta="1e-5")
        True
        """
        with Progress("sentence"):
            run: tuple[Any, ...] = (*self._run, to_text("delta", delta))
            _, _, sentence = _core.sgd(*run)
            return sentence

    def __reduce__(self) -> tuple[Any, ...]:
        return TrainingPlan, (self.text, self._neighbours, self._run)


def _sizes_of(batch: int | None, sample_rate: Number | None, examples: int | None, sampling: str, exactly: bool = False) -> tuple[int, int]:
    """The batch and the number of examples; ``exactly`` if that number matters beyond the rate."""
    if (batch is None) == (sample_rate is None):
        raise DomainError("state either batch (or batch_size) or sample_rate")
    _check_counts({"examples": examples, "batch": batch})
    if batch is not None:
        if examples is None:
            raise DomainError("batch needs examples, the number of examples in the data; or state sample_rate")
        return batch, examples
    sizes: tuple[int, int] = _core.batch_of_rate(to_text("sample_rate", sample_rate), examples, str(sampling))
    if exactly and sizes[1] != examples:
        raise DomainError(f"sample_rate = {sample_rate} needs examples here, and must be a whole number of them; or state batch and examples")
    return sizes


def _check_counts(counts: Mapping[str, object]) -> None:
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10**12):
            raise DomainError(f"{name} = {value!r} is not allowed; it must be a whole number from 1 to 10**12")


def _matrix_arguments(matrix: str | Mapping[str, Iterable[Number]] | Iterable[Number] | None) -> str:
    """The arguments of the plan word ``matrix`` that describe it."""
    if matrix is None:
        return ""
    if isinstance(matrix, str):
        if matrix not in ("square_root", "prefix", "tree"):
            raise DomainError(f"matrix = {matrix!r} is not allowed; it must be square_root, prefix, tree, coefficients or scales and decays")
        return f"kind={matrix}"

    def listed(name: str, numbers: Iterable[Number]) -> str:
        return f"{name}=[{', '.join(to_text(name, one) for one in numbers)}]"

    if isinstance(matrix, Mapping):
        blt = cast("Mapping[str, Iterable[Number]]", matrix)
        if set(blt) != {"scales", "decays"}:
            raise DomainError("matrix: a BLT has exactly scales and decays")
        return f"kind=blt, {listed('scales', blt['scales'])}, {listed('decays', blt['decays'])}"
    return listed("coefficients", matrix)


class SamplerRow(NamedTuple):
    """One way to draw the batches of a training run.

    Attributes:
        sampler: how the batches are drawn.
        neighbours: the relation that its theorem covers.
        plan: None if it was refused.
        assumes: what the theorem assumes.
        epsilon: certified epsilon.
        refused: why it was refused, otherwise empty.
    """

    sampler: str
    neighbours: str
    plan: Plan | None
    assumes: str
    epsilon: Interval
    refused: str


def compare_sampling(
    *,
    noise_multiplier: Number,
    batch: int,
    examples: int,
    delta: Number,
    epochs: Number | None = None,
    steps: int | None = None,
    groups: int | None = None,
    at_most: int | None = None,
) -> list[SamplerRow]:
    """The same training run with its batches drawn in every way that is accounted for: the certified epsilon at delta of each.

    ``groups`` of cyclic batches and the largest batch ``at_most`` of capped ones are chosen if they are not stated.

    >>> import tradeoff as to
    >>> rows = to.compare_sampling(noise_multiplier=1, batch=10, examples=100, epochs=1, delta=1e-5)
    >>> rows[0].sampler, rows[0].neighbours
    ('poisson', 'add-remove')
    """
    _check_counts({"examples": examples, "batch": batch, "steps": steps, "groups": groups, "at_most": at_most})
    with Progress("compare_sampling"):
        rows = _core.samplers(
            to_text("noise_multiplier", noise_multiplier),
            batch,
            examples,
            optional_text("epochs", epochs),
            steps,
            groups,
            at_most,
            to_text("delta", delta),
        )
    return [
        SamplerRow(sampler, neighbours, Plan(plan) if plan else None, assumes, Interval(lo, hi, "hi"), refused)
        for sampler, neighbours, plan, assumes, lo, hi, refused in rows
    ]
