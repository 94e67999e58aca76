"""A VOpt step on 50 eigenpairs, against graphlearning."""
from harness import Goal, timed

TITLE = "A VOpt step"
ABOUT = """Which item lowers the sum of all variances most, on the 50 lowest eigenpairs: conditioning on one more label, scores
of all items, and the choice. The peer's own functions `update` and `compute` with its choice by argsort; eigenpairs are
not timed."""
PLOT = None
GOALS = []


def run(bench):
    n = 3000 if bench.quick else 70_000
    graph = bench.graph(bench.pool("mnist", n, 20, quick_n=n))
    steps = 6
    sources = lambda turn: ",".join(str(1 + (turn * steps + step) * 997 % (n - 1)) for step in range(steps))
    bench.rounds = min(bench.rounds, 3)
    bench.alternate("vopt", n, {
        "dial": lambda turn: bench.ours("vopt", graph, 50, sources(turn))[1:],
        "graphlearning": lambda turn: bench.peer("graphlearning", graph=graph, sources=sources(turn))[1:],
    })


def peer(side, graph, sources):
    import graphlearning as gl
    import numpy as np
    from scipy import sparse
    from scipy.sparse.linalg import eigsh
    W = sparse.load_npz(graph).astype(np.float64)
    n = W.shape[0]
    root = sparse.diags(1.0 / np.sqrt(np.asarray(W.sum(axis=1)).ravel()))
    values, V = eigsh((root @ W @ root).tocsr(), 50, which="LA", tol=1e-4, v0=np.ones(n))
    acquisition = gl.active_learning.var_opt(C=np.diag(1.0 / (1.0 - values + 1e-3)), V=V)
    labelled = []

    def step(source):
        labelled.append(source)
        acquisition.update(np.array([source]), None)
        candidates = np.setdiff1d(np.arange(n), labelled)
        return int(candidates[(-acquisition.compute(None, candidates)).argsort()[0]])

    for source in (int(source) for source in sources.split(",")):
        yield {"seconds": timed(lambda: step(source))[1]}
