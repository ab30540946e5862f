"""Deep Start against a search along the call graph alone.

This repeats the evaluation of Roth and Miller (tables 3 and 4, figures 9 to 12) with programs of Debian that do the
same again and again, and with victims that have planted bottlenecks. The strategies take turns.

- A bottleneck is a true experiment on code in the whole machine. The known bottlenecks are all that any search of
  that program found with the same setting of loops.
- Seconds count from the program's start, with its loading and the analysis of its modules.
- The weighted sum has the utility -t. It is divided by the number of bottlenecks, which the paper does not say but
  its figures show.
- "All found" is, as in the paper, the time at which a search found its own last bottleneck, however many it found.
  "Found by both" is the time of the last among those that every search of both strategies found.
- If some search did not reach a share of the known bottlenecks before its program ended, the length of the run stands
  in its place, and the figure is a bound."""

import measure
import plot
import search_programs
import searching
from searching import CALL_GRAPH, DEEP_START

SECONDS, QUICK_SECONDS = 16, 6  # of a run: call-graph has to come to its end
RUNS, QUICK_RUNS = 2, 1
VICTIM_SECONDS = 3
HALF, ALL = 0.40, 0.50          # goals: of call-graph's time
SHARES = (0.10, 0.25, 0.50)
_made = {}


class Comparison:
    """All searches of one program: by strategy and loops."""

    def __init__(self, program, searches):
        self.program = program
        self.searches = {(s.name, s.loops): found for s, found in searches.items()}
        self.known = {loops: searching.known(self.of(CALL_GRAPH, loops) + self.of(DEEP_START, loops))
                      for loops in (True, False)}

    def of(self, name, loops):
        return self.searches[name, loops]

    def common(self, loops):
        """What every search found."""
        sets = [set(s.bottlenecks) for name in (CALL_GRAPH, DEEP_START) for s in self.of(name, loops)]
        return set.intersection(*sets) if sets else set()


class Time:
    """An average of seconds; `bound`: some of the searches did not come so far."""

    def __init__(self, searches, moment):
        moments = [moment(s) for s in searches]
        self.bound = None in moments
        self.seconds = searching.mean([s.seconds if m is None else m for s, m in zip(searches, moments)])

    def __str__(self):
        return searching.number(self.seconds, ".2f") + " s" if not self.bound else f"over {self.seconds:.2f} s"


def moments(c, loops):
    """What is asked of each search: {name: its function}."""
    known, common = c.known[loops], c.common(loops)
    out = {f"{100 * share:.0f} %": lambda s, share=share: s.time_to(share, known) for share in SHARES}
    out["all found"] = lambda s: max(s.times(), default=None)
    out["found by both"] = lambda s: max(s.times(common), default=None)
    return out


def comparisons(sonde, p, quick, log):
    """Made once; another section asks for them, too."""
    if not _made:
        for program in search_programs.chosen(sonde, p, quick, log):
            log(f"searching: {program.name}")
            command = program.command((QUICK_SECONDS if quick else SECONDS) if program.large else VICTIM_SECONDS)
            searches = searching.trials(sonde, p, command, searching.STRATEGIES, QUICK_RUNS if quick else RUNS, log)
            if all(searches.values()):
                _made[program.name] = Comparison(program, searches)
    return list(_made.values())


def _loops(loops):
    return "yes" if loops else "no"


def _found_rows(c, loops):
    known = c.known[loops]
    for name in (CALL_GRAPH, DEEP_START):
        runs = c.of(name, loops)
        found = searching.mean([len(s.bottlenecks) for s in runs])
        yield (c.program.name, _loops(loops), len(known), name,
               f"{searching.mean([s.attempted for s in runs]):.1f}", f"{found:.1f}",
               f"{100 * found / max(1, len(known)):.0f} %", f"{searching.mean([s.weighted_sum() for s in runs]):.2f}",
               f"{searching.best(runs).weighted_sum():.2f}", f"{searching.mean([s.rate() for s in runs]):.1f}")


def _time_rows(c, loops):
    for what, moment in moments(c, loops).items():
        slow, fast = (Time(c.of(name, loops), moment) for name in (CALL_GRAPH, DEEP_START))
        yield c.program.name, _loops(loops), what, slow, fast, f"{100 * (fast.seconds / slow.seconds - 1):+.0f} %"


class Ratio:
    """Deep Start's time to call-graph's; None: neither came so far."""

    def __init__(self, c, loops, what):
        moment = moments(c, loops)[what]
        slow, fast = (Time(c.of(name, loops), moment) for name in (CALL_GRAPH, DEEP_START))
        self.value = None if slow.bound and fast.bound else fast.seconds / slow.seconds
        self.sign = "under " if slow.bound else "over " if fast.bound else ""

    def __str__(self):
        return "none" if self.value is None else f"{self.sign}{self.value:.2f}"


GOALS = {"50 %": HALF, "all found": ALL, "found by both": ALL}


def _goal_rows(done):
    for c in done:
        for loops in (True, False):
            yield (c.program.name, _loops(loops), *(Ratio(c, loops, what) for what in GOALS))
    large = [c for c in done if c.program.large]
    for loops in (True, False):
        means = [searching.geometric([Ratio(c, loops, what).value for c in large]) for what in GOALS]
        yield ("**geometric mean** of the large programs", _loops(loops),
               *(f"**{m:.2f}**: {searching.reached(m <= goal)}" for m, goal in zip(means, GOALS.values()) if m))


def _plot(done, folder):
    panels = []
    for c in done:
        best = {name: searching.best(c.of(name, True)) for name in (CALL_GRAPH, DEEP_START)}
        panels.append(plot.Panel(c.program.name, {n: s.times() for n, s in best.items()}, len(c.known[True])))
    return plot.written(folder, "search-strategies", plot.chart(panels, (CALL_GRAPH, DEEP_START), "% of known bottlenecks"))


AGAINST_PAPER = """The paper has Deep Start at 37 to 79 % of call-graph's time to half of the known bottlenecks, and at 39 to
93 % of its time to all found, on four scientific programs of 398 to 720 functions, where the call graph search took 138 to
248 s to half and 278 to 415 s to all."""


def report(sonde, p, quick, log, folder):
    done = comparisons(sonde, p, quick, log)
    both = (True, False)
    runs = QUICK_RUNS if quick else RUNS
    found = measure.table(("program", "loops", "known", "strategy", "experiments attempted", "bottlenecks found", "of the known",
                           "weighted sum", "best", "experiments/s"),
                          [r for c in done for l in both for r in _found_rows(c, l)])
    times = measure.table(("program", "loops", "found", CALL_GRAPH, DEEP_START, "change"),
                          [r for c in done for l in both for r in _time_rows(c, l)])
    goals = measure.table(("program", "loops", f"half of the known (goal: at most {HALF:.2f})",
                           f"all found (goal: at most {ALL:.2f})", "found by both (the same goal)"), list(_goal_rows(done)))
    return "\n\n".join([f"Averages of {runs} run{'s' * (runs > 1)} each.", found,
                        "Average time to shares of the known bottlenecks:", times,
                        "Deep Start's time as a share of call-graph's:", goals, AGAINST_PAPER.replace("\n", " "),
                        "Search profiles, with loops, the best run of each strategy:", _plot(done, folder)])
