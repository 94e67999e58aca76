"""DiAL against its peers: measures both sides in turn, on the same data and to the same precision, and writes the page.

    python bench/run.py                    everything, hours; writes docs/benchmarks/*.csv and docs/benchmarks.md
    python bench/run.py step block         some comparisons (the names are the files in bench/comparisons)
    python bench/run.py --quick            everything in small, a smoke test; writes into the cache
    python bench/run.py --page             the page again, from the CSV files that are there

The peers live in an environment of their own in a cache folder outside the repository, made on first use. Real data is
read from the folder named by --data or DIAL_DATA; where there is none, generated pools of the same shape stand in, and
the page says so.
"""
import argparse
import json
import os
import subprocess
import sys
import traceback
from pathlib import Path

import harness
import page

NAMES = ["step", "coarse", "growth", "exact", "approximate", "texts", "block", "spectral", "vopt", "memory", "refit",
         "python_fit", "python_loop"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="one or more of " + ", ".join(NAMES))
    parser.add_argument("--quick", action="store_true", help="small pools, two rounds")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--rounds", type=int, help="rounds of each comparison [default: 5, quick: 2]")
    parser.add_argument("--data", type=Path, default=os.environ.get("DIAL_DATA"), help="folder of the real data")
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dial-bench"
    parser.add_argument("--cache", type=Path, default=home, help=f"folder for peers, pools and graphs [default: {home}]")
    parser.add_argument("--out", type=Path, help="folder for the page [default: docs, quick: the cache]")
    given = parser.parse_args()
    unknown = set(given.names) - set(NAMES)
    if unknown:
        parser.error(f"no comparison is named {', '.join(sorted(unknown))}: use {', '.join(NAMES)}")
    return given


def peer(name, side, given):
    """The peer's side of a comparison, in a process of its own: prints what it measured."""
    try:
        lines = harness.comparison(name).peer(side, **json.loads(given))
        for line in lines:
            print(json.dumps(line), flush=True)
    except ImportError as missing:
        print(json.dumps({"missing": f"{missing.name} is not installed"}))


def measure(name, given, folder):
    print(f"{name}:", flush=True)
    cache = given.cache / ("quick" if given.quick else "full")
    cache.mkdir(parents=True, exist_ok=True)
    bench = harness.Bench(name, given.data, cache, given.quick, given.rounds or (2 if given.quick else 5))
    try:
        harness.comparison(name).run(bench)
    except harness.Skip as reason:
        # The sizes that were done count; the larger ones wait for what is missing.
        print(f"  stopped: {reason}", flush=True)
        bench.skipped.append(str(reason))
    bench.save(folder)


def main():
    if sys.argv[1:2] == ["--peer"]:
        return peer(*sys.argv[2:5])
    given = arguments()
    python = harness.environment(given.cache)
    if Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [python, *sys.argv])
    out = given.out or (given.cache / "quick" if given.quick else harness.ROOT / "docs")
    failed = []
    if not given.page:
        build = ["cargo", "build", "--release", "-q", "-p", "dial-cli", "-p", "dial-bench"]
        subprocess.run(build, cwd=harness.ROOT, check=True)
        for name in given.names or NAMES:
            try:
                measure(name, given, out / "benchmarks")
            except Exception:
                traceback.print_exc()
                failed.append(name)
    page.write(out, [(name, harness.comparison(name)) for name in NAMES])
    print(f"{out / 'benchmarks.md'} is written")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
