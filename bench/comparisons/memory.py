"""Memory per item of a session: ten classes, ten labels given."""
from harness import Goal
from comparisons.growth import graph_of

TITLE = "Memory"
ABOUT = """Resident memory of a process that holds the graph (k = 20) and has been given ten labels of ten classes, above what
the empty process held, per item; *peak* is the most it ever had, reading the graph included."""
PLOT = {"measure": "bytes per node", "label": "bytes per item", "one_case": True}
GOALS = [Goal("memory at n = 10,000,000, k = 20, 10 classes", "bytes per node", 400,
              lambda t: t.median("session", "dial certified", "bytes per node", n=10_000_000), at_least=False, unit="B")]


def run(bench):
    bench.rounds = min(bench.rounds, 2)
    n = 5_000 if bench.quick else 70_000
    graph = bench.graph(bench.pool("mnist", n, 20, quick_n=n))
    ours = lambda graph, precision: lambda turn: bench.ours("memory", graph, precision)
    sides = {f"dial {word}": ours(graph, word) for word in ["faithful", "certified"]}
    bench.alternate("session", n, sides | {"graphlearning": lambda turn: bench.peer("graphlearning", graph=graph)})
    for n in [] if bench.quick else [1_000_000, 10_000_000]:
        bench.alternate("session", n, {"dial certified": ours(graph_of(bench, n), "certified")})


def resident(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))


def peer(side, graph):
    import graphlearning as gl
    import numpy as np
    from scipy import sparse
    before = resident("VmRSS")
    W = sparse.load_npz(graph).astype(np.float64)
    n, G = W.shape[0], gl.graph(W)
    counts = np.zeros((n, 10))
    for label in range(10):
        matrix = (G.laplacian() + 0.1 * sparse.identity(n)).tocsr()
        right = np.full((n, 1), -1.0 / n)
        right[1 + label * 97] += 1.0
        u = gl.utils.conjgrad(matrix, right, tol=1e-9)[:, 0]
        u -= u.min()
        counts[:, label] += u / u.max()
    yield {"bytes per node": (resident("VmRSS") - before) / n, "peak bytes per node": (resident("VmHWM") - before) / n}
