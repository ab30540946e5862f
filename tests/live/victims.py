"""What the tests of victims that are built in many ways share (counting.py, probing.py): running tools, compiling once,
comparing runs, and the commands that list and keep the builds."""

import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from case import Skip  # noqa: E402


def run_tool(*command, **more):
    """What it prints; it must succeed."""
    done = subprocess.run(command, capture_output=True, check=False, **more)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.stderr.decode()[-1000:]}")
    return done.stdout.decode()


def object_of(folder, source, *words):
    """The object. Builds that differ in how they are linked share it, and so do all programs of one run of the tests."""
    folder = Path(os.environ.get("TESTS_OBJECTS", folder / "objects"))
    folder.mkdir(exist_ok=True)
    command = [*words, "-c", str(source)]
    out = folder / f"{hashlib.sha256(repr(command).encode()).hexdigest()[:20]}.o"
    if not out.exists():
        part = Path(tempfile.mkdtemp(dir=folder)) / "part.o"
        run_tool(*command, "-o", part)
        part.rename(out)
    return out


def shell_status(returncode):
    """As a shell tells how a program ended."""
    return returncode if returncode >= 0 else 128 - returncode


def unchanged(result, expected):
    """The program (output, complaints, status, ...) printed the same and ended the same as without us (output, status)."""
    out, err, status, *_ = result
    if (out, status) != expected:
        note = "" if len(out) > 2000 else f": {out.decode(errors='replace')!r}"
        raise AssertionError(f"status {status} instead of {expected[1]}, output "
                             f"{'same' if out == expected[0] else 'differs' + note}; {err[-1500:]}")


def keep(name, victim, folder):
    try:
        shutil.copy(victim(name), folder)
    except Skip as why:
        print(f"{name}: {why}", file=sys.stderr)


def serve(words, builds, victim, library):
    """The commands `list` and `build FOLDER [PATTERN]`; false if it is another."""
    if words[:1] == ["list"]:
        print("\n".join(builds))
    elif words[:1] == ["build"] and len(words) > 1:
        Path(words[1]).mkdir(parents=True, exist_ok=True)
        shutil.copy(library(), words[1])
        for name in builds:
            if fnmatch.fnmatch(name, words[2] if len(words) > 2 else "*"):
                keep(name, victim, words[1])
    else:
        return False
    return True
