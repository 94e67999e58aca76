"""Writes docs/python-reference.md from the docstrings of the package.

    python python/reference.py            writes the page
    python python/reference.py --check    fails if the page is out of date, or if something public has no docstring

What is public is what ``dial.__all__`` names, and the public methods and attributes of its classes.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The package that is installed, and not the sources beside this file, which have no extension.
sys.path[:] = [place for place in sys.path if Path(place).resolve() != Path(__file__).resolve().parent] + [
    place for place in sys.path if Path(place).resolve() == Path(__file__).resolve().parent
]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python-reference.md"
WIDTH = 100

#: The sections of the page, and what belongs to them.
SECTIONS = {
    "A session": ["Session", "open", "Advice", "Page"],
    "Pools from files": ["read", "Pool", "embed"],
    "Simulations": ["simulate"],
    "scikit-learn and modAL": ["DirichletClassifier", "ActiveLearner", "dial_sampling"],
    "The pieces": [
        "knn",
        "knn_graph",
        "poisson_propagation",
        "heat_propagation",
        "DirichletField",
        "ACQUISITIONS",
        "acquisition_scores",
        "choose",
        "classify",
    ],
    "Errors": ["DialError", "InputError", "StateError"],
    "Versions": ["METHOD_VERSION", "__version__"],
}

#: What is worth saying about values, which have no docstrings.
VALUES = {
    "ACQUISITIONS": "The acquisitions that read the belief alone, for `acquisition_scores`.",
    "METHOD_VERSION": "The version of the method: it changes when the same labels may lead to other questions.",
    "__version__": "The version of the package.",
}

#: What one is given and does not make.
RESULTS = ("Advice", "Page", "Pool")

#: Names of types that stand in the signatures.
TYPES = """\
In the signatures `Nodes` is an array of row numbers (int64), `Numbers` one of float64, `Progress` is None, True (a bar
of tqdm) or a function of (stage, done, steps), and `OwnAcquisition` a function from alpha (rows x classes) to a score
for every row. What has no type may be anything that NumPy makes an array of, and tables of pandas, polars and Arrow."""

#: Query strategies that need scikit-activeml, and are therefore no names of ``dial`` itself.
ACTIVEML = "dial.activeml"


class Undocumented(Exception):
    """Something public has no docstring."""


def page() -> str:
    """The whole page."""
    import dial

    listed = [name for names in SECTIONS.values() for name in names]
    if sorted(listed) != sorted(dial.__all__):
        raise Undocumented(f"the sections and dial.__all__ differ in {sorted(set(listed) ^ set(dial.__all__))}")
    parts = [
        "# Python reference",
        "Written by `python python/reference.py` from the docstrings; the [guide](python.md) says how it goes together.",
        TYPES,
        "\n".join(
            f"- {title}: {', '.join(f'[`{name}`](#{anchor(name)})' for name in names)}" for title, names in contents()
        ),
    ]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}")
        for name in names:
            parts += entry(f"dial.{name}", name, getattr(dial, name))
    parts.append("## scikit-activeml")
    for name, value in activeml():
        parts += entry(f"{ACTIVEML}.{name}", name, value)
    return "\n\n".join(part for part in parts if part) + "\n"


def contents() -> list[tuple[str, list[str]]]:
    """The sections with their names, those of scikit-activeml at the end."""
    return [*SECTIONS.items(), ("scikit-activeml", [f"activeml.{name}" for name, _ in activeml()])]


def activeml() -> list[tuple[str, Any]]:
    """The public names of dial.activeml."""
    from importlib import import_module

    module = import_module(ACTIVEML)
    return [(name, getattr(module, name)) for name in module.__all__]


def anchor(name: str) -> str:
    """How GitHub names the anchor of a heading."""
    return "dial" + re.sub(r"[^\w-]", "", name.lower())


def entry(place: str, name: str, value: Any) -> Iterator[str]:
    """The heading, signature and text of one name, and of the methods of a class."""
    yield f"### `{place}`"
    if inspect.isclass(value):
        if issubclass(value, Exception):
            bases = " and ".join(f"`{base.__name__}`" for base in value.__bases__)
            yield f"An exception; also {bases}."
        elif name not in RESULTS:
            yield code(f"{value.__name__}{signature(value)}")
        yield text(place, value)
        yield fields(value)
        for member, what in members(value).items():
            if not member.startswith("_"):
                yield from method(name, member, what)
    elif callable(value):
        yield code(f"{name}{signature(value)}")
        yield text(place, value)
    else:
        yield f"`{value!r}`: {VALUES[name]}" if name == "ACQUISITIONS" else VALUES[name]


def members(value: type) -> dict[str, Any]:
    """What a class defines, its own first, and what it has from other classes of the package."""
    found: dict[str, Any] = {}
    for base in value.__mro__:
        if base.__module__.startswith("dial."):
            found.update((name, member) for name, member in vars(base).items() if name not in found)
    return found


def method(of: str, name: str, value: Any) -> Iterator[str]:
    """The heading, signature and text of a method or property that the package itself defines."""
    if isinstance(value, property):
        yield f"#### `{of}.{name}`"
        yield text(f"{of}.{name}", value)
    elif inspect.isfunction(inspect.unwrap(value) if callable(value) else value) and value.__module__.startswith(
        "dial"
    ):
        yield f"#### `{of}.{name}`"
        yield code(f"{name}{signature(value)}")
        yield text(f"{of}.{name}", value)


def fields(value: type) -> str:
    """The attributes of a class that comments of the form ``#:`` describe, as a list."""
    found = re.findall(
        r"((?:^ +#: .*\n)+) +(?:self\.)?(\w+)(?:: ([^=\n]+?))?(?: = .*)?$", inspect.getsource(value), re.M
    )
    lines = []
    for comment, name, kind in found:
        if not name.startswith("_"):
            words = " ".join(line.strip()[2:].strip() for line in comment.strip().splitlines())
            lines.append(f"- `{name}`{f' (`{kind}`)' if kind else ''}: {inline(words)}")
    return "\n\n".join(["**Attributes**", "\n".join(lines)]) if lines else ""


def signature(value: Any) -> str:
    """The parameters as one writes them, on one line if they fit."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    words, star = [], False
    for parameter in found.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        marks = (
            "*"
            if parameter.kind is parameter.VAR_POSITIONAL
            else "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        )
        kind = annotation(parameter.annotation, ": ")
        word = f"{marks}{parameter.name}{kind}"
        if parameter.default is not parameter.empty:
            word += f" = {parameter.default!r}" if kind else f"={parameter.default!r}"
        words.append(word)
    result = "" if inspect.isclass(value) else annotation(found.return_annotation, " -> ")
    line = f"({', '.join(words)}){result}"
    name = getattr(value, "__name__", "")
    return (
        line if len(name) + len(line) <= WIDTH else "(\n" + "".join(f"    {word},\n" for word in words) + f"){result}"
    )


def annotation(found: Any, before: str) -> str:
    """A type as it was written."""
    if found is inspect.Signature.empty or found is Any or found == "Any":
        return ""
    return before + (found if isinstance(found, str) else getattr(found, "__name__", str(found)))


def code(words: str) -> str:
    """A block of Python."""
    return f"```python\n{words}\n```"


def text(place: str, value: Any) -> str:
    """A docstring as Markdown."""
    found = vars(value).get("__doc__") if inspect.isclass(value) else getattr(value, "__doc__", None)
    if not found or not found.strip():
        raise Undocumented(f"{place} has no docstring")
    return markdown(inspect.cleandoc(found))


def markdown(words: str) -> str:
    """Sections with a line of dashes become headings in bold, parameters a list, and examples code."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", words, flags=re.M)
    out = [prose(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2]):
        listed = title in ("Parameters", "Attributes", "Returns", "Raises", "Yields") and re.search(
            r"^\S.*\n +\S", body, re.M
        )
        out += [f"**{title}**", items(body) if listed else prose(body)]
    return "\n\n".join(part.strip("\n") for part in out if part.strip())


def items(body: str) -> str:
    """``name : type`` with an indented text becomes a line of a list."""
    lines: list[str] = []
    # A list of names may go on in the next line.
    for line in re.sub(r"^(\S.*,)\n(?=\S)", r"\1 ", body, flags=re.M).splitlines():
        if line and not line.startswith(" "):
            name, _, kind = line.partition(" :")
            kind = kind.strip()
            lines.append(f"- `{name.strip()}`{f' ({inline(kind)})' if kind else ''}:")
        elif line.strip() and lines:
            lines[-1] += f" {inline(line.strip())}"
    return "\n".join(line.removesuffix(":") if line.endswith("`:") or line.endswith("):") else line for line in lines)


def prose(body: str) -> str:
    """Paragraphs; lines with ``>>>`` and what they print become code."""
    out = []
    for paragraph in re.split(r"\n\s*\n", body.strip("\n")):
        if paragraph.lstrip().startswith(">>>"):
            out.append(f"```pycon\n{inspect.cleandoc(paragraph)}\n```")
        else:
            out.append(inline(paragraph.strip()))
    return "\n\n".join(out)


def inline(words: str) -> str:
    """Roles and double backticks as Markdown has them."""
    words = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", words)
    return re.sub(r"``([^`]+)``", r"`\1`", words)


def main() -> int:
    """Writes or checks the page."""
    try:
        wanted = page()
    except Undocumented as problem:
        print(problem, file=sys.stderr)
        return 1
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted:
            print(f"{PAGE.name} is out of date: run python python/reference.py", file=sys.stderr)
            return 1
    elif sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    else:
        PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
