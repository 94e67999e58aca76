"""Arrays and tables of every kind: the right answer or the right error."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import dial

RNG = np.random.default_rng(1)
X = RNG.integers(0, 40, size=(50, 4)).astype(np.float64)


def neighbours(values: object) -> np.ndarray:
    return dial.knn(values, 3)[0]


WANTED = neighbours(X)


def wide(values: np.ndarray) -> np.ndarray:
    """Every second column and row of a larger array."""
    big = np.full((2 * values.shape[0], 2 * values.shape[1]), 99.0, dtype=values.dtype)
    big[::2, ::2] = values
    return big[::2, ::2]


def read_only(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize(
    "values",
    [
        X.astype(np.float32),
        X.astype(np.float16),
        np.asfortranarray(X),
        np.asfortranarray(X.astype(np.float32)),
        wide(X),
        wide(X.astype(np.float32)),
        X[::-1][::-1],
        X.astype(">f8"),
        X.astype(">f4"),
        X.astype(">i4"),
        *(X.astype(kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")),
        X.astype(np.longdouble),
        read_only(X),
        read_only(X.astype(np.float32)),
        X.astype(object),
        X.astype(str),
        X.tolist(),
        np.ascontiguousarray(X.T).T,
        np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape),
    ],
    ids=lambda values: f"{getattr(values, 'dtype', type(values).__name__)}",
)
def test_every_layout_has_the_same_neighbours(values: object) -> None:
    assert np.array_equal(neighbours(values), WANTED)


def test_truths_are_numbers() -> None:
    truths = RNG.random((30, 6)) < 0.5
    assert np.array_equal(neighbours(truths), neighbours(truths.astype(float)))


def test_tables_are_rows() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    names = ["a", "b", "c", "d"]
    columns = {name: X[:, place] for place, name in enumerate(names)}
    for table in (
        pandas.DataFrame(columns),
        pandas.DataFrame(columns).astype("Float32"),
        polars.DataFrame(columns),
        pyarrow.table(columns),
    ):
        assert np.array_equal(neighbours(table), WANTED)
    with pytest.raises(dial.InputError) as error:
        neighbours(pandas.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
    assert error.value.code == "I4"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (np.zeros((0, 4)), "I3"),
        (np.zeros((4, 0)), "I3"),
        (np.zeros(4), "I3"),
        (np.zeros((2, 2, 2)), "I3"),
        (np.array([[1.0, np.nan]] * 9), "I1"),
        (np.array([[1.0, np.inf]] * 9), "I1"),
        (np.ones((9, 2)), "I10"),
        (np.array([[1e200], [0.0], [1.0]]), "I11"),
        (np.array([["a"], ["b"]]), "I4"),
        (np.array([[1j], [2j]]), "I4"),
        (np.array([[None], [object()]]), "I4"),
        (np.array([[1], [2]], dtype="m8[s]"), "I4"),
        ([[1.0], [2.0, 3.0]], "I3"),
        (np.ma.masked_equal(X, X[0, 0]), "I1"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(getattr(value, "shape", "")),
)
def test_bad_arrays_are_refused_in_words(values: np.ndarray, code: str) -> None:
    with pytest.raises(ValueError) as error:
        dial.Session(values)
    assert isinstance(error.value, dial.DialError) and error.value.code == code
    # What to do is said, too.
    assert str(error.value).startswith(f"[{code}] ") and "." in str(error.value)


def test_sparse_rows_and_bad_graphs_are_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(dial.InputError, match="toarray"):
        dial.Session(sparse.csr_array(X))
    for graph in (np.ones((2, 3)), np.array([[0, 1.0], [2.0, 0]]), np.array([[0, -1.0], [-1.0, 0]])):
        with pytest.raises(ValueError):
            dial.Session(graph=sparse.csr_array(graph))


def test_bad_settings_are_refused_in_words() -> None:
    for setting, code in [
        ({"metric": "manhattan"}, "U1"),
        ({"acquisition": "vibes"}, "U1"),
        ({"tau": -1.0}, "N7"),
        ({"tau": "much"}, "U1"),
        ({"k": 0}, "U1"),
        ({"k": 50}, "I8"),
        ({"policy": "best"}, "U1"),
        ({"prior": "strong"}, "U1"),
        ({"seed": -1}, "U1"),
    ]:
        with pytest.raises(ValueError) as error:
            dial.Session(X, ["a", "b"], **setting)  # type: ignore[arg-type]
        assert error.value.code == code, setting
    with pytest.raises(dial.InputError):
        dial.Session(X, ["a", "b"]).tell(50, "a")
    with pytest.raises(dial.InputError):
        dial.Session(X, ["a", "b"]).tell(-1, "a")
    with pytest.raises(dial.InputError):
        dial.Session(X, ["a", "b"]).tell([0, 1], ["a"])
    with pytest.raises(dial.InputError):
        dial.Session(X, ["a", "b"]).tell(0.5, "a")


SEARCHES = """
import numpy as np, resource, dial
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
X = np.zeros((2000, {columns}), dtype=np.{kind}); X[:, 0] = np.arange(2000)
dial.knn(np.random.default_rng(0).normal(size=(500, 8)), 5)
before = peak(); kept = dial._arrays.features(X); grown = peak() - before
session = dial.Session(X, k=5)
print(np.shares_memory(kept, X) and np.shares_memory(session._X, X), grown, X.nbytes)
"""


def test_rows_are_used_where_they_lie() -> None:
    for kind in ("float32", "float64"):
        done = subprocess.run(
            [sys.executable, "-c", "import dial._arrays\n" + SEARCHES.format(columns=20000, kind=kind)],
            capture_output=True,
            text=True,
            check=True,
        )
        shares, grown, size = done.stdout.split()
        assert shares == "True" and int(grown) < int(size) / 4


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="counts the pages of this process")
def test_a_thousand_sessions_leave_nothing_behind() -> None:
    def resident() -> int:
        with open("/proc/self/statm") as pages:
            return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def some(count: int) -> None:
        for _ in range(count):
            session = dial.Session(big, ["a", "b"])
            session.tell([0, 40], ["a", "b"])
            session.predict_proba()
        gc.collect()

    big = RNG.normal(size=(400, 8)).astype(np.float32)
    some(200)
    before = resident()
    some(1000)
    # A session of this pool holds about a quarter of a megabyte; a thousand that stayed would take hundreds.
    assert resident() - before < 32 << 20
