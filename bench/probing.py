"""Programs that answer on standard output, Sonde's probes in them, and the kernel's."""

import ctypes
import os
import statistics
import struct
import subprocess

import programs

WALL, CPU, SYNC = 1, 2, 4  # 1 << enum rt_metric


def before_others():
    """For a child of ours: what else runs on the machine has to wait for it, as far as that is permitted. The kernel may
    share out by sessions before it looks at priorities."""
    os.setsid()
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        with open("/proc/self/autogroup", "w", encoding="ascii") as f:
            f.write("-20")
    except OSError:
        pass


class Conversation:
    """A program that answers each line with a line."""

    def __init__(self, *command):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
                                        preexec_fn=before_others)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{' '.join(self.command)} ended with status {self.process.wait()}")
        return [float(n) for n in line.split()]

    def ask(self, line):
        self.say(line)
        return self.hear()


class Probes(Conversation):
    """Sonde's engine, attached to a process. What goes in and out answers with probes, refused ones and ns of pause."""

    def __init__(self, program, pid):
        super().__init__(program, str(pid))
        if self.process.stdout.readline() != "attached\n":
            raise RuntimeError(f"probe_orders cannot attach to {pid}")


def _file_offset(program, symbol):
    """Where a function is in its file."""
    found = [l.split() for l in programs.run("nm", program).splitlines() if l.endswith(f" {symbol}")]
    va = int(found[0][0], 16)
    for l in programs.run("readelf", "-lW", program).splitlines():
        part = l.split()
        if part and part[0] == "LOAD" and int(part[2], 16) <= va < int(part[2], 16) + int(part[4], 16):
            return va - int(part[2], 16) + int(part[1], 16)
    raise programs.Missing(f"{program} has no {symbol}")


class Uprobe:
    """The kernel's own probe, as a counting event of one process."""

    KIND = "/sys/bus/event_source/devices/uprobe/type"
    SYSCALL = {"aarch64": 241, "x86_64": 298}[os.uname().machine]

    def __init__(self, pid, program, symbol, at_return):
        try:
            with open(self.KIND, encoding="ascii") as f:
                kind = int(f.read())
        except OSError as e:
            raise programs.Missing("this kernel has no uprobes") from e
        path = ctypes.create_string_buffer(program.encode())
        # struct perf_event_attr of 112 bytes: the two configurations are the file and the offset in it.
        attr = struct.pack("=IIQ4QIIQQ", kind, 112, at_return, 0, 0, 0, 0, 0, 0, ctypes.addressof(path),
                           _file_offset(program, symbol)).ljust(112, b"\0")
        libc = ctypes.CDLL(None, use_errno=True)
        self.file = libc.syscall(self.SYSCALL, attr, pid, -1, -1, 8)
        if self.file < 0:
            raise programs.Missing(f"no uprobe: {os.strerror(ctypes.get_errno())}")

    def count(self):
        return int.from_bytes(os.read(self.file, 8), "little")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.file)


def percent(ratios):
    """The middle of ratios to the run alone, and half of the middle half as noise."""
    low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 2 else [statistics.median(ratios)] * 3
    return f"{100 * (middle - 1):+.2f} % (± {50 * (high - low):.2f})"
