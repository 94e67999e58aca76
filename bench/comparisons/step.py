"""One step, label in to next question out, against the number of items.

The peer is graphlearning, used as DiAL's authors use it: our own restatement of the published loop with the package's
functions graph(W), .laplacian() and utils.conjgrad, to an absolute residual of 1e-9, as our faithful precision. Timed: the
Laplacian rebuilt at every label, the solve, the update of the counts, the Dirichlet variance, and the choice by setdiff1d
and argsort. Not timed: building graph(W).
"""
from harness import Goal, timed

TITLE = "A step: label in, next question out"
ABOUT = """Poisson propagation with tau = 0.1 on the exact graph of 20 neighbours of codes of MNIST images (20 dimensions), three
classes. *faithful* solves to a true residual of 1e-9, as the peer does; *certified* bounds the error of every value (by
0.001 and what the module `local` adds) and touches only what a label reaches; *ready* is the certified step when the
column was made while the person looked at the item."""
PLOT = {"measure": "seconds", "label": "seconds a step", "one_case": True}
TAU, TOLERANCE = 0.1, 1e-9

GOALS = [
    Goal("faithful step, n = 70,000", "graphlearning", 4, lambda t: t.ratio("step", "graphlearning", "dial faithful", n=70_000),
         "some 20 sweeps over 2 million entries, bound by gathers from cache"),
    Goal("certified step, n = 70,000", "graphlearning", 100,
         lambda t: t.ratio("step", "graphlearning", "dial certified", n=70_000),
         "some 250,000 entries visited, each a read and a write at random; the row of a place is waited for most"),
]


def run(bench):
    for n in [2_000] if bench.quick else [10_000, 70_000]:
        name = "mnistsmall" if n <= 10_000 else "mnist"
        graph = bench.graph(bench.pool(name, n, 20, quick_n=n))
        sides = {f"dial {word}": steps_of(bench, graph, n, word) for word in ["certified", "ready", "faithful"]}
        bench.alternate("step", n, sides | {"graphlearning": steps_of(bench, graph, n, None)})


def steps_of(bench, graph, n, precision):
    """A side: steps in a process of its own, the first quarter, which meets fresh memory, left out. The peer has no word."""
    steps = 24 if precision else 6
    sources = lambda turn: ",".join(str(1 + (turn * steps + step) * 997 % (n - 1)) for step in range(steps))
    if precision is None:
        return lambda turn: bench.peer("graphlearning", graph=graph, sources=sources(turn))[1:]
    return lambda turn: bench.ours("step", graph, 3, sources(turn), precision)[steps // 4:]


def peer(side, graph, sources):
    import graphlearning as gl
    import numpy as np
    from scipy import sparse
    W = sparse.load_npz(graph).astype(np.float64)
    n, classes, G = W.shape[0], 3, gl.graph(W)
    counts, labelled = np.zeros((n, classes)), []

    def step(source, class_):
        matrix = (G.laplacian() + TAU * sparse.identity(n)).tocsr()
        right = np.full((n, 1), -1.0 / n)
        right[source] += 1.0
        u = gl.utils.conjgrad(matrix, right, tol=TOLERANCE)[:, 0]
        u -= u.min()
        counts[:, class_] += u / u[source]
        labelled.append(source)
        alpha = counts + 1.0
        total = alpha.sum(axis=1)
        variance = (total ** 2 - (alpha ** 2).sum(axis=1)) / (total ** 2 * (total + 1))
        candidates = np.setdiff1d(np.arange(n), labelled)
        return int(candidates[np.argsort(variance[candidates])[-1]])

    for place, source in enumerate(int(source) for source in sources.split(",")):
        chosen, seconds = timed(lambda: step(source, place % classes))
        yield {"seconds": seconds}
