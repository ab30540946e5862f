"""Entries and iterations of a C program's loops by the source, as gcov counts lines and branches.

Compiled by gcc -O0, the condition of a `for` or `while` is a branch back into the body that falls through when it fails;
so is that of a `do`, to its beginning. What is on one line cannot be told apart, hence a loop is taken only where the
line of its head has no other loop. If the condition is all that branches there, its two counts tell iterations and
exits; otherwise the first line of the body tells iterations."""

import collections
import json
import os
import subprocess

import scan

COUNTING = "count"  # folder

Line = collections.namedtuple("Line", "count branches function")  # of branches: (taken, falls through)
# What the source says of a loop: None where it cannot be told.
Told = collections.namedtuple("Told", "loop function entries iterations")


def compiled(gcc, sources, flags, libraries, folder):
    """Builds a program twice, the same but for counters: without and with, in folders whose names are as long; and what
    the preprocessor made of each source."""
    programs, texts = [], []
    for source in sources:
        done = subprocess.run([gcc, "-E", *flags, source], capture_output=True, check=True)
        texts.append(done.stdout.decode(errors="replace"))
    for name, more in (("plain", []), (COUNTING, ["--coverage", "-fprofile-abs-path"])):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        programs.append(os.path.join(folder, name, "program"))
        done = subprocess.run([gcc, "-O0", "-g", "-w", *more, *flags, *sources, "-o", programs[-1], *libraries],
                              cwd=os.path.join(folder, name), capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(f"{sources[0]}: {done.stderr.decode()[-500:]}")
    return (*programs, texts)


def lines(folder):
    """(path, line) -> Line, of all that was run there."""
    result = {}
    folder = os.path.join(folder, COUNTING)
    notes = [f for f in sorted(os.listdir(folder)) if f.endswith(".gcda")]
    for note in notes:
        done = subprocess.run(["gcov", "--json-format", "--stdout", "-b", "-c", note], cwd=folder, capture_output=True,
                              check=True)
        for text in done.stdout.decode(errors="replace").splitlines():
            for file in json.loads(text)["files"] if text.startswith("{") else ():
                for row in file["lines"]:
                    branches = [(b["count"], b["fallthrough"]) for b in row["branches"] if not b["throw"]]
                    key = os.path.realpath(file["file"]), row["line_number"]
                    # A function in a header has lines in each unit.
                    result[key] = None if key in result else Line(row["count"], branches, row.get("function_name"))
    return result


def told(texts, counted):
    """What gcov tells of every loop that can be told apart: (path, line) -> Told."""
    found, result = collections.defaultdict(list), {}
    shared = set()
    for text in texts:
        unit = scan.Scanner(text)
        jumps = "setjmp" in text
        for loop in unit.loops:
            loop.inlined = loop.calls & unit.inlined
            if jumps:
                loop.jumps.add("longjmp")
            if loop.begins_with_loop and (loop.endless or loop.kind == "do"):
                shared |= {loop, unit.loops[unit.loops.index(loop) + 1]}  # their headers are one
            for line in {loop.line, *loop.lines, loop.test_line}:
                found[os.path.realpath(loop.file), line].append(loop)
    for (path, line), loops in found.items():
        loop = loops[0]
        if line == loop.line and loop not in shared and len(loops) == 1 and len(loop.lines) == 1 and all(
                len(found[path, n]) == 1 for n in (loop.test_line, *loop.lines)):
            result[path, line] = judge(loop, path, counted)
    return result


def judge(loop, path, counted):
    entries = iterations = None
    head = counted.get((path, loop.test_line))
    if head and len(head.branches) == 2 and head.branches[0][1] != head.branches[1][1]:
        again = next(n for n, falls in head.branches if not falls)
        done = next(n for n, falls in head.branches if falls)
        if loop.kind != "do":
            iterations = again
        elif not loop.jumps:
            iterations = again + done
        if not loop.jumps:
            entries = done
    body = next((counted[path, n] for n in loop.first if counted.get((path, n)) and n not in loop.lines), None)
    if body and not body.branches:
        if iterations is None:
            iterations = body.count
        elif iterations != body.count:
            entries = iterations = None  # something else is on these lines
    if loop.labels or (loop.jumps_last and not loop.endless):
        # Entered in the middle; or `while (a) { ...; if (b) break; }`, which is `do { if (!a) break; ... } while (!b);`.
        entries = iterations = None
    function = next((counted[path, n].function for n in (loop.test_line, *loop.first) if counted.get((path, n))), None)
    return Told(loop, function, entries, iterations)
