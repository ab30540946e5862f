"""How long programs take to start under Sonde.

**Large programs** load many libraries or large ones and do little: `import torch`, chromium without a window, clang with
libLLVM, and a made program with 100 libraries and 3 GB (bench/many_libraries.py) that runs for half a second. They run alone,
under `sonde record` and under `sonde diagnose`, each with an empty cache (first) and once more (second), in turns. Times are
of the command from its start to its end, medians of the rounds.

**Small programs** take a tenth of a second or less. The table shows what Sonde adds to that, with a cache that is filled:
medians of the differences from the runs alone before and after."""

import os
import shutil
import statistics
import subprocess

import busy_programs
import many_libraries
import measure
import programs
import sampling
import searching
import stopwatch
import workloads

# Goals: at most so many times as long as alone, and seconds more.
FIRST = {"record": (1.1, 0.2), "diagnose": (1.15, 0.4)}
SECOND = (1.05, 0.2)
ADDED = {"record": 0.080, "diagnose": 0.120}   # seconds, for a small program
SOURCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
ROUNDS, QUICK_ROUNDS = 5, 1
SMALL_ROUNDS, QUICK_SMALL_ROUNDS = 15, 5
LIMIT, QUICK_LIMIT = 120, 20    # seconds


class Start:
    def __init__(self, name, command):
        self.name, self.command = name, command


def torch(p):
    python = p.system("python3")
    if subprocess.run([python, "-c", "import importlib.util as u; exit(u.find_spec('torch') is None)"], check=False).returncode:
        raise programs.Missing("python3-torch is not installed")
    return Start("python3, import torch", [python, "-c", "import torch"])


def chromium(p):
    return Start("chromium, no window", [workloads.tool("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
                                         f"--user-data-dir={p.path('chromium')}", "--dump-dom", "about:blank"])


def clang_version(p):
    return Start("clang --version", [workloads.tool("clang"), "--version"])


def clang(p):
    source = workloads.made(p, "start.c", lambda: workloads.c_source(3))
    return Start("clang, a small file", [workloads.tool("clang"), "-O2", "-w", "-c", source, "-o", "/dev/null"])


def libraries(p):
    return Start("made, 100 libraries", [many_libraries.program(p), "0.5"])


def true(p):
    return Start("true", [workloads.tool("true")])


def grep(p):
    return Start("grep -r in Sonde's source", [workloads.tool("grep"), "-rc", "struct [a-z]*_[a-z]* \\*", SOURCE])


def matrices(p):
    program = busy_programs.matrices(p)
    return Start(program.name, program.command(program.amount_for(0.1)))


LARGE = (torch, chromium, clang_version, clang, libraries)
SMALL = (true, grep, matrices)


def _observed(sonde, p, command, name, cache, limit):
    with sampling.Recording(p) as r:
        return stopwatch.run([sonde, name, "-o", r.profile, "--", *command], limit, {"XDG_CACHE_HOME": cache})


class Large:
    """Runs of a large program: alone, and by command the first and the second time."""

    def __init__(self, sonde, p, start, rounds, limit):
        self.alone, self.times = [], {(name, nth): [] for name in FIRST for nth in (1, 2)}
        stopwatch.run(start.command, limit)   # so that its files are in memory
        cache = p.path("start-cache")
        for _ in range(rounds):
            for name in FIRST:
                self.alone.append(stopwatch.run(start.command, limit).wall)
                shutil.rmtree(cache, ignore_errors=True)
                for nth in (1, 2):
                    self.times[name, nth].append(_observed(sonde, p, start.command, name, cache, limit).wall)
        self.alone.append(stopwatch.run(start.command, limit).wall)
        shutil.rmtree(cache, ignore_errors=True)

    def cells(self):
        alone = stopwatch.median(self.alone)
        out, good = [f"{alone:.2f} s"], True
        for (name, nth), times in self.times.items():
            took, (factor, more) = stopwatch.median(times), FIRST[name] if nth == 1 else SECOND
            reached = took is not None and took <= factor * alone + more
            good = good and reached
            text = "not finished" if took is None else f"{took:.2f} s"
            out.append(text if reached else f"**{text}** (goal: {factor * alone + more:.2f} s)")
        return *out, searching.reached(good)


def _large_table(sonde, p, quick, log):
    rows, (rounds, limit) = [], (QUICK_ROUNDS, QUICK_LIMIT) if quick else (ROUNDS, LIMIT)
    for start in workloads.available(p, log, LARGE):
        log(f"starting: {start.name}")
        rows.append((start.name, *Large(sonde, p, start, rounds, limit).cells()))
        log(f"  {' | '.join(rows[-1])}")
    return measure.table(("program", "alone", "`record`", "second time", "`diagnose`", "second time", "goal"), rows)


def _added(sonde, p, start, rounds, limit):
    """By command, the seconds that it adds; and the median of the runs alone."""
    cache, alone, added = p.path("start-cache-small"), [], {name: [] for name in ADDED}
    for name in ADDED:
        _observed(sonde, p, start.command, name, cache, limit)
    alone.append(stopwatch.run(start.command, limit).wall)
    for _ in range(rounds):
        for name in ADDED:
            took = _observed(sonde, p, start.command, name, cache, limit).wall
            alone.append(stopwatch.run(start.command, limit).wall)
            if took is not None:
                added[name].append(took - (alone[-2] + alone[-1]) / 2)
    return statistics.median(alone), {name: stopwatch.median(times) for name, times in added.items()}


def _small_table(sonde, p, quick, log):
    rows = []
    for start in workloads.available(p, log, SMALL):
        log(f"starting: {start.name}")
        alone, added = _added(sonde, p, start, QUICK_SMALL_ROUNDS if quick else SMALL_ROUNDS, QUICK_LIMIT if quick else LIMIT)
        texts = ["not finished" if x is None else f"{1000 * x:+.0f} ms" for x in added.values()]
        rows.append((start.name, f"{1000 * alone:.0f} ms", *texts,
                     searching.reached(all(x is not None and x <= ADDED[name] for name, x in added.items()))))
        log(f"  {' | '.join(rows[-1])}")
    heads = (f"`{name}` (goal: at most {1000 * goal:+.0f} ms)" for name, goal in ADDED.items())
    return measure.table(("program", "alone", *heads, "goal"), rows)


def report(sonde, p, quick, log):
    return _large_table(sonde, p, quick, log) + "\n\nSmall programs:\n\n" + _small_table(sonde, p, quick, log)
