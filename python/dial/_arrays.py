"""Arrays and tables of the caller as the engine wants them.

float32 and float64 in C order are used where they lie. Everything else is converted once: small integers, booleans and
float16 to float32, which holds them exactly, the rest to float64.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import InputError

Rows = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Numbers = npt.NDArray[np.float64]

_SMALL = ("b1", "i1", "u1", "i2", "u2", "f2")


def _table(X: Any) -> Any:
    """Columns of numbers of a pandas, polars or Arrow table."""
    kind = type(X).__module__.split(".")[0]
    if kind == "pyarrow":
        if not hasattr(X, "num_columns"):
            return X
        columns = [X.column(place) for place in range(X.num_columns)]
        flat = [column.combine_chunks() if hasattr(column, "combine_chunks") else column for column in columns]
        return np.column_stack([np.asarray(column.to_numpy(zero_copy_only=False)) for column in flat])
    if kind in ("pandas", "polars") and hasattr(X, "to_numpy"):
        return X.to_numpy()
    return X


def features(X: Any, what: str = "X") -> Rows:
    """Rows of numbers, without a copy where that is possible."""
    if hasattr(X, "tocsr") and hasattr(X, "toarray"):
        raise InputError(
            f"{what} is a sparse matrix, and neighbours are looked for among dense rows. Give {what}.toarray(), or fewer "
            "dimensions (sklearn.decomposition.TruncatedSVD).",
            "I4",
            "input",
        )
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    try:
        array = np.asarray(_table(X))
    except Exception as error:
        raise InputError(f"{what} is no matrix of numbers: {error}. Give rows of equal length.", "I3", "input") from None
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} has the type {array.dtype}. Give real numbers.", "I4", "input")
    if array.dtype.kind in "USO":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise _no_numbers(what, array, f": {error}") from None
    elif array.dtype.kind not in "biuf":
        raise _no_numbers(what, array, "")
    if array.ndim != 2:
        raise InputError(
            f"{what} has {array.ndim} dimensions. Expected 2D array, a row per item: Reshape your data, as in "
            f"{what}.reshape(len({what}), -1).",
            "I3",
            "input",
        )
    native = array.dtype.newbyteorder("=")
    if native.str[1:] in _SMALL:
        native = np.dtype(np.float32)
    elif native not in (np.dtype(np.float32), np.dtype(np.float64)):
        native = np.dtype(np.float64)
    return np.require(array, native, ["C", "A"])


def _no_numbers(what: str, array: Any, why: str) -> InputError:
    text = f"{what} holds {array.dtype} and not numbers{why}. Give numbers, or embed the items first."
    return InputError(text, "I4", "input")


def numbers(values: Any) -> Numbers:
    """An array of the engine's by its type."""
    return np.asarray(values)


def rows_of(nodes: Any, n: int | None = None) -> list[int]:
    """Row numbers as a list of whole numbers; a mask of n truths is taken as the rows where it is true."""
    array = np.asarray(nodes)
    if array.dtype == np.bool_ and n is not None:
        if array.shape != (n,):
            raise InputError(f"a mask of {array.shape} does not fit {n} rows. Give one truth for each.", "I3", "input")
        return [int(row) for row in np.flatnonzero(array)]
    if array.size == 0:
        return []
    whole = array.dtype.kind == "f" and bool(np.isfinite(array).all()) and bool(np.all(array == np.floor(array)))
    if array.dtype.kind not in "iu" and not whole:
        raise InputError(f"{nodes!r} are no row numbers. Give whole numbers from 0.", "I12", "input")
    found = [int(row) for row in array.ravel()]
    if any(row < 0 for row in found):
        raise InputError("row numbers count from 0 and are never negative.", "I12", "input")
    if n is not None and max(found) >= n:
        raise InputError(f"there is no row {max(found)} among {n}. Rows count from 0.", "I12", "input")
    return found


def fingerprint(rows: Rows) -> int:
    """Of some thousand values all over the rows: enough to notice that an array was written to as a whole."""
    flat = rows.reshape(-1)
    return zlib.crc32(np.ascontiguousarray(flat[:: max(1, flat.size // 8192)]).tobytes())


def csr(graph: Any) -> dict[str, Any]:
    """A symmetric matrix of weights (SciPy sparse, or dense) as the engine takes it."""
    from scipy import sparse

    try:
        matrix = sparse.csr_array(graph, dtype=np.float64, copy=True)
    except Exception as error:
        raise InputError(f"this is no graph: {error}. Give a square matrix of weights.", "I13", "input") from None
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"a graph of {matrix.shape[0]} x {matrix.shape[1]} is not square. Give weights between all rows.", "I13", "input")
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    off = abs(matrix - matrix.T)
    if off.nnz and off.max() > 1e-12 * abs(matrix).max():
        raise InputError("this graph is not symmetric. Give (W + W.T) / 2.", "I13", "input")
    return {
        "indptr": np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        "indices": np.ascontiguousarray(matrix.indices, dtype=np.int64),
        "data": np.ascontiguousarray(matrix.data, dtype=np.float64),
    }


def settings(**given: Any) -> dict[str, str]:
    """Settings as words; what is None has its default."""
    words = {}
    for name, value in given.items():
        if value is None:
            continue
        if isinstance(value, (bool, np.bool_)):
            words[name] = "true" if value else "false"
        elif isinstance(value, (float, np.floating)):
            words[name] = repr(float(value))
        else:
            words[name] = str(value)
    return words
