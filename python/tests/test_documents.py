"""What the documents say can be done: their code runs, the examples hold, the reference is what the docstrings say."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
DOCUMENTS = ["README.md", "docs/python.md", "python/README.md"]
#: What examples import beside dial and NumPy.
NEEDS = {
    "2_digits_against_scikit_learn": ["sklearn"],
    "5_coming_from_modal_and_activeml": ["sklearn", "modAL", "skactiveml"],
}


def blocks(document: str) -> list[tuple[int, str]]:
    """The blocks of Python in a document, with the lines that they begin at."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S)
    return [(text[: match.start(1)].count("\n") + 1, match.group(1)) for match in found]


def example_runner() -> ModuleType:
    """python/examples/run.py."""
    spec = importlib.util.spec_from_file_location("run_examples", EXAMPLES / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_code_of_a_document_runs_and_prints_what_it_says(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``print(x)    # 8`` promises a line that begins so; what follows a comma or dots is talk."""
    for needed in ("scipy", "sklearn", "skactiveml", "pandas"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {"__name__": "document"}
    promises = 0
    for line, code in blocks(document):
        capsys.readouterr()
        # Blank lines before the code, so that a traceback names the line of the document.
        exec(compile("\n" * (line - 1) + code, document, "exec"), space)
        printed = capsys.readouterr().out
        for promise in re.findall(r"^ *print\(.*\)  +# ([\[\d].*)$", code, re.M):
            wanted = re.split(r" \.\.\.|, ", promise)[0]
            promises += 1
            assert any(said.startswith(wanted) for said in printed.splitlines()), f"{line}: {wanted!r} in {printed!r}"
    assert promises, "a document that promises nothing is no test"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("[0-9]_*.py")))
def test_an_example_holds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in NEEDS.get(name, []):
        pytest.importorskip(needed)
    monkeypatch.setenv("DIAL_FIGURES", str(tmp_path))
    done = example_runner().run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    if importlib.util.find_spec("matplotlib"):
        assert list(tmp_path.glob("python-*.png")), "it draws a figure"


def test_there_are_five_examples() -> None:
    assert [name[0] for name in example_runner().EXAMPLES] == ["1", "2", "3", "4", "5"]


def test_a_claim_that_does_not_hold_fails_the_run(tmp_path: Path) -> None:
    runner = example_runner()
    (tmp_path / "9_wrong.py").write_text("assert 1 + 1 == 3\n")
    setattr(runner, "HERE", tmp_path)
    assert runner.run("9_wrong").returncode != 0


def test_the_reference_is_up_to_date() -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("skactiveml")
    done = subprocess.run(
        [sys.executable, str(ROOT / "python" / "reference.py"), "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_links_between_the_documents_lead_somewhere() -> None:
    for document in [*DOCUMENTS, "docs/python-reference.md"]:
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if not target.startswith("http"):
                assert ((ROOT / document).parent / target).exists(), f"{document}: {target}"


def test_anchors_within_the_documents_exist() -> None:
    for document in [*DOCUMENTS, "docs/python-reference.md"]:
        text = (ROOT / document).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
        # As GitHub makes them: lower case, spaces to dashes, everything else but letters, digits, _ and - left out.
        anchors = {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
        for target in re.findall(r"\]\(#([^)]+)\)", text):
            assert target in anchors, f"{document}: #{target}"
