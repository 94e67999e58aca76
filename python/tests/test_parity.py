"""Every operation of a project does the same through the interface, the command and Python.

The operations run in this order on three copies of one project, each through its own way in. After each one what came back
must be the same three times, and so must the log. What the interface, the command and ``Session`` offer is listed by
themselves: a path, a kind of decision, a verb or a method that no operation uses is missing here.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest

import dial

PROJECT = "p.dial"


class Command:
    """The command; what it prints, as JSON."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.used: set[str] = set()

    def __call__(self, line: str, expected: int = 0) -> Any:
        words = line.split()
        self.used.add(words[0])
        line_of = [sys.executable, "-m", "dial", *words, "--json", "--quiet"]
        ran = subprocess.run(line_of, cwd=self.place, capture_output=True, text=True)
        assert ran.returncode == expected, f"{line}: {ran.stdout}{ran.stderr}"
        return json.loads(ran.stdout) if ran.stdout else None

    def log(self) -> list[dict[str, Any]]:
        with dial.open(self.place / PROJECT) as session:
            return session.history()


class Interface:
    """The interface of a server that runs in this process."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.session = dial.open(place / PROJECT)
        self.session.serve(browser=False)
        self.server = json.loads((place / PROJECT / "server.json").read_text())
        self.used: set[str] = set()
        self.kinds: set[str] = set()

    def send(self, path: str, body: Any = None, **query: Any) -> bytes:
        self.used.add(path)
        address = f"http://{self.server['address']}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        head = {
            "Authorization": f"Bearer {self.server['token']}",
            "X-Dial": self.server["project"],
            "Content-Type": "application/json",
        }
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(address, data, head)) as answer:
            return bytes(answer.read())

    def __call__(self, path: str, body: Any = None, **query: Any) -> Any:
        return json.loads(self.send(path, body, **query))

    def decide(self, decision: dict[str, Any], annotator: str = "") -> Any:
        self.kinds.add(decision["kind"])
        key = f"key {len(self.session.history())}"
        return self("decisions", {"key": key, "annotator": annotator, "decisions": [decision]})

    def follow(self) -> None:
        """Waits until the model knows what was decided, as the command does."""
        while (project := self("project"))["model_version"] < project["version"]:
            sleep(0.02)

    def class_of(self, number: int) -> str:
        return {one["id"]: one["name"] for one in self("project")["classes"]}[number]

    def log(self) -> list[dict[str, Any]]:
        return self.session.history()


class Recorded:
    """A session that remembers what was used of it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.session = dial.open(place / PROJECT)
        self.used: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.used.add(name)
        return getattr(self.session, name)

    def log(self) -> list[dict[str, Any]]:
        return self.session.history()


@dataclass
class Operation:
    """The same done three times; what each returns must be the same."""

    name: str
    interface: Callable[[Interface], Any]
    command: Callable[[Command], Any]
    python: Callable[[Recorded], Any]


def decision(name: str, interface: dict[str, Any], line: str, python: Callable[[Recorded], Any]) -> Operation:
    """A decision: what is compared is the log."""
    sent = {"kind": name, **interface}
    annotator = sent.pop("by", "")
    return Operation(name, lambda i: done(i.decide(sent, annotator)), lambda c: done(c(line)), lambda s: done(python(s)))


def done(_: Any) -> None:
    """What a decision answers does not count."""


def rounded(values: Any) -> list[float]:
    return [round(float(value), 9) for value in values]


def belief(found: dict[str, Any], names: Callable[[Any], str] = str) -> dict[str, float]:
    """The probabilities of an item by the names of classes."""
    pairs = found["probabilities"]
    pairs = pairs.items() if isinstance(pairs, dict) else [(one["class"], one["probability"]) for one in pairs]
    return {names(of): round(probability, 9) for of, probability in pairs}


def counts(status: dict[str, Any]) -> dict[str, Any]:
    """Without the time of the last decision, and estimates, which are those that were made last."""
    return {name: value for name, value in status.items() if name not in ("last", "estimates")}


def exported(place: Path, content: bytes | None = None) -> str:
    return (content or (place / "out.csv").read_bytes()).decode()


def imported(found: Any) -> Any:
    return {name: found[name] for name in ("labels", "group")}


def same_backup(file: Path, place: Path) -> Any:
    """What a backup holds: the records of the project."""
    again = place / "again.dial"
    Command(place)(f"restore {file} --project {again}")
    with dial.open(again) as session:
        return [(record["seq"], record["annotator"]) for record in session.history()]


def browsers(rows: Any) -> list[str]:
    return sorted(row["browser"] for row in rows)


def firefox(rows: Any) -> str:
    """The id of one of the two browsers that are signed in."""
    return str(next(row["id"] for row in rows if "Firefox" in row["browser"]))


#: What two browsers say they are.
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
)


def sign_in(project: Path) -> None:
    """Signs two browsers in."""
    with dial.open(project) as session:
        page = session.serve(browser=False)
        for agent in AGENTS:
            address, code = page.link().split("/#launch=")
            head = {"Content-Type": "application/json", "User-Agent": agent}
            body = json.dumps({"code": code}).encode()
            with urllib.request.urlopen(urllib.request.Request(f"{address}/sign-in", body, head)) as answer:
                assert answer.status == 200


LABELS = "id,label\ni30,left\ni95,right\n"
IMPORTED = [
    {"item": {"id": "i30"}, "content": {"kind": "label", "classes": [["left", 1.0]]}, "place": "line 2"},
    {"item": {"id": "i95"}, "content": {"kind": "label", "classes": [["right", 1.0]]}, "place": "line 3"},
]

OPERATIONS = [
    decision(
        "label",
        {"item": "i5", "classes": [{"class": 0, "weight": 1.0}], "by": "ann"},
        f"tell {PROJECT} i5 left --annotator ann",
        lambda s: s.tell(5, "left", annotator="ann"),
    ),
    decision(
        "label",
        {"item": "i90", "classes": [{"class": 1, "weight": 0.75}, {"class": 0, "weight": 0.25}]},
        f"tell {PROJECT} i90 right:0.75 left:0.25",
        lambda s: s.tell(90, {"right": 0.75, "left": 0.25}),
    ),
    decision("skip", {"item": "i6"}, f"skip {PROJECT} i6", lambda s: s.skip(6)),
    decision("exclude", {"item": "i7"}, f"exclude {PROJECT} i7", lambda s: s.exclude(7)),
    Operation(
        "passed",
        lambda i: [(int(one["id"][1:]), one["excluded"]) for one in i("passed")["rows"]],
        lambda c: [(int(one["id"][1:]), one["excluded"]) for one in c(f"reopen {PROJECT}")["items"]],
        lambda s: list(zip(s.passed()["node"].tolist(), s.passed()["excluded"].tolist())),
    ),
    decision("reopen", {"item": "i6"}, f"reopen {PROJECT} i6", lambda s: s.reopen(6)),
    decision("undo", {"group": None}, f"undo {PROJECT}", lambda s: s.undo()),
    decision("redo", {"group": None}, f"redo {PROJECT}", lambda s: s.redo()),
    decision("add-class", {"name": "odd"}, f"class {PROJECT} add odd", lambda s: s.add_class("odd")),
    decision("rename-class", {"class": 2, "name": "even"}, f"class {PROJECT} rename odd even", lambda s: s.rename_class("odd", "even")),
    decision("merge-class", {"from": 2, "into": 0}, f"class {PROJECT} merge even left", lambda s: s.merge_classes("even", "left")),
    decision("add-class", {"name": "void"}, f"class {PROJECT} add void", lambda s: s.add_class("void")),
    decision("order-classes", {"classes": [3, 1]}, f"class {PROJECT} order void right", lambda s: s.order_classes(["void", "right"])),
    decision("delete-class", {"class": 3}, f"class {PROJECT} delete void", lambda s: s.delete_class("void")),
    decision("order-classes", {"classes": [0, 1]}, f"class {PROJECT} order left right", lambda s: s.order_classes(["left", "right"])),
    decision(
        "style-class",
        {"class": 0, "colour": "#112233", "key": "x"},
        f"class {PROJECT} style left #112233 x",
        lambda s: s.style_class("left", "#112233", "x"),
    ),
    decision("weight", {"annotator": "ann", "weight": 2.0}, f"weight {PROJECT} ann 2", lambda s: s.set_weight("ann", 2)),
    Operation(
        "conflicts",
        lambda i: [one["seq"] for one in i("conflicts")["rows"]],
        lambda c: [one["seq"] for one in c(f"status {PROJECT}")["conflicts"]],
        lambda s: [one["seq"] for one in s.status()["conflicts"]],
    ),
    Operation(
        "resolve",
        lambda i: done(i.decide({"kind": "resolve", "conflict": i("conflicts")["rows"][0]["seq"]})),
        lambda c: done(c(f"resolve {PROJECT} --all")),
        lambda s: s.resolve(s.status()["conflicts"][0]["seq"]),
    ),
    Operation(
        "import",
        lambda i: imported(i("import", {"source": "labels.csv", "labels": IMPORTED, "annotator": None, "key": "an import"})),
        lambda c: imported(c(f"import {PROJECT} labels.csv")),
        lambda s: imported(s.import_labels(s.place / "labels.csv")),
    ),
    Operation(
        "import, of the pool",
        lambda i: imported(i("import", {"of_pool": True, "key": "known"})),
        lambda c: imported(c(f"import {PROJECT} --of-pool")),
        lambda s: imported(s.import_labels()),
    ),
    Operation("status", lambda i: counts(i("status")), lambda c: counts(c(f"status {PROJECT}")), lambda s: counts(s.status())),
    Operation(
        "project",
        lambda i: [i("project")[name] for name in ("items", "labelled")] + [one["name"] for one in i("project")["classes"]],
        lambda c: [c(f"status {PROJECT}")[name] for name in ("items", "labelled")]
        + [one["name"] for one in c(f"status {PROJECT}")["classes"]],
        lambda s: [s.n, len(s.labelled), *s.classes_.tolist()],
    ),
    Operation(
        "disagreements",
        lambda i: [one["id"] for one in i("disagreements")["rows"]],
        lambda c: [one["item"] for one in c(f"status {PROJECT}")["disagreements"]],
        lambda s: [one["item"] for one in s.status()["disagreements"]],
    ),
    Operation(
        "next",
        lambda i: [(one["row"], round(one["score"], 9)) for one in i("next", {"annotator": "ann", "count": 1})["items"]],
        lambda c: [(one["node"], round(one["score"], 9)) for one in c(f"ask {PROJECT} --annotator ann")["questions"]],
        lambda s: [(int(row), round(score, 9)) for row, score in zip(*s.ask_with_scores(1, "ann"))],
    ),
    Operation(
        "next, several",
        lambda i: {one["row"] for one in i("next", {"annotator": "ann", "count": 5})["items"]},
        lambda c: {one["node"] for one in c(f"ask {PROJECT} --annotator ann --count 5")["questions"]},
        lambda s: set(s.ask(5, "ann").tolist()),
    ),
    Operation(
        "item",
        lambda i: belief(i("item", id="i40")["belief"], i.class_of),
        lambda c: belief(c(f"predict {PROJECT} --item i40")["items"][0]["belief"]),
        lambda s: dict(zip(s.classes_.tolist(), rounded(s.predict_proba([40])[0]))),
    ),
    Operation(
        "items",
        lambda i: [i("items", **{"class": number})["total"] for number in (0, 1)],
        lambda c: [c(f"predict {PROJECT}")["predicted"][name] for name in ("left", "right")],
        lambda s: [int(np.sum(s.predict() == name)) for name in ("left", "right")],
    ),
    Operation(
        "estimates",
        lambda i: i("estimates")["advice"],
        lambda c: c(f"predict {PROJECT}")["estimates"]["advice"],
        lambda s: {"verdict": s.stopping().verdict, "reasons": s.stopping().reasons},
    ),
    Operation(
        "suspects",
        lambda i: [(one["id"], round(one["probability"], 9)) for one in i("suspects")["rows"]],
        lambda c: [(one["id"], round(one["probability"], 9)) for one in c(f"predict {PROJECT}")["suspects"]],
        lambda s: [(f"i{row}", round(p, 9)) for row, p in zip(s.suspects()["node"], s.suspects()["probability"])],
    ),
    Operation(
        "export",
        lambda i: exported(i.place, i.send("export", format="csv")),
        lambda c: c(f"export {PROJECT} --out out.csv") and exported(c.place),
        lambda s: exported(s.export(s.place / "out.csv").parent),
    ),
    Operation(
        "history",
        lambda i: [(row["seq"], row["annotator"]) for row in i("history", limit=1000)["rows"]],
        lambda c: [(row["seq"], row["annotator"]) for row in c(f"log {PROJECT} --limit 1000")["rows"]],
        lambda s: [(record["seq"], record["annotator"]) for record in reversed(s.history())],
    ),
    Operation(
        "backup",
        lambda i: same_backup(Path(i("backup", {})["file"]), i.place),
        lambda c: same_backup(c.place / "b.dialbackup", c.place) if c(f"backup {PROJECT} --out b.dialbackup") else None,
        lambda s: same_backup(s.backup(s.place / "b.dialbackup"), s.place),
    ),
    Operation(
        "sessions",
        lambda i: browsers(i("sessions")),
        lambda c: browsers(c(f"sessions {PROJECT}")["sessions"]),
        lambda s: browsers(s.browsers()),
    ),
    Operation(
        "sign out",
        lambda i: browsers(i("sessions/end", {"sessions": [firefox(i("sessions"))]})),
        lambda c: browsers(c(f"sessions {PROJECT} --end {firefox(c(f'sessions {PROJECT}')['sessions'])}")["sessions"]),
        lambda s: browsers(s.sign_out(firefox(s.browsers()))),
    ),
]

#: Paths for what the page draws, by row, in bytes or as the series of a chart (decision 004).
DRAWN = {"beliefs", "open", "ids", "media", "map", "scene", "scene/pixels", "scene/image", "progress", "calibration", "export/example"}
#: The stream that tells a page what is new, and signing browsers in: ``dial label``, ``Session.serve``.
BROWSER = {"changes", "launch"}

#: Verbs that make or read something else than a project, or only begin: they are no operations of a project that is open.
OTHER_VERBS = {
    "label", "demo", "doctor", "simulate", "new", "serve", "restore", "pool", "graph", "embed", "propagate", "generate", "lab",
    "recover", "completions", "man", "help",
}  # fmt: skip

#: Arrays for programs in Python, and what a session is.
OTHER_MEMBERS = {
    "alpha", "entropy", "evidence", "variance", "scores", "labels", "graph", "settings", "predict_new", "path", "notes", "save",
    "serve", "close",
}  # fmt: skip


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Interface, Command, Recorded]]:
    """Three copies of a project, in which one answer waits for a decision."""
    # Two rows have a label in the pool itself.
    known = {70: "right", 20: "left"}
    rows = [(f"i{row}", row % 60 + 0.1 * (row % 7), 40 * (row // 60), known.get(row, "")) for row in range(120)]
    (tmp_path / "pool.csv").write_text("id,x,y,label\n" + "".join(f"{id},{x},{y},{label}\n" for id, x, y, label in rows))
    make = Command(tmp_path)
    make(f"new pool.csv --classes left,right --k 6 --project {PROJECT}")
    make(f"tell {PROJECT} i3=left i100=right i8=right")
    make(f"tell {PROJECT} i9 left --annotator bob")
    make(f"tell {PROJECT} i9 right --annotator bob", expected=6)
    make(f"tell {PROJECT} i100 left --annotator eve")
    places = [tmp_path / name for name in ("interface", "command", "python")]
    for place in places:
        shutil.copytree(tmp_path / PROJECT, place / PROJECT)
        (place / "labels.csv").write_text(LABELS)
        sign_in(place / PROJECT)
    interface, command, python = Interface(places[0]), Command(places[1]), Recorded(places[2])
    yield interface, command, python
    interface.session.close()
    python.session.close()


def entries(log: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What was decided: without the times and what the side that stored it knew about it."""
    return [(record["annotator"], record["group"], record["entry"]) for record in log]


def test_every_operation_does_the_same_in_all_three(sides: tuple[Interface, Command, Recorded]) -> None:
    interface, command, python = sides
    for operation in OPERATIONS:
        interface.follow()
        found = [operation.interface(interface), operation.command(command), operation.python(python)]
        assert found[0] == found[1] == found[2], operation.name
        logs = [entries(side.log()) for side in sides]
        assert logs[0] == logs[1] == logs[2], operation.name
    document = json.loads(interface.send("openapi.json"))
    paths = {path.removeprefix("/api/v1/") for path in document["paths"]}
    assert interface.used - {"openapi.json"} == paths - DRAWN - BROWSER
    kinds = document["components"]["schemas"]["Decision"]["oneOf"]
    assert interface.kinds == {kind["properties"]["kind"]["enum"][0] for kind in kinds}
    assert command.used == verbs() - OTHER_VERBS
    members = {name for name in dir(dial.Session) if not name.startswith("_")} | {"notes"}
    assert python.used - {"place", "log"} == members - OTHER_MEMBERS


def test_browsers_are_signed_out_by_name_or_all(sides: tuple[Interface, Command, Recorded]) -> None:
    session = sides[2].session
    assert len(session.browsers()) == len(AGENTS)
    with pytest.raises(dial.InputError, match="no browser 'nobody'"):
        session.sign_out([firefox(session.browsers()), "nobody"])
    assert len(session.browsers()) == len(AGENTS)
    assert session.sign_out() == [] == session.browsers()
    with dial.Session(np.arange(40.0).reshape(-1, 1)) as memory:
        assert memory.browsers() == [] == memory.sign_out()


def verbs() -> set[str]:
    """The verbs that the command lists."""
    ran = subprocess.run([sys.executable, "-m", "dial", "--help"], capture_output=True, text=True, check=True)
    listing = ran.stdout.split("Options:")[0]
    return set(re.findall(r"^  (\w+)  ", listing, re.M))
