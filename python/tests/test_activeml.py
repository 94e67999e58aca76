"""``dial.activeml``: scikit-activeml's own conformance template, and a loop that does not start again each time.

The template is part of scikit-activeml's tests, which its wheels had until 0.5.2 and have no more. Where it is not
installed, ``DIAL_SKACTIVEML_TESTS`` may name a folder with ``skactiveml/tests``: a checkout, or that wheel unpacked.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import pickle
import unittest
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

skactiveml = pytest.importorskip("skactiveml")

from sklearn.base import clone
from skactiveml.classifier import SklearnClassifier
from skactiveml.exceptions import MappingError

import dial
from dial.activeml import DialQuery

Pool = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


# The template


def _template() -> Any:
    """The module of the template, or None."""
    elsewhere = os.environ.get("DIAL_SKACTIVEML_TESTS")
    if elsewhere:
        skactiveml.__path__.append(os.path.join(elsewhere, "skactiveml"))
    try:
        return importlib.import_module("skactiveml.tests.template_query_strategy")
    except ImportError:
        if elsewhere:
            raise
        return None


template = _template()

#: For each parameter values that are taken, and values that are refused.
CASES: dict[str, list[tuple[Any, Any]]] = {
    "acquisition": [("random", None), (lambda alpha: -alpha.max(axis=1), None), ("guess", ValueError)],
    "policy": [("proportional", None), ("uniform", None), ("best", ValueError)],
    "k": [(3, None), (np.int64(3), None), (1000, None), (0, ValueError), ("many", ValueError)],
    "metric": [("cosine", None), ("manhattan", ValueError)],
    "tau": [(0.5, None), ("0.1xdegree", None), (-1.0, ValueError), ("far", ValueError)],
    "prior": [(0.01, None), ("calibrated", None), (-1.0, ValueError), ("none", ValueError)],
    "sharpness": [(3.0, None), ("schedule:1,2", None), ("blunt", ValueError)],
    "weights": [("symmetric", None), ("square", ValueError)],
    "search": [("exact", None), ("approximate", None), ("nowhere", ValueError)],
    "precision": [("certified", None), ("high", ValueError)],
    "calibration": [("off", None), ("on", None), ("upside down", ValueError)],
    "expected_clusters": [(5, None), ("some", ValueError)],
    "zero_vectors": [("isolate", None), ("ignore", ValueError)],
}

if template is not None:

    class TestTemplate(template.TemplateSingleAnnotatorPoolQueryStrategy, unittest.TestCase):  # type: ignore
        """The template on a pool of 30 rows, of which 3 are labelled."""

        def setUp(self) -> None:
            rng = np.random.default_rng(0)
            X = np.concatenate([rng.normal(centre, 1, (15, 2)) for centre in (5, 9)])
            y = np.full(30, np.nan)
            y[[0, 1, 20]] = 0, 0, 1
            super().setUp(qs_class=DialQuery, init_default_params={}, query_default_params_clf={"X": X, "y": y})

        def test_query(self) -> None:
            X, y = self.query_default_params_clf["X"], self.query_default_params_clf["y"]
            session = dial.Session(X, [0.0, 1.0], seed=42)
            session.tell([0, 1, 20], [0.0, 0.0, 1.0])
            chosen, utilities = DialQuery(random_state=42).query(X, y, batch_size=3, return_utilities=True)
            np.testing.assert_array_equal(chosen, session.ask(3))
            np.testing.assert_array_equal(np.isnan(utilities).sum(axis=1), [3, 4, 5])

    def _parameter_test(name: str) -> Any:
        return lambda self: self._test_param("init", name, CASES[name])

    for _name in CASES:
        setattr(TestTemplate, f"test_init_param_{_name}", _parameter_test(_name))
else:

    @pytest.mark.skip(reason="this scikit-activeml has no tests: set DIAL_SKACTIVEML_TESTS to a folder that has them")
    def test_template() -> None: ...


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_setting_reaches_the_session(two_clusters: Pool, name: str) -> None:
    X, of = two_clusters
    y = np.where(np.arange(80) % 40 < 1, of, np.nan)
    for value, error in CASES[name]:
        strategy = DialQuery(**{name: value})
        if error is not None:
            with pytest.raises(error):
                strategy.query(X, y)
            continue
        chosen = strategy.query(X, y)
        session = dial.Session(X, [0.0, 1.0], **{name: min(value, 79) if name == "k" else value})
        session.tell([0, 40], [0.0, 1.0])
        assert chosen.tolist() == session.ask().tolist()


# The loop


@pytest.mark.parametrize("acquisition", [None, "variance", "margin"])
def test_a_loop_asks_what_a_session_asks_and_makes_one_graph(
    four_clusters: Pool, sessions_made: list[Any], acquisition: str | None
) -> None:
    X, of = four_clusters
    y = np.full(len(X), np.nan)
    strategy = DialQuery(acquisition, random_state=5)
    session = dial.Session(X, acquisition=acquisition, seed=5)
    for _ in range(25):
        chosen = strategy.query(X, y)
        expected = session.ask()
        assert chosen.tolist() == expected.tolist()
        y[chosen] = of[chosen]
        session.tell(expected, of[expected])
    assert len(sessions_made) == 1


def test_rows_that_are_equal_are_the_same_pool(two_clusters: Pool, sessions_made: list[Any]) -> None:
    X, _ = two_clusters
    y = np.full(80, np.nan)
    strategy = DialQuery()
    first = strategy.query(X, y)
    assert strategy.query(X.copy(), y).tolist() == first.tolist()
    assert strategy.query(X.tolist(), y).tolist() == first.tolist()
    assert len(sessions_made) == 1


def test_another_pool_or_setting_makes_another_graph(two_clusters: Pool, sessions_made: list[Any]) -> None:
    X, _ = two_clusters
    X, y = X.copy(), np.full(80, np.nan)
    strategy = DialQuery(random_state=1)
    strategy.query(X, y)
    X[:, 0] *= 3  # Written to where it lies.
    assert strategy.query(X, y).tolist() == DialQuery(random_state=1).query(X.copy(), y).tolist()
    assert len(sessions_made) == 3
    strategy.query(X[:60], y[:60])
    strategy.query(X[:60].astype(np.float32), y[:60])
    strategy.set_params(k=5).query(X[:60].astype(np.float32), y[:60])
    assert len(sessions_made) == 6


def test_labels_may_be_taken_back_and_changed(four_clusters: Pool, sessions_made: list[Any]) -> None:
    X, of = four_clusters
    strategy = DialQuery(random_state=2)

    def agree(nodes: list[int], labels: list[float]) -> None:
        y = np.full(len(X), np.nan)
        y[nodes] = labels
        chosen, utilities = strategy.query(X, y, return_utilities=True)
        session = dial.Session(X, seed=2)
        session.tell(nodes, labels)
        assert chosen.tolist() == session.ask().tolist()
        np.testing.assert_allclose(np.delete(utilities[0], nodes), np.delete(session.scores(), nodes), rtol=1e-9)

    agree([0, 1, 2, 3], [0.0, 1.0, 0.0, 1.0])
    agree([0, 1, 2], [0.0, 1.0, 0.0])
    agree([0, 1, 2], [0.0, 1.0, 2.0])
    agree([0, 1, 2, 9], [0.0, 1.0, 1.0, 0.0])
    assert len(sessions_made) == 1


@pytest.mark.parametrize(
    ("missing", "labels"),
    [
        (np.nan, (0.0, 1.0)),
        (np.nan, (-1.0, 1.0)),
        (-1, (0, 1)),
        (0, (-1, 1)),
        (None, ("a", "b")),
        ("", ("a", "b")),
        (None, (1, 2)),
    ],
)
def test_labels_and_marks_of_many_kinds(two_clusters: Pool, missing: Any, labels: Any) -> None:
    X, _ = two_clusters
    y = np.array([missing] * 80, dtype=object if missing is None else None)
    if missing == "":
        y = y.astype("U5")
    y[[0, 79]] = labels
    session = dial.Session(X, ["one", "other"])
    session.tell([0, 79], ["one", "other"])
    chosen = DialQuery(missing_label=missing).query(X, y)
    assert chosen.tolist() == session.ask().tolist()
    assert chosen.dtype.kind == "i"


# Candidates and batches


@pytest.mark.parametrize("policy", ["max", "proportional", "uniform"])
def test_only_candidates_are_asked(four_clusters: Pool, policy: str) -> None:
    X, of = four_clusters
    y = np.full(len(X), np.nan)
    y[:8] = of[:8]
    candidates = np.arange(100, 130)
    chosen, utilities = DialQuery(policy=policy).query(X, y, candidates, batch_size=12, return_utilities=True)
    assert len(set(chosen.tolist())) == 12
    assert set(chosen.tolist()) <= set(candidates.tolist())
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(utilities[0])), candidates)
    # What was chosen can be chosen no more.
    assert [bool(np.isnan(utilities[later, chosen[0]])) for later in range(12)] == [False] + [True] * 11
    if policy == "max":
        assert chosen[0] == candidates[np.argmax(utilities[0, candidates])]
    everything, _ = DialQuery(policy=policy).query(X, y, candidates, batch_size=30, return_utilities=True)
    assert sorted(everything.tolist()) == candidates.tolist()


def test_a_batch_of_candidates_keeps_its_distance(four_clusters: Pool) -> None:
    X, of = four_clusters
    # The nearest neighbour of each row is its twin, hardly apart: a batch has no use for both.
    X = np.repeat(X, 2, axis=0)
    X[1::2] += 1e-4
    y = np.full(len(X), np.nan)
    y[:16] = np.repeat(of, 2)[:16]
    chosen = DialQuery("variance", k=5).query(X, y, np.arange(20, 400), batch_size=6)
    assert len({node // 2 for node in chosen.tolist()}) == 6


def test_what_cannot_be_asked(two_clusters: Pool) -> None:
    X, of = two_clusters
    y = np.where(np.arange(80) < 3, of, np.nan)
    with pytest.raises(ValueError, match="labeled"):
        DialQuery().query(X, y, candidates=[1, 5])
    with pytest.raises(MappingError):
        DialQuery().query(X, y, candidates=X[5:8])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert len(DialQuery().query(X, y, candidates=[7, 5], batch_size=9)) == 2
        assert len(DialQuery().query(X, of.astype(float))) == 0


# Company


def test_copies_start_afresh_and_ask_the_same(two_clusters: Pool) -> None:
    X, of = two_clusters
    y = np.where(np.arange(80) % 40 < 2, of, np.nan)
    strategy = DialQuery("margin", k=7, random_state=3)
    expected = strategy.query(X, y).tolist()
    for other in (clone(strategy), copy.deepcopy(strategy), pickle.loads(pickle.dumps(strategy))):
        assert not hasattr(other, "_kept")
        assert other.query(X, y).tolist() == expected


def test_a_random_state_that_is_shared_is_left_alone(two_clusters: Pool) -> None:
    X, _ = two_clusters
    y, state = np.full(80, np.nan), np.random.RandomState(4)
    strategy = DialQuery("random", random_state=state)
    assert strategy.query(X, y).tolist() == strategy.query(X, y).tolist()
    assert state.randint(1000) == np.random.RandomState(4).randint(1000)


@pytest.mark.parametrize(("missing", "names"), [(np.nan, [0.0, 1.0]), (None, ["a", "b"]), (-1, [4, 7])])
def test_the_classifier_serves_scikit_activeml(two_clusters: Pool, missing: Any, names: Any) -> None:
    if "include_unlabeled_samples" not in inspect.signature(SklearnClassifier.__init__).parameters:
        pytest.skip("before 1.0 scikit-activeml gives a classifier of scikit-learn the labelled rows only")
    X, of = two_clusters
    y = np.array([missing] * 80, dtype=object if missing is None else None)
    y[[0, 79]] = names
    model = SklearnClassifier(
        dial.DirichletClassifier(), classes=names, missing_label=missing, include_unlabeled_samples=True
    ).fit(X, y)
    assert len(model.estimator_.X_) == 80
    assert model.predict(X).tolist() == [names[c] for c in of]
    # A class that was not met yet has its column.
    y[79] = missing
    assert model.fit(X, y).predict_proba(X[:3]).tolist() == [[1.0, 0.0]] * 3


def test_the_examples_of_the_docstrings() -> None:
    import doctest

    import dial.activeml

    assert doctest.testmod(dial.activeml).failed == 0


def test_settings_have_no_defaults_of_their_own() -> None:
    names = set(dial.Session(np.random.default_rng(0).normal(size=(60, 3))).settings)
    settings = {name: one for name, one in inspect.signature(DialQuery).parameters.items() if name in names}
    assert {"k", "weights", "prior"} <= set(settings)
    assert all(one.default is None for one in settings.values())
