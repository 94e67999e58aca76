# %% [markdown]
# # A first session
#
# A pool of 2,000 small pictures of digits, and nobody has said what they show. We ask for the labels that tell most,
# one at a time, and believe the rest.

# %%
import tempfile
from pathlib import Path

import numpy as np

import dial
from figures import COLOURS, keep, plt

pool = dial.read("builtin:digits")
print(pool)

# %% [markdown]
# Your own data goes in as it is: a NumPy array, a pandas, polars or Arrow table, one row for each item. Rows are known
# by their numbers, on the way in and on the way out.

# %%
session = dial.Session(pool.X, seed=1)
session

# %% [markdown]
# ## Ask and tell
#
# `ask` proposes rows and changes nothing. `tell` takes the answer; a label that is new becomes a class. Here the
# answers are known beforehand, so that we can see how good the belief is. In real life a person looks at the picture.

# %%
truth = pool.y
asked: list[int] = []
accuracy: list[float] = []
while len(asked) < 60:
    node = int(session.ask()[0])
    session.tell(node, truth[node])
    asked.append(node)
    # There is nothing to predict while only one class was met.
    accuracy.append(float(np.mean(session.predict() == truth)) if len(session.classes_) > 1 else np.nan)

for count in (10, 20, 40, 60):
    print(f"{count:3} labels: {accuracy[count - 1]:.1%} right")
assert accuracy[59] > 0.88
assert len(session.classes_) == 10, "all ten digits were met, though nobody said that there are ten"

# %% [markdown]
# ## How sure is it?
#
# Every row has a Dirichlet distribution over the classes: probabilities, a variance (how unsure the belief is) and the
# evidence (how much was heard). Where it is sure it should be right more often.

# %%
right = session.predict() == truth
sure = session.predict_proba().max(axis=1) >= 0.9
print(f"sure of {np.mean(sure):.0%} of the rows, and right on {np.mean(right[sure]):.1%} of those")
print(f"of the others right on {np.mean(right[~sure]):.1%}")
assert np.mean(right[sure]) > np.mean(right[~sure])

# %% [markdown]
# The session also says how the labelling stands, without knowing the truth.

# %%
advice = session.stopping()
print(advice.verdict, "-", " ".join(advice.reasons))
assert advice.accuracy is not None
mean, low, high = advice.accuracy
print(f"expected {mean:.1%} ({low:.1%} to {high:.1%}), in truth {np.mean(np.delete(right, asked)):.1%}")
assert low <= np.mean(np.delete(right, asked)) <= high

# %% [markdown]
# ## A slip of the hand
#
# What is told together is one group, and undone together.

# %%
before = session.predict_proba()
group = session.tell(session.ask(3), ["1", "1", "1"])
assert len(session.labelled) == 63
session.undo(group)
assert len(session.labelled) == 60
assert np.array_equal(session.predict_proba(), before), "nothing is left of it"

# %% [markdown]
# ## Save, and go on elsewhere
#
# A saved session is a project folder. `dial.open` goes on with it, and so do the `dial` command and the labelling page
# (`session.serve()` opens it from here).

# %%
with tempfile.TemporaryDirectory() as folder:
    place = session.save(Path(folder) / "digits")
    with dial.open(place) as again:
        assert np.array_equal(again.ask(5), session.ask(5)), "it asks what it would have asked"
        assert np.array_equal(again.predict(), session.predict())

# %% [markdown]
# ## What was asked
#
# The first questions go for what is typical, each from another corner of the pool; the later ones for what is
# doubtful.

# %%
if plt is not None:
    figure, (curve, shown) = plt.subplots(1, 2, figsize=(9, 3.4), width_ratios=(1, 1.15))
    curve.plot(range(1, 61), accuracy, color=COLOURS[0])
    curve.set(
        xlabel="labels",
        ylabel="share of all rows that are right",
        ylim=(0, 1),
        xlim=(0, 60),
        title="How the belief grows",
    )
    # Twenty pictures of 28 x 28 pixels, five beside each other.
    tiles = pool.X[asked[:20]].reshape(4, 5, 28, 28).transpose(0, 2, 1, 3).reshape(4 * 28, 5 * 28)
    shown.imshow(tiles, cmap="gray_r")
    for line in range(1, 5):
        shown.axvline(28 * line - 0.5, color="#bbbbbb", linewidth=0.6)
        shown.axhline(28 * line - 0.5, color="#bbbbbb", linewidth=0.6)
    shown.set(xticks=[], yticks=[], title="The first twenty questions")
    shown.grid(False)
    keep(figure, "first-session")
