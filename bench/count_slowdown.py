"""The overhead of counting.

The programs are those that Debian ships and small ones of our own (`bench/kernels`), optimised and stripped. "Times"
is the run time of the counted program, from its first instruction to its end, divided by that of the program alone,
both less what the program spends waiting when it is alone (povray does, the others hardly). "End to end" includes
that waiting, the analysis and rewriting before the run, and the reading and saving after it. Three kinds of runs take
turns: alone, with the program's own code counted (the modules that are named), and with everything counted
(`--modules all`); the least of each counts. What the counted program writes must be what it writes alone. cc1, the
slowest, makes 75 million calls per second along 260,000 different paths; the counters of so many do not fit into any
cache. The last column is `valgrind --tool=callgrind` on a fifth of the input, against the program alone on the same
input."""

import filecmp
import math
import os
import shutil

import count_programs
import measure
import probing
import programs
import sampling
import workloads

MEAN, WORST = 1.6, 3.5      # goals: times
MEMORY, START = 300.0, 1.0  # goals: MB, seconds
SMALL = 0.2                 # of the input, for callgrind and in a hurry
LIMIT = 300                 # seconds
PEER = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]


def slowdown(run, alone):
    """Times of a run to the best of those alone, both without what the program always waits for."""
    idle = min(a.idle for a in alone)
    return (run - idle) / (min(a.wall for a in alone) - idle)


def run(command, path):
    """A run before all others that is in order, its output in a file."""
    with open(path, "wb") as f:
        usage = sampling.run(command, limit=LIMIT, output=f, first=probing.before_others)
    if usage.status != 0:
        end = "was not over in time" if usage.status is None else f"status {usage.status}"
        raise RuntimeError(f"{' '.join(command[:6])}: {end}: {usage.error[-300:]}")
    return usage


class Alone:
    """The program by itself. Its output is kept for comparison."""

    def __init__(self, command, folder):
        self.path = os.path.join(folder, "alone")
        usage = run(command, self.path)
        self.wall, self.peak = usage.wall, usage.family_peak
        self.idle = max(0.0, usage.wall - usage.cpu)


class Counted:
    """The program counted: seconds before, of, and behind the run."""

    def __init__(self, sonde, p, command, modules, alone):
        with sampling.Recording(p) as r:
            path = os.path.join(r.folder, "counted")
            usage = run([sonde, "count", "--modules", modules, "-o", r.profile, "--", *command], path)
            if not filecmp.cmp(alone.path, path, shallow=False):
                raise RuntimeError(f"{' '.join(command[:6])}: its output is another when it is counted")
            facts = dict(r.query("SELECT key, value FROM meta"))
        self.wall, self.peak = usage.wall, usage.family_peak
        self.before, self.run = float(facts["preparing"]), float(facts["seconds"])
        self.behind = self.wall - self.before - self.run


class Result:
    """A program's least figures. own: its own code counted, whole: everything."""

    def __init__(self, sonde, p, program, size, rounds):
        with sampling.Recording(p) as r:
            alone, own, whole = [], [], []
            for _ in range(rounds):
                alone.append(Alone(program.command(size), r.folder))
                own.append(Counted(sonde, p, program.command(size), program.modules, alone[-1]))
                whole.append(Counted(sonde, p, program.command(size), "all", alone[-1]))
        self.alone = min(a.wall for a in alone)
        self.times, self.whole = (slowdown(min(c.run for c in runs), alone) for runs in (own, whole))
        self.end_to_end = min(c.wall for c in own) / self.alone
        self.before, self.behind = min(c.before for c in own), min(c.behind for c in own)
        self.memory = max(a.peak for a in alone)
        self.more = max(c.peak for c in own) - self.memory


def callgrind(p, program):
    """Times, or none if it is not installed."""
    if not shutil.which(PEER[0]):
        return None
    command = program.command(SMALL)
    with sampling.Recording(p) as r:
        alone = [Alone(command, r.folder) for _ in range(3)]
        return slowdown(run([*PEER, *command], os.path.join(r.folder, "output")).wall, alone)


def _mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def _times(x):
    return "not measured" if x is None else f"{x:.2f}" if x < 9.995 else f"{x:.1f}"


def _reached(good):
    return "reached" if good else "**not reached**"


def _speed_table(done):
    figures = [(r.times, r.end_to_end, r.whole, peer) for _, r, peer in done]
    rows = [(p.name, p.language, f"`{p.modules}`", f"{r.alone:.2f} s", *map(_times, f)) for (p, r, _), f in zip(done, figures)]
    columns = [[v for v in column if v] for column in zip(*figures)]
    for name, of, goal in (("geometric mean", _mean, MEAN), ("worst", max, WORST)):
        best = of(columns[0])
        rows.append((f"**{name}** (goal: at most {goal:.1f})", "", _reached(best <= goal), "", f"**{best:.2f}**",
                     *(_times(of(c)) if c else "" for c in columns[1:])))
    return measure.table(("program", "language", "modules", "alone", "times", "end to end", "everything counted", "callgrind"),
                         rows)


def _footprint_table(done):
    rows = [(p.name, f"{r.before:.2f} s", f"{r.behind:.2f} s", f"{r.memory / 1e6:.0f} MB", f"{r.more / 1e6:+.0f} MB")
            for p, r, _ in done]
    most = max(r.more / 1e6 for _, r, _ in done)
    rows.append((f"**most** (goal: at most {MEMORY:.0f} MB more)", "", "", _reached(most <= MEMORY), f"**{most:+.0f} MB**"))
    for p, r, _ in done:
        if p.name == "python3":
            rows.append((f"**start of python3** (goal: at most {START:.0f} s)", f"**{r.before:.2f} s**",
                         _reached(r.before <= START), "", ""))
    return measure.table(("program", "before the run", "after it", "memory alone", "counted"), rows)


FOOTPRINT = """Before the run, Sonde analyses and rewrites the program's own code; after it, Sonde reads the counters and saves the
profile. Memory is the peak of the program alone, and how much larger the peak of the counted program and Sonde together is, with
shared memory counted once."""


def report(sonde, p, quick, log):
    done, failed = [], []
    for program in workloads.available(p, log, count_programs.ALL):
        log(f"slowdown: {program.name}")
        try:
            done.append((program, Result(sonde, p, program, SMALL if quick else 1, 1 if quick else 3),
                         None if quick else callgrind(p, program)))
            log(f"  {done[-1][1].times:.2f}")
        except (RuntimeError, programs.Missing) as e:
            log(f"  failed: {e}")
            failed.append(f"- **{program.name}** failed: {str(e).replace(p.work + '/', '')}")
    parts = [_speed_table(done), FOOTPRINT.replace("\n", " "), _footprint_table(done)]
    return "\n\n".join(["\n".join(failed)] * bool(failed) + parts)
