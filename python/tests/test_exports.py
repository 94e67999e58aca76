"""What an export hands out is read by pandas and taken by scikit-learn as it is, in every format."""

import json
import signal
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import dial
import numpy as np
import pytest

pd = pytest.importorskip("pandas")
CSV: dict[str, Any] = {"dtype": {"label": str, "predicted": str}, "keep_default_na": False, "na_values": [""]}
READERS = {
    "csv": lambda file: pd.read_csv(file, **CSV),
    "jsonl": lambda file: pd.read_json(file, lines=True),
    "parquet": lambda file: pd.read_parquet(file),
}


def run(place: Path, line: str) -> None:
    subprocess.run([sys.executable, "-m", "dial", *line.split()], cwd=place, check=True, capture_output=True)


@pytest.mark.parametrize("ending", READERS)
def test_a_classifier_is_trained_on_a_table(ending: str, tmp_path: Path) -> None:
    sklearn = pytest.importorskip("sklearn.linear_model")
    random = np.random.default_rng(0)
    high = np.arange(40) >= 20
    points = random.normal(size=(40, 2)) + 6.0 * high[:, None]
    lines = [f"{a:.4f},{b:.4f},00{row},shop {row % 3}" for row, (a, b) in enumerate(points)]
    (tmp_path / "shop.csv").write_text("price,width,code,where\n" + "\n".join(lines) + "\n")
    run(tmp_path, "new shop.csv --classes low,high --k 5")
    with dial.open(tmp_path / "shop") as session:
        session.tell([0, 25], ["low", "high"])
        session.tell(5, "low", weight=0.5)
        session.tell(30, {"high": 0.7, "low": 0.3})
        for annotator, label in [("ann", "low"), ("bob", "high")]:
            session.tell(10, label, annotator=annotator)
            session.tell(12, label, annotator=annotator)
        session.tell(12, "low", annotator="eve", adjudicate=True)
        session.exclude(25)
        rows = READERS[ending](session.export(tmp_path / f"all.{ending}"))
    assert len(rows) == 40
    train = rows.dropna(subset=["label"])
    assert set(train["label"]) == {"low", "high"}, "classes are clean"
    assert train.index.tolist() == [0, 5, 12, 30]
    assert train["weight"].tolist() == pytest.approx([1.0, 0.5, 1.0, 0.7])
    tie = rows.loc[10]
    assert pd.isna(tie["label"]) and tie["agreement"] == 0.5 and tie["source"] == "several"
    assert (tie["label_low"], tie["label_high"]) == (0.5, 0.5)
    assert rows.loc[12, "annotator"] == "eve", "who adjudicates wins"
    assert rows.loc[30, ["label_low", "label_high"]].tolist() == pytest.approx([0.3, 0.7])
    # The columns of the pool are whole: numbers as numbers, the rest as it was.
    assert np.allclose(rows[["price", "width"]].to_numpy(float), np.round(points, 4))
    assert rows["where"].tolist() == [f"shop {row % 3}" for row in range(40)]
    model = sklearn.LogisticRegression()
    model.fit(train[["price", "width"]], train["label"], sample_weight=train["weight"])
    told = model.predict(rows[["price", "width"]])
    assert (told == np.where(high, "high", "low")).mean() > 0.9


def test_texts_come_with_their_labels(tmp_path: Path) -> None:
    pipeline = pytest.importorskip("sklearn.pipeline")
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    texts = [f"the {'cat' if row % 2 else 'dog'} number {row} sleeps" for row in range(30)]
    (tmp_path / "pets.txt").write_text("\n".join(texts) + "\n")
    run(tmp_path, "new pets.txt --classes cat,dog --k 5")
    with dial.open(tmp_path / "pets") as session:
        session.tell([0, 1, 2, 3], ["dog", "cat", "dog", "cat"])
        rows = pd.read_csv(session.export(tmp_path / "pets.csv"))
        bare = pd.read_csv(session.export(tmp_path / "bare.csv", original_columns=False))
    assert rows["text"].tolist() == texts and "text" not in bare
    train = rows.dropna(subset=["label"])
    model = pipeline.make_pipeline(TfidfVectorizer(), LogisticRegression(C=100.0))
    model.fit(train["text"], train["label"], logisticregression__sample_weight=train["weight"])
    assert model.predict(rows["text"]).tolist() == ["cat" if row % 2 else "dog" for row in range(30)]


def example_of(place: Path, project: str) -> str:
    """The code that the page shows for a project, from the server that shows it."""
    server = subprocess.Popen(
        [sys.executable, "-m", "dial", "serve", project, "--json", "--quiet"], cwd=place, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += server.stdout.readline()
        link: str = json.loads(lines)["link"]
        own = json.loads((place / f"{project}.dial" / "server.json").read_text())
        address = link.split("/#")[0].split("/?")[0].rstrip("/")
        headers = {"Authorization": f"Bearer {own['token']}"}
        asked = urllib.request.Request(f"{address}/api/v1/export/example", headers=headers)
        with urllib.request.urlopen(asked) as answer:
            code: str = json.load(answer)["code"]
            return code
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        server.stdout.close()


@pytest.mark.parametrize("pool", ["films", "shop", "words", "digits"])
def test_what_the_page_says_about_training_runs(pool: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    labels = ["None", "-1", "NA"]
    own = tmp_path / "pools"
    own.mkdir()
    if pool == "films":
        rows = [f'f{row},"a film about {["war", "love", "food"][row % 3]} and number {row}, rather long",{row}' for row in range(60)]
        (own / "films.csv").write_text("film,review,year\n" + "\n".join(rows) + "\n")
    elif pool == "shop":
        rows = [f"{10 * (row % 3)},{['red', 'blue', 'NA'][row % 3]},{row / 7:.3f},code {row}" for row in range(60)]
        (own / "shop.csv").write_text("x 1,colour,weight,where\n" + "\n".join(rows) + "\n")
    elif pool == "words":
        (own / "words.txt").write_text("\n".join(f"{['NA', 'war', 'null'][row % 3]} {row}" for row in range(60)) + "\n")
    source = {"films": "pools/films.csv", "shop": "pools/shop.csv", "words": "pools/words.txt", "digits": "builtin:digits:200"}[pool]
    run(tmp_path, f"new {source} --project {pool}.dial --k 5 --classes=None,-1,NA")
    with dial.open(tmp_path / f"{pool}.dial") as session:
        for row in range(12):
            session.tell(row, labels[row % 3])
        session.export(tmp_path / f"{pool}.csv")
    code = example_of(tmp_path, pool)
    check = "assert sorted(model.classes_) == ['-1', 'NA', 'None'], model.classes_\nassert len(train) == 12"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{check}"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, f"{code}\n{done.stderr}"


def test_a_scene_is_exported_as_maps(tmp_path: Path) -> None:
    run(tmp_path, "new builtin:scene:256 --project scene --classes a,b --k 8")
    with dial.open(tmp_path / "scene") as session:
        session.tell([0, 200], ["a", "b"])
        predicted, probability = session.predict(), session.predict_proba().max(axis=1)
        evidence = session.evidence()
        archive = zipfile.ZipFile(session.export(tmp_path / "scene.zip"))
    names = {f"{name}.{ending}" for name in ("class", "doubt", "evidence") for ending in ("hdr", "img", "png")}
    assert set(archive.namelist()) == names
    classes = np.frombuffer(archive.read("class.img"), np.uint8)
    doubt = np.frombuffer(archive.read("doubt.img"), "<f4")
    reached = classes > 0
    assert reached.any() and (classes[0], classes[200]) == (1, 2)
    assert np.array_equal(np.array(["", "a", "b"])[classes[reached]], predicted[reached])
    given = np.isin(np.arange(256), [0, 200])
    assert (doubt[given] == 0).all()
    assert np.allclose(doubt[reached & ~given], 1 - probability[reached & ~given], atol=1e-6)
    assert np.allclose(np.frombuffer(archive.read("evidence.img"), "<f4"), evidence, rtol=1e-6)
    header = archive.read("class.hdr").decode()
    assert "ENVI Classification" in header and "samples = 16" in header


def test_maps_are_of_scenes(two_clusters: Any, tmp_path: Path) -> None:
    session = dial.Session(two_clusters[0], ["a", "b"], k=5)
    with pytest.raises(dial.DialError, match="scene"):
        session.export(tmp_path / "all.zip")
