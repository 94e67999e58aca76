"""What several tests use."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Pool = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


@pytest.fixture
def two_clusters() -> Pool:
    """Two clusters of 40 rows that nobody can mistake for one, and which of them each row is of."""
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(centre, 1.0, (40, 3)) for centre in (0.0, 20.0)]), np.repeat([0, 1], 40)


@pytest.fixture
def four_clusters() -> Pool:
    """Four overlapping clusters of 60 rows, in no order."""
    rng = np.random.default_rng(3)
    of = rng.permutation(np.repeat([0, 1, 2, 3], 60))
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    return centres[of] + rng.normal(size=(240, 2)), of


@pytest.fixture
def sessions_made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The pools of which strategies made a graph, in order."""
    pytest.importorskip("scipy")
    import dial._kept

    made: list[Any] = []

    class Counted(dial._kept.Session):
        def __init__(self, X: Any, *given: Any, **settings: Any) -> None:
            made.append(X)
            super().__init__(X, *given, **settings)

    monkeypatch.setattr(dial._kept, "Session", Counted)
    return made
