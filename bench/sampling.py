"""Recording a command with Sonde or perf, and what came of it."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time

import programs

HERE = os.path.dirname(os.path.abspath(__file__))
VICTIMS = os.path.join(HERE, "victims")


class Recording:
    """A recording in a folder of its own, which goes with it."""

    def __init__(self, p):
        self.folder = tempfile.mkdtemp(prefix="recording-", dir=p.work)
        self.profile = os.path.join(self.folder, "profile")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def query(self, sql):
        db = sqlite3.connect(self.profile)
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()

    def counts(self):
        """Samples by what became of them: complete, lost, throttled, or the reason of a failure."""
        return dict(self.query("SELECT name, samples FROM count"))

    def samples(self):
        return self.query("SELECT coalesce(sum(samples), 0) FROM value")[0][0]

    def frames(self):
        """Frames of all samples, the kernel's not."""
        return self.query("""WITH RECURSIVE depth(id, n) AS (
            SELECT id, 0 FROM node WHERE parent IS NULL UNION ALL
            SELECT node.id, n + (node.kind IN (1, 2)) FROM node JOIN depth ON node.parent = depth.id)
            SELECT coalesce(sum(samples * n), 0) FROM value JOIN depth ON depth.id = value.node""")[0][0]

    def report(self, sonde, *options):
        done = subprocess.run([sonde, "report", self.profile, "--json", *options], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"sonde report: {done.stderr.decode(errors='replace')[:300]}")
        return json.loads(done.stdout)


class Usage:
    """What one command took: seconds by the wall, of the CPU with all it waited for, its own peak memory, and the
    most that it and its children had together at a time, what they share counted once."""

    def __init__(self, wall, cpu, peaks, status, error, output):
        self.wall, self.cpu, self.status, self.error, self.output = wall, cpu, status, error, output
        self.peak, self.family_peak = peaks


def _numbers_in(path, start=""):
    """The first numbers of a file's lines that start like this; none if it is gone."""
    try:
        with open(path, encoding="ascii", errors="replace") as f:
            return [int(n) for l in f if l.startswith(start) for n in l[len(start):].replace("kB", "").split()]
    except OSError:
        return []


def _follow(pid, peaks, done):
    """Follows VmHWM of a process, and the sum of Pss of it and its children."""
    pause = 0.001
    while not done.wait(pause):
        pause = min(2 * pause, 0.05)
        family = [pid, *_numbers_in(f"/proc/{pid}/task/{pid}/children")]
        together = sum(sum(_numbers_in(f"/proc/{one}/smaps_rollup", "Pss:")) for one in family)
        peaks["own"] = max([peaks["own"], *_numbers_in(f"/proc/{pid}/status", "VmHWM:")])
        peaks["family"] = max(peaks["family"], together)


def run(command, env=None, limit=None, output=subprocess.DEVNULL, first=None):
    """Runs a command to its end, or for `limit` seconds: then it gets SIGTERM and the status is None. `first` is called in
    its process."""
    start, peaks, done = time.perf_counter(), {"own": 0, "family": 0}, threading.Event()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
                          env=dict(os.environ, **(env or {})), preexec_fn=first) as process:
        follower = threading.Thread(target=_follow, args=(process.pid, peaks, done))
        follower.start()
        try:
            text, error = process.communicate(timeout=limit)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.terminate()
            (text, error), status = process.communicate(), None
        except BaseException:  # we are to end, and it may be in a session of its own
            process.terminate()
            raise
        finally:
            done.set()
            follower.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Usage(time.perf_counter() - start, cpu, (peaks["own"] << 10, peaks["family"] << 10), status,
                 error.decode(errors="replace"), text)


def record(sonde, recording, command, *options, env=None, output=subprocess.DEVNULL):
    """`sonde record`; a program that fails is an error here."""
    usage = run([sonde, "record", "-o", recording.profile, *options, "--", *command], env, output=output)
    if usage.status:
        raise RuntimeError(f"sonde record {' '.join(command[:3])}: status {usage.status}: {usage.error[-300:]}")
    return usage


def perf():
    found = shutil.which("perf")
    if not found:
        raise programs.Missing("perf is not installed")
    return found


def perf_record(recording, command, *options, env=None, limit=None):
    """`perf record` with call graphs from copies of the stack, as its manual recommends for optimised code."""
    start = [perf(), "record", "-q", "-o", recording.profile, "--call-graph", "dwarf"]
    return run([*start, *options, "--", *command], env, limit)


def built(p, name, flags=(), compiler="gcc", level="-O2", libraries=()):
    """A program of bench/victims for this machine."""
    label = f"victim-{name}" + "".join(flags).replace("/", "-")
    return p.build(label, programs.HOST, [os.path.join(VICTIMS, f"{name}.c")], list(flags), compiler, level, libraries)
