"""``dial.DirichletClassifier``: the numbers, the manners of scikit-learn, and all the ways to say "unlabelled"."""

from __future__ import annotations

import copy
import datetime
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import dial
from dial.classifier import EXPECTED_FAILED_CHECKS, DirichletClassifier

Pool = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def marked(first: Any, last: Any, mark: Any, rows: int = 80) -> list[Any]:
    """Labels of the first and the last row, and a mark everywhere else."""
    return [first, *[mark] * (rows - 2), last]


# The checks of scikit-learn


@pytest.mark.filterwarnings("ignore")
def test_it_is_an_estimator_and_no_exemption_is_idle() -> None:
    results = check_estimator(DirichletClassifier(), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_fail=None)
    by = lambda status: {result["check_name"] for result in results if result["status"] == status}
    assert len(results) > 40
    assert by("failed") == set()
    assert by("xfail") == set(EXPECTED_FAILED_CHECKS)


@pytest.mark.filterwarnings("ignore")
def test_minus_one_can_be_a_class_and_then_one_exemption_is_left() -> None:
    results = check_estimator(DirichletClassifier(unlabelled=None), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == {"check_sample_weight_equivalence_on_dense_data"}


# The numbers


def spread(graph: npt.NDArray[np.float64], source: int, tau: float) -> npt.NDArray[np.float64]:
    """Poisson propagation by a dense solve: (L + tau I) g = e, its least value moved to 0, then 1 at the source."""
    laplacian = np.diag(graph.sum(axis=1)) - graph
    g = np.linalg.solve(laplacian + tau * np.eye(len(graph)), np.eye(len(graph))[source])
    return np.asarray((g - g.min()) / (g[source] - g.min()))


def test_the_belief_is_that_of_the_paper(four_clusters: Pool) -> None:
    pytest.importorskip("scipy")
    X, of = four_clusters
    nodes = [int(np.flatnonzero(of == c)[place]) for c in range(4) for place in (0, 1)]
    y = np.full(len(X), -1)
    y[nodes] = of[nodes] * 10
    weights = np.ones(len(X))
    weights[nodes[0]] = 0.25
    model = DirichletClassifier(k=8, tau=0.3, prior=0.01, weights="self-tuning", calibration="off")
    model.fit(X, y, sample_weight=weights)

    graph = dial.knn_graph(X, 8).toarray()
    heard = np.zeros((len(X), 4))
    for node in nodes:
        heard[:, of[node]] += weights[node] * spread(graph, node, 0.3)
    alpha = heard + 0.01
    strength = alpha.sum(axis=1)
    mean = alpha / strength[:, None]
    # The trace of the covariance of a Dirichlet distribution is (1 - sum of squares of the mean) / (strength + 1).
    variance = (1 - (mean**2).sum(axis=1)) / (strength + 1)

    # The graph of a session has its weights in single precision.
    assert model.classes_.tolist() == [0, 10, 20, 30]
    np.testing.assert_allclose(model.evidence_, heard.sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(model.label_distributions_, mean, atol=1e-4)
    np.testing.assert_allclose(model.variance_, variance, atol=1e-4)
    clear = np.diff(np.sort(mean, axis=1)[:, -2:])[:, 0] > 1e-3
    assert clear.sum() > 200
    np.testing.assert_array_equal(model.transduction_[clear], 10 * mean.argmax(axis=1)[clear])


def test_it_believes_what_a_session_believes(four_clusters: Pool) -> None:
    X, of = four_clusters
    session = dial.Session(X, ["a", "b", "c", "d"])
    names = np.array(["a", "b", "c", "d"])[of]
    session.tell(np.arange(20), names[:20])
    model = DirichletClassifier().fit(X, np.where(np.arange(len(X)) < 20, names, ""))
    np.testing.assert_array_equal(model.label_distributions_, session.predict_proba())
    np.testing.assert_array_equal(model.transduction_, session.predict())
    np.testing.assert_array_equal(model.variance_, session.variance())
    np.testing.assert_array_equal(model.evidence_, session.evidence())
    assert model.session_.ask(3).tolist() == session.ask(3).tolist()


def test_certified_precision_changes_the_solver_alone(four_clusters: Pool) -> None:
    X, of = four_clusters
    y = np.where(np.arange(len(X)) < 30, of, -1)
    faithful, certified = (DirichletClassifier(precision=words).fit(X, y) for words in ("faithful", "certified"))
    others = lambda model: {name: value for name, value in model.session_.settings.items() if name != "precision"}
    assert others(faithful) == others(certified)
    assert certified.session_.settings["precision"] == "certified"
    np.testing.assert_allclose(certified.evidence_, faithful.evidence_, atol=0.05)
    assert (certified.transduction_ == faithful.transduction_).mean() > 0.97


def test_new_rows_are_read_through_their_neighbours() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [50.0], [51.0], [52.0], [53.0]])
    model = DirichletClassifier(k=2, tau=0.3, prior=0.01, calibration="off").fit(X, marked("low", "high", "", 8))
    # The two nearest to 0.25 are 0 and 1, 1/4 and 3/4 away: w = exp(-4 d² / (3/4)²). Evidence is averaged.
    w = np.exp(-4 * np.array([0.25, 0.75]) ** 2 / 0.75**2)
    alpha = model.label_distributions_ * (model.evidence_[:, None] + 2 * 0.01)
    heard = (w[:, None] * (alpha[:2] - 0.01)).sum(axis=0) / w.sum()
    np.testing.assert_allclose(model.predict_proba([[0.25]])[0], (heard + 0.01) / (heard.sum() + 0.02), atol=1e-9)
    assert model.predict([[-7.0], [60.0]]).tolist() == ["low", "high"]


def test_the_rows_of_the_fit_are_known_by_place_and_by_value(four_clusters: Pool) -> None:
    X, of = four_clusters
    model = DirichletClassifier().fit(X, np.where(np.arange(len(X)) < 20, of, -1))
    for rows in (X, X.copy()):
        np.testing.assert_allclose(model.predict_proba(rows), model.label_distributions_, atol=1e-12)
        np.testing.assert_array_equal(model.predict(rows), model.transduction_)
    # What is given out is the caller's to write to.
    model.predict_proba(X)[:] = 0
    assert model.label_distributions_.sum() == pytest.approx(len(X))


# Weights


def test_weights_scale_the_evidence(two_clusters: Pool) -> None:
    X, _ = two_clusters
    y = marked(0, 1, -1)
    evidence = lambda weight: DirichletClassifier().fit(X, y, sample_weight=weight).evidence_
    np.testing.assert_allclose(evidence(np.full(80, 0.5)), 0.5 * evidence(None), rtol=1e-12)
    # Above 1 only the ratios count.
    halves = np.where(np.arange(80) < 40, 0.5, 1.0)
    np.testing.assert_array_equal(evidence(8 * halves), evidence(halves))


def test_a_row_of_weight_0_is_unlabelled(two_clusters: Pool) -> None:
    X, _ = two_clusters
    y, weight = marked(0, 1, -1), np.ones(80)
    y[1], weight[1] = 1, 0.0
    without = DirichletClassifier().fit(X, marked(0, 1, -1))
    model = DirichletClassifier().fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.label_distributions_, without.label_distributions_)
    with pytest.raises(ValueError, match="weight of zero"):
        DirichletClassifier().fit(X, y, sample_weight=np.zeros(80))
    for wrong in (np.full(80, -1.0), np.ones(79), np.full(80, np.nan), np.ones((80, 2))):
        with pytest.raises(ValueError):
            DirichletClassifier().fit(X, y, sample_weight=wrong)


# Labels


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (marked(3, 8, -1), [3, 8]),
        (marked(-5, -7, -1), [-7, -5]),
        (np.array(marked(3, 8, -1), dtype=np.int8), [3, 8]),
        (np.array(marked(3, 8, -1)).astype(">i4"), [3, 8]),
        (marked(3.0, 8.0, float("nan")), [3.0, 8.0]),
        (np.array(marked(3, 8, None), dtype=object), [3, 8]),
        (np.array(marked(3, 8, -1), dtype=object), [3, 8]),
        (marked("a", "b", None), ["a", "b"]),
        (marked("a", "b", ""), ["a", "b"]),
        (marked("a", "b", -1), ["a", "b"]),
        (np.array(marked("a", "b", -1)), ["a", "b"]),
        (np.array(marked("a", "b", -1), dtype=object), ["a", "b"]),
        (np.array(marked("a", "b", float("nan")), dtype=object), ["a", "b"]),
        (marked(" ", "  ", ""), [" ", "  "]),
        (marked(" <=50K", " >50K", ""), [" <=50K", " >50K"]),
        (marked("a", "a ", ""), ["a", "a "]),
        (marked("a" * 500, "b\nc", None), ["a" * 500, "b\nc"]),
        (np.array(marked(False, True, None), dtype=object), [False, True]),
        (marked(2**60, 2**60 + 1, -1), [2**60, 2**60 + 1]),
    ],
)
def test_labels_of_many_kinds(two_clusters: Pool, y: Any, classes: list[Any]) -> None:
    X, of = two_clusters
    model = DirichletClassifier().fit(X, y)
    assert model.classes_.tolist() == classes
    assert {type(label) for label in model.classes_.tolist()} == {type(label) for label in classes}
    ends = np.array([y[0], y[-1]])
    np.testing.assert_array_equal(model.transduction_, ends[of])
    np.testing.assert_array_equal(model.predict([[0.0] * 3, [20.0] * 3]), ends)
    np.testing.assert_array_equal(model.classes_[model.label_distributions_.argmax(axis=1)], ends[of])
    assert model.transduction_.dtype == model.classes_.dtype


@pytest.mark.parametrize("dtype", ["Int64", "string", "boolean", "category", "object", "Float64"])
def test_labels_of_pandas(two_clusters: Pool, dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    X, of = two_clusters
    ends: list[Any] = {"Int64": [3, 8], "boolean": [False, True], "Float64": [1.0, 2.0]}.get(dtype, ["a", "b"])
    model = DirichletClassifier().fit(X, pandas.Series(marked(*ends, None), dtype=dtype))
    assert model.classes_.tolist() == ends
    assert [type(label) for label in model.classes_.tolist()] == [type(label) for label in ends]
    assert model.transduction_.tolist() == [ends[c] for c in of]


def test_labels_of_polars_and_arrow(two_clusters: Pool) -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, of = two_clusters
    for ends in ([3, 8], ["a", "b"]):
        y = marked(*ends, None)
        for column in (polars.Series(y), arrow.array(y), arrow.chunked_array([y[:30], y[30:]])):
            model = DirichletClassifier().fit(X, column)
            assert model.classes_.tolist() == ends
            assert model.transduction_.tolist() == [ends[c] for c in of]


def test_another_mark_for_unlabelled(two_clusters: Pool) -> None:
    X, of = two_clusters
    assert DirichletClassifier(unlabelled=0).fit(X, marked(-1, 1, 0)).classes_.tolist() == [-1, 1]
    assert DirichletClassifier(unlabelled="?").fit(X, marked("a", "b", "?")).classes_.tolist() == ["a", "b"]
    signs = DirichletClassifier(unlabelled=None).fit(X, 2 * of - 1)
    assert signs.transduction_.tolist() == (2 * of - 1).tolist()


@pytest.mark.parametrize(
    ("y", "text"),
    [
        ([-1] * 80, "no row has a label"),
        ([None] * 80, "no row has a label"),
        (marked("a", 3, None), "of one kind"),
        (np.linspace(0.5, 1.5, 80), "Unknown label type"),
        (marked(datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), None), "Unknown label type"),
        (marked(1.0, float("inf"), float("nan")), "infinity"),
        ([0, 1], "inconsistent numbers"),
        (np.zeros((80, 2)), "1d array"),
    ],
)
def test_labels_that_cannot_serve(two_clusters: Pool, y: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        DirichletClassifier().fit(two_clusters[0], y)


# Few rows, one class, all rows


def test_all_rows_labelled(four_clusters: Pool) -> None:
    X, of = four_clusters
    model = DirichletClassifier().fit(X, of)
    # The best that can be done: the cluster whose centre is nearest.
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    best = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (model.transduction_ == of).mean() >= (best == of).mean() - 0.03
    # Every label counts 1 at its own row, and others add to it.
    assert (model.evidence_ >= 1 - 1e-9).all()


def test_one_class_leaves_no_doubt_but_little_evidence_far_away(two_clusters: Pool) -> None:
    X, _ = two_clusters
    for label in (7, "any other class", " blank"):
        y = [label, *[None] * 79]
        model = DirichletClassifier().fit(X, np.array(y, dtype=object))
        assert model.classes_.tolist() == [label]
        assert (model.transduction_ == label).all()
        assert model.label_distributions_.tolist() == [[1.0]] * 80
        assert model.variance_.tolist() == [0.0] * 80
        assert model.predict_proba(X[:2] + 0.1).tolist() == [[1.0]] * 2
        assert (model.predict(X[:2] + 0.1) == label).all()
        assert model.evidence_[0] == pytest.approx(1.0)
        assert model.evidence_[40:].max() < 1e-6


@pytest.mark.parametrize("rows", [2, 3, 5, 20, 21])
def test_fewer_rows_than_neighbours(rows: int) -> None:
    X = np.arange(float(rows))[:, None] ** 2
    model = DirichletClassifier().fit(X, marked("first", "last", "", rows))
    assert model.session_.settings["k"] == min(20, rows - 1)
    assert model.transduction_[[0, -1]].tolist() == ["first", "last"]
    assert model.label_distributions_.shape == (rows, 2)
    # A number of neighbours that was asked for gives way, too: folds of a cross-validation may be small.
    assert DirichletClassifier(k=50).fit(X, marked(0, 1, -1, rows)).session_.settings["k"] == rows - 1


def test_what_is_too_little_is_said() -> None:
    with pytest.raises(ValueError, match="1 sample"):
        DirichletClassifier().fit([[1.0, 2.0]], [0])
    with pytest.raises(ValueError, match="identical"):
        DirichletClassifier().fit(np.ones((30, 2)), [0, 1] * 15)


# Rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_copy_of_the_rows(two_clusters: Pool, dtype: Any) -> None:
    X = np.ascontiguousarray(two_clusters[0], dtype=dtype)
    X.flags.writeable = False
    model = DirichletClassifier().fit(X, marked(0, 1, -1))
    assert np.shares_memory(model.X_, X)
    assert model.session_._X is not None and np.shares_memory(model.session_._X, X)


def test_the_same_rows_in_other_clothes(two_clusters: Pool) -> None:
    # Whole numbers, so that every kind of number holds them.
    X = np.rint(two_clusters[0] * 3).clip(0, 100)
    X += np.arange(len(X))[:, None] % 7
    y = marked(0, 1, -1)
    expected = DirichletClassifier().fit(X, y).label_distributions_
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    others: list[Any] = [X.astype(kind) for kind in ("f2", "f4", "i1", "u2", "i8", ">f4", ">f8", "g", object, str)]
    others += [X.tolist(), np.asfortranarray(X), wide[:, ::2], np.ma.array(X)]
    for other in others:
        np.testing.assert_allclose(DirichletClassifier().fit(other, y).label_distributions_, expected, atol=1e-6)


def test_tables_bring_names(two_clusters: Pool) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, of = two_clusters
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    for given in (table, table.astype("Float64"), polars.DataFrame(X, schema=["a", "b", "c"])):
        model = DirichletClassifier().fit(given, marked(0, 1, -1))
        # Old versions of scikit-learn do not find the names of every table.
        found = getattr(StandardScaler().fit(given), "feature_names_in_", None)
        np.testing.assert_array_equal(getattr(model, "feature_names_in_", None), found)
        assert found is not None or given is not table
        assert model.score(given, of) == 1.0
    with pytest.raises(ValueError, match="feature names"):
        DirichletClassifier().fit(table, marked(0, 1, -1)).predict(table[["c", "b", "a"]])


# Company


def test_it_can_be_cloned_copied_and_pickled(two_clusters: Pool) -> None:
    X, of = two_clusters
    model = DirichletClassifier(k=9, precision="certified").fit(X, marked("a", "b", ""))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "classes_")
    new = X[::7] + 0.5
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict_proba(new), model.predict_proba(new))
        np.testing.assert_array_equal(other.transduction_, model.transduction_)


def test_pipelines_and_searches(four_clusters: Pool) -> None:
    X, of = four_clusters
    pipeline = make_pipeline(StandardScaler(), DirichletClassifier())
    search = GridSearchCV(pipeline, {"dirichletclassifier__k": [3, 200], "dirichletclassifier__tau": [0.1, 1.0]}, cv=3)
    search.fit(X, of)
    assert search.best_score_ > 0.85
    assert search.predict(X[:5]).shape == (5,)


def test_without_scikit_learn_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['sklearn'] = None\nimport dial\ndial.Session\ndial.DirichletClassifier"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs scikit-learn 1.6 or later" in done.stderr.splitlines()[-1]


def test_the_examples_of_the_docstrings() -> None:
    import doctest

    import dial.classifier

    assert doctest.testmod(dial.classifier).failed == 0
