"""``python -m dial`` is the ``dial`` command."""

from ._command import main

main()
