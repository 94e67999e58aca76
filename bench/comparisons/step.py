"""One step, label in to next question out, against the number of items.

The peer is graphlearning, used as DiAL's authors use it: our own restatement of the published loop with the package's
functions graph(W), .laplacian() and utils.conjgrad, to an absolute residual of 1e-9, as our faithful precision. Timed: the
Laplacian rebuilt at every label, the solve, the update of the counts, the Dirichlet variance, and the choice by setdiff1d
and argsort. Not timed: building graph(W).
"""
import subprocess

from harness import Goal, target, timed

TITLE = "A step: label in, next question out"
ABOUT = """Poisson propagation with tau = 0.1 on the graph of 20 neighbours, three classes: *step* on codes of MNIST images (20
dimensions, exact neighbours), *planted* on generated clusters (32 dimensions, approximate neighbours; of 10,000 items each, at ten million of 100,000). *faithful* solves to a true residual of 1e-9, as the peer does; *certified* bounds the error of every value and
touches only what a label reaches; *ready* is the certified step when the column was made while the person looked at the
item."""
PLOT = {"measure": "seconds", "label": "seconds a step"}
TAU, TOLERANCE = 0.1, 1e-9
SIZES = [70_000, 1_000_000, 10_000_000]
# Sizes at which the peer still ends within minutes.
PEER_LIMIT = 1_000_000

GOALS = [
    Goal("faithful step, n = 70,000", "graphlearning", 4, lambda t: t.ratio("step", "graphlearning", "dial faithful", n=70_000),
         "some 20 sweeps over 2 million entries, bound by gathers from cache"),
    Goal("certified step, n = 70,000", "graphlearning", 100,
         lambda t: t.ratio("step", "graphlearning", "dial certified", n=70_000)),
    Goal("certified step, n = 1,000,000", "ours at 70,000", 4, lambda t: growth(t, 1_000_000), at_least=False),
    Goal("certified step, n = 10,000,000", "ours at 70,000", 8, lambda t: growth(t, 10_000_000), at_least=False),
    Goal("label to next question, column ready, n = 1,000,000", "", 1,
         lambda t: milliseconds(t.median("planted", "dial ready", n=1_000_000)), at_least=False, unit="ms"),
]


def growth(table, n):
    large, small = (table.median("planted", "dial certified", n=size) for size in (n, 70_000))
    return large / small if large and small else None


def milliseconds(seconds):
    return None if seconds is None else 1000 * seconds


def run(bench):
    for n in [2_000] if bench.quick else [10_000, 70_000]:
        name = "mnistsmall" if n <= 10_000 else "mnist"
        measure(bench, "step", n, bench.graph(bench.pool(name, n, 20, quick_n=n)))
    # Growth is measured on one kind of pool.
    for n in [2_000, 5_000] if bench.quick else SIZES:
        measure(bench, "planted", n, graph_of(bench, n))


def measure(bench, case, n, graph):
    words = ["certified", "ready", "faithful"] if n <= PEER_LIMIT else ["certified", "ready"]
    sides = {f"dial {word}": steps_of(bench, graph, n, word) for word in words}
    if n <= PEER_LIMIT:
        sides["graphlearning"] = steps_of(bench, graph, n, None)
    bench.alternate(case, n, sides)


def steps_of(bench, graph, n, precision):
    """A side: steps in a process of its own, the first quarter, which meets fresh memory, left out. The peer has no word."""
    steps = 24 if precision else 6
    sources = lambda turn: ",".join(str(1 + (turn * steps + step) * 997 % (n - 1)) for step in range(steps))
    if precision is None:
        return lambda turn: bench.peer("graphlearning", graph=graph, sources=sources(turn))[1:]
    return lambda turn: bench.ours("step", graph, 3, sources(turn), precision)[steps // 4:]


def graph_of(bench, n):
    """The graph of planted clusters by the approximate search: clusters of 10,000 items, at ten million of 100,000."""
    # The peer reads the npz; at ten million only our own, mapped form is made.
    out = bench.cache / f"graph-{n}{'.npz' if n <= PEER_LIMIT else '.dialgraph'}"
    if not out.exists():
        pool, groups = bench.cache / f"planted-{n}.npy", min(100, max(1, n // 10_000))
        generate = ["generate", "clusters", "--items", n, "--dim", 32, "--clusters", groups, "--seed", 1, "--out", pool]
        subprocess.run([target() / "dial", *map(str, generate), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        bench.ours("save", pool, 20, out)
    return out


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
