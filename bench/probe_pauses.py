"""How long a program stands still when probes go in and out.

Fifty functions, all of them in use, get entry and exit probes that read the wall clock and the CPU clock, in one
batch, and lose them again. The pause is what the engine measures around the stop. The gap is measured by the program
itself, which reads the clock in a thread of real-time priority: the longest time between two readings while the
probes went in or out, and, beside it, while nothing happened, which is the machine's doing. The table shows medians,
and the least in brackets."""

import statistics
import time

import measure
import probing
import sampling

GOAL = 2.0  # ms
NAMES = ",".join(f"step{n}" for n in range(10, 60))
CLOCKS = probing.WALL | probing.CPU
WINDOW, BREAK = 150, 100  # ms: the kernel takes the CPU from a thread of real-time priority that never pauses
# Threads, and the percentage of time that all but the watching one are busy.
PROGRAMS = ((1, 100), (8, 10), (8, 100))


def _ms(values):
    return f"{statistics.median(values) * 1e-6:.2f} ms ({min(values) * 1e-6:.2f})" if values else "not seen"


def _watched(victim):
    """What the program saw, and a moment for others."""
    gap = victim.hear()[0]
    time.sleep(BREAK / 1000)
    return gap


def _batch(victim, probes, order, pauses, gaps):
    """One batch while the program watches the clock."""
    victim.say(str(WINDOW))
    time.sleep(0.03)
    begin = time.perf_counter()
    spots, refused, pause = probes.ask(order)
    in_time = time.perf_counter() - begin < WINDOW / 1000 - 0.04
    gap = _watched(victim)
    pauses.append(pause)
    if in_time:
        gaps.append(gap)
    return spots, refused


def _rows(orders, program, threads, busy, rounds):
    into, out, still = ([], []), ([], []), []
    with probing.Conversation(program, str(threads), str(busy)) as victim, probing.Probes(orders, victim.pid) as probes:
        probes.ask(f"in {CLOCKS} step10")  # brings the runtime into the program
        probes.ask("out")
        for _ in range(rounds):
            spots, refused = _batch(victim, probes, f"in {CLOCKS} {NAMES}", *into)
            _batch(victim, probes, "out", *out)
            victim.say(str(WINDOW))
            still.append(_watched(victim))
    middle = statistics.median(into[0]) * 1e-6
    name = f"8 threads, busy {busy} %" if threads > 1 else "1 thread"
    return [(f"{name}: {spots:.0f} probes in", _ms(into[0]), _ms(into[1]), _ms(still),
             f"at most {GOAL:.0f} ms", ("yes" if middle <= GOAL else "no") + (f", {refused:.0f} refused" if refused else "")),
            (f"{name}: out", _ms(out[0]), _ms(out[1]), _ms(still), "", "")]


def report(sonde, p, quick, log):
    orders, program = measure.built(sonde, "probe_orders"), sampling.built(p, "stopped", libraries=("-lpthread",))
    rows = []
    for threads, busy in PROGRAMS:
        log(f"pauses: {threads} threads, {busy} %")
        rows += _rows(orders, program, threads, busy, 3 if quick else 9)
    return measure.table(("program", "pause", "gap seen", "gap otherwise", "goal", "reached"), rows)
