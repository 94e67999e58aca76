"""The exact 20 nearest neighbours of every item, against faiss's exact index."""
from harness import Goal, timed

TITLE = "Exact neighbours"
ABOUT = """The 20 nearest neighbours of all items, the item itself left out (faiss finds it and is asked for 21). faiss
computes in f32 and its index is built in no time; ours gives the neighbours of f64 distances with ties by number."""
PLOT = None
GOALS = [
    Goal("exact graph, 70,000 x 784", "faiss flat", 5, lambda t: t.ratio("784 columns", "faiss flat", "dial", n=70_000)),
    Goal("exact graph, 70,000 x 20", "faiss flat", 2, lambda t: t.ratio("20 columns", "faiss flat", "dial", n=70_000)),
]


def run(bench):
    n = 2000 if bench.quick else 70_000
    bench.rounds = min(bench.rounds, 3)
    for case, pool in [("20 columns", bench.pool("mnist", n, 20, quick_n=n)), ("784 columns", bench.images())]:
        bench.alternate(case, n, {
            "dial": lambda turn: [{"seconds": line["search"]} for line in bench.ours("build", pool, 20)],
            "faiss flat": lambda turn: bench.peer("faiss", pool=pool),
        })


def features(pool):
    import numpy as np
    loaded = np.load(pool)
    return np.ascontiguousarray(loaded if isinstance(loaded, np.ndarray) else loaded["X"], dtype=np.float32)


def peer(side, pool):
    import faiss
    X = features(pool)

    def search():
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X)
        return index.search(X, 21)

    yield {"seconds": timed(search)[1]}
