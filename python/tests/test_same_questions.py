"""The same pool, configuration and answers give the same questions from a session, a simulation and the command. (The
command and the server are compared with simulations in Rust.)"""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dial

QUESTIONS = 30

CASES: dict[str, dict[str, Any]] = {
    "auto": {},
    "paper": {"acquisition": "variance", "policy": "proportional", "seed": 3},
    "heat": {"propagation": "heat:2", "source_value": 2.0},
    "rbf": {"propagation": "rbf"},
    "compact": {"propagation": "compact:1.5"},
    "certified": {"precision": "certified", "tolerance": 0.01},
}


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("initial", [[], [3, 8, 100]], ids=["fresh", "begun"])
@pytest.mark.parametrize("known", [True, False], ids=["known", "met"])
def test_a_session_asks_what_a_simulation_asks(
    four_clusters: Any, settings: dict[str, Any], initial: list[int], known: bool
) -> None:
    X, y = four_clusters
    run = dial.simulate(
        X,
        y,
        queries=QUESTIONS,
        trials=1,
        k=6,
        initial=initial if initial else "none",
        classes="known" if known else "met",
        **settings,
    )
    want = run["node"][run["query"] > 0].tolist()
    session = dial.Session(X, sorted(set(y.tolist())) if known else None, k=6, **settings)
    for node in initial:
        session.tell(node, y[node])
    asked = []
    for _ in range(QUESTIONS):
        node = int(session.ask()[0])
        asked.append(node)
        session.tell(node, y[node])
    assert asked == want
    # Sessions believe what the simulation scored.
    assert np.isclose(np.delete(session.predict() == y, session.labelled).mean(), run["accuracy"][-1])


def command(place: Path, *words: str) -> str:
    """What the command of this package prints."""
    line = [sys.executable, "-m", "dial", *words, "--quiet"]
    return subprocess.run(line, cwd=place, capture_output=True, text=True, check=True).stdout.strip()


def asked_of_the_command(place: Path, project: str, y: Any) -> list[int]:
    """What two people are asked who take turns."""
    asked = []
    for turn in range(QUESTIONS):
        who = ("ann", "bob")[turn % 2]
        asked.append(int(command(place, "ask", project, "--annotator", who)))
        command(place, "tell", project, str(asked[-1]), str(y[asked[-1]]), "--annotator", who)
    return asked


def asked_of_a_session(session: dial.Session, y: Any) -> list[int]:
    asked = []
    for turn in range(QUESTIONS):
        who = ("ann", "bob")[turn % 2]
        asked.append(int(session.ask(annotator=who)[0]))
        session.tell(asked[-1], str(y[asked[-1]]), annotator=who)
    return asked


def audits(session: dial.Session) -> list[bool]:
    """Of every label, whether the log says that its row was drawn at random."""
    labels = [record for record in session.history() if record["entry"].get("change", {}).get("kind") == "label"]
    return ["audit" in record.get("remark", {}) for record in labels]


@pytest.mark.parametrize("served", [False, True], ids=["session", "page"])
@pytest.mark.parametrize("options", ["--overlap 2", "--audit 0.4", "--overlap 2 --audit 0.4"])
def test_a_session_asks_what_the_command_asks(four_clusters: Any, tmp_path: Path, options: str, served: bool) -> None:
    X, y = four_clusters
    np.save(tmp_path / "pool.npy", X)
    for name in ("one.dial", "other.dial"):
        command(tmp_path, "new", "pool.npy", "--classes", "0,1,2,3", "--k", "6", *options.split(), "--project", name)
    want = asked_of_the_command(tmp_path, "one.dial", y)
    with dial.open(tmp_path / "one.dial") as session:
        marked = audits(session)
    with dial.open(tmp_path / "other.dial") as session:
        if served:
            session.serve(browser=False)
        assert asked_of_a_session(session, y) == want
        assert audits(session) == marked and any(marked) == ("audit" in options)
    if options == "--overlap 2":
        assert want[::2] == want[1::2]


def test_a_project_that_a_server_has_is_refused_with_the_process_of_the_server(four_clusters: Any, tmp_path: Path) -> None:
    session = dial.Session(four_clusters[0], [0, 1, 2, 3], k=6)
    session.serve(tmp_path / "p.dial", browser=False)
    with pytest.raises(dial.StateError, match=rf"process {os.getpid()}.*dial serve") as error:
        dial.open(tmp_path / "p.dial")
    assert error.value.code == "S7"
    session.close()
    dial.open(tmp_path / "p.dial").close()


def test_a_saved_session_keeps_its_propagation(four_clusters: Any, tmp_path: Path) -> None:
    X, y = four_clusters
    for propagation in ("heat:2", "rbf", "compact:1.5"):
        session = dial.Session(X, [0, 1, 2, 3], k=6, propagation=propagation, source_value=2.0)
        session.tell([3, 8, 100], y[[3, 8, 100]])
        folder = session.save(tmp_path / propagation.replace(":", "-"))
        with dial.open(folder) as opened:
            assert opened.ask(3).tolist() == session.ask(3).tolist()
            assert np.array_equal(opened.predict_proba(), session.predict_proba())
            assert opened.settings["source_value"] == 2.0


def test_copies_and_graphs_of_ones_own_keep_radial_propagation(four_clusters: Any) -> None:
    X, y = four_clusters
    for propagation in ("rbf", "compact:1.5"):
        session = dial.Session(X, [0, 1, 2, 3], k=6, propagation=propagation)
        session.tell([3, 8, 100], y[[3, 8, 100]])
        for again in (copy.deepcopy(session), pickle.loads(pickle.dumps(session))):
            assert again.ask(3).tolist() == session.ask(3).tolist()
            assert np.array_equal(again.predict_proba(), session.predict_proba())
    graph = dial.knn_graph(X, 6)
    assert dial.Session(X, [0, 1], graph=graph, propagation="rbf:0.5").ask().size == 1
    with pytest.raises(ValueError, match="sigma"):
        dial.Session(X, [0, 1], graph=graph, propagation="rbf")
    with pytest.raises(ValueError, match="no features"):
        dial.Session(graph=graph, propagation="rbf:0.5")


def test_a_soft_label_is_no_suspect_for_its_smaller_share(two_clusters: Any) -> None:
    X, y = two_clusters
    session = dial.Session(X, [0, 1], k=5)
    session.tell([1, 2, 50, 60], y[[1, 2, 50, 60]])
    session.tell(3, {0: 0.75, 1: 0.25})
    assert session.suspects()["node"].tolist() == []
    session.tell(4, 1)
    found = session.suspects()
    assert (found["node"].tolist(), found["label"].tolist(), found["expected"].tolist()) == ([4], [1], [0])


def test_weights_count(two_clusters: Any) -> None:
    X, _ = two_clusters
    session = dial.Session(X, ["a", "b"], k=5, acquisition="variance", prior=1e-6)
    session.tell(3, "a", annotator="ann")
    session.tell(3, "b", annotator="bob")
    even = session.alpha()[3]
    assert np.isclose(even[0], even[1])
    session.set_weight("bob", 3)
    more = session.alpha()[3]
    assert np.isclose(more[1] / more[0], 3, rtol=1e-2)


def test_exports_and_imports(two_clusters: Any, tmp_path: Path) -> None:
    X, _ = two_clusters
    session = dial.Session(X, ["a", "b"], k=5)
    session.tell([3, 50], ["a", "b"])
    file = session.export(tmp_path / "all.csv")
    assert len(file.read_text().splitlines()) == len(X) + 1
    other = dial.Session(X, ["a", "b"], k=5)
    assert other.import_labels(file)["labels"] == 2
    assert other.predict().tolist() == session.predict().tolist()
    assert other.status()["labelled"] == 2 and other.suspects()["node"].tolist() == []
    with pytest.raises(dial.DialError):
        session.export(tmp_path / "all.txt")
    with pytest.raises(dial.DialError):
        session.backup(tmp_path / "copy.dialbackup")
    folder = session.save(tmp_path / "saved")
    with dial.open(folder) as opened:
        assert opened.backup(tmp_path / "copy.dialbackup").exists()
