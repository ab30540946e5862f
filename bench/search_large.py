"""Whether the size of a program slows its search.

Two generated programs compute the same in the same 500 functions: a tree of calls, three wide, with hot loops in
three leaves. The larger one has 49,500 more functions, which hang below cold branches of that tree and are called now
and then. `sonde` is the CPU time of Sonde itself before, during and after the run; "before and after" is the
wall-clock time that it takes then. "Functions named" are those that the search knows: it looks into no others. What
grows with the program all the same is reading its symbol and unwind tables. The programs take turns; the table shows
medians."""

import os
import statistics
import subprocess

import measure
import programs
import searching

COMMON, LARGE = 500, 50000
PER_FILE = 2500
HOT = {310: 27000, 421: 13000, 468: 20000}  # leaves of the common tree: rounds of their loops
SECONDS = 4
NOISE = 1.25  # times: what counts as the same

HEAD = """#include <stdint.h>
#define OWN __attribute__((noinline, noclone))
extern unsigned now_and_then;
"""
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <stdint.h>
unsigned now_and_then;
uint64_t f0(uint64_t);
static double clock_of(clockid_t c)
{
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char **argv)
{
	double end = clock_of(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 5);
	uint64_t x = 1;
	for (unsigned i = 0; clock_of(CLOCK_MONOTONIC) < end; i++) {
		now_and_then = i % 256 == 0;
		x = f0(x);
	}
	printf("%.6f %d\\n", clock_of(CLOCK_PROCESS_CPUTIME_ID), (int)(x & 1));
	return 0;
}
"""


def _children(i, count):
    """Of the common tree its own; of others those that hang below, by the same rule beyond its end."""
    return [c for c in range(3 * i + 1, 3 * i + 4) if c < count]


def _body(i, count):
    common = [c for c in _children(i, COMMON)]
    cold = [c for c in _children(i, count) if c >= COMMON]
    lines = [f"\tx += f{c}(x);" for c in common] if i < COMMON else [f"\tx ^= f{c}(x + {c % 97});" for c in cold]
    if i in HOT:
        lines.append(f"\tfor (int i = 0; i < {HOT[i]}; i++) {{\n\t\tx ^= x << 13;\n\t\tx ^= x >> 7;\n\t\tx ^= x << 17;\n\t}}")
    elif i < COMMON and cold:
        lines.append("\tif (now_and_then) {\n" + "\n".join(f"\t\tx ^= f{c}(x);" for c in cold) + "\n\t}")
    lines.append(f"\tif (x % {i % 13 + 3} == 0)\n\t\tx += {i};")
    return f"OWN uint64_t f{i}(uint64_t x)\n{{\n" + "\n".join(lines) + f"\n\treturn x * {2 * (i % 50) + 3};\n}}\n"


def _sources(folder, count):
    os.makedirs(folder, exist_ok=True)
    files = [os.path.join(folder, "main.c")]
    with open(files[0], "w", encoding="ascii") as f:
        f.write(MAIN)
    for first in range(0, count, PER_FILE):
        mine = range(first, min(count, first + PER_FILE))
        files.append(os.path.join(folder, f"part-{first}.c"))
        with open(files[-1], "w", encoding="ascii") as f:
            f.write(HEAD)
            f.writelines(f"uint64_t f{c}(uint64_t);\n" for c in sorted({c for i in mine for c in _children(i, count)}))
            f.writelines(_body(i, count) for i in mine)
    return files


def program(p, count):
    return p.build(f"functions-{count}", programs.HOST, lambda: _sources(p.path("sources", f"functions-{count}"), count),
                   level="-O1")


class Result:
    """One search: the program prints what it took of the CPU itself."""

    def __init__(self, sonde, p, path):
        s = searching.search(sonde, p, [path, str(SECONDS)], output=subprocess.PIPE)
        own = float(s.usage.output.split()[0])
        leaves = [t for b, t in s.bottlenecks.items() if b in s.leaves]
        self.first, self.last = min(leaves, default=None), max(leaves, default=None)
        self.found, self.experiments, self.functions = len(leaves), len(s.decided), s.functions
        self.cpu, self.around, self.peak = s.usage.cpu - own, s.usage.wall - s.seconds, s.usage.peak


def _middle(results, name):
    values = [getattr(r, name) for r in results if getattr(r, name) is not None]
    return statistics.median(values) if values else None


def report(sonde, p, quick, log):
    paths = {count: program(p, count) for count in (COMMON, LARGE)}
    results = {count: [] for count in paths}
    for _ in range(2 if quick else 3):
        for count, path in paths.items():
            results[count].append(Result(sonde, p, path))
            r = results[count][-1]
            log(f"large: {count}: first {searching.seconds(r.first)}, sonde {r.cpu:.2f} s, around {r.around:.2f} s")
    rows = []
    for name, what, form in (("first", "first leaf found at", "{:.2f} s"), ("last", "last leaf found at", "{:.2f} s"),
                             ("found", "leaves found", "{:.0f}"), ("experiments", "experiments decided", "{:.0f}"),
                             ("cpu", "sonde", "{:.2f} s"), ("around", "before and behind", "{:.2f} s"),
                             ("functions", "functions named", "{:.0f}")):
        small, large = (_middle(results[count], name) for count in paths)
        same = small and large
        goal = searching.reached(large <= NOISE * small) if same and name in ("first", "cpu") else ""
        rows.append((what, *("none" if v is None else form.format(v) for v in (small, large)),
                     f"{large / small:.2f}" if same else "", goal))
    return measure.table(("", f"{COMMON} functions", f"{LARGE} functions", "ratio", f"goal: the same, at most {NOISE}"), rows)
