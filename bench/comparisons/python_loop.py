"""A loop of a hundred questions with each of the Python packages: how long it takes, and what its labels are worth."""
from harness import timed
from comparisons.python_fit import cpu_seconds, labelled_pool, ours, package, read, some_labels

TITLE = "Python: a hundred questions"
ABOUT = """One label of each class to begin with, the same for all sides and drawn anew each round, then 100
questions, one at a time, with the known answers. *seconds* is the whole loop, from the array to the last answer: the
graph, where there is one, asking and telling; *cpu seconds* adds up the processors. Predictions are not timed: they
are made after 10, 25, 50 and 100 questions to measure the *accuracy* on the rows that are not labelled, and
*accuracy, mean* is over these four. Ours asks as a session does by itself. modAL and scikit-activeml fit logistic
regression and ask for the smallest margin; graphlearning asks for the smallest margin of Laplace learning, and by the
norm of reweighted Laplace learning (*rwll*), both on its graph of 20 neighbours. The peers have one thread in BLAS,
with which problems so small are solved fastest. *mnistsmall* has 20 columns, *digits*, those of scikit-learn, 64."""
PLOT = None
GOALS = []
CHECKS = [10, 25, 50, 100]
SIDES = ["dial", "modAL", "scikit-activeml", "graphlearning", "graphlearning rwll"]


def run(bench):
    package()
    bench.rounds = min(bench.rounds, 2)
    pools = {"digits": "digits"}
    if not bench.quick:
        pools["mnistsmall"] = labelled_pool(bench, "mnistsmall", 10_000, 20, quick_n=1000)
    for case, pool in pools.items():
        sides = {side: (lambda side: lambda turn: bench.peer(side, pool=pool, seed=turn))(side) for side in SIDES}
        bench.alternate(case, len(load(pool)[0]), sides)


def load(pool):
    if pool == "digits":
        import numpy as np
        from sklearn.datasets import load_digits
        X, y = load_digits(return_X_y=True)
        return (X / 16).astype(np.float32), y
    return read(pool)


def peer(side, pool, seed):
    import numpy as np
    X, y = load(pool)
    known = [int(row) for row in some_labels(y, 1, seed)]
    prepare = {"dial": dirichlet, "modAL": modal, "scikit-activeml": activeml, "graphlearning": graphs,
               "graphlearning rwll": reweighted}[side]
    if side != "dial":
        # Problems so small are solved several times faster without threads in BLAS.
        from threadpoolctl import threadpool_limits
        threadpool_limits(1)
    before = cpu_seconds()
    (ask, tell, predict), total = timed(lambda: prepare(X, y, known, seed))
    used = cpu_seconds() - before
    found, told = {}, set(known)
    for question in range(1, max(CHECKS) + 1):
        before = cpu_seconds()
        row, seconds = timed(ask)
        total += seconds + timed(lambda: tell(row))[1]
        used += cpu_seconds() - before
        told.add(row)
        if question in CHECKS:
            left = np.setdiff1d(np.arange(len(y)), list(told))
            found[f"accuracy, {question} questions"] = float(np.mean(predict(left) == y[left]))
    if len(told) != len(known) + max(CHECKS):
        raise ValueError(f"{side} asked for a row twice")
    yield {"seconds": total, "cpu seconds": used, **found, "accuracy, mean": float(np.mean(list(found.values())))}


# Each of these prepares a loop and returns three functions: ask for a row, tell its label, predict some rows.

def dirichlet(X, y, known, seed):
    session = ours().Session(X, classes=sorted(set(y.tolist())), seed=seed)
    session.tell(known, y[known])
    return lambda: int(session.ask()[0]), lambda row: session.tell(row, int(y[row])), session.predict


def modal(X, y, known, seed):
    import numpy as np
    from modAL.models import ActiveLearner
    from modAL.uncertainty import margin_sampling
    from sklearn.linear_model import LogisticRegression
    learner = ActiveLearner(LogisticRegression(max_iter=500), margin_sampling, X[known], y[known])
    left = [np.setdiff1d(np.arange(len(y)), known)]

    def tell(row):
        learner.teach(X[[row]], y[[row]])
        left[0] = left[0][left[0] != row]

    return lambda: int(left[0][learner.query(X[left[0]])[0][0]]), tell, lambda rows: learner.predict(X[rows])


def activeml(X, y, known, seed):
    import numpy as np
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling
    from sklearn.linear_model import LogisticRegression
    given = np.full(len(y), np.nan)
    given[known] = y[known]
    classifier = SklearnClassifier(LogisticRegression(max_iter=500), classes=np.unique(y))
    strategy = UncertaintySampling(method="margin_sampling", random_state=seed)

    def tell(row):
        given[row] = y[row]

    return (lambda: int(strategy.query(X, given, clf=classifier)[0]), tell,
            lambda rows: classifier.fit(X, given).predict(X[rows]))


def graphs(X, y, known, seed, reweighting="none", method="smallest_margin"):
    import graphlearning as gl
    import numpy as np
    model = gl.ssl.laplace(gl.weightmatrix.knn(X, 20), reweighting=reweighting)
    acquisition = gl.active_learning.unc_sampling
    learner = gl.active_learning.active_learner(model, acquisition, np.array(known), y[known], unc_method=method)
    return (lambda: int(learner.select_queries()[0]), lambda row: learner.update(np.array([row]), y[[row]]),
            lambda rows: model.predict()[rows])


def reweighted(X, y, known, seed):
    return graphs(X, y, known, seed, reweighting="poisson", method="unc_2norm")
