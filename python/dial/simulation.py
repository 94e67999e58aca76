"""Simulations against known labels: the paper's experiments on your data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dial
from ._arrays import features, rows_of, settings
from ._errors import InputError, whole
from ._labels import Classes, as_array, in_order, is_missing, key, plain
from ._progress import Progress, reporting


def simulate(
    X: Any,
    y: Sequence[Any] | npt.NDArray[Any],
    *,
    acquisition: str | Sequence[str] | None = None,
    policy: str | Sequence[str] | None = None,
    model: str | Sequence[str] = "dirichlet",
    queries: int | None = None,
    batch: int | None = None,
    score_every: int | None = None,
    trials: int | None = None,
    initial: str | npt.ArrayLike | None = None,
    classes: str | None = None,
    clusters: npt.ArrayLike | None = None,
    noise: float | None = None,
    k: int | None = None,
    metric: str | None = None,
    tau: float | str | None = None,
    prior: float | str | None = None,
    sharpness: float | str | None = None,
    weights: str | None = None,
    search: str | None = None,
    propagation: str | None = None,
    source_value: float | None = None,
    precision: str | None = None,
    tolerance: float | None = None,
    calibration: str | None = None,
    expected_clusters: int | None = None,
    eigenpairs: int | None = None,
    zero_vectors: str | None = None,
    seed: int | None = None,
    frame: str = "dict",
    progress: Progress = None,
) -> Any:
    """Asks for labels that are known, and records how accuracy grows: what ``dial simulate`` does, with the same seeds.

    Parameters
    ----------
    X, y :
        Rows and their labels; -1, None and NaN where they are not known: those rows stay in the graph, but are neither asked
        nor scored.
    acquisition, policy, model : str or list of str
        Everything is played with everything. Acquisitions: auto (the default, where propagation and precision allow it), variance, margin, margin-range, entropy, least-confidence,
        norm, random, vopt, sigma-opt, mcvopt, vopt-full, sigma-opt-full, land, k-centre, typiclust, probcover, max-herding,
        uncertainty-herding, rwll-norm; ``margin@laplace`` reads another model. Models: dirichlet, laplace, poisson,
        reweighted, nearest, land, logistic.
    queries : int, default 100
        Questions asked in each trial.
    batch : int, default 1
        Questions asked at once.
    score_every : int, optional
        Measure the accuracy after every n-th question only; in between the last figure is repeated. Not given: after every
        question; in certified precision, where measuring takes a global solve, the number of rows over 5,000.
    trials : int, default 10
        Trials of each method, which differ by their seed only.
    initial : "one-per-class", "none", or row numbers, default "one-per-class"
        What is labelled before the first question.
    classes : {"known", "met"}, default "known"
        Whether all classes are known from the start, or each is added when it is met, as in a session made without classes.
    clusters : array, optional
        The cluster of every row, to count how many were met; the labels, if not given.
    noise : float, default 0.0
        The probability that an answer is wrong.
    frame : {"dict", "pandas", "polars"}
        What the table is: a dict of arrays, or a data frame.

    Returns
    -------
    A table with a row for each question of each trial: trial, seed, acquisition, policy, model, query, node, class, labelled,
    accuracy (on the rows without a label), clusters_found, seconds (for asking and telling). Node is -1 and class is None at query 0, which stands for the initial labels.
    """
    labels = [plain(label) for label in (y.tolist() if isinstance(y, np.ndarray) else list(y))]
    rows = features(X)
    if len(labels) != len(rows):
        raise InputError(f"{len(labels)} labels for {len(rows)} rows. Give one for each.", "I3", "input")
    known = [None if is_missing(label) or (not isinstance(label, bool) and label == -1) else label for label in labels]
    known_classes = in_order(label for label in known if label is not None)
    number = {key(label): place for place, label in enumerate(known_classes)}
    met = known if clusters is None else [plain(c) for c in np.asarray(clusters).tolist()]
    places = {key(c): place for place, c in enumerate(in_order(c for c in met if c is not None))}
    names = [name for _, name in Classes(closed=False).names_for(known_classes)]
    wish = {
        "names": names,
        "classes": [None if label is None else number[key(label)] for label in known],
        "clusters": [None if c is None else places[key(c)] for c in met],
        "acquisitions": [] if acquisition is None else _listed(acquisition),
        "policies": [] if policy is None else _listed(policy),
        "models": _listed(model),
        "initial": initial if initial is None or isinstance(initial, str) else rows_of(initial, len(rows)),
        "queries": None if queries is None else whole(queries, "queries"),
        "batch": None if batch is None else whole(batch, "batch", 1),
        "score_every": None if score_every is None else whole(score_every, "score_every", 1),
        "trials": None if trials is None else whole(trials, "trials", 1),
        "noise": None if noise is None else float(noise),
        "known": classes,
    }
    words = settings(
        k=k,
        metric=metric,
        tau=tau,
        prior=prior,
        sharpness=sharpness,
        weights=weights,
        search=search,
        propagation=propagation,
        source_value=source_value,
        precision=precision,
        tolerance=tolerance,
        calibration=calibration,
        expected_clusters=expected_clusters,
        eigenpairs=eigenpairs,
        zero_vectors=zero_vectors,
        seed=None if seed is None else whole(seed, "seed", 0, 2**64 - 1),
    )
    with reporting(progress) as report:
        table: dict[str, Any] = dict(_dial.simulate(rows, wish, words, report))
    for name in ("acquisition", "policy", "model"):
        table[name] = np.array(table[name])
    back = dict(zip(names, known_classes))
    table["class"] = as_array([None if name is None else back[name] for name in table["class"]])
    return _framed(table, frame)


def _listed(words: str | Sequence[str]) -> list[str]:
    listed = [words] if isinstance(words, str) else list(words)
    if not all(isinstance(word, str) for word in listed):
        raise InputError("simulations know methods by their names; functions of your own are for Session.", "U1", "usage")
    return listed


def _framed(table: dict[str, Any], frame: str) -> Any:
    if frame == "dict":
        return table
    if frame == "pandas":
        import pandas

        return pandas.DataFrame(table)
    if frame == "polars":
        import polars

        return polars.DataFrame({name: list(column) for name, column in table.items()})
    raise InputError(f"frame={frame!r} must be dict, pandas or polars.", "U1", "usage")
