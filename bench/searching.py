"""Searches of `sonde diagnose`, as their profiles tell them, and figures of them as the papers define them."""

import json
import math
import os
import statistics
import subprocess

import probing
import sampling

LIMIT = 90  # seconds for one run


class Strategy:
    def __init__(self, name, loops, *options):
        self.name, self.loops = name, loops
        self.options = [f"--strategy={name}", *([] if loops else ["--no-loops"]), *options]


CALL_GRAPH, DEEP_START = "call-graph", "deep-start"
STRATEGIES = [Strategy(name, loops) for loops in (True, False) for name in (CALL_GRAPH, DEEP_START)]


def is_loop(code):
    return code.rpartition("/")[2].startswith("loop ")


class Search:
    """One search. Bottlenecks are true experiments on code in the whole machine, each (hypothesis, code) with the moment in
    which it was known, in seconds since the program's start."""

    def __init__(self, sonde, profile, usage):
        self.usage, self.report = usage, findings(sonde, profile)
        experiments = _view(sonde, "search", profile)["experiments"]
        self.seconds = self.report["seconds"]
        self.attempted = sum(x["begun"] is not None for x in experiments)
        self.decided = sorted(x["decided"] for x in experiments if x["decided"] is not None)
        self.true = [x for x in experiments if x["state"] == "true" or x["over"]]
        own = [x for x in self.true if is_of_code(x)]
        self.bottlenecks = {}
        for x in sorted(own, key=lambda x: x["decided"]):
            self.bottlenecks.setdefault((x["hypothesis"], x["focus"]["code"]), x["decided"])
        refined = {parent for x in own for parent in x["parents"]}
        self.leaves = {(x["hypothesis"], x["focus"]["code"]) for x in own if x["number"] not in refined}

    def times(self, among=None):
        """When bottlenecks were found: all, or those among some, in order."""
        return sorted(t for b, t in self.bottlenecks.items() if among is None or b in among)

    def time_to(self, share, known):
        """When a share of the known ones was found; None: it was not."""
        times, wanted = self.times(known), max(1, math.ceil(share * len(known)))
        return times[wanted - 1] if len(times) >= wanted else None

    def weighted_sum(self):
        """With the utility -t, by bottleneck: the papers' figures cannot be sums."""
        return -statistics.mean(self.times()) if self.bottlenecks else -math.inf

    def rate(self):
        """Experiments decided in a second, while some were."""
        return len(self.decided) / self.decided[-1] if self.decided else 0.0


def is_of_code(x):
    focus = x["focus"]
    return (focus["code"] != "/Code" and focus["machine"] == "/Machine" and focus["sync"] == "/SyncObject"
            and focus["file"] == "/File")


def _view(sonde, name, profile):
    done = subprocess.run([sonde, "report", f"--view={name}", "--json", profile], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"sonde report --view={name}: {done.stderr.decode(errors='replace')[:300]}")
    return json.loads(done.stdout)


def findings(sonde, profile):
    """What a search reports, its own overhead included."""
    return _view(sonde, "findings", profile)


def search(sonde, p, command, *options, output=subprocess.DEVNULL, env=None):
    """Diagnoses a command before all else that runs on the machine; what it printed is in usage.output."""
    with sampling.Recording(p) as r:
        usage = sampling.run([sonde, "diagnose", *options, "-o", r.profile, "--", *command], env, LIMIT, output,
                             probing.before_others)
        if not os.path.exists(r.profile):
            raise RuntimeError(f"sonde diagnose {' '.join(command[:3])}: status {usage.status}: {usage.error[-300:]}")
        found = Search(sonde, r.profile, usage)
        found.functions = r.query("SELECT count(*) FROM resource WHERE hierarchy = 'code' AND kind = 'function'")[0][0]
        return found


def trials(sonde, p, command, strategies, count, log):
    """Searches by strategy. The strategies take turns, so that the machine's moods meet all alike."""
    out = {s: [] for s in strategies}
    for _ in range(count):
        for s in strategies:
            try:
                found = search(sonde, p, command, *s.options)
            except RuntimeError as e:
                log(f"  failed: {e}")
                continue
            log(f"  {' '.join(s.options)}: {len(found.bottlenecks)} bottlenecks, the last at "
                f"{max(found.times(), default=0):.2f} s of {found.seconds:.1f} s")
            out[s].append(found)
    return out


def known(searches):
    """All that any of them found."""
    return {b for s in searches for b in s.bottlenecks}


def best(searches):
    """As in the papers: the run with the largest weighted sum."""
    return max(searches, key=Search.weighted_sum)


def mean(values):
    """The average, of what there is."""
    values = [v for v in values if v is not None]
    return statistics.mean(values) if values else None


def geometric(values):
    values = [v for v in values if v]
    return math.exp(statistics.mean(map(math.log, values))) if values else None


def seconds(x):
    return "never" if x is None else f"{x:.2f} s"


def number(x, form=".1f"):
    return "none" if x is None else format(x, form)


def reached(good):
    return "reached" if good else "**not reached**"
