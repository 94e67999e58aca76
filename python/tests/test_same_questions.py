"""The same pool, configuration and answers give the same questions from a session and from a simulation; and a session has
what the interface of the server has. (The command and the server are compared with simulations in Rust.)"""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dial

QUESTIONS = 30
ROOT = Path(__file__).resolve().parents[2]

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


#: A way of every kind of decision, and what the log calls it.
DECISIONS = {
    "label": lambda s: s.tell(5, "a"),
    "skip": lambda s: s.skip(6),
    "exclude": lambda s: s.exclude(7),
    "undo": lambda s: s.undo(),
    "redo": lambda s: s.redo(),
    "add-class": lambda s: s.add_class("odd"),
    "rename-class": lambda s: s.rename_class("odd", "even"),
    "merge-class": lambda s: s.merge_classes("even", "a"),
    "style-class": lambda s: s.style_class("a", "#112233", "x"),
    "weight": lambda s: s.set_weight("ann", 2),
    "resolve": None,  # A session refuses a conflicting answer, so there is nothing to resolve here.
}

#: Where a session has what the interface has; what is only drawn has none.
PATHS = {
    "project": "status",
    "status": "status",
    "next": "ask",
    "decisions": "tell",
    "item": "predict_proba",
    "items": "predict",
    "history": "history",
    "conflicts": "status",
    "disagreements": "status",
    "estimates": "stopping",
    "export": "export",
    "import": "import_labels",
    "backup": "backup",
    "launch": "serve",
    "suspects": "suspects",
    "beliefs": "predict_proba",
    "ids": "predict",
    "media": None,
    "map": None,
    "scene": None,
    "scene/pixels": None,
    "scene/image": None,
    "progress": None,
    "calibration": None,
    "changes": None,
}


def test_a_session_has_what_the_interface_has(two_clusters: Any) -> None:
    document = (ROOT / "docs" / "api.md").read_text()
    paths = set(re.findall(r"/api/v1/([a-z/]+)", document)) - {"openapi"}
    assert paths == set(PATHS)
    assert all(hasattr(dial.Session, name) for name in PATHS.values() if name)
    types = (ROOT / "crates" / "dial-server" / "page" / "interface.d.ts").read_text()
    decision = re.search(r"\n        Decision: (.*?)\n        };", types, re.S)
    assert decision and set(re.findall(r'kind: "([a-z-]+)"', decision[1])) == set(DECISIONS)
    X, _ = two_clusters
    session = dial.Session(X, ["a", "b"], k=5)
    for kind, decide in DECISIONS.items():
        if decide is not None:
            decide(session)
            stored = {"style-class": "look"}.get(kind, kind)  # the word of the log
            assert stored in str(session.history()[-1]["entry"]), kind


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
