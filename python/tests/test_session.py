"""Sessions: asking and believing."""

from __future__ import annotations

import numpy as np
import pytest

import dial
from common import answered, two_groups


def test_the_belief_follows_the_labels() -> None:
    X, y = two_groups()
    session = dial.Session(X, seed=3)
    answered(session, y, 6)
    assert session.classes_.tolist() in ([0, 1], [1, 0])
    assert (session.predict() == y).all()
    p = session.predict_proba()
    assert p.shape == (60, 2) and np.allclose(p.sum(axis=1), 1.0)
    column = session.classes_.tolist().index(1)
    assert (p[y == 1, column] > 0.5).all() and (p[y == 0, column] < 0.5).all()
    assert session.labelled.size == 6 and set(session.labels()["node"]) == set(session.labelled)
    # A label counts 1 at its own row, and the rest adds to that.
    assert (session.evidence(session.labelled) >= 1.0 - 1e-9).all()
    assert session.variance().shape == (60,) and (session.variance() >= 0).all()
    alpha = session.alpha()
    beta = alpha.sum(axis=1)
    assert np.allclose(session.variance(), (beta**2 - (alpha**2).sum(axis=1)) / (beta**2 * (beta + 1)))
    assert np.allclose(session.entropy(), -(p * np.log(p)).sum(axis=1))


def test_the_first_questions_meet_both_groups() -> None:
    X, y = two_groups()
    session = dial.Session(X)
    first, second = answered(session, y, 2)
    assert y[first] != y[second]


def test_skipped_and_excluded_rows_are_not_asked() -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"])
    first = int(session.ask()[0])
    session.skip(first)
    second = int(session.ask()[0])
    session.exclude([second])
    assert len({first, second, int(session.ask()[0])}) == 3


def test_rows_that_may_be_asked() -> None:
    X, _ = two_groups()
    some = np.array([4, 44])
    mask = np.isin(np.arange(60), some)
    for askable in (some, mask):
        session = dial.Session(X, askable=askable)
        assert sorted(session.ask(10).tolist()) == [4, 44]
    with pytest.raises(dial.InputError):
        dial.Session(X, askable=[99])


def test_an_acquisition_of_ones_own() -> None:
    X, y = two_groups()
    wanted = 17

    def only_one(alpha: np.ndarray) -> np.ndarray:
        assert alpha.shape == (60, 2)
        return (np.arange(60) == wanted).astype(float)

    session = dial.Session(X, [0, 1], acquisition=only_one)
    assert session.ask().tolist() == [wanted]
    nodes, scores = session.ask_with_scores(1)
    assert nodes.tolist() == [wanted] and scores.tolist() == [1.0]
    session.tell(wanted, y[wanted])
    assert session.ask()[0] != wanted


def test_new_rows_are_read_by_their_neighbours() -> None:
    X, y = two_groups()
    session = dial.Session(X)
    answered(session, y, 4)
    assert np.array_equal(session.predict_new(X)["label"], session.predict())
    assert np.allclose(session.predict_new(X)["proba"], session.predict_proba())
    found = session.predict_new([[0.0, 0.0, 0.0], [30.0, 30.0, 30.0]])
    assert found["label"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="columns"):
        session.predict_new([[1.0]])


def test_the_same_seed_asks_the_same_and_others_do_not() -> None:
    X, y = two_groups()
    runs = [answered(dial.Session(X, policy="proportional", seed=seed), y, 8) for seed in (5, 5, 6)]
    assert runs[0] == runs[1] != runs[2]


def test_the_belief_is_that_of_dense_algebra() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 2))
    n, k, tau, prior = 40, 5, 0.1, 1.0
    D2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D2, -1)
    near = D2.argsort(axis=1, kind="stable")[:, 1 : k + 1]
    A = np.zeros((n, n))
    for i in range(n):
        A[i, near[i]] = np.exp(-4 * D2[i, near[i]] / D2[i, near[i, -1]])
    W = (A + A.T) / 2
    # Edge weights are float32 by definition.
    W = W.astype(np.float32).astype(np.float64)
    G = np.linalg.inv(np.diag(W.sum(axis=1)) - W + tau * np.eye(n))
    low = G.min(axis=1, keepdims=True)
    K = (G - low) / (np.diag(G)[:, None] - low)
    session = dial.Session(X, ["a", "b"], k=k, tau=tau, prior=prior, acquisition="variance")
    session.tell([3, 30, 12], ["a", "b", "a"])
    alpha = prior + np.stack([K[3] + K[12], K[30]], axis=1)
    assert np.allclose(session.graph.toarray(), W, rtol=1e-6)
    assert np.allclose(session.alpha(), alpha, atol=1e-6)
    assert np.allclose(session.predict_proba(), alpha / alpha.sum(axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(session.evidence(), alpha.sum(axis=1) - 2 * prior, atol=1e-6)


def test_a_graph_in_place_of_rows() -> None:
    X, y = two_groups()
    session = dial.Session(graph=dial.knn_graph(X, weights="symmetric"))
    answered(session, y, 3)
    assert (session.predict() == y).all()
    with pytest.raises(dial.InputError, match="graph"):
        session.predict_new(X[:1])
    with pytest.raises(dial.InputError):
        dial.Session()


def test_what_it_looks_like() -> None:
    X, y = two_groups()
    session = dial.Session(X)
    assert repr(session) == "Session(n=60, classes=0, labelled=0, acquisition='auto', seed=0)"
    assert "none yet" in session._repr_html_()
    answered(session, y, 12)
    session.rename_class(0, "<script>")
    assert "<script>" not in session._repr_html_() and "&lt;script&gt;" in session._repr_html_()
    advice = session.stopping()
    assert advice.verdict in ("begin", "go-on", "soon", "stop") and 0 <= advice.settled <= 1
    assert session.settings["tau"] == "0.03xdegree" and session.settings["calibration"] == "on"
    assert [event["entry"] for event in session.history()][-1] == {"change": {"kind": "rename-class", "class": int(session.classes_.tolist().index("<script>")), "name": "<script>"}}


def test_before_two_classes_nothing_is_believed() -> None:
    X, _ = two_groups()
    session = dial.Session(X)
    with pytest.raises(dial.InputError) as error:
        session.predict()
    assert error.value.code == "N12"
    session.tell(0, "a")
    with pytest.raises(dial.InputError):
        session.predict_proba()
    assert session.ask().size == 1


def test_when_all_is_asked_that_is_said() -> None:
    X = np.arange(8.0).reshape(4, 2)
    session = dial.Session(X, ["a", "b"])
    session.tell(range(4), ["a", "a", "b", "b"])
    with pytest.raises(dial.StateError) as error:
        session.ask()
    assert error.value.code == "N11"
    assert session.predict().tolist() == ["a", "a", "b", "b"]
