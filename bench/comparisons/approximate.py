"""The graph of a large pool by approximate search, against pynndescent and hnswlib at the same recall."""
from harness import Goal, timed
from comparisons.exact import features

TITLE = "Approximate neighbours"
ABOUT = """The 20 neighbours of 1,000,000 items of 32 dimensions in planted clusters. Every side is asked for a recall of at
least 0.98 (settings that reach it: pynndescent n_neighbors = 30, hnswlib M = 16, ef_construction = 200, ef = 100); the
recall is measured on 1,000 items against exact search."""
PLOT = None
GOALS = [
    Goal("approximate graph, 1,000,000 x 32", "pynndescent", 3, lambda t: t.ratio("32 columns", "pynndescent", "dial", n=1_000_000)),
    Goal("approximate graph, 1,000,000 x 32", "hnswlib", 5, lambda t: t.ratio("32 columns", "hnswlib", "dial", n=1_000_000)),
    Goal("recall of it", "exact search", 0.98, lambda t: t.median("32 columns", "dial", "recall", n=1_000_000), unit=""),
]
K, SAMPLE = 20, 1000


def run(bench):
    n = 5000 if bench.quick else 1_000_000
    bench.rounds = min(bench.rounds, 2)
    pool = bench.clusters(n, 32)
    bench.alternate("32 columns", n, {
        "dial": lambda turn: bench.ours("approximate", pool, K),
        "pynndescent": lambda turn: bench.peer("pynndescent", pool=pool),
        "hnswlib": lambda turn: bench.peer("hnswlib", pool=pool),
    })


def peer(side, pool):
    X, search = features(pool), {"pynndescent": descent, "hnswlib": hnsw}[side]
    search(X[:2000])  # pynndescent compiles itself on first use
    found, seconds = timed(lambda: search(X))
    yield {"seconds": seconds, "recall": recall(X, found)}


def descent(X):
    import pynndescent
    return pynndescent.NNDescent(X, n_neighbors=30, random_state=0, n_jobs=-1).neighbor_graph[0][:, 1:K + 1]


def hnsw(X):
    import hnswlib
    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), M=16, ef_construction=200, random_seed=0)
    index.add_items(X)
    index.set_ef(100)
    return index.knn_query(X, k=K + 1)[0][:, 1:]


def recall(X, found):
    import numpy as np
    rows = np.random.default_rng(0).choice(len(X), min(SAMPLE, len(X)), replace=False)
    norms = (X * X).sum(axis=1)
    hits = 0
    for block in np.array_split(rows, max(1, len(rows) // 50)):
        distance = norms[None] - 2 * X[block] @ X.T
        distance[np.arange(len(block)), block] = np.inf
        true = np.argpartition(distance, K, axis=1)[:, :K]
        hits += sum(len(set(true[i]) & set(found[row])) for i, row in enumerate(block))
    return hits / (K * len(rows))
