"""Searches with loops against searches without.

This repeats the evaluation of Collins and Miller (table 3, figure 3) on the searches of the section before. A leaf is
a bottleneck with no true experiment on code below it. Bottlenecks and leaves are those of Deep Start's best run with
loops; rates are averages of all searches. The last column is about the leaves of Deep Start's best run without loops:
in how many of these functions loops were found."""

import measure
import plot
import search_strategies
import searching
from searching import CALL_GRAPH, DEEP_START, is_loop

CURVES = ("without loops", "with loops", "with loops, functions")
PAPER = """The paper finds 3 to 11 functions and 8 to 10 loops among the bottlenecks of its four programs, and loops in 7 of 10 leaf
functions; experiments were made at 0.4 to 2.9 per second without loops and 1.0 to 1.9 with them."""


def _counts(bottlenecks):
    """Functions and loops among them."""
    loops = sum(is_loop(code) for _, code in bottlenecks)
    return len(bottlenecks) - loops, loops


def _with_loops(c):
    """Functions that are leaves without loops, and those of them in which loops were found."""
    leaves = searching.best(c.of(DEEP_START, False)).leaves
    loops = [b for b in c.known[True] if is_loop(b[1])]
    return len(leaves), sum(any(h == hypothesis and code.startswith(leaf + "/loop ") for h, code in loops)
                            for hypothesis, leaf in leaves)


def _rate(c, loops):
    return searching.mean([s.rate() for name in (CALL_GRAPH, DEEP_START) for s in c.of(name, loops)])


def _row(c):
    best = searching.best(c.of(DEEP_START, True))
    leaves, having = _with_loops(c)
    return (c.program.name, *_counts(best.bottlenecks), *_counts(best.leaves), f"{_rate(c, False):.1f}", f"{_rate(c, True):.1f}",
            f"{having} of {leaves}")


def _panel(c):
    with_loops, without = (searching.best(c.of(DEEP_START, loops)) for loops in (True, False))
    functions = {b for b in with_loops.bottlenecks if not is_loop(b[1])}
    return plot.Panel(c.program.name, dict(zip(CURVES, (without.times(), with_loops.times(), with_loops.times(functions)))))


def report(sonde, p, quick, log, folder):
    done = search_strategies.comparisons(sonde, p, quick, log)
    rows = [_row(c) for c in done]
    total = [sum(int(r[-1].split(" of ")[i]) for r in rows) for i in (0, 1)]
    rows.append(("**all**", *(sum(r[i] for r in rows) for i in range(1, 5)), "", "", f"{total[0]} of {total[1]}"))
    text = measure.table(("program", "functions", "loops", "leaves: functions", "loops", "experiments/s without loops",
                          "with loops", "leaf functions with loops found"), rows)
    picture = plot.written(folder, "search-loops", plot.chart([_panel(c) for c in done], CURVES, "bottlenecks"))
    return "\n\n".join([text, PAPER.replace("\n", " "), "Deep Start, the best run with loops and without:", picture])
