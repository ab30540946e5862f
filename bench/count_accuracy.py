"""Time that was sampled against instructions that were counted, by loop.

The accuracy of equation (1) of the paper on loop-centric profiling (Moseley and others, section 5.2): the sum over all loops
of the counted profile of (1 - |inst - smp|) * weight, for what loops execute themselves and for their totals, with all they
call. inst is the loop's share of all instructions of the program, by `sonde count --images all`; smp its share of all of the
program's own samples (not the kernel's), by `sonde record -e cpu-clock:u`; a loop that was not sampled has the share 0. The
weight of a loop is its inst divided by the sum of inst of all loops, so that the weights sum to 1 for totals, too, where nested
loops have the same instructions. Samples are of time, so a loop that takes more cycles for an instruction than the rest has a
larger share of them; the loops where that matters most are named, with inst and smp in per cent."""

import count_programs
import count_slowdown
import measure
import programs
import sampling
import workloads

GOAL = 95.0  # per cent
HZ = "4999"


class Loop:
    """A loop's shares, of itself and in total, in one profile."""

    def __init__(self, row, whole):
        self.name = f"{row['procedure']}, {row['address']}"
        self.shares = {"self": row["self"] / whole, "total": row["total"] / whole}


def _loops(profile, sonde):
    report = profile.report(sonde, "--view", "loops")
    return {(r["image"], r["address"], r["irreducible"], tuple(r["inlined_into"])): Loop(r, report["whole"])
            for r in report["rows"]}


class Accuracy:
    """By kind, self or total: the accuracy, and the loop that takes most of it away."""

    def __init__(self, counted, sampled):
        self.accuracy, self.furthest = {}, {}
        for kind in ("self", "total"):
            pairs = [(l, l.shares[kind], sampled[key].shares[kind] if key in sampled else 0.0) for key, l in counted.items()]
            whole = sum(inst for _, inst, _ in pairs)
            self.accuracy[kind] = 100 * sum((1 - abs(inst - smp)) * inst for _, inst, smp in pairs) / whole
            self.furthest[kind] = max(pairs, key=lambda x: abs(x[1] - x[2]) * x[1])


def measured(sonde, p, program, size):
    command = program.command(size)
    with sampling.Recording(p) as counted, sampling.Recording(p) as sampled:
        count_slowdown.run([sonde, "count", "--images", "all", "-o", counted.profile, "--", *command], counted.folder + "/output")
        count_slowdown.run([sonde, "record", "-e", "cpu-clock:u", "-F", HZ, "-o", sampled.profile, "--", *command],
                           sampled.folder + "/output")
        mine, theirs = _loops(counted, sonde), _loops(sampled, sonde)
        return Accuracy(mine, theirs), sampled.samples(), len(mine)


def _furthest(a, kind):
    loop, inst, smp = a.furthest[kind]
    return f"{loop.name}: {100 * inst:.1f}, {100 * smp:.1f}"


def report(sonde, p, quick, log):
    rows, done = [], []
    for program in workloads.available(p, log, count_programs.ALL[:3] if quick else count_programs.ALL):
        log(f"accuracy: {program.name}")
        try:
            a, samples, loops = measured(sonde, p, program, count_slowdown.SMALL if quick else 1)
        except (RuntimeError, programs.Missing) as e:
            log(f"  failed: {e}")
            rows.append((program.name, "failed", "", "", "", "", ""))
            continue
        done.append(a)
        rows.append((program.name, str(samples), str(loops), f"{a.accuracy['self']:.1f} %", f"{a.accuracy['total']:.1f} %",
                     _furthest(a, "self"), _furthest(a, "total")))
    means = [sum(a.accuracy[kind] for a in done) / len(done) for kind in ("self", "total")]
    rows.append((f"**mean** (goal: at least {GOAL:.0f} %)", "", "", *(f"**{m:.1f} %**" for m in means), "", ""))
    return measure.table(("program", "samples", "loops counted", "self", "total", "furthest off, self", "furthest off, total"), rows)
