"""What measuring a hot synchronisation function costs a program that lives on locks.

Four threads that hold a mutex for 2 µs and work 4 µs without it; and two that pass items to two others through a small
queue with condition variables. `sonde path -f take -m cpu,wall,sync` (and `wait_for`, with the queue) follows every call of
their wrappers, with call paths. Runs with and without take turns; each measured one is compared with those before and
after it. The program itself tells how long it took."""

import re
import statistics
import subprocess

import measure
import probing
import sampling

GOAL = 5.0  # per cent
PROGRAMS = (("mutex", "take", 60000), ("condition", "take,wait_for", 60000))


def _once(command):
    """Wall and processor seconds, as the program tells them."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          preexec_fn=probing.before_others)
    told = re.search(r"^(\d+\.\d{6}) (\d+\.\d{6})$", done.stdout, re.M)
    if done.returncode or not told:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}: {done.stderr[-300:]}")
    return float(told[1]), float(told[2])


def _row(sonde, p, program, name, functions, turns, rounds):
    command = [program, name, str(turns)]
    alone, measured = [_once(command)], []
    for _ in range(rounds):
        with sampling.Recording(p) as r:
            measured.append(_once([sonde, "path", "-f", functions, "-m", "cpu,wall,sync", "--max-cost", "none", "-o",
                                   r.profile, "--", *command]))
        alone.append(_once(command))
    ratios = [[m[k] * 2 / (a[k] + b[k]) for m, a, b in zip(measured, alone, alone[1:])] for k in (0, 1)]
    middle = 100 * (statistics.median(ratios[0]) - 1)
    return (name, functions.replace(",", ", "), f"{statistics.median(a[0] for a in alone):.2f} s",
            probing.percent(ratios[0]), probing.percent(ratios[1]), f"below {GOAL:.0f} %", "yes" if middle < GOAL else "no")


def report(sonde, p, quick, log):
    program = sampling.built(p, "locks", libraries=("-lpthread",))
    rows = []
    for name, functions, turns in PROGRAMS:
        log(f"locks: {name}")
        rows.append(_row(sonde, p, program, name, functions, turns, 3 if quick else 9))
    return measure.table(("program", "probed", "alone", "wall", "processor", "goal of wall", "reached"), rows)
