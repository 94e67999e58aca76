"""The estimator against scikit-learn's: fit on a pool of which few rows are labelled."""
import importlib.util
import subprocess
import sys

from harness import ROOT, timed

TITLE = "Python: fit of a transductive classifier"
ABOUT = """`dial.DirichletClassifier` against scikit-learn's `LabelSpreading(kernel="knn")`, from the array to a class
for every row: neighbours, graph and spreading, with the same labels, drawn at random for each round, as many of each
class. Both as they come out of the box, ours with 20 neighbours and theirs with 7, and theirs with 20 as well; all
cores may be used (`n_jobs=-1`). Ours finds exact neighbours at this size, and is also shown with
`search="approximate"`, the faster of the two, to which the ratios are. Our time grows with the number of labels;
theirs does not. *cpu seconds* adds up the processors, and depends less on who else works there. *accuracy* is the
share of the unlabelled rows that are right."""
PLOT = None
GOALS = []
LABELS = [10, 100]
SIDES = ["dial", "dial, approximate search", "LabelSpreading, 7 neighbours", "LabelSpreading, 20 neighbours"]


def run(bench):
    package()
    bench.rounds = min(bench.rounds, 2 if bench.quick else 1)
    n = 3000 if bench.quick else 70_000
    pool = labelled_pool(bench, "mnist", n, 20, quick_n=n)
    for each in LABELS:
        sides = {side: (lambda side: lambda turn: bench.peer(side, pool=pool, each=each, seed=turn))(side)
                 for side in SIDES}
        bench.alternate(f"{each} labels a class", n, sides)


def package():
    """Installs the Python package for these comparisons, unless it is there, installed or built in its folder."""
    if not (ROOT / "python/dial/_dial.abi3.so").exists() and importlib.util.find_spec("dial") is None:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
        subprocess.run(install, check=True)


def ours():
    """The Python package: that of the folder, if it is built there, else the one that is installed."""
    if (ROOT / "python/dial/_dial.abi3.so").exists():
        sys.path.insert(0, str(ROOT / "python"))
    import dial
    return dial


def labelled_pool(bench, name, n, d, quick_n):
    """A pool with labels: a real one, or planted clusters of which every tenth is a class."""
    import numpy as np
    file = bench.data / "features" / f"{name}.npz" if bench.data else None
    if not bench.quick and file is not None and file.exists():
        return file
    n = quick_n if bench.quick else n
    if not bench.quick:
        bench.skipped.append(f"{name}: no data, a generated pool of {n} x {d} stands in")
    out = bench.cache / f"labelled-{n}x{d}.npz"
    if not out.exists():
        random = np.random.default_rng(n + d)
        group = random.integers(40, size=n)
        X = random.normal(size=(40, d))[group] * 1.5 + random.normal(size=(n, d))
        np.savez(out, X=X.astype(np.float32), labels=group % 10)
    return out


def read(pool):
    import numpy as np
    with np.load(pool) as file:
        return np.ascontiguousarray(file["X"], dtype=np.float32), file["labels"].astype(np.int64)


def some_labels(y, each, seed):
    """The rows that are labelled: so many of each class."""
    import numpy as np
    random = np.random.default_rng(seed)
    return np.concatenate([random.choice(np.flatnonzero(y == one), each, replace=False) for one in np.unique(y)])


def cpu_seconds():
    """What this process and those it has waited for have used of the processors."""
    import os
    return sum(os.times()[:4])


def peer(side, pool, each, seed):
    import numpy as np
    X, y = read(pool)
    known = some_labels(y, each, seed)
    given = np.full(len(y), -1)
    given[known] = y[known]
    if side.startswith("dial"):
        model = ours().DirichletClassifier(search="approximate" if "approximate" in side else "auto")
    else:
        from sklearn.semi_supervised import LabelSpreading
        model = LabelSpreading(kernel="knn", n_neighbors=int(side.split()[1]), n_jobs=-1)
    before = cpu_seconds()
    fitted, seconds = timed(lambda: model.fit(X, given))
    yield {"seconds": seconds, "cpu seconds": cpu_seconds() - before,
           "accuracy": float(np.mean((fitted.transduction_ == y)[given == -1]))}
