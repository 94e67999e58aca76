"""What the examples share to draw: matplotlib if it is installed, and a place for the figures.

Figures are written into the folder named by the environment variable ``DIAL_FIGURES``; without it they are only drawn,
as a notebook shows them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

#: matplotlib.pyplot; None without matplotlib.
plt: Any
try:
    import matplotlib

    if "DIAL_FIGURES" in os.environ:
        # Nobody looks on; no window is needed.
        matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 9,
            "axes.titlesize": 10,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#e6e6e6",
            "axes.axisbelow": True,
            "legend.frameon": False,
            "figure.constrained_layout.use": True,
            "savefig.dpi": 110,
        }
    )
except ImportError:
    plt = None

#: Colours that can be told apart with every kind of colour vision (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")


def keep(figure: Any, name: str) -> None:
    """Writes a figure, if there is a place for it."""
    folder = os.environ.get("DIAL_FIGURES")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        figure.savefig(Path(folder) / f"python-{name}.png")
        plt.close(figure)
