"""The certified step against the number of items, on generated pools up to ten million."""
import subprocess

from harness import Goal, target
from comparisons.step import steps_of

TITLE = "Growth"
ABOUT = """The certified step on planted clusters (32 dimensions, approximate neighbours, saved and mapped), of 10,000 items each, at ten
million of 100,000. There is no peer here: it reads whole files and solves for seconds at a million items."""
PLOT = {"measure": "seconds", "label": "seconds a step", "one_case": True}
LATENCY = "memory at random: a label touches some ten thousand items, which lie in cache at 70,000 and do not beyond"
GOALS = [
    Goal("certified step, n = 1,000,000", "ours at 70,000", 4, lambda t: growth(t, 1_000_000), LATENCY, at_least=False),
    Goal("certified step, n = 10,000,000", "ours at 70,000", 8, lambda t: growth(t, 10_000_000), LATENCY, at_least=False),
    Goal("label to next question, column ready, n = 1,000,000", "", 1,
         lambda t: milliseconds(t.median("growth", "dial ready", n=1_000_000)), LATENCY, at_least=False, unit="ms"),
]


def growth(table, n):
    large, small = (table.median("growth", "dial certified", n=size) for size in (n, 70_000))
    return large / small if large and small else None


def milliseconds(seconds):
    return None if seconds is None else 1000 * seconds


def run(bench):
    for n in [2_000, 5_000] if bench.quick else [70_000, 1_000_000, 10_000_000]:
        graph = graph_of(bench, n)
        bench.alternate("growth", n, {f"dial {word}": steps_of(bench, graph, n, word) for word in ["certified", "ready"]})


def graph_of(bench, n):
    """The graph of planted clusters by the approximate search: clusters of 10,000 items, at ten million of 100,000."""
    out = bench.cache / f"graph-{n}.dialgraph"
    if not out.exists():
        pool, groups = bench.cache / f"planted-{n}.npy", min(100, max(1, n // 10_000))
        generate = ["generate", "clusters", "--items", n, "--dim", 32, "--clusters", groups, "--seed", 1, "--out", pool]
        subprocess.run([target() / "dial", *map(str, generate), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        bench.ours("save", pool, 20, out)
    return out
