"""How often callgrind says each instruction of a program was executed: the oracle for instructions and calls.

Only addresses are used. On aarch64, callgrind loses track of calls through the PLT and credits instructions to wrong
procedures and objects; but address and total are right (unless it is told to skip PLTs: then their instructions count as
the call's). Addresses are those of the file, so they tell instructions apart
where the images of the process do not overlap: far.py.

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
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if line[0].isdigit() or line[0] in "+-*":
                    self._cost(line.split(), inclusive)
                    inclusive = False
                elif line.startswith("calls="):
                    inclusive = True  # the next line is what the callee took
                elif line.startswith("positions:"):
                    assert line.split()[1:] == ["instr"], f"{line}: not by address"
                elif line.startswith("summary:"):
                    total = int(line.split()[1])
        assert sum(self.counts.values()) == total, f"{path} was misread: {sum(self.counts.values())} of {total}"

    def _cost(self, words, inclusive):
        """The position may be given relative to the one before."""
        where = words[0]
        if where[0] in "+-":
            self.address += int(where[0] + str(int(where[1:], 0)))
        elif where != "*":
            self.address = int(where, 0)
        if not inclusive:
            self.counts[self.address] += int(words[1])


def run(command, limit=300, **more):
    """Runs a command under callgrind: its output, its status and executions by address, of its first process only."""
    with tempfile.TemporaryDirectory(prefix="sonde-callgrind-") as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--skip-plt=no", "-q",
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
