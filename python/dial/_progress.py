"""Progress: a callback of the caller's, a bar of tqdm, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

#: Called with the stage in words, the steps done and all steps.
Callback = Callable[[str, int, int], object]
Progress = Union[None, bool, Callback]


class _Bar:
    """A bar of tqdm for each stage."""

    def __init__(self) -> None:
        from tqdm.auto import tqdm

        self._make = tqdm
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, steps: int) -> None:
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar, self._stage = self._make(total=steps, desc=stage, leave=False), stage
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextmanager
def reporting(progress: Progress) -> Iterator[Callback | None]:
    """The callback for a piece of work."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        yield progress
        return
    try:
        bar = _Bar()
    except ImportError:
        yield None
        return
    try:
        yield bar
    finally:
        bar.close()
