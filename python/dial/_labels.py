"""Labels of any hashable kind, and the named classes that the project keeps.

A class has an id that never changes and a name. A label is the Python object that stands for it: names of classes that were
made elsewhere (on the page, by the command) are strings. Strings, whole numbers, floats and truths come back as what they were
when a project is opened again; labels of other kinds come back as their names.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from ._errors import InputError


def plain(label: Any) -> Any:
    """A label without its NumPy wrapping."""
    return label.item() if isinstance(label, np.generic) else label


def is_missing(label: Any) -> bool:
    """Whether this says that there is no label: None, NaN, pandas' NA."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)


def key(label: Any) -> tuple[bool, Hashable]:
    """What a label is looked up by: True is not 1."""
    try:
        hash(label)
    except TypeError:
        raise InputError(f"{label!r} is no label: it cannot be hashed. Give strings, numbers or tuples.", "I12", "input") from None
    return isinstance(label, bool), label


#: Names of classes are at most so long in a project.
_LONGEST = 200


def _names(label: Hashable) -> Iterator[str]:
    """Names for a label, the best first."""
    for name in (str(label), repr(label), f"{type(label).__name__} {label!r}"):
        if len(name) > _LONGEST:
            name = f"{name[: _LONGEST // 2]}… {blake2b(name.encode(), digest_size=6).hexdigest()}"
        if name and name.strip() == name and name.isprintable():
            yield name


class Classes:
    """The classes of a session by their labels."""

    def __init__(self, closed: bool) -> None:
        #: Whether labels that are not known are refused: the classes were named at the start.
        self.closed = closed
        self._by_id: dict[int, tuple[Hashable, str]] = {}
        self.order: list[int] = []
        self._live: dict[tuple[bool, Hashable], int] = {}

    def refresh(self, found: Iterable[tuple[int, str]]) -> None:
        """Takes the classes as the project has them now."""
        self.order = []
        for number, name in found:
            self.order.append(number)
            known = self._by_id.get(number)
            if known is None or known[1] != name:
                self._by_id[number] = (name, name)
        self._live = {key(self.label(number)): number for number in reversed(self.order)}

    def names_for(self, labels: Iterable[Hashable]) -> list[tuple[Hashable, str]]:
        """Labels that have no names yet with new ones: unlike all others, and fit to be shown."""
        taken = {name for _, name in self._by_id.values()}
        named = []
        for label in labels:
            name = next((name for name in _names(label) if name not in taken), None)
            if name is None:
                text = f"the label {label!r} looks like another one. Choose labels that can be told apart in print."
                raise InputError(text, "I12", "input")
            taken.add(name)
            named.append((label, name))
        return named

    def remember(self, number: int, label: Hashable, name: str) -> None:
        """Takes note of the label of a class."""
        self._by_id[number] = (label, name)
        if number in self.order:
            self._live[key(label)] = number

    def label(self, number: int) -> Hashable:
        """The label of a class."""
        return self._by_id[number][0]

    @property
    def labels(self) -> list[Hashable]:
        """The labels of the live classes, in their order."""
        return [self.label(number) for number in self.order]

    def find(self, label: Any) -> int | None:
        """The live class of a label, if there is one."""
        return self._live.get(key(label))

    def is_unlabelled(self, label: Any) -> bool:
        """Whether this means that there is no label: -1 does, unless it is one of the classes."""
        if is_missing(label):
            return True
        return isinstance(label, (int, float)) and not isinstance(label, bool) and label == -1 and self.find(-1) is None

    def array(self, numbers: Any) -> Any:
        """An array of labels for an array of classes."""
        place = {number: index for index, number in enumerate(self.order)}
        return as_array(self.labels)[np.array([place[int(number)] for number in numbers], dtype=np.int64)]

    def to_bytes(self) -> bytes:
        """What can be kept with a project."""
        kinds = {bool: "bool", int: "int", float: "float", str: "str"}
        kept = [
            [number, kinds[type(label)], label, name]
            for number, (label, name) in sorted(self._by_id.items())
            if type(label) in kinds
        ]
        return json.dumps({"closed": self.closed, "classes": kept}).encode()

    def read(self, kept: bytes | None) -> None:
        """Takes what was kept."""
        found = json.loads(kept) if kept else {}
        self.closed = bool(found.get("closed", self.closed))
        for number, _, label, name in found.get("classes", []):
            self._by_id[number] = (label, name)


def as_array(labels: list[Any]) -> Any:
    """Labels as an array of their kind; of objects, where they are of several kinds."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], (str, int, float)):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def as_list(labels: Any, count: int, single: bool) -> list[Any]:
    """As many labels as there are rows: one for each, or one for all."""
    if single:
        return [plain(labels)] * count
    if hasattr(labels, "to_pylist"):
        labels = labels.to_pylist()
    elif hasattr(labels, "__next__"):
        labels = list(labels)
    if isinstance(labels, set):
        raise InputError("a set has no order. Give a list of labels.", "I12", "input")
    one = isinstance(labels, (str, bytes, dict, frozenset)) or not hasattr(labels, "__len__")
    if one or isinstance(labels, tuple) and len(labels) != count:
        return [plain(labels)] * count
    if getattr(labels, "ndim", 1) > 1:
        raise InputError(f"labels of the shape {np.shape(labels)}. Give one for each row.", "I3", "input")
    if len(labels) != count:
        raise InputError(f"{len(labels)} labels for {count} rows. Give one for each, or one for all.", "I3", "input")
    return [plain(label) for label in (labels.tolist() if isinstance(labels, np.ndarray) else labels)]
