"""Manners: threads, forks, signals, progress, the command and the page."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from urllib.request import url2pathname
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import dial

RNG = np.random.default_rng(2)


def pool(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 3
    return RNG.normal(size=(n, 4)) + 20.0 * np.eye(4)[y], y


def test_work_leaves_the_interpreter_to_others() -> None:
    X = RNG.normal(size=(20_000, 32)).astype(np.float32)
    counted = [0]
    over = threading.Event()

    def count() -> None:
        while not over.is_set():
            counted[0] += 1

    other = threading.Thread(target=count)
    other.start()
    before = counted[0]
    dial.knn(X, 10, search="exact")
    during = counted[0] - before
    over.set()
    other.join()
    # With the lock held throughout it would have got a few turns at most.
    assert during > 10_000


INTERRUPTED = """
import numpy as np, dial, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.random.default_rng(0).normal(size=(200_000, 64)).astype(np.float32)
def tell(stage, done, steps):
    print("working", done, steps, flush=True)
try:
    dial.knn(X, 20, search="exact", progress=tell)
except KeyboardInterrupt:
    print("stopped", flush=True)
print(dial.knn(X[:100], 3)[0].shape, flush=True)
"""


def test_ctrl_c_stops_at_once_and_leaves_all_well() -> None:
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if line.startswith("working"):
            break
    child.send_signal(signal.SIGINT)
    rest = [line for line in child.stdout]
    child.wait()
    said = [line for line in rest if not line.startswith("working")]
    assert said == ["stopped\n", "(100, 3)\n"] and child.returncode == 0
    # A search of minutes was cut short: most of its steps were never done.
    for line in rest:
        if line.startswith("working"):
            done, steps = map(int, line.split()[1:])
            assert done < steps / 2


def test_progress_is_told_and_its_exceptions_stop_the_work() -> None:
    X = RNG.normal(size=(30_000, 32)).astype(np.float32)
    told: list[tuple[str, int, int]] = []
    dial.knn(X, 10, search="exact", progress=lambda *step: told.append(step))
    assert told and all(0 <= done <= steps for _, done, steps in told) and all(stage for stage, _, _ in told)
    of_a_stage = [done for stage, done, _ in told if stage == told[0][0]]
    assert of_a_stage == sorted(of_a_stage)

    class Enough(Exception):
        pass

    def enough(*_: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        dial.knn(X, 10, search="exact", progress=enough)


def test_a_bar_where_tqdm_is() -> None:
    pytest.importorskip("tqdm")
    X = RNG.normal(size=(5_000, 16)).astype(np.float32)
    assert dial.knn(X, 5, progress=True)[0].shape == (5_000, 5)


def test_threads_may_share_a_session() -> None:
    X, y = pool()
    session = dial.Session(X, [0, 1, 2])

    def label(row: int) -> None:
        session.tell(row, y[row])
        session.ask()
        session.predict()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(label, range(60)))
    assert session.labelled.tolist() == list(range(60)) and (session.predict() == y).all()
    # The belief is that of the labels, whatever their order: sums of a class differ by rounding only.
    one = dial.Session(X, [0, 1, 2])
    one.tell(range(60), y[:60])
    assert np.allclose(one.predict_proba(), session.predict_proba())


def test_threads_may_tell_of_new_classes() -> None:
    X, _ = pool()
    for _ in range(5):
        session = dial.Session(X)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda row: session.tell(row, row % 7), range(56)))
        assert sorted(session.classes_.tolist()) == list(range(7)) and len(session.labelled) == 56
        table = session.labels()
        assert (table["node"] % 7 == table["label"]).all()


def test_no_panic_comes_through() -> None:
    for n in (2**62, 10**11, 2**33):
        with pytest.raises(dial.DialError):
            dial.DirichletField(n, 4)
    with pytest.raises(dial.DialError):
        dial.DirichletField(-1, 4)


def in_child(session: dial.Session, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    results.put((session.ask(2).tolist(), session.predict().tolist()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_process_goes_on(tmp_path: Path) -> None:
    X, y = pool()
    session = dial.Session(X, [0, 1, 2])
    session.tell(range(9), y[:9])
    wanted = (session.ask(2).tolist(), session.predict().tolist())
    for way in ("fork", "spawn"):
        context = multiprocessing.get_context(way)
        results = context.Queue()
        child = context.Process(target=in_child, args=(session, results))
        child.start()
        assert results.get(timeout=60) == wanted
        child.join(60)
        assert child.exitcode == 0
    assert (session.ask(2).tolist(), session.predict().tolist()) == wanted
    # A project on disk belongs to one process.
    with dial.open(session.save(tmp_path / "p")) as opened:
        child_id = os.fork()
        if child_id == 0:
            try:
                opened.ask()
            except dial.DialError:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child_id, 0)[1]) == 7
        assert opened.ask(2).tolist() == wanted[0]


def test_the_command_of_the_package_has_no_laboratory() -> None:
    run = [sys.executable, "-m", "dial"]
    assert "  lab " not in subprocess.run([*run, "--help"], capture_output=True, text=True, check=True).stdout
    refused = subprocess.run([*run, "lab", "arena"], capture_output=True, text=True)
    assert refused.returncode == 2 and "unrecognized subcommand 'lab'" in refused.stderr


def test_the_command_is_in_the_package() -> None:
    run = [sys.executable, "-m", "dial"]
    version = subprocess.run([*run, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.split()[-1] == dial.__version__
    failed = subprocess.run([*run, "ask", "nothing.dial"], capture_output=True, text=True)
    assert failed.returncode == 5 and failed.stderr.startswith("error[S5]")


def test_the_page_and_the_session_know_of_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = pool()
    session = dial.Session(X)
    session.tell([0, 1, 2], ["a", "b", "c"])
    session.undo()
    page = session.serve(tmp_path / "p", browser=False)
    assert page.url.startswith("http://127.0.0.1:") and "launch" in page._repr_html_()
    server = json.loads((tmp_path / "p.dial" / "server.json").read_text())

    def call(path: str, body: object = None) -> object:
        request = urllib.request.Request(
            f"http://{server['address']}/api/v1/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {server['token']}",
                "X-Dial": server["project"],
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

    session.tell(3, "a")
    assert call("project")["labelled"] == 1  # type: ignore[index]
    answer = {"kind": "label", "item": "5", "classes": [{"class": 1}]}
    call("decisions", {"key": "k1", "annotator": "ann", "decisions": [answer]})
    assert session.labels()["label"].tolist() == ["a", "b"]
    assert session.predict().shape == (200,)
    assert page.link() != page.url
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    session.serve()
    (url,) = opened  # everybody on the machine can read it: it names a file, and no link
    file = Path(url2pathname(url.removeprefix("file://")))
    assert "launch=" not in url and "#launch=" in file.read_text() and file.stat().st_mode & 0o77 == 0
    session.tell([8, 9], [17, 18])
    page.stop()
    with pytest.raises(dial.DialError):
        page.link()
    session.tell(6, "c")
    assert session.labelled.tolist() == [3, 5, 6, 8, 9]
    session.close()
    assert not (tmp_path / "p.dial" / "server.json").exists()
    with dial.open(tmp_path / "p") as opened:
        assert opened.labelled.tolist() == [3, 5, 6, 8, 9]
        assert opened.classes_.tolist() == ["a", "b", "c", 17, 18]


def test_classes_added_on_the_page_do_not_take_the_labels_of_others(tmp_path: Path) -> None:
    X, _ = pool()
    session = dial.Session(X)
    session.tell([0, 1], ["a", "b"])
    with session.serve(tmp_path / "p", browser=False):
        server = json.loads((tmp_path / "p.dial" / "server.json").read_text())
        over = threading.Event()

        def add() -> None:
            number = 0
            while not over.is_set():
                body = {"key": f"page {number}", "decisions": [{"kind": "add-class", "name": f"page {number}"}]}
                request = urllib.request.Request(
                    f"http://{server['address']}/api/v1/decisions",
                    data=json.dumps(body).encode(),
                    headers={
                        "Authorization": f"Bearer {server['token']}",
                        "X-Dial": server["project"],
                        "Content-Type": "application/json",
                    },
                )
                urllib.request.urlopen(request).read()
                number += 1

        page = threading.Thread(target=add)
        page.start()
        try:
            for row in range(2, 32):
                session.tell(row, f"mine {row}")
        finally:
            over.set()
            page.join()
        table = session.labels()
        assert {int(row): label for row, label in zip(table["node"], table["label"]) if row > 1} == {
            row: f"mine {row}" for row in range(2, 32)
        }


def test_sigint_still_reaches_python_while_the_page_is_open(tmp_path: Path) -> None:
    X, _ = pool()
    # Whoever runs the tests in the background has turned it off.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with dial.Session(X, ["a", "b"]).serve(tmp_path / "p", browser=False):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
                time.sleep(1)
    finally:
        signal.signal(signal.SIGINT, before)
