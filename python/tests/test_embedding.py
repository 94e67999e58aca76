"""Embeddings by real word vectors, compared with NumPy on the tokens of the tokenizers package; and by two small networks."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dial
import numpy as np
import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures" / "golden"
SOURCE = Path(os.environ.get("DIAL_WORDLLAMA", "nowhere"))
TEXTS = ["the cat purrs", "a kitten sleeps on the sofa", "The engine needs new brakes!", "größe 日本語 🙂", "", "a" * 40_000]


#: `./test` builds the wheel without networks; the wheel that people get has them.
networks = pytest.mark.skipif("DIAL_WITHOUT_NETWORKS" in os.environ, reason="this wheel was built without networks")


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


def golden(name: str) -> np.ndarray:
    return np.array(json.loads((FIXTURES / "networks.json").read_text())[name])


def drawn() -> list[np.ndarray]:
    """The pictures of the fixtures."""
    shown = json.loads((FIXTURES / "networks.json").read_text())["pictures"]
    pixels = [np.frombuffer(bytes.fromhex(one["rgb"]), dtype=np.uint8) for one in shown]
    return [flat.reshape(one["height"], one["width"], 3) for flat, one in zip(pixels, shown, strict=True)]


@networks
def test_networks_embed_texts(tmp_path: Path) -> None:
    texts = json.loads((FIXTURES / "networks.json").read_text())["texts"]
    model = FIXTURES / "networks" / "texts"
    np.testing.assert_allclose(dial.embed(texts, model), golden("text_mean"), atol=1e-6)
    kept = dial.embed(iter(texts), model / "model.onnx", keep=tmp_path / "kept")
    np.testing.assert_allclose(kept, golden("text_mean"), atol=1e-6)
    assert len(list((tmp_path / "kept").iterdir())) == 1
    with pytest.raises(dial.DialError, match="embeds texts, and these items are pictures"):
        dial.embed(np.zeros((2, 9, 9), dtype=np.uint8), model)


@networks
def test_networks_embed_pictures(tmp_path: Path) -> None:
    model = FIXTURES / "networks" / "pictures" / "model.onnx"
    for picture, expected in zip(drawn(), golden("picture_cls"), strict=True):
        np.testing.assert_allclose(dial.embed(picture[None], model)[0], expected, atol=1e-6)
    image = pytest.importorskip("PIL.Image")
    files = [tmp_path / f"{row}.png" for row in range(3)]
    for file, picture in zip(files, drawn(), strict=True):
        # EXIF says how a picture is to be turned: 6 is a quarter to the right, so it lies a quarter to the left.
        exif = image.Exif()
        exif[0x0112] = 6
        image.fromarray(np.rot90(picture)).save(file, exif=exif)
    np.testing.assert_allclose(dial.embed(files, model), golden("picture_cls"), atol=1e-6)
    pool = dial.read(tmp_path, embed=model)
    np.testing.assert_allclose(pool.X, golden("picture_cls"), atol=1e-6)
    grey = np.arange(2 * 20 * 16, dtype=np.uint8).reshape(2, 20, 16)
    np.testing.assert_array_equal(dial.embed(grey, model), dial.embed(np.repeat(grey[..., None], 3, axis=3), model))
    for wrong in (np.zeros((2, 9, 9)), np.zeros((2, 9, 9, 4), dtype=np.uint8)):
        with pytest.raises(dial.DialError, match="Give pictures as bytes"):
            dial.embed(wrong, model)
    with pytest.raises(dial.DialError, match="an item of type int"):
        dial.embed([1, 2], model)  # type: ignore[list-item]
    with pytest.raises(dial.DialError, match="no such file"):
        dial.embed([tmp_path / "nowhere.png"], model)


def test_what_is_no_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(dial.DialError, match="no such folder"):
        dial.embed(["a"], tmp_path / "nowhere")
