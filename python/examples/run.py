"""Runs all examples, each in a process of its own: ``python python/examples/run.py [NAME ...]``.

The scripts are cells in the percent format, which VS Code, PyCharm and Spyder run as they are; ``jupytext --to notebook
--execute python/examples/*_*.py`` makes notebooks of them. Figures go into the folder named by ``DIAL_FIGURES``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = sorted(path.stem for path in HERE.glob("[0-9]_*.py"))


def run(name: str) -> subprocess.CompletedProcess[str]:
    """Runs one example; it fails if one of its claims does."""
    # Problems so small are solved faster without threads in BLAS, above all where others work, too.
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ, "MPLBACKEND": "agg"}
    return subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(HERE / f"{name}.py")],
        capture_output=True,
        text=True,
        env=environment,
    )


def main() -> int:
    """Runs the examples that are named, or all."""
    unknown = set(sys.argv[1:]) - set(EXAMPLES)
    if unknown:
        print(f"there is no example {', '.join(sorted(unknown))}: use {', '.join(EXAMPLES)}", file=sys.stderr)
        return 2
    failed = 0
    for name in sys.argv[1:] or EXAMPLES:
        done = run(name)
        print(f"{'ok    ' if done.returncode == 0 else 'FAILED'}  {name}", flush=True)
        if done.returncode != 0:
            failed += 1
            print(done.stdout + done.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
