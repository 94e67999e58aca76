"""One label-to-next-question step: DiAL (faithful precision) against the Python package graphlearning, in one run.

    python bench/compare.py [--data FOLDER] [--pool mnist] [--rounds 5] [--steps 6]

Both sides work on the same graph (k = 20, exact, self-tuning, made by `dial graph`) and solve to a residual of 1e-9. They
are measured alternately, round by round, because the machine may be shared; what counts is the ratio of the medians.
Installs graphlearning, and annoy for its neighbour search, into an environment of its own under target/.
Graph building is timed beside it: graphlearning's own search is approximate, ours exact.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "bench"
PEERS = ["graphlearning==1.7.5", "annoy", "numpy", "scipy"]


def peer_python():
    home = WORK / "venv"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS], check=True)
    return python


def lines(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    run = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, env=environment)
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def seconds(rows):
    return [row["seconds"] for row in rows if "seconds" in row]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DIAL_DATA", ROOT / "../shared/data")))
    parser.add_argument("--pool", default="mnist")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    pool = args.data / "features" / f"{args.pool}.npz"
    if not pool.exists():
        sys.exit(f"{pool} is not there: pass --data FOLDER or set DIAL_DATA")
    WORK.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "dial-cli", "-p", "dial-bench"], cwd=ROOT, check=True)
    ours, python, threads = ROOT / "target/release/dial-bench", peer_python(), os.cpu_count()
    graph = WORK / f"{args.pool}.npz"
    subprocess.run([ROOT / "target/release/dial", "graph", pool, "--out", graph, "--quiet"], check=True, stdout=subprocess.DEVNULL)

    times = {"dial": [], "graphlearning": []}
    for turn in range(args.rounds):
        sources = ",".join(str(1 + (turn * args.steps + step) * 997) for step in range(args.steps))
        # The first step of each process is a warm-up: it is left out on both sides.
        peer = lines([python, ROOT / "bench/peer_step.py", graph, "--sources", sources], threads)
        times["graphlearning"] += seconds(peer)[1:]
        times["dial"] += seconds(lines([ours, "step", graph, 3, sources], threads))[1:]
    build = {
        "dial": seconds(lines([ours, "build", pool, 20], threads))[0],
        "graphlearning": seconds(lines([python, ROOT / "bench/peer_step.py", "--build", pool], threads))[0],
    }
    median = {side: statistics.median(values) for side, values in times.items()}
    result = {
        "pool": args.pool,
        "machine": platform.processor() or platform.machine(),
        "cpus": threads,
        "load": os.getloadavg()[0],
        "step_seconds": times,
        "step_median": median,
        "step_ratio": median["graphlearning"] / median["dial"],
        "build_seconds": build,
        "build_ratio": build["graphlearning"] / build["dial"],
    }
    (WORK / "step.json").write_text(json.dumps(result, indent=1))
    print(f"{args.pool}, {len(times['dial'])} steps each, {threads} cores, load {result['load']:.1f}")
    for what, values, ratio in [("step", median, result["step_ratio"]), ("graph", build, result["build_ratio"])]:
        print(f"  {what:6} graphlearning {values['graphlearning']:8.4f} s   dial {values['dial']:8.4f} s   {ratio:5.1f} times faster")


if __name__ == "__main__":
    main()
