"""How soon what was planted is found.

These are the victims of `tests/victims/diagnose`, searched with Deep Start and loops as usual. The first leaf is the
earliest of what is reported at the end: a true experiment with no true one below it. All planted bottlenecks must be
found; the time is that of the last of them, in seconds of the victim's run. If one was not found, the victim is run
once more and longer. A wrong finding is one that the tests do not know to be true of the victim."""

import measure
import probing
import search_programs
import searching

FIRST, ALL = 2.0, 10.0      # goals: seconds
SHORT, LONG = 3, 10         # seconds of a run
QUICK = ("behind", "hidden", "recursion", "mutex", "barrier", "bytes", "pipe", "some_threads")
# They end by themselves, or nothing in particular is planted in them.
LEFT_OUT = ("brief", "forks", "crash", "idle")


def _matched(judge, name, moments):
    """When each that was planted was found, or None. A finding counts for one of them."""
    left, out = sorted(moments, key=lambda m: m[1]), []
    for want in sorted(judge.VICTIMS[name].found, key=lambda w: "*" in w.places):
        match = next((m for m in left if judge.is_kind(m[0], want, name)), None)
        out.append(match[1] if match else None)
        if match:
            left.remove(match)
    return out


class Planted:
    """A victim's run: when its first leaf, and all that was planted were found; None: never."""

    def __init__(self, judge, name, seconds):
        run = judge.diagnose(name, seconds=max(seconds, judge.VICTIMS[name].seconds), preexec_fn=probing.before_others)
        self.seconds, self.overhead = run.report["seconds"], run.report["overhead"]
        experiments = {(x["hypothesis"], *sorted(x["focus"].items())): x["decided"]
                       for x in judge.view("search", run.data)["experiments"] if x["decided"] is not None}
        moments = [(f, experiments.get((f["hypothesis"], *sorted(f["focus"].items())))) for f in run.report["findings"]]
        self.first = min([t for _, t in moments if t is not None], default=None)
        found = _matched(judge, name, [(f, t) for f, t in moments if t is not None])
        self.count, self.missing = len(found), found.count(None)
        self.all = None if self.missing else max(found, default=None)
        compared = judge.compared(name, run.report["findings"], run.truth)
        self.remarks = [*compared.missing, *compared.wrong]


def _planted(judge, name, log):
    one = Planted(judge, name, SHORT)
    if one.missing:
        log(f"  {one.missing} missing in {one.seconds:.1f} s; again, for {LONG} s")
        one = Planted(judge, name, LONG)
    log(f"  first {searching.seconds(one.first)}, all {searching.seconds(one.all)}; {'; '.join(one.remarks)}")
    return one


def _row(name, one):
    return (name, one.count, searching.seconds(one.first), searching.seconds(one.all), "; ".join(one.remarks).replace("|", "/"))


def _goal(what, moments, goal):
    """The latest of them, and how many kept to the goal."""
    good = sum(t is not None and t < goal for t in moments)
    latest = max([t for t in moments if t is not None], default=None)
    return f"{what}: in {good} of {len(moments)} victims before {goal:.0f} s, the latest at {searching.seconds(latest)}: " \
           f"{searching.reached(good == len(moments))}."


def report(sonde, p, quick, log):
    judge = search_programs.judge(sonde)
    done = []
    for name in QUICK if quick else [n for n in judge.VICTIMS if n not in LEFT_OUT]:
        log(f"planted: {name}")
        try:
            done.append((name, _planted(judge, name, log)))
        except (AssertionError, judge.Skip) as why:
            log(f"  not measured: {why}")
    text = measure.table(("victim", "planted", "first leaf", "all planted", "what differs"), [_row(*d) for d in done])
    goals = [_goal("First leaf", [one.first for _, one in done], FIRST), _goal("All planted", [one.all for _, one in done], ALL)]
    return text + "\n\n" + " ".join(goals) + " The Performance Consultant of the papers took 51 s to the first bottlenecks " \
        "and 109 to 415 s to the last."
