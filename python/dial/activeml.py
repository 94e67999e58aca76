"""A query strategy for scikit-activeml: ``pip install dial-active-learning[activeml]``.

scikit-activeml gives its strategies the whole pool and all labels at every query. The strategy keeps the graph between
queries with the same pool, and each query costs no more than :meth:`dial.Session.tell` and :meth:`dial.Session.ask`.

Predictions need no other classifier: ``SklearnClassifier(dial.DirichletClassifier(),
include_unlabeled_samples=True)`` is one of scikit-activeml (from its 1.0) that makes use of the whole pool.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from ._kept import Kept, choose_among
from .session import OwnAcquisition

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy
    from skactiveml.utils import MISSING_LABEL, labeled_indices
except ImportError as missing:
    raise ImportError("dial.activeml needs scikit-activeml: pip install 'dial-active-learning[activeml]'.") from missing

__all__ = ["DialQuery"]

#: The settings of a session, by their names there.
_SETTINGS = (
    "acquisition",
    "policy",
    "k",
    "metric",
    "tau",
    "prior",
    "sharpness",
    "weights",
    "search",
    "precision",
    "calibration",
    "expected_clusters",
    "zero_vectors",
)


class DialQuery(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """Asks for the labels that tell most, as :class:`dial.Session` does.

    It needs no classifier and no first labels.

    Parameters
    ----------
    acquisition, policy, k, metric, tau, prior, sharpness, weights, search, precision, calibration, expected_clusters,
    zero_vectors :
        As in :class:`dial.Session`.
    missing_label : scalar, str, None or nan
        What marks a row without a label.
    random_state : int, RandomState or None
        The seed. A whole number asks the same questions as a session of that seed; None is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from dial.activeml import DialQuery
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 9)])
    >>> y = np.full(100, np.nan)
    >>> strategy = DialQuery(random_state=7)
    >>> for _ in range(4):
    ...     nodes = strategy.query(X, y)
    ...     y[nodes] = nodes >= 50
    >>> sorted(set(y[~np.isnan(y)].tolist()))
    [0.0, 1.0]
    """

    def __init__(
        self,
        acquisition: str | OwnAcquisition | None = None,
        policy: str | None = None,
        k: int | None = None,
        metric: str | None = None,
        tau: float | str | None = None,
        prior: float | str | None = None,
        sharpness: float | str | None = None,
        weights: str | None = None,
        search: str | None = None,
        precision: str | None = None,
        calibration: str | None = None,
        expected_clusters: int | None = None,
        zero_vectors: str | None = None,
        missing_label: Any = MISSING_LABEL,
        random_state: Any = None,
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.acquisition = acquisition
        self.policy = policy
        self.k = k
        self.metric = metric
        self.tau = tau
        self.prior = prior
        self.sharpness = sharpness
        self.weights = weights
        self.search = search
        self.precision = precision
        self.calibration = calibration
        self.expected_clusters = expected_clusters
        self.zero_vectors = zero_vectors

    def query(
        self,
        X: Any,
        y: Any,
        candidates: npt.ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """The rows to ask next.

        Parameters
        ----------
        X : array of shape (rows, columns)
            The whole pool, labelled or not.
        y : array of shape (rows,)
            The labels; ``missing_label`` where there is none.
        candidates : array of row numbers, optional
            The rows that may be asked; all that have no label, if not given. Rows of another pool are refused
            (``MappingError``).
        batch_size : int
            How many. They are chosen one by one, each as if those before it had been answered; of ``candidates`` they
            are chosen by their scores, and apart from each other on the graph.
        return_utilities : bool
            Whether to return scores, too.

        Returns
        -------
        query_indices : array of shape (batch_size,)
            Row numbers.
        utilities : array of shape (batch_size, rows)
            Before each choice the scores of all rows that could be chosen, and NaN elsewhere. Within a batch only the
            score of the row that is chosen is brought up to date.
        """
        rows, labels, wanted, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        # Only the row numbers are needed, and rows without columns cost nothing to pick from.
        empty = np.empty((len(rows), 0))
        _, mapping = self._transform_candidates(wanted, empty, labels, enforce_mapping=True, allow_only_unlabeled=True)
        mapping = np.unique(mapping)
        nodes = labeled_indices(labels, missing_label=self.missing_label_)
        settings = {name: getattr(self, name) for name in _SETTINGS}
        if isinstance(self.k, (int, np.integer)):
            settings["k"] = min(self.k, max(1, len(rows) - 1))
        settings["seed"] = self._seed()
        if not hasattr(self, "_kept"):
            self._kept = Kept()
        session = self._kept.session(rows, nodes, labels[nodes], settings)
        if len(mapping) == 0:
            chosen, found = np.empty(0, dtype=np.int64), np.empty(0)
        else:
            chosen, found = choose_among(session, mapping, batch_size)
        if not return_utilities:
            return chosen
        utilities = np.full((len(chosen), len(rows)), np.nan)
        utilities[:, mapping] = session.scores()[mapping]
        for place, (node, score) in enumerate(zip(chosen, found)):
            utilities[place, chosen[:place]] = np.nan
            utilities[place, node] = score
        return chosen, utilities

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(copy.deepcopy(self.random_state).randint(2**31 - 1))

    def __getstate__(self) -> dict[str, Any]:
        # The graph is made again where it is needed.
        return {name: value for name, value in super().__getstate__().items() if name != "_kept"}
