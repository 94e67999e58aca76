# %% [markdown]
# # Coming from modAL or scikit-activeml
#
# The same loop three times over, as you know it and as it is here. One label of each digit to begin with, then 40
# questions; what is compared is the accuracy on all 1,797 digits of scikit-learn.
#
# | modAL | here |
# |---|---|
# | `ActiveLearner(estimator, query_strategy, X_training, y_training)` | `dial.ActiveLearner(X)`: it has the pool |
# | `learner.query(X_pool)` gives places in what is left | `learner.query()` gives row numbers of `X`, always |
# | `learner.teach(X_pool[i], y)`, then delete `i` from the pool | `learner.teach(i, y)` |
# | a strategy: `uncertainty_sampling`, ... | `acquisition="auto"`, `"margin"`, ... |
#
# | scikit-activeml | here |
# |---|---|
# | `UncertaintySampling(...).query(X, y, clf=classifier)` | `DialQuery().query(X, y)`: no classifier is needed |
# | `SklearnClassifier(LogisticRegression()).fit(X, y)` | `dial.DirichletClassifier(unlabelled=None).fit(X, y)` |
# | `MISSING_LABEL` is NaN | the same |

# %%
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import dial
from figures import COLOURS, keep, plt

X, y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)
QUESTIONS = 40
first = [int(np.flatnonzero(y == digit)[0]) for digit in range(10)]
curves: dict[str, list[float]] = {}

# %% [markdown]
# ## modAL
#
# Before: the learner knows what it was taught, and you keep the pool.

# %%
import modAL.models.learners
from modAL.models import ActiveLearner
from modAL.uncertainty import margin_sampling
from sklearn.utils import check_X_y


def checked(X: Any, y: Any, force_all_finite: Any = True, **rest: Any) -> Any:
    """modAL 0.4 calls a setting of scikit-learn by its old name, which scikit-learn 1.8 forgot."""
    return check_X_y(X, y, ensure_all_finite=force_all_finite, **rest)


modAL.models.learners.check_X_y = checked


def with_modal(strategy: Any) -> list[float]:
    """A loop as one writes it for modAL."""
    learner = ActiveLearner(
        LogisticRegression(max_iter=300), query_strategy=strategy, X_training=X[first], y_training=y[first]
    )
    X_pool, y_pool = np.delete(X, first, axis=0), np.delete(y, first)
    scores = []
    for _ in range(QUESTIONS):
        place, row = learner.query(X_pool)
        learner.teach(row, y_pool[place])
        X_pool, y_pool = np.delete(X_pool, place, axis=0), np.delete(y_pool, place)
        scores.append(float(learner.score(X, y)))
    return scores


curves["modAL, margin"] = with_modal(margin_sampling)

# %% [markdown]
# After: the learner has the pool, rows keep their numbers, and nothing is deleted.

# %%
learner = dial.ActiveLearner(X, seed=1)
learner.teach(first, y[first])
scores = []
for _ in range(QUESTIONS):
    nodes, rows = learner.query()
    learner.teach(nodes, y[nodes])
    scores.append(learner.score(X, y))
curves["dial.ActiveLearner"] = scores

# %% [markdown]
# In between: modAL's learner and your own estimator, asking what DiAL would ask.

# %%
curves["modAL, dial_sampling"] = with_modal(dial.dial_sampling)

# %% [markdown]
# ## scikit-activeml
#
# Before: the strategy is given the pool, the labels and a classifier.

# %%
from skactiveml.classifier import SklearnClassifier
from skactiveml.pool import UncertaintySampling
from skactiveml.utils import MISSING_LABEL

from dial.activeml import DialQuery

given = np.full(len(y), MISSING_LABEL)
given[first] = y[first]
classifier = SklearnClassifier(LogisticRegression(max_iter=300), classes=range(10))
uncertainty = UncertaintySampling(method="margin_sampling", random_state=1)
scores = []
for _ in range(QUESTIONS):
    nodes = uncertainty.query(X, given, clf=classifier)
    given[nodes] = y[nodes]
    scores.append(float(np.mean(classifier.fit(X, given).predict(X) == y)))
curves["scikit-activeml, margin"] = scores

# %% [markdown]
# After: the same arrays, without a classifier. `DialQuery` keeps the graph between the questions.

# %%
given = np.full(len(y), MISSING_LABEL)
given[first] = y[first]
strategy = DialQuery(random_state=1)
asked: list[int] = []
for _ in range(QUESTIONS):
    nodes = strategy.query(X, given)
    given[nodes] = y[nodes]
    asked += nodes.tolist()
assert asked == [
    row for row in learner.session.labels()["node"].tolist() if row not in first
], "the questions of the session"

# %% [markdown]
# For predictions: the estimator, with NaN where there is no label. It learns from all rows, and so it is given all of
# them.

# %%
model = dial.DirichletClassifier(unlabelled=None).fit(X, given)
print(f"DirichletClassifier: {np.mean(model.transduction_ == y):.3f}")
assert abs(np.mean(model.transduction_ == y) - curves["dial.ActiveLearner"][-1]) < 0.01

# %% [markdown]
# ## What comes of it

# %%
for name, found in curves.items():
    print(
        f"{name:>24}: {found[9]:.3f} after 10 questions, {found[-1]:.3f} after {QUESTIONS}, "
        f"{np.mean(found):.3f} on the way"
    )
assert np.mean(curves["dial.ActiveLearner"]) > np.mean(curves["modAL, margin"])
assert np.mean(curves["dial.ActiveLearner"]) > np.mean(curves["scikit-activeml, margin"])

# %%
if plt is not None:
    figure, axes = plt.subplots(figsize=(6, 3.6))
    styles = ["-", "-", "--", ":"]
    for (name, found), colour, style in zip(curves.items(), COLOURS, styles):
        axes.plot(range(1, QUESTIONS + 1), found, style, color=colour, label=name, linewidth=2)
    axes.set(xlabel="questions", ylabel="accuracy on all rows", xlim=(0, QUESTIONS), title="The same loop, four ways")
    axes.legend(loc="lower right")
    keep(figure, "coming-from")
