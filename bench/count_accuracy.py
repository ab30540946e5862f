"""Time that was sampled against instructions that were counted, by loop.

This is the accuracy of equation (1) of the paper on loop-centric profiling (Moseley and others, section 5.2): the sum
over all loops of the counted profile of (1 - |inst - smp|) * weight, once for self and once for total.

- inst is the loop's share of all instructions of the program, by `sonde count --modules all`.
- smp is its share of all of the program's own samples (not the kernel's), by `sonde record -e cpu-clock:u`. A loop
  that was not sampled has the share 0.
- The weight of a loop is its inst divided by the sum of inst of all loops. So the weights sum to 1 for totals, too,
  where nested loops share instructions.

Samples are of time, so a loop that takes more cycles per instruction than the rest has a larger share of them. The
compressors' search for matches waits for memory (half of xz's time is two loads); the loop of an interpreter or a
butterfly does not. The table names the loop that reduces the accuracy most, with inst and smp in percent. A second
recording, compared with the first by the same formula, shows how much of the difference is noise."""

import os

import count_programs
import count_slowdown
import measure
import programs
import sampling
import workloads

GOAL = 95.0  # per cent
HZ = "4999"
KINDS = ("self", "total")


class Loop:
    """A loop's shares, of itself and in total, in one profile."""

    def __init__(self, row, whole):
        self.name = f"{row['function']}, {row['address']}"
        self.shares = {"self": row["self"] / whole, "total": row["total"] / whole}


def _loops(profile, sonde):
    report = profile.report(sonde, "--view", "loops")
    return {(r["module"], r["address"], r["irreducible"], tuple(r["inlined_into"])): Loop(r, report["whole"])
            for r in report["rows"]}


class Accuracy:
    """Of sampled shares against those that count as truth; by kind, self or total: the accuracy, and the loop that takes most
    of it away."""

    def __init__(self, truth, sampled):
        self.accuracy, self.furthest = {}, {}
        for kind in KINDS:
            pairs = [(l, l.shares[kind], sampled[key].shares[kind] if key in sampled else 0.0) for key, l in truth.items()]
            whole = sum(inst for _, inst, _ in pairs)
            self.accuracy[kind] = 100 * sum((1 - abs(inst - smp)) * inst for _, inst, smp in pairs) / whole
            self.furthest[kind] = max(pairs, key=lambda x: abs(x[1] - x[2]) * x[1])


class Measured:
    """A program that was counted once and recorded twice."""

    def __init__(self, sonde, p, command):
        counted, _ = self._loops(sonde, p, ["count", "--modules", "all"], command)
        record = ["record", "-e", "cpu-clock:u", "-F", HZ]
        (first, self.samples), (second, _) = (self._loops(sonde, p, record, command) for _ in range(2))
        self.loops, self.accuracy, self.again = len(counted), Accuracy(counted, first), Accuracy(first, second)

    @staticmethod
    def _loops(sonde, p, how, command):
        """The loops, and the samples there are."""
        with sampling.Recording(p) as r:
            count_slowdown.run([sonde, *how, "-o", r.profile, "--", *command], os.path.join(r.folder, "output"))
            return _loops(r, sonde), r.samples()


def _furthest(a, kind):
    loop, inst, smp = a.furthest[kind]
    return f"{loop.name}: {100 * inst:.1f}, {100 * smp:.1f}"


def report(sonde, p, quick, log):
    rows, done = [], []
    for program in workloads.available(p, log, count_programs.ALL[:3] if quick else count_programs.ALL):
        log(f"accuracy: {program.name}")
        try:
            m = Measured(sonde, p, program.command(count_slowdown.SMALL if quick else 1))
        except (RuntimeError, programs.Missing) as e:
            log(f"  failed: {e}")
            rows.append((program.name, "**failed**", "", "", "", "", "", ""))
            continue
        done.append(m)
        shares = [a.accuracy[kind] for a in (m.accuracy, m.again) for kind in KINDS]
        rows.append((program.name, str(m.samples), str(m.loops), *(f"{s:.1f} %" for s in shares[:2]),
                     " / ".join(f"{s:.1f} %" for s in shares[2:]), *(_furthest(m.accuracy, kind) for kind in KINDS)))
    means = [sum(m.accuracy.accuracy[kind] for m in done) / len(done) for kind in KINDS]
    rows.append((f"**mean** (goal: at least {GOAL:.0f} %)", "", "", *(f"**{m:.1f} %**" for m in means), "", "", ""))
    return measure.table(("program", "samples", "loops counted", "self", "total", "recorded again, self / total",
                          "furthest off, self", "furthest off, total"), rows)
