"""Embeddings of texts by real word vectors, compared with NumPy on the tokens of the tokenizers package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import dial
import numpy as np
import pytest

SOURCE = Path(os.environ.get("DIAL_WORDLLAMA", "nowhere"))
TEXTS = ["the cat purrs", "a kitten sleeps on the sofa", "The engine needs new brakes!", "größe 日本語 🙂", "", "a" * 40_000]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not SOURCE.is_dir():
        pytest.skip("DIAL_WORDLLAMA does not name the package wordllama")
    folder = tmp_path_factory.mktemp("words")
    shutil.copy(SOURCE / "tokenizers" / "l2_supercat_tokenizer_config.json", folder / "tokenizer.json")
    shutil.copy(SOURCE / "weights" / "l2_supercat_256.safetensors", folder / "model.safetensors")
    return folder


def by_hand(model: Path, texts: list[str]) -> np.ndarray:
    """The mean of the vectors of the first 512 tokens, of length 1."""
    safetensors = pytest.importorskip("safetensors.numpy")
    tokenizers = pytest.importorskip("tokenizers")
    (table,) = safetensors.load_file(model / "model.safetensors").values()
    tokenizer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    unknown = tokenizer.token_to_id("<unk>")
    rows = np.zeros((len(texts), table.shape[1]))
    for row, text in zip(rows, texts, strict=True):
        tokens = [token for token in tokenizer.encode(text, add_special_tokens=False).ids if token != unknown][:512]
        if tokens:
            mean = table[tokens].astype(np.float64).mean(axis=0)
            row[:] = mean / np.linalg.norm(mean)
    return rows


def test_embeddings_are_means_of_the_vectors_of_tokens(model: Path) -> None:
    # Of a long text only its beginning counts, by bytes and by tokens; the same letter again and again tests both.
    made = dial.embed(TEXTS, model)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made[:-1], by_hand(model, TEXTS[:-1]), atol=1e-6)
    np.testing.assert_allclose(made[-1:], by_hand(model, [TEXTS[-1][: 1 << 14]]), atol=1e-6)


def test_they_are_kept_and_make_the_features_of_a_project(model: Path, tmp_path: Path) -> None:
    texts = [f"{'the cat purrs' if row % 2 else 'a car needs brakes'} number {row}" for row in range(40)]
    (tmp_path / "mixed.txt").write_text("\n".join(texts) + "\n")

    def run(line: str) -> str:
        done = subprocess.run([sys.executable, "-m", "dial", *line.split()], cwd=tmp_path, check=True, capture_output=True)
        return done.stdout.decode()

    run(f"embed mixed.txt --embed {model}+none --out mixed.npz")
    made = np.load(tmp_path / "mixed.npz")["X"]
    np.testing.assert_allclose(made, by_hand(model, texts), atol=1e-6)
    (kept,) = (tmp_path / "mixed.embeddings").iterdir()
    size = kept.stat().st_size
    run(f"new mixed.txt --embed {model} --classes cat,car --k 5")
    assert kept.stat().st_size == size, "nothing was embedded again"
    run("tell mixed.dial 1 cat")
    run("tell mixed.dial 0 car")
    run("export mixed.dial --out mixed.csv")
    pandas = pytest.importorskip("pandas")
    assert pandas.read_csv(tmp_path / "mixed.csv")["predicted"].tolist() == ["cat" if row % 2 else "car" for row in range(40)]


def test_a_function_embeds_too(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("one\nthree\nfive\n")
    pool = dial.read(tmp_path / "words.txt", embed=lambda texts: np.array([[len(text), 1.0] for text in texts]))
    assert pool.texts == ["one", "three", "five"]
    assert pool.X.tolist() == [[3.0, 1.0], [5.0, 1.0], [4.0, 1.0]]
    with pytest.raises(dial.DialError, match="an array of 3 rows"):
        dial.read(tmp_path / "words.txt", embed=lambda texts: np.zeros((2, 2)))
    with pytest.raises(dial.DialError, match="neither texts nor pictures"):
        dial.read("builtin:moons:30", embed=lambda items: np.zeros((30, 2)))


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(dial.DialError, match="no such folder"):
        dial.embed(["a"], tmp_path / "nowhere")
