"""Pools from files, read as the command reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dial
from ._arrays import settings
from ._errors import InputError
from ._labels import as_array
from ._progress import Progress, reporting


#: How a pool can be read.
_OPTIONS = (
    "components",
    "drop_nonfinite",
    "features",
    "folder_labels",
    "id_column",
    "image_column",
    "kind",
    "label_column",
    "labels",
    "skip_bad",
    "standardize",
    "text_column",
    "variable",
)


@dataclass
class Pool:
    """What a file holds."""

    #: A short name.
    name: str
    #: Rows of features.
    X: Any
    #: The metric that these features are made for.
    metric: str
    #: Ids of the rows, if the file has any.
    ids: list[str] | None
    #: The known labels, as numbers of :attr:`classes`; -1 where nobody knows. None, if there are none.
    labels: npt.NDArray[np.int64] | None
    #: The names of the classes.
    classes: list[str] | None
    #: What was noticed on the way.
    notes: list[str] = field(default_factory=list)
    #: Height and width of a scene.
    scene: tuple[int, int] | None = None
    #: The pixel of each row of a scene, counted row by row from the upper left.
    pixels: npt.NDArray[np.int64] | None = None
    #: The wavelength of each band, if they are known.
    wavelengths: npt.NDArray[np.float64] | None = None

    @property
    def y(self) -> Any:
        """The names of the known labels; None where nobody knows."""
        if self.labels is None or self.classes is None:
            return None
        return as_array([None if label < 0 else self.classes[label] for label in self.labels])

    def __repr__(self) -> str:
        known = "no labels" if self.labels is None else f"{len(self.classes or [])} classes"
        return f"Pool({self.name!r}, {self.X.shape[0]} x {self.X.shape[1]}, {known})"


def read(place: str | os.PathLike[str], *, progress: Progress = None, **options: Any) -> Pool:
    """Reads a pool: npy, npz, csv, Parquet, Arrow, JSON, IDX, MATLAB, ENVI, texts, a folder of pictures, or ``builtin:NAME``.

    Options are those of the command with underscores: ``label_column="y"``, ``standardize=False``, ``components=50``,
    ``labels="labels.csv"``, ``kind="scene"``, ...

    >>> import dial
    >>> dial.read("builtin:digits").X.shape[0] > 0
    True
    """
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise InputError(f"there is no option {unknown[0]!r}. The options are {', '.join(_OPTIONS)}.", "U1", "usage")
    with reporting(progress) as report:
        found: dict[str, Any] = dict(_dial.read_pool(os.fspath(place), settings(**options), report))
    return Pool(**found)
