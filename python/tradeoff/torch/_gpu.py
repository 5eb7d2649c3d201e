# SPDX-License-Identifier: Apache-2.0
"""Exact noise by the CUDA kernel in ``noise.cu``, compiled at its first use where CUDA's compiler is installed. [gpu-noise]"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import struct
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from .. import _core
from .._errors import Error

_SOURCE = Path(__file__).with_name("noise.cu")
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
    name = hashlib.sha256(_SOURCE.read_bytes() + architecture.encode() + compiler.encode()).hexdigest()[:32]
    path = cache / f"noise-{name}.so"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            made = Path(folder) / "noise.so"
            command = [compiler, "-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", f"-arch={architecture}", str(_SOURCE), "-o", str(made)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise GpuError(f"CUDA's compiler refused {_SOURCE.name}: {done.stderr[-500:]}")
            made.replace(path)
    library = ctypes.CDLL(str(path))
    library.tradeoff_draw.argtypes = [_POINTER, _POINTER, _POINTER, _COUNT, _POINTER, _POINTER, _COUNT, _POINTER, _POINTER]
    library.tradeoff_words.argtypes = [_POINTER, _COUNT, _POINTER, _POINTER]
    for function in (library.tradeoff_scale_bytes, library.tradeoff_short_error):
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


def _scale(noise: _core.GaussianIntegers, device: torch.device) -> torch.Tensor:
    """The constants of a scale, in the layout of ``Scale`` in noise.cu."""
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
        raise GpuError(f"CUDA reports error {code}; no noise was returned")


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


def words(count: int, key: bytes, device: torch.device) -> torch.Tensor:
    """The words of a key; for tests and measurements."""
    library = _library()
    assert library is not None
    with torch.cuda.device(device):
        found = torch.empty(count, dtype=torch.int64, device=device)
        _check(library.tradeoff_words(ctypes.create_string_buffer(key, 32), count, found.data_ptr(), torch.cuda.current_stream().cuda_stream))
    return found
