"""A session kept between calls that give the whole pool and all labels every time, as other libraries do.

The graph of a pool takes time, and so does every label. A loop of questions gives the same rows again and again, with a
label more each time: the session stays, and only the new labels are told to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._arrays import Numbers, Rows, features, fingerprint
from ._labels import Classes, plain
from .pieces import choose
from .session import Nodes, Session, _restored


class Kept:
    """The session of a pool, as long as rows and settings stay what they are."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._rows: Rows | None = None
        self._print = 0
        self._settings: dict[str, Any] = {}
        #: What makes a session without labels, but for the graph.
        self._blank: tuple[Any, ...] = ()
        self._told: dict[int, int] = {}
        self._codes: dict[Any, int] = {}

    def session(self, X: Any, nodes: Iterable[int], labels: Iterable[Any], settings: dict[str, Any]) -> Session:
        """A session on ``X`` with exactly these labels. Its classes are numbers, in the order of their first labels."""
        rows = features(X)
        if self._session is None or settings != self._settings or not self._is_known(rows):
            self._session = Session(rows, **settings)
            self._settings = dict(settings)
            state = self._session._engine.state()
            self._blank, self._told, self._codes = (state[0], state[1], state[2]), {}, {}
        self._rows, self._print = rows, fingerprint(rows)
        wanted = {int(node): plain(label) for node, label in zip(nodes, labels)}
        return self._tell(self._session, wanted)

    def _is_known(self, rows: Rows) -> bool:
        if self._rows is None or rows.shape != self._rows.shape or rows.dtype != self._rows.dtype:
            return False
        if fingerprint(rows) != self._print:
            return False
        return rows.ctypes.data == self._rows.ctypes.data or bool(np.array_equal(rows, self._rows))

    def _tell(self, session: Session, wanted: dict[int, Any]) -> Session:
        if any(node not in wanted or self._codes.get(wanted[node]) != code for node, code in self._told.items()):
            session = self._again(session)
        new = {node: label for node, label in wanted.items() if node not in self._told}
        for label in new.values():
            self._codes.setdefault(label, len(self._codes))
        if new:
            codes = [self._codes[label] for label in new.values()]
            session.tell(list(new), codes)
            self._told.update(zip(new, codes))
        return session

    def _again(self, session: Session) -> Session:
        """Labels were taken back or changed: another session on the same graph, without any."""
        graph, askable = session._engine.state()[3:]
        self._session = _restored((*self._blank, graph, askable), self._rows, session._own, Classes(closed=False))
        self._told, self._codes = {}, {}
        return self._session


def choose_among(session: Session, candidates: Nodes, n: int) -> tuple[Nodes, Numbers]:
    """Rows to ask next, of some that have no label, with their scores.

    Of all rows without a label a session chooses itself. Of fewer they are chosen by their scores, at a distance from
    each other on the graph as long as there are enough.
    """
    n = min(n, len(candidates))
    open_rows = session.n - len(session.labelled)
    if len(candidates) == open_rows:
        return session.ask_with_scores(n)
    values = session.scores()
    chosen = session.settings
    if chosen["policy"] != "max":
        nodes = choose(
            values,
            n,
            candidates=candidates,
            policy=chosen["policy"],
            sharpness=chosen["sharpness"],
            expected_clusters=chosen["expected_clusters"],
            question=len(session.labelled) + 1,
            seed=chosen["seed"],
        )
        return nodes, values[nodes]
    masked = np.full(session.n, -np.inf)
    masked[candidates] = values[candidates]
    allowed = set(candidates.tolist())
    apart = [node for node, _ in session._engine.ask(n, "", masked.tolist()) if node in allowed]
    rest = [node for node in candidates[np.argsort(-values[candidates], kind="stable")].tolist() if node not in apart]
    nodes = np.array((apart + rest)[:n], dtype=np.int64)
    return nodes, values[nodes]
