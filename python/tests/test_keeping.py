"""Sessions that last: projects, copies, and the command beside them."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dial
from common import answered, two_groups


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


def test_a_given_graph_is_kept_and_never_built_again(tmp_path: Path) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, _ = two_groups()
    ring = sparse.csr_array((np.ones(60), (np.arange(60), (np.arange(60) + 7) % 60)), shape=(60, 60))
    session = dial.Session(X, [0, 1], graph=ring + ring.T)
    # Nobody said how it was made.
    assert session.settings["weights"] == "given"
    session.tell([0, 59], [0, 1])
    folder = session.save(tmp_path / "p.dial")
    with dial.open(folder) as opened:
        assert opened.settings["weights"] == "given" and opened.ask(3).tolist() == session.ask(3).tolist()
        assert (opened.graph != session.graph).nnz == 0
    kept = folder / "graph.dialgraph"
    kept.write_bytes(kept.read_bytes()[:-64])
    with pytest.raises(dial.DialError, match="Put the graph that the project was made with back there"):
        dial.open(folder)


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


def test_a_copy_knows_items_by_their_ids(tmp_path: Path) -> None:
    X, y = two_groups()
    lines = "".join(f"item-{row},{a},{b},{c}\n" for row, (a, b, c) in enumerate(X))
    (tmp_path / "pool.csv").write_text("id,a,b,c\n" + lines)
    run = [sys.executable, "-m", "dial", "new", "pool.csv", "--id-column", "id", "--classes", "0,1", "--project", "p.dial"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    with dial.open(tmp_path / "p") as opened:
        opened.tell([0, 59], ["0", "1"])
        other = pickle.loads(pickle.dumps(opened))
        assert other.labelled.tolist() == [0, 59]
        assert np.array_equal(other.predict(), opened.predict())
        other.tell(3, "0")
        assert len(other.labelled) == 3


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
