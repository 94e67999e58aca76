"""Pools and answers that several tests use."""

from __future__ import annotations

import numpy as np

import dial


def two_groups(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two groups of points that nobody can mix up."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], n // 2)
    return rng.normal(size=(n, 3)) + 30.0 * y[:, None], y


def answered(session: dial.Session, y: np.ndarray, questions: int) -> list[int]:
    asked = []
    for _ in range(questions):
        node = int(session.ask()[0])
        session.tell(node, y[node])
        asked.append(node)
    return asked
