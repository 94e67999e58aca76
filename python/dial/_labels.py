"""Labels of any hashable kind, and the named classes that the project keeps.

A class has a name in the project, and a label is the Python object that stands for it. What name a label got is remembered for
good, so that it comes back after an undo. Names of classes that were made elsewhere (on the page, by the command) are strings.
Strings, whole numbers, floats and truths come back as what they were when a project is opened again; labels of other kinds come
back as their names, and are known by them when they are told.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from ._errors import InputError

#: The largest length of the name of a class in a project.
_LONGEST = 200

#: The kinds of labels that can be kept with a project.
_KINDS = (bool, int, float, str)


def plain(label: Any) -> Any:
    """A label without its wrapping by NumPy or Arrow."""
    if isinstance(label, np.generic) or (isinstance(label, np.ndarray) and label.ndim == 0):
        return label.item()
    return label.as_py() if hasattr(label, "as_py") else label


def is_missing(label: Any) -> bool:
    """Whether this says that there is no label: None, NaN, pandas' NA."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(label != label)
    except Exception:
        return False


def key(label: Any) -> tuple[bool, Hashable]:
    """What a label is looked up by: True is not 1."""
    try:
        hash(label)
    except TypeError:
        text = f"{label!r} is no label: it cannot be hashed. Give strings, numbers or tuples; a dict of labels is a soft label."
        raise InputError(text, "I12", "input") from None
    return isinstance(label, bool), label


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
        #: The names of the live classes by their ids, in their order.
        self.live: dict[int, str] = {}
        self._labels: dict[str, Hashable] = {}
        self._found: dict[tuple[bool, Hashable], int] = {}
        self._merged: dict[tuple[bool, Hashable], str] = {}

    def refresh(self, found: Iterable[tuple[int, str]]) -> None:
        """Takes the classes as the project has them now."""
        live = dict(found)
        if live != self.live:
            self.live = live
            self._index()

    def _index(self) -> None:
        labels = [(number, self._labels.get(name, name)) for number, name in self.live.items()]
        self._found = {key(label): number for number, label in reversed(labels)}

    def remember(self, named: Iterable[tuple[Hashable, str]]) -> None:
        """Takes note of what labels the names stand for."""
        self._labels.update((name, label) for label, name in named)
        self._index()

    def merge(self, source: Hashable, into: Hashable) -> None:
        """Takes note that one label counts for another from now on."""
        self._merged[key(source)] = self.live[self._found[key(into)]]

    def names_for(self, labels: Iterable[Hashable]) -> list[tuple[Hashable, str]]:
        """Labels that have no class yet with names for them: unlike all others, and fit to be shown."""
        taken = {name for name in self.live.values()}
        named = []
        for label in labels:
            free = (name for name in _names(label) if name not in taken and self._is_for(name, label))
            name = next(free, None)
            if name is None:
                text = f"the label {label!r} looks like another one. Choose labels that can be told apart in print."
                raise InputError(text, "I12", "input")
            taken.add(name)
            named.append((label, name))
        return named

    def _is_for(self, name: str, label: Hashable) -> bool:
        """Whether a name was not used for another label."""
        return name not in self._labels or key(self._labels[name]) == key(label)

    def label(self, number: int) -> Hashable:
        """The label of a class."""
        return self._labels.get(self.live[number], self.live[number])

    @property
    def labels(self) -> list[Hashable]:
        """The labels of the live classes, in their order."""
        return [self.label(number) for number in self.live]

    def find(self, label: Any) -> int | None:
        """The live class of a label, if there is one."""
        found = self._found.get(key(label))
        if found is None and key(label) in self._merged:
            found = next((n for n, name in self.live.items() if name == self._merged[key(label)]), None)
        if found is None and type(label) not in _KINDS:
            # A class that was opened under the name of such a label.
            names = {name: number for number, name in self.live.items() if name not in self._labels}
            found = next((names[name] for name in _names(label) if name in names), None)
        return found

    def name(self, label: Any) -> str | None:
        """The name of the live class of a label, if there is one."""
        found = self.find(label)
        return None if found is None else self.live[found]

    def is_unlabelled(self, label: Any) -> bool:
        """Whether this means that there is no label: -1 does, unless it is one of the classes."""
        if is_missing(label):
            return True
        return isinstance(label, (int, float)) and not isinstance(label, bool) and label == -1 and self.find(-1) is None

    def array(self, numbers: Any) -> Any:
        """An array of labels for an array of classes."""
        place = {number: index for index, number in enumerate(self.live)}
        return as_array(self.labels)[np.array([place[int(number)] for number in numbers], dtype=np.int64)]

    def to_bytes(self, acquisition: str | None) -> bytes:
        """What can be kept with a project."""
        kept = [[name, label] for name, label in self._labels.items() if type(label) in _KINDS and label == label]
        return json.dumps({"closed": self.closed, "labels": kept, "acquisition": acquisition}).encode()

    def read(self, kept: bytes | None) -> str | None:
        """Takes what was kept; returns the name of an acquisition of the caller's own."""
        found = json.loads(kept) if kept else {}
        self.closed = bool(found.get("closed", self.closed))
        self.remember((label, name) for name, label in found.get("labels", []))
        own: str | None = found.get("acquisition")
        return own


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Labels, each once: sorted where they can be, else as they were met."""
    met = list({key(label): label for label in labels}.values())
    try:
        return sorted(met, key=lambda label: (isinstance(label, bool), isinstance(label, str), label))
    except TypeError:
        return met


def as_array(labels: list[Any]) -> Any:
    """Labels as an array of their kind; of objects, where they are of several kinds or NumPy would change them."""
    if len({type(label) for label in labels}) == 1 and type(labels[0]) in _KINDS:
        array = np.array(labels)
        if array.ndim == 1 and array.tolist() == labels:
            return array
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def as_list(labels: Any, count: int, single: bool, classes: Classes | None = None) -> list[Any]:
    """As many labels as there are rows: one for each, or one for all."""
    if single:
        return [plain(labels)] * count
    if hasattr(labels, "to_pylist"):
        labels = labels.to_pylist()
    elif hasattr(labels, "__next__"):
        labels = list(labels)
    if isinstance(labels, set):
        raise InputError("a set has no order. Give a list of labels.", "I12", "input")
    if isinstance(labels, (str, bytes, dict, frozenset)) or not hasattr(labels, "__len__"):
        return [plain(labels)] * count
    if getattr(labels, "ndim", 1) > 1:
        raise InputError(f"labels of the shape {np.shape(labels)}. Give one for each row.", "I3", "input")
    if getattr(labels, "ndim", 1) == 0 or (isinstance(labels, tuple) and classes is not None and classes.find(labels) is not None):
        return [plain(labels)] * count
    if len(labels) != count:
        raise InputError(f"{len(labels)} labels for {count} rows. Give one for each, or one for all.", "I3", "input")
    return [plain(label) for label in (labels.tolist() if isinstance(labels, np.ndarray) else labels)]
