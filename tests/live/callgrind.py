"""How often callgrind says each instruction of a program was executed: the oracle for instructions and calls.

Only addresses are used. On aarch64, callgrind loses track of calls through the PLT and credits instructions to wrong
functions and objects; but address and total are right (unless it is told to skip PLTs: then their instructions count as
the call's). Addresses are those of the file, so they tell instructions apart
where the modules of the process do not overlap: far.py.

A string instruction of x86-64 with a repeat prefix is a loop to valgrind: it is executed once more for each repetition, by a
jump to itself. CPUs, and so Sonde, execute it once. Hence jumps are collected, and those to themselves taken off; no
compiler makes others.

    callgrind.py FILE     prints address and executions of each instruction
"""

import collections
import os
import subprocess
import sys
import tempfile


class Output:
    """One file of `callgrind --dump-instr=yes --dump-line=no`."""

    def __init__(self, path):
        self.counts = collections.Counter()  # by address
        self.address = 0
        total = None
        inclusive = False
        repeated = collections.Counter()  # by address
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if line[0].isdigit() or line[0] in "+-*":
                    self._cost(line.split(), inclusive)
                    inclusive = False
                elif line.startswith(("jump=", "jcnd=")):
                    times, where = line[5:].split()
                    target = self._position(where)
                    self.address = self._position(next(f).split()[0])
                    if target == self.address:
                        repeated[target] += int(times.split("/")[0])
                elif line.startswith("calls="):
                    inclusive = True  # the next line is what the callee took
                elif line.startswith("positions:"):
                    assert line.split()[1:] == ["instr"], f"{line}: not by address"
                elif line.startswith("summary:"):
                    total = int(line.split()[1])
        assert sum(self.counts.values()) == total, f"{path} was misread: {sum(self.counts.values())} of {total}"
        self.counts -= repeated

    def _position(self, where):
        """It may be given relative to the one before."""
        if where == "*":
            return self.address
        return int(where, 0) + (self.address if where[0] in "+-" else 0)

    def _cost(self, words, inclusive):
        self.address = self._position(words[0])
        if not inclusive:
            self.counts[self.address] += int(words[1])


def run(command, limit=300, **more):
    """Runs a command under callgrind: its output, its status and executions by address, of its first process only."""
    with tempfile.TemporaryDirectory(prefix="sonde-callgrind-") as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--skip-plt=no",
             "--collect-jumps=yes", "-q",
             f"--callgrind-out-file={folder}/out", *command],
            stdin=subprocess.DEVNULL, timeout=limit, capture_output=True, check=False, **more)
        if not os.path.exists(f"{folder}/out"):
            raise AssertionError(f"callgrind made no file: {done.stderr.decode()[-500:]}")
        return done.stdout, done.returncode, Output(f"{folder}/out").counts


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for address, n in sorted(Output(sys.argv[1]).counts.items()):
        print(f"{address:#x} {n}")


if __name__ == "__main__":
    main()
