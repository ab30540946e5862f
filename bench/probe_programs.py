"""Every function of a program and its libraries counted at entry and exits, for scale.

In programs as Debian ships them, all functions of all modules that they are loaded with are probed from the start to
the end. Times are CPU time of the program itself. Runs with and without probes take turns, and the least of each
counts. The overhead of a hit is the difference divided by the hits, so it includes the cache misses that probes
cause."""

import os

import measure
import probing
import sampling
import workloads

PROGRAMS = (workloads.xz_one, workloads.bzip2, workloads.python3)


def _alone(w):
    usage = sampling.run(w.command, w.env)
    if usage.status:
        raise RuntimeError(f"{w.name}: status {usage.status}: {usage.error[-300:]}")
    return usage.cpu


def _probed(p, orders, w):
    """Probes, those refused, hits and CPU seconds."""
    with sampling.Recording(p) as r:
        told = os.path.join(r.folder, "told")
        usage = sampling.run([orders, "--all", told, *w.command], w.env)
        if usage.status:
            raise RuntimeError(f"{w.name}: status {usage.status}: {usage.error[-300:]}")
        with open(told, encoding="ascii") as f:
            return [float(n) for n in f.read().split()]


def report(sonde, p, quick, log):
    orders, rows = measure.built(sonde, "probe_orders"), []
    for w in workloads.available(p, log, PROGRAMS):
        log(f"programs: {w.name}")
        alone, probed = [], []
        for _ in range(1 if quick else 2):
            alone.append(_alone(w))
            probed.append(_probed(p, orders, w))
        best, (spots, refused, hits, _) = min(alone), probed[0]
        least = min(r[3] for r in probed)
        hit = f"{(least - best) * 1e9 / hits:.2f} ns" if least > best else "lost in the noise"
        rows.append((w.name, f"{spots:.0f}", f"{refused:.0f} ({measure.percent(refused, spots)})", f"{hits / 1e6:.1f} million",
                     f"{best:.2f} s", f"{least:.2f} s", f"{least / best:.2f}", hit))
    return measure.table(("program", "probes", "refused", "hits", "alone", "counted", "times", "a hit"), rows)
