"""Labels: of any kind, in any wrapping, taken back, and refused as a whole."""

from __future__ import annotations

import enum
from pathlib import Path

import numpy as np
import pytest

import dial
from common import answered, two_groups


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
