"""What a search costs the program.

End to end: programs that do the same work alone and under `sonde diagnose`, by turns; each run is compared with those alone
before and after it, and the median is shown, with half of the middle half of all as noise. "The program" is from its start to
its end by the wall clock; "the command" has in it what Sonde does before and behind that. "Reckoned" is what Sonde itself
takes for the share of its probes. Settled: programs that tell how much they have done, by the wall clock and by their own
processor clock, run alone for some seconds; then `sonde diagnose -p` is attached, comes to an end of its search and goes on
watching; then it leaves. What they did in a second is compared with before; the search counts as settled from its last
decision on."""

import statistics
import subprocess
import tempfile
import time

import measure
import probing
import sampling
import search_programs
import searching
import workloads

WHOLE, SETTLED = 5.0, 2.0   # goals: per cent
SECONDS, QUICK_SECONDS = 6, 4
PROGRAMS = (search_programs.python3, search_programs.sqlite3, search_programs.povray, search_programs.cc1, search_programs.lua)
BEFORE, WATCHED, AFTER = 4, 12, 3  # seconds


# End to end

def _alone(command):
    usage = sampling.run(command, limit=searching.LIMIT, first=probing.before_others)
    if usage.status:
        raise RuntimeError(f"{' '.join(command[:3])}: status {usage.status}: {usage.error[-300:]}")
    return usage.wall


class Cost:
    """A program's runs: ratios to those alone on both sides, and what Sonde reckons."""

    def __init__(self, sonde, p, command, rounds):
        alone, runs = [_alone(command)], []
        for _ in range(rounds):
            runs.append(searching.search(sonde, p, command))
            alone.append(_alone(command))
        around = [(a + b) / 2 for a, b in zip(alone, alone[1:])]
        self.alone = statistics.median(alone)
        self.program = [s.seconds / a for s, a in zip(runs, around)]
        self.command = [s.usage.wall / a for s, a in zip(runs, around)]
        self.reckoned = max(s.report["cost"] for s in runs)


def _whole_table(sonde, p, quick, log):
    rows, middles = [], []
    for program in workloads.available(p, log, PROGRAMS[:2] + PROGRAMS[3:4] if quick else PROGRAMS):
        log(f"cost: {program.name}")
        c = Cost(sonde, p, program.command(QUICK_SECONDS if quick else SECONDS), 2 if quick else 4)
        middles.append(100 * (statistics.median(c.program) - 1))
        log(f"  {middles[-1]:+.1f} %")
        rows.append((program.name, f"{c.alone:.2f} s", probing.percent(c.program), probing.percent(c.command),
                     f"at most {100 * c.reckoned:.1f} %", searching.reached(middles[-1] < WHOLE)))
    middle = statistics.median(middles)
    rows.append((f"**median** (goal: below {WHOLE:.0f} %)", "", f"**{middle:+.2f} %**", "", "", searching.reached(middle < WHOLE)))
    return measure.table(("program", "alone", "the program", "the command", "reckoned", "goal"), rows)


# Settled

class Told:
    """What a program told: (wall, processor, rounds) of each line."""

    def __init__(self, path):
        with open(path, encoding="ascii") as f:
            lines = [line.split() for line in f.read().splitlines()]
        self.lines = [tuple(map(float, line)) for line in lines if len(line) == 3]

    def rates(self, begin, end):
        """Rounds a second between two moments: by the wall clock, by the processor's."""
        inside = [l for l in self.lines if begin <= l[0] <= end]
        if len(inside) < 5:
            return None
        (wall, cpu, rounds), (wall2, cpu2, rounds2) = inside[0], inside[-1]
        return (rounds2 - rounds) / (wall2 - wall), (rounds2 - rounds) / (cpu2 - cpu)


class Watched:
    """One program before, during and after a search, in one run."""

    def __init__(self, sonde, p, command):
        with sampling.Recording(p) as r, tempfile.NamedTemporaryFile(dir=r.folder) as out:
            seconds = BEFORE + WATCHED + AFTER + 1
            with subprocess.Popen([*command, str(seconds)], stdout=out, preexec_fn=probing.before_others) as process:
                time.sleep(BEFORE)
                attached = time.monotonic()
                usage = sampling.run([sonde, "diagnose", "-p", str(process.pid), f"--duration={WATCHED}", "-o", r.profile],
                                     limit=searching.LIMIT, first=probing.before_others)
                left = time.monotonic()
            if usage.status:
                raise RuntimeError(f"sonde diagnose -p: status {usage.status}: {usage.error[-300:]}")
            self.search = searching.Search(sonde, r.profile, usage)
            told = Told(out.name)
        settled = attached + self.search.decided[-1] + 0.5
        self.settled = self.search.decided[-1]
        end = attached + self.search.seconds - 0.2
        self.before = told.rates(0, attached - 0.2)
        self.parts = {"searching": told.rates(attached, settled), "settled": told.rates(settled, end),
                      "left": told.rates(left + 0.2, left + AFTER + 5)}

    def change(self, part, clock):
        """Per cent that rounds take longer; None: not known."""
        rates = self.parts[part]
        return None if rates is None else 100 * (self.before[clock] / rates[clock] - 1)


def _settled_table(sonde, p, quick, log):
    programs = {"rounds.c": [sampling.built(p, "rounds")],
                "python3": [p.system("python3"), "-S", "-E", workloads.input_file("rounds.py")]}
    rows, worst = [], []
    for name, command in programs.items():
        log(f"cost: {name}, attached")
        runs = [Watched(sonde, p, command) for _ in range(1 if quick else 2)]
        cells = []
        for part in ("searching", "settled", "left"):
            for clock in (0, 1):
                changes = [c for c in (w.change(part, clock) for w in runs) if c is not None]
                cells.append(f"{statistics.median(changes):+.2f} %" if changes else "not measured")
                if part == "settled" and clock == 0:
                    worst += [statistics.median(changes)] if changes else []
        settled = searching.mean([w.settled for w in runs])
        rows.append((name, f"{settled:.1f} s", *cells))
        log(f"  {rows[-1]}")
    verdict = searching.reached(bool(worst) and max(worst) < SETTLED)
    rows.append((f"**settled** (goal: below {SETTLED:.0f} %)", "", "", "", verdict, "", "", ""))
    return measure.table(("program", "last decision after", "searching, wall", "processor", "settled, wall", "processor", "left, wall",
                          "processor"), rows)


def report(sonde, p, quick, log):
    return "\n\n".join([_whole_table(sonde, p, quick, log), "What a round takes longer than before Sonde was attached:",
                        _settled_table(sonde, p, quick, log)])
