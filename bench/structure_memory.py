"""The structure of a very large library.

A library of 450 MB with 400,000 functions (bench/many_libraries.py), with `sonde structure` and with `objdump -d`. Memory is
the peak of the process. With `--quick`, objdump lists a tenth of the code, and its time is taken ten times."""

import os
import re

import many_libraries
import measure
import programs
import searching
import stopwatch

MEMORY = 1e9     # goal: bytes
RATIO = 0.1      # goal: of objdump's time
LIMIT = 600      # seconds
ROUNDS = 3


def _code(path):
    """Where the code begins and ends."""
    m = re.search(r"\.text\s+PROGBITS\s+(\w+) \w+ (\w+)", programs.run("readelf", "-SW", path))
    return int(m[1], 16), int(m[1], 16) + int(m[2], 16)


def _objdump(path, quick):
    """Its run, and the factor to take its time with."""
    begin, end = _code(path)
    part = [f"--stop-address={begin + (end - begin) // 10:#x}"] if quick else []
    return stopwatch.run(["sh", "-c", 'exec objdump -d "$@" >/dev/null', "objdump", *part, path], LIMIT), 10 if quick else 1


def report(sonde, p, quick, log):
    path = many_libraries.largest(p)
    log("memory: sonde structure")
    runs = [stopwatch.run([sonde, "structure", "--no-cache", "--no-debug", "--stats", path], LIMIT)
            for _ in range(1 if quick else ROUNDS)]
    log("memory: objdump -d")
    listed, times = _objdump(path, quick)
    took, peak = stopwatch.median(r.wall for r in runs), max(r.peak for r in runs)
    if took is None or any(r.status for r in runs) or not listed.has_finished():
        return f"Not measured: {runs[0].error[-300:]} {listed.error[-300:]}"
    objdump = times * listed.wall
    rows = [("`sonde structure`", f"{took:.1f} s", f"{peak / 1e6:.0f} MB", ""),
            ("`objdump -d`", f"{objdump:.0f} s" + (" (ten times a tenth)" if quick else ""), f"{listed.peak / 1e6:.0f} MB", ""),
            ("**ratio** (goal: at most 1/10)", f"1/{objdump / took:.1f}", "", searching.reached(took <= RATIO * objdump)),
            (f"**memory** (goal: at most {MEMORY / 1e6:.0f} MB)", "", f"{peak / 1e6:.0f} MB", searching.reached(peak <= MEMORY))]
    return f"{os.path.getsize(path) / 1e6:.0f} MB:\n\n" + measure.table(("", "time", "peak memory", "goal"), rows)
