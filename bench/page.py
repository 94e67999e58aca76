"""The page docs/benchmarks.md and its plots, from the CSV files and nothing else."""
import math

import harness

SIZE, LEFT, RIGHT, TOP, BOTTOM = (720, 420), 70, 190, 40, 50
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]


def write(out, comparisons):
    folder = out / "benchmarks"
    rows = {name: harness.read_csv(folder / f"{name}.csv") for name, _ in comparisons}
    runs = {row["comparison"]: row for row in harness.read_csv(folder / "runs.csv")}
    done = [(name, module) for name, module in comparisons if rows[name]]
    tables = {name: harness.Table(rows[name]) for name, _ in comparisons}
    parts = ["# Benchmarks", INTRODUCTION, "## Goals", goals(comparisons, tables)]
    for name, module in done:
        parts += [f"## {module.TITLE}", module.ABOUT, medians(rows[name]), losses(rows[name])]
        if getattr(module, "PLOT", None):
            (folder / f"{name}.svg").write_text(plot(module.PLOT, rows[name]))
            parts.append(f"![{module.TITLE}](benchmarks/{name}.svg)")
        parts.append(circumstances(name, runs.get(name)))
    (out / "benchmarks.md").write_text("\n\n".join(part for part in parts if part) + "\n")


INTRODUCTION = """\
Written by `python bench/run.py` from the CSV files beside it; nothing here is typed by hand. Both sides were measured in
turn in one run, on the same data and to the same precision, every side in a process of its own and with all cores allowed.
Numbers are medians; what counts is the ratio, because machines differ and may be shared. **Bold** marks a peer that is
faster than us."""


def goals(comparisons, tables):
    lines = ["| goal | against | wanted | measured | | what limits it |", "|---|---|---|---|---|---|"]
    for name, module in comparisons:
        for goal in module.GOALS:
            value = goal.value(tables[name])
            want = f"{'≥' if goal.at_least else '≤'} {goal.want:g} {goal.unit}"
            shown = "not measured" if value is None else f"{value:.3g} {goal.unit}"
            verdict = "" if value is None else "met" if goal.met(value) else "**not met**"
            lines.append(f"| {goal.text} | {goal.against} | {want} | {shown} | {verdict} | {goal.limit} |")
    return "\n".join(lines)


def grouped(rows):
    """(case, n, measure) -> side -> values, in the order of the file."""
    found = {}
    for row in rows:
        key = (row["case"], int(row["n"]), row["measure"])
        found.setdefault(key, {}).setdefault(row["side"], []).append(float(row["value"]))
    return found


def medians(rows):
    lines = ["| case | n | measure | side | median | lowest to highest | runs | times ours |", "|---|---|---|---|---|---|---|---|"]
    for (case, n, measure), sides in grouped(rows).items():
        # Where there are several of ours, the ratio is to the best of them.
        ours = [middle(values) for side, values in sides.items() if side.startswith("dial")]
        for side, values in sides.items():
            median = middle(values)
            ratio = ""
            if ours and not side.startswith("dial") and measure in COSTS and min(ours) > 0:
                ratio = f"{median / min(ours):.3g}"
                ratio = f"**{ratio}**" if median < min(ours) else ratio
            spread = f"{number(min(values))} to {number(max(values))}"
            lines.append(f"| {case} | {n:,} | {measure} | {side} | {number(median)} | {spread} | {len(values)} | {ratio} |")
    return "\n".join(lines)


# Measures of which less is better.
COSTS = ("seconds", "cpu seconds", "seconds per source", "bytes per node", "peak bytes per node")


def losses(rows):
    """A sentence for every case where a peer is faster, smaller or more accurate than the best of ours."""
    found = []
    for (case, n, measure), sides in grouped(rows).items():
        cost = measure in COSTS
        ours = [middle(values) for side, values in sides.items() if side.startswith("dial")]
        if not ours or not (cost or measure.startswith("accuracy")):
            continue
        best = min(ours) if cost else max(ours)
        for side, values in sides.items():
            value = middle(values)
            if not side.startswith("dial") and (value < best if cost else value > best):
                found.append(f"**{side} wins** at {case}, n = {n:,}: {number(value)} against our {number(best)} ({measure}).")
    return "\n".join(found)


def middle(values):
    return sorted(values)[len(values) // 2] if len(values) % 2 else sum(sorted(values)[len(values) // 2 - 1:][:2]) / 2


def number(value):
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def circumstances(name, run):
    if run is None:
        return ""
    text = (f"[{name}.csv](benchmarks/{name}.csv), {run['date']}: {run['cpu']}, {run['cores']} cores, load "
            f"{run['load before']} before and {run['load after']} after; {run['versions']}.")
    return text + (f" Skipped: {run['skipped']}." if run["skipped"] else "")


def plot(settings, rows):
    """Medians against n, both axes logarithmic, one line per side."""
    measure, label = settings["measure"], settings["label"]
    lines = {}
    for (case, n, found), sides in grouped(rows).items():
        for side, values in sides.items():
            if found == measure:
                lines.setdefault(side if settings.get("one_case") else f"{side}, {case}", {})[n] = middle(values)
    points = [(n, y) for line in lines.values() for n, y in line.items() if y > 0]
    if not points:
        return svg([])
    x_axis = decades([n for n, _ in points])
    y_axis = decades([y for _, y in points])
    along = lambda n: LEFT + share(n, x_axis) * (SIZE[0] - LEFT - RIGHT)
    up = lambda y: SIZE[1] - BOTTOM - share(y, y_axis) * (SIZE[1] - TOP - BOTTOM)
    shapes = [text(LEFT, 22, label, 14)]
    for tick in range(x_axis[0], x_axis[1] + 1):
        shapes += [rule(along(10 ** tick), TOP, along(10 ** tick), SIZE[1] - BOTTOM),
                   text(along(10 ** tick), SIZE[1] - BOTTOM + 18, power(tick), 11, "middle")]
    for tick in range(y_axis[0], y_axis[1] + 1):
        shapes += [rule(LEFT, up(10 ** tick), SIZE[0] - RIGHT, up(10 ** tick)),
                   text(LEFT - 8, up(10 ** tick) + 4, power(tick), 11, "end")]
    shapes.append(text((LEFT + SIZE[0] - RIGHT) / 2, SIZE[1] - 10, "items n", 12, "middle"))
    for place, (name, line) in enumerate(lines.items()):
        colour = COLOURS[place % len(COLOURS)]
        at = [(along(n), up(y)) for n, y in sorted(line.items()) if y > 0]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in at]
        height = TOP + 14 + 20 * place
        shapes += [f'<circle cx="{SIZE[0] - RIGHT + 18}" cy="{height - 4}" r="4" fill="{colour}"/>',
                   text(SIZE[0] - RIGHT + 28, height, name, 12)]
    return svg(shapes)


def decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def share(value, axis):
    return (math.log10(value) - axis[0]) / (axis[1] - axis[0])


def power(exponent):
    return f"{10 ** exponent:,}" if 0 <= exponent <= 4 else f"1e{exponent}"


def rule(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def text(x, y, words, size, anchor="start"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" font-family="sans-serif">{words}</text>'


def svg(shapes):
    width, height = SIZE
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
                      '<rect width="100%" height="100%" fill="white"/>', *shapes, "</svg>", ""])
