"""Sonde's own view of a binary, from `sonde structure --json`."""

import json
import os
import subprocess

LIMIT = 120  # seconds


def executable():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.environ.get("SONDE") or os.path.join(here, "..", "..", "build", "sonde")


def run_json(*arguments):
    done = subprocess.run([executable(), "structure", "--no-cache", "--json", *arguments],
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"sonde structure {' '.join(arguments)}: status {done.returncode}: "
                           f"{done.stderr.strip()[:300]}")
    return json.loads(done.stdout)


def _number(v):
    return int(v, 0) if isinstance(v, str) else v


def holds(node, va):
    """Whether a function or scope has the address."""
    return any(_number(a) <= va < _number(b) for a, b in node["ranges"])


class Structure:
    def __init__(self, path):
        self.functions = run_json(path)["functions"]
        self.loops = run_json("--loops", path)["loops"]
        self.headers = {}
        for loop in self.loops:
            self.headers.setdefault(_number(loop["header"]), []).append(loop)

    def path(self, va):
        """Scopes around an address, from the function to the innermost; lines left out."""
        for p in self.functions:
            if holds(p, va):
                return [p] + _descend(p, va)
        return []

    def scopes(self):
        for p in self.functions:
            stack = [p]
            while stack:
                node = stack.pop()
                yield node
                stack += node["scopes"]


def _descend(node, va):
    best = []
    for child in node["scopes"]:
        if holds(child, va):
            here = [] if child["kind"] == "line" else [child]
            path = here + _descend(child, va)
            best = max(best, path, key=len)
    return best
