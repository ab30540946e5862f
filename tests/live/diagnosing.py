"""What the tests of `sonde diagnose` share: builds tests/victims/diagnose, runs victims under it, and compares findings
with what was planted.

    diagnosing.py list                    what must be found in each
    diagnosing.py build FOLDER [PATTERN]  keeps the programs
    diagnosing.py compare VICTIM [SECONDS [OPTION...]]   runs one and prints what differs
"""

import collections
import concurrent.futures
import contextlib
import fnmatch
import functools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from victims import ROOT, run_tool, shell_status

from case import SONDE, Skip

SOURCES = ROOT / "tests/victims/diagnose"
KEPT = tempfile.TemporaryDirectory(prefix="sonde-diagnose-")
FOLDER = Path(KEPT.name)
LIMIT = 120  # seconds for one run
SETTLED = 1  # seconds for which nothing must be left to be tested
LIBRARY = "libhot_library.so"
GPU_LIBRARY = "libcuda.so.1"  # the name by which a driver is known
SEVERAL = os.cpu_count() > 1

THRESHOLDS = {"cpu": 0.20, "system": 0.20, "memory": 0.20, "sync": 0.20, "io": 0.20, "small-io": 0.10, "imbalance": 0.15}
TOLERANCE = 0.15  # of shares, against what the victim measured over its whole run
NEAR = 0.04       # a truth that is so near to the threshold may be decided either way
ENDINGS = {"exit", "signal", "duration", "interrupted", "exhausted"}
STATES = {"ready", "active", "true", "false", "unknown"}
ROOTS = {"code": "/Code", "machine": "/Machine", "sync": "/SyncObject", "file": "/File"}


class Want:
    """A finding: a hypothesis, and where it is true. `places` are FUNCTION or FUNCTION@LOOP, either of several; * is
    anywhere. The share is what the victim tells under the name `truth`, or in a range. `sync` and `file` are patterns of the
    object's path below /SyncObject and /File."""

    def __init__(self, hypothesis, *places, truth=None, share=None, sync=None, file=None, over=None):
        self.hypothesis, self.places, self.truth, self.share = hypothesis, places, truth, share
        self.sync, self.file, self.over = sync, file, over

    def __str__(self):
        words = [self.hypothesis, " or ".join(self.places)]
        words += [f"{name} {value}" for name, value in (("on", self.sync or self.file), ("as told of", self.truth)) if value]
        return " ".join(words + ([f"share {self.share[0]}..{self.share[1]}"] if self.share else []))


class Victim:
    """`found`: all of these must be, `besides`: these may be, and nothing else. `without_loops`, `by_calls`: the same where the
    search does not know loops, or does not look below what is false. `step`: a pattern of one of the next steps, `chain`: of who
    waits for whom. `seconds`: for
    how long it runs, if not until the search is through. `phases`: it does something else when that is so, and then for as
    long again. `traced`: it is searched without perf."""

    def __init__(self, *found, besides=(), without_loops=None, by_calls=None, seconds=None, build=None, source=None, command=(),
                 experiments=2000, ended="exit", step=None, chain=None, phases=False, traced=False):
        self.found, self.besides = found, besides
        self.without_loops, self.by_calls = without_loops, by_calls
        self.seconds, self.build, self.source, self.command = seconds, build, source, command
        self.experiments, self.ended, self.step, self.chain = experiments, ended, step, chain
        self.phases, self.traced = phases, traced

    def expected(self, strategy="deep-start", loops=True):
        if not loops and self.without_loops:
            return self.without_loops
        return self.by_calls if strategy == "call-graph" and self.by_calls else self.found


# Threads that do the same by turns compute more or less by chance.
UNEVEN = Want("imbalance", "*")
# Time in system calls is the kernel's, and time spent by spinning is CPU time, too: how much is the machine's business.
BUSY = (Want("cpu", "*"), Want("system", "*"))

VICTIMS = {
    "behind": Victim(Want("cpu", "relax@inner", truth="relax"), without_loops=[Want("cpu", "relax", truth="relax")],
                     step="only 1 of * CPUs is busy: sonde count, *" if SEVERAL else None),
    "two": Victim(Want("cpu", "compress@compress", truth="compress"), Want("cpu", "encrypt@encrypt", truth="encrypt"),
                  without_loops=[Want("cpu", "compress", truth="compress"), Want("cpu", "encrypt", truth="encrypt")]),
    "stripped": Victim(Want("cpu", "*", truth="compress"), Want("cpu", "*", truth="encrypt"), source="two.c"),
    # Call by call nothing below a() is true.
    "hidden": Victim(Want("cpu", "e@e", truth="e"), by_calls=[Want("cpu", "a@a", share=(0.5, 1))]),
    "recursion": Victim(Want("cpu", "settle@settle", truth="settle")),
    "pointers": Victim(Want("cpu", "op_heavy@heavy", truth="op_heavy")),
    "virtuals": Victim(Want("cpu", "Sphere::area@sphere", truth="Sphere::area")),
    "library": Victim(Want("cpu", "inside@inside", truth="inside")),
    # Either is a part of the run only, and its share that of the time in which it was measured.
    "late": Victim(Want("cpu", "inside@inside", share=(0.2, 1)), besides=[Want("cpu", "warm_up@warm_up")]),
    "in_main": Victim(Want("cpu", "main@seven", truth="seven"), Want("cpu", "main@two", truth="two"),
                      without_loops=[Want("cpu", "main", share=(0.5, 1))]),
    "fortran": Victim(Want("cpu", "smooth@rows", truth="smooth")),
    # A probe would cost more than the function does.
    "often": Victim(Want("cpu", "tiny", "caller@caller", share=(0.2, 1))),
    # Probes that cost nothing at first, and soon too much.
    "hotter": Victim(Want("cpu", "turn", "turn@turn", "caller@caller", share=(0.2, 1)), besides=BUSY),
    "short_trips": Victim(Want("cpu", "walk@walk", "walk", "walk_all@walk_all", share=(0.2, 1)),
                          step="the loop at short_trips.c:* in walk is entered about * times per second, for 1.5 iterations *"),
    "flat": Victim(Want("cpu", "dispatch@dispatch", truth="dispatch")),
    "some_threads": Victim(Want("cpu", "draw@draw", truth="draw"), Want("cpu", "encode@encode", truth="encode")),
    "children": Victim(Want("cpu", "child_work@child", truth="child_work"), besides=[UNEVEN]),
    "mutex": Victim(Want("sync", "take", truth="queue_lock", sync="mutex/queue_lock"),
                    Want("cpu", "order_queue@order", truth="order_queue"), besides=[UNEVEN],
                    step="do less work while mutex queue_lock is held*"),
    # An object that no symbol tells of has its address for a name, and who waits for it; or the place where it was made, if
    # there were probes then, as in a program that is traced from its beginning.
    "made_mutex": Victim(Want("sync", "deposit", truth="deposit", sync="mutex/0x* used in deposit*"),
                         Want("cpu", "audit@audit", truth="audit"), besides=[UNEVEN]),
    "traced_mutex": Victim(Want("sync", "deposit", truth="deposit",
                                sync="mutex/0x* created in open_account (made_mutex.c:[0-9]*)"),
                           Want("cpu", "audit@audit", truth="audit"), besides=[UNEVEN], source="made_mutex.c",
                           traced=True),
    "heap_mutex": Victim(Want("sync", "Account::deposit", truth="deposit", sync="mutex/0x* used in Account::deposit*"),
                         Want("cpu", "Account::audit@audit", truth="audit"), besides=[UNEVEN]),
    "held": Victim(Want("sync", "enter", truth="door"), besides=[Want("sync", "*", sync="sleep*"), *BUSY, UNEVEN],
                   step="do less work while mutex door is held*"),
    "two_paths": Victim(Want("sync", "insert", truth="insert", sync="mutex/index_lock"),
                        Want("sync", "remove_one", truth="remove_one", sync="mutex/index_lock"),
                        Want("cpu", "rebuild@rebuild", truth="rebuild"), besides=[UNEVEN],
                        step="* wait for the same mutex index_lock: *"),
    "producer": Victim(Want("sync", "take_item", "take_item@take", truth="shelf_filled", sync="condition/shelf_filled"),
                       Want("cpu", "make_item@make", truth="make_item")),
    "barrier": Victim(Want("sync", "meet", truth="phase", sync="barrier/phase"),
                      Want("imbalance", "compute@compute", truth="compute"), Want("cpu", "compute@compute", truth="compute"),
                      step="balance the work of *"),
    "workers": Victim(Want("sync", "meet", truth="meet", sync="barrier/0x* used in meet*"),
                      Want("imbalance", "compute@compute", truth="compute"), Want("cpu", "compute@compute", truth="compute")),
    # Threads that meet at the end of a parallel region wait because the work is uneven: that is one finding.
    "openmp": Victim(Want("imbalance", "item@item", "sweep", truth="item"), Want("cpu", "item@item", truth="item"),
                     step="balance the work of parallel region at openmp.c:*: *"),
    "regions": Victim(Want("cpu", "item@item", truth="item"), Want("cpu", "merge@merge", truth="merge"),
                      step="the loop at regions.c:* in merge runs in one thread while the others wait: *"),
    "ticket": Victim(Want("sync", "take_turn@take_turn", truth="take_turn", sync="variable*"),
                     Want("cpu", "compute@compute", truth="compute"), besides=[UNEVEN]),
    "gpu": Victim(Want("sync", "await_result", truth="await_result", sync="gpu*"),
                  Want("sync", "fetch_result", truth="fetch_result", sync="gpu*"),
                  Want("cpu", "prepare@prepare", truth="prepare"),
                  # Near the threshold, of no object in particular.
                  besides=[Want("sync", "await_result", "fetch_result")], step="copy less between host and GPU, *"),
    "meeting": Victim(Want("sync", "meet", "meet@spin", "meet@wait", truth="meet", sync="barrier*"),
                      Want("imbalance", "compute@compute", truth="compute"), Want("cpu", "compute@compute", truth="compute"),
                      step="balance the work of *"),
    "semaphore": Victim(Want("sync", "request", truth="slots", sync="semaphore/slots"),
                        Want("cpu", "use_slot@use", truth="use_slot"), besides=[UNEVEN]),
    "rwlock": Victim(Want("sync", "look_up", truth="table_lock", sync="rwlock/table_lock"),
                     Want("cpu", "rehash@rehash", truth="rehash")),
    "turns": Victim(Want("sync", "look_up", truth="table_lock", sync="rwlock/table_lock"),
                    Want("sync", "rest", truth="rest", sync="sleep*"), Want("cpu", "rehash@rehash", truth="rehash"),
                    besides=[UNEVEN]),
    "spin": Victim(Want("sync", "draw_ticket", truth="ticket", sync="spin/ticket"), Want("cpu", "bump@bump", truth="bump"),
                   besides=[Want("cpu", "draw_ticket"), UNEVEN]),
    "sleeping": Victim(Want("sync", "poll_device", "poll_device@poll", truth="poll_device", sync="sleep*")),
    # On a busy machine, its client does not sleep long enough to be idle.
    "server": Victim(Want("cpu", "answer@answer", truth="answer"), besides=[Want("sync", "*", sync="sleep*")]),
    "chain": Victim(Want("cpu", "answer@answer", truth="answer"),
                    chain="front (*) waits * % of its busy time for middle (*), which waits * % for back (*), which computes * %."),
    "pipe": Victim(Want("io", "fetch", truth="fetch", file="pipe/from pipe*"), Want("cpu", "compose@compose", truth="compose")),
    "fsync": Victim(Want("small-io", "append_line", truth="append_line", file="file/*diagnose-log*"),
                    besides=[Want("io", "append_line"), *BUSY], step="* operations per second move * bytes each on average: *"),
    "bytes": Victim(Want("small-io", "put", "put@put", truth="put", file="file/*diagnose-bytes*"),
                    besides=[Want("io", "put", "put@put"), *BUSY]),
    "dsync": Victim(Want("io", "save", truth="save", file="file/*diagnose-blocks*"), besides=BUSY),
    "phases": Victim(Want("cpu", "parse@parse", share=(0.2, 1), over=True),
                     Want("sync", "commit_state", share=(0.2, 1), sync="mutex/state_lock", over=False),
                     Want("cpu", "rebuild@rebuild", share=(0.2, 1), over=False), phases=True),
    "mpi": Victim(Want("cpu", "assemble@assemble", truth="assemble"), Want("sync", "await_part", "*", share=(0.1, 0.7), sync="message*"),
                  besides=[Want("cpu", "await_part"), UNEVEN], build="mpicc",
                  command=("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2")),
    # Nothing is wrong with it. That it sleeps is true, and all that is.
    "idle": Victim(Want("sync", "wait_for_tick", truth="wait_for_tick", sync="sleep*")),
    "faults": Victim(Want("system", "fill", "fill@fill", "turn", "main@main", truth="kernel"), besides=[Want("cpu", "*"), Want("system", "*")]),
    # Time in malloc and free is that of who calls them.
    "items": Victim(Want("memory", "make_items@make", truth="make_items"), Want("memory", "drop_items@drop", truth="drop_items"),
                    besides=[Want("cpu", "compute@compute"), UNEVEN],
                    step="allocate less often in the loop at items.c:* in make_items*"),
    "strings": Victim(Want("memory", "*", share=(0.2, 1)), besides=[Want("memory", "*"), Want("cpu", "*")],
                      step="allocate less often in *"),
    "few_items": Victim(Want("cpu", "compute@compute", truth="compute"), besides=[Want("cpu", "turn@turn")]),
    "fresh": Victim(Want("system", "fill", "fill@fill", truth="kernel"), besides=[Want("cpu", "*"), Want("system", "*")],
                    step="memory that turn (fresh.c:*) frees goes back to the kernel, *"),
    # What little can be known of it must be right.
    "brief": Victim(besides=[Want("cpu", "*")], seconds=3),
    "crash": Victim(Want("cpu", "corrupt@corrupt", truth="corrupt"), ended="signal"),
    # Making processes is all that it does, most of it in the kernel.
    "forks": Victim(besides=BUSY, experiments=600),
    # Beside the hot thread, one sleeps between the bursts; what comes and goes must not swamp the search.
    "swarm": Victim(Want("cpu", "crunch@crunch", truth="crunch"), besides=[Want("sync", "*")],
                    experiments=600),
}


# Building

FLAGS = ("-O2", "-g", "-pthread", "-D_GNU_SOURCE")
COMPILERS = {".c": "gcc", ".cc": "g++", ".f90": "gfortran"}
LINKED = {"library": ("-L{folder}", "-lhot_library", "-Wl,-rpath,$ORIGIN"), "late": ("-ldl", "-Wl,-rpath,$ORIGIN"),
          "openmp": ("-fopenmp",), "regions": ("-fopenmp",),
          "gpu": (f"{{folder}}/{GPU_LIBRARY}", "-Wl,-rpath,$ORIGIN")}


def source_of(name):
    if VICTIMS[name].source:
        return SOURCES / VICTIMS[name].source
    return next(p for p in (SOURCES / f"{name}{suffix}" for suffix in COMPILERS) if p.exists())


@functools.lru_cache(None)
def library():
    path = FOLDER / LIBRARY
    run_tool(COMPILERS[".c"], *FLAGS, "-shared", "-fPIC", "-o", path, SOURCES / "hot_library.c")
    return path


@functools.lru_cache(None)
def gpu_library():
    """Without symbols but those that programs link to, as drivers are."""
    path = FOLDER / GPU_LIBRARY
    run_tool(COMPILERS[".c"], *FLAGS, "-shared", "-fPIC", "-fvisibility=hidden", f"-Wl,-soname,{GPU_LIBRARY}", "-o", path,
             SOURCES / "gpu_library.c")
    run_tool("strip", path)
    return path


@functools.lru_cache(None)
def victim(name):
    """Where the program is, which is built if it was not."""
    source, path = source_of(name), FOLDER / name
    compiler = VICTIMS[name].build or COMPILERS[source.suffix]
    for tool in (compiler, *VICTIMS[name].command[:1]):
        if not shutil.which(tool):
            raise Skip(f"no {tool}")
    if name in ("library", "late"):
        library()
    if name == "gpu":
        gpu_library()
    more = ("-J", FOLDER) if source.suffix == ".f90" else ()
    run_tool(compiler, *FLAGS, *more, "-o", path, source, *(word.format(folder=FOLDER) for word in LINKED.get(name, ())))
    if name == "stripped":
        run_tool("strip", path)
    return str(path)


def prepare(names=tuple(VICTIMS)):
    """Builds victims, and runs each without us, several at once; later nothing but the one that is diagnosed runs."""
    library()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in [pool.submit(plain, name) for name in names]:
            if done.exception() and not isinstance(done.exception(), Skip):
                raise done.exception()


# Places in sources

Loop = collections.namedtuple("Loop", "name file first last")


def indentation(line):
    return len(line) - len(line.lstrip("\t "))


@functools.lru_cache(None)
def marked_loops():
    """The loops that have a comment "hot: NAME" in their first line: as far as lines are indented, and one that closes."""
    found = []
    for path in SOURCES.glob("*.*"):
        lines = path.read_text().splitlines()
        for i, line in enumerate(lines):
            mark = re.search(r"[*!] hot: (\w+)", line)
            if mark:
                last = i + 1
                while last + 1 < len(lines) and (not lines[last].strip() or indentation(lines[last]) > indentation(line)):
                    last += 1
                closes = last < len(lines) and indentation(lines[last]) == indentation(line) and re.match(r"\s*(}|end do)", lines[last])
                found.append(Loop(mark[1], path.name, i + 1, last + 1 if closes else last))
    return found


def loop_at(file, first, last):
    """The name of the innermost marked loop around these lines; or None."""
    around = [l for l in marked_loops() if l.file == os.path.basename(file) and l.first <= first and last <= l.last]
    return max(around, key=lambda l: l.first).name if around else None


def is_function(name, wanted):
    """Whether a compiler's name is a source's: with parameters, of a module, of a part that the compiler made."""
    return re.fullmatch(rf"(\w+::|__\w+_MOD_)*{re.escape(wanted)}([(.\[ ].*)?", name or "") is not None


@functools.lru_cache(None)
def own_functions(name):
    """Names of functions in a victim's sources."""
    text = source_of(name).read_text() + (SOURCES / "hot_library.c").read_text()
    return {"main", *re.findall(r"^(?:OWN |static |uint64_t |  subroutine )[^;=\n]*?\*?([\w:]+)\(", text, re.M)}


class Place:
    """Where a finding is: a function of the victim, and a loop of it. What is found in code of others, which the victim calls,
    is in the function that calls it."""

    def __init__(self, finding, name):
        where = finding.get("where") or {}
        self.function, self.loop = where.get("function"), None
        if (SOURCES / (os.path.basename(where.get("file") or "") or "none")).exists():
            if where.get("loop"):
                self.loop = loop_at(where["file"], where["first_line"], where["last_line"]) or "?"
        else:
            path = reversed(finding.get("call_path") or [])
            known = own_functions(name)
            self.function = next((p for p in path if any(is_function(p, k) for k in known)), self.function)

    def within(self, wanted):
        """wanted: FUNCTION, FUNCTION@LOOP or *."""
        function, _, loop = wanted.partition("@")
        return wanted == "*" or ((loop or None) == self.loop and is_function(self.function, function))


# Comparing

def whole_machine(finding):
    """Not of one process or thread: values of those are shares of their own time."""
    return finding["focus"].get("machine", "/Machine").count("/") <= 2


def object_matches(finding, hierarchy, pattern):
    """A name may be followed by more that tells it from others."""
    path = finding["focus"].get(hierarchy, ROOTS[hierarchy]).removeprefix(ROOTS[hierarchy]).lstrip("/")
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, f"{pattern} *")


def share_matches(finding, want, truth):
    share = finding["share"]
    if share < THRESHOLDS[finding["hypothesis"]] - NEAR and not finding.get("over"):
        return False
    if not whole_machine(finding):
        return share <= 1.05
    low, high = want.share or (0, 1.05)
    if want.truth and want.truth in truth:
        low, high = truth[want.truth].least - TOLERANCE, truth[want.truth].most + TOLERANCE
    return low - 0.01 <= share <= high + 0.01


def is_kind(finding, want, name):
    """All but the numbers."""
    return (finding["hypothesis"] == want.hypothesis and any(Place(finding, name).within(p) for p in want.places)
            and (not want.sync or object_matches(finding, "sync", want.sync))
            and (not want.file or object_matches(finding, "file", want.file))
            and (want.over is None or bool(finding.get("over")) == want.over))


def told_of(truth, want):
    return {name: share for (hypothesis, name), share in truth.items() if hypothesis == want.hypothesis}


def show(finding):
    where = finding.get("where") or {}
    lines = f" {os.path.basename(where.get('file') or '')}:{where.get('first_line')}-{where.get('last_line')}" if where else ""
    focus = " ".join(v for k, v in finding["focus"].items() if k != "code" and v != ROOTS.get(k))
    return (f"{finding['hypothesis']} {finding['share']:.2f}{' (over)' if finding.get('over') else ''} in "
            f"{'loop of ' if where.get('loop') else ''}{where.get('function') or 'all code'}{lines} {focus}".rstrip())


class Result(collections.namedtuple("Result", "missing wrong undecidable decided")):
    """Of a comparison, each as sentences: what was not found; what was found and is not true; what was so near to its
    threshold, as the victim measured it, that it may be found or not; and what was found as it should be. (Where nothing was
    planted, that nothing was found.)"""

    def good(self):
        return not (self.missing or self.wrong)


@functools.lru_cache(None)
def calls(name, caller, callee, depth=8):
    """Whether a function of a victim in C calls another one, in the end."""
    body = re.search(rf"^[^;\n]*\b{re.escape(caller)}\([^;]*?\)\n{{\n(.*?)^}}", source_of(name).read_text(), re.M | re.S)
    called = set(re.findall(r"\b(\w+)\(", body[1])) & own_functions(name) - {caller} if body else set()
    return callee in called or depth > 0 and any(calls(name, each, callee, depth - 1) for each in called)


def is_around(finding, want, name):
    """The same hypothesis, of a function that calls the one that is wanted."""
    function = finding.get("where", {}).get("function") or ""
    return finding["hypothesis"] == want.hypothesis and any(
        calls(name, function, place.partition("@")[0]) for place in want.places)


def compared(name, findings, truth, strategy="deep-start", loops=True):
    """Findings of a run against what was planted, with `truth` {(hypothesis, name): Span} as the victim told it."""
    v = VICTIMS[name]
    missing, wrong, undecidable, decided = [], [], [], []
    accounted, vague = set(), []
    for want in v.expected(strategy, loops):
        told = told_of(truth, want)
        kin = [i for i, f in enumerate(findings) if is_kind(f, want, name)]
        right = [i for i in kin if share_matches(findings[i], want, told)]
        accounted.update(right)
        if right:
            decided.append(str(want))
            continue
        if want.truth in told and told[want.truth].least < THRESHOLDS[want.hypothesis] + NEAR:
            accounted.update(kin)
            vague.append(want)
            undecidable.append(f"{want}: it was {told[want.truth]}")
        elif kin and "*" not in want.places:
            accounted.update(kin)
            wrong.append(f"{want}: it was {told.get(want.truth, want.share)}, not {findings[kin[0]]['share']:.2f}")
        else:
            missing.append(f"{want}: not found")
    for want in v.besides:
        accounted.update(i for i, f in enumerate(findings) if is_kind(f, want, name))
    # Where too little of the time is there, what calls it may be the answer.
    accounted.update(i for i, f in enumerate(findings) if any(is_around(f, want, name) for want in vague))
    wrong += [f"{show(f)}: is not true" for i, f in enumerate(findings) if i not in accounted]
    return Result(missing, wrong, undecidable, decided if v.expected(strategy, loops) else ["nothing"])


class Span(collections.namedtuple("Span", "least most")):
    """What a share is between, as the victim told it."""

    def __str__(self):
        return f"{self.least:.2f}" + (f"..{self.most:.2f}" if self.most > self.least else "")


def truth_in(text):
    lines = [line.split() for line in text.splitlines() if line.startswith("truth ")]
    return {(w[1], w[2]): Span(float(w[-1]), float(w[3])) for w in lines}


# Experiments

def check_experiment(x, known):
    number = f"experiment {x['number']}"
    assert x["hypothesis"] in THRESHOLDS and x["state"] in STATES, f"{number}: {x['hypothesis']} {x['state']}"
    for hierarchy, root in ROOTS.items():
        assert x["focus"][hierarchy].startswith(root), f"{number}: {hierarchy} is {x['focus'][hierarchy]}"
    absent = set(x["parents"]) - known
    assert not absent and x["number"] not in x["parents"], f"{number}: parents {x['parents']}"
    assert (x["origin"] == "start") == (not x["parents"]), f"{number}: {x['origin']} with parents {x['parents']}"
    check_times(x, number)
    check_decision(x, number)


def moment(x, name):
    return x[name] if x[name] is not None and x[name] >= 0 else None


def check_times(x, number):
    times = [moment(x, name) for name in ("created", "begun", "decided")]
    assert times[0] is not None, f"{number} was never created"
    known = [t for t in times if t is not None]
    if x["tests"] < 2 and x["state"] in ("true", "false"):  # others may have begun again
        assert known == sorted(known), f"{number}: times {times} are not in order"
    if x["state"] in ("true", "false"):
        assert times[1] is not None and times[2] is not None, f"{number} is {x['state']} and has no time of it: {times}"
    elif x["state"] in ("ready", "active"):
        assert times[2] is None, f"{number} is {x['state']} and decided at {times[2]}"


def check_decision(x, number):
    if x["state"] == "true" and not (x["over"] or x["unsure"]):
        assert x["value"] >= x["threshold"] - NEAR, f"{number} is true with {x['value']} of {x['threshold']}"
    if x["state"] == "false" and not x["unsure"]:
        assert x["value"] < x["threshold"] + NEAR, f"{number} is false with {x['value']} of {x['threshold']}"
    if x["state"] in ("true", "false"):
        assert 0 <= x["confidence"] <= 1 and x["tests"] >= 1, f"{number}: confidence {x['confidence']}, {x['tests']} tests"


def check_experiments(experiments, findings, most):
    """The record of a search is complete, and its findings are deepest true experiments of it."""
    known = {x["number"] for x in experiments}
    assert len(known) == len(experiments), "two experiments have the same number"
    assert 0 < len(experiments) <= most, f"{len(experiments)} experiments"
    for x in experiments:
        check_experiment(x, known)
    assert {x["hypothesis"] for x in experiments if x["origin"] == "start"} >= {"cpu", "sync", "io"}, "some were not asked"
    true = [x for x in experiments if x["state"] == "true" or x["over"]]
    told = {(f["hypothesis"], *f["focus"].values()) for f in findings}
    # One that is near to its threshold, or was so for a while, may be too little for the whole run.
    telling = [x for x in true if (x["hypothesis"], *x["focus"].values()) in told
               or not (x["unsure"] or x["over"]) and x["value"] >= x["threshold"] + NEAR]
    refined = {p for x in telling for p in x["parents"]}
    for f in findings:
        mine = [x for x in true if (x["hypothesis"], x["focus"]) == (f["hypothesis"], f["focus"])]
        assert mine, f"no true experiment says: {show(f)}"
        # Of the whole program, what is true below it may be of another hierarchy.
        beside = " not counting the findings inside it" in f["sentence"] or not f.get("where")
        assert beside or not all(x["number"] in refined for x in mine), f"a deeper one is true than: {show(f)}"


def check_report(report):
    """All that the object has to have, whatever was found."""
    missing = {"command", "seconds", "ended", "strategy", "loops", "overhead", "idle", "findings", "steps", "notes"} - set(report)
    assert not missing, f"the report has no {missing}"
    assert report["ended"] in ENDINGS and len(report["steps"]) <= 3, (report["ended"], report["steps"])
    for f in report["findings"]:
        check_finding(f)


def check_finding(f):
    missing = {"hypothesis", "share", "confidence", "measured", "over", "focus", "call_path", "sentence", "remarks"} - set(f)
    assert not missing, f"a finding has no {missing}"
    assert f["measured"] in ("probes", "samples") and 0 <= f["confidence"] <= 1, f
    assert set(f["focus"]) == set(ROOTS), f["focus"]
    assert f["sentence"] and "\n" not in f["sentence"], f["sentence"]
    for remark in f["remarks"]:
        assert set(remark) == {"kind", "text"}, remark


# Running

Run = collections.namedtuple("Run", "out status err report truth data")


def command_of(name, seconds):
    return [*VICTIMS[name].command, victim(name), str(seconds)]


@functools.lru_cache(None)
def plain(name):
    """What it prints and how it ends without us, which does not depend on how long it runs."""
    done = subprocess.run(command_of(name, 0.1), capture_output=True, timeout=LIMIT, check=False,
                          env={**os.environ, "DIAGNOSE_TRUTH": "/dev/null"})
    return done.stdout.decode(), shell_status(done.returncode)


def split_output(text):
    """What the program printed, and our object, which may stand in between."""
    begin = re.search(r"^\{", text, re.M)
    assert begin, f"no object in {text[-500:]!r}"
    report, length = json.JSONDecoder().raw_decode(text[begin.start():])
    return text[:begin.start()] + text[begin.start() + length:].removeprefix("\n"), report


def settled_for(data):
    """Seconds for which nothing has been left to be tested, as far as was saved."""
    if not data.exists():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(f"file:{data}?mode=ro", uri=True, timeout=5)) as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'settled'").fetchone()
    except sqlite3.Error:  # it is being made
        return 0
    return float(row[0]) if row else 0


def wait_until(process, condition):
    """However long that takes on this machine; or the program ends before."""
    end = time.monotonic() + LIMIT
    while process.poll() is None and not condition() and time.monotonic() < end:
        time.sleep(0.1)


def settle(process, data, since):
    """Waits until a search has found out all about what the program does since then."""
    wait_until(process, lambda: settled_for(data) >= SETTLED and time.monotonic() > since + SETTLED + 1.5)


def come_to_an_end(process, data, stop, phases=False):
    """Waits until a search of a program that has begun is through; and of its other phase. Then the program stops."""
    wait_until(process, Path(f"{stop}.begun").exists)
    settle(process, data, time.monotonic())
    if phases:
        Path(f"{stop}.phase").touch()
        settle(process, data, time.monotonic())
    Path(stop).touch()


def environment(told, stop, more=None):
    # With a CPU for each thread, libgomp spins at the end of a parallel loop. That is not known for waiting.
    return {**os.environ, "OMP_WAIT_POLICY": "passive", "DIAGNOSE_TRUTH": str(told), "DIAGNOSE_STOP": str(stop),
            "DIAGNOSE_START": str(time.clock_gettime_ns(time.CLOCK_MONOTONIC)), **(more or {})}


def diagnose(name, *options, seconds=None, env=None, prefix=(), **more):
    """A victim under `sonde diagnose`, for some seconds or until the search is through."""
    data, told, stop = (FOLDER / f"{name}.{what}" for what in ("data", "truth", "stop"))
    for path in (data, stop, *(Path(f"{stop}.{what}") for what in ("begun", "phase"))):
        path.unlink(missing_ok=True)
    told.write_text("")
    told.chmod(0o666)
    with subprocess.Popen([*prefix, SONDE, "diagnose", "--json", *options, "-o", data, "--",
                           *command_of(name, seconds or VICTIMS[name].seconds or LIMIT)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(told, stop, env), **more) as process:
        if not (seconds or VICTIMS[name].seconds):
            come_to_an_end(process, data, stop, VICTIMS[name].phases)
        out, err = (text.decode(errors="replace") for text in process.communicate(timeout=LIMIT))
    try:
        out, report = split_output(out)
    except (AssertionError, ValueError) as why:
        raise AssertionError(f"{why}; status {process.returncode}; {err[-1500:]}") from None
    return Run(out, shell_status(process.returncode), err, report, truth_in(told.read_text()), data)


class Running:
    """A victim that nobody watches yet, and that goes on until it is told to stop."""

    def __init__(self, name):
        self.name, self.told, self.stop = name, FOLDER / f"{name}.running", FOLDER / f"{name}.running.stop"
        self.told.write_text("")
        self.stop.unlink(missing_ok=True)
        self.process = subprocess.Popen([victim(name), str(LIMIT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=environment(self.told, self.stop))
        self.pid = str(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def unharmed(self):
        """Ends as it does without us; what it tells."""
        self.stop.touch()
        out, _ = self.process.communicate(timeout=LIMIT)
        expected = plain(self.name)
        assert (out.decode(), shell_status(self.process.returncode)) == expected, f"{out!r} instead of {expected}"
        return truth_in(self.told.read_text())


def view(name, data):
    return json.loads(run_tool(SONDE, "report", f"--view={name}", "--json", data))


def check_profile(run, name):
    """What was saved says the same."""
    saved, printed = ([(f["hypothesis"], f["focus"], f["sentence"]) for f in report["findings"]]
                      for report in (view("findings", run.data), run.report))
    assert saved == printed, f"saved: {saved}, printed: {printed}"
    check_experiments(view("search", run.data)["experiments"], run.report["findings"], VICTIMS[name].experiments)


def require(result):
    """That of a comparison is good."""
    assert result.good(), "; ".join(result.missing + result.wrong)
    assert result.decided, "what was planted was nowhere clearly above its threshold: " + "; ".join(result.undecidable)


def require_findings(run, name, strategy, loops):
    """Those that are wanted; or the whole search is shown."""
    try:
        require(compared(name, run.report["findings"], run.truth, strategy, loops))
    except AssertionError:
        print(f"# the truth: {run.truth}", *run_tool(SONDE, "report", "--view=search", run.data).splitlines(), sep="\n# ")
        raise


def require_idle(run):
    """How long a server had no requests is told, and is true."""
    span = run.truth.get(("idle", "requests"))
    idle = run.report["idle"]
    if span:
        assert span.least - 0.1 <= idle <= span.most + 0.1, f"idle: it was {span}, not {idle:.2f}"
        require_note(run.report["notes"], f"Idle for {100 * idle:.0f} % of the run: waiting for requests on 1 connection.")
    else:
        assert idle < 0.05, f"idle for {idle:.2f}"


def require_note(notes, wanted):
    """One of the notes is this."""
    assert fnmatch.filter(notes, wanted), f"no note is {wanted!r}: {notes}"


def require_step(steps, wanted):
    """One of the next steps is this."""
    assert fnmatch.filter(steps, wanted), f"no step is {wanted!r}: {steps}"


def check(name, *options, strategy="deep-start", loops=True, **more):
    """A victim, diagnosed: the same output, what was planted is found, and nothing else."""
    expected = plain(name)
    run = diagnose(name, *options, **more)
    assert (run.out, run.status) == expected, f"{(run.out, run.status)} instead of {expected}; {run.err[-1500:]}"
    check_report(run.report)
    how = run.report["ended"], run.report["strategy"], run.report["loops"]
    assert how == (VICTIMS[name].ended, strategy, loops), f"it was {how}"
    check_profile(run, name)
    require_findings(run, name, strategy, loops)
    require_idle(run)
    if VICTIMS[name].step and (strategy, loops) == ("deep-start", True):
        require_step(run.report["steps"], VICTIMS[name].step)
    if VICTIMS[name].chain:
        assert fnmatch.filter(run.report["chains"], VICTIMS[name].chain), f"who waits for whom: {run.report['chains']}"
    return run


def check_attached(name):
    """A victim that runs already; the search ends by itself."""
    data = FOLDER / "attached.data"
    with Running(name) as it:
        report = json.loads(run_tool(SONDE, "diagnose", "--json", "-o", data, "-p", it.pid, timeout=LIMIT))
        truth = it.unharmed()
    check_report(report)
    assert report["ended"] == "exhausted", report["ended"]
    require(compared(name, report["findings"], truth))
    check_experiments(view("search", data)["experiments"], report["findings"], VICTIMS[name].experiments)


def main():
    words = sys.argv[1:]
    if words[:1] == ["list"]:
        for name, v in VICTIMS.items():
            print(f"{name}: {'; '.join(map(str, v.found)) or 'nothing'}"
                  + (f" (besides: {'; '.join(map(str, v.besides))})" if v.besides else ""))
    elif words[:1] == ["build"] and len(words) > 1:
        Path(words[1]).mkdir(parents=True, exist_ok=True)
        for name in fnmatch.filter(VICTIMS, words[2] if len(words) > 2 else "*"):
            shutil.copy(victim(name), words[1])
        for built in (library(), gpu_library()):
            shutil.copy(built, words[1])
    elif words[:1] == ["compare"] and len(words) > 1:
        name = words[1]
        run = diagnose(name, *words[3:], seconds=float(words[2]) if len(words) > 2 else None)
        result = compared(name, run.report["findings"], run.truth, run.report["strategy"], run.report["loops"])
        print("\n".join([show(f) for f in run.report["findings"]]))
        for what, sentences in result._asdict().items():
            print("\n".join(f"{what}: {s}" for s in sentences))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
