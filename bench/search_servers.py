"""Servers of Debian (tests/live/servers.py) under load, while they are searched.

Clients ask as fast as they are answered, for some seconds: alone, with `sonde diagnose -p` beside them for most of that
time, alone, with `perf record -p -F 999 -g`, and so on. Throughput, and the time within which 99 % of the requests are answered,
are ratios to the mean of the runs alone before and after. One more client (bench/ping.py) asks for something small every
millisecond, before all other programs of the machine: the longest time that it waits for an answer is how long the server stands
still, or is busy with others. The table shows medians. Clients and server share the machine's CPUs, so that what an observer takes
of these is missing."""

import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import measure
import probing
import programs
import sampling
import search_programs
import searching

THROUGHPUT, SLOWER, LONGER = 0.97, 1.2, 0.010    # goals: ratios, and seconds
SECONDS, QUICK_SECONDS = 10, 6                   # of load
AROUND = 2                                       # seconds of these in which nobody observes
ROUNDS, QUICK_ROUNDS = 3, 1
LIMIT = 60
HERE = os.path.dirname(os.path.abspath(__file__))
HZ = "999"


def servers(sonde):
    search_programs.judge(sonde)
    import servers as module
    return module


class Load:
    """What clients see: requests per second, and seconds in which 99 % of these are answered."""

    def __init__(self, rate, slow):
        self.rate, self.slow = rate, slow


class Redis:
    name, ping = "redis, GET", "redis"

    def __init__(self, s):
        self.servers, self.start, self.rate = s, s.redis, None

    def _asked(self, server, count):
        text = programs.run(self.servers.tool("redis-benchmark"), "-p", str(server.port), "-c", "20", "-t", "get", "-n", str(count),
                            "--csv")
        words = text.strip().splitlines()[-1].replace('"', "").split(",")
        return Load(float(words[1]), 1e-3 * float(words[6]))

    def load(self, server, seconds):
        """It takes a number of requests, not a time."""
        self.rate = self.rate or self._asked(server, 50000).rate
        return self._asked(server, round(self.rate * seconds))


class Nginx:
    ping = "http"
    UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1}

    def __init__(self, s, name, start, paths):
        self.servers, self.name, self.start, self.paths = s, name, start, paths

    def load(self, server, seconds):
        text = programs.run(*self.servers.web_command(server, *self.paths, "-d", f"{seconds}s", "--latency"))
        slow = re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
        return Load(float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), float(slow[1]) * self.UNITS[slow[2]])


class Postgres:
    name, ping = "postgres, pgbench -S", "postgres"

    def __init__(self, s):
        self.servers, self.start = s, s.postgres

    def load(self, server, seconds):
        with tempfile.TemporaryDirectory() as folder:
            text = programs.run(*self.servers.pgbench(server), "-n", "-S", "-c", "4", "-T", str(seconds), "-l",
                                f"--log-prefix={folder}/log")
            times = []
            for path in glob.glob(f"{folder}/log*"):
                with open(path, encoding="ascii") as f:
                    times += [int(line.split()[2]) for line in f]
        return Load(float(re.search(r"tps = ([\d.]+)", text)[1]), 1e-6 * sorted(times)[len(times) * 99 // 100])


def _all(s):
    return [Redis(s), Nginx(s, "nginx, small files", s.nginx_of_files, s.SMALL),
            Nginx(s, "nginx, gzip -9", s.nginx_of_text, s.TEXT), Postgres(s)]


def _family(pid):
    """A process and its descendants."""
    out = [str(pid)]
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(task, encoding="ascii") as f:
            for child in f.read().split():
                out += _family(child)
    return out


def _observed(sonde, name, pid, profile, seconds):
    common = {"diagnose": [sonde, "diagnose", f"--duration={seconds}", "-p", str(pid)],
              "perf": ["perf", "record", "-q", "-F", HZ, "-g", "-p", ",".join(_family(pid))]}[name]
    return [*common, "-o", profile, *(["sleep", str(seconds)] if name == "perf" else [])]


class Observer(threading.Thread):
    """Begins when the clients are there, and has ended before they have."""

    def __init__(self, sonde, name, pid, profile, seconds):
        super().__init__()
        self.arguments, self.done = (sonde, name, pid, profile, seconds - AROUND), None
        self.start()

    def run(self):
        time.sleep(AROUND / 2)
        self.done = subprocess.run(_observed(*self.arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                                   timeout=LIMIT)


class Sight:
    """Some seconds of a server under load, with an observer or (None) alone."""

    def __init__(self, sonde, p, program, server, name, seconds):
        ping = [sys.executable, os.path.join(HERE, "ping.py"), program.ping, str(server.port), str(seconds)]
        with sampling.Recording(p) as r:
            with subprocess.Popen(ping, stdout=subprocess.PIPE, text=True, preexec_fn=probing.before_others) as pinging:
                observer = Observer(sonde, name, server.pid, r.profile, seconds) if name else None
                load = program.load(server, seconds)
                self.longest = float(pinging.communicate(timeout=LIMIT)[0])
            if observer:
                observer.join()
            if observer and (not observer.done or observer.done.returncode):
                raise programs.Missing(f"{name} fails: {observer.done and observer.done.stderr[-300:]}")
            self.stated = searching.findings(sonde, r.profile)["overhead"] if name == "diagnose" else None
        server.works()
        self.rate, self.slow = load.rate, load.slow


class Compared:
    """What is seen with an observer, as ratios to the runs alone before and after."""

    def __init__(self, sight, before, after):
        self.rate = sight.rate / statistics.mean((before.rate, after.rate))
        self.slow = sight.slow / statistics.mean((before.slow, after.slow))
        self.longest, self.stated = sight.longest, sight.stated
        self.longer = sight.longest - statistics.mean((before.longest, after.longest))


def _rounds(sonde, p, program, count, seconds):
    """The runs alone, and by observer what is compared."""
    observers = ["diagnose", *(["perf"] if shutil.which("perf") else [])]
    with program.start() as server:
        alone, out = [Sight(sonde, p, program, server, None, seconds)], {name: [] for name in observers}
        for _ in range(count):
            for name in observers:
                sight = Sight(sonde, p, program, server, name, seconds)
                alone.append(Sight(sonde, p, program, server, None, seconds))
                out[name].append(Compared(sight, *alone[-2:]))
    return alone, out


def _median(sights, what):
    return statistics.median(getattr(s, what) for s in sights)


def _row_alone(name, alone):
    return (name, "alone", f"{_median(alone, 'rate'):,.0f} per s", f"{1000 * _median(alone, 'slow'):.2f} ms",
            f"{1000 * _median(alone, 'longest'):.1f} ms", "", "")


def _row(name, observer, of):
    rate, slow, longest, longer = (_median(of, what) for what in ("rate", "slow", "longest", "longer"))
    good = rate >= THROUGHPUT and slow <= SLOWER and longer <= LONGER
    is_ours = observer == "diagnose"
    return (name, f"`{observer}`", f"{100 * rate:.1f} %", f"{slow:.2f} times", f"{1000 * longest:.1f} ms ({1000 * longer:+.1f})",
            f"{100 * _median(of, 'stated'):.1f} %" if is_ours else "", searching.reached(good) if is_ours else "")


def report(sonde, p, quick, log):
    rows = []
    for program in _all(servers(sonde)):
        log(f"servers: {program.name}")
        try:
            alone, out = _rounds(sonde, p, program, *((QUICK_ROUNDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS)))
        except (programs.Missing, AssertionError, servers(sonde).Skip) as e:
            log(f"  not measured: {e}")
            continue
        new = [_row_alone(program.name, alone), *(_row(program.name, name, of) for name, of in out.items())]
        for row in new:
            log(f"  {' | '.join(row)}")
        rows += new
    return measure.table(("server", "", f"throughput (goal: at least {100 * THROUGHPUT:.0f} %)",
                          f"99 % answered within (goal: at most {SLOWER} times)",
                          f"longest wait for an answer (goal: at most {1000 * LONGER:.0f} ms more)", "overhead stated", "goal"), rows)
