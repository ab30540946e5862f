"""The overhead of a search.

**End to end**, programs do the same work alone and under `sonde diagnose`, in turns. Each run is compared with the
runs alone before and after it. The table shows the median, and half of the interquartile range as noise. "The
program" is from its start to its end; "the command" includes what Sonde does before and after that. "Reckoned" is the
overhead of probes and pauses as Sonde itself reports it.

**Settled**: programs that print how much they have done, by the wall clock and by their own CPU clock, are searched
for some seconds and run on alone when Sonde has left. What a round took under Sonde is compared with what it took
then. The noise is how much the first half of that later time differs from the second. The search counts as settled
from its last decision on. python3 is the hard case: its interpreter is one loop with some 900 edges in and out that
takes most of the time, so that only samples can measure it.

A host may take CPUs away from a virtual machine (stolen time). End to end, runs are repeated until enough of them
lost at most 3 %, or until twice as many as needed were made. The runs with the least stolen time count, and the table
has the most that was stolen from one of them. Of the programs that print their rounds, the rounds with that little
stolen time count."""

import os
import statistics
import tempfile
import time

import calm
import measure
import probing
import sampling
import search_programs
import searching
import workloads

WHOLE, SETTLED = 5.0, 2.0   # goals: percent
SECONDS, QUICK_SECONDS = 5, 4
PROGRAMS = (search_programs.python3, search_programs.sqlite3, search_programs.povray, search_programs.cc1, search_programs.lua)
WATCHED, AFTER = 14, 8      # seconds
ENOUGH = 2.0                # seconds: less than that of a settled search says nothing
CALM_ENOUGH = 1.0           # seconds of these in which the machine was calm
ROUNDS, QUICK_ROUNDS = 9, 3
PATIENCE = 2                # times as many rounds are made at most


# End to end

class Round:
    """A search between two runs alone: ratios to these, and how much of the CPUs was stolen meanwhile."""

    def __init__(self, search, searched, alone, stolen):
        beside = [(a + b) / 2 for a, b in zip(*alone)]
        self.cpu, self.wall = (s / b for s, b in zip(searched, beside))
        self.alone, self.command = beside[1], search.usage.wall / beside[1]
        self.reckoned, self.stolen = search.report["overhead"], stolen


class Cost:
    """A program's calmest rounds."""

    def __init__(self, sonde, p, command, rounds):
        self.library = sampling.built(p, "usage", ["-shared", "-fPIC"])
        made, searches = [], []
        with calm.Watch() as watch:
            begin, before = time.monotonic(), self.took(p, command)
            while sum(r.stolen <= calm.CALM for r in made) < rounds and len(made) < PATIENCE * rounds:
                searched = self.took(p, command, lambda env: searches.append(searching.search(sonde, p, command, env=env)))
                middle, after = time.monotonic(), self.took(p, command)
                made.append(Round(searches[-1], searched, (before, after), watch.stolen(begin, time.monotonic())))
                before, begin = after, middle
        self.rounds = sorted(made, key=lambda r: r.stolen)[:rounds]
        self.made = len(made)

    def all(self, name):
        return [getattr(r, name) for r in self.rounds]

    def took(self, p, command, run=None):
        """What the program itself took of the CPU and of the time, alone or in a run of another."""
        with tempfile.NamedTemporaryFile("r", dir=p.work) as told:
            env = {"LD_PRELOAD": self.library, "USAGE_FILE": told.name}
            if run:
                run(env)
            else:
                sampling.run(command, env, searching.LIMIT, first=probing.before_others)
            lines = [line.split() for line in told]
        mine = [line for line in lines if line[0] == os.path.basename(command[0])]
        if not mine:
            raise RuntimeError(f"{' '.join(command[:3])} did not come to its end")
        return tuple(map(float, mine[0][1:]))


def _whole_table(sonde, p, quick, log):
    rows, middles = [], []
    for program in workloads.available(p, log, PROGRAMS[:2] if quick else PROGRAMS):
        log(f"overhead: {program.name}")
        c = Cost(sonde, p, program.command(QUICK_SECONDS if quick else SECONDS), QUICK_ROUNDS if quick else ROUNDS)
        middles.append(100 * (statistics.median(c.all("wall")) - 1))
        stolen = f"{100 * max(c.all('stolen')):.0f} %"
        log(f"  {middles[-1]:+.1f} %, {stolen} stolen, {c.made} rounds made")
        rows.append((program.name, f"{statistics.median(c.all('alone')):.2f} s",
                     *(probing.percent(c.all(x)) for x in ("wall", "cpu", "command")),
                     f"at most {100 * max(c.all('reckoned')):.1f} %", f"at most {stolen}", searching.reached(middles[-1] < WHOLE)))
    middle = statistics.median(middles)
    rows.append((f"**median** (goal: below {WHOLE:.0f} %)", "", f"**{middle:+.2f} %**", "", "", "", "",
                 searching.reached(middle < WHOLE)))
    return measure.table(("program", "alone", "the program, wall", "CPU", "the command, wall", "reckoned", "stolen", "goal"),
                         rows)


# Settled

class Told:
    """What a program told: (wall, CPU, rounds) of each line."""

    def __init__(self, path, watch):
        self.watch = watch
        with open(path, encoding="ascii") as f:
            lines = [line.split() for line in f.read().splitlines()]
        self.lines = [tuple(map(float, line)) for line in lines if len(line) == 3]

    def rates(self, begin, end):
        """Rounds a second while it was calm between two moments: by the wall clock, by the CPU's."""
        inside = [l for l in self.lines if begin <= l[0] <= end]
        steps = [[y - x for x, y in zip(a, b)] for a, b in zip(inside, inside[1:]) if self.watch.is_calm(a[0], b[0])]
        wall, cpu, rounds = (sum(x) for x in zip(*steps)) if steps else (0, 0, 0)
        return (rounds / wall, rounds / cpu) if wall >= CALM_ENOUGH else None


class Watched:
    """One program during a search and after it, in one run: rounds a second by the wall clock and the CPU's."""

    def __init__(self, sonde, p, command):
        with tempfile.NamedTemporaryFile(dir=p.work) as out, calm.Watch() as watch:
            search = searching.search(sonde, p, [*command, str(WATCHED + AFTER)], f"--duration={WATCHED}", output=out)
            told = Told(out.name, watch)
        begin, middle = told.lines[0][0], WATCHED + 1 + (AFTER - 1) / 2
        self.last = search.decided[-1]
        settled = self.last + 0.5
        self.searching = told.rates(begin, begin + min(settled, WATCHED))
        self.has_settled = WATCHED - settled >= ENOUGH
        self.settled = told.rates(begin + settled, begin + WATCHED) if self.has_settled else None
        self.alone = told.rates(begin + WATCHED + 1, begin + WATCHED + AFTER)
        self.halves = told.rates(begin + WATCHED + 1, begin + middle), told.rates(begin + middle, begin + WATCHED + AFTER)

    def was_calm(self):
        return self.alone and self.searching and (self.settled or not self.has_settled)

    def longer(self, rates, clock):
        """Per cent that a round takes longer than alone; None: not known."""
        return None if rates is None or self.alone is None else 100 * (self.alone[clock] / rates[clock] - 1)

    def noise(self, clock):
        first, second = self.halves
        return None if first is None or second is None else 100 * (second[clock] / first[clock] - 1)


def _change(x, otherwise):
    return otherwise if x is None else f"{x:+.2f} %"


def _watched(sonde, p, command):
    for _ in range(PATIENCE + 1):
        w = Watched(sonde, p, command)
        if w.was_calm():
            break
    return w


def _settled_table(sonde, p, log):
    programs = {"rounds.c": [sampling.built(p, "rounds")],
                "python3": [p.system("python3"), "-S", "-E", workloads.input_file("rounds.py")]}
    rows, good = [], []
    for name, command in programs.items():
        log(f"overhead: {name}, settled")
        w = _watched(sonde, p, command)
        settled = w.longer(w.settled, 0)
        unknown = "it was never calm" if w.has_settled else "it did not settle"
        good.append(settled is not None and settled < SETTLED)
        rows.append((name, f"{w.last:.1f} s", *(_change(w.longer(w.searching, c), "not measured") for c in (0, 1)),
                     *(_change(w.longer(w.settled, c), unknown) for c in (0, 1)),
                     *(_change(w.noise(c), "not known") for c in (0, 1)), searching.reached(good[-1])))
        log(f"  {rows[-1]}")
    return measure.table(("program", "last decision after", "searching, wall", "CPU",
                          f"settled, wall (goal: below {SETTLED:.0f} %)", "CPU", "noise, wall", "CPU", "goal"), rows)


def report(sonde, p, quick, log):
    return "\n\n".join([_whole_table(sonde, p, quick, log), "What a round takes longer than without Sonde:",
                        _settled_table(sonde, p, log)])
