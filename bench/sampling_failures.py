"""Call paths that do not reach the start of their thread.

The programs are those that Debian ships, optimised and stripped, and victims from which all unwind information was
removed. They are sampled often, to get many samples. The last column is the share of stacks that `perf record
--call-graph dwarf` (with its usual copy of 8 KB) follows to the start, on the first samples of the same program.
There, a stack counts as complete if one of its two outermost frames is one that threads start in."""

import os
import re
import subprocess
import sys
import time

import measure
import programs
import sampling
import workloads

GOAL = 10  # failures in a million samples
HZ = "4999"
PERF_HZ = "499"
PERF_SECONDS = 3  # of the program, and then of perf script, which is slow
NO_FAILURE = ("complete", "lost", "throttled")

STARTS = re.compile(r"(_start|_start_c|_dl_start\w*|__libc_start_main\S*|__libc_start_call_main|\w*clone3?|"
                    r"thread_start|start_thread)$")

# Where paths that are not complete end: the children of nodes of kind 5, see sonde-profile(5).
ENDS = """WITH RECURSIVE below(id, top) AS (
    SELECT node.id, node.id FROM node JOIN node AS up ON up.id = node.parent WHERE up.kind = 5 UNION ALL
    SELECT node.id, below.top FROM node JOIN below ON node.parent = below.id)
    SELECT sum(samples), module.path, node.address FROM value JOIN below ON below.id = value.node
    JOIN node ON node.id = below.top LEFT JOIN module ON module.id = node.module
    GROUP BY below.top ORDER BY 1 DESC LIMIT 3"""

# How victims are built: compiler, level and more flags. All unwind information and symbols are then taken out.
NAKED = (("gcc", "-O2", []), ("gcc", "-O0", []), ("gcc", "-O3", ["-fomit-frame-pointer"]), ("clang", "-O2", []),
         ("clang", "-O3", ["-fno-omit-frame-pointer"]), ("gcc", "-O2", ["-static"]))


def naked(p, compiler, level, flags):
    """The victims of the stepping tests, going round for some seconds."""
    sys.path.insert(0, os.path.join(sampling.HERE, "..", "tests", "live"))
    import stepping  # noqa: E402
    machine = os.uname().machine
    sources = [os.path.join(stepping.VICTIMS, f"{n}.c") for n in stepping.COMMON if n != "signals"]
    sources += [os.path.join(stepping.VICTIMS, f"oddities-{machine}.S"), os.path.join(sampling.VICTIMS, "naked.c")]
    saved = ",".join(f'"{r}"' for r in stepping.SAVED[machine])
    options = [f"-I{stepping.VICTIMS}", f"-DSAVED_REGISTERS={saved}", *stepping.WITHOUT_TABLES, *flags]
    program = p.build("victim-naked" + "".join(flags), programs.HOST, sources, options, compiler, level)
    out = program + "-stripped"
    if not os.path.exists(out):
        programs.run("objcopy", "--strip-all", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr",
                     program, out)
    return workloads.Workload(" ".join(["victims", compiler, level, *flags]), [out, "2"])


def stacks(lines):
    """Call chains of perf script's output: lists of functions, innermost first."""
    chain = []
    for line in lines:
        if line.strip():
            chain.append(line.split()[1])
        elif chain:
            yield chain
            chain = []
    if chain:
        yield chain


def perf_complete(p, w):
    """Stacks that perf followed, and all; of what perf script prints in some seconds."""
    whole = complete = 0
    with sampling.Recording(p) as r:
        sampling.perf_record(r, w.command, "-F", PERF_HZ, env=w.env, limit=PERF_SECONDS)
        stop = time.monotonic() + PERF_SECONDS
        command = [sampling.perf(), "script", "--no-inline", "-F", "ip,sym", "-i", r.profile]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as script:
            for chain in stacks(script.stdout):
                whole += 1
                complete += any(STARTS.match(name) for name in chain[-2:])
                if time.monotonic() > stop:
                    script.terminate()
                    break
    return complete, whole


class Failures:
    """Of one recording: counts by reason, and the outermost frames that were reached."""

    def __init__(self, sonde, p, w):
        self.name = w.name
        with sampling.Recording(p) as r:
            sampling.record(sonde, r, w.command, "-F", HZ, env=w.env)
            self.counts = r.counts()
            self.ends = r.query(ENDS)

    def places(self):
        return [f"- {self.name}: {n} in {os.path.basename(path or 'no module')}, {address:#x}"
                for n, path, address in self.ends]


def _row(name, failures, beside):
    counts = failures.counts
    failed = {k: n for k, n in counts.items() if k not in NO_FAILURE and n}
    whole = counts.get("complete", 0) + sum(failed.values())
    reasons = ", ".join(f"{k} {n}" for k, n in sorted(failed.items(), key=lambda f: -f[1])) or "none"
    return whole, sum(failed.values()), (name, whole, counts.get("lost", 0), reasons, beside), failures.places()


def _sum(rows, name):
    whole, failed = sum(r[0] for r in rows), sum(r[1] for r in rows)
    rate = 1e6 * failed / whole if whole else 0
    return (f"**{name}** (goal: at most {GOAL} failures in a million)", whole, sum(r[2][2] for r in rows),
            f"**{failed}: {rate:.0f} in a million**", "")


def _real(sonde, p, quick, log):
    rows = []
    chosen = workloads.ALL[:4] if quick else workloads.ALL
    for w in workloads.available(p, log, chosen):
        log(f"failures: {w.name}")
        try:
            complete, whole = perf_complete(p, w)
            beside = f"{measure.percent(complete, whole)} of {whole}"
        except programs.Missing as e:
            log(f"  not measured: {e}")
            beside = "not measured"
        rows.append(_row(w.name + (", threads" if w.threads else ""), Failures(sonde, p, w), beside))
    return rows


def _naked(sonde, p, quick, log):
    rows = []
    for build in NAKED[:2] if quick else NAKED:
        try:
            w = naked(p, *build)
            log(f"failures: {w.name}")
            rows.append(_row(w.name, Failures(sonde, p, w), ""))
        except programs.Missing as e:
            log(f"  not measured: {e}")
    return rows


def report(sonde, p, quick, log):
    real, bare = _real(sonde, p, quick, log), _naked(sonde, p, quick, log)
    rows = [r[2] for r in real] + [_sum(real, "all programs")]
    rows += [r[2] for r in bare] + [_sum(bare, "all without unwind information")]
    places = [line for r in real + bare for line in r[3]]
    text = measure.table(("program", "samples", "lost", "failures by reason", "perf: complete stacks"), rows)
    return text + ("\n\nWhere most of them end:\n\n" + "\n".join(places) if places else "")
