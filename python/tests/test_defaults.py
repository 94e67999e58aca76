"""Defaults are stated once, in the configuration of the core: arguments are None, and what a docstring says is so."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import dial

#: What takes settings.
TAKE_SETTINGS = [
    dial.Session,
    dial.DirichletClassifier,
    dial.simulate,
    dial.knn,
    dial.knn_graph,
    dial.poisson_propagation,
    dial.choose,
    dial.classify,
    dial.acquisition_scores,
]

X = np.random.default_rng(0).normal(size=(60, 3))


def documented(thing: Any) -> dict[str, str]:
    """The defaults that a docstring states, as in ``k : int, default 20``."""
    found = re.findall(r"^    (\w+) : .*, default (.+)$", thing.__doc__, re.M)
    return {name: default.replace('"', "") for name, default in found}


def in_words(auto: Any, paper: Any) -> str:
    return f"{auto}" if auto == paper else f"{auto} with auto, else {paper}"


def test_no_function_has_a_default_of_its_own() -> None:
    names = set(dial.Session(X).settings)
    for thing in TAKE_SETTINGS:
        for name, parameter in inspect.signature(thing).parameters.items():
            if name in names:
                assert parameter.default is None, f"{thing.__name__}({name}=)"


def test_a_session_documents_the_defaults_of_the_configuration() -> None:
    auto, paper = dial.Session(X).settings, dial.Session(X, acquisition="variance").settings
    stated = documented(dial.Session)
    optional = {"tolerance", "expected_clusters", "prior_strength"}
    assert stated.pop("acquisition") == auto["acquisition"]
    assert stated == {name: in_words(auto[name], paper[name]) for name in auto if name not in optional | {"acquisition"}}


def test_a_classifier_documents_those_of_auto() -> None:
    auto, stated = dial.Session(X).settings, documented(dial.DirichletClassifier)
    assert {"k", "tau", "weights", "calibration", "seed"} < set(stated)
    assert stated == {name: str(auto[name]) for name in stated}


def test_a_simulation_documents_the_protocol_that_it_plays() -> None:
    stated = documented(dial.simulate)
    assert set(stated) == {"queries", "batch", "trials", "initial", "classes", "noise"}
    x = np.random.default_rng(1).normal(size=(130, 3))
    y = np.arange(130) % 3
    played = dial.simulate(x, y, acquisition="random")
    numbers = {"queries": int, "batch": int, "trials": int, "noise": float}
    spelled = dial.simulate(x, y, acquisition="random", **{name: numbers.get(name, str)(word) for name, word in stated.items()})
    assert (max(played["query"]), len(set(played["trial"]))) == (int(stated["queries"]), int(stated["trials"]))
    for column in set(played) - {"seconds"}:
        assert list(played[column]) == list(spelled[column]), column


def test_a_k_that_is_given_counts() -> None:
    few = X[:9]
    assert dial.Session(few).settings["k"] == 8 and dial.knn(few)[0].shape == (9, 8)
    for given in (lambda: dial.Session(few, k=20), lambda: dial.knn(few, k=20)):
        with pytest.raises(dial.InputError, match="21 items"):
            given()
