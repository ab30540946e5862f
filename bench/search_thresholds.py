"""How much depends on the share of samples that makes code a deep starter.

This repeats the evaluation of Roth and Miller (table 2, figures 7 and 8) for thresholds from 0.2 to 0.8, with loops.
Known bottlenecks are those that any of these searches found."""

import measure
import plot
import search_programs
import search_strategies
import searching
import workloads

SHARES = (0.2, 0.4, 0.6, 0.8)
SECONDS, QUICK_SECONDS = 7, 4
PAPER = """In the paper no share is best for all: 0.4 has the best weighted sum for one program (-166.6, against -174.4 at 0.8
and -226.7 at 0.2), 0.2 for the other (-133.6, against -134.1 at 0.4 and -158.7 at 0.8), and all find about as many."""


def _rows(name, searches):
    known = searching.known([s for runs in searches.values() for s in runs])
    for strategy, runs in searches.items():
        found = searching.mean([len(s.bottlenecks) for s in runs])
        half = search_strategies.Time(runs, lambda s: s.time_to(0.5, known))
        yield (name, len(known), strategy.share, f"{searching.mean([s.attempted for s in runs]):.1f}", f"{found:.1f}",
               f"{100 * found / max(1, len(known)):.0f} %", half, f"{searching.mean([s.weighted_sum() for s in runs]):.2f}",
               f"{searching.best(runs).weighted_sum():.2f}")


def _strategies():
    out = [searching.Strategy(searching.DEEP_START, True, f"--deep-threshold={100 * share:.0f}") for share in SHARES]
    for strategy, share in zip(out, SHARES):
        strategy.share = share
    return out


def report(sonde, p, quick, log, folder):
    rows, panels = [], []
    makers = (search_programs.sqlite3, search_programs.povray)
    for program in workloads.available(p, log, makers[:1] if quick else makers):
        log(f"thresholds: {program.name}")
        command = program.command(QUICK_SECONDS if quick else SECONDS)
        searches = searching.trials(sonde, p, command, _strategies(), 1 if quick else 2, log)
        rows += _rows(program.name, searches)
        known = searching.known([s for runs in searches.values() for s in runs])
        panels.append(plot.Panel(program.name, {str(s.share): searching.best(runs).times() for s, runs in searches.items()},
                                 len(known)))
    text = measure.table(("program", "known", "share", "experiments attempted", "bottlenecks found", "of the known", "time to half",
                          "weighted sum", "best"), rows)
    picture = plot.written(folder, "search-thresholds", plot.chart(panels, [str(s) for s in SHARES], "% of known bottlenecks"))
    return "\n\n".join([text, PAPER.replace("\n", " "), picture])
