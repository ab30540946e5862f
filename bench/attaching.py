"""What a running program sees when Sonde attaches.

A preloaded library (bench/victims/gaps.c) puts a thread into each program that looks at the clock all the time and notes
each gap of a millisecond or more. That thread has priority over all others, so that gaps are times in which the program was
stopped, and hardly those in which it waited for a CPU. The program computes in one more thread. The table shows the
longest gap until the command has ended, the sum of all gaps in the first five seconds, and how long the command took: alone,
and with `record -p`, `diagnose -p` and `path -p` with `--duration=5`. The cache is empty."""

import os
import statistics
import subprocess
import tempfile
import time

import many_libraries
import measure
import programs
import sampling
import searching
import starting
import stopwatch
import workloads

LONGEST, TOGETHER = 0.010, 0.050   # goals: seconds of gaps
LATE = 1.0                         # goal: seconds that a command takes longer than its --duration
WATCHED = 5                        # seconds
ROUNDS, QUICK_ROUNDS = 5, 1
LIMIT, QUICK_LIMIT = 120, 30       # seconds for a command
LOADED = 30                        # seconds until a program computes
TORCH = """import torch
a = torch.rand(200, 200)
open({ready!r}, "w").close()
while True:
    a = (a @ a).clamp(0, 1)
"""


class Victim:
    """command: a function of the path of a file that it may make when it computes. function: one that path measures."""

    def __init__(self, name, command, function, seconds=None):
        self.name, self.command, self.function = name, command, function
        self.seconds = seconds   # until it computes; None: it makes the file


def small(p):
    program = sampling.built(p, "rounds")
    return Victim("small program", lambda ready: [program, "10000"], "row", 0.5)


def libraries(p):
    program = many_libraries.program(p)
    return Victim("made, 100 libraries", lambda ready: [program, "10000"], "entry_7_0", 2)


def torch(p):
    start = starting.torch(p)
    return Victim("python3 with torch", lambda ready: [*start.command[:-1], TORCH.format(ready=ready)], "PyNumber_MatrixMultiply")


ALL = (small, libraries, torch)


class Running:
    """A program that runs and notes its gaps."""

    def __init__(self, p, victim):
        self.folder = tempfile.TemporaryDirectory(dir=p.work)
        self.path, ready = (os.path.join(self.folder.name, name) for name in ("gaps", "ready"))
        env = dict(os.environ, LD_PRELOAD=sampling.built(p, "gaps", ["-shared", "-fPIC", "-pthread"]), GAPS_FILE=self.path,
                   OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self.process = subprocess.Popen(victim.command(ready), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env=env, start_new_session=True)
        if victim.seconds is None:
            self._wait_for(ready)
        else:
            time.sleep(victim.seconds)

    def _wait_for(self, path):
        end = time.monotonic() + LOADED
        while not os.path.exists(path):
            if time.monotonic() > end or self.process.poll() is not None:
                self.__exit__()
                raise programs.Missing("the program did not come to compute")
            time.sleep(0.05)
        time.sleep(0.5)

    def gaps(self, begin, end):
        """Those that were open between two moments, each in full."""
        with open(self.path, encoding="ascii") as f:
            lines = [tuple(map(float, line.split())) for line in f.read().splitlines()]
        return [length for start, length in lines if begin <= start + length and start < end]

    def is_alive(self):
        return self.process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class Sight:
    """Five seconds of a running program, with a command beside it or alone."""

    def __init__(self, running, command, limit):
        begin = time.monotonic()
        run = stopwatch.run(command, limit) if command else None
        time.sleep(max(0, begin + WATCHED + 0.2 - time.monotonic()))
        self.longest = max(running.gaps(begin, time.monotonic()), default=0)
        self.together = sum(running.gaps(begin, begin + WATCHED))
        self.took = run and run.wall
        self.status = run and (run.status, run.error[-200:])


def _commands(sonde, victim, pid, profile):
    common = ["-p", str(pid), f"--duration={WATCHED}", "-o", profile]
    return {"alone": None, "record -p": [sonde, "record", *common], "diagnose -p": [sonde, "diagnose", *common],
            "path -p": [sonde, "path", "-f", victim.function, *common]}


def _sights(sonde, p, victim, rounds, limit, log):
    """By command; each attaches to a program of its own, with an empty cache."""
    out = {}
    for _ in range(rounds):
        for name in _commands(sonde, victim, 0, ""):
            with tempfile.TemporaryDirectory(dir=p.work) as cache, sampling.Recording(p) as r, Running(p, victim) as running:
                command = _commands(sonde, victim, running.process.pid, r.profile)[name]
                sight = Sight(running, command and ["env", f"XDG_CACHE_HOME={cache}", *command], limit)
                out.setdefault(name, []).append(sight)
                if not running.is_alive():
                    log(f"  HARM: {victim.name} ended under {name}")
                if sight.status and sight.status[0]:
                    log(f"  {name}: status {sight.status}")
    return out


def _row(victim, name, sights):
    longest, together = (statistics.median(getattr(s, what) for s in sights) for what in ("longest", "together"))
    took = stopwatch.median(s.took for s in sights)
    is_alone = name == "alone"
    good = longest <= LONGEST and together <= TOGETHER and took is not None and took <= WATCHED + LATE
    return (victim.name, name, f"{1000 * longest:.1f} ms", f"{1000 * together:.0f} ms",
            "" if is_alone else "not finished" if took is None else f"{took:.1f} s", "" if is_alone else searching.reached(good))


def report(sonde, p, quick, log):
    rows = []
    for victim in workloads.available(p, log, ALL):
        log(f"attaching: {victim.name}")
        try:
            sights = _sights(sonde, p, victim, QUICK_ROUNDS if quick else ROUNDS, QUICK_LIMIT if quick else LIMIT, log)
        except programs.Missing as e:
            log(f"  not measured: {e}")
            continue
        rows += [_row(victim, name, of) for name, of in sights.items()]
        for row in rows[-len(sights):]:
            log(f"  {' | '.join(row)}")
    return measure.table(("program", "", f"longest gap (goal: at most {1000 * LONGEST:.0f} ms)",
                          f"all gaps (goal: at most {1000 * TOGETHER:.0f} ms)",
                          f"command took (goal: at most {WATCHED + LATE:.0f} s)", "goal"), rows)
