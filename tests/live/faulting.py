"""Sonde with parts of it failing, or killed, on purpose (src/base/fault.h): what check-faults and check-deaths share.

    faulting.py points SCENARIO            what is passed there, and how often
    faulting.py fail|die SCENARIO POINT    one run, and what is wrong with it
    faulting.py all fail|die [SCENARIO...] every point in every scenario, at its first, second, middle and last pass

A scenario is a run of sonde with tests/victims/faults.c, launched or attached to. Faults are for the sanitized build, that of
the folder $ASAN if there is one; deaths, which leave nobody to report, for the plain one."""

import concurrent.futures
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from victims import ROOT, run_tool, shell_status
from case import LIMIT, OURS  # noqa: E402

PLAIN = os.environ.get("SONDE", str(ROOT / "build/sonde"))
SANITIZED = str(Path(os.environ["ASAN"]).resolve() / "sonde") if os.environ.get("ASAN") else PLAIN
KEPT = tempfile.TemporaryDirectory(prefix="sonde-faults-")
FOLDER = Path(KEPT.name)
OUTPUT, STATUS = "faults: 0 differ\n", 3
WORKERS = 2

# How sonde is called; {victim} and {pid} say whether it starts the program. Measuring ends by itself.
PATH = ("path", "--max-overhead", "none", "-f", "stir,descend,locked", "-m", "calls,cpu,sync")
SCENARIOS = {
    "path": (*PATH, "-o", "{data}", "--", "{victim}", "0.3"),
    "path-attached": (*PATH, "-o", "{data}", "--duration", "0.3", "-p", "{pid}"),
    "count": ("count", "-o", "{data}", "--", "{victim}", "1.5"),
    "count-attached": ("count", "-o", "{data}", "--duration", "0.3", "-p", "{pid}"),
    "diagnose": ("diagnose", "-o", "{data}", "--", "{victim}", "0.7"),
    "diagnose-attached": ("diagnose", "-o", "{data}", "--duration", "0.7", "-p", "{pid}"),
    "record": ("record", "-o", "{data}", "--", "{victim}", "0.3"),
    "record-attached": ("record", "--wall", "-o", "{data}", "--duration", "0.3", "-p", "{pid}"),
    "record-stopping": ("record", "--wall", "-o", "{data}", "--", "{victim}", "0.3"),
    "record-again": ("record", "-o", "{known}", "--", "{victim}", "0.1"),
    "report": ("report", "{known}"),
    "export": ("report", "--export=collapsed", "--output={data}.txt", "{known}"),
    "structure": ("structure", "{victim}"),
    "structure-again": ("structure", "{victim}"),
    # A killed sonde was there before, and left its probes.
    "heal": (*PATH, "-o", "{data}", "--duration", "0.3", "-p", "{pid}"),
}
COLD = {"structure"}  # begins with an empty cache
ENVIRONMENT = {"record-stopping": {"SONDE_SAMPLER": "ptrace"}}
PROBING = ("path", "path-attached", "count", "count-attached", "diagnose", "diagnose-attached", "heal")
BAD = ("Sanitizer", "runtime error", "bug in sonde", "Segmentation", "Assertion")


def victim():
    out = FOLDER / "faults"
    if not out.exists():
        run_tool("gcc", "-O2", "-g", "-pthread", "-o", out, ROOT / "tests/victims/faults.c")
    return str(out)


def points_in_source():
    """All names there are: of calls that may fail, and of steps."""
    text = "".join(path.read_text() for path in sorted((ROOT / "src").rglob("*.c")))
    faults = re.findall(r'\bfault\(\s*"([a-z-]+)"', text)
    steps = re.findall(r'\bdeath_point\("([a-z-]+)"\)', text) + re.findall(r'\{\{\.name = "([a-z-]+)"\}', text)
    both = faults + steps
    assert len(set(both)) == len(both), f"named twice: {sorted(n for n in set(both) if both.count(n) > 1)}"
    return faults, steps


def adopt_orphans():
    """What a killed sonde has started becomes our child, so that its end can be seen."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


class Run:
    """One run of a scenario with SONDE_FAULT=spec: what happened to sonde and to the program."""

    def __init__(self, scenario, spec, sonde=SANITIZED):
        self.scenario, self.spec, self.sonde_path = scenario, spec, sonde
        self.folder = Path(tempfile.mkdtemp(dir=FOLDER))
        self.data, self.log = self.folder / "data", self.folder / "log"
        self.words = SCENARIOS[scenario]
        self.attaches = "{pid}" in self.words
        self.launches = not self.attaches and "--" in self.words
        self.program = None

    def env(self, fault=True):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SONDE_FAULT")}
        env["XDG_CACHE_HOME"] = str((self.folder if self.scenario in COLD else FOLDER) / "cache")
        env["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"
        env["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
        env.update(ENVIRONMENT.get(self.scenario, {}))
        if fault:
            env.update(SONDE_FAULT=self.spec, SONDE_FAULT_LOG=str(self.log))
        return env

    def command(self):
        known = FOLDER / "known"
        if "{known}" in self.words and self.scenario == "record-again":
            known = self.folder / "known"
            known.write_bytes((FOLDER / "known").read_bytes())
            self.data = known
        values = {"data": self.data, "victim": victim(), "known": known, "pid": self.program and self.program.pid}
        return [self.sonde_path, *(word.format(**values) for word in self.words)]

    def start_program(self, *arguments):
        self.program = subprocess.Popen([victim(), "until-told", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.program.stdout.read(6) == b"begun\n"
        if self.scenario == "heal":
            kill_in_the_middle(self.program.pid, self.sonde_path)

    def run(self):
        if self.attaches:
            self.start_program()
        # Files instead of pipes: an orphan keeps what it was given, and that is no reason to wait.
        with open(self.folder / "out", "wb") as out, open(self.folder / "err", "wb") as err:
            sonde = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=self.env(),
                                     cwd=self.folder, start_new_session=True)
            try:
                sonde.wait(LIMIT)
                self.hangs = False
            except subprocess.TimeoutExpired:
                self.hangs = True
                os.killpg(sonde.pid, signal.SIGKILL)
                sonde.wait()
            self.orphan_status = self.wait_for_orphans(sonde.pid) if self.launches else None
        self.status = shell_status(sonde.returncode)
        self.out = (self.folder / "out").read_text(errors="replace")
        self.err = (self.folder / "err").read_text(errors="replace")
        self.logged = self.log.read_text().splitlines() if self.log.exists() else []
        return self

    def wait_for_orphans(self, group):
        """Of the session that sonde began; the program was the first in it."""
        status, end = None, time.monotonic() + LIMIT
        while time.monotonic() < end:
            try:
                pid, code = os.waitpid(-group, os.WNOHANG)
            except ChildProcessError:
                return status
            if not pid:
                time.sleep(0.005)
            elif status is None:
                status = shell_status(os.waitstatus_to_exitcode(code))
        os.killpg(group, signal.SIGKILL)
        return "hangs"

    def passed(self):
        return {words[1]: int(words[2]) for words in map(str.split, self.logged) if words[0] == "passed"}

    def fired(self):
        return [line for line in self.logged if line.split()[0] in ("fails", "dies")]

    def end_program(self):
        """What it printed, and its status."""
        self.program.send_signal(signal.SIGTERM)
        try:
            out, err = self.program.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.communicate()
            return "hangs", ""
        return (out.decode() + err.decode(), shell_status(self.program.returncode))

    def state(self):
        """Of the program that was attached to: who traces it, and what of ours is in it."""
        status = Path(f"/proc/{self.program.pid}/status").read_text()
        tracer = re.search(r"TracerPid:\s*(\d+)", status).group(1)
        return tracer, "memfd:sonde" in Path(f"/proc/{self.program.pid}/maps").read_text()

    # What is wrong

    def complaints(self):
        """Nothing that sonde says is a crash, and if it fails one sentence says why."""
        for word in BAD:
            if word in self.err:
                yield f"{word}: {self.err[-1500:]}"
        if self.hangs:
            yield "sonde hangs"
        ours = [line for line in self.err.splitlines() if line.startswith("sonde: ") and "; view with: sonde" not in line]
        if self.status == OURS and len(ours) != 1:
            yield f"{len(ours)} sentences for a failure: {ours} {self.err[-500:]!r}"
        for line in ours:
            if not re.fullmatch(r"sonde: .{10,}", line):
                yield f"no sentence: {line!r}"

    def harm(self):
        """The program printed and ended as it always does; or was never started."""
        if self.attaches:
            if self.program.poll() is None and self.state()[0] != "0":
                yield "it is still traced"
            end = self.end_program()
            if end != (OUTPUT, STATUS):
                yield f"the program: {end}"
        elif self.launches:
            started = OUTPUT in self.out
            if self.out and not started:
                yield f"the program printed {self.out[:200]!r}"
            if not started and self.status not in (OURS, 126, 127, 137):
                yield f"it did not run, and sonde ended with {self.status}"
            if started and self.status not in (STATUS, OURS, 137, 134):
                yield f"sonde ended with {self.status} instead of {STATUS}"
            if self.orphan_status not in (None, STATUS) and (started or self.status == 137):
                yield f"the program ended with {self.orphan_status}" if started else None

    def loss(self):
        """What was saved can be read."""
        if not self.data.exists() or not self.data.stat().st_size:
            return
        done = subprocess.run([PLAIN, "report", self.data], capture_output=True, env=self.env(fault=False), timeout=LIMIT,
                              check=False)
        said = done.stderr.decode()
        if done.returncode and not re.search("no samples|nothing|no values", said):
            yield f"the profile cannot be read: {said[:300]}"

    def wrong(self):
        return [w for w in (*self.complaints(), *self.harm(), *self.loss()) if w]

    def clean_up(self):
        if self.program and self.program.poll() is None:
            self.program.kill()
            self.program.communicate()
        subprocess.run(["rm", "-rf", self.folder], check=False)


def kill_in_the_middle(pid, sonde):
    """A sonde with all its probes in is killed."""
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    env = {**os.environ, "SONDE_FAULT": "die@changed:2", "SONDE_FAULT_LOG": str(folder / "log"), "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sonde, *(w.format(data=folder / "data", pid=pid, victim="") for w in SCENARIOS["path-attached"])]
    done = subprocess.run(command, capture_output=True, env=env, timeout=LIMIT, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-500:]


def prepare():
    """What scenarios need: a profile, and a filled cache."""
    adopt_orphans()
    victim()
    for words in (["record", "-o", FOLDER / "known", "--", victim(), "0.3"], ["structure", victim()]):
        done = subprocess.run([SANITIZED, *words], capture_output=True, timeout=LIMIT, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(FOLDER / "cache"), "ASAN_OPTIONS": "detect_leaks=0"})
        assert done.returncode in (0, STATUS), done.stderr.decode()[-500:]


def counted(scenario, sonde=SANITIZED):
    """What is passed in it, and how often."""
    run = Run(scenario, "count", sonde).run()
    wrong = run.wrong()
    passed = run.passed()
    run.clean_up()
    assert not wrong and passed, f"{scenario}: {wrong or run.err}"
    return passed


def failed(scenario, spec):
    """What is wrong with a run in which something fails; and whether it did. What could not be healed, the next one heals."""
    run = Run(scenario, spec).run()
    fired = bool(run.fired())
    wrong = [*(healed(run) if fired and scenario == "heal" else ()), *run.wrong()]
    run.clean_up()
    return [f"{scenario} {spec}: {w}" for w in wrong], fired


def died(scenario, spec):
    """Sonde is killed; the program goes on, and a second sonde takes out what is left."""
    run = Run(scenario, spec if "@" in spec else f"die@{spec}", PLAIN).run()
    wrong, fired = [], bool(run.fired())
    if fired and run.attaches:
        wrong += healed(run)
    wrong += [w for w in (*run.complaints(), *run.harm(), *run.loss()) if w]
    run.clean_up()
    return [f"{scenario} {run.spec}: {w}" for w in wrong], fired


def healed_from_a_wait(sleep_us):
    """Sonde is killed, and the program waits where it put its probes when the next one comes."""
    run = Run("heal", "count", PLAIN)
    run.start_program(str(sleep_us))
    wrong = [*healed(run), *run.harm()]
    run.clean_up()
    return wrong


def healed(run):
    words = (w.format(data=run.folder / "second", pid=run.program.pid, victim="") for w in SCENARIOS["path-attached"])
    command = [run.sonde_path, "--debug=probe:1", *words]
    command[command.index("0.3")] = "0.05"
    done = subprocess.run(command, capture_output=True, env=run.env(fault=False), timeout=LIMIT, check=False)
    said = done.stderr.decode()
    if done.returncode:
        yield f"a second sonde: status {done.returncode}, {said[-300:]}"
    elif run.state() != ("0", False):
        yield f"a second sonde left {run.state()}: {said[-1500:]}"
    if any(word in said for word in BAD):
        yield f"a second sonde: {said[-1500:]}"


def at_once(function, jobs):
    """As many as there are CPUs; results in the order of the jobs."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        yield from pool.map(lambda job: function(*job), jobs)


def passes(times):
    return sorted({1, min(2, times), (times + 1) // 2, times})


def every(kind, scenarios):
    what = {"fail": failed, "die": died}[kind]
    faults, steps = points_in_source()
    reached = set()
    for scenario in scenarios or (SCENARIOS if kind == "fail" else PROBING):
        passed = counted(scenario, SANITIZED if kind == "fail" else PLAIN)
        names = [n for n in passed if kind == "die" or n in faults]
        reached.update(names)
        jobs = [(scenario, f"{n}:{k}") for n in sorted(names) for k in passes(passed[n])]
        print(f"# {scenario}: {len(names)} points, {len(jobs)} runs", flush=True)
        for (_, spec), (wrong, fired) in zip(jobs, at_once(what, jobs)):
            for line in wrong:
                print(line)
            if not fired:
                print(f"# {scenario} {spec}: not reached this time")
        sys.stdout.flush()
    missing = sorted(set(faults if kind == "fail" else faults + steps) - reached)
    print(f"# {len(reached)} points reached; not: {' '.join(missing)}")


if __name__ == "__main__":
    prepare()
    match sys.argv[1:]:
        case ["points", scenario]:
            for name, times in sorted(counted(scenario).items()):
                print(f"{times:8} {name}")
        case ["fail", scenario, spec]:
            print(*failed(scenario, spec), sep="\n")
        case ["die", scenario, spec]:
            print(*died(scenario, spec), sep="\n")
        case ["all", kind, *scenarios]:
            every(kind, scenarios)
        case _:
            sys.exit(__doc__)
