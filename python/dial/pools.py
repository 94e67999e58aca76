"""Pools from files, read as the command reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
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
    "drop_zero_rows",
    "embed",
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
    #: The known labels, as numbers of :attr:`classes`; -1 where unknown. None, if there are none.
    labels: npt.NDArray[np.int64] | None
    #: The names of the classes.
    classes: list[str] | None
    #: The texts of a pool of texts.
    texts: list[str] | None = None
    #: The files of a pool of pictures.
    images: list[Path] | None = None
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
        """The names of the known labels; None where unknown."""
        if self.labels is None or self.classes is None:
            return None
        return as_array([None if label < 0 else self.classes[label] for label in self.labels])

    def __repr__(self) -> str:
        known = "no labels" if self.labels is None else f"{len(self.classes or [])} classes"
        return f"Pool({self.name!r}, {self.X.shape[0]} x {self.X.shape[1]}, {known})"


def read(place: str | os.PathLike[str], *, progress: Progress = None, **options: Any) -> Pool:
    """Reads a pool: npy, npz, csv, Parquet, Arrow, JSON, IDX, MATLAB, ENVI, texts, a folder of pictures, or ``builtin:NAME``.

    Options are those of the command with underscores: ``label_column="y"``, ``standardize=False``, ``components=50``,
    ``labels="labels.csv"``, ``kind="scene"``, ... ``drop_zero_rows=True`` leaves out the rows of length zero, which cosine
    cannot compare, as ``--zero-vectors drop`` does.

    ``embed`` says what makes the features of texts: the folder of a model, as with ``dial label --embed``, or a function that
    takes the list of all texts (or of the paths of all pictures) and returns an array with a row for each.

    >>> import dial
    >>> dial.read("builtin:digits").X.shape[0] > 0
    True
    >>> dial.read("builtin:texts", embed=lambda texts: [[len(text)] for text in texts]).X.shape[1]
    1
    """
    own = options.pop("embed") if callable(options.get("embed")) else None
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise InputError(f"there is no option {unknown[0]!r}. The options are {', '.join(_OPTIONS)}.", "U1", "usage")
    if own is not None:
        options["without_features"] = True
    with reporting(progress) as report:
        found: dict[str, Any] = dict(_dial.read_pool(os.fspath(place), settings(**options), report))
    pool = Pool(**found)
    return pool if own is None else _embedded(pool, own)


def _embedded(pool: Pool, own: Callable[[Any], Any]) -> Pool:
    """A pool with the features that a function makes."""
    content = pool.texts if pool.texts is not None else pool.images
    if content is None:
        raise InputError("embed: these items are neither texts nor pictures. Leave it out.", "U1", "usage")
    made = np.asarray(own(content))
    if made.ndim != 2 or len(made) != len(content):
        wanted = f"an array of {len(content)} rows, one for each item"
        raise InputError(f"embed returned an array of shape {made.shape}. Return {wanted}.", "I3", "input")
    pool.X = np.ascontiguousarray(made, dtype=np.float64 if made.dtype == np.float64 else np.float32)
    return pool


def embed(
    texts: Iterable[str],
    model: str | os.PathLike[str],
    *,
    keep: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> npt.NDArray[np.float32]:
    """Embeds texts by a model on this machine: an array with a row of length 1 for each.

    ``model`` is a folder of static word vectors (``tokenizer.json`` and ``model.safetensors``, as model2vec saves them). With
    ``keep`` the rows are kept in a folder, and texts that are there are not embedded again.

    >>> X = dial.embed(["a cat", "a dog"], "models/words")  # doctest: +SKIP
    """
    with reporting(progress) as report:
        made = _dial.embed(list(texts), Path(model), None if keep is None else Path(keep), report)
    return np.asarray(made, dtype=np.float32)
