"""Runs a command as a person with a stop-watch would: from its start to its end, at the priority that everybody has. A
command that takes too long is ended with all that it started, and has not finished."""

import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
GRACE = 3      # seconds to end in after SIGTERM
PERIOD = 0.02  # seconds between looks at its memory, but for the first ones


class Run:
    """wall: seconds; None if it did not finish. cpu: the process's own seconds, those of its children not. peak: its own
    memory in bytes."""

    def __init__(self, wall, cpu, peak, status, output, error):
        self.wall, self.cpu, self.peak, self.status, self.output, self.error = wall, cpu, peak, status, output, error

    def has_finished(self):
        return self.wall is not None


def _stat(pid):
    """The fields behind the name; none if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()
    except OSError:
        return []


def _end_session(session, signal_number):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fields = _stat(pid)
        if fields and fields[3] == str(session):
            try:
                os.kill(int(pid), signal_number)
            except ProcessLookupError:
                pass


class _Watch:
    """Follows a process's memory, and ends its session at the limit."""

    def __init__(self, pid, limit):
        self.pid, self.limit, self.peak, self.is_late = pid, limit, 0, False
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self):
        end, pause = time.monotonic() + self.limit, PERIOD / 16
        while not self.done.wait(pause):
            pause = min(2 * pause, PERIOD)
            self._look()
            if not self.is_late and time.monotonic() > end:
                self.is_late = True
                _end_session(self.pid, signal.SIGTERM)
                end += GRACE
            elif self.is_late and time.monotonic() > end:
                _end_session(self.pid, signal.SIGKILL)

    def _look(self):
        try:
            with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as f:
                self.peak = max([self.peak, *(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM:"))])
        except OSError:
            pass

    def stop(self):
        self.done.set()
        self.thread.join()


def run(command, limit, env=None, cwd=None):
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=error, start_new_session=True,
                                   env=dict(os.environ, **(env or {})), cwd=cwd)
        watch = _Watch(process.pid, limit)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        wall, fields = time.monotonic() - start, _stat(process.pid)
        watch.stop()
        status = process.wait()
        _end_session(process.pid, signal.SIGKILL)
        texts = []
        for file in (output, error):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    cpu = sum(map(int, fields[11:13])) / TICK
    return Run(None if watch.is_late else wall, cpu, watch.peak, status, *texts)


def median(values):
    """Of what there is; None if there is nothing."""
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None
