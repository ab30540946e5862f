"""Programs that know what their loops take.

Each program reads its own CPU clock around its loops and prints the truth. Shares are of the whole run, or of one
thread where the truth is about one. Sonde's shares are those of `sonde report --view loops`: the total of the
outermost loop of a function, inlined or not, with `--thread` and `--focus` where the truth is about one thread or one
call path."""

import subprocess

import measure
import programs
import sampling

GOAL = 2.0  # points
SECONDS = "2"
HZ = "4999"
VICTIMS = {
    "shares": "three loops, 10/20/70",
    "inlined": "the same, inlined",
    "deep": "below 300 calls, by two ways",
    "recursion": "a loop that recurs, and a plain one",
    "threads": "two loops in three threads",
}


class Truth:
    """A line that a victim printed."""

    def __init__(self, line):
        _, self.function, self.thread, self.through, seconds = line.split()
        self.seconds = float(seconds)


    def options(self):
        return (["--thread", self.thread] if self.thread != "0" else []) + (
            ["--focus", self.through] if self.through != "any" else [])


def whole_of(truth, truths):
    """Seconds that the share is of: all loops of the thread, each by its most general line."""
    lines = [t for t in truths if t.thread == truth.thread]
    general = {t.function for t in lines if t.through == "any"}
    return sum(t.seconds for t in lines if t.through == "any" or t.function not in general)


def found(report, function, whole):
    """Per cent of the outermost loop that stands in the function."""
    totals = [r["total"] for r in report["rows"] if (r["inlined_into"] or [r["function"]])[0] == function]
    return 100 * max(totals, default=0) / whole


def compare(sonde, p, name, compiler):
    """For each line that the victim told: its text, the truth and what Sonde says, in per cent."""
    program = sampling.built(p, name, ["-g", "-pthread"], compiler)
    with sampling.Recording(p) as r:
        told = sampling.record(sonde, r, [program, SECONDS], "-F", HZ, output=subprocess.PIPE).output.decode()
        truths = [Truth(line) for line in told.splitlines() if line.startswith("loop ")]
        for t in truths:
            thread = ["--thread", t.thread] if t.thread != "0" else []
            whole = r.report(sonde, "--view", "loops", *thread)["total"]
            report = r.report(sonde, "--view", "loops", *t.options())
            yield t, 100 * t.seconds / whole_of(t, truths), found(report, t.function, whole)


def report(sonde, p, quick, log):
    rows, worst, checked = [], 0, 0
    for name, about in VICTIMS.items():
        for compiler in ("gcc",) if quick else ("gcc", "clang"):
            log(f"truth: {name}, {compiler}")
            try:
                pairs = [(truth, mine) for _, truth, mine in compare(sonde, p, name, compiler)]
            except programs.Missing as e:
                log(f"  not measured: {e}")
                continue
            off = max(abs(a - b) for a, b in pairs)
            worst, checked = max(worst, off), checked + len(pairs)
            rows.append((about, compiler, " ".join(f"{a:.1f}" for a, _ in pairs), " ".join(f"{b:.1f}" for _, b in pairs),
                         f"{off:.2f}"))
    rows.append((f"**all {checked} shares** (goal: within {GOAL:.0f} points)", "", "", "", f"**{worst:.2f}**"))
    return measure.table(("program", "compiler", "truth, %", "Sonde, %", "furthest off, points"), rows)
