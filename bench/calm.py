"""When others leave this machine its CPUs: those of a virtual machine may be taken from it ("stolen") for a while, and
what is measured then says more of them than of a program."""

import bisect
import threading
import time

PERIOD = 0.05   # seconds between looks
CALM = 0.03     # of the CPUs' time: so much at most is stolen


def _processors():
    """What they have done so far, in ticks: for others, and in all."""
    with open("/proc/stat", encoding="ascii") as f:
        words = [int(x) for x in f.readline().split()[1:9]]
    return words[7], sum(words)


class Watch:
    """Looks from time to time while it is entered. Times are those of time.monotonic()."""

    def __init__(self):
        self.times, self.seen = [], []
        self.left = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def _look(self):
        while not self.left.is_set():
            self.seen.append(_processors())
            self.times.append(time.monotonic())
            self.left.wait(PERIOD)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.left.set()
        self.thread.join()

    def stolen(self, begin, end):
        """The share of the CPUs' time between two moments, and a look before and behind them."""
        first = max(bisect.bisect_left(self.times, begin) - 1, 0)
        last = min(bisect.bisect_right(self.times, end), len(self.times) - 1)
        (stolen, passed), (stolen2, passed2) = self.seen[first], self.seen[last]
        return (stolen2 - stolen) / (passed2 - passed) if passed2 > passed else 0

    def is_calm(self, begin, end):
        return self.stolen(begin, end) <= CALM
