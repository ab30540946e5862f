"""What the tests of `sonde count` share: builds tests/victims/count in many ways, runs programs under it, reads the
profile, and compares with the truth that victims tell.

    counting.py list                      names of builds
    counting.py build FOLDER [PATTERN]    keeps the programs
    counting.py compare FOLDER/BUILD VICTIM...   runs one and prints what differs
"""

import bisect
import collections
import functools
import os
import platform
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from victims import ROOT, object_of, run_tool, serve, shell_status
from victims import unchanged as check_unchanged

sys.path.insert(0, str(ROOT / "tests/corpus"))
import machine  # noqa: E402
from case import LIMIT, LONG, SONDE, Skip  # noqa: E402

SOURCES = ROOT / "tests/victims/count"
KEPT = tempfile.TemporaryDirectory(prefix="sonde-count-")
FOLDER = Path(KEPT.name)
PROTECTED = "-mbranch-protection=standard" if platform.machine() == "aarch64" else "-fcf-protection=full"
MUSL = "-mno-outline-atomics" if platform.machine() == "aarch64" else ""

# How to compile, how to link. Debugging information is of a version that valgrind reads, and without variables, which
# take gcc long.
BUILDS = {
    "gcc-O0": ("gcc -O0", "-pie"),
    "gcc-O1": ("gcc -O1", "-pie"),
    "gcc-O2": ("gcc -O2", "-pie"),
    "gcc-O3": ("gcc -O3", "-pie"),
    "clang-O0": ("clang -O0", "-pie"),
    "clang-O1": ("clang -O1", "-pie"),
    "clang-O2": ("clang -O2", "-pie"),
    "clang-O3": ("clang -O3", "-pie"),
    "static": ("gcc -O2", "-static -no-pie"),
    "static-pie": ("gcc -O0", "-static-pie"),
    "framed": ("gcc -O2 -fno-omit-frame-pointer -fno-plt", "-pie"),
    "protected": (f"gcc -O2 {PROTECTED}", "-pie"),
    "musl": (f"musl-gcc -O2 {MUSL}", "-pie"),
    "musl-static": (f"musl-gcc -O2 {MUSL}", "-static"),
}
CC = "gcc"  # for the library
CXX = {"gcc": "g++", "clang": "clang++"}
MORE = {"gcc": ["-fno-var-tracking"], "musl-gcc": ["-fno-var-tracking"], "clang": []}
# Where the modules of a process lie, each for itself: see far.py.
MAIN_BASE, LIBRARY_BASE = 0x40000000, 0x80000000
VICTIMS = ("loops", "leaving", "recursion", "jumps", "exceptions", "signals", "threads", "computed", "pointers",
           "virtuals", "callbacks", "startup", "loading", "contexts", "stacks", "tails", "many")
# Each by itself: they make processes, or end the one they are in.
ALONE = ("forks", "execs", "exits", "aborts", "vanishes", "ends")
LACKING = {"musl": {"exceptions", "virtuals", "contexts"}, "musl-static": {"exceptions", "virtuals", "contexts", "loading"},
           "static": {"loading"}, "static-pie": {"loading"}}

EXACT_TRIPS = 32
NODE_FRAME, NODE_LEAF = 1, 2
IRREDUCIBLE, ITERATIONS_UNKNOWN, TRIPS_UNKNOWN, MACHINE_ITERATIONS = 1, 2, 4, 8

# Tests of these loops are made of several conditions, of which optimisers may turn some to the loop's end and leave the
# others at its beginning: then an iteration of the machine code that a condition ends at once is one.
SEVERAL_CONDITIONS = {"both", "both_break", "either", "comparing", "deep"}
# Optimisers make two loops of it, one within the other.
SPLIT = {"shared"}
# Counted as a region.
REGIONS = {"irreducible"}


def find(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"no {name}")
    return path


# Building


def sources(name):
    lacking = LACKING.get(name, ())
    return [p for p in sorted(SOURCES.glob("*.c*")) if p.name != "library.c" and p.stem not in lacking]


def compile_one(compiler, source):
    words = compiler.split()
    more = MORE[words[0]]
    if source.suffix == ".cc":
        words[0] = CXX[words[0]]
    if source.name == "many.c":
        low = "-O0" if words[0] == "clang" else "-O1"
        words = [low if w in ("-O1", "-O2", "-O3") else w for w in words]  # compilers take minutes
    return object_of(FOLDER, source, *words, *more, "-gdwarf-4", "-D_GNU_SOURCE", "-pthread", "-fPIE", "-fno-unroll-loops")


def victim(name):
    """The path of a build."""
    out = FOLDER / name
    if out.exists():
        return str(out)
    compiler, link = BUILDS[name]
    first = compiler.split()[0]
    find(first)
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda s: compile_one(compiler, s), sources(name)))
    base = [] if link == "-static-pie" else [f"-Wl,-Ttext-segment={MAIN_BASE:#x}"]  # which glibc gets wrong
    run_tool(CXX.get(first, first), "-pthread", *link.split(), *base, "-o", out, *objects,
             *([] if "musl" in name else ["-ldl"]))
    return str(out)


@functools.lru_cache
def library():
    """What the victim `loading` loads, with any libc."""
    out = FOLDER / "library.so"
    if out.exists():
        return str(out)
    run_tool(find(CC), "-O2", "-gdwarf-4", "-shared", "-fPIC", "-fvisibility=hidden", "-D_GNU_SOURCE", "-fno-unroll-loops",
             f"-Wl,-Ttext-segment={LIBRARY_BASE:#x}", "-o", out, SOURCES / "library.c", SOURCES / "truth.c")
    return str(out)


def runnable(name, wanted=VICTIMS):
    return [v for v in wanted if v not in LACKING.get(name, ())]


# Running


def environment(truth):
    env = {k: v for k, v in os.environ.items() if k != "COUNT_TRUTH"}
    env.update(COUNT_LIBRARY=library(), TMPDIR=str(FOLDER), PYTHONHASHSEED="0")
    if truth:
        env["COUNT_TRUTH"] = str(truth)
    return env


def run(command, truth=None, **more):
    """Output, complaints and status."""
    if truth:
        Path(truth).unlink(missing_ok=True)
    try:
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT,
                              check=False, env={**environment(truth), **more.pop("env", {})}, **more)
    except subprocess.TimeoutExpired as why:
        raise AssertionError(f"hangs: {' '.join(map(str, command))} {(why.stderr or b'')[-500:]}") from None
    return done.stdout, done.stderr.decode(errors="replace"), shell_status(done.returncode)


@functools.lru_cache(None)
def native(*command):
    out, _, status = run(command)
    return out, status


def count(command, *options, truth=None, unchanged=True, **more):
    """Runs a command under `sonde count`, which must not change what it prints or how it ends: the profile."""
    with tempfile.NamedTemporaryFile(dir=FOLDER, prefix="counted") as f:
        path = f.name
    out, err, status = run([SONDE, "count", *options, "-o", path, "--", *command], truth, **more)
    if unchanged:
        check_unchanged((out, err, status), native(*command))
    if not os.path.exists(path):
        raise AssertionError(f"no profile; status {status}, {err[-1500:]}")
    profile = Profile(path)
    if "contradictions" in profile.facts and "dropped" not in profile.facts:
        raise AssertionError(f"{profile.facts['contradictions']} contexts have counters that contradict each other")
    return profile


# Reading

Tally = collections.namedtuple("Tally", "flags entries iterations min max trips mix")
NO_TALLY = Tally(0, 0, 0, 0, 0, {}, ())


class Profile:
    """The tables as Python has them; numbers of rows are left behind."""

    def __init__(self, path):
        self.path = path
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.modules = dict(db.execute("SELECT id, path FROM module"))
        self.threads = {i: (pid, tid) for i, pid, tid in db.execute(
            "SELECT thread.id, pid, tid FROM thread JOIN process ON process.id = thread.process")}
        self.children = {pid for pid, in db.execute("SELECT pid FROM process WHERE parent IS NOT NULL")}
        self.metrics = dict(db.execute("SELECT id, name FROM metric"))
        self.nodes = {i: (parent, kind, self.modules.get(module), address) for i, parent, kind, module, address in
                      db.execute("SELECT id, parent, kind, module, address FROM node")}
        self.values = [(node, thread, self.metrics[metric], samples, amount) for node, thread, metric, samples, amount in
                       db.execute("SELECT * FROM value")]
        self.uncovered = [(self.modules.get(i), a, n, r) for i, a, n, r in
                          db.execute("SELECT module, address, name, reason FROM uncovered")]
        self.facts = dict(db.execute("SELECT key, value FROM meta"))
        trips = collections.defaultdict(dict)
        for tally, low, high, entries in db.execute("SELECT counters, low, high, entries FROM trips"):
            assert low == high if low < EXACT_TRIPS else high == 2 * low - 1, f"a bucket from {low} to {high}"
            trips[tally][low] = entries
        self.loops, self.functions = {}, {}
        for row in db.execute("SELECT * FROM counters"):
            number, module, address, loop, thread, _, flags, entries, iterations, least, most = row[:11]
            into = (self.loops if loop else self.functions).setdefault((self.modules[module], address), {})
            key = self.threads[thread]
            assert key not in into, f"two tallies of {address:#x} in one thread"
            into[key] = Tally(flags, entries, iterations, least, most, trips[number], row[11:])
        db.close()

    def called(self):
        """(module, address) of each function -> calls, of all threads and paths."""
        result = collections.Counter()
        for node, _, metric, _, amount in self.values:
            if metric == "calls":
                result[self.nodes[node][2:]] += amount
        return result

    def comparable(self):
        """All that two runs of one program have in common, of each thread what it did as one number: nothing of times,
        processes and rows."""
        paths, by_thread = {None: 0}, collections.defaultdict(collections.Counter)
        for node, (parent, kind, module, address) in sorted(self.nodes.items()):  # parents come first
            paths[node] = hash((paths[parent], kind, module, address))
        for node, thread, metric, samples, amount in self.values:
            by_thread[self.threads[thread]][paths[node], metric, samples, amount] += 1
        for rows in (self.loops, self.functions):
            for place, threads in rows.items():
                for thread, tally in threads.items():
                    by_thread[thread][place, tally._replace(trips=tuple(sorted(tally.trips.items())))] += 1
        return sorted(hash(frozenset(rows.items())) for rows in by_thread.values())

    def check(self):
        """What must be so whatever was counted from beginning to end."""
        for (module, address), threads in self.loops.items():
            for (pid, _), t in threads.items():
                if pid not in self.children:  # which leave loops that their parents entered
                    check_trips(t, f"loop at {address:#x} of {module}")
        return self.check_sums()

    def check_sums(self):
        """What must be so whatever was counted."""
        instructions = sum(v[4] for v in self.values if v[2] == "instructions")
        mix = sum(sum(t.mix) for threads in self.functions.values() for t in threads.values())
        assert instructions == mix, f"{instructions} instructions in contexts, {mix} in tallies"
        calls = sum(t.entries for threads in self.functions.values() for t in threads.values())
        assert sum(self.called().values()) == calls, f"{sum(self.called().values())} calls in contexts, {calls} in tallies"
        return self


def check_trips(t, what):
    if t.flags & (ITERATIONS_UNKNOWN | TRIPS_UNKNOWN):
        return
    ended = sum(t.trips.values())
    assert ended <= t.entries, f"{what}: {ended} entries had ends, {t.entries} beginnings"
    low = sum(l * n for l, n in t.trips.items())
    high = sum((l if l < EXACT_TRIPS else 2 * l - 1) * n for l, n in t.trips.items())
    assert low <= t.iterations, f"{what}: {t.iterations} iterations, at least {low} by trip counts"
    assert ended < t.entries or t.iterations <= high, f"{what}: {t.iterations} iterations, at most {high} by trip counts"
    if t.trips:
        least, most = min(t.trips), max(t.trips)
        assert least <= t.min and (t.min == least or least >= EXACT_TRIPS and t.min < 2 * least), f"{what}: least {t.min}"
        assert most <= t.max and (t.max == most or most >= EXACT_TRIPS and t.max < 2 * most), f"{what}: most {t.max}"


# Comparing


class Places:
    """Where the functions and loops of victims are: name -> (module, address). Marks tell the loops: `several` are
    those whose bodies the compiler copied."""

    def __init__(self, *paths):
        self.functions, self.loops, self.several = {}, {}, set()
        for path in paths:
            elf = machine.Elf(path)
            for line in run_tool(elf.tool("nm"), path).splitlines():
                words = line.split()
                if len(words) == 3 and words[1] in "tTwW":
                    self.functions[words[2]] = (path, int(words[0], 16))
            self._loops(path, elf)
        self.starts = sorted(self.functions.values())

    def containing(self, module, address):
        """The start of the function with this address, or None."""
        i = bisect.bisect_right(self.starts, (module, address)) - 1 if module else -1
        return self.starts[i] if i >= 0 and self.starts[i][0] == module else None

    def _loops(self, path, elf):
        found = Loops(path)
        for name, va in marks(elf):
            header = found.innermost(va)
            if name in self.loops or header is None:
                self.several.add(name)
            if header is not None:
                self.loops[name] = (path, header)


class Loops:
    """The loops of a file by the blocks that they have: not by lines, which many may share."""

    def __init__(self, path):
        self.starts, self.headers = [], []  # of each block in the order of addresses: its innermost loop's header
        blocks = self._blocks(path)
        innermost = {}
        for line in run_tool(SONDE, "dump", "loops", path).splitlines():
            words = line.split()
            if words[:1] == ["function"]:
                here = words[2].split("-")[0]
            elif words[:1] == ["loop"]:
                fields = dict(w.split("=") for w in words[2:] if "=" in w)
                for block in fields["blocks"].split(","):
                    innermost[here, block] = int(words[3], 0)  # inner ones follow
        for (low, high), key in sorted(blocks.items()):
            self.starts.append(low)
            self.headers.append((high, innermost.get(key)))

    @staticmethod
    def _blocks(path):
        blocks = {}
        for line in run_tool(SONDE, "dump", "cfg", path).splitlines():
            words = line.split()
            if words[:1] == ["function"]:
                here = words[2].split("-")[0]
            elif words[:1] == ["block"]:
                low, high = (int(w, 0) for w in words[2].split("-"))
                blocks[low, high] = (here, words[1])
        return blocks

    def innermost(self, va):
        """The header of the innermost loop around an address, or None."""
        i = bisect.bisect_right(self.starts, va) - 1
        return self.headers[i][1] if i >= 0 and va < self.headers[i][0] else None


def marks(elf):
    """(name, address) of each mark that tests/victims/count/truth.h planted."""
    data, at = elf.section(".countmark"), 0
    while at < len(data):
        va, = struct.unpack_from("<Q", data, at)
        end = data.index(b"\0", at + 8)
        if va:
            yield data[at + 8:end].decode(), va
        at = end + 1


def told(truth):
    """(pid, tid, kind, name) -> Tally, as victims told."""
    result = {}
    for line in Path(truth).read_text(encoding="ascii").splitlines():
        pid, tid, kind, name, *numbers = line.split(" ")
        key = int(pid), int(tid), kind, name
        entries, iterations, least, most = map(int, (numbers[:4] + ["0"] * 4)[:4])
        trips = dict(tuple(map(int, p.split(":"))) for p in numbers[4].split(",") if p) if len(numbers) > 4 else {}
        if key in result:  # of a library that was loaded again
            before = result[key]
            result[key] = Tally(0, before.entries + entries, before.iterations + iterations, min(least, before.min),
                                max(most, before.max), dict(collections.Counter(trips) + collections.Counter(before.trips)), ())
        else:
            result[key] = Tally(0, entries, iterations, least, most, trips, ())
    return result


def without_empty(t):
    """The same loop where a test in front of it keeps it from being entered for nothing."""
    trips = {k: n for k, n in t.trips.items() if k}
    return t._replace(entries=t.entries - t.trips.get(0, 0), trips=trips,
                      min=t.min or (min(trips) if trips else 0), max=t.max)


def same_loop(got, expected):
    """Of entries that did not end, there is no trip count; where a jump of unknown target leaves the loop, of none."""
    if got.flags & TRIPS_UNKNOWN:
        return (got.entries, got.iterations, got.trips) == (expected.entries, expected.iterations, {})
    return (got.entries, got.iterations, got.trips) == (expected.entries, expected.iterations, expected.trips) and (
        not got.trips or (got.min, got.max) == (expected.min, expected.max))


def show(t):
    return f"{t.entries} entries, {t.iterations} iterations, {t.min}..{t.max}, trips {dict(sorted(t.trips.items()))}" + (
        f", flags {t.flags}" if t.flags else "")


def differences(profile, truth, places, optimised, loose=()):
    """What differs from the truth, one sentence each; and how much was compared. What could not be counted is listed."""
    wrong, compared = [], 0
    uncovered = {places.containing(module, address) for module, address, _, _ in profile.uncovered}
    for (pid, tid, kind, name), expected in sorted(told(truth).items()):
        if places.containing(*(places.functions if kind == "calls" else places.loops).get(name, (None, 0))) in uncovered:
            continue
        if kind == "calls":
            where = places.functions[name]
            got = profile.functions.get(where, {}).get((pid, tid), NO_TALLY)
            if got.entries != expected.entries:
                wrong.append(f"{name} ({where[1]:#x}) in {pid}/{tid}: {got.entries} calls instead of {expected.entries}")
        elif name in places.several or name in loose:
            continue
        else:
            where = places.loops[name]
            got = profile.loops.get(where, {}).get((pid, tid), NO_TALLY)
            variants = [expected, without_empty(expected)] if optimised or where[0] == library() else [expected]
            if not any(same_loop(got, v) for v in variants):
                wrong.append(f"loop {name} ({where[1]:#x}) in {pid}/{tid}: {show(got)} instead of {show(expected)}")
        compared += 1
    return wrong, compared


@functools.lru_cache(None)
def places(build):
    return Places(victim(build), library())


def compared(build, victims, *options, least=1):
    truth = FOLDER / "truth"
    profile = count((victim(build), *victims), *options, truth=truth)
    optimised = "-O0" not in BUILDS[build][0]
    loose = (SEVERAL_CONDITIONS | SPLIT if optimised else set()) | REGIONS
    wrong, number = differences(profile, truth, places(build), optimised, loose)
    for line in wrong:
        print(f"# {line}")
    mine = {key[3] for key in told(truth)}
    missed = [f"{n}: {why}" for _, _, n, why in profile.uncovered if n in mine]
    assert len(missed) <= 2, f"{len(missed)} functions are not counted: {missed}"
    assert not wrong, f"{len(wrong)} of {number} counts are wrong: {wrong[0]}"
    assert number >= least, f"only {number} counts compared"
    return profile.check()


def main():
    if sys.argv[1:2] == ["compare"] and len(sys.argv) > 3:
        program, truth = os.path.realpath(sys.argv[2]), FOLDER / "truth"
        profile = count([program, *sys.argv[3:]], "--modules", "all", truth=truth)
        wrong, compared = differences(profile, truth, Places(program, library()), "O0" not in program)
        print("\n".join(wrong + [f"{len(wrong)} of {compared} differ"]))
        profile.check()
    elif not serve(sys.argv[1:], BUILDS, victim, library):
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
