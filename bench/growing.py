"""How Sonde's cost grows.

Programs do the same with ever more of one thing: processes, threads, libraries, functions, call paths, calls below one
another. They run alone, under `sonde record`, alone and under `sonde diagnose`. The first table shows Sonde's own CPU time, its
peak memory, and how much longer the command took than the runs alone before and after. The second says whether that is
linear: what one thing costs among the most of them, against what it costs among a tenth as many, both beyond what the fewest
cost. Differences below 50 ms are noise and count as 50 ms. A run has no more call paths than samples, here 4,999 a second.

The third table is about the length of a run: CPU time of Sonde for each second of it, memory, and size of the profile."""

import os

import busy_programs
import measure
import programs
import sampling
import search_large
import searching
import stopwatch
import workloads

LINEAR = 1.5          # goal: times the cost of one among a tenth as many
NOISE = 0.05          # seconds
LIMIT, QUICK_LIMIT = 120, 15   # seconds more than alone
LENGTHS, QUICK_LENGTHS = (10, 60), (3, 12)   # seconds
VICTIMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "victims", "growing")
LIBRARY = """#include <stdint.h>
uint64_t work(uint64_t x)
{
	for (int i = 0; i < 5000; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9 + (uint64_t)i;
	return x;
}
"""
BOTH, RECORD = ("record", "diagnose"), ("record",)


class Kind:
    """command: a function of how many. sizes, quick_sizes: three or more, the last ten times the one before it. is_exact: it
    prints the same each time."""

    def __init__(self, name, command, sizes, quick_sizes, observers=BOTH, options=(), is_exact=True):
        self.name, self.command, self.sizes, self.quick_sizes = name, command, sizes, quick_sizes
        self.observers, self.options, self.is_exact = observers, options, is_exact


def _victim(p, name):
    return p.build(f"growing-{name}", programs.HOST, [os.path.join(VICTIMS, f"{name}.c")], ["-pthread"])


def _tens(first, last):
    out = [first]
    while out[-1] < last:
        out.append(out[-1] * 10)
    return out


def short_processes(p):
    program = _victim(p, "processes")
    return Kind("short processes", lambda n: [program, str(n)], _tens(10, 10000), _tens(30, 3000))


def living_processes(p):
    program = _victim(p, "living")
    return Kind("living processes", lambda n: [program, str(n)], _tens(3, 300), _tens(1, 100))


def short_threads(p):
    program = busy_programs.births(p)
    return Kind("short threads", program.command, _tens(10, 100000), _tens(100, 10000))


def living_threads(p):
    program = busy_programs.idle(p).command(400000)
    return Kind("living threads", lambda n: [*program, str(n)], _tens(30, 3000), _tens(10, 1000))


def _small_libraries(p, count):
    """What their paths begin with."""
    folder = p.path("built", "small-libraries")
    os.makedirs(folder, exist_ok=True)
    source, made = (os.path.join(folder, name) for name in ("work.c", "work.o"))
    with open(source, "w", encoding="ascii") as f:
        f.write(LIBRARY)
    programs.run("gcc", "-O2", "-fPIC", "-c", source, "-o", made)
    for i in range(count):
        out = os.path.join(folder, f"lib{i}.so")
        if not os.path.exists(out):
            programs.run("ld", "-shared", "--build-id", "--eh-frame-hdr", f"--defsym=work{i}=work", made, "-o", out)
    return os.path.join(folder, "lib")


def libraries(p):
    program = _victim(p, "libraries")
    return Kind("libraries, dlopen", lambda n: [program, str(n), _small_libraries(p, n)], _tens(10, 1000), _tens(3, 300))


def functions(p):
    return Kind("functions", lambda n: [search_large.program(p, n), str(search_large.SECONDS)], _tens(500, 50000), [],
                is_exact=False)


def paths(p):
    program = _victim(p, "paths")
    return Kind("call paths", lambda n: [program, str(n)], _tens(1000, 10000000), _tens(10000, 1000000), RECORD, ["-F", "4999"])


def depth(p):
    program = _victim(p, "depth")
    return Kind("calls below one another", lambda n: [program, str(n)], _tens(100, 1000000), _tens(1000, 100000), RECORD)


ALL = (short_processes, living_processes, short_threads, living_threads, libraries, functions, paths, depth)


class Cost:
    """What Sonde took of the CPU and of memory, how much longer the command took, and how large the profile is; alone: the
    command without Sonde. None: it did not finish."""

    def __init__(self, sonde, p, name, options, command, limit, is_exact=True):
        before = stopwatch.run(command, limit)
        if not before.has_finished() or before.status:
            raise programs.Missing(f"{' '.join(command[:2])} does not run: status {before.status}: {before.error[-200:]}")
        with sampling.Recording(p) as r:
            run = stopwatch.run([sonde, name, *options, "-o", r.profile, "--", *command], before.wall + limit)
            self.file = os.path.getsize(r.profile) if os.path.exists(r.profile) else None
        self.is_harmed = run.has_finished() and (run.status != before.status or is_exact and run.output != before.output)
        self.alone = (before.wall + stopwatch.run(command, limit).wall) / 2
        self.cpu = self.peak = self.slower = None
        if run.has_finished():
            self.cpu, self.peak, self.slower = run.cpu, run.peak, run.wall - self.alone

    def cells(self):
        if self.cpu is None:
            return "not finished", "", ""
        return f"{self.cpu:.2f} s", f"{self.peak / 1e6:.0f} MB", f"{self.slower:+.2f} s"


def _costs(sonde, p, kind, quick, log):
    """By observer and size; what did not finish is not tried with more."""
    out = {}
    for name in kind.observers:
        for size in kind.quick_sizes if quick else kind.sizes:
            cost = Cost(sonde, p, name, kind.options, kind.command(size), QUICK_LIMIT if quick else LIMIT, kind.is_exact)
            out[name, size] = cost
            log(f"  {name}, {size:,}: {' | '.join(cost.cells())}, {cost.alone:.2f} s alone")
            if cost.is_harmed:
                log("  HARM: it printed something else, or ended with another status")
            if cost.cpu is None:
                break
    return out


def _growth(costs, name, sizes, value):
    """How many times as much as among a tenth as many one costs; None: it did not finish."""
    fewest, tenth, most = (costs.get((name, size)) for size in (sizes[0], sizes[-2], sizes[-1]))
    if not most or most.cpu is None:
        return None
    beyond_most, beyond_tenth = (max(value(c) - value(fewest), NOISE) for c in (most, tenth))
    return beyond_most / sizes[-1] / (beyond_tenth / sizes[-2])


def _linear_row(kind, name, sizes, costs):
    cpu = _growth(costs, name, sizes, lambda c: c.cpu)
    slower = _growth(costs, name, sizes, lambda c: c.slower)
    good = cpu is not None and cpu <= LINEAR and slower <= LINEAR
    cells = ("not finished", "") if cpu is None else (f"{cpu:.2f}", f"{slower:.2f}")
    return kind.name, name, f"{sizes[-2]:,} to {sizes[-1]:,}", *cells, searching.reached(good)


def _size_rows(kind, sizes, costs):
    for size in sizes:
        of = {name: costs.get((name, size)) for name in BOTH}
        if any(of.values()):
            alone = next(c.alone for c in of.values() if c)
            cells = [cell for c in of.values() for cell in (c.cells() if c else ("", "", ""))]
            yield kind.name, f"{size:,}", f"{alone:.2f} s", *cells


def _length_table(sonde, p, quick, log):
    program, rows = busy_programs.python3(p), []
    lengths, limit = (QUICK_LENGTHS, QUICK_LIMIT) if quick else (LENGTHS, LIMIT)
    for name in BOTH:
        costs = {}
        for seconds in lengths:
            log(f"growing: {name}, {seconds} s")
            costs[seconds] = Cost(sonde, p, name, [], program.command(program.amount_for(seconds)), seconds + limit)
        if any(c.cpu is None for c in costs.values()):
            rows.append((name, "not finished", *[""] * (3 * len(lengths) - 1), searching.reached(False)))
            continue
        cells, short, long = [], *costs.values()
        for c in (short, long):
            cells += [f"{1000 * c.cpu / c.alone:.0f} ms", f"{c.peak / 1e6:.0f} MB", f"{c.file / 1e3:.0f} kB"]
        good = (long.cpu / long.alone <= LINEAR * short.cpu / short.alone and long.peak <= LINEAR * short.peak
                and long.file <= LINEAR * short.file)
        rows.append((f"python3, {name}", *cells, searching.reached(good)))
        log(f"  {' | '.join(rows[-1])}")
    heads = [head for s in lengths for head in (f"{s} s: CPU a second", "memory", "profile")]
    return measure.table(("", *heads, f"goal: each at most {LINEAR} times"), rows)


def report(sonde, p, quick, log):
    size_rows, linear_rows = [], []
    for kind in workloads.available(p, log, ALL):
        sizes = kind.quick_sizes if quick else kind.sizes
        if not sizes:
            continue
        log(f"growing: {kind.name}")
        try:
            costs = _costs(sonde, p, kind, quick, log)
        except programs.Missing as e:
            log(f"  not measured: {e}")
            continue
        size_rows += _size_rows(kind, sizes, costs)
        linear_rows += [_linear_row(kind, name, sizes, costs) for name in kind.observers]
    return "\n\n".join([
        measure.table(("what", "how many", "alone", "`record`: CPU", "memory", "slower by", "`diagnose`: CPU", "memory",
                       "slower by"), size_rows),
        measure.table(("what", "command", "from, to", "CPU for one", "slow-down for one", f"goal: at most {LINEAR}"),
                      linear_rows),
        _length_table(sonde, p, quick, log)])
