"""
The module, as Python sees it.
"""

from _typeshed import Incomplete, SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["METHOD_VERSION", "VERSION", "Engine", "Field", "choose", "classify", "command", "embed", "embed_files", "embed_pixels", "knn", "knn_graph", "propagate", "read_pool", "simulate", "weighted"]

METHOD_VERSION: Final[int]
"""
The version of the method: what is asked may only change together with it.
"""

VERSION: Final[str]
"""
The version of this package.
"""

@final
class Engine:
    """
    A project and its session.
    """
    def about(self, /, x: Incomplete | None, new: Incomplete, progress: Any | None = None) -> tuple[list[int], Incomplete, Incomplete, Incomplete]:
        """
        Predictions for new rows, from their neighbours among the rows of the pool.
        """
    def alpha(self, /) -> Incomplete:
        """
        α of every class at every row.
        """
    def ask(self, /, count: SupportsIndex, annotator: str, scores: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None = None, progress: Any | None = None) -> list[tuple[int, float]]:
        """
        Rows to label next, with their scores (NaN for a row that was not chosen by its score), by the rule that every handle
        of a project chooses by; by scores of the caller's own, where they are given.
        """
    def backup(self, /, file: str | PathLike[str]) -> None:
        """
        Copies a project on disk to a file that must not be there.
        """
    def browsers(self, /) -> str:
        """
        The browsers that are signed in to the page, as JSON.
        """
    def classes(self, /) -> list[tuple[int, str]]:
        """
        The live classes: ids and names, in the order of probabilities.
        """
    def close(self, /) -> None:
        """
        Ends everything in order.
        """
    def decide(self, /, decision: str, annotator: str, on_purpose: bool) -> int | None:
        """
        Any decision, as the interface takes it; returns its group. What others did is only taken back on purpose.
        """
    def estimates(self, /) -> str:
        """
        How the project stands, as JSON.
        """
    def evidence(self, /) -> Incomplete:
        """
        The evidence at every row.
        """
    def export(self, /, file: str | PathLike[str], format: str | None, labels_only: bool, original_columns: bool | None = None, progress: Any | None = None) -> None:
        """
        Writes all rows with their labels and, unless only these are wanted, their predictions.
        """
    def graph(self, /) -> tuple[Incomplete, Incomplete, Incomplete]:
        """
        The graph.
        """
    def import_labels(self, /, file: str | PathLike[str] | None, annotator: str | None, skip_unknown: bool, add_classes: bool, progress: Any | None = None) -> str:
        """
        Takes labels from a file, or those of the pool itself, as one group; what was stored, as JSON.
        """
    def keep(self, /, bytes: SupportsGetItem[int, SupportsIndex]) -> None:
        """
        Keeps what Python knows about its labels.
        """
    def kept(self, /) -> bytes | None:
        """
        What was kept.
        """
    def labels(self, /) -> list[tuple[int | None, str, list[tuple[int, float]]]]:
        """
        The labels that stand.
        """
    def last_group(self, /) -> int | None:
        """
        The group of the last answer that stands, whoever gave it.
        """
    def launch_file(self, /) -> str:
        """
        A file that opens the page in a browser: a link would stand in the arguments of the browser, for all to read.
        """
    def n(self, /) -> int:
        """
        Number of rows.
        """
    @staticmethod
    def of_graph(graph: Incomplete, x: Incomplete | None, settings: dict[str, str], classes: SupportsGetItem[int, str], askable: SupportsGetItem[int, bool] | None = None, progress: Any | None = None) -> Engine:
        """
        Begins on a graph; the rows, if they are given, are for propagation that reads them.
        """
    @staticmethod
    def of_rows(x: Incomplete, settings: dict[str, str], classes: SupportsGetItem[int, str], askable: SupportsGetItem[int, bool] | None = None, progress: Any | None = None) -> Engine:
        """
        Builds the graph of rows and begins.
        """
    @staticmethod
    def open(folder: str | PathLike[str], progress: Any | None = None) -> tuple[Engine, list[str]]:
        """
        Opens a project; also gives what is worth saying about its pool.
        """
    def pass_over(self, /, rows: SupportsGetItem[int, SupportsIndex], kind: str, annotator: str) -> int | None:
        """
        Skips, excludes or reopens rows, by the kind of the decision.
        """
    def passed(self, /) -> list[tuple[int, bool]]:
        """
        The rows that were skipped or excluded, the latest first, and whether they are left out.
        """
    def place(self, /) -> tuple[str | None, bool]:
        """
        The folder of a project on disk, and whether its page is open.
        """
    def predict(self, /, progress: Any | None = None) -> Incomplete:
        """
        The class of every row, as an id.
        """
    def predict_proba(self, /) -> Incomplete:
        """
        The probability of every class at every row.
        """
    def records(self, /) -> str:
        """
        The log, as JSON.
        """
    @staticmethod
    def restored(state: tuple[str, SupportsGetItem[int, SupportsIndex], SupportsGetItem[int, SupportsIndex] | None, SupportsGetItem[int, SupportsGetItem[int, SupportsIndex]], SupportsGetItem[int, bool] | None], x: Incomplete | None) -> Engine:
        """
        The session of [`Engine::state`], in memory; the rows, if there are any, are for propagation that reads them.
        """
    def rows(self, /) -> "object":
        """
        A copy of the rows of a project that was opened; nothing for other sessions.
        """
    def save(self, /, folder: str | PathLike[str], x: Incomplete | None = None, progress: Any | None = None) -> None:
        """
        Writes the project into a folder, with the rows it was made of if they are given.
        """
    def scores(self, /) -> Incomplete:
        """
        The score of every row by the acquisition of the session.
        """
    def serve(self, /, port: SupportsIndex, progress: Any | None = None) -> str:
        """
        Opens the page of a project on disk; returns the link.
        """
    def settings(self, /) -> str:
        """
        The settings in force, as JSON, with those that were found for this pool.
        """
    def sign_out(self, /, ids: SupportsGetItem[int, str]) -> str:
        """
        Signs browsers out; those that are left, as JSON.
        """
    def state(self, /) -> tuple[str, bytes, bytes | None, list[bytes], list[bool] | None]:
        """
        Everything that makes this session, to be had again by [`Engine::restored`]: the id of the project, its records, what
        Python keeps, the graph, and the rows that may be asked.
        """
    def status(self, /) -> str:
        """
        The project in numbers, as JSON.
        """
    def stop_serving(self, /) -> None:
        """
        Ends the page; the session has the project again.
        """
    def suspects(self, /) -> list[tuple[int, int, int, float]]:
        """
        Labels that the others contradict, the least probable first: row, class given, class by the others, probability.
        """
    def tell(self, /, told: SupportsGetItem[int, tuple[SupportsIndex, SupportsGetItem[int, tuple[str, SupportsFloat | SupportsIndex]]]], new_classes: SupportsGetItem[int, str], annotator: str, replace: bool, adjudicate: bool, progress: Any | None = None) -> int | None:
        """
        Stores labels, and the classes that are new with them, and follows; returns the group to undo the labels by, none if
        nothing was new.
        """
    def variance(self, /) -> Incomplete:
        """
        The variance at every row.
        """
    def version(self, /) -> int:
        """
        The place of the log that is stored.
        """

@final
class Field:
    """
    A Dirichlet field.
    """
    def __new__(cls, /, n: SupportsIndex, n_classes: SupportsIndex, prior: SupportsFloat | SupportsIndex) -> Field: ...
    def add(self, /, place: SupportsIndex, column: Incomplete, weight: SupportsFloat | SupportsIndex) -> None:
        """
        Adds the evidence of a label of the class at a place.
        """
    def alpha(self, /) -> Incomplete:
        """
        α of every class at every node.
        """
    def evidence(self, /) -> Incomplete:
        """
        The evidence at every node.
        """
    def mean(self, /) -> Incomplete:
        """
        The mean at every node.
        """
    def scores(self, /, settings: dict[str, str]) -> Incomplete:
        """
        The scores of an acquisition that reads the field alone.
        """
    def variance(self, /) -> Incomplete:
        """
        The variance at every node.
        """

def choose(scores: Incomplete, candidates: SupportsGetItem[int, SupportsIndex], settings: dict[str, str], count: SupportsIndex, question: SupportsIndex) -> list[int]:
    """
    Chooses rows by their scores.
    """

def classify(model: str, labels: SupportsGetItem[int, SupportsGetItem[int, SupportsIndex]], settings: dict[str, str], x: Incomplete | None = None, graph: Incomplete | None = None, progress: Any | None = None) -> Incomplete:
    """
    The scores of a classifier of the paper for every class and row, from labels given as rows of every class.
    """

def command(arguments: SupportsGetItem[int, str]) -> int:
    """
    Runs the `dial` command and returns its exit code.
    """

def embed(texts: SupportsGetItem[int, str], model: str | PathLike[str], keep: str | PathLike[str] | None = None, progress: Any | None = None) -> "object":
    """
    Embeddings of texts by a model, a row for each; kept in a folder, if one is named.
    """

def embed_files(files: SupportsGetItem[int, str | PathLike[str]], model: str | PathLike[str], keep: str | PathLike[str] | None = None, progress: Any | None = None) -> "object":
    """
    Embeddings of picture files by a model, a row for each; kept in a folder, if one is named.
    """

def embed_pixels(pixels: Incomplete, model: str | PathLike[str], keep: str | PathLike[str] | None = None, progress: Any | None = None) -> "object":
    """
    Embeddings of pictures by a model, a row for each, from an array of pictures x height x width x 3 of bytes.
    """

def knn(x: Incomplete, settings: dict[str, str], progress: Any | None = None) -> tuple[Incomplete, Incomplete]:
    """
    The neighbours of every row (-1 where there are none) and how far away they are.
    """

def knn_graph(x: Incomplete, settings: dict[str, str], progress: Any | None = None) -> tuple[Incomplete, Incomplete, Incomplete]:
    """
    The graph of rows.
    """

def propagate(graph: Incomplete, sources: SupportsGetItem[int, SupportsIndex], settings: dict[str, str], progress: Any | None = None) -> Incomplete:
    """
    What labels at some nodes say about every node: a row for each source.
    """

def read_pool(place: str, options: dict[str, str], progress: Any | None = None) -> "dict[str, object]":
    """
    Reads a pool: a file, a folder or `builtin:NAME`. Options are words, as on the command line.
    """

def simulate(x: Incomplete, wish: Incomplete, settings: dict[str, str], progress: Any | None = None) -> "dict[str, object]":
    """
    Plays every method; returns a table as a dict of arrays, a row for each question.
    """

def weighted(ids: Incomplete, distances: Incomplete, settings: dict[str, str]) -> tuple[Incomplete, Incomplete, Incomplete]:
    """
    The graph of neighbours that are known, nearest first: their rows, and how far away they are.
    """
