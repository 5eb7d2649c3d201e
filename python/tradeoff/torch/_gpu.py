# SPDX-License-Identifier: Apache-2.0
"""Exact noise and clipping by the CUDA kernels ``noise.cu`` and ``clip.cu``, compiled at their first use where CUDA's compiler is installed. [gpu-noise]"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from .. import _core
from .._errors import Error

_SOURCES = [Path(__file__).with_name(name) for name in ("noise.cu", "clip.cu")]
_CAPACITY = 1 << 16  # undecided words that a call can report; about one word in 10**9 is undecided
_LARGEST_CALL = 1 << 32
_POINTER, _COUNT = ctypes.c_void_p, ctypes.c_uint64


class GpuError(Error):
    """The GPU did not do its work; no noise was returned."""


def _compiler() -> str | None:
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return shutil.which("nvcc") or (shutil.which("nvcc", path=str(Path(home) / "bin")) if home else None)


def is_available() -> bool:
    """Whether the kernel can run here. ``TRADEOFF_GPU=0`` turns it off; the CPU draws the noise then."""
    return os.environ.get("TRADEOFF_GPU", "1") != "0" and torch.cuda.is_available() and _library() is not None


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    compiler = _compiler()
    if compiler is None:
        return None
    major, minor = torch.cuda.get_device_capability()
    architecture = f"sm_{major}{minor}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tradeoff"
    name = hashlib.sha256(b"".join(one.read_bytes() for one in _SOURCES) + architecture.encode() + compiler.encode()).hexdigest()[:32]
    path = cache / f"noise-{name}.so"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            made = Path(folder) / "noise.so"
            command = [compiler, "-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", f"-arch={architecture}", *map(str, _SOURCES), "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise GpuError(f"CUDA's compiler refused the kernels: {done.stderr[-500:]}")
            made.replace(path)
    library = ctypes.CDLL(str(path))
    library.tradeoff_draw.argtypes = [_POINTER, _POINTER, _POINTER, _COUNT, _POINTER, _POINTER, _COUNT, _POINTER, _POINTER]
    library.tradeoff_words.argtypes = [_POINTER, _COUNT, _POINTER, _POINTER]
    library.tradeoff_clip.argtypes = [
        _POINTER, ctypes.c_int, _COUNT, ctypes.c_int, _POINTER, ctypes.c_double, _COUNT, ctypes.c_double, _POINTER, _POINTER, _POINTER, _POINTER,
        _POINTER,
    ]  # fmt: skip
    for function in (library.tradeoff_scale_bytes, library.tradeoff_short_error, library.tradeoff_clip_chunk, library.tradeoff_parameter_bytes):
        function.restype = _COUNT
    return library


@lru_cache(maxsize=8)
def _table(device: torch.device) -> torch.Tensor:
    table = _core.normal_table()
    if int((table[:, 6] + table[:, 7]).max()) >= 2**32:
        raise GpuError("the first attempt of the kernel leaves out coefficients that this table needs")
    return torch.from_numpy(table.view("int64")).contiguous().to(device)


def short_limits(data: dict[str, Any], short_error: int) -> list[int]:
    """The limits of the first attempt: those of the second less what 32 bits lose. [gpu-noise]"""
    lost = ((data["numerator"] * short_error << 23) >> data["shift"]) + 1
    return [max(0, int(limit) - lost) for limit in data["limits"]]


_scales: dict[tuple[str, torch.device, Any], torch.Tensor] = {}  # of the last scales, on their devices


def _scale(noise: _core.GaussianIntegers, device: torch.device) -> torch.Tensor:
    """The constants of a scale, in the layout of ``Scale`` in noise.cu."""
    name = noise.scale, device, short_limits  # everything that they depend on
    if name not in _scales:
        if len(_scales) >= 16:
            _scales.clear()
        _scales[name] = _new_scale(noise, device)
    return _scales[name]


def _new_scale(noise: _core.GaussianIntegers, device: torch.device) -> torch.Tensor:
    library = _library()
    assert library is not None
    data = noise.kernel_data()
    columns = [data["errors"].tolist(), data["limits"].tolist(), short_limits(data, library.tradeoff_short_error())]
    packed = struct.pack("<3Q", data["numerator"], data["offset_high"], data["offset_low"])
    packed += b"".join(struct.pack("<64Q", *one) for one in columns) + struct.pack("<q", data["shift"])
    if len(packed) != library.tradeoff_scale_bytes():
        raise GpuError("the kernel and this module do not belong together")
    return torch.frombuffer(bytearray(packed), dtype=torch.uint8).to(device)


def _check(code: int) -> None:
    if code != 0:
        raise GpuError(f"CUDA reports error {code}; nothing was returned")


def draw(noise: _core.GaussianIntegers, count: int, device: torch.device, key: bytes | None = None) -> torch.Tensor:
    """So many values. Tests give a key; without one it is drawn from the operating system, and used for this call alone."""
    library = _library()
    if library is None:
        raise GpuError("no CUDA compiler was found")
    with torch.cuda.device(device):
        values = torch.empty(count, dtype=torch.int64, device=device)
        scale, stream = _scale(noise, device), torch.cuda.current_stream().cuda_stream
        for start in range(0, count, _LARGEST_CALL):
            part = values[start : start + _LARGEST_CALL]
            secret = ctypes.create_string_buffer(os.urandom(32) if key is None else key, 32)
            undecided = torch.empty((_CAPACITY, 2), dtype=torch.int64, device=device)
            found = torch.zeros(1, dtype=torch.int64, device=device)
            _check(
                library.tradeoff_draw(
                    secret, scale.data_ptr(), _table(device).data_ptr(), part.numel(), part.data_ptr(), undecided.data_ptr(), _CAPACITY,
                    found.data_ptr(), stream,
                )
            )
            ctypes.memset(secret, 0, 32)
            _settle(noise, part, undecided, int(found.item()))
    return values


def _settle(noise: _core.GaussianIntegers, values: torch.Tensor, undecided: torch.Tensor, found: int) -> None:
    """The words that the table does not decide, by the exact slow path."""
    if found > _CAPACITY:
        raise GpuError(f"{found} words are undecided, more than a call can report; the scale is too large for the GPU")
    if found:
        words = undecided[:found].cpu()
        exact = noise.from_words(words[:, 1].contiguous().numpy().view("uint64"))
        values[words[:, 0].to(values.device)] = torch.from_numpy(exact).to(values.device)
    undecided.zero_()


def add_clipped(
    rows: Sequence[torch.Tensor], sums: Sequence[torch.Tensor], mask: torch.Tensor, step: float, bound: int, aim: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Adds the clipped integers of the examples to the sums. Returns which gradients were too long, and which were kept. [torch-step]"""
    library = _library()
    assert library is not None
    device, count, size = mask.device, len(mask), library.tradeoff_clip_chunk()
    packed, chunks = b"", 0
    for one, total in zip(rows, sums):
        if one.dtype != torch.float32 or total.dtype != torch.int64 or one.device != device or total.device != device:
            raise GpuError("gradients and sums must be of type float32 and int64, on one device")
        if one.shape[0] != count or one.shape[1] != total.numel() or not (one.is_contiguous() and total.is_contiguous()):
            raise GpuError("the shapes of gradients, sums and mask do not fit")
        packed += struct.pack("<4Q", one.data_ptr(), total.data_ptr(), one.shape[1], chunks)
        chunks += -(-one.shape[1] // size)
    if len(packed) != len(rows) * library.tradeoff_parameter_bytes():
        raise GpuError("the kernel and this module do not belong together")
    if chunks >= 2**20 or count >= 2**16:
        raise GpuError(f"{count} examples of {chunks * size} weights are too many for a pass; lower physical_batch")
    with torch.cuda.device(device):
        table = torch.frombuffer(bytearray(packed), dtype=torch.uint8).to(device)
        partial = torch.empty(count * chunks, dtype=torch.float64, device=device)
        scales = torch.empty(count, dtype=torch.float32, device=device)
        is_long = torch.empty(count, dtype=torch.bool, device=device)
        squares = torch.empty(count, dtype=torch.int64, device=device)
        _check(
            library.tradeoff_clip(
                table.data_ptr(), len(rows), chunks, count, mask.data_ptr(), step, bound, bound * aim, partial.data_ptr(), scales.data_ptr(), is_long.data_ptr(),
                squares.data_ptr(), torch.cuda.current_stream().cuda_stream,
            )
        )  # fmt: skip
    return is_long, squares <= bound * bound


def words(count: int, key: bytes, device: torch.device) -> torch.Tensor:
    """The words of a key; for tests and measurements."""
    library = _library()
    assert library is not None
    with torch.cuda.device(device):
        found = torch.empty(count, dtype=torch.int64, device=device)
        _check(library.tradeoff_words(ctypes.create_string_buffer(key, 32), count, found.data_ptr(), torch.cuda.current_stream().cuda_stream))
    return found
