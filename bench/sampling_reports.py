"""What recording and reporting take on the profiler's side.

Throughput is the CPU time of `sonde record` per additional sample: the difference between a longer and a shorter
recording of the same program, less what the program itself took. So the start and the one-time analysis of the code
do not count. The time to a first report is that of large programs without debugging information, recorded for some
seconds, with an empty cache. The long run is one program for a minute, recorded and then reported, by Sonde and at
the same time by perf with `--call-graph dwarf`; perf's report is stopped after a quarter of a minute. Memory is the
peak of the profiler's own process."""

import concurrent.futures
import os
import statistics

import measure
import programs
import sampling
import workloads

HZ = "4999"
LONG_HZ = "499"
LIMIT = 15  # seconds for perf report
SECOND = 1.0  # goal for a report


def _seconds(x):
    return f"{x:.2f} s" if x < 100 else f"{x:.0f} s"


def _megabytes(x):
    return f"{x / 1e6:.0f} MB" if x >= 1e7 else f"{x / 1e6:.1f} MB"


def _grown(w, factor):
    """The same work, longer: python3's script takes its rounds as an argument."""
    return [*w.command, str(int(12 * factor))]


class Point:
    """A recording in numbers: samples, frames, CPU time of the recorder."""

    def __init__(self, sonde, p, command):
        alone = sampling.built(p, "alone")
        with sampling.Recording(p) as r:
            told = os.path.join(r.folder, "told")
            usage = sampling.record(sonde, r, [alone, told, "-1", *command], "-F", HZ)
            with open(told, encoding="ascii") as f:
                own = float(f.read().split()[0])
            self.samples, self.frames, self.cpu = r.samples(), r.frames(), usage.cpu - own
            self.lost = r.counts().get("lost", 0)


def throughput(sonde, p, rounds):
    """Seconds of the recorder for one sample and one frame, and frames of a sample: medians."""
    w = workloads.python3(p)
    per_sample, per_frame, depth = [], [], []
    for _ in range(rounds):
        short, longer = Point(sonde, p, _grown(w, 0.5)), Point(sonde, p, _grown(w, 1.5))
        cpu = longer.cpu - short.cpu
        per_sample.append(cpu / (longer.samples - short.samples))
        per_frame.append(cpu / (longer.frames - short.frames))
        depth.append(longer.frames / longer.samples)
    return statistics.median(per_sample), statistics.median(per_frame), statistics.median(depth)


def _throughput_rows(sonde, p, rounds):
    sample, frame, depth = throughput(sonde, p, rounds)
    return [("recording python3, a sample", f"{sample * 1e6:.1f} µs: {1 / sample:.0f} samples/s", ""),
            (f"a frame, of {depth:.0f} in a sample", f"{frame * 1e9:.0f} ns", "")]


class First:
    """A recording with an empty cache and its first report. In seconds: the program by the CPU and the wall, the
    recorder by the CPU, from the program's end to that of the recorder, the report."""

    def __init__(self, sonde, p, w):
        alone = sampling.built(p, "alone")
        with sampling.Recording(p) as r:
            told, env = os.path.join(r.folder, "told"), {"XDG_CACHE_HOME": os.path.join(r.folder, "cache")}
            usage = sampling.record(sonde, r, [alone, told, "-1", *w.command], env=env)
            with open(told, encoding="ascii") as f:
                self.cpu, self.wall = (float(n) for n in f.read().split())
            shown = sampling.run([sonde, "report", r.profile], env)
            if shown.status:
                raise RuntimeError(f"sonde report: {shown.error[:300]}")
            self.recorder, self.after, self.report = usage.cpu - self.cpu, usage.wall - self.wall, shown.wall
            self.peak = usage.peak


def _first_rows(sonde, p, log):
    rows = []
    for w in workloads.available(p, log, (workloads.gdb, workloads.cc1, workloads.clang)):
        f = First(sonde, p, w)
        good = "yes" if f.after + f.report <= 1.5 * SECOND else "**no**"
        rows.append((f"{w.name}, {f.wall:.1f} s: from its end to the report (goal: about a second)",
                     f"{_seconds(f.after)} + {_seconds(f.report)}: {good}", ""))
        rows.append((f"{w.name}, {f.cpu:.1f} s of the CPU: that of the recorder, peak memory",
                     f"{_seconds(f.recorder)}, {_megabytes(f.peak)}", ""))
    return rows


class Long:
    """One recording and its report, in numbers for a table."""

    def __init__(self, recorded, size, shown):
        time = _seconds(shown.wall) if shown.status is not None else f"stopped after {LIMIT} s"
        self.cells = (f"{recorded.wall:.0f} s", _megabytes(recorded.peak), _megabytes(size), time, _megabytes(shown.peak))


def _long_sonde(sonde, p, command):
    with sampling.Recording(p) as r:
        recorded = sampling.record(sonde, r, command, "-F", LONG_HZ)
        return Long(recorded, os.path.getsize(r.profile), sampling.run([sonde, "report", r.profile], limit=LIMIT))


def _long_perf(p, command):
    with sampling.Recording(p) as r:
        recorded = sampling.perf_record(r, command, "-F", LONG_HZ)
        shown = sampling.run([sampling.perf(), "report", "--stdio", "-i", r.profile], limit=LIMIT)
        return Long(recorded, os.path.getsize(r.profile), shown)


def _long_rows(sonde, p, seconds):
    w = workloads.python3(p)
    command = _grown(w, seconds / sampling.run(w.command).cpu)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        mine, theirs = pool.submit(_long_sonde, sonde, p, command), pool.submit(_long_perf, p, command)
        cells = [mine.result().cells]
        try:
            cells.append(theirs.result().cells)
        except programs.Missing:
            cells.append(("not measured",) * 5)
    what = (f"python3 at {LONG_HZ} Hz, the run", "recording, peak memory", "file", "report, time", "report, peak memory")
    return list(zip(what, *cells))


def report(sonde, p, quick, log):
    rows = []
    log("reports: throughput")
    rows += _throughput_rows(sonde, p, 1 if quick else 3)
    log("reports: first reports")
    rows += _first_rows(sonde, p, log)
    log("reports: the long run")
    rows += _long_rows(sonde, p, 20 if quick else 60)
    return measure.table(("what", "Sonde", "perf"), rows)
