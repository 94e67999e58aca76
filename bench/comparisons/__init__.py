"""One file per comparison: `run` measures, `peer` is the other side in its own process, GOALS judge the result."""
