"""What threads wait for, by object and by what was running: the victim `objects` (tests/victims/probe) under the harness,
numbers and bytes exact, times as the victim measures them. check-waits and tests/vm/probe share this."""

import atexit
import signal
import subprocess
import time

import probing
from probing import harness, native, sums, unchanged, victim
from case import same

FUNCTIONS = "sleep,lock_a,lock_b,condition,barrier,read,small,large,flush,file,child"
NAMES = ",".join("objects_" + name for name in FUNCTIONS.split(","))
OPTIONS = ("--waits", "--no-loops", "--activations", "--metrics", "0x1", "--names", NAMES)
# Whose numbers are exact: everything that the victim does with these, and nobody else.
EXACT = ("sleep", "read:40", "write:41", "write:42", "fsync:42")
CLOCKS = 2e5


def watched(build, *options, rounds=1):
    truth = probing.FOLDER / "truth"
    command = (victim(build), "-r", str(rounds), "objects")
    result = harness("all", *OPTIONS, *options, command=command, truth=truth)
    unchanged(result, native(*command))
    return sums(truth.read_text().splitlines()), sums(result[3])


def is_exact(key):
    return key[1] in ("waits", "moved", "small") and key[2].partition("@")[0] in EXACT


def check_numbers(told, counted):
    """The subjects of the child are those of its parent that it is in: objects_child is one more."""
    wanted = {k: v for k, v in told.items() if is_exact(k) and v and k[1:] not in UNTOLD}
    found = {k: v for k, v in counted.items() if is_exact(k) and not k[2].endswith("@objects_child") and k[1:] not in UNTOLD}
    same(found, wanted)
    assert len(wanted) > 25, f"only {len(wanted)} numbers"
    assert len({k[0] for k in wanted}) > 1, "no child was watched"


# What the victim does not count: each is told by its subject.
UNTOLD = {("small", "read:40"), ("small", "write:41")}


def within(found, told, what):
    assert told / 2 - 3e6 <= found <= told + CLOCKS, f"{what}: {found} ns instead of {told}"


def check_times(told, counted, elsewhere=()):
    """By the addresses of the words that threads wait on: within the object that the victim tells, unless `elsewhere`."""
    for (pid, kind, name), value in told.items():
        if kind != "for" or not value or name in elsewhere:
            continue
        start = told.get((pid, "at", name))
        if start:
            end = start + told[pid, "size", name]
            parts = [v for k, v in counted.items() if k[0] == pid and k[1] == "waited" and k[2].startswith("futex:")
                     and "@" not in k[2] and start <= int(k[2][6:], 16) < end]
            assert parts, f"nothing waited for {name}"
            within(sum(parts), value, name)
        elif name in ("sleep", "read"):
            within(counted[pid, "waited", "sleep" if name == "sleep" else "read:40"], value, name)
        else:
            within(sum(v for k, v in counted.items() if k[0] == pid and k[1] == "waited" and k[2].startswith("child:")
                       and "@" not in k[2]), value, name)
    for subject, name in (("objects_lock_a", "mutex_a"), ("objects_lock_b", "mutex_b"), ("objects_condition", "condition")):
        pid = next((k[0] for k, v in told.items() if k[1] == "for" and k[2] == name and v), None)
        if pid is None:  # where threads have no CPU at the same time, nobody has to wait
            continue
        within(sum(v for k, v in counted.items() if k[0] == pid and k[1] == "waited" and k[2].endswith("@" + subject)),
               told[pid, "for", name], subject)


def check_made(told, counted):
    """The parent's thread that made it is dead; the child has it from its parent."""
    address = next(v for k, v in told.items() if k[1:] == ("at", "made") and v)
    same({k[0] for k in counted if k[1:] == ("made", f"futex:{address:x}@objects_make")}, {k[0] for k in told})
    same({k[2].partition("@")[2] for k in counted if k[1] == "made"} - {"victim_objects"}, {"objects_make"})


def start(*arguments):
    """Runs until it is ended; or until we are, should a test fail."""
    process = subprocess.Popen((victim("gcc-O2"), *arguments), env=probing.environment(), stdout=subprocess.PIPE)
    atexit.register(process.kill)
    time.sleep(0.2)
    return process


def end(process, number, expected):
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    same((out, process.returncode), native(victim("gcc-O2"), *expected))


def attached(process, *options):
    _, err, status, lines = harness("watch", "-p", process.pid, *options)
    same((err, status), ("", 0))
    told = {k[1:]: v for k, v in sums(lines).items()}
    plain = {line.split()[0]: int(line.split()[1]) for line in lines if len(line.split()) == 2}
    return told, plain


def check_wait_in_progress():
    """It waits for a signal when the probes come; from then on that counts, also for what it is in."""
    process = start("-w", "objects")
    told, plain = attached(process, "--waits", "--no-loops", "--activations", "--metrics", "0x1", "--names", "main",
                           "--seconds", "0.4")
    assert 3e8 <= told["waiting", "other"] < 1e10, told
    assert 3e8 <= told["waiting", "other@main"] <= told["waiting", "other"], told
    assert told["waited", "other"] == told["waiting", "other"] and ("waits", "other") not in told, told
    assert plain["walked"] == 1 and plain["moved"] == plain["placed"], plain
    end(process, signal.SIGUSR1, ["objects"])
