# %% [markdown]
# # Comparing acquisitions
#
# Which way of asking suits your data? If some labels are known, `dial.simulate` plays the experiment of the paper on
# them: one label of each class to begin with, then question after question, several times over. The table has a row
# for each question.

# %%
import numpy as np

import dial
from figures import COLOURS, keep, plt

pool = dial.read("builtin:digits:1000")
ways = ["auto", "variance", "margin", "random"]
table = dial.simulate(pool.X, pool.y, acquisition=ways, queries=50, trials=5, seed=0, frame="dict")
print({name: len(column) for name, column in table.items()})
assert len(table["query"]) == len(ways) * 5 * 51, "a row for each question, and one for the labels at the start"

# %% [markdown]
# With `frame="pandas"` or `"polars"` it is a data frame, and `"auto"`, the default, takes whichever of them your
# program has imported. A dict of arrays is enough here: one matrix of trials x questions for each way of asking.

# %%


def curves(way: str) -> np.ndarray:
    """Accuracy on the rows that are not labelled, trials x questions."""
    return np.asarray(table["accuracy"][table["acquisition"] == way]).reshape(5, 51)


for way in ways:
    mean = curves(way).mean(axis=0)
    print(f"{way:>9}: {mean[0]:.3f} at the start, {mean[25]:.3f} after 25 questions, {mean[50]:.3f} after 50")

# %% [markdown]
# All begin with the same labels, so the trials can be compared in pairs, and the differences have less scatter than
# the curves.

# %%
start = curves("random")[:, 0]
for way in ways:
    assert np.array_equal(curves(way)[:, 0], start)
gain = curves("auto")[:, 50] - curves("random")[:, 50]
print(f"auto is better than random by {gain.mean():.3f} (from {gain.min():.3f} to {gain.max():.3f} over the trials)")
assert gain.mean() > 0

# %% [markdown]
# The same seed gives the same questions: here, in Rust and on the command line (`dial simulate`).

# %%
once = dial.simulate(pool.X, pool.y, acquisition="auto", queries=10, trials=1, seed=4, frame="dict")
twice = dial.simulate(pool.X, pool.y, acquisition="auto", queries=10, trials=1, seed=4, frame="dict")
assert np.array_equal(once["node"], twice["node"])

# %% [markdown]
# ## A way of asking of your own
#
# A function from the parameters alpha (rows x classes) to a score for every row does; the largest is asked. To see
# that it is taken at its word, here is the variance of the paper, written out, beside the one that is built in.

# %%


def own_variance(alpha: np.ndarray) -> np.ndarray:
    """The trace of the covariance of each Dirichlet distribution."""
    total = alpha.sum(axis=1)
    mean = alpha / total[:, None]
    return np.asarray((mean * (1 - mean)).sum(axis=1) / (total + 1))


truth = pool.y
own = dial.Session(pool.X, pool.classes, acquisition=own_variance, seed=0)
built_in = dial.Session(pool.X, pool.classes, acquisition="variance", seed=0)
for label in pool.classes or []:
    first = int(np.flatnonzero(truth == label)[0])
    own.tell(first, label)
    built_in.tell(first, label)
for _ in range(20):
    node = int(own.ask()[0])
    assert node == built_in.ask()[0]
    own.tell(node, truth[node])
    built_in.tell(node, truth[node])
print(f"the same 20 questions; {np.mean(own.predict() == truth):.3f} of all rows right")

# %%
if plt is not None:
    figure, axes = plt.subplots(figsize=(6, 3.6))
    for way, colour in zip(ways, COLOURS):
        found = curves(way)
        axes.fill_between(range(51), found.min(axis=0), found.max(axis=0), color=colour, alpha=0.12, linewidth=0)
        axes.plot(range(51), found.mean(axis=0), color=colour, label=way)
    axes.set(
        xlabel="questions", ylabel="accuracy on unlabelled rows", xlim=(0, 50), title="Mean and range of five trials"
    )
    axes.legend(loc="lower right")
    keep(figure, "acquisitions")
