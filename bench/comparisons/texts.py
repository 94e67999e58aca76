"""Features of texts, and the first question among them, against scikit-learn's TF-IDF and truncated SVD."""
import gzip
import itertools
import tempfile
from pathlib import Path

from harness import Goal, Skip, timed

TITLE = "Features of texts"
ABOUT = """What a pool of texts is described by without a model, both sides in 100 dimensions and rows of length 1: ours, and
`TfidfVectorizer()` with `TruncatedSVD(100)`, as they come. *purity* is how many of ten neighbours share the label. Reading the file
is in the time. *first question* adds the graph of 20 neighbours and `auto`. The questions (trec6) and sentences (subj) are
real; the long texts are made of invented words, 30,000 of them in the proportions of a language, of which a topic lifts some."""
PLOT = None


def goals_of(case, n):
    def purity(table):
        return table.ratio(case, "dial", "scikit-learn", "purity", n)
    return Goal(f"neighbour purity, {case}", "scikit-learn", 1, purity)


GOALS = [
    goals_of("questions", 5952), goals_of("sentences", 10_000), goals_of("long texts", 8000),
    Goal("features of 8,000 long texts", "scikit-learn", 1, lambda t: t.ratio("long texts", "scikit-learn", "dial", n=8000)),
    Goal("first question among 8,000 long texts", "", 5,
         lambda t: t.median("long texts", "dial", "first_question", n=8000), at_least=False, unit=" s"),
]


def run(bench):
    bench.rounds = min(bench.rounds, 3)
    for case, find in [("questions", lambda: real(bench, "trec6")), ("sentences", lambda: real(bench, "subj")),
                       ("long texts", lambda: long_texts(bench.cache, 600 if bench.quick else 8000))]:
        try:
            pool = find()
        except Skip as reason:
            bench.skipped.append(str(reason))
            continue
        bench.alternate(case, len(rows_of(pool)), {
            "dial": lambda turn, pool=pool: ours(bench, pool),
            "scikit-learn": lambda turn, pool=pool: bench.peer("scikit-learn", pool=pool),
        })


def ours(bench, pool):
    import numpy as np
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "features"
        line = bench.ours("texts", pool, file)[0]
        X = np.fromfile(file, np.float32).reshape(line["n"], line["dim"])
    return [{"seconds": line["seconds"], "first_question": line["first_question"], "purity": purity(X, pool)}]


def peer(side, pool):
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    def features():
        texts = [text for _, text in rows_of(pool)]
        return normalize(TruncatedSVD(100, random_state=0).fit_transform(TfidfVectorizer().fit_transform(texts)))

    X, seconds = timed(features)
    yield {"seconds": seconds, "purity": purity(X.astype("float32"), pool)}


def rows_of(pool):
    """Label and text of every line but the first."""
    lines = Path(pool).read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [line.split("\t", 1) for line in lines[1:]]


def purity(X, pool, k=10):
    import numpy as np
    labels = np.array([label for label, _ in rows_of(pool)])
    same = 0
    for block in np.array_split(np.arange(len(X)), max(1, len(X) // 500)):
        products = X[block] @ X.T
        products[np.arange(len(block)), block] = -np.inf
        near = np.argpartition(-products, k, axis=1)[:, :k]
        same += (labels[near] == labels[block][:, None]).sum()
    return float(same / (k * len(X)))


def written(out, rows):
    out.write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")
    return out


def real(bench, name):
    file = bench.data / "texts" / f"{name}.tsv.gz" if bench.data else None
    if file is None or not file.exists():
        raise Skip(f"{name}: no data")
    lines = gzip.open(file, "rt", encoding="utf-8").read().rstrip("\n").split("\n")
    rows = [line.replace('"', "'").split("\t", 1) for line in lines]
    return written(bench.cache / f"{name}.tsv", rows[::10] if bench.quick else rows)


def long_texts(cache, n, topics=20, words=30_000, length=230):
    """Texts of some 2,000 letters: one word in eight is of the topic, one in twenty of any other."""
    import numpy as np
    out = cache / f"long-texts-{n}.tsv"
    if out.exists():
        return out
    random = np.random.default_rng(3)
    syllables = ["".join(pair) for pair in itertools.product("bcdfglmnprstv", "aeiou")]
    endings = ["", "", "", "s", "ed", "ing", "er", "ly", "tion", "al"]
    made = {}
    while len(made) < words:
        made["".join(random.choice(syllables, random.integers(1, 5))) + random.choice(endings)] = None
    vocabulary = np.array(list(made))
    common = 1 / (np.arange(words) + 3.0)
    common /= common.sum()
    of_topic = []
    for _ in range(topics):
        lift = np.ones(words)
        lift[random.choice(np.arange(60, words), 1500, replace=False)] = random.gamma(0.3, 60, 1500)
        of_topic.append(common * lift / (common * lift).sum())
    rows = []
    for item in range(n):
        topic, aside = item % topics, random.integers(topics)
        share = 0.12 * of_topic[topic] + 0.05 * of_topic[aside] + 0.83 * common
        count = max(15, int(random.lognormal(np.log(length) - 0.2, 0.7)))
        rows.append((f"t{topic}", " ".join(vocabulary[random.choice(words, count, p=share)])))
    return written(out, rows)
