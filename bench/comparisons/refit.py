"""A step of the general active-learning packages, which fit a classifier anew after every label."""
from harness import timed
from comparisons.exact import features

TITLE = "A step of general active-learning packages"
ABOUT = """The same pool, label in to next question out: scikit-activeml and modAL fit logistic regression to all labels so far
and ask the item of largest entropy. The methods differ, so this compares waiting times, not answers."""
PLOT = None
GOALS = []


def run(bench):
    n = 3000 if bench.quick else 70_000
    bench.rounds = min(bench.rounds, 3)
    pool = bench.pool("mnist", n, 20, quick_n=n)
    graph, sources = bench.graph(pool), ",".join(str(1 + step * 997 % (n - 1)) for step in range(6))
    sides = {f"dial {precision}": (lambda precision: lambda turn: bench.ours("step", graph, 3, sources, precision)[1:])(precision)
             for precision in ("faithful", "certified")}
    for side in ("scikit-activeml", "modAL"):
        sides[side] = (lambda side: lambda turn: bench.peer(side, pool=pool)[1:])(side)
    bench.alternate("20 columns", n, sides)


def peer(side, pool):
    import numpy as np
    X = features(pool)
    truth = (X[:, 0] > np.median(X[:, 0])).astype(int) + (X[:, 1] > np.median(X[:, 1]))
    known = [int(np.flatnonzero(truth == c)[i]) for c in range(3) for i in range(3)]
    step = {"scikit-activeml": activeml, "modAL": modal}[side](X, truth, known)
    for _ in range(6):
        yield {"seconds": timed(step)[1]}


def activeml(X, truth, known):
    import numpy as np
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling
    from sklearn.linear_model import LogisticRegression
    y = np.full(len(X), np.nan)
    y[known] = truth[known]
    classifier = SklearnClassifier(LogisticRegression(max_iter=200), classes=[0, 1, 2])
    strategy = UncertaintySampling(method="entropy", random_state=0)
    chosen = [int(strategy.query(X, y, clf=classifier)[0])]

    def step():
        y[chosen[0]] = truth[chosen[0]]
        chosen[0] = int(strategy.query(X, y, clf=classifier)[0])

    return step


def modal(X, truth, known):
    import numpy as np
    from modAL.models import ActiveLearner
    from modAL.uncertainty import entropy_sampling
    from sklearn.linear_model import LogisticRegression
    learner = ActiveLearner(LogisticRegression(max_iter=200), entropy_sampling, X[known], truth[known])
    chosen, left = list(known), np.setdiff1d(np.arange(len(X)), known)
    state = {"next": int(left[learner.query(X[left])[0][0]])}

    def step():
        learner.teach(X[[state["next"]]], truth[[state["next"]]])
        chosen.append(state["next"])
        left = np.setdiff1d(np.arange(len(X)), chosen)
        state["next"] = int(left[learner.query(X[left])[0][0]])

    return step
