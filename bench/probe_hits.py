"""The overhead of one hit of a probe.

A function of a few instructions is called in a tight loop, ten calls deep counting from `main`. A function of the
same code that is never probed is called in the same way; the difference is the overhead of the probe. The function
overwrites some registers, as most functions do; the "narrow" one works in its argument's register alone, so that
probes have to save what they use. The variants take turns in one process; for both, the least of all rounds counts.
For comparison, the kernel's uprobes run as a counting event of that process, and uftrace patches the same executable
dynamically and records as it always does. "Reckoned" is the overhead that the engine itself assumes when it reports
it to users. "Nothing left" compares the two functions while no probe is in: before, with Sonde attached after probes
went in and out, and after it left."""

import shutil
import statistics
import subprocess
import time

import measure
import probing
import programs
import sampling


# Name, order, function, hits of a call, goal in ns, what the engine reckons by (count, enter, exit, path).
VARIANTS = (
    ("counter, a hit", "counters", "wide", 2, 2, lambda c: c[0]),
    ("counter, a hit, narrow function", "counters", "narrow", 2, 2, lambda c: c[0]),
    ("call-path counter, ten deep", "0,path", "wide", 1, 60, lambda c: c[1] + c[3]),
    ("inclusive CPU timer, entry and exit", f"{probing.CPU}", "wide", 1, 40, lambda c: c[1] + c[2]),
    ("wall and CPU timer, entry and exit", f"{probing.CPU | probing.WALL}", "wide", 1, None, lambda c: c[1] + c[2]),
    ("wall, CPU and sync, with call paths", f"{probing.CPU | probing.WALL | probing.SYNC},path", "wide", 1, None,
     lambda c: c[1] + c[2] + c[3]),
)
KERNEL = (("uprobe, entry", False), ("uretprobe, entry and exit", True))
UFTRACE, CALL = "uftrace, entry and exit", "the call itself"


class Least:
    """The least ns of a call seen, probed and not."""

    def __init__(self):
        self.probed = self.plain = float("inf")

    def add(self, answer):
        self.probed, self.plain = min(self.probed, answer[0]), min(self.plain, answer[1])


def _put_in(victim, probes, order, function):
    spots, refused, _ = probes.ask(f"in {order} {function}")
    if refused or not spots:
        raise RuntimeError(f"{order}: {refused:.0f} of {spots:.0f} probes refused")
    victim.ask(f"{function} 5000 2")
    time.sleep(0.1)  # the engine learns what the runtime could not walk


def _sonde_round(victim, probes, calls, least):
    for name, order, function, hits, *_ in VARIANTS:
        _put_in(victim, probes, order, function)
        probes.ask("hits")
        least[name].add(victim.ask(f"{function} {calls} 10"))
        if probes.ask("hits")[0] < calls * 10 * hits:
            raise RuntimeError(f"{name}: hits were not counted")
        probes.ask("out")


def _kernel_round(victim, program, calls, least, log):
    for name, at_return in KERNEL:
        try:
            with probing.Uprobe(victim.pid, program, "wide", at_return) as u:
                least[name].add(victim.ask(f"wide {calls} 5"))
                if u.count() < calls * 5:
                    raise RuntimeError(f"{name}: hits were not counted")
        except programs.Missing as e:
            log(f"  not measured: {e}")


def _uftrace_round(p, program, calls, least):
    tool = shutil.which("uftrace")
    if not tool:
        return
    with sampling.Recording(p) as r:
        done = subprocess.run([tool, "record", "--no-libcall", "-P", "^wide$", "-d", r.profile, program],
                              input=f"wide {calls} 3\n", capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout:
            least[UFTRACE].add([float(n) for n in done.stdout.split()[:2]])


def _measured(p, orders, program, rounds, log):
    """The least by name, and what the engine reckons with."""
    least = {name: Least() for name in [v[0] for v in VARIANTS] + [k[0] for k in KERNEL] + [UFTRACE, CALL]}
    with probing.Conversation(program) as victim, probing.Probes(orders, victim.pid) as probes:
        reckoned = probes.ask("overheads")
        for _ in range(rounds):
            _sonde_round(victim, probes, 50000, least)
            _kernel_round(victim, program, 10000, least, log)
            least[CALL].add(victim.ask("wide 50000 10"))
        for _ in range(2):
            _uftrace_round(p, program, 20000, least)
    return least, reckoned


def _overhead_rows(least, reckoned):
    rows = [(CALL, f"{least[CALL].probed:.2f} ns", "", "", "")]
    for name, _, _, hits, goal, reckon in VARIANTS:
        ns = (least[name].probed - least[name].plain) / hits
        rows.append((name, f"**{ns:.2f} ns**", f"{reckon(reckoned):.2f} ns", f"at most {goal} ns" if goal else "",
                     ("yes" if ns <= goal else "no") if goal else ""))
    for name in [k[0] for k in KERNEL] + [UFTRACE]:
        ns = least[name].probed - least[CALL].plain
        rows.append((name, f"{ns:.0f} ns" if ns < float("inf") else "not to be had here", "", "", ""))
    return rows


def _left_rows(orders, program, rounds):
    """The ratio of the two functions, without a probe in."""
    ratios = {"before": [], "attached, probes taken out": [], "left": []}

    def note(victim, state):
        probed, plain = victim.ask("wide 100000 20")
        ratios[state].append(probed / plain)
    for _ in range(rounds):
        with probing.Conversation(program) as victim:
            note(victim, "before")
            with probing.Probes(orders, victim.pid) as probes:
                for _, order, *_ in VARIANTS:
                    _put_in(victim, probes, order, "wide")
                    probes.ask("out")
                note(victim, "attached, probes taken out")
            note(victim, "left")
    base = statistics.median(ratios["before"])
    return [(state, f"{statistics.median(r):.4f}", f"{100 * (statistics.median(r) / base - 1):+.2f} %")
            for state, r in ratios.items()]


def report(sonde, p, quick, log):
    orders, program = measure.built(sonde, "probe_orders"), sampling.built(p, "hits")
    log("hits: overhead")
    overheads = _overhead_rows(*_measured(p, orders, program, 3 if quick else 7, log))
    log("hits: nothing left")
    left = _left_rows(orders, program, 3 if quick else 5)
    return (measure.table(("probe", "overhead", "reckoned", "goal", "reached"), overheads) + "\n\n" +
            measure.table(("nothing left", "once probed / never probed", "change"), left))
