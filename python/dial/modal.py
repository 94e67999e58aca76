"""For those who know modAL: ``query`` and ``teach``, and a query strategy for modAL's own learners.

modAL is not needed for :class:`ActiveLearner`, and only brings the loop for :func:`dial_sampling`.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, Rows, features
from ._errors import StateError
from ._kept import Kept, choose_among
from ._labels import is_missing
from .session import Nodes, Session


class ActiveLearner:
    """A session in modAL's words.

    Unlike modAL's it has the pool: rows keep their numbers, nothing is deleted when it was asked, and there are no
    labels needed to begin with.

    Parameters
    ----------
    X_pool : array of shape (rows, columns), or a table of numbers
        All rows.
    classes : sequence of labels, optional
        All labels there are, as in :class:`dial.Session`.
    **settings :
        Those of :class:`dial.Session`: ``acquisition``, ``k``, ``metric``, ``seed`` and so on.

    Attributes
    ----------
    session : Session
        What does the work: undo, several annotators, saving and the page are there.
    X_pool :
        The rows as they were given.

    Examples
    --------
    >>> import numpy as np, dial
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 9)])
    >>> y = np.repeat(["near", "far"], 50)
    >>> learner = dial.ActiveLearner(X, seed=7)
    >>> for _ in range(4):
    ...     nodes, rows = learner.query()
    ...     learner.teach(nodes, y[nodes])
    >>> learner.score(X, y)
    1.0
    """

    def __init__(self, X_pool: Any, classes: Any = None, **settings: Any) -> None:
        self.X_pool = X_pool
        self.session = Session(X_pool, classes, **settings)

    def query(self, n_instances: int = 1) -> tuple[Nodes, Any]:
        """The rows to ask next: their numbers, and the rows themselves."""
        nodes = self.session.ask(n_instances)
        return nodes, _taken(self.X_pool, nodes)

    def teach(self, indices: npt.ArrayLike, y: Any, weight: float | npt.ArrayLike = 1.0) -> None:
        """Tells the labels of rows by their numbers; a row that had another label gets this one."""
        self.session.tell(indices, y, weight, replace=True)

    def predict(self, X: Any = None) -> npt.NDArray[Any]:
        """The most probable labels of the pool, or of any rows, through their neighbours in the pool."""
        found: npt.NDArray[Any] = self.session.predict() if self._is_pool(X) else self.session.predict_new(X)["label"]
        return found

    def predict_proba(self, X: Any = None) -> Numbers:
        """The probability of every class (:attr:`classes_`) at the rows of the pool, or at any rows."""
        found: Numbers = self.session.predict_proba() if self._is_pool(X) else self.session.predict_new(X)["proba"]
        return found

    def score(self, X: Any, y: Any) -> float:
        """The share of rows that are given their label."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _is_pool(self, X: Any) -> bool:
        return X is None or X is self.X_pool

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels of the classes, in the order of the columns of :meth:`predict_proba`."""
        labels: npt.NDArray[Any] = self.session.classes_
        return labels

    @property
    def X_training(self) -> Any:
        """The rows with a label."""
        return _taken(self.X_pool, self.session.labels()["node"])

    @property
    def y_training(self) -> npt.NDArray[Any]:
        """Their labels."""
        labels: npt.NDArray[Any] = self.session.labels()["label"]
        return labels

    def __repr__(self) -> str:
        return f"ActiveLearner({self.session!r})"


def dial_sampling(classifier: Any, X_pool: Any, n_instances: int = 1, **settings: Any) -> tuple[Nodes, Numbers]:
    """A query strategy for modAL: ``modAL.models.ActiveLearner(estimator, query_strategy=dial.dial_sampling, ...)``.

    What the learner was taught (its ``X_training`` and ``y_training``) and the pool make one graph, on which the labels
    are spread; the estimator itself is not used. The graph stays while the rows do: rows may be deleted from the pool
    when they are taught, or be left in it.

    Parameters
    ----------
    classifier : modAL.models.ActiveLearner
        The learner.
    X_pool : array of shape (rows, columns), or a table of numbers
        The rows to choose from.
    n_instances : int
        How many.
    **settings :
        Those of :class:`dial.Session`; ``functools.partial(dial.dial_sampling, metric="cosine")`` gives them to a
        learner.

    Returns
    -------
    indices, scores :
        Rows of ``X_pool``, and how much their labels would tell.
    """
    pool = _features(classifier, X_pool)
    given, labels = getattr(classifier, "X_training", None), getattr(classifier, "y_training", None)
    training: npt.NDArray[Any] = pool[:0] if given is None else _features(classifier, given)
    training = training.astype(pool.dtype, copy=False)
    told = [] if given is None or labels is None else list(np.asarray(labels).ravel())
    memory = _memories.get(classifier)
    places = None if memory is None else memory.places(training, pool)
    if memory is None or places is None:
        memory = _memories[classifier] = _Memory(training, pool)
        places = memory.places(training, pool)
        assert places is not None
    nodes, mine = places[: len(training)], places[len(training) :]
    known = {node: label for node, label in zip(nodes, told) if not is_missing(label)}
    row_of = {node: row for row, node in reversed(list(enumerate(mine))) if node not in known}
    if not row_of:
        raise StateError("every row of this pool was taught already. Nothing is left to ask.", "N11", "numeric")
    session = memory.kept.session(memory.rows, known.keys(), known.values(), settings)
    chosen, found = choose_among(session, np.array(sorted(row_of), dtype=np.int64), n_instances)
    return np.array([row_of[node] for node in chosen.tolist()], dtype=np.int64), found


class _Memory:
    """The rows that a learner has shown, and the session on them."""

    def __init__(self, training: npt.NDArray[Any], pool: Rows) -> None:
        #: The places of each row, by its digest; a row has several if there are copies.
        self._known: dict[bytes, list[int]] = {}
        self._note(pool, 0)
        strange = training[[place is None for place in self._places(training)]]
        self._note(strange, len(pool))
        self.rows: npt.NDArray[Any] = np.concatenate([pool, strange]) if len(strange) else pool
        self.kept = Kept()

    def _note(self, rows: npt.NDArray[Any], first: int) -> None:
        for place, row in enumerate(rows, first):
            self._known.setdefault(_digest(row), []).append(place)

    def _places(self, rows: Iterable[npt.NDArray[Any]]) -> list[int | None]:
        """The places of rows in the pool; copies of a row get different places as long as there are enough."""
        turns: dict[bytes, int] = {}
        places: list[int | None] = []
        for row in rows:
            key = _digest(row)
            copies, turn = self._known.get(key), turns.get(key, 0)
            turns[key] = turn + 1
            places.append(None if copies is None else copies[min(turn, len(copies) - 1)])
        return places

    def places(self, training: npt.NDArray[Any], pool: Rows) -> list[int] | None:
        """Where these rows are; None if one is new."""
        if pool.dtype != self.rows.dtype or pool.shape[1:] != self.rows.shape[1:]:
            return None
        found = [place for place in self._places(chain(training, pool)) if place is not None]
        return found if len(found) == len(training) + len(pool) else None


def _digest(row: npt.NDArray[Any]) -> bytes:
    return blake2b(row.tobytes(), digest_size=16).digest()


#: By the learner, as long as it lives.
_memories: WeakKeyDictionary[Any, _Memory] = WeakKeyDictionary()


def _features(classifier: Any, X: Any) -> Rows:
    if getattr(classifier, "on_transformed", False):
        X = classifier.transform_without_estimating(X)
    return features(X)


def _taken(X: Any, nodes: Nodes) -> Any:
    """Some rows, as what they came."""
    if hasattr(X, "iloc"):
        return X.iloc[nodes]
    if hasattr(X, "take") and type(X).__module__.split(".")[0] == "pyarrow":
        return X.take(nodes)
    if isinstance(X, (list, tuple)):
        return [X[row] for row in nodes.tolist()]
    return X[nodes]
