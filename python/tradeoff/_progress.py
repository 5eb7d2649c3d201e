# SPDX-License-Identifier: Apache-2.0
"""A bar for calls that take more than a second: that of tqdm, if it is installed and someone may be watching."""

from __future__ import annotations

import threading
from importlib.util import find_spec
from types import TracebackType
from typing import Any

PATIENCE = 1.0  # seconds before a bar is shown
_TICK = 0.2  # seconds between updates


class Progress:
    """Shows a bar while the block runs, from its second second on. ``done`` counts the parts that are finished.

    A thread draws the bar, because the core computes without the interpreter's lock. Without tqdm, or where standard error is no terminal
    and no notebook, nothing is shown.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what = what
        self._total = total
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.done = 0

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._finished.set()
        self._thread.join()

    def _watch(self) -> None:
        if self._finished.wait(PATIENCE):
            return
        bar = _bar(self._what, self._total)
        if bar is None:
            return
        while not self._finished.wait(_TICK):
            bar.n = self.done
            bar.refresh()
        bar.n = self.done
        bar.close()


def _bar(what: str, total: int | None) -> Any:
    try:
        if find_spec("ipywidgets"):  # without it the bar for notebooks warns and shows nothing
            from tqdm.auto import tqdm  # type: ignore[import-not-found, import-untyped, unused-ignore]
        else:
            from tqdm import tqdm  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None
    shape: dict[str, Any] = {} if total else {"bar_format": "{desc}: {elapsed}"}
    return tqdm(total=total, desc=what, leave=False, disable=None, **shape)
