"""What the tests of the executable share: running it, and reporting cases."""

import os
import platform
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SONDE = os.path.abspath(os.environ.get("SONDE", f"{ROOT}/build/sonde"))
LIMIT = 300  # seconds for one run, on a busy machine: what takes longer hangs
MACHINE = platform.machine()
LONG = bool(os.environ.get("TESTS_LONG"))  # everything in every way: tests/run --long

OURS = 125
NOBODY = 65534


class Skip(Exception):
    pass


def run(*args, stdin=None, env=None, sonde=SONDE, **more):
    """Runs sonde; stdout and stderr come back as text."""
    done = subprocess.run([sonde, *args], input=stdin, capture_output=True, timeout=LIMIT, check=False,
                          env={**os.environ, **(env or {})}, **more)
    done.stdout = done.stdout.decode(errors="replace")
    done.stderr = done.stderr.decode(errors="replace")
    return done


def as_nobody():
    """Sonde where every user may run it (the project may be in a folder of root's own), and how to run it as nobody, in a
    folder of nobody's own."""
    if os.getuid() != 0:
        raise Skip("only root can be somebody else")
    folder = tempfile.mkdtemp(prefix="nobody-")
    sonde = shutil.copy(SONDE, folder)
    os.chown(folder, NOBODY, NOBODY)
    return sonde, {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": folder, "env": {"HOME": folder, "TMPDIR": folder}}


def run_on_terminal(*args, env=None):
    """Runs sonde with stdout on a terminal; returns what it showed there, its stderr and its status."""
    try:
        master, slave = pty.openpty()
    except OSError as why:
        raise Skip(f"no terminal to be had: {why}") from None
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PAGER", "SONDE_PAGER")}
    clean.update({"TERM": "xterm", **(env or {})})
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([SONDE, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=errors, env=clean)
        os.close(slave)
        shown = b""
        while select.select([master], [], [], LIMIT)[0]:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the last writer has closed the terminal
                break
            if not piece:
                break
            shown += piece
        status = process.wait(LIMIT)
        os.close(master)
        errors.seek(0)
        return shown.decode(errors="replace").replace("\r\n", "\n"), errors.read().decode(), status


def same(actual, expected):
    assert actual == expected, f"expected {expected!r}, got {actual!r}"


def has(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in {text!r:.2000}"


def fails(done, *parts):
    """One sentence on stderr, nothing on stdout, our own status, and no sanitizer's report."""
    has(done.stderr, *parts)
    same(done.returncode, OURS)
    assert done.stderr.startswith("sonde: ") and done.stderr.count("\n") == 1, done.stderr[:2000]
    same(done.stdout, "")


def compile_c(source, out, *flags, compiler="cc"):
    subprocess.run([compiler, "-O2", "-g", *flags, "-o", out, source], check=True)
    return out


def only_long(function):
    """A test that runs with tests/run --long only: others cover most of it."""
    function.only_long = True
    return function


def only_on(machine):
    """A test of what no other architecture has."""
    def mark(function):
        function.only_on = machine
        return function
    return mark


def is_asked_for(function):
    return (LONG or not getattr(function, "only_long", False)) and getattr(function, "only_on", MACHINE) == MACHINE


def main(names):
    """Runs every function test_* of the caller's globals."""
    failed = False
    for name, function in list(names.items()):
        if not name.startswith("test_") or not is_asked_for(function):
            continue
        title = name.removeprefix("test_").replace("_", " ")
        begin = time.monotonic()
        try:
            function()
            print(f"ok {title}")
        except Skip as why:
            print(f"ok {title} # SKIP {why}")
        except Exception as why:  # a failing case must not hide the others
            failed = True
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {title} - {str(why).splitlines()[0][:150] if str(why) else type(why).__name__}")
        print(f"# {time.monotonic() - begin:.1f} s", flush=True)
    sys.exit(1 if failed else 0)
