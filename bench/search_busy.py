"""Busy programs, end to end, as a person with a stop-watch sees them.

Programs of 10 seconds and more run alone, under `sonde diagnose`, alone, under `sonde record -F 999`, under `perf record -F
999 -g`, and so on. Each run is the command from its start to its end, and is compared with the mean of the runs alone before
and after. The table shows medians. "Stated" is the overhead that Sonde itself reports; it may differ from the measured one
by a point or by a quarter of it, whichever is more. Noise is half of the interquartile range of the runs alone. perf does
without `--bpf-event`, for which it waits up to a second at its end. Rounds in which the host took CPUs away (stolen time)
are made again. A run of five times as long as alone and half a minute has not finished. Programs that print a checksum have
to print the same under an observer."""

import os
import statistics
import time

import busy_programs
import calm
import measure
import programs
import sampling
import searching
import stopwatch
import workloads

MIDDLE, EACH = 2.5, 5.0          # goals of a search: per cent
RECORD_MIDDLE = 1.0              # goal of recording
POINTS, QUARTER = 1.0, 0.25      # that stated and measured differ
SECONDS, QUICK_SECONDS = 10.5, 2.5
ROUNDS, PATIENCE = 3, 2          # calm rounds; times as many are made at most
HZ = "999"


def _limit(seconds, quick):
    return 3 * seconds + 3 if quick else 5 * seconds + 30


class Sight:
    """One run under an observer: how much longer than alone in per cent, None if it did not finish."""

    def __init__(self, run, alone, stated=None):
        self.longer = 100 * (run.wall / alone - 1) if run.has_finished() else None
        self.stated = stated


class Bench:
    """One program: rounds of runs, each under all observers."""

    def __init__(self, sonde, p, program, seconds, limit):
        self.sonde, self.p, self.program, self.limit = sonde, p, program, limit
        self.amount = program.amount_for(seconds)
        self.rounds, self.alone, self.answers, self.harm = [], [], {"alone": []}, set()
        self.gone = set()   # observers under which it did not finish
        self.printed = None

    def observers(self):
        out = {"diagnose": lambda r: [self.sonde, "diagnose", "-o", r.profile, "--"],
               "record": lambda r: [self.sonde, "record", "-F", HZ, "-o", r.profile, "--"]}
        try:
            perf = [sampling.perf(), "record", "-q", "--no-bpf-event", "-e", "cpu-clock", "-F", HZ, "-g"]
            out["perf"] = lambda r: [*perf, "-o", r.profile, "--"]
        except programs.Missing:
            pass
        return out

    def run_alone(self):
        run = self.program.run(self.amount, [], self.limit)
        if not run.has_finished() or run.status:
            raise programs.Missing(f"{self.program.name} does not run: status {run.status}: {run.error[-200:]}")
        self.printed = run.output
        self.alone.append(run.wall)
        self._note_answers("alone")
        return run.wall

    def _note_answers(self, name):
        if getattr(self.program, "answers", None):
            self.answers.setdefault(name, []).append(self.program.answers)

    def observe(self, name, observer):
        with sampling.Recording(self.p) as r:
            run = self.program.run(self.amount, observer(r), self.limit)
            stated = None
            if not run.has_finished():
                self.gone.add(name)
            elif run.status or self.program.is_exact and run.output != self.printed:
                self.harm.add(f"{name}: status {run.status}, printed {run.output[-60:]!r} {run.error[-200:]!r}")
            if name == "diagnose" and run.has_finished() and os.path.exists(r.profile):
                stated = 100 * searching.findings(self.sonde, r.profile)["overhead"]
        self._note_answers(name)
        return run, stated

    def round(self, watch):
        """A run alone before the first observer, after the search, and after the last."""
        sights, pending, begin = {}, [], time.monotonic()
        before = self.alone[-1] if self.alone else self.run_alone()
        observers = {name: make for name, make in self.observers().items() if name not in self.gone}
        for name, make in observers.items():
            pending.append((name, *self.observe(name, make)))
            if name == "diagnose" or name == list(observers)[-1]:
                after = self.run_alone()
                sights.update({n: Sight(run, (before + after) / 2, stated) for n, run, stated in pending})
                before, pending = after, []
        self.rounds.append((watch.stolen(begin, time.monotonic()), sights))

    def make_rounds(self, count, patience):
        with calm.Watch() as watch:
            while sum(stolen <= calm.CALM for stolen, _ in self.rounds) < count and len(self.rounds) < patience * count:
                self.round(watch)
        self.rounds = sorted(self.rounds, key=lambda r: r[0])[:count]

    def of(self, name, what="longer"):
        return stopwatch.median(getattr(sights[name], what) for _, sights in self.rounds if name in sights)

    def noise(self):
        """Per cent."""
        if len(self.alone) < 3:
            return None
        low, middle, high = statistics.quantiles(self.alone, n=4)
        return 50 * (high - low) / middle


def _percent(x, otherwise="not finished"):
    return otherwise if x is None else f"{x:+.1f} %"


def is_true(stated, measured):
    return stated is not None and measured is not None and abs(stated - measured) <= max(POINTS, QUARTER * abs(measured))


def _row(b):
    measured, stated = b.of("diagnose"), b.of("diagnose", "stated")
    good = measured is not None and measured <= EACH and not b.harm
    noise = b.noise()
    return (b.program.name, f"{statistics.median(b.alone):.1f} s", "" if noise is None else f"± {noise:.1f} %",
            _percent(measured), searching.reached(good), "none" if stated is None else f"{stated:.1f} %",
            searching.reached(is_true(stated, measured)), _percent(b.of("record")),
            _percent(b.of("perf")) if "perf" in b.observers() else "")


def measured(sonde, p, makers, seconds, rounds, patience, quick, log):
    """Benches of those programs that can be had here."""
    out = []
    for program in workloads.available(p, log, makers):
        log(f"busy: {program.name}")
        try:
            b = Bench(sonde, p, program, seconds, _limit(seconds, quick))
            b.make_rounds(rounds, patience)
        except programs.Missing as e:
            log(f"  not measured: {e}")
            continue
        for harm in b.harm:
            log(f"  HARM: {harm}")
        log(f"  {' | '.join(_row(b))}; {100 * max(stolen for stolen, _ in b.rounds):.0f} % stolen")
        out.append(b)
    return out


def _middle(benches, name):
    """Not finished counts as endless."""
    values = [b.of(name) for b in benches]
    middle = statistics.median(float("inf") if v is None else v for v in values) if values else float("inf")
    return None if middle == float("inf") else middle


def _servers(benches):
    rows = []
    for b in benches:
        for name, answers in b.answers.items():
            if answers:
                rates, latencies = zip(*answers)
                rows.append((b.program.name, name, f"{statistics.median(rates):,.0f}", f"{statistics.median(latencies):.2f} ms"))
    return measure.table(("server", "", "requests a second", "p99 latency"), rows) if rows else ""


def tables(benches):
    rows = [_row(b) for b in benches]
    search, record, perf = (_middle(benches, name) for name in ("diagnose", "record", "perf"))
    true = sum(is_true(b.of("diagnose", "stated"), b.of("diagnose")) for b in benches)
    rows.append((f"**median** (goal: at most {MIDDLE} %; recording {RECORD_MIDDLE} %)", "", "", f"**{_percent(search)}**",
                 searching.reached(search is not None and search <= MIDDLE), "", f"{true} of {len(benches)}",
                 f"**{_percent(record)}**", _percent(perf)))
    harm = [f"- {b.program.name} under {h}" for b in benches for h in sorted(b.harm)]
    return "\n\n".join(filter(None, [
        measure.table(("program", "alone", "noise", "`diagnose`", f"goal: at most {EACH:.0f} %", "stated",
                       "goal: stated is measured", f"`record -F {HZ}`", f"`perf record -F {HZ} -g`"), rows),
        "Harmed:\n\n" + "\n".join(harm) if harm else "", _servers(benches)]))


def report(sonde, p, quick, log):
    if quick:
        return tables(measured(sonde, p, busy_programs.HARD, QUICK_SECONDS, 1, 1, quick, log))
    return tables(measured(sonde, p, busy_programs.ALL, SECONDS, ROUNDS, PATIENCE, quick, log))
