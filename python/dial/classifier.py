"""A scikit-learn estimator: labels for some rows in, labels for all rows out.

It is transductive, as :class:`sklearn.semi_supervised.LabelSpreading` is, and reads the same input: every row goes to
``fit``, and those without a label are marked with -1. It needs scikit-learn 1.6 or later (``pip install
dial-active-learning[sklearn]``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._labels import is_missing
from .session import Session

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import assert_all_finite, check_array, check_consistent_length
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as missing:
    raise ImportError(
        "dial.DirichletClassifier needs scikit-learn 1.6 or later: pip install 'dial-active-learning[sklearn]'."
    ) from missing

if TYPE_CHECKING:
    from ._progress import Progress

#: The checks of :func:`sklearn.utils.estimator_checks.check_estimator` that this estimator cannot pass, and why.
EXPECTED_FAILED_CHECKS: dict[str, str] = {
    "check_classifiers_classes": "it has -1 for a class, which means unlabelled here (unlabelled=None passes)",
    "check_sample_weight_equivalence_on_dense_data": "a row of weight 0 still is a node of the graph",
}

#: Stands beside the one class there is, since a belief needs two.
_OTHER = ("any other class", "another class")


class DirichletClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Spreads the labels of some rows to all of them, and says how sure it is.

    Parameters
    ----------
    k : int, default 20
        Neighbours of each row; all other rows, where there are fewer.
    metric : {"euclidean", "cosine"}, default "euclidean"
        How distances are measured.
    tau : float or str, default "0.03xdegree"
        How far labels reach: a number, or a multiple of the mean degree such as ``"0.1xdegree"``. The default, as those
        of ``weights`` and ``calibration``, is what goes with the acquisition ``"auto"`` of :class:`dial.Session`.
    prior : float or str, default "auto"
        The prior strength: ``"auto"``, a number, ``"calibrated"`` or ``"calibrated-raw"``.
    weights : str, default "symmetric"
        How distances become weights.
    search : {"auto", "exact", "approximate"}, default "auto"
        How neighbours are found.
    precision : {"faithful", "certified"}, default "faithful"
        How labels are spread: as in the paper, or by local solves with a proven bound, for large pools.
    calibration : {"off", "on"}, default "on"
        How classes and probabilities are read: as in the paper, or classes balanced and probabilities
        calibrated on the labels.
    zero_vectors : {"error", "isolate"}, default "error"
        What becomes of rows of length zero under cosine.
    unlabelled : label, optional
        What marks a row without a label, besides None, NaN and the empty string, which always do. With None nothing
        else does, so that -1 can be a class.
    seed : int, default 0
        The seed of everything drawn at random.
    progress : callable or True, optional
        Called with (stage, done, steps) now and then; True shows a bar if tqdm is installed.

    Attributes
    ----------
    classes_ : array of shape (classes,)
        The labels, sorted.
    transduction_ : array of shape (rows,)
        The most probable label of every row that was given to :meth:`fit`.
    label_distributions_ : array of shape (rows, classes)
        The probability of every class at those rows.
    variance_ : array of shape (rows,)
        How unsure the belief is: the trace of the covariance of the Dirichlet distribution.
    evidence_ : array of shape (rows,)
        How much was heard there: a label counts 1 at its own row, and less the farther away.
    X_ : array of shape (rows, columns)
        The rows, where they lie if they came as float32 or float64 in C order. They must not be changed.
    session_ : Session
        What has been fitted: it can also say which row to ask next. If there is only one class, it has another one
        beside it. Where labels cannot serve as names (blanks around them, line breaks, more than 200 characters), its
        classes are numbers.
    n_features_in_, feature_names_in_ :
        As everywhere in scikit-learn.

    Notes
    -----
    Labels that were given are evidence like any other, and ``transduction_`` may differ from them where the neighbours
    say otherwise.

    Examples
    --------
    >>> import numpy as np, dial
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 9)])
    >>> y = np.full(100, -1)
    >>> y[[0, 99]] = 3, 8
    >>> model = dial.DirichletClassifier().fit(X, y)
    >>> model.transduction_[[1, 2, 97, 98]].tolist()
    [3, 3, 8, 8]
    >>> model.predict([[0.5, 0.5], [9.5, 9.5]]).tolist()
    [3, 8]
    """

    # What a fit has found.
    classes_: npt.NDArray[Any]
    transduction_: npt.NDArray[Any]
    label_distributions_: npt.NDArray[np.float64]
    variance_: npt.NDArray[np.float64]
    evidence_: npt.NDArray[np.float64]
    X_: npt.NDArray[Any]
    session_: Session
    n_features_in_: int

    def __init__(
        self,
        k: int | None = None,
        *,
        metric: str | None = None,
        tau: float | str | None = None,
        prior: float | str | None = None,
        weights: str | None = None,
        search: str | None = None,
        precision: str | None = None,
        calibration: str | None = None,
        zero_vectors: str | None = None,
        unlabelled: Any = -1,
        seed: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.k = k
        self.metric = metric
        self.tau = tau
        self.prior = prior
        self.weights = weights
        self.search = search
        self.precision = precision
        self.calibration = calibration
        self.zero_vectors = zero_vectors
        self.unlabelled = unlabelled
        self.seed = seed
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DirichletClassifier:
        """Builds the graph of all rows and spreads the labels on it.

        Parameters
        ----------
        X : array of shape (rows, columns), or a table of numbers
            All rows, with and without labels.
        y : array of shape (rows,)
            Their labels; -1, None, NaN or the empty string where there is none. NumPy makes -1 among strings ``"-1"``,
            which is taken for no label, too.
        sample_weight : array of shape (rows,), optional
            How much the labels count. A label cannot count more than 1: if the largest is above 1, all are divided by
            it. A row of weight 0 stays in the graph, without its label.
        """
        rows = self._rows(X, reset=True)
        given, labelled = _labels(y, self.unlabelled)
        check_consistent_length(rows, given)
        weights = _weights(sample_weight, len(rows))
        if not labelled.any():
            marks = f"{self.unlabelled!r}, None, NaN and ''"
            raise ValueError(f"no row has a label. Label at least one; {marks} mean unlabelled.")
        labelled &= weights > 0
        if not labelled.any():
            raise ValueError("all labels have a weight of zero. Give at least one that counts.")
        nodes, told = np.flatnonzero(labelled), _of_one_kind(given[labelled])
        check_classification_targets(told)
        self.classes_ = np.unique(told)
        self.X_ = rows
        self._told = self.classes_ if all(map(_names_itself, self.classes_)) else np.arange(len(self.classes_))
        labels: list[Any] = self._told.tolist()
        if len(labels) == 1:
            labels.append(next(name for name in _OTHER if name != labels[0]))
        self.session_ = Session(
            rows,
            labels,
            k=min(self.k, len(rows) - 1) if isinstance(self.k, (int, np.integer)) else self.k,
            metric=self.metric,
            tau=self.tau,
            prior=self.prior,
            acquisition="auto",
            weights=self.weights,
            search=self.search,
            precision=self.precision,
            calibration=self.calibration,
            zero_vectors=self.zero_vectors,
            seed=self.seed,
            progress=self.progress,
        )
        told = self._told[np.searchsorted(self.classes_, told)]
        self.session_.tell(nodes, told, weights[nodes] / max(1.0, float(weights[nodes].max())))
        believed = {
            "label": self.session_.predict(),
            "proba": self.session_.predict_proba(),
            "variance": self.session_.variance(),
            "evidence": self.session_.evidence(),
        }
        self.transduction_, self.label_distributions_ = self._read(believed)
        self.variance_ = believed["variance"] if len(self.classes_) > 1 else np.zeros(len(rows))
        self.evidence_ = believed["evidence"]
        self._version = self.session_._engine.version()
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable label of rows, through their neighbours among the rows of :meth:`fit`.

        The array of :meth:`fit` itself gets ``transduction_``, at no cost.
        """
        return self._about(X)[0]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of every class (``classes_``) at rows, through their neighbours among the rows of
        :meth:`fit`.

        The array of :meth:`fit` itself gets ``label_distributions_``, at no cost.
        """
        return self._about(X)[1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are given their label; rows without a label do not count."""
        given, labelled = _labels(y, self.unlabelled)
        weights = _weights(sample_weight, len(given))[labelled]
        right = self.predict(X)[labelled] == given[labelled]
        return float(np.average(right, weights=weights)) if weights.sum() > 0 else float("nan")

    def _about(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        if _same_memory(rows, self.X_) and self.session_._engine.version() == self._version:
            return self.transduction_.copy(), self.label_distributions_.copy()
        return self._read(self.session_.predict_new(rows))

    def _rows(self, X: Any, reset: bool) -> npt.NDArray[Any]:
        fewest = 2 if reset else 1
        rows: npt.NDArray[Any] = validate_data(
            self, X, reset=reset, dtype=[np.float64, np.float32], order="C", ensure_min_samples=fewest
        )
        return rows

    def _read(self, believed: dict[str, Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Labels and probabilities; where all labels are of one class, there is no doubt."""
        rows = len(believed["proba"])
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, rows), np.ones((rows, 1))
        return self.classes_[np.searchsorted(self._told, believed["label"])], believed["proba"]


def _labels(y: Any, unlabelled: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The labels as they came, and where there is one."""
    if y is None:
        raise ValueError("DirichletClassifier requires y to be passed, but the target y is None")
    given: npt.NDArray[Any] = column_or_1d(_with_gaps(y), warn=True)
    kind = given.dtype.kind
    if kind in "iufb":
        labelled = ~np.isnan(given) if kind == "f" else np.ones(len(given), dtype=np.bool_)
        if kind != "b" and isinstance(unlabelled, (int, float, np.number)):
            labelled &= given != unlabelled
        assert_all_finite(given[labelled], input_name="y")
    elif kind == "U":
        labelled = (given != "") & (np.ones(len(given), dtype=np.bool_) if unlabelled is None else given != str(unlabelled))
    else:
        given = given.astype(object)
        labelled = np.array([not _is_unlabelled(label, unlabelled) for label in given], dtype=np.bool_)
    return given, labelled


def _with_gaps(y: Any) -> Any:
    """Columns of pandas, polars and Arrow that have gaps, as objects: NumPy would turn whole numbers into floats."""
    library = type(y).__module__.split(".")[0]
    if library == "pandas" and not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype):
        return y.to_numpy(dtype=object)
    if library == "polars" and hasattr(y, "null_count") and hasattr(y, "to_list"):
        return _objects(y.to_list()) if y.null_count() else y
    if library == "pyarrow" and hasattr(y, "null_count"):
        return _objects(y.to_pylist()) if y.null_count else y
    return y


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_unlabelled(label: Any, unlabelled: Any) -> bool:
    if is_missing(label) or label == "" or (isinstance(label, str) and unlabelled is not None and label == str(unlabelled)):
        return True
    return not isinstance(label, (bool, np.bool_)) and bool(label == unlabelled)


def _of_one_kind(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels that came as objects as what they are: numbers, truths or strings, not some of each."""
    if labels.dtype != object:
        return labels
    strings = {isinstance(label, str) for label in labels}
    if strings == {True}:
        return labels
    if len(strings) > 1:
        raise ValueError("y has labels that are strings and others that are not. Give labels of one kind.")
    return np.array(labels.tolist())


def _names_itself(label: Any) -> bool:
    """Whether a label can be the name of its class in a project."""
    return not isinstance(label, str) or (label.strip() == label and len(label) <= 200 and label.isprintable())


def _weights(sample_weight: Any, rows: int) -> npt.NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(rows)
    weights: npt.NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, ensure_min_samples=0, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape not in ((), (rows,)):
        raise ValueError(f"sample_weight has the shape {weights.shape} for {rows} rows. Give a weight for each.")
    if (weights < 0).any():
        raise ValueError("sample_weight has weights below 0. Give 0 or more.")
    return np.broadcast_to(weights, (rows,))


def _same_memory(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape or a.strides != b.strides:
        return False
    return a.ctypes.data == b.ctypes.data
