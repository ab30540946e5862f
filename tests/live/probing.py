"""Victims with probes in them: builds tests/victims/probe in many ways, runs the programs natively and under the
harness (build/tests/probe), and compares what they print, and what was counted with the truth that they tell.

    probing.py list                      names of builds
    probing.py build FOLDER [PATTERN]    keeps the programs; PROBE_ARCH=x86_64 makes them for that machine
"""

import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from victims import ROOT, object_of, run_tool, serve, shell_status, unchanged
from case import LIMIT, LONG, Skip  # noqa: E402

HARNESS = str(Path(os.environ.get("BUILD", ROOT / "build")).resolve() / "tests/probe")
SOURCES = ROOT / "tests/victims/probe"
KEPT = tempfile.TemporaryDirectory(prefix="sonde-probe-")
FOLDER = Path(KEPT.name)
MACHINE = os.environ.get("PROBE_ARCH", platform.machine())
CROSS = "" if MACHINE == platform.machine() else f"{MACHINE}-linux-gnu-"

ALONE = {"library.c", "openmp.c", "mpi.c"}
PROTECTED = "-mbranch-protection=standard" if MACHINE == "aarch64" else "-fcf-protection=full"
# gcc's own atomics ask for a function that musl has not.
MUSL = "-mno-outline-atomics" if MACHINE == "aarch64" else ""
# How to compile, how to link, what then.
BUILDS = {
    "gcc-O2": ("gcc -O2", "", ""),
    "gcc-O0": ("gcc -O0", "", ""),
    "gcc-O3": ("gcc -O3" + ("" if CROSS else " -march=native"), "", ""),
    "clang-O2": ("clang -O2", "", ""),
    "static": ("gcc -O2", "-static -no-pie", ""),
    "static-pie": ("gcc -O2", "-static-pie", ""),
    "stripped": ("gcc -O2", "", "strip"),
    "no-tables": ("gcc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables", "", ""),
    "protected": (f"gcc -O2 {PROTECTED}", "", ""),
    "musl": (f"musl-gcc -O2 {MUSL}", "", ""),
    "musl-static": (f"musl-gcc -O2 {MUSL}", "-static", ""),
}
CXX = {"gcc": "g++", "clang": "clang++"}
VICTIMS = ("calls", "paths", "deep", "loops", "shapes", "exceptions", "jumps", "contexts", "signals", "threads",
           "forks", "execs", "loading", "waits", "vectors", "locks", "interrupted", "objects", "cancelled",
           "restartable")
LACKING = {"musl": {"exceptions", "contexts"}, "musl-static": {"exceptions", "contexts", "loading"},
           "static": {"loading"}, "static-pie": {"loading"}}
# On x86-64 traps alone carry their probes, and static programs do not get traps: one is shorter than a jump, the other
# is followed by data that may be code which jumps between the instructions that a jump would take the place of.
TRAPPED = {"shape_nothing", "shape_relative"} if MACHINE == "x86_64" else set()
UNTRAPPED = {"static", "static-pie", "musl-static"}
QUICK = tuple(v for v in VICTIMS if v not in ("waits", "objects"))


def sources(name):
    lacking = LACKING.get(name, ())
    for path in sorted(SOURCES.iterdir()):
        if path.name in ALONE or path.stem in lacking:
            continue
        if path.suffix in (".c", ".cc") or path.name == f"shapes-{MACHINE}.S":
            yield path


def tool(name):
    """A compiler for the machine that programs are made for."""
    return CROSS + name if name in ("gcc", "g++", "strip") else name


def compile_one(compiler, source):
    words = compiler.split()
    if source.suffix == ".cc":
        words[0] = CXX[words[0]]
        words = [w for w in words if "unwind-tables" not in w]
    words[0] = tool(words[0])
    independent = [] if words[0] == "musl-gcc" else ["-fPIE"]
    return object_of(FOLDER, source, *words, "-g", "-D_GNU_SOURCE", "-pthread", *independent, "-fno-unroll-loops")


def victim(name):
    """The path of a build."""
    out = FOLDER / name
    if out.exists():
        return str(out)
    compiler, link, after = BUILDS[name]
    if not shutil.which(tool(compiler.split()[0])) or (CROSS and not compiler.startswith("gcc")):
        raise Skip(f"no {compiler.split()[0]} for {MACHINE}")
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(lambda s: compile_one(compiler, s), sources(name)))
    linker = CXX.get(compiler.split()[0], compiler.split()[0])
    run_tool(tool(linker), "-pthread", *link.split(), "-o", out, *objects, *([] if "musl" in name else ["-lm", "-ldl"]))
    if after:
        run_tool(tool(after), out)
    return str(out)


def library():
    out = FOLDER / "library.so"
    if not out.exists():
        run_tool(tool("gcc"), "-O2", "-shared", "-fPIC", "-o", out, SOURCES / "library.c")
    return str(out)


def runnable(name, wanted=QUICK):
    return [v for v in wanted if v not in LACKING.get(name, ())]


def environment(truth=None):
    env = dict(os.environ, PROBE_LIBRARY=library(), TMPDIR=str(FOLDER), OMP_NUM_THREADS="2")
    env.pop("PROBE_TRUTH", None)
    if truth:
        env["PROBE_TRUTH"] = str(truth)
    return env


def run(command, truth=None, stdin=None, limit=LIMIT, cwd=None):
    """Output, complaints and status; whatever it started ends with it."""
    if truth:
        Path(truth).unlink(missing_ok=True)
    with subprocess.Popen(command, env=environment(truth), stdin=stdin or subprocess.DEVNULL, cwd=cwd,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise AssertionError(f"hangs: {' '.join(map(str, command))} {err.decode()[-500:]}") from None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return out, err.decode(errors="replace"), shell_status(process.returncode)


NATIVE = {}


def native(*command):
    """Output and status without probes."""
    if command not in NATIVE:
        out, _, status = run(command)
        NATIVE[command] = out, status
    return NATIVE[command]


def harness(mode, *options, command=(), truth=None, **more):
    """Runs the harness: output, complaints, status, and its report by lines."""
    if not os.access(HARNESS, os.X_OK):
        raise Skip("the harness is not built")
    with tempfile.NamedTemporaryFile(dir=FOLDER, prefix="report") as report:
        whole = [HARNESS, mode, "--report", report.name, *map(str, options), *(["--", *command] if command else [])]
        out, err, status = run(whole, truth, **more)
        lines = Path(report.name).read_text(errors="replace").splitlines()
    return out, err, status, lines


def summary(lines):
    """What the report says of the whole run: word -> number; refusals by reason."""
    numbers, refused, why = {}, {}, {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "refused":
            refused[words[1]] = int(words[2])
        elif not words[0].isdigit():
            numbers[words[0]] = int(words[1])
            why[words[0]] = " ".join(words[2:])
    assert not numbers["failed"], f"{numbers['failed']} batches failed: {why['failed']}"
    return numbers, refused, why


def few_refused(lines, share=0.01):
    """Of plain counters single edges may be refused; otherwise whole subjects are, whatever the reason."""
    numbers, refused, why = summary(lines)
    assert numbers["spots"] > 0, "nothing was probed"
    # Pinned code is to be refused; two functions of the victims are.
    pinned = refused.get("pinned", 0)
    total = sum(refused.values()) - pinned
    assert total <= numbers["spots"] * share, f"{total} of {numbers['spots']} spots refused: {refused}"
    assert pinned <= numbers["spots"] * 0.02, f"{pinned} of {numbers['spots']} spots are in pinned code"
    assert numbers["rejected"] <= numbers["added"] * share, f"{numbers['rejected']} rejected: {why['rejected']}"
    return numbers, refused


def few_subjects_refused(lines, share=0.01):
    numbers, refused, _ = summary(lines)
    total = sum(refused.values())
    assert total <= numbers["added"] * share, f"{total} of {numbers['added']} points refused: {refused}"


def sums(lines):
    """(pid, kind, name) -> sum of the lines that tell of it."""
    result = {}
    for line in lines:
        words = line.split(" ")
        if words[0].isdigit() and len(words) == 4:
            key = (words[0], words[1], words[2])
            result[key] = result.get(key, 0) + int(words[3])
    return result


def unprobed(name):
    """Functions that have no probes in this build."""
    return TRAPPED if name in UNTRAPPED else set()


def compare(truth, lines, kinds, minimum=10, only=None, refused=()):
    """All that the victim told of these kinds (of `only` these functions) was counted so; of `refused` ones, nothing."""
    told, counted = sums(Path(truth).read_text().splitlines()), sums(lines)
    wrong, compared = [], 0
    for key, value in sorted(told.items()):
        if key[1] not in kinds or (not value and key not in counted):
            continue
        if only and key[2].partition("@")[0] not in only:
            continue
        compared += 1
        if key[2] in refused and not counted.get(key):
            continue
        if counted.get(key) != value:
            wrong.append(f"{' '.join(key)}: {counted.get(key)} instead of {value}")
    assert not wrong, f"{len(wrong)} of {compared} counts are wrong: " + "; ".join(wrong[:12])
    assert compared >= minimum, f"only {compared} counts compared"
    return compared


COUNTED = ("calls", "left", "entered", "exited", "iterated", "ended")


if __name__ == "__main__" and not serve(sys.argv[1:], BUILDS, victim, library):
    sys.exit(__doc__)
