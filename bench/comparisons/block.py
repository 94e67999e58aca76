"""The columns of 50 sources at once, against scipy's conjugate gradients and pyamg."""
from harness import Goal, timed

TITLE = "Fifty columns at once"
ABOUT = """(L + 0.1 I) g = e_l - 1/n for 50 sources l, each to an absolute residual of 1e-9. scipy solves one by one, plain and
with the diagonal as preconditioner; pyamg's smoothed aggregation accelerates its conjugate gradients, and its set-up is
counted."""
PLOT = None
GOALS = [
    Goal("50-source block solve", "scipy cg (the faster)", 10, lambda t: fastest(t, "scipy cg", "scipy cg, diagonal"),
         "gathers from cache; scipy has one thread"),
    Goal("50-source block solve, per source", "pyamg with set-up", 10, lambda t: fastest(t, "pyamg"), "as above"),
]


def fastest(table, *peers):
    ratios = [table.ratio("50 sources", peer, "dial", n=70_000) for peer in peers]
    return min((ratio for ratio in ratios if ratio is not None), default=None)


def run(bench):
    n = 3000 if bench.quick else 70_000
    bench.rounds = min(bench.rounds, 3)
    graph = bench.graph(bench.pool("mnist", n, 20, quick_n=n))
    sources = ",".join(str(1 + step * 997 % (n - 1)) for step in range(50))
    peer_side = lambda side: lambda turn: bench.peer(side, graph=graph, sources=sources)
    bench.alternate("50 sources", n, {
        "dial": lambda turn: bench.ours("block", graph, sources)[1:],
        "scipy cg": peer_side("plain"),
        "scipy cg, diagonal": peer_side("diagonal"),
        "pyamg": peer_side("pyamg"),
    })


def peer(side, graph, sources):
    import numpy as np
    from scipy import sparse
    from scipy.sparse.csgraph import laplacian
    W = sparse.load_npz(graph).astype(np.float64)
    n = W.shape[0]
    A = (laplacian(W) + 0.1 * sparse.identity(n)).tocsr()
    solve, setup = timed(lambda: {"plain": plain, "diagonal": diagonal, "pyamg": pyamg_solver}[side](A))
    seconds, worst = setup, 0.0
    for source in (int(source) for source in sources.split(",")):
        b = np.full(n, -1.0 / n)
        b[source] += 1.0
        x, took = timed(lambda: solve(b))
        seconds, worst = seconds + took, max(worst, float(np.linalg.norm(b - A @ x)))
    yield {"seconds": seconds, "seconds per source": seconds / len(sources.split(",")), "setup": setup, "residual": worst}


def plain(A):
    from scipy.sparse.linalg import cg
    return lambda b: cg(A, b, rtol=0.0, atol=1e-9)[0]


def diagonal(A):
    from scipy import sparse
    from scipy.sparse.linalg import cg
    M = sparse.diags(1.0 / A.diagonal())
    return lambda b: cg(A, b, rtol=0.0, atol=1e-9, M=M)[0]


def pyamg_solver(A):
    import numpy as np
    import pyamg
    levels = pyamg.smoothed_aggregation_solver(A, symmetry="symmetric")
    return lambda b: levels.solve(b, tol=1e-9 / float(np.linalg.norm(b)), accel="cg", maxiter=500)
