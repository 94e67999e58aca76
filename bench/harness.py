"""What all comparisons share: the environment of the peers, the data, running both sides in turn, and the records.

A comparison records rows (case, n, side, round, measure, value); `Table` reads them back for the page. Each side runs in a
process of its own and prints one JSON object per line. A side that cannot run (package not installed, part not built) is
skipped with its reason, which the page repeats.
"""
import csv
import datetime
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
# modAL calls what scikit-learn 1.8 removed; annoy is graphlearning's neighbour search.
PEERS = ["numpy", "scipy", "scikit-learn<1.8", "annoy", "graphlearning", "pyamg", "faiss-cpu", "hnswlib", "pynndescent",
         "scikit-activeml", "modAL-python"]
COLUMNS = ["case", "n", "side", "round", "measure", "value"]
RUN_COLUMNS = ["comparison", "date", "cpu", "cores", "load before", "load after", "versions", "skipped"]


class Skip(Exception):
    """A side that cannot be measured here, with the reason."""


@dataclass(frozen=True)
class Goal:
    """A number wanted of a comparison. `value` reads it from the table (None: not measured)."""
    text: str
    against: str
    want: float
    value: Callable[["Table"], float | None]
    limit: str = ""
    at_least: bool = True
    unit: str = "x"

    def met(self, value):
        return value >= self.want if self.at_least else value <= self.want


def environment(cache):
    """The interpreter of the peers, made on first use; what cannot be installed is told and left out."""
    home = cache / "venv"
    python = home / "bin" / "python"
    if not python.exists():
        print(f"making an environment for the peers in {home}", flush=True)
        venv.create(home, with_pip=True)
        for package in PEERS:
            install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
            if subprocess.run(install, check=False).returncode != 0:
                print(f"  {package} cannot be installed: its comparisons will be skipped", flush=True)
    return python


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def json_lines(command, what):
    """Runs a side and returns the objects it prints."""
    threads = {name: str(os.cpu_count()) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, **threads})
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    missing = [line["missing"] for line in found if "missing" in line]
    if missing:
        raise Skip(f"{what}: {missing[0]}")
    if run.returncode != 0:
        raise Skip(f"{what}: {(run.stderr.strip().splitlines() or ['failed silently'])[-1]}")
    return found


class Bench:
    """One comparison while it runs."""

    def __init__(self, name, data, cache, quick, rounds):
        self.name, self.data, self.cache, self.quick, self.rounds = name, data, cache, quick, rounds
        self.rows, self.skipped, self.before = [], [], os.getloadavg()[0]

    def ours(self, *arguments):
        return json_lines([target() / "dial-bench", *arguments], f"dial-bench {arguments[0]}")

    def peer(self, peer, **arguments):
        """Runs `peer` of this comparison's file in a process of its own."""
        command = [sys.executable, ROOT / "bench/run.py", "--peer", self.name, peer, json.dumps(arguments, default=str)]
        return json_lines(command, peer)

    def alternate(self, case, n, sides):
        """Measures the sides (name -> function of the round) in turn, round by round, and records what they report."""
        sides, done = dict(sides), 0
        for turn in range(self.rounds):
            for side in list(sides):
                try:
                    lines = sides[side](turn)
                except Skip as reason:
                    print(f"  skipped: {case}: {reason}", flush=True)
                    self.skipped.append(f"{case}: {reason}")
                    del sides[side]
                    continue
                for line in lines:
                    for measure, value in line.items():
                        if isinstance(value, (int, float)):
                            self.rows.append([case, n, side, turn, measure, value])
                            done += 1
        print(f"  {case}, n = {n:,}: " + ", ".join(
            f"{side} {shown}" for side in sides if (shown := self.middle(case, n, side)) is not None), flush=True)
        return done

    def middle(self, case, n, side):
        values = [row[5] for row in self.rows if row[:3] == [case, n, side] and row[4] == "seconds"]
        return f"{statistics.median(values):.4g} s" if values else None

    # Data.

    def pool(self, name, n, d, quick_n=3000):
        """A real pool of the data folder, or a generated one of its shape; a small generated one for a smoke test."""
        file = self.data / "features" / f"{name}.npz" if self.data else None
        if not self.quick and file is not None and file.exists():
            return file
        if not self.quick:
            self.skipped.append(f"{name}: no data, a generated pool of {n} x {d} stands in")
        return self.clusters(quick_n if self.quick else n, d)

    def images(self):
        """The 70,000 MNIST images as bytes, n x 784."""
        import gzip
        import numpy as np
        folder = self.data / "images/mnist" if self.data else None
        if self.quick or folder is None or not folder.exists():
            return self.clusters(2000 if self.quick else 70_000, 784)
        out = self.cache / "mnist784.npy"
        if not out.exists():
            parts = [next(folder.glob(f"{part}-images*")) for part in ("train", "t10k")]
            raw = [np.frombuffer((gzip.open if part.suffix == ".gz" else open)(part, "rb").read(), np.uint8, offset=16)
                   for part in parts]
            np.save(out, np.concatenate(raw).reshape(-1, 784))
        return out

    def clusters(self, n, d, groups=200, inner=10):
        """A generated pool: planted clusters, each spread over a few directions of its own."""
        import numpy as np
        out = self.cache / f"clusters-{n}x{d}.npy"
        if out.exists():
            return out
        random = np.random.default_rng(n + d)
        centres = random.normal(size=(groups, d)).astype(np.float32) * 1.5
        directions = random.normal(size=(groups, inner, d)).astype(np.float32) / np.float32(np.sqrt(d))
        X = np.lib.format.open_memmap(out, "w+", np.float32, (n, d))
        for first in range(0, n, 100_000):
            group = random.integers(groups, size=min(100_000, n - first))
            inside = random.normal(size=(len(group), inner)).astype(np.float32)
            noise = random.normal(size=(len(group), d)).astype(np.float32) * np.float32(0.1)
            X[first:first + len(group)] = centres[group] + np.einsum("ij,ijk->ik", inside, directions[group]) + noise
        X.flush()
        return out

    def graph(self, pool):
        """The graph of a pool, k = 20, exact, self-tuning, as scipy.sparse reads it; kept in the cache."""
        out = self.cache / f"graph-{pool.stem}.npz"
        if not out.exists():
            subprocess.run([target() / "dial", "graph", pool, "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        return out

    def save(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / f"{self.name}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *self.rows])
        note = [self.name, datetime.date.today().isoformat(), cpu(), os.cpu_count(), f"{self.before:.2f}",
                f"{os.getloadavg()[0]:.2f}", versions(), "; ".join(dict.fromkeys(self.skipped))]
        runs = [row for row in read_csv(folder / "runs.csv") if row["comparison"] != self.name]
        runs = sorted([*runs, dict(zip(RUN_COLUMNS, note))], key=lambda row: row["comparison"])
        with open(folder / "runs.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, RUN_COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(runs)


class Table:
    """The rows of one comparison, as medians."""

    def __init__(self, rows):
        self.values = {}
        for row in rows:
            key = (row["case"], int(row["n"]), row["side"], row["measure"])
            self.values.setdefault(key, []).append(float(row["value"]))

    def median(self, case, side, measure="seconds", n=None):
        found = [value for key, values in self.values.items() for value in values
                 if key[0] == case and key[2] == side and key[3] == measure and n in (None, key[1])]
        return statistics.median(found) if found else None

    def ratio(self, case, peer, ours, measure="seconds", n=None):
        """How many times more the peer needs; None where one of them was not measured."""
        top, bottom = self.median(case, peer, measure, n), self.median(case, ours, measure, n)
        return top / bottom if top is not None and bottom else None


def read_csv(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cpu():
    info = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")] \
        if info.exists() else []
    return names[0] if names else platform.processor() or platform.machine()


def versions():
    found = []
    for package in (peer.split("<")[0] for peer in PEERS):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)


def comparison(name):
    return importlib.import_module(f"comparisons.{name}")


def timed(work):
    """The result of `work` and the seconds it took."""
    import time
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start
