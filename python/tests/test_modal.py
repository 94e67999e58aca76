"""``dial.ActiveLearner`` and ``dial.dial_sampling``, the latter in learners of modAL."""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dial

Pool = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


# Our own learner


def test_a_loop_in_modals_manner(four_clusters: Pool) -> None:
    X, of = four_clusters
    names = np.array(["a", "b", "c", "d"])[of]
    settings: dict[str, Any] = {"acquisition": "margin", "seed": 3}
    learner, session = dial.ActiveLearner(X, **settings), dial.Session(X, **settings)
    for turn in range(12):
        nodes, rows = learner.query(n_instances=1 + turn % 3)
        assert nodes.tolist() == session.ask(1 + turn % 3).tolist()
        np.testing.assert_array_equal(rows, X[nodes])
        learner.teach(nodes, names[nodes])
        session.tell(nodes, names[nodes])
    assert len(learner.y_training) == 24
    np.testing.assert_array_equal(learner.predict(), session.predict())
    np.testing.assert_array_equal(learner.predict_proba(X), session.predict_proba())
    np.testing.assert_array_equal(learner.classes_, session.classes_)
    new = X[:9] + 0.25
    np.testing.assert_array_equal(learner.predict(new), session.predict_new(new)["label"])
    np.testing.assert_array_equal(learner.predict_proba(new), session.predict_new(new)["proba"])
    assert learner.score(X, names) == (session.predict() == names).mean()
    assert "240" in repr(learner)


def test_what_was_taught_can_be_put_right(two_clusters: Pool) -> None:
    X, of = two_clusters
    learner = dial.ActiveLearner(X)
    learner.teach([0, 79], [1, 0])
    learner.teach([0, 79], [0, 1])
    assert learner.score(X, of) == 1.0
    assert learner.y_training.tolist() == [0, 1]
    np.testing.assert_array_equal(learner.X_training, X[[0, 79]])
    learner.session.undo()
    assert learner.score(X, of) == 0.0


def test_rows_come_back_as_what_they_came(two_clusters: Pool) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    X, _ = two_clusters
    frame = pandas.DataFrame(X, columns=["a", "b", "c"], index=[f"row {i}" for i in range(80)])
    columns = {name: X[:, place] for place, name in enumerate("abc")}
    for pool in (X, X.tolist(), frame, polars.DataFrame(columns), arrow.table(columns)):
        nodes, rows = dial.ActiveLearner(pool).query(2)
        assert type(rows) is type(pool)
        assert len(rows) == 2
        if pool is frame:
            assert rows.index.tolist() == [f"row {node}" for node in nodes]
        values = np.column_stack([rows.column(name) for name in "abc"]) if isinstance(rows, arrow.Table) else rows
        np.testing.assert_array_equal(np.asarray(values), X[nodes])


# The strategy in learners of modAL


@pytest.fixture
def learner_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes learners of modAL, also with a scikit-learn that has dropped a name that modAL uses."""
    learners = pytest.importorskip("modAL.models.learners")
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.utils import check_X_y

    def renamed(X: Any, y: Any, force_all_finite: Any = True, **given: Any) -> Any:
        return check_X_y(X, y, **given)

    monkeypatch.setattr(learners, "check_X_y", renamed)

    def make(query_strategy: Any = dial.dial_sampling, **given: Any) -> Any:
        return learners.ActiveLearner(KNeighborsClassifier(1), query_strategy=query_strategy, **given)

    return make


def test_a_pool_that_shrinks_makes_one_graph(four_clusters: Pool, sessions_made: list[Any], learner_of: Any) -> None:
    X, of = four_clusters
    learner = learner_of(functools.partial(dial.dial_sampling, seed=4))
    session = dial.Session(X, seed=4)
    left = np.arange(len(X))
    for _ in range(15):
        chosen, rows = learner.query(X[left])
        node = left[chosen]
        assert node.tolist() == session.ask().tolist()
        np.testing.assert_array_equal(rows, X[node])
        learner.teach(rows, of[node])
        session.tell(node, of[node])
        left = np.delete(left, chosen)
    assert len(sessions_made) == 1
    assert len(learner.X_training) == 15


def test_a_pool_that_stays_makes_one_graph(four_clusters: Pool, sessions_made: list[Any], learner_of: Any) -> None:
    X, of = four_clusters
    learner, session, asked = learner_of(X_training=X[:2], y_training=of[:2]), dial.Session(X), set[int]()
    session.tell([0, 1], of[:2])
    for _ in range(10):
        nodes, rows = learner.query(X, n_instances=2)
        assert nodes.tolist() == session.ask(2).tolist()
        assert asked.isdisjoint(nodes.tolist())
        asked.update(nodes.tolist())
        learner.teach(rows, of[nodes])
        session.tell(nodes, of[nodes])
    assert len(sessions_made) == 1


def test_training_rows_from_elsewhere_are_heard(two_clusters: Pool, learner_of: Any) -> None:
    X, of = two_clusters
    # All of one cluster, and a row beside the other, are known: what is left to ask for is the rest of that cluster.
    known = np.concatenate([X[:40], X[40:41] + 0.1])
    chosen, _ = learner_of(X_training=known, y_training=np.repeat([0, 1], [40, 1])).query(X[41:], n_instances=3)
    session = dial.Session(np.concatenate([X[41:], known]))
    session.tell(np.arange(39, 80), np.repeat([0, 1], [40, 1]))
    assert chosen.tolist() == session.ask(3).tolist()
    assert max(chosen) < 39


def test_rows_that_left_the_pool_are_not_asked(four_clusters: Pool, sessions_made: list[Any], learner_of: Any) -> None:
    X, of = four_clusters
    learner = learner_of(X_training=X[:4], y_training=of[:4])
    learner.query(X[4:])
    chosen, rows = learner.query(X[100:140], n_instances=40)
    assert sorted(chosen.tolist()) == list(range(40))
    np.testing.assert_array_equal(rows, X[100:140][chosen])
    assert len(sessions_made) == 1
    # Rows that were never seen do need another graph.
    learner.query(X[4:] + 1.0)
    assert len(sessions_made) == 2


def test_copies_of_rows(learner_of: Any) -> None:
    X = np.repeat(np.arange(12.0) ** 2, 2)[:, None]
    left = np.arange(24)
    learner = learner_of()
    for _ in range(24):
        chosen, rows = learner.query(X[left])
        learner.teach(rows, [int(left[chosen[0]] >= 12)])
        left = np.delete(left, chosen)
    assert sorted(learner.X_training.ravel()) == sorted(X.ravel())


def test_two_questions_are_two_rows(two_clusters: Pool, learner_of: Any) -> None:
    # modAL takes a strategy that returns a pair for one that returns rows and scores.
    X, _ = two_clusters
    chosen, rows, scores = learner_of().query(X, n_instances=2, return_metrics=True)
    assert len(chosen) == len(rows) == len(scores) == 2


def test_tables_transformations_and_what_is_wrong(two_clusters: Pool, learner_of: Any) -> None:
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, of = two_clusters
    given = {"X_training": X[[0, 79]], "y_training": of[[0, 79]]}
    pool = pandas.DataFrame(X[1:79])
    chosen, _ = dial.dial_sampling(learner_of(**given), pool, 2)
    assert chosen.tolist() == dial.dial_sampling(learner_of(**given), X[1:79], 2)[0].tolist()

    learner = learner_of(on_transformed=True, **given)
    learner.estimator = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    learner.estimator.fit(X[[0, 79]] * [1, 9, 1], of[[0, 79]])
    seen = learner.estimator[0].transform
    session = dial.Session(np.concatenate([seen(X[1:79]), seen(X[[0, 79]])]))
    session.tell([78, 79], [0, 1])
    assert learner.query(X[1:79], n_instances=4)[0].tolist() == session.ask(4).tolist()

    with pytest.raises(dial.InputError, match="sparse"):
        dial.dial_sampling(learner_of(), sparse.csr_array(X))
    with pytest.raises(dial.StateError, match="taught already"):
        dial.dial_sampling(learner_of(X_training=X, y_training=of), X)


def test_a_learner_that_is_gone_leaves_nothing_behind(two_clusters: Pool, learner_of: Any) -> None:
    import dial.modal

    learner = learner_of()
    learner.query(two_clusters[0])
    memory = weakref.ref(dial.modal._memories[learner])
    del learner
    gc.collect()
    assert memory() is None


def test_the_examples_of_the_docstrings() -> None:
    import doctest

    import dial.modal

    assert doctest.testmod(dial.modal).failed == 0
