"""The pieces by themselves, against dense NumPy, and simulations against the command."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dial

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))


def dense_graph(values: np.ndarray, k: int) -> np.ndarray:
    D2 = ((values[:, None] - values[None]) ** 2).sum(axis=2)
    np.fill_diagonal(D2, -1)
    near = D2.argsort(axis=1, kind="stable")[:, 1 : k + 1]
    A = np.zeros_like(D2)
    for i in range(len(values)):
        A[i, near[i]] = np.exp(-4 * D2[i, near[i]] / D2[i, near[i, -1]])
    # Edge weights are float32 by definition.
    return ((A + A.T) / 2).astype(np.float32).astype(np.float64)


def test_neighbours_are_the_nearest() -> None:
    ids, distances = dial.knn(X, 4)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(D, np.inf)
    assert np.array_equal(ids, D.argsort(axis=1, kind="stable")[:, :4])
    assert np.allclose(distances, np.sort(D, axis=1)[:, :4])
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.array_equal(dial.knn(X, 4, metric="cosine")[0], dial.knn(unit, 4)[0])


def test_the_graph_is_that_of_the_formula() -> None:
    W = dial.knn_graph(X, 5)
    assert np.allclose(W.toarray(), dense_graph(X, 5), rtol=1e-12)
    again = dial.knn_graph(neighbours=dial.knn(X, 5))
    assert np.allclose(again.toarray(), W.toarray(), rtol=1e-6)
    sparse = pytest.importorskip("scipy.sparse")
    ids, away = dial.knn(X, 5)
    distances = sparse.csr_array((away.ravel(), ids.ravel(), np.arange(0, 201, 5)), shape=(40, 40))
    assert np.allclose(dial.knn_graph(distances).toarray(), W.toarray(), rtol=1e-6)


def test_propagation_is_the_inverse() -> None:
    W = dense_graph(X, 5)
    L = np.diag(W.sum(axis=1)) - W
    G = np.linalg.inv(L + 0.1 * np.eye(40))
    K = (G - G.min(axis=1, keepdims=True)) / (np.diag(G) - G.min(axis=1))[:, None]
    assert np.allclose(dial.poisson_propagation(W, [0, 7], 0.1), K[[0, 7]], atol=1e-7)
    scipy = pytest.importorskip("scipy.linalg")
    H = scipy.expm(-0.7 * L)
    heat = dial.heat_propagation(W, [7], 0.7)[0]
    assert heat[7] == pytest.approx(1.0) and np.argsort(heat)[::-1][:5].tolist() == np.argsort(H[7])[::-1][:5].tolist()
    with pytest.raises(dial.InputError):
        dial.poisson_propagation(W, [40])


def test_the_field_adds_up() -> None:
    field = dial.DirichletField(40, 3, prior=0.5)
    columns = RNG.random((4, 40))
    for c, column in zip([0, 1, 2, 0], columns):
        field.add(c, column)
    alpha = 0.5 + np.stack([columns[0] + columns[3], columns[1], columns[2]], axis=1)
    beta = alpha.sum(axis=1)
    p = alpha / beta[:, None]
    assert np.allclose(field.alpha(), alpha) and np.allclose(field.mean(), p)
    assert np.allclose(field.evidence(), beta - 1.5)
    variance = (p * (1 - p)).sum(axis=1) / (beta + 1)
    assert np.allclose(field.variance(), variance)
    top = np.sort(p, axis=1)
    for name, wanted in {
        "variance": variance,
        "margin": -(top[:, -1] - top[:, -2]),
        "margin-range": -(top[:, -1] - top[:, 0]),
        "entropy": -(p * np.log(p)).sum(axis=1),
        "least-confidence": 1 - top[:, -1],
        "norm": -np.sqrt((p**2).sum(axis=1)),
    }.items():
        assert np.allclose(dial.acquisition_scores(field, name), wanted), name
    assert len(set(dial.acquisition_scores(field, "random", seed=1))) == 40
    with pytest.raises(ValueError):
        field.add(3, columns[0])
    with pytest.raises(ValueError):
        dial.DirichletField(4, 2, prior=0.0)


def test_policies_choose() -> None:
    scores = np.array([0.1, 0.9, 0.5, 0.9])
    assert dial.choose(scores).tolist() == [1]
    assert dial.choose(scores, 3).tolist() == [1, 3, 2]
    assert dial.choose(scores, candidates=[0, 2]).tolist() == [2]
    drawn = [dial.choose(scores, policy="proportional", sharpness=0.0, seed=seed)[0] for seed in range(400)]
    # With sharpness 0 all are alike: 100 of each are expected, with a standard deviation of 8.7.
    assert all(abs(drawn.count(row) - 100) < 45 for row in range(4))
    sharp = {int(dial.choose(scores, policy="proportional", sharpness=200.0, seed=seed)[0]) for seed in range(50)}
    assert sharp == {1, 3}
    with pytest.raises(dial.StateError):
        dial.choose(scores, candidates=[])


def test_laplace_learning_is_harmonic() -> None:
    W = dense_graph(X, 5)
    labelled, labels = [0, 9, 20, 33], ["a", "b", "a", "b"]
    classes, scores = dial.classify(labelled, labels, graph=W)
    assert classes.tolist() == ["a", "b"]
    L = np.diag(W.sum(axis=1)) - W
    rest = np.setdiff1d(np.arange(40), labelled)
    onehot = np.array([[label == c for c in classes] for label in labels], dtype=float)
    wanted = np.linalg.solve(L[np.ix_(rest, rest)], -L[np.ix_(rest, labelled)] @ onehot)
    assert np.array_equal(scores[rest].argmax(axis=1), wanted.argmax(axis=1))
    nearest = dial.classify(labelled, labels, X=X, model="nearest")[1]
    D = ((X[:, None] - X[labelled][None]) ** 2).sum(axis=2)
    assert np.array_equal(classes[nearest.argmax(axis=1)], np.array(labels)[D.argmin(axis=1)])
    for model in ("poisson", "reweighted", "logistic", "land"):
        assert dial.classify(labelled, labels, X=X, model=model)[1].shape == (40, 2)
    with pytest.raises(dial.InputError):
        dial.classify(labelled, labels, graph=W, model="nearest")


def test_pools_are_read() -> None:
    digits = dial.read("builtin:digits")
    assert digits.X.ndim == 2 and digits.labels is not None and len(digits.y) == len(digits.X)
    scene = dial.read("builtin:scene")
    assert scene.scene is not None and scene.pixels is not None and len(scene.pixels) == len(scene.X)
    with pytest.raises(dial.InputError, match="lable_column"):
        dial.read("builtin:digits", lable_column="y")
    with pytest.raises(dial.InputError) as error:
        dial.read("nothing.npy")
    assert error.value.code == "I5"


def test_tables_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b,kind\n" + "".join(f"x{i},{i},{i % 3},{'uv'[i % 2]}\n" for i in range(9)))
    pool = dial.read(tmp_path / "t.csv", label_column="kind", standardize=False)
    assert pool.ids == [f"x{i}" for i in range(9)] and pool.classes == ["u", "v"]
    assert pool.X[:, 0].tolist() == list(range(9)) and pool.y.tolist() == ["u", "v"] * 4 + ["u"]


def test_rows_of_length_zero_are_dropped_where_a_pool_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "zeros.npy", np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    pool = dial.read(tmp_path / "zeros.npy", drop_zero_rows=True)
    assert pool.X.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] and "length zero" in " ".join(pool.notes)
    with pytest.raises(dial.InputError, match="drop_zero_rows=True"):
        dial.Session(dial.read(tmp_path / "zeros.npy").X, k=1, metric="cosine")


def test_simulations_are_those_of_the_command(tmp_path: Path) -> None:
    y = np.arange(60) % 3
    values = RNG.normal(size=(60, 4)) + 6.0 * np.eye(4)[y]
    np.save(tmp_path / "pool.npy", values)
    np.save(tmp_path / "labels.npy", y)
    words = ["--acquisition", "auto,margin", "--policy", "max,proportional", "--queries", "6", "--trials", "2", "--seed", "4"]
    line = [sys.executable, "-m", "dial", "--quiet", "simulate", "pool.npy", "--labels", "labels.npy", *words, "--out", "runs.csv"]
    subprocess.run(line, cwd=tmp_path, check=True)
    table = dial.simulate(
        values, y, acquisition=["auto", "margin"], policy=["max", "proportional"], queries=6, trials=2, seed=4, frame="dict"
    )
    with open(tmp_path / "runs.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(table["trial"]) == 2 * 2 * 2 * 7
    for place, row in enumerate(rows):
        for name in ("trial", "seed", "acquisition", "policy", "model", "query", "labelled", "clusters_found"):
            assert str(table[name][place]) == row[name], name
        assert table["node"][place] == int(row["node"] or -1)
        assert str(table["class"][place] if row["class"] else "") == row["class"]
        assert table["accuracy"][place] == float(row["accuracy"])


def test_simulations_as_tables_and_what_they_refuse() -> None:
    y = np.arange(40) % 2
    values = RNG.normal(size=(40, 2)) + 9.0 * y[:, None]
    unknown = np.where(np.arange(40) < 5, -1, y)
    table = dial.simulate(values, unknown, queries=3, trials=1, initial="none", model=["dirichlet", "laplace"], frame="dict")
    assert not set(table["node"]) & set(range(5)) and set(table["model"]) == {"dirichlet", "laplace"}
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert isinstance(dial.simulate(values, y, queries=2, trials=1, frame="pandas"), pandas.DataFrame)
    assert isinstance(dial.simulate(values, y, queries=2, trials=1, frame="polars"), polars.DataFrame)
    masked = dial.simulate(values, y, queries=2, trials=1, initial=np.arange(40) % 20 == 3)
    assert set(masked["node"][1:]).isdisjoint({3, 23}) and masked["labelled"][0] == 2
    for wrong in ({"initial": "some"}, {"queries": -1}, {"seed": -1}, {"acquisition": [len]}, {"acquisition": "vibes"}, {"frame": "arrow"}, {"noise": 2.0}):
        with pytest.raises(ValueError):
            dial.simulate(values, y, **{"queries": 2, "trials": 1, **wrong})  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        dial.simulate(values, y[:3])
