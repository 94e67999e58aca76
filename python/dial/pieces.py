"""The pieces of the method by themselves: neighbours, graph, propagation, field, scores, policies, classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dial
from ._arrays import Numbers, csr, features, numbers, rows_of, settings
from ._errors import InputError, whole
from ._labels import as_array, as_list, in_order, is_missing, key, plain
from ._progress import Progress, reporting

#: The acquisitions that read the belief alone.
ACQUISITIONS = ("variance", "margin", "margin-range", "entropy", "least-confidence", "norm", "random")


def knn(
    X: Any,
    k: int | None = None,
    *,
    metric: str | None = None,
    search: str | None = None,
    zero_vectors: str | None = None,
    progress: Progress = None,
) -> tuple[npt.NDArray[np.int64], Numbers]:
    """The k (by default 20, fewer in a tiny pool) nearest neighbours of every row, nearest first, and how far away they are. -1
    where there are none."""
    words = settings(k=k, metric=metric, search=search, zero_vectors=zero_vectors)
    with reporting(progress) as report:
        return _dial.knn(features(X), words, report)


def knn_graph(
    X: Any = None,
    k: int | None = None,
    *,
    metric: str | None = None,
    weights: str | None = None,
    search: str | None = None,
    zero_vectors: str | None = None,
    neighbours: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    progress: Progress = None,
) -> Any:
    """The similarity graph: symmetric weights as a SciPy CSR array. What is left out has the default of a
    :class:`dial.Session` that asks as in the paper: 20 neighbours, ``"self-tuning"`` weights.

    Of rows ``X``, or of ``neighbours`` that are known already: (row numbers, distances), each rows x k, nearest first, without
    the row itself (as from pynndescent, FAISS or scikit-learn). A sparse ``X`` is taken as distances to neighbours, as
    ``sklearn.neighbors.kneighbors_graph(..., mode="distance")`` gives them.
    """
    if hasattr(X, "tocsr"):
        neighbours = _listed(X.tocsr())
    if neighbours is not None:
        ids, distances = np.asarray(neighbours[0]), np.ascontiguousarray(neighbours[1], dtype=np.float64)
        if ids.shape != distances.shape or ids.ndim != 2:
            raise InputError(f"neighbours of {ids.shape} and distances of {distances.shape} do not fit.", "I3", "input")
        places = np.ascontiguousarray(np.where(ids < 0, 2**32 - 1, ids), dtype=np.uint32)
        return _csr(_dial.weighted(places, distances, settings(weights=weights)))
    words = settings(k=k, metric=metric, weights=weights, search=search, zero_vectors=zero_vectors)
    with reporting(progress) as report:
        return _csr(_dial.knn_graph(features(X), words, report))


def _listed(distances: Any) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Neighbours of sparse distances, nearest first; -1 fills up the shorter lists."""
    counts = np.diff(distances.indptr)
    ids = np.full((distances.shape[0], max(1, int(counts.max(initial=0)))), -1, dtype=np.int64)
    values = np.full(ids.shape, np.inf)
    for row, (start, end) in enumerate(zip(distances.indptr[:-1], distances.indptr[1:])):
        others, away = distances.indices[start:end], distances.data[start:end]
        others, away = others[others != row], away[others != row]
        order = np.lexsort((others, away))
        ids[row, : len(order)], values[row, : len(order)] = others[order], away[order]
    return ids, values


def _csr(arrays: Any) -> Any:
    from scipy import sparse

    indptr, indices, data = arrays
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1,) * 2)


def poisson_propagation(graph: Any, sources: npt.ArrayLike, tau: float | str | None = None, *, progress: Progress = None) -> Numbers:
    """What labels at some rows say about all: K[i, x] from 0 to 1, 1 at the source itself (`eq:poisson-prop` of the paper); tau
    is 0.1 by default."""
    with reporting(progress) as report:
        return numbers(_dial.propagate(csr(graph), rows_of(sources), settings(tau=tau), report))


def heat_propagation(graph: Any, sources: npt.ArrayLike, time: float, *, progress: Progress = None) -> Numbers:
    """The same by heat that has spread for some time."""
    with reporting(progress) as report:
        return numbers(_dial.propagate(csr(graph), rows_of(sources), settings(propagation=f"heat:{float(time)!r}"), report))


class DirichletField:
    """A Dirichlet distribution over the classes at every row: the prior, and the evidence of labels added up.

    >>> import dial
    >>> field = dial.DirichletField(3, 2, prior=1.0)
    >>> field.add(0, [1.0, 0.5, 0.0])
    >>> field.alpha().tolist()
    [[2.0, 1.0], [1.5, 1.0], [1.0, 1.0]]
    """

    def __init__(self, n: int, n_classes: int, prior: float = 1.0) -> None:
        self._field = _dial.Field(whole(n, "n"), whole(n_classes, "n_classes"), float(prior))

    def add(self, c: int, column: npt.ArrayLike, weight: float = 1.0) -> None:
        """Adds a label of class ``c``: a column of :func:`poisson_propagation`, say."""
        self._field.add(c, np.ascontiguousarray(column, dtype=np.float64), float(weight))

    def alpha(self) -> Numbers:
        """Rows x classes."""
        return numbers(self._field.alpha())

    def mean(self) -> Numbers:
        """The mean: rows x classes."""
        return numbers(self._field.mean())

    def variance(self) -> Numbers:
        """The trace of the covariance at every row (`eq:dirichlet-variance-af`)."""
        return numbers(self._field.variance())

    def evidence(self) -> Numbers:
        """The evidence at every row, all classes together, without the prior."""
        return numbers(self._field.evidence())


def _seed(seed: int | None) -> int | None:
    return None if seed is None else whole(seed, "seed", 0, 2**64 - 1)


def acquisition_scores(field: DirichletField, acquisition: str | None = None, *, seed: int | None = None) -> Numbers:
    """How much the label of every row would tell, by one of :data:`ACQUISITIONS` (by default ``"variance"``); larger means
    ask sooner."""
    return numbers(field._field.scores(settings(acquisition=acquisition, seed=_seed(seed))))


def choose(
    scores: npt.ArrayLike,
    n: int = 1,
    *,
    candidates: npt.ArrayLike | None = None,
    policy: str | None = None,
    sharpness: float | str | None = None,
    expected_clusters: int | None = None,
    question: int = 1,
    seed: int | None = None,
) -> npt.NDArray[np.int64]:
    """Chooses rows by their scores: the largest, or at random, proportional to exp(sharpness * score)."""
    values = np.ascontiguousarray(scores, dtype=np.float64)
    rows = list(range(len(values))) if candidates is None else rows_of(candidates, len(values))
    words = settings(policy=policy, sharpness=sharpness, expected_clusters=expected_clusters, seed=_seed(seed))
    n, question = whole(n, "n", 1), whole(question, "question", 1)
    return np.array(_dial.choose(values, rows, words, n, question), dtype=np.int64)


def classify(
    nodes: npt.ArrayLike,
    labels: Sequence[Any],
    *,
    X: Any = None,
    graph: Any = None,
    model: str = "laplace",
    k: int | None = None,
    metric: str | None = None,
    weights: str | None = None,
    progress: Progress = None,
) -> tuple[npt.NDArray[Any], Numbers]:
    """The classifiers that the paper compares with: the classes, and the score of every class at every row.

    ``model`` is laplace, poisson, reweighted (on a graph or on ``X``), nearest, logistic or land (on ``X``).
    """
    rows = rows_of(nodes)
    given = [plain(label) for label in as_list(labels, len(rows), False)]
    known = [(row, label) for row, label in zip(rows, given) if not is_missing(label) and key(label) != (False, -1)]
    met = in_order(label for _, label in known)
    if not met:
        raise InputError("no row has a label. Give some.", "I12", "input")
    classes = as_array(met)
    told = [[row for row, label in known if key(label) == key(one)] for one in met]
    words = settings(k=k, metric=metric, weights=weights)
    with reporting(progress) as report:
        scores = _dial.classify(
            model, told, words, None if X is None else features(X), None if graph is None else csr(graph), report
        )
    return classes, scores
