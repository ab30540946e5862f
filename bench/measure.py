"""Runs commands and measures them."""

import json
import os
import statistics
import subprocess
import time


class Run:
    def __init__(self, seconds, status, output, error):
        self.seconds, self.status, self.output, self.error = seconds, status, output, error


def timed(command, env=None, capture=False):
    """One run, by the wall clock."""
    out = subprocess.PIPE if capture else subprocess.DEVNULL
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=dict(os.environ, **(env or {}))) as p:
        text = p.stdout.read() if capture else b""
        error = p.stderr.read()
    seconds = time.perf_counter() - start
    return Run(seconds, p.returncode, text, error.decode(errors="replace"))


def interleaved(commands, rounds, env=None):
    """Each command once a round, so that the machine's moods meet all alike; medians by name."""
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            r = timed(command, env)
            if r.status != 0:
                raise RuntimeError(f"{' '.join(command)}: status {r.status}: {r.error[:200]}")
            runs[name].append(r)
    return {name: Run(statistics.median(r.seconds for r in rs), 0, b"", "") for name, rs in runs.items()}


def built(sonde, name):
    """A program of bench/ that is not built by itself."""
    build = os.path.dirname(sonde)
    done = subprocess.run(["ninja", "-C", build, f"bench/{name}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} cannot be built: {done.stdout[-300:]}")
    return os.path.join(build, "bench", name)


def sonde_json(sonde, *arguments):
    done = subprocess.run([sonde, "structure", "--no-cache", "--json", *arguments], capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"sonde structure {' '.join(arguments)}: {done.stderr.decode(errors='replace')[:300]}")
    return json.loads(done.stdout)


def table(head, rows):
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in r) + " |" for r in rows])


def percent(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "none"
