# %% [markdown]
# # Digits, against scikit-learn
#
# `dial.DirichletClassifier` is an estimator in the manner of scikit-learn's `LabelSpreading`: every row goes to `fit`,
# those without a label marked -1, and `transduction_` has a label for all of them. Here both have the same labels of
# the 1,797 digits of scikit-learn, drawn at random, and logistic regression, which learns from the labelled rows
# alone, has them too.

# %%
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

import dial
from figures import COLOURS, keep, plt

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)


# %%
def some_labels(each: int, seed: int) -> np.ndarray:
    """The labels of a few rows of each class; -1 elsewhere."""
    random = np.random.default_rng(seed)
    known = np.concatenate([random.choice(np.flatnonzero(y == digit), each, replace=False) for digit in range(10)])
    labels = np.full(len(y), -1)
    labels[known] = y[known]
    return labels


def accuracy(model: Any, labels: np.ndarray) -> float:
    """The share of the rows without a label that the model gets right."""
    unknown = labels == -1
    if isinstance(model, (dial.DirichletClassifier, LabelSpreading)):
        found = model.fit(X, labels).transduction_[unknown]
    else:
        found = model.fit(X[~unknown], labels[~unknown]).predict(X[unknown])
    return float(np.mean(found == y[unknown]))


# %% [markdown]
# `LabelSpreading` stands here twice: with its default of 7 neighbours, and with the 20 that our graph has. Everything
# else is as it comes out of the box, ours as well.

# %%
models: dict[str, Any] = {
    "DirichletClassifier": dial.DirichletClassifier(),
    "LabelSpreading, 7 neighbours": LabelSpreading(kernel="knn", n_neighbors=7),
    "LabelSpreading, 20 neighbours": LabelSpreading(kernel="knn", n_neighbors=20),
    "LogisticRegression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}
each, seeds = [1, 2, 4, 8, 16], range(5)
table = {
    name: np.array([[accuracy(model, some_labels(count, seed)) for count in each] for seed in seeds])
    for name, model in models.items()
}
print(f"{'labels of each digit':>30}", *(f"{count:6}" for count in each))
for name, found in table.items():
    print(f"{name:>30}", *(f"{value:6.3f}" for value in found.mean(axis=0)))

# %% [markdown]
# What neighbours say is worth most when there are few labels. With one label of each digit:

# %%
few = {name: found[:, 0].mean() for name, found in table.items()}
assert few["DirichletClassifier"] > few["LogisticRegression"] + 0.1
for name in list(models)[1:]:
    gain = table["DirichletClassifier"] - table[name]
    print(f"against {name}: better in {np.mean(gain > 0):.0%}, worse in {np.mean(gain < 0):.0%} of {gain.size} cases")
    assert gain.mean() > 0

# %% [markdown]
# ## Probabilities
#
# `label_distributions_` has a probability for every class, and `variance_` says how unsure it is. The rows that it is
# least sure of should be the ones that it gets wrong.

# %%
labels = some_labels(4, seed=0)
model = dial.DirichletClassifier().fit(X, labels)
assert np.allclose(model.label_distributions_.sum(axis=1), 1)
wrong = model.transduction_ != y
doubtful = model.label_distributions_.max(axis=1).argsort()[: len(y) // 10]
print(f"{wrong.sum()} rows are wrong; {wrong[doubtful].sum()} of them among the tenth that it is least sure of")
assert wrong[doubtful].sum() > 2 * wrong.sum() / 10, "twice what chance would find, at least"

# %% [markdown]
# ## New rows
#
# `predict` and `predict_proba` are for rows that were not there: through their neighbours among those that were.

# %%
kept = np.arange(len(y)) % 5 > 0
model = dial.DirichletClassifier().fit(X[kept], labels[kept])
print(
    f"rows that were there: {np.mean(model.transduction_ == y[kept]):.3f}, "
    f"new rows: {model.score(X[~kept], y[~kept]):.3f}"
)
assert abs(model.score(X[~kept], y[~kept]) - np.mean(model.transduction_ == y[kept])) < 0.08

# %%
if plt is not None:
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for (name, found), colour in zip(table.items(), COLOURS):
        axes.fill_between(each, found.min(axis=0), found.max(axis=0), color=colour, alpha=0.12, linewidth=0)
        axes.plot(each, found.mean(axis=0), "o-", markersize=4, color=colour, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(each, [str(count) for count in each])
    axes.set(
        xlabel="labels of each digit",
        ylabel="accuracy on the other rows",
        title=f"Mean and range of {len(seeds)} draws",
    )
    axes.legend(loc="lower right")
    keep(figure, "digits")
