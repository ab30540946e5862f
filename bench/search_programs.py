"""The programs that are searched: Debian's, with large call graphs, at the same work again and again; and two victims with
threads and planted bottlenecks."""

import os
import sys

import count_programs
import probing
import programs
import sampling
import workloads

LIVE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "live")
TRIAL = 0.5   # size of the runs that tell how long others are
TRIALS = 3    # the machine may be slow for a while
LONGEST = 60  # seconds for it


class Program:
    """command: a function of a size, as in count_programs. large: its call graph is. longest: seconds that it is the same."""

    def __init__(self, name, command, large=True, longest=None):
        self.name, self.at_size, self.large, self.longest = name, command, large, longest
        self.speed = None

    def command(self, seconds):
        """One that takes about so long alone, on this machine, or as long as it does the same."""
        seconds = min(seconds, self.longest or seconds)
        if self.speed is None:
            trials = [sampling.run(self.at_size(TRIAL), limit=LONGEST, first=probing.before_others) for _ in range(TRIALS)]
            self.speed = TRIAL / min(usage.wall for usage in trials)
        return self.at_size(round(self.speed * seconds, 3))


def _counted(make, longest=None):
    def program(p):
        of = make(p)
        return Program(of.name, of.command, longest=longest)
    return program


def sqlite3(p):
    """A small database made and asked, again and again."""
    once = count_programs.sqlite3(p).command(0.2)
    script = once[-1] + "\nDROP TABLE item;\nDROP TABLE sale;\n"

    def command(size):
        rounds = max(1, round(5 * size))
        return [*once[:-1], f".read {workloads.made(p, f'rounds-{rounds}.sql', lambda: [script] * rounds)}"]
    return Program("sqlite3", command)


class Victim(Program):
    """Runs for as long as it is told."""

    def __init__(self, judge, name):
        super().__init__(f"victim {name}", None, large=False)
        self.program = judge.victim(name)

    def command(self, seconds):
        return [self.program, str(seconds)]


def judge(sonde):
    """tests/live/diagnosing.py, which builds victims and knows what is planted in them."""
    os.environ["SONDE"] = sonde
    if LIVE not in sys.path:
        sys.path.insert(0, LIVE)
    import diagnosing
    return diagnosing


python3, povray, lua = (_counted(make) for make in (count_programs.python3, count_programs.povray, count_programs.lua))
# It reads the whole input first: with a longer one, what it does then comes later.
cc1 = _counted(count_programs.cc1, longest=7)
LARGE = (python3, sqlite3, povray, cc1, lua)
VICTIMS = ("two", "barrier")


def chosen(sonde, p, quick, log):
    of = judge(sonde)
    return [*workloads.available(p, log, LARGE[:2] + LARGE[3:4] if quick else LARGE),
            *(Victim(of, name) for name in VICTIMS[1 if quick else 0:])]
