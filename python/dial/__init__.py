"""Dirichlet Active Learning: label a pool with as few questions as possible.

>>> import numpy as np, dial
>>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 2)) for c in (0, 9)])
>>> session = dial.Session(X, seed=7)
>>> for node in session.ask(4):
...     group = session.tell(node, "near" if node < 50 else "far")
>>> str(session.predict()[99])
'far'

Everything is a row number of ``X`` on the way in and out; labels may be of any hashable type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._dial import METHOD_VERSION
from ._dial import VERSION as __version__

if TYPE_CHECKING:
    from ._errors import DialError, InputError, StateError
    from .classifier import DirichletClassifier
    from .modal import ActiveLearner, dial_sampling
    from .page import Page
    from .pieces import (
        ACQUISITIONS,
        DirichletField,
        acquisition_scores,
        choose,
        classify,
        heat_propagation,
        knn,
        knn_graph,
        poisson_propagation,
    )
    from .pools import Pool, embed, read
    from .session import Advice, Session, open
    from .simulation import simulate

#: Where the names come from. They are imported when they are first used, so that the ``dial`` command starts at once.
_PLACES = {
    "ACQUISITIONS": "pieces",
    "ActiveLearner": "modal",
    "Advice": "session",
    "DialError": "_errors",
    "DirichletClassifier": "classifier",
    "DirichletField": "pieces",
    "InputError": "_errors",
    "Page": "page",
    "Pool": "pools",
    "Session": "session",
    "StateError": "_errors",
    "acquisition_scores": "pieces",
    "choose": "pieces",
    "classify": "pieces",
    "dial_sampling": "modal",
    "embed": "pools",
    "heat_propagation": "pieces",
    "knn": "pieces",
    "knn_graph": "pieces",
    "open": "session",
    "poisson_propagation": "pieces",
    "read": "pools",
    "simulate": "simulation",
}

__all__ = [
    "ACQUISITIONS",
    "METHOD_VERSION",
    "ActiveLearner",
    "Advice",
    "DialError",
    "DirichletClassifier",
    "DirichletField",
    "InputError",
    "Page",
    "Pool",
    "Session",
    "StateError",
    "__version__",
    "acquisition_scores",
    "choose",
    "classify",
    "dial_sampling",
    "embed",
    "heat_propagation",
    "knn",
    "knn_graph",
    "open",
    "poisson_propagation",
    "read",
    "simulate",
]


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'dial' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{place}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
