"""A made-up system: a folder of small programs that stand for those that tools/setup and tools/configure call. There is
nothing else in its PATH but what the scripts are written in."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from case import ROOT  # noqa: E402

PLAIN = "awk basename cat cut dirname env find grep head mkdir mktemp readlink rm sed sh sleep sort stat tail tr uname"


class System:
    def __init__(self):
        self.kept = tempfile.TemporaryDirectory()
        self.folder = Path(self.kept.name)
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for name in PLAIN.split():
            (self.programs / name).symlink_to(shutil.which(name))
        self.log = self.folder / "log"
        self.log.touch()

    def add(self, name, text=""):
        """A program that writes down how it was called; the rest is a shell's."""
        path = self.programs / name
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >>"$LOG"\n{text}\n')
        path.chmod(0o755)

    def remove(self, name):
        (self.programs / name).unlink()

    def run(self, *command, **more):
        """What the tool says, in lines; its status; and the calls of the programs that were added."""
        self.log.write_text("")
        env = {"PATH": str(self.programs), "LOG": str(self.log), "TMPDIR": str(self.folder), **more}
        done = subprocess.run(command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)
        return done.stdout.decode().splitlines(), done.returncode, self.log.read_text().splitlines()


def tool(name):
    return os.path.join(ROOT, "tools", name)
