# %% [markdown]
# # A hyperspectral scene
#
# Every pixel of the scene is a spectrum of 60 bands; six crops grow there, and between the fields lies ground that
# nobody has mapped. A map needs a label for each of 4,096 pixels; we ask for 40.
#
# Your own scenes come in the same way: `dial.read("scene.hdr")` for ENVI, or a MATLAB cube with its ground truth
# (`labels="truth.mat"`).

# %%
import numpy as np

import dial
from figures import COLOURS, keep, plt

pool = dial.read("builtin:scene")
print(pool, "of", pool.scene, "pixels")
assert pool.scene is not None and pool.pixels is not None and pool.wavelengths is not None
assert pool.labels is not None and pool.classes is not None
height, width = pool.scene
assert len(pool.wavelengths) == pool.X.shape[1]

# %% [markdown]
# Spectra are compared by their angle, which light and shadow leave alone: `metric="cosine"`. Pixels that nobody can
# name stay in the graph, but are not asked (`askable`).

# %%
known = pool.labels >= 0
truth = pool.y
session = dial.Session(pool.X, pool.classes, metric="cosine", askable=known, seed=1)
counts, accuracy = [], []
while len(session.labelled) < 40:
    nodes = session.ask(4)
    assert known[nodes].all()
    session.tell(nodes, truth[nodes])
    counts.append(len(session.labelled))
    accuracy.append(float(np.mean(session.predict()[known] == truth[known])))
    print(f"{counts[-1]:3} labels: {accuracy[-1]:.1%} of the mapped pixels right")
assert accuracy[-1] > 0.95

# %% [markdown]
# ## Which pixels to trust
#
# The variance of the belief is high where no label speaks for a pixel: on the ground that is none of the crops.

# %%
variance = session.variance()
print(f"mean variance {variance[known].mean():.3f} on the fields, {variance[~known].mean():.3f} on the ground")
assert variance[~known].mean() > 2 * variance[known].mean()

# %% [markdown]
# How well does the variance tell one from the other? The probability that a pixel of the ground has the larger one:

# %%
order = variance.argsort().argsort() + 1.0
ground = int((~known).sum())
share = (order[~known].sum() - ground * (ground + 1) / 2) / (ground * int(known.sum()))
print(f"{share:.1%} (half would be chance)")
assert share > 0.8

# %% [markdown]
# ## The maps


# %%
def picture(values: np.ndarray) -> np.ndarray:
    """Values of the rows as a picture; NaN where a pixel has no row."""
    assert pool.pixels is not None
    image = np.full(height * width, np.nan)
    image[pool.pixels] = values
    return image.reshape(height, width)


believed = np.searchsorted(np.array(pool.classes), session.predict())
assert list(pool.classes) == sorted(pool.classes)
if plt is not None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colours = ListedColormap(COLOURS[: len(pool.classes)])
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.9))
    axes[0].imshow(
        picture(np.where(known, pool.labels, np.nan)), cmap=colours, vmin=-0.5, vmax=5.5, interpolation="nearest"
    )
    axes[0].set_title("The truth; white: not mapped")
    sure = np.clip(1 - picture(variance) / variance.max(), 0.15, 1)
    axes[1].imshow(picture(believed), cmap=colours, vmin=-0.5, vmax=5.5, alpha=sure, interpolation="nearest")
    rows, columns = np.divmod(pool.pixels[session.labelled], width)
    axes[1].scatter(columns, rows, s=14, facecolor="white", edgecolor="black", linewidth=0.7)
    axes[1].set_title("Believed after 40 labels (dots); pale: unsure")
    shown = axes[2].imshow(picture(variance), cmap="viridis", interpolation="nearest")
    axes[2].set_title("Variance of the belief")
    figure.colorbar(shown, ax=axes[2], shrink=0.8)
    for place in axes:
        place.set(xticks=[], yticks=[])
        place.grid(False)
        place.spines[:].set_visible(False)
    patches = [Patch(color=colour, label=name) for colour, name in zip(COLOURS, pool.classes)]
    figure.legend(handles=patches, loc="outside lower left", ncols=6, handlelength=1)
    keep(figure, "scene")
