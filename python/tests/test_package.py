"""The package itself: what it exports, its types, its two project files."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import dial

ROOT = Path(__file__).parents[2]


def test_everything_that_is_promised_is_there() -> None:
    for name in dial.__all__:
        assert getattr(dial, name) is not None, name
    assert sorted(dir(dial)) == sorted(dial.__all__)
    with pytest.raises(AttributeError):
        dial.nothing  # noqa: B018


def test_every_public_thing_says_what_it_is() -> None:
    for name in dial.__all__:
        thing = getattr(dial, name)
        if callable(thing):
            assert thing.__doc__, name
            if isinstance(thing, type):
                for member, value in inspect.getmembers(thing):
                    ours = (getattr(value, "__module__", None) or "").startswith("dial")
                    if not member.startswith("_") and callable(value) and ours:
                        assert value.__doc__, f"{name}.{member}"


def test_the_command_starts_without_numpy() -> None:
    line = "import sys, dial._command; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_both_project_files_say_the_same() -> None:
    tomllib = pytest.importorskip("tomllib")
    above, here = (tomllib.loads((ROOT / place / "pyproject.toml").read_text()) for place in (".", "python"))
    for settings in (above, here):
        settings["tool"].pop("mypy", None)
        del settings["project"]["readme"]
        del settings["tool"]["maturin"]["manifest-path"], settings["tool"]["maturin"]["python-source"]
        settings["tool"]["maturin"].pop("include", None)
    assert above == here


def test_docstrings_are_true() -> None:
    import doctest

    for name in ("dial", "dial.session", "dial.pieces", "dial.pools", "dial.classifier", "dial.modal"):
        found = doctest.testmod(importlib.import_module(name))
        assert found.attempted > 0 and found.failed == 0, name


def test_errors_speak_of_arguments_and_not_of_options() -> None:
    from dial._errors import make

    for text, wanted in [
        ("Use --k 9 or less.", "Use k=9 or less."),
        ("Use --zero-vectors isolate|drop or --metric euclidean.", "Use zero_vectors=isolate, dial.read(..., drop_zero_rows=True) or metric=euclidean."),
        ("--acquisition auto needs it.", "acquisition=auto needs it."),
        ("leave those rows out (--drop-nonfinite).", "leave those rows out (drop_nonfinite)."),
        ("Rescale or pass --standardize.", "Rescale or pass standardize."),
    ]:
        assert make("I1", "input", text).args[0] == wanted
