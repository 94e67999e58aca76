"""Sessions: asking, telling, believing, keeping."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dial

def two_groups(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two groups of points that nobody can mix up."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n // 2)
    return rng.normal(size=(n, 3)) + 30.0 * y[:, None], y


def answered(session: dial.Session, y: np.ndarray, questions: int) -> list[int]:
    asked = []
    for _ in range(questions):
        node = int(session.ask()[0])
        session.tell(node, y[node])
        asked.append(node)
    return asked


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


def test_undo_takes_back_and_redo_brings_back() -> None:
    X, y = two_groups()
    session = dial.Session(X, [0, 1])
    answered(session, y, 4)
    before = session.predict_proba()
    node = int(session.ask()[0])
    group = session.tell(node, 1 - y[node])
    assert not np.array_equal(session.predict_proba(), before)
    session.undo(group)
    assert np.array_equal(session.predict_proba(), before) and int(session.ask()[0]) == node
    session.redo(group)
    assert node in session.labelled
    session.undo()
    assert node not in session.labelled


def test_labels_of_any_kind() -> None:
    X, y = two_groups()
    for one, other in [("ö", "x"), (True, False), (1.5, 2.5), ((1, "a"), (2, "b")), (frozenset([1]), None.__class__), (7, "7")]:
        session = dial.Session(X)
        session.tell([0, 1], [one, one])
        session.tell([59], [other])
        assert session.classes_.tolist() == [one, other]
        assert session.predict([5])[0] == one and session.predict([50])[0] == other
        assert session.labels()["label"].tolist() == [one, one, other]


def test_unlabelled_is_passed_over() -> None:
    X, _ = two_groups()
    session = dial.Session(X)
    session.tell(range(6), [0, -1, None, float("nan"), 1, np.int64(-1)])
    assert session.labelled.tolist() == [0, 4] and session.classes_.tolist() == [0, 1]
    assert session.tell([7], [None]) is None
    # Where -1 is one of the classes it is a label.
    signs = dial.Session(X, [-1, 1])
    signs.tell([0, 59], [-1, 1])
    assert signs.labelled.tolist() == [0, 59] and signs.predict([3])[0] == -1


def test_one_label_for_many_rows_and_soft_labels() -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"])
    session.tell([0, 1, 2], "a")
    session.tell(40, {"a": 0.25, "b": 0.75})
    table = session.labels()
    assert table["node"].tolist() == [0, 1, 2, 40, 40] and table["weight"].tolist() == [1, 1, 1, 0.25, 0.75]
    session.tell(41, "b", weight=0.5, annotator="ann")
    assert session.labels()["weight"][-1] == 0.5 and session.labels()["annotator"][-1] == "ann"


def test_named_classes_are_all_there_are() -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"])
    with pytest.raises(ValueError, match="there is no class 'c'") as error:
        session.tell(0, "c")
    assert error.value.code == "I12" and len(session.labelled) == 0
    session.add_class("c")
    session.tell(0, "c")
    with pytest.raises(dial.InputError):
        session.add_class("c")
    session.rename_class("c", "sea")
    assert session.classes_.tolist() == ["a", "b", "sea"] and session.labels()["label"].tolist() == ["sea"]
    session.merge_classes("sea", "a")
    assert session.classes_.tolist() == ["a", "b"] and session.labels()["label"].tolist() == ["a"]


def test_what_is_refused_leaves_nothing_behind() -> None:
    X, _ = two_groups()
    session = dial.Session(X)
    for rows, labels, weight in [([0, 60], ["a", "b"], 1.0), ([0, 1], ["a", ["b"]], 1.0), ([0, 1], ["a", "b"], [1.0]), ([0], ["a"], 2.0)]:
        with pytest.raises(dial.InputError):
            session.tell(rows, labels, weight)
        assert session.classes_.tolist() == [] and len(session.labelled) == 0
    session.tell([0, 1], ["a", "b"])
    with pytest.raises(dial.StateError):
        session.tell([0, 5], ["c", "c"])
    assert session.classes_.tolist() == ["a", "b"] and session.labelled.tolist() == [0, 1]


def test_labels_come_in_many_wrappings() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X, _ = two_groups()
    for labels in (
        np.array(["a", "b", "a"]),
        pandas.Series(["a", "b", "a"]),
        pandas.Categorical(["a", "b", "a"]),
        pyarrow.array(["a", "b", "a"]),
        (label for label in "aba"),
    ):
        session = dial.Session(X, np.array(["a", "b"]))
        session.tell([0, 50, 2], labels)
        assert session.labels()["label"].tolist() == ["a", "b", "a"]
    some = np.zeros(60, dtype=bool)
    some[[3, 33]] = True
    session = dial.Session(X)
    session.tell(some, pyarrow.array([1, None]))
    assert session.labels()["node"].tolist() == [3]
    mixed = dial.Session(X)
    mixed.tell([0, 59], [True, 1])
    assert [type(label) for label in mixed.classes_] == [bool, int]
    odd = dial.Session(X)
    odd.tell([0, 20, 59], [" <=50K", "line\nbreak", "x" * 500])
    assert odd.classes_.tolist() == [" <=50K", "line\nbreak", "x" * 500]
    for classes in (["a", None], [float("nan"), "a"], [["a"], "b"]):
        with pytest.raises(dial.InputError):
            dial.Session(X, classes)
    with pytest.raises(dial.InputError):
        session.tell([0, 1], {1, 2})
    for count in (0, -1):
        with pytest.raises(dial.InputError):
            session.ask(count)


def test_another_answer_needs_replace() -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"])
    session.tell(3, "a")
    assert session.tell(3, "a") is None
    with pytest.raises(RuntimeError) as error:
        session.tell(3, "b")
    assert isinstance(error.value, dial.DialError) and error.value.code == "C3"
    assert session.labels()["label"].tolist() == ["a"]
    session.tell(3, "b", replace=True)
    assert session.labels()["label"].tolist() == ["b"]
    # Others may differ.
    session.tell(3, "a", annotator="ann")
    assert sorted(session.labels()["label"]) == ["a", "b"]


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


def test_the_command_asks_the_same(tmp_path: Path) -> None:
    X, y = two_groups()
    np.save(tmp_path / "pool.npy", X)

    def command(*arguments: str) -> dict[str, object]:
        line = [sys.executable, "-m", "dial", "--json", *arguments]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    for acquisition in ("auto", "variance", "margin"):
        session = dial.Session(X, ["0", "1"], acquisition=acquisition, seed=9)
        command("new", "pool.npy", "--classes", "0,1", "--acquisition", acquisition, "--seed", "9", "--project", f"{acquisition}.dial")
        for _ in range(5):
            node = int(session.ask()[0])
            asked = command("ask", f"{acquisition}.dial")
            assert asked["questions"][0]["id"] == str(node)  # type: ignore[index]
            session.tell(node, str(y[node]))
            command("tell", f"{acquisition}.dial", str(node), str(y[node]))


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
    # Projects keep weights in 32 bits.
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


def test_saved_sessions_go_on_where_they_were(tmp_path: Path) -> None:
    X, y = two_groups()
    session = dial.Session(X.astype(np.float32), seed=2)
    answered(session, y, 5)
    folder = session.save(tmp_path / "groups")
    assert folder == tmp_path / "groups.dial" and session.path is None
    answered(session, y, 2)
    session.save(folder)
    with dial.open(tmp_path / "groups") as opened:
        assert opened.path == folder and opened.notes == []
        assert opened.classes_.tolist() == session.classes_.tolist()
        assert np.array_equal(opened.predict(), session.predict()) and opened.predict().dtype.kind == "i"
        assert opened.ask(3).tolist() == session.ask(3).tolist()
        opened.tell(opened.ask()[0], 1)
        assert np.array_equal(opened.predict_new(X[:4].astype(np.float32))["label"], opened.predict([0, 1, 2, 3]))
    # The folder has more than the session by now.
    session.tell(session.ask()[0], 0)
    with pytest.raises(dial.StateError) as error:
        session.save(folder)
    assert error.value.code == "S11"
    # Moved as a whole, it is found.
    folder.rename(tmp_path / "elsewhere.dial")
    with dial.open(tmp_path / "elsewhere.dial") as opened:
        assert len(opened.labelled) == 8


def test_only_one_has_a_project(tmp_path: Path) -> None:
    X, y = two_groups()
    session = dial.Session(X, [0, 1])
    folder = session.save(tmp_path / "p.dial")
    first = dial.open(folder)
    with pytest.raises(RuntimeError) as error:
        dial.open(folder)
    assert error.value.code == "S7"
    first.close()
    with pytest.raises(dial.DialError, match="closed"):
        first.ask()
    assert "closed" in repr(first)
    dial.open(folder).close()
    with pytest.raises(dial.DialError):
        dial.open(tmp_path / "nothing")


def test_copies_and_pickles_are_sessions_of_their_own() -> None:
    X, y = two_groups()
    session = dial.Session(X, seed=1)
    answered(session, y, 4)
    for other in (copy.deepcopy(session), copy.copy(session), pickle.loads(pickle.dumps(session))):
        assert other.ask(4).tolist() == session.ask(4).tolist()
        assert np.array_equal(other.predict_proba(), session.predict_proba())
        other.tell(other.ask()[0], 0)
        assert len(other.labelled) == 5 and len(session.labelled) == 4
    with pytest.raises(dial.InputError) as error:
        dial.Session([[1.0]])
    assert pickle.loads(pickle.dumps(error.value)).code == error.value.code


def test_an_opened_session_copies_into_memory(tmp_path: Path) -> None:
    X, y = two_groups()
    session = dial.Session(X)
    answered(session, y, 3)
    with dial.open(session.save(tmp_path / "p")) as opened:
        other = pickle.loads(pickle.dumps(opened))
        assert other.path is None and other.ask().tolist() == opened.ask().tolist()


def test_a_graph_in_place_of_rows() -> None:
    X, y = two_groups()
    session = dial.Session(graph=dial.knn_graph(X, kernel="symmetric"))
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
    assert session.settings["tau"] == "0.03xdegree" and session.settings["reading"] == "even"
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


class Fruit(str, enum.Enum):
    APPLE = "apple"
    BERRY = "berry"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def test_labels_stay_what_they_are() -> None:
    X, _ = two_groups()
    for pair in [(Fruit.APPLE, Fruit.BERRY), (Level.LOW, Level.HIGH), (2**63 + 1, -5), ("a\0", "a"), (1, 2.5), (b"x", b"y")]:
        session = dial.Session(X)
        session.tell([0, 59], list(pair))
        assert session.classes_.tolist() == list(pair) and [type(c) for c in session.classes_.tolist()] == [type(c) for c in pair]
        assert session.predict([3, 50]).tolist() == list(pair)


def test_interrupted_labels_are_kept_and_stay_what_they_are() -> None:
    X, y = two_groups(400)

    class Enough(Exception):
        pass

    def enough(stage: str, done: int, steps: int) -> None:
        raise Enough

    session = dial.Session(X)
    for _ in range(20):
        try:
            session.tell(range(400), y, progress=enough)
            break
        except Enough:
            assert session.classes_.tolist() == [0, 1]
    assert session.classes_.tolist() == [0, 1] and len(session.labelled) == 400
    assert (session.predict() == y).all()


def test_names_come_back_with_an_undo_and_follow_a_merge() -> None:
    X, _ = two_groups()
    session = dial.Session(X)
    session.tell([0, 20, 59], [1, 2, 3])
    session.rename_class(1, 7)
    assert session.classes_.tolist() == [7, 2, 3]
    for wrong in (2, None, float("nan")):
        with pytest.raises(dial.InputError):
            session.rename_class(7, wrong)
    session.undo()
    assert session.classes_.tolist() == [1, 2, 3]
    session.merge_classes(2, into=1)
    session.tell(21, 2)
    assert session.classes_.tolist() == [1, 3] and session.labels()["label"].tolist() == [1, 1, 3, 1]


def test_undo_takes_back_what_is_meant() -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"])
    session.tell(0, "a")
    nothing = session.tell(1, None)
    session.undo(nothing)
    assert session.labelled.tolist() == [0]
    group = session.tell(2, "b", annotator="ann")
    session.tell(3, "b", annotator="bob")
    session.undo(group)
    assert session.labelled.tolist() == [0, 3]
    session.undo()
    assert session.labelled.tolist() == [0]
    session.undo(session.skip(5))
    session.undo(session.exclude([0]))
    assert session.labelled.tolist() == [0]
    with pytest.raises(dial.DialError):
        session.undo(annotator="nobody")


def test_a_refused_answer_is_no_class(tmp_path: Path) -> None:
    X, _ = two_groups()
    session = dial.Session(X)
    session.tell([0, 59], [10, 20])
    with pytest.raises(dial.StateError):
        session.tell(0, 30)
    assert session.classes_.tolist() == [10, 20]
    session.tell(30, 30)
    assert session.classes_.tolist() == [10, 20, 30]


def test_what_may_be_asked_is_saved(tmp_path: Path) -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"], askable=[4, 5, 44])
    with dial.open(session.save(tmp_path / "p")) as opened:
        assert sorted(opened.ask(10).tolist()) == [4, 5, 44]
        with opened.serve(browser=False):
            assert sorted(opened.ask(10).tolist()) == [4, 5, 44]
    assert sorted(pickle.loads(pickle.dumps(session)).ask(10).tolist()) == [4, 5, 44]


def test_new_rows_of_a_project_are_read_as_its_pool(tmp_path: Path) -> None:
    X, y = two_groups()
    X = X * [1.0, 100.0, 0.01]
    lines = "".join(f"{a},{b},{c}\n" for a, b, c in X)
    (tmp_path / "pool.csv").write_text("a,b,c\n" + lines)
    run = [sys.executable, "-m", "dial", "new", "pool.csv", "--classes", "0,1", "--standardize=no", "--project", "p.dial"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    with dial.open(tmp_path / "p") as opened:
        opened.tell([0, 59, 12, 45], ["0", "1", "0", "1"])
        assert np.allclose(opened.predict_new(X)["proba"], opened.predict_proba())
        copied = copy.copy(opened)
    assert np.array_equal(copied.predict(), copied.predict_new(X)["label"])
    copied.save(tmp_path / "copy")
    dial.open(tmp_path / "copy").close()


def test_the_command_believes_the_same_to_the_bit(tmp_path: Path) -> None:
    X, y = two_groups()
    session = dial.Session(X, ["0", "1"], seed=3)
    answered(session, y.astype(str), 7)
    session.save(tmp_path / "p")
    line = [sys.executable, "-m", "dial", "export", "p.dial", "--out", "p.npz"]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True)
    with np.load(tmp_path / "p.npz") as exported:
        assert np.array_equal(exported["probabilities"], session.predict_proba())
        assert np.array_equal(exported["variance"], session.variance())
        assert np.array_equal(exported["evidence"], session.evidence())


def test_changed_rows_are_not_saved(tmp_path: Path) -> None:
    X, _ = two_groups()
    session = dial.Session(X, ["a", "b"])
    X += 1.0
    with pytest.raises(dial.InputError, match="changed"):
        session.save(tmp_path / "p")
    with pytest.raises(dial.InputError):
        dial.Session(X, graph=dial.knn_graph(X[:30]))
