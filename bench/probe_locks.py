"""The overhead of measuring a hot synchronisation function in a program that lives on locks.

In one program, four threads hold a mutex for 2 µs and work 4 µs without it. In the other, two threads pass items to
two others through a small queue with condition variables. `sonde path -f take -m cpu,wall,sync` (and `wait_for`, with
the queue) follows every call of their wrappers, with call paths. Runs with and without Sonde take turns; each
measured run is compared with those before and after it. The program itself prints how long it took. CPU time is read
from a perf event of each thread, which makes context switches slower. `perf stat`, which counts nothing but that, has
the same effect and stands beside it."""

import re
import statistics
import subprocess

import measure
import probing
import sampling

GOAL = 5.0  # per cent
PROGRAMS = (("mutex", "take", 60000), ("condition", "take,wait_for", 60000))


def _once(command):
    """Wall and CPU seconds, as the program tells them."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          preexec_fn=probing.before_others)
    told = re.search(r"^(\d+\.\d{6}) (\d+\.\d{6})$", done.stdout, re.M)
    if done.returncode or not told:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-300:]}")
    return float(told[1]), float(told[2])


def _row(program, turns, rounds, name, what, goal, prefix):
    """`prefix` runs the program, given how, behind the words of a command that measures it."""
    command = [program, name, str(turns)]
    alone, measured = [_once(command)], []
    for _ in range(rounds):
        measured.append(prefix(lambda words: _once([*words, *command])))
        alone.append(_once(command))
    ratios = [[m[k] * 2 / (a[k] + b[k]) for m, a, b in zip(measured, alone, alone[1:])] for k in (0, 1)]
    middle = 100 * (statistics.median(ratios[0]) - 1)
    return (name, what, f"{statistics.median(a[0] for a in alone):.2f} s", probing.percent(ratios[0]), probing.percent(ratios[1]),
            f"below {goal:.0f} %" if goal else "", ("yes" if middle < goal else "no") if goal else "")


def report(sonde, p, quick, log):
    program = sampling.built(p, "locks", libraries=("-lpthread",))
    rows, rounds = [], 3 if quick else 9

    def by_sonde(functions):
        def prefix(run):
            with sampling.Recording(p) as r:
                return run([sonde, "path", "-f", functions, "-m", "cpu,wall,sync", "--max-overhead", "none", "-o", r.profile, "--"])
        return prefix

    def by_perf(run):
        return run(["perf", "stat", "-e", "task-clock", "--"])

    for name, functions, turns in PROGRAMS:
        log(f"locks: {name}")
        rows.append(_row(program, turns, rounds, name, functions.replace(",", ", "), GOAL, by_sonde(functions)))
        rows.append(_row(program, turns, rounds, name, "nothing, `perf stat -e task-clock`", None, by_perf))
    return measure.table(("program", "probed", "alone", "wall", "CPU", "goal of wall", "reached"), rows)
