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

    ``embed`` says what makes the features of texts or pictures: a model, as with ``dial label --embed``, or a function that
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
    items: Iterable[str] | Iterable[Path] | npt.NDArray[np.uint8],
    model: str | os.PathLike[str],
    *,
    keep: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> npt.NDArray[np.float32]:
    """Embeds texts or pictures by a model on this machine: an array with a row of length 1 for each.

    ``items`` are texts (``str``), picture files (``pathlib.Path``), or pictures as an array of bytes: (pictures, height, width)
    where they are grey, (pictures, height, width, 3) where they have colours. ``model`` is an ONNX file, its folder, or for texts
    a folder of static word vectors (``tokenizer.json`` and ``model.safetensors``, as model2vec saves them). With ``keep`` the
    rows are kept in a folder, and items that are there are not embedded again.

    >>> X = dial.embed(["a cat", "a dog"], "models/minilm")  # doctest: +SKIP
    >>> X = dial.embed(sorted(Path("photos").glob("*.jpg")), "models/dino.onnx")  # doctest: +SKIP
    """
    made_by, kept = Path(model), None if keep is None else Path(keep)
    with reporting(progress) as report:
        if isinstance(items, np.ndarray) and items.ndim in (3, 4):
            made = _dial.embed_pixels(_pixels(items), made_by, kept, report)
        else:
            listed = list(items)
            if listed and all(isinstance(item, os.PathLike) for item in listed):
                made = _dial.embed_files(listed, made_by, kept, report)
            else:
                made = _dial.embed([_text(item) for item in listed], made_by, kept, report)
    return np.asarray(made, dtype=np.float32)


def _text(item: Any) -> str:
    if isinstance(item, str):
        return str(item)
    what = f"embed: an item of type {type(item).__name__}"
    raise InputError(f"{what}. Give texts (str), picture files (pathlib.Path), or one array of pictures.", "U1", "usage")


def _pixels(items: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Pictures with three colours each."""
    if items.dtype != np.uint8 or items.ndim == 4 and items.shape[3] != 3:
        what = f"embed: an array of {items.dtype} and shape {items.shape}"
        raise InputError(f"{what}. Give pictures as bytes (uint8): n x height x width, or n x height x width x 3.", "I3", "input")
    return items if items.ndim == 4 else np.repeat(items[..., None], 3, axis=3)
