# SPDX-License-Identifier: Apache-2.0
"""Exact noise on both devices; on a GPU bit for bit that of the CPU for the same words. [gpu-noise]"""

import math
import os
from fractions import Fraction

import numpy as np
import pytest
import torch

import tradeoff as to
from tradeoff import _core
from tradeoff.torch import NoiseSource, _gpu

BOUND = 2**20
gpu = pytest.mark.skipif(not _gpu.is_available(), reason="no GPU or no CUDA compiler")


def chacha20_words(key: bytes, blocks: int) -> np.ndarray:
    """RFC 8439 with a counter of 64 bits, written from its text: eight 64-bit words of each block."""
    constants, words = np.frombuffer(b"expand 32-byte k", "<u4"), np.frombuffer(key, "<u4")
    counter = np.arange(blocks, dtype=np.uint64)
    start = [np.full(blocks, one, np.uint32) for one in (*constants, *words)]
    start += [(counter & 0xFFFFFFFF).astype(np.uint32), (counter >> 32).astype(np.uint32), np.zeros(blocks, np.uint32), np.zeros(blocks, np.uint32)]
    x = [one.copy() for one in start]

    def turn(value: np.ndarray, by: int) -> np.ndarray:
        return (value << np.uint32(by)) | (value >> np.uint32(32 - by))

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for one, two, three, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[one] += x[two]
            x[three] = turn(x[three] ^ x[one], by)

    for _ in range(10):
        for first in range(4):
            quarter(first, 4 + first, 8 + first, 12 + first)
        for first in range(4):
            quarter(first, 4 + (first + 1) % 4, 8 + (first + 2) % 4, 12 + (first + 3) % 4)
    out = [one + two for one, two in zip(x, start)]
    pairs = [out[2 * i].astype(np.uint64) | out[2 * i + 1].astype(np.uint64) << np.uint64(32) for i in range(8)]
    return np.stack(pairs, axis=1).reshape(-1)


def test_the_reference_is_that_of_the_standard() -> None:
    words = chacha20_words(bytes(32), 1)
    assert words.tobytes()[:16].hex() == "76b8e0ada0f13d90405d6ae55386bd28"  # RFC 8439, A.1, vector 1


def test_the_scale_is_at_least_the_stated_noise() -> None:
    for multiplier in ("1.1", "1/3", "0.01", "17.123456789"):
        stated = Fraction(multiplier) * BOUND
        drawn = Fraction(NoiseSource(multiplier, BOUND).scale)
        assert stated <= drawn <= stated * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("multiplier", ["0", "-1", "nan", "inf", "x"])
def test_bad_multipliers_are_refused(multiplier: str) -> None:
    with pytest.raises(to.DomainError, match="noise_multiplier = "):
        NoiseSource(multiplier, BOUND)


def test_draws_have_the_stated_law(device: torch.device) -> None:
    count, sigma = 4_000_000, 1.1 * BOUND
    drawn = NoiseSource("1.1", BOUND).draw(count, device).double().cpu() / sigma
    assert abs(float(drawn.mean())) < 5 / math.sqrt(count)
    assert abs(float(drawn.square().mean()) - 1) < 5 * math.sqrt(2 / count)
    for point in (-3.0, -1.0, 0.0, 0.5, 2.0, 4.0):
        below, wanted = float((drawn <= point).double().mean()), 0.5 * math.erfc(-point / math.sqrt(2))
        assert abs(below - wanted) < 5 * math.sqrt(wanted * (1 - wanted) / count) + 1e-6


def test_no_two_draws_are_the_same(device: torch.device) -> None:
    source = NoiseSource("1.1", BOUND)
    rows = [tuple(source.draw(8, device).tolist()) for _ in range(200)]
    assert len(set(rows)) == len(rows)


def test_a_forked_process_repeats_nothing() -> None:
    source = NoiseSource("1.1", BOUND)
    source.draw(1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, ",".join(map(str, source.draw(16).tolist())).encode())
        os._exit(0)
    mine = source.draw(16).tolist()
    os.waitpid(child, 0)
    theirs = [int(one) for one in os.read(reading, 10_000).decode().split(",")]
    assert not set(mine) & set(theirs)


@gpu
@pytest.mark.parametrize("multiplier", ["0.0000003", "0.00001", "1.1", "3", "1000", "1000000"])
def test_the_gpu_agrees_bit_for_bit_with_the_cpu(multiplier: str) -> None:
    noise = _core.GaussianIntegers(multiplier, BOUND)
    key, count = bytes(range(32)), 1_000_003
    words = chacha20_words(key, -(-count // 8))[:count]
    device = torch.device("cuda")
    assert (_gpu.words(count, key, device).cpu().numpy().view("uint64") == words).all()
    drawn = _gpu.draw(noise, count, device, key).cpu().numpy()
    decided = noise.decides(words) == 1
    assert (drawn[decided] == noise.from_words(words)[decided]).all()  # the others use further random bits
    assert (~decided).mean() < 1e-3


@gpu
def test_undecided_words_are_settled_by_the_host() -> None:
    noise = _core.GaussianIntegers("10000000", BOUND)  # about 2**43 steps: the table leaves more words undecided
    key, count = bytes(range(1, 33)), 40_000_000
    values = _gpu.draw(noise, count, torch.device("cuda"), key)
    words = _gpu.words(count, key, torch.device("cuda")).cpu().numpy().view("uint64")
    open_ones = np.flatnonzero(noise.decides(words) == 0)
    assert len(open_ones) > 0
    settled = noise.from_words(words[open_ones])
    found = values.cpu().numpy()[open_ones]
    assert (abs(found - settled) <= 1 + 1e-9 * abs(settled)).all()  # the same word, other further bits: values of the same cell


@gpu
def test_too_large_a_limit_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt must not decide what its 32 bits leave open: without its margin some values are wrong."""
    noise, key, count = _core.GaussianIntegers("1000000", BOUND), bytes(range(2, 34)), 4_000_000
    exact = _gpu.draw(noise, count, torch.device("cuda"), key)
    monkeypatch.setattr(_gpu, "short_limits", lambda data, error: [int(one) for one in data["limits"]])
    assert not torch.equal(_gpu.draw(noise, count, torch.device("cuda"), key), exact)


def test_batches_have_the_stated_law() -> None:
    from tradeoff.torch import FixedBatches, PoissonBatches

    sizes = torch.tensor([float(len(PoissonBatches(30, of=1000).draw(1000))) for _ in range(2000)])
    assert abs(float(sizes.mean()) - 30) < 5 * math.sqrt(30 * 0.97 / 2000)
    fixed = FixedBatches(5, of=9)
    counts = torch.zeros(9)
    for _ in range(2000):
        chosen = fixed.draw(9)
        assert len(set(chosen.tolist())) == 5
        counts[chosen] += 1
    assert float((counts / 2000 - 5 / 9).abs().max()) < 0.06
    with pytest.raises(to.DomainError, match="exactly 9"):
        fixed.draw(8)
