"""The overhead of recording, at 999 samples per second.

Four kinds of runs take turns: the program alone, under `sonde record`, under `perf record --call-graph dwarf`, and
under `perf record` without call paths, which shows what the interrupts alone take. Each recorded run is compared with
the runs alone before and after it. The table shows the median, and half of the interquartile range as noise. What
counts is the program's own CPU time, kernel time included, and the wall clock from its start to its end. A program of
one thread has one CPU to itself; the recorder has the other."""

import os
import statistics

import measure
import programs
import sampling
import workloads

GOAL = 1.5  # per cent
HZ = "999"
PROGRAMS = (workloads.python3, workloads.cc1, workloads.xz_one, workloads.povray, workloads.sqlite3, workloads.perl,
            workloads.fortran, workloads.sort)


class Bench:
    def __init__(self, sonde, p):
        self.sonde, self.p = sonde, p
        self.alone = sampling.built(p, "alone")

    def once(self, w, recorder):
        """CPU and wall seconds of the program itself."""
        apart = not w.threads and os.cpu_count() > 1
        with sampling.Recording(self.p) as r:
            told = os.path.join(r.folder, "told")
            command = [self.alone, told, str(os.cpu_count() - 1 if apart else -1), *w.command]
            usage = sampling.run((["taskset", "-c", "0"] if apart else []) + recorder(r) + command, w.env)
            if usage.status:
                raise RuntimeError(f"{' '.join(command)}: status {usage.status}: {usage.error[-300:]}")
            with open(told, encoding="ascii") as f:
                return [float(n) for n in f.read().split()]

    def recorders(self):
        out = {"sonde": lambda r: [self.sonde, "record", "-F", HZ, "-o", r.profile, "--"]}
        try:
            perf = [sampling.perf(), "record", "-q", "-e", "cpu-clock", "-F", HZ]
            out["perf"] = lambda r: [*perf, "--call-graph", "dwarf", "-o", r.profile, "--"]
            out["bare"] = lambda r: [*perf, "-o", r.profile, "--"]
        except programs.Missing:
            pass
        return out

    def ratios(self, w, rounds):
        """By recorder, the lists of ratios to the runs alone on both sides: CPU and wall."""
        recorders = self.recorders()
        alone, runs = [self.once(w, lambda r: [])], []
        for _ in range(rounds):
            runs.append({name: self.once(w, recorder) for name, recorder in recorders.items()})
            alone.append(self.once(w, lambda r: []))
        around = [[(a[k] + b[k]) / 2 for k in (0, 1)] for a, b in zip(alone, alone[1:])]
        out = {name: tuple([run[name][k] / near[k] for run, near in zip(runs, around)] for k in (0, 1)) for name in recorders}
        return out, statistics.median(a[0] for a in alone)


def _percent(ratios):
    return f"{100 * (statistics.median(ratios) - 1):+.2f} %"


def _noise(ratios):
    """Half of the middle half: how far the machine's moods carry."""
    if len(ratios) < 3:
        return ""
    low, _, high = statistics.quantiles(ratios, n=4)
    return f" (± {50 * (high - low):.2f})"


def report(sonde, p, quick, log):
    bench, rows, medians = Bench(sonde, p), [], []
    for w in workloads.available(p, log, PROGRAMS[:2] if quick else PROGRAMS):
        log(f"overhead: {w.name}")
        ratios, seconds = bench.ratios(w, 3 if quick else 5)
        cells = [_percent(r) + _noise(r) for name in ("sonde", "perf") for r in ratios.get(name, ([1], [1]))]
        cells.append(_percent(ratios["bare"][0]) if "bare" in ratios else "")
        medians.append(statistics.median(ratios["sonde"][0]))
        rows.append((w.name + (", threads" if w.threads else ""), f"{seconds:.2f} s", *cells))
    middle = 100 * (statistics.median(medians) - 1)
    rows.append((f"**median** (goal: at most {GOAL} %)", "", f"**{middle:+.2f} %**", "", "", "", ""))
    return measure.table(("program", "alone", "Sonde, CPU", "Sonde, wall", "perf, CPU", "perf, wall",
                          "perf without call paths, CPU"), rows)
