"""Exceptions: one base class, the same texts and codes as the command."""

from __future__ import annotations

import operator
import re
from typing import Any


class DialError(Exception):
    """Something went wrong. The text says what, where, and what to do; ``code`` is listed in docs/errors.md."""

    #: The stable code, such as ``"I1"``.
    code: str
    #: The kind: usage, input, numeric, storage, conflict, resource or permission.
    kind: str

    def __init__(self, text: str, code: str = "U1", kind: str = "usage") -> None:
        super().__init__(text)
        self.code = code
        self.kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self.args[0]), self.code, self.kind)

    def __str__(self) -> str:
        return f"[{self.code}] {self.args[0]}"


class InputError(DialError, ValueError):
    """Data or settings that cannot serve."""


class StateError(DialError, RuntimeError):
    """Everything else: a disk or numerical error, or a project that another process has open."""


def make(code: str, kind: str, text: str) -> DialError:
    """The exception for a failure of the engine. Options of the command are called as they are here: ``--k 5`` is ``k=5``."""
    text = re.sub(r"--(acquisition|k|metric|precision|propagation|zero-vectors)( )(?=\w)|--([a-z][a-z-]*)", _option, text)
    # Rows of a session are those of its features: they are dropped before, where a pool is read.
    text = text.replace("zero_vectors=isolate|drop", "zero_vectors=isolate, dial.read(..., drop_zero_rows=True)")
    family = InputError if kind in ("usage", "input") else StateError
    return family(text, code, kind)


def _option(found: re.Match[str]) -> str:
    return (found[1] or found[3]).replace("-", "_") + ("=" if found[2] else "")


def whole(number: Any, what: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number within bounds."""
    try:
        value = operator.index(number)
    except TypeError:
        raise InputError(f"{what} must be a whole number, got {number!r}.", "U1", "usage") from None
    if not least <= value <= most:
        raise InputError(f"{what} must be at least {least}{'' if most == 2**63 - 1 else f' and at most {most}'}, got {value}.", "U1", "usage")
    return value
