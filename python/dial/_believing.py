"""The predictions of a session: labels, probabilities, variance and evidence of its rows, and their printed form."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, features, numbers, rows_of
from ._dial import Engine
from ._labels import Classes, as_array
from ._progress import Progress, reporting

Nodes = npt.NDArray[np.int64]

#: Scores of the caller's own: alpha (rows x classes) in, a score for every row out; larger means ask sooner.
OwnAcquisition = Callable[[Numbers], npt.ArrayLike]


@dataclass(frozen=True)
class Advice:
    """How the labelling stands, and whether to go on."""

    #: ``begin``, ``go-on``, ``soon`` or ``stop``.
    verdict: str
    #: Why, in sentences.
    reasons: list[str]
    #: The accuracy to expect on what is not labelled, with its 95 % interval; None while too little is known.
    accuracy: tuple[float, float, float] | None
    #: Share of the rows that are labelled or whose class has a probability of at least 0.9.
    settled: float

    @property
    def recommended(self) -> bool:
        """Whether it is enough."""
        return self.verdict == "stop"


class Believing:
    """The part of a session that only reads."""

    _engine: Engine
    _classes: Classes
    _X: Any
    _own: OwnAcquisition | None
    _progress: Progress

    def _refresh(self) -> None:
        """Takes the classes as the project has them now."""
        raise NotImplementedError

    @property
    def path(self) -> Path | None:
        """The folder of the project that this session was opened from; None in memory."""
        place = self._engine.place()[0]
        return None if place is None else Path(place)

    @property
    def classes_(self) -> Any:
        """The labels of the classes, in the order of the columns of :meth:`predict_proba`."""
        self._refresh()
        return as_array(self._classes.labels)

    @property
    def n(self) -> int:
        """The number of rows."""
        return self._engine.n()

    @property
    def labelled(self) -> Nodes:
        """The rows with a label, ascending."""
        return np.unique(self.labels()["node"])

    def labels(self) -> dict[str, Any]:
        """The labels that stand, as a table: node, label, weight, annotator. A soft label takes a row for each of its classes."""
        found = self._engine.labels()
        # Afterwards: the page may have brought a class with the last of them.
        self._refresh()
        table: dict[str, list[Any]] = {"node": [], "label": [], "weight": [], "annotator": []}
        for row, annotator, classes in found:
            for number, weight in classes:
                if row is not None:
                    table["node"].append(row)
                    table["label"].append(self._classes.label(number))
                    table["weight"].append(weight)
                    table["annotator"].append(annotator)
        return {
            "node": np.array(table["node"], dtype=np.int64),
            "label": as_array(table["label"]) if table["label"] else np.array([], dtype=object),
            "weight": np.array(table["weight"], dtype=np.float64),
            "annotator": np.array(table["annotator"], dtype=object),
        }

    def predict(self, nodes: npt.ArrayLike | None = None, *, progress: Progress = None) -> Any:
        """The most probable label of every row, or of some."""
        with reporting(self._progress if progress is None else progress) as report:
            found = self._engine.predict(report)
        self._refresh()
        return self._classes.array(_some(found, nodes))

    def predict_proba(self, nodes: npt.ArrayLike | None = None) -> Numbers:
        """The probability of every class (:attr:`classes_`) at every row, or at some."""
        return numbers(_some(self._engine.predict_proba(), nodes))

    def variance(self, nodes: npt.ArrayLike | None = None) -> Numbers:
        """How unsure the belief is: the trace of the covariance of the Dirichlet distribution at every row, or at some."""
        return numbers(_some(self._engine.variance(), nodes))

    def evidence(self, nodes: npt.ArrayLike | None = None) -> Numbers:
        """How much was heard: the evidence of all labels at every row, or at some. A label counts 1 at its own row."""
        return numbers(_some(self._engine.evidence(), nodes))

    def alpha(self) -> Numbers:
        """The parameters of the Dirichlet distribution: rows x classes."""
        return numbers(self._engine.alpha())

    def entropy(self, nodes: npt.ArrayLike | None = None) -> Numbers:
        """The entropy of the probabilities, in nats."""
        p = self.predict_proba(nodes)
        return np.asarray(-np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=1))

    def scores(self) -> Numbers:
        """What :meth:`ask` chooses by, for every row; larger means ask sooner."""
        self._refresh()
        if self._own is not None and len(self._classes.live) >= 2:
            return np.asarray(self._own(self.alpha()), dtype=np.float64).ravel()
        return numbers(self._engine.scores())

    def stopping(self) -> Advice:
        """Whether to go on, and why."""
        found = json.loads(self._engine.estimates())
        accuracy = found["accuracy"] and (found["accuracy"]["mean"], found["accuracy"]["low"], found["accuracy"]["high"])
        return Advice(found["advice"]["verdict"], found["advice"]["reasons"], accuracy, found["settled"])

    def suspects(self) -> dict[str, Any]:
        """Labels that the other labels contradict, the least probable first: node, label, and by the others expected; the
        probability of the label that was given."""
        found = self._engine.suspects()
        self._refresh()
        return {
            "node": np.array([node for node, *_ in found], dtype=np.int64),
            "label": self._classes.array([told for _, told, *_ in found]),
            "expected": self._classes.array([expected for _, _, expected, _ in found]),
            "probability": np.array([probability for *_, probability in found], dtype=np.float64),
        }

    def predict_new(self, X: Any, *, progress: Progress = None) -> dict[str, Any]:
        """Predictions for rows that are not in the pool, through their neighbours: label, proba, variance, evidence."""
        with reporting(self._progress if progress is None else progress) as report:
            classes, proba, variance, evidence = self._engine.about(self._X, features(X), report)
        self._refresh()
        return {"label": self._classes.array(classes), "proba": proba, "variance": variance, "evidence": evidence}

    @property
    def graph(self) -> Any:
        """The graph: symmetric weights as a SciPy CSR array."""
        from scipy import sparse

        indptr, indices, data = self._engine.graph()
        return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1,) * 2)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings in force, with those that were found for this pool."""
        chosen: dict[str, Any] = json.loads(self._engine.settings())
        if self._own is not None:
            chosen["acquisition"] = getattr(self._own, "__name__", "own")
        return chosen

    def history(self) -> list[dict[str, Any]]:
        """Everything that was decided, in order, as the log of the project has it."""
        found: list[dict[str, Any]] = json.loads(self._engine.records())
        return found

    def __repr__(self) -> str:
        try:
            chosen = self.settings
        except Exception:
            return "Session(closed)"
        place = f", path={str(self.path)!r}" if self.path else ""
        return (
            f"Session(n={self.n}, classes={len(self.classes_)}, labelled={len(self.labelled)}, "
            f"acquisition={chosen['acquisition']!r}, seed={chosen['seed']}{place})"
        )

    def _repr_html_(self) -> str:
        try:
            chosen = self.settings
        except Exception:
            return "<b>dial.Session</b>, closed"
        rows = [("rows", f"{self.n:,}"), ("labelled", f"{len(self.labelled):,}")]
        labels = [str(label) for label in self.classes_]
        rows.append(("classes", ", ".join(labels[:12]) + (", …" if len(labels) > 12 else "") or "none yet"))
        if len(labels) >= 2 and len(self.labelled):
            advice = self.stopping()
            if advice.accuracy:
                mean, low, high = advice.accuracy
                rows.append(("expected accuracy", f"{mean:.1%} ({low:.1%} to {high:.1%})"))
            rows.append(("settled", f"{advice.settled:.0%}"))
            rows.append(("advice", " ".join(advice.reasons)))
        rows.append(("asks by", f"{chosen['acquisition']}, {chosen['policy']}"))
        if self.path:
            rows.append(("project", str(self.path)))
        cells = "".join(f"<tr><th style='text-align:left'>{html.escape(a)}</th><td style='text-align:left'>{html.escape(b)}</td></tr>" for a, b in rows)
        return f"<b>dial.Session</b><table>{cells}</table>"


def _some(values: Any, nodes: npt.ArrayLike | None) -> Any:
    return values if nodes is None else values[rows_of(nodes, len(values))]
