"""A labelling session: ask, tell and predict."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arrays import Numbers, csr, features, fingerprint, rows_of, settings
from ._believing import Advice, Believing, Nodes, OwnAcquisition
from ._dial import Engine
from ._errors import InputError, whole
from ._labels import Classes, as_list, is_missing, key, plain
from ._progress import Progress, reporting

if TYPE_CHECKING:
    from .page import Page

__all__ = ["Advice", "Nodes", "OwnAcquisition", "Session", "open"]

#: A project is a folder whose name ends so.
ENDING = ".dial"

#: The default of :meth:`Session.undo`: the last answer.
LAST = -1


class Session(Believing):
    """Asks for the labels that tell most, and believes the rest.

    Parameters
    ----------
    X : array of shape (rows, columns), or a table of numbers
        The pool. float32 and float64 in C order are used where they lie, without a copy; everything else is converted
        once. Not needed if a ``graph`` is given.
    classes : sequence of labels, optional
        All possible labels. Without it a label becomes known when it is first told; with it others are refused until
        :meth:`add_class`.
    k : int, default 20
        Neighbours of each row; by default fewer in a tiny pool.
    metric : {"euclidean", "cosine"}, default "euclidean"
        How distances are measured.
    tau : float or str, default "0.03xdegree" with auto, else 0.1
        How far labels reach: a number, or ``"0.1xdegree"`` for a multiple of the mean degree.
    prior : float or str, default "auto"
        The prior strength: ``"auto"``, a number, ``"calibrated"`` or ``"calibrated-raw"``.
    acquisition : str or callable, default "auto"
        ``"auto"`` (no settings, the best we know), ``"variance"`` (the paper's), ``"margin"``,
        ``"margin-range"``, ``"entropy"``, ``"least-confidence"``, ``"norm"``, ``"random"``; or a function that turns alpha
        (rows x classes) into a score for every row.
    policy : {"max", "proportional", "uniform"}, default "max"
        How a row is chosen from the scores.
    sharpness : float or str, default "auto"
        Of the proportional policy: ``"auto"``, a number, or ``"schedule:L0,P"``.
    weights : {"self-tuning", "symmetric", ...}, default "symmetric" with auto, else "self-tuning"
        How distances become weights.
    search : {"auto", "exact", "approximate"}, default "auto"
        How neighbours are found.
    propagation : str, default "poisson"
        How labels spread: ``"poisson"`` (the paper's) or ``"heat"`` on the graph, ``"rbf"`` or ``"compact"`` on the rows. The
        last three may have their parameter behind a colon: ``"heat:3"`` (time), ``"rbf:0.5"`` (width). ``auto`` needs poisson;
        with the others the default acquisition is ``"variance"``.
    source_value : float, default 1.0
        How many observations a label counts for.
    precision : {"faithful", "certified"}, default "faithful"
        How labels are spread: as in the paper, or by local solves with a proven bound, for large pools. There the default
        acquisition is ``"variance"`` with the settings of the paper: ``auto`` takes a solve over the whole pool a question.
    tolerance : float, optional
        The bound that certified solves stop at, above 0 and at most 1.
    calibration : {"off", "on"}, default "on" with auto, else "off"
        How classes and probabilities are read: as in the paper, or classes balanced and probabilities calibrated on the
        labels.
    expected_clusters : int, optional
        An overestimate of the number of clusters.
    zero_vectors : {"error", "isolate"}, default "error"
        What becomes of rows of length zero under cosine.
    askable : array of bool, or of row numbers, optional
        The rows that may be asked; all, if not given.
    graph : sparse matrix, optional
        Symmetric weights between the rows, in place of one made from ``X``.
    seed : int, default 0
        The same seed asks the same questions as Rust and the command.
    progress : callable or True, optional
        Called with (stage, done, steps) now and then; True shows a bar if tqdm is installed.

    Examples
    --------
    >>> import numpy as np, dial
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 9)])
    >>> session = dial.Session(X, ["near", "far"], seed=7)
    >>> while len(session.labelled) < 6:
    ...     node = session.ask()[0]
    ...     group = session.tell(node, "near" if node < 50 else "far")
    >>> bool((session.predict()[:50] == "near").all())
    True
    """

    def __init__(
        self,
        X: Any = None,
        classes: Iterable[Hashable] | None = None,
        *,
        k: int | None = None,
        metric: str | None = None,
        tau: float | str | None = None,
        prior: float | str | None = None,
        acquisition: str | OwnAcquisition | None = None,
        policy: str | None = None,
        sharpness: float | str | None = None,
        weights: str | None = None,
        search: str | None = None,
        propagation: str | None = None,
        source_value: float | None = None,
        precision: str | None = None,
        tolerance: float | None = None,
        calibration: str | None = None,
        expected_clusters: int | None = None,
        zero_vectors: str | None = None,
        askable: npt.ArrayLike | None = None,
        graph: Any = None,
        seed: int | None = None,
        progress: Progress = None,
    ) -> None:
        self._own = acquisition if callable(acquisition) else None
        words = settings(
            k=k,
            metric=metric,
            tau=tau,
            prior=prior,
            acquisition="variance" if callable(acquisition) else acquisition,
            policy=policy,
            sharpness=sharpness,
            weights=weights,
            search=search,
            propagation=propagation,
            source_value=source_value,
            precision=precision,
            tolerance=tolerance,
            calibration=calibration,
            expected_clusters=expected_clusters,
            zero_vectors=zero_vectors,
            seed=None if seed is None else whole(seed, "seed", 0, 2**64 - 1),
        )
        self._X = None if X is None else features(X)
        self._progress = progress
        #: What was noticed when the project was opened.
        self.notes: list[str] = []
        self._classes = Classes(closed=classes is not None)
        named = _named(() if classes is None else classes)
        names = [name for _, name in named]
        matrix = None if graph is None else csr(graph)
        n = len(self._X) if matrix is None and self._X is not None else 0 if matrix is None else len(matrix["indptr"]) - 1
        if matrix is not None and self._X is not None and len(self._X) != n:
            raise InputError(f"a graph of {n} rows for an X of {len(self._X)}. Give both for the same rows.", "I3", "input")
        mask = None if askable is None else _mask(askable, n)
        self._classes.remember(named)
        with reporting(progress) as report:
            if matrix is not None:
                self._engine = Engine.of_graph(matrix, self._X, words, names, mask, report)
            elif self._X is not None:
                self._engine = Engine.of_rows(self._X, words, names, mask, report)
            else:
                raise InputError("give X, or a graph.", "U1", "usage")
        self._ready()

    def _ready(self) -> None:
        """The rest of what makes a session."""
        self._lock = threading.RLock()
        self._print = None if self._X is None else fingerprint(self._X)
        _sessions.add(self)
        self._refresh()
        if self._engine.place()[0] is None:
            self._keep()

    # Asking and telling

    def ask(self, n: int = 1, annotator: str | None = None, *, progress: Progress = None) -> Nodes:
        """The rows to label next, the best first. Asking changes nothing: ask again and get the same.

        Parameters
        ----------
        n : int
            How many.
        annotator : str, optional
            Who will answer. In a project where several people label each row, or where some rows are drawn at random to
            measure the accuracy, the answer depends on it, as on the page and in ``dial ask``.

        Examples
        --------
        >>> import numpy as np, dial
        >>> session = dial.Session(np.arange(60.0).reshape(30, 2))
        >>> len(session.ask(3))
        3
        """
        return self.ask_with_scores(n, annotator, progress=progress)[0]

    def ask_with_scores(self, n: int = 1, annotator: str | None = None, *, progress: Progress = None) -> tuple[Nodes, Numbers]:
        """As :meth:`ask`, and the scores of the rows. A row that was not chosen by its score, but for another opinion or at
        random, has NaN."""
        n = whole(n, "n", 1)
        self._refresh()
        own = self._own is not None and len(self._classes.live) >= 2
        scores = np.asarray(self.scores(), dtype=np.float64).tolist() if own else None
        with reporting(self._progress if progress is None else progress) as report:
            found = self._engine.ask(n, annotator or "", scores, report)
        nodes = np.array([node for node, _ in found], dtype=np.int64)
        return nodes, np.array([score for _, score in found], dtype=np.float64)

    def tell(
        self,
        nodes: npt.ArrayLike,
        labels: Any,
        weight: float | npt.ArrayLike = 1.0,
        annotator: str | None = None,
        *,
        replace: bool = False,
        adjudicate: bool = False,
        progress: Progress = None,
    ) -> int | None:
        """Tells the labels of rows; returns the group to :meth:`undo` them by, or None if nothing was new.

        Parameters
        ----------
        nodes : int or array of int
            Row numbers.
        labels : label or sequence of labels
            One for each row, or one for all. A dict of labels with weights is a soft label. None, NaN and -1 (unless it
            is one of the classes) mean unlabelled, and are skipped.
        weight : float or array
            How much they count, above 0 and at most 1.
        annotator : str, optional
            Who says so. Labels of several people count beside each other.
        replace : bool
            Takes the place of what the same annotator said before; else another answer for the same row is refused.
        adjudicate : bool
            Decides between differing answers: of all labels of a row only this one counts. Includes ``replace``.
        """
        rows = rows_of(nodes, self.n)
        with self._lock:
            self._refresh()
            given = as_list(labels, len(rows), np.ndim(nodes) == 0, self._classes)
            told = [(row, parts) for row, parts in zip(rows, self._parts(given, weight)) if parts]
            if not told:
                return None
            new = self._new(part for _, parts in told for part, _ in parts)
            names = {key(label): name for label, name in new}
            named = [(row, [(names.get(key(part)) or self._name(part), share) for part, share in parts]) for row, parts in told]
            # Before they are sent: an interruption here leaves the labels unchanged.
            self._classes.remember(new)
            try:
                with reporting(self._progress if progress is None else progress) as report:
                    return self._engine.tell(named, [name for _, name in new], annotator or "", replace, adjudicate, report)
            finally:
                if new:
                    self._refresh()
                    self._keep()

    def _parts(self, labels: list[Any], weight: Any) -> list[list[tuple[Any, float]]]:
        """Labels as parts with weights, without those that mean unlabelled."""
        try:
            weights = np.asarray(weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"weight={weight!r} is no number.", "I12", "input") from None
        if weights.shape not in ((), (len(labels),)):
            raise InputError(f"weights of the shape {weights.shape} for {len(labels)} rows. Give one for each.", "I3", "input")
        found = []
        for label, share in zip(labels, np.broadcast_to(weights, (len(labels),))):
            parts = [(plain(part), w) for part, w in label.items()] if isinstance(label, dict) else [(label, 1.0)]
            found.append([(part, float(w) * float(share)) for part, w in parts if not self._classes.is_unlabelled(part)])
        return found

    def _new(self, labels: Iterable[Any]) -> list[tuple[Hashable, str]]:
        """The labels that are not known, with names for their classes; refused if the classes were named."""
        new = {key(label): label for label in labels if self._classes.find(label) is None}
        if new and self._classes.closed:
            known = ", ".join(repr(label) for label in self._classes.labels)
            raise InputError(
                f"there is no class {next(iter(new.values()))!r}. Nothing was changed. The classes are {known}; add one with "
                "add_class.",
                "I12",
                "input",
            )
        return self._classes.names_for(new.values())

    def undo(self, group: int | None = LAST, annotator: str | None = None) -> None:
        """Takes back a group of labels, or the last answer: of anybody, or of an annotator. A group of None is nothing."""
        if group == LAST and annotator is None:
            last = self._engine.last_group()
            group = LAST if last is None else last
        self._back("undo", group, annotator)

    def redo(self, group: int | None = LAST, annotator: str | None = None) -> None:
        """Brings back what was undone: a group, or the latest of an annotator (of the decisions without one, if none is named)."""
        self._back("redo", group, annotator)

    def _back(self, way: str, group: int | None, annotator: str | None) -> None:
        if group is not None:
            self._decide({"kind": way, "group": None if group == LAST else group}, annotator, group != LAST)

    def skip(self, nodes: npt.ArrayLike, annotator: str | None = None) -> int | None:
        """Does not ask for these rows again; returns the group to :meth:`undo` that by."""
        return self._pass(nodes, "skip", annotator)

    def exclude(self, nodes: npt.ArrayLike, annotator: str | None = None) -> int | None:
        """Leaves these rows out: not asked, their labels do not count. Returns the group to :meth:`undo` that by."""
        return self._pass(nodes, "exclude", annotator)

    def reopen(self, nodes: npt.ArrayLike, annotator: str | None = None) -> int | None:
        """Reopens rows that were skipped or excluded; returns the group to :meth:`undo` that by."""
        return self._pass(nodes, "reopen", annotator)

    def _pass(self, nodes: npt.ArrayLike, kind: str, annotator: str | None) -> int | None:
        rows = rows_of(nodes, self.n)
        return self._engine.pass_over(rows, kind, annotator or "") if rows else None

    def passed(self) -> dict[str, Any]:
        """The rows that were skipped or excluded, the latest first: node, and whether they are excluded."""
        found = self._engine.passed()
        return {
            "node": np.array([node for node, _ in found], dtype=np.int64),
            "excluded": np.array([excluded for _, excluded in found], dtype=bool),
        }

    def add_class(self, label: Hashable) -> None:
        """Adds a class that was not met yet."""
        self._submit_class(plain(label), lambda name: {"kind": "add-class", "name": name})

    def rename_class(self, label: Hashable, new: Hashable) -> None:
        """Gives a class another label; all its labels stay."""
        number = self._known(label)
        self._submit_class(plain(new), lambda name: {"kind": "rename-class", "class": number, "name": name})

    def _submit_class(self, label: Hashable, decision: Callable[[str], Any]) -> None:
        with self._lock:
            self._refresh()
            if is_missing(label):
                raise InputError(f"{label!r} means that there is no label. Choose another.", "I12", "input")
            if self._classes.find(label) is not None:
                raise InputError(f"{label!r} is a class already. merge_classes makes one of two.", "I12", "input")
            new = self._classes.names_for([label])
            self._classes.remember(new)
            try:
                self._decide(decision(new[0][1]), None)
            finally:
                self._refresh()
                self._keep()

    def merge_classes(self, source: Hashable, into: Hashable) -> None:
        """Counts all labels of one class for another from now on."""
        with self._lock:
            change = {"kind": "merge-class", "from": self._known(source), "into": self._known(into)}
            self._classes.merge(plain(source), plain(into))
            self._decide(change, None)
            self._refresh()

    def delete_class(self, label: Hashable) -> None:
        """Deletes a class and its labels; rows without another label are asked again. To keep the labels,
        :meth:`merge_classes`."""
        with self._lock:
            self._decide({"kind": "delete-class", "class": self._known(label)}, None)
            self._refresh()

    def order_classes(self, labels: Iterable[Hashable]) -> None:
        """The order in which people see the classes on the page: these first. ``classes_`` and arrays keep theirs."""
        self._decide({"kind": "order-classes", "classes": [self._known(label) for label in labels]}, None)

    def style_class(self, label: Hashable, colour: str, key: str = "") -> None:
        """Gives a class another colour (``"#rrggbb"``) and key on the labelling page."""
        self._decide({"kind": "style-class", "class": self._known(label), "colour": colour, "key": key}, None)

    def set_weight(self, annotator: str, weight: float) -> None:
        """How much the labels of an annotator count beside those of others on the same row: a number above 0."""
        self._decide({"kind": "weight", "annotator": annotator, "weight": float(weight)}, None)

    def resolve(self, conflict: int) -> None:
        """Keeps the existing label where an answer conflicts with it (``status()["conflicts"]``)."""
        self._decide({"kind": "resolve", "conflict": int(conflict)}, None)

    def _known(self, label: Hashable) -> int:
        self._refresh()
        number = self._classes.find(plain(label))
        if number is None:
            known = ", ".join(repr(label) for label in self._classes.labels)
            raise InputError(f"there is no class {label!r}. The classes are {known}.", "I12", "input")
        return number

    def _name(self, label: Any) -> str:
        name = self._classes.name(label)
        assert name is not None
        return name

    def _decide(self, decision: dict[str, Any], annotator: str | None, on_purpose: bool = False) -> None:
        """Sends a decision as the interface of the server takes it."""
        self._engine.decide(json.dumps(decision), annotator or "", on_purpose)

    def _refresh(self) -> None:
        with self._lock:
            self._classes.refresh(self._engine.classes())

    def _keep(self) -> None:
        own = None if self._own is None else str(getattr(self._own, "__name__", "own"))
        self._engine.keep(self._classes.to_bytes(own))

    # Keeping

    def save(self, path: str | os.PathLike[str], *, progress: Progress = None) -> Path:
        """Writes the session into a project folder (``NAME.dial``), which the command and the page can go on with.

        The rows go with it. Saving again to the same folder adds what is new; the session itself stays in memory. To have
        every label on disk at once, go on with ``dial.open(path)``.
        """
        folder = _folder(path)
        with reporting(self._progress if progress is None else progress) as report:
            self._engine.save(folder, None if self.path else self._rows(), report)
        return folder

    def _rows(self) -> Any:
        if self._X is None:
            raise InputError("a session that was made of a graph has no rows to save. Make it of X.", "U1", "usage")
        if fingerprint(self._X) != self._print:
            raise InputError("X has changed since the graph was made of it. Make a new session of it.", "U1", "usage")
        return self._X

    def serve(self, path: str | os.PathLike[str] | None = None, *, port: int = 0, browser: bool = True) -> Page:
        """Opens the labelling page; what is labelled there is known here at once.

        A session in memory is first saved to ``path`` (``session.dial`` in this folder, if not given) and goes on from there.
        """
        from .page import Page

        port = whole(port, "port", 0, 65535)
        if self.path is None:
            folder = self.save(path if path is not None else _free())
            self._engine = _opened(folder, self._progress)[0]
        return Page(self._engine, self._engine.serve(port), browser)

    def status(self) -> dict[str, Any]:
        """The project in numbers: items, labels by class and by annotator, answers that wait, disagreements."""
        status: dict[str, Any] = json.loads(self._engine.status())
        return status

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        labels_only: bool = False,
        original_columns: bool | None = None,
        progress: Progress = None,
    ) -> Path:
        """Writes all rows with their labels and predictions, as ``dial export`` does: csv, jsonl, npz,
        parquet or the maps of a scene (zip), by the ending of the file or as ``format`` says. The columns of
        the pool's own file come with them where it is a table or has texts, or as ``original_columns`` says."""
        with reporting(self._progress if progress is None else progress) as report:
            self._engine.export(Path(path), format, labels_only, original_columns, report)
        return Path(path)

    def import_labels(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        annotator: str | None = None,
        skip_unknown: bool = False,
        add_classes: bool = False,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Takes labels from a file as one group, as ``dial import`` does, or without a path those that the pool itself has;
        returns what was stored. Labels that contradict each other are all kept, as those of different annotators."""
        with reporting(self._progress if progress is None else progress) as report:
            file = None if path is None else Path(path)
            text = self._engine.import_labels(file, annotator, skip_unknown, add_classes, report)
        self._refresh()
        imported: dict[str, Any] = json.loads(text)
        return imported

    def backup(self, path: str | os.PathLike[str]) -> Path:
        """Copies a project on disk to a file that must not be there; ``dial restore`` makes a project of it."""
        self._engine.backup(Path(path))
        return Path(path)

    def browsers(self) -> list[dict[str, Any]]:
        """The browsers that are signed in to the page, the one used last first: the ``id`` of each, the ``browser`` in words,
        and when it signed in (``made``) and was ``used``, in milliseconds since 1970."""
        browsers: list[dict[str, Any]] = json.loads(self._engine.browsers())
        return browsers

    def sign_out(self, ids: str | Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Signs browsers out by their ids (:meth:`browsers`), or all of them; returns those that are left. What a browser
        could not save yet stays in it."""
        known = [browser["id"] for browser in self.browsers()]
        wanted = known if ids is None else [ids] if isinstance(ids, str) else list(ids)
        for id in wanted:
            if id not in known:
                raise InputError(f"no browser {id!r} is signed in. Nothing was ended. See session.browsers().", "I12", "input")
        left: list[dict[str, Any]] = json.loads(self._engine.sign_out(wanted))
        return left

    def close(self) -> None:
        """Ends the page, if it is open, and gives the project up for others. Nothing is lost without it."""
        self._engine.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._engine.state(), self._all_rows(), self._own, self._classes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Session:
        # The rows are only read, so both may use them.
        import copy

        return _restored(self._engine.state(), self._all_rows(), self._own, copy.deepcopy(self._classes, memo))

    def _all_rows(self) -> Any:
        return self._engine.rows() if self._X is None else self._X

    def __copy__(self) -> Session:
        return self.__deepcopy__({})


def open(path: str | os.PathLike[str], *, progress: Progress = None) -> Session:
    """Opens a project: that of :meth:`Session.save`, of the command or of the page.

    The session has the project until it is closed (``with dial.open(path) as session``), and every label is on disk when
    :meth:`Session.tell` returns. A project that another process has, such as ``dial serve``, is refused with a
    :class:`StateError` that names the process. What is worth knowing about the pool is in ``session.notes``.
    """
    engine, notes = _opened(_folder(path), progress)
    classes = Classes(closed=True)
    own = classes.read(engine.kept())
    session = _bare(engine, None, None, classes)
    session._progress = progress
    session.notes = notes + ([f"it asked by {own}, a function of yours, and asks by variance now."] if own else [])
    return session


def _opened(folder: Path, progress: Progress) -> tuple[Engine, list[str]]:
    with reporting(progress) as report:
        return Engine.open(folder, report)


def _bare(engine: Engine, X: Any, own: OwnAcquisition | None, classes: Classes) -> Session:
    session = Session.__new__(Session)
    session._engine, session._X, session._own, session._classes, session._progress = engine, X, own, classes, None
    session.notes = []
    session._ready()
    return session


#: The sessions of this process, whose locks a fork must not take along.
_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _after_fork() -> None:
    for session in list(_sessions):
        session._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _restored(state: Any, X: Any, own: OwnAcquisition | None, classes: Classes) -> Session:
    """A session from what was pickled, in memory."""
    return _bare(Engine.restored(state, X), X, own, classes)


def _named(labels: Iterable[Hashable]) -> list[tuple[Hashable, str]]:
    """Labels with the names of their classes, each once."""
    given = [plain(label) for label in labels]
    for label in given:
        if is_missing(label):
            raise InputError(f"{label!r} means that there is no label. Leave it out of the classes.", "I12", "input")
    return Classes(closed=False).names_for({key(label): label for label in given}.values())


def _folder(path: str | os.PathLike[str]) -> Path:
    folder = Path(path).expanduser()
    return folder if folder.name.endswith(ENDING) else folder.with_name(folder.name + ENDING)


def _free() -> Path:
    """A name for a project in this folder that is not taken."""
    number = 1
    while (folder := Path(f"session{'' if number == 1 else f'-{number}'}{ENDING}")).exists():
        number += 1
    return folder


def _mask(askable: npt.ArrayLike, n: int) -> list[bool]:
    rows = rows_of(askable, n)
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return [bool(truth) for truth in mask]
