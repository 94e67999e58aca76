"""One label-to-next-question step of the Python package graphlearning, used as DiAL's authors use it.

    python bench/peer_step.py W.npz --sources 3,100,7 [--classes 3] [--tau 0.1] [--warmup 1] [--select argsort|argmax]
    python bench/peer_step.py --build X.npz [--k 20] [--similarity euclidean|angular] [--save W.npz]

W.npz: a CSR graph written by scipy.sparse.save_npz (or `dial graph --out`). The first line printed describes the run
(versions, OMP_NUM_THREADS, n, nnz); then one JSON line per source. Our own restatement of the published loop, with the
package's functions graph(W), .laplacian() and utils.conjgrad. Timed, in this order (`seconds` is their sum):
  laplacian    L = graph.laplacian(); L + tau I, rebuilt at every label
  cg           conjgrad on (L + tau I) u = e_l - 1/n, right-hand side of shape (n, 1), absolute tolerance 1e-9
  update       u - min u, divided by its value at the source, added to the class's column of the counts
  acquisition  Dirichlet variance of counts + 1
  select       candidates by setdiff1d(all nodes, labelled), then argsort (or argmax) of their values
Not timed: building graph(W), mean, prediction, accuracy. The matrix given to conjgrad is wrapped to count its products
(under a microsecond each). Source i gets class i mod K: the cost does not depend on classes.
--build times knnsearch(X, k + 1) and knn(X, k, knn_data=...), which is what weightmatrix.knn(X, k) does in version
1.7.5 (the point itself is found and its weight dropped); the default search is annoy for more than 5 dimensions.
"""
import argparse
import json
import os
import time
from importlib.metadata import version

import graphlearning as gl
import numpy as np
from scipy import sparse

TOLERANCE, PRIOR = 1e-9, 1.0


class Counting:
    """A matrix that counts its products."""

    def __init__(self, matrix):
        self.matrix, self.products = matrix, 0

    def __matmul__(self, x):
        self.products += 1
        return self.matrix @ x


class Clock:
    """Seconds per named part."""

    def __init__(self):
        self.parts, self.last = {}, time.perf_counter()

    def mark(self, part):
        now = time.perf_counter()
        self.parts[part], self.last = now - self.last, now


def variance(counts):
    alpha = counts + PRIOR
    total = alpha.sum(axis=1)
    return (total ** 2 - (alpha ** 2).sum(axis=1)) / (total ** 2 * (total + 1))


def choose(values, candidates, select):
    position = np.argmax(values[candidates]) if select == "argmax" else np.argsort(values[candidates])[-1]
    return int(candidates[position])


def step(graph, counts, labelled, source, class_, tau, select):
    """Adds one label and finds the next question; returns the report of the step."""
    n = graph.num_nodes
    clock = Clock()
    matrix = Counting((graph.laplacian() + tau * sparse.identity(n)).tocsr())
    clock.mark("laplacian")
    right = np.full((n, 1), -1.0 / n)
    right[source] += 1.0
    u = gl.utils.conjgrad(matrix, right, tol=TOLERANCE)[:, 0]
    clock.mark("cg")
    u -= u.min()
    counts[:, class_] += u / u[source]
    labelled.append(source)
    clock.mark("update")
    values = variance(counts)
    clock.mark("acquisition")
    chosen = choose(values, np.setdiff1d(np.arange(n), labelled), select)
    clock.mark("select")
    return {"seconds": sum(clock.parts.values()), "cg_iterations": matrix.products - 1, "parts": clock.parts,
            "source": source, "next": chosen}


def head(**more):
    names = ("graphlearning", "numpy", "scipy")
    return json.dumps({"omp_num_threads": os.environ.get("OMP_NUM_THREADS"), "cpus": os.cpu_count(),
                       **{name: version(name) for name in names}, **more})


def run_steps(arguments):
    W = sparse.load_npz(arguments.graph).astype(np.float64)
    graph = gl.graph(W)
    print(head(n=W.shape[0], nnz=W.nnz, tau=arguments.tau, tolerance=TOLERANCE, select=arguments.select), flush=True)
    sources = [int(s) for s in arguments.sources.split(",")]
    for _ in range(arguments.warmup):
        step(graph, np.zeros((W.shape[0], arguments.classes)), [], sources[0], 0, arguments.tau, arguments.select)
    counts, labelled = np.zeros((W.shape[0], arguments.classes)), []
    for i, source in enumerate(sources):
        print(json.dumps(step(graph, counts, labelled, source, i % arguments.classes, arguments.tau,
                              arguments.select)), flush=True)


def run_build(arguments):
    with np.load(arguments.build) as z:
        X = z["X"]
    print(head(n=X.shape[0], dim=X.shape[1], k=arguments.k, search="annoy" if X.shape[1] > 5 else "kdtree"), flush=True)
    clock = Clock()
    found = gl.weightmatrix.knnsearch(X, arguments.k + 1, similarity=arguments.similarity)
    clock.mark("search")
    W = gl.weightmatrix.knn(X, arguments.k, knn_data=found)
    clock.mark("weights")
    print(json.dumps({"seconds": sum(clock.parts.values()), "parts": clock.parts, "nnz": int(W.nnz)}))
    if arguments.save:
        sparse.save_npz(arguments.save, W.tocsr())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", nargs="?", help="CSR graph, scipy.sparse.load_npz format")
    parser.add_argument("--sources", help="nodes to label, I,J,...: one step each")
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--tau", type=float, default=0.1)
    parser.add_argument("--warmup", type=int, default=1, help="unreported steps first")
    parser.add_argument("--select", choices=("argsort", "argmax"), default="argsort")
    parser.add_argument("--build", metavar="X.npz", help="time the neighbour search and weights instead")
    parser.add_argument("--k", type=int, default=20)
    parser.add_argument("--similarity", choices=("euclidean", "angular"), default="euclidean")
    parser.add_argument("--save", metavar="W.npz")
    arguments = parser.parse_args()
    if arguments.build:
        run_build(arguments)
    elif arguments.graph and arguments.sources:
        run_steps(arguments)
    else:
        parser.error("give a graph and --sources, or --build X.npz")


if __name__ == "__main__":
    main()
