"""The ``dial`` command of the wheel."""

from __future__ import annotations

import signal
import sys

from ._dial import command


def main() -> None:
    """Runs the command with the arguments of this process."""
    # Ctrl-C ends the command as it ends other commands; Python would only take note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise SystemExit(command(["dial", *sys.argv[1:]]))
