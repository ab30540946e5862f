"""Programs that keep a machine busy in many ways: what a search is measured on end to end.

Each does a given amount of work and prints a checksum; a trial tells how much work takes a second here."""

import os
import shutil
import subprocess
import tempfile

import count_programs
import programs
import stopwatch
import workloads

HERE = os.path.dirname(os.path.abspath(__file__))
VICTIMS = os.path.join(HERE, "victims", "busy")
COMPILERS = {".c": "gcc", ".cc": "g++", ".f90": "gfortran"}
SHORTEST = 0.7   # seconds of a trial that tells enough
LONGEST = 60     # seconds for a trial
FILES = 1500     # sources of the build


class Program:
    """command: a function of the amount of work. power: the time grows with that power of it. is_exact: it prints the same
    each time."""

    def __init__(self, name, command, amount, power=1.0, is_exact=True, env=None):
        self.name, self.command, self.amount, self.power = name, command, amount, power
        self.is_exact, self.env = is_exact, env
        self.measured = None

    def amount_for(self, seconds):
        """The work that takes about so long alone, on this machine."""
        amount = self.amount
        while self.measured is None:
            wall = self.run(amount, [], LONGEST).wall or LONGEST
            if wall >= SHORTEST:
                self.measured = amount, wall
            amount = round(amount * min(10, (1 / wall) ** (1 / self.power) * 1.2))
        amount, wall = self.measured
        return max(1, round(amount * (seconds / wall) ** (1 / self.power)))

    def run(self, amount, observer, limit, env=None):
        """One run below an observer: the words of its command before the program's own."""
        return stopwatch.run([*observer, *self.command(amount)], limit, {**(self.env or {}), **(env or {})})


class Redis(Program):
    """The server is observed, its clients are not. answers: requests a second and the 99th percentile of their latency in
    milliseconds, of the latest run."""

    def __init__(self, p):
        self.server, self.clients = p.path("built", "redis-server"), workloads.tool("redis-benchmark")
        # The program is a server under this name; the package of that name would start one for good.
        if not os.path.exists(self.server):
            os.makedirs(os.path.dirname(self.server), exist_ok=True)
            os.symlink(workloads.tool("redis-check-rdb"), self.server)
        super().__init__("redis-server", None, 100000, is_exact=False)
        self.answers = None

    def run(self, amount, observer, limit, env=None):
        folder = tempfile.mkdtemp()
        path = os.path.join(folder, "socket")
        script = (f"while [ ! -S {path} ]; do sleep 0.01; done; {self.clients} -s {path} -n {amount} -c 20 -t get --csv; "
                  f"redis-cli -s {path} shutdown nosave")
        clients = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   start_new_session=True)
        try:
            return stopwatch.run([*observer, self.server, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
                                  "--dir", folder], limit, env)
        finally:
            self._hear(clients)
            shutil.rmtree(folder, ignore_errors=True)

    def _hear(self, clients):
        try:
            lines = [line.replace('"', "").split(",") for line in clients.communicate(timeout=5)[0].splitlines()]
            self.answers = next(((float(line[1]), float(line[6])) for line in lines if line[0] == "GET"), None)
        except subprocess.TimeoutExpired:
            os.killpg(clients.pid, 9)
            clients.communicate()


def _compiled(name, file, amount, power=1.0, flags=(), libraries=(), folder=VICTIMS, env=None):
    base, extension = os.path.splitext(file)

    def make(p):
        program = p.build(f"busy-{base}", programs.HOST, [os.path.join(folder, file)], list(flags), COMPILERS[extension],
                          libraries=["-lm", *libraries])
        return Program(name, lambda work: [program, str(work)], amount, power, env=env)
    return make


def _lattice(ranks):
    def make(p):
        mpirun = workloads.tool("mpirun")
        flags = programs.run(workloads.tool("mpicc"), "--showme:compile").split()
        libraries = programs.run(workloads.tool("mpicc"), "--showme:link").split()
        program = p.build("busy-lattice", programs.HOST, [os.path.join(VICTIMS, "lattice.c")], flags, libraries=libraries)
        start = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), program]
        return Program(f"MPI lattice, {ranks} ranks", lambda work: [*start, str(work)], 1000)
    return make


def speedtest(p):
    """sqlite's own."""
    def sources():
        return [p.sqlite_sources()[0], os.path.join(p.source("sqlite3"), "test", "speedtest1.c")]
    program = p.build("speedtest1", programs.HOST, sources, [], libraries=["-lm"])
    return Program("sqlite's speedtest1", lambda size: [program, "--memdb", "--size", str(size)], 15, is_exact=False)


def python3(p):
    tool = p.system("python3")
    return Program("python3", lambda work: [tool, "-S", "-E", workloads.input_file("work.py"), str(work)], 10)


def lua(p):
    tool = workloads.tool("lua5.4")
    return Program("lua5.4", lambda work: [tool, workloads.input_file("work.lua"), str(work)], 20)


def xz(p):
    tool, text = workloads.tool("xz"), workloads.made(p, "few.txt", lambda: workloads.numbers(20000))
    return Program("xz", lambda work: [tool, "-2", "-T1", "-k", "-c", *[text] * work], 10)


def shell(p):
    true = workloads.tool("true")
    return Program("shell, /bin/true each time",
                   lambda work: ["/bin/sh", "-c", f"i=0; while [ $i -lt {work} ]; do {true}; i=$((i+1)); done; echo $i"], 1000)


def xargs(p):
    return Program("xargs -P4, pipes to md5sum",
                   lambda work: ["/bin/sh", "-c", f"seq 1 {work} | xargs -P4 -n1 sh -c 'echo $0 | md5sum' | sort | md5sum"], 500)


def build(p):
    """make with two jobs: each file is a gcc, a cc1 and an as."""
    make, folder = workloads.tool("make"), p.path("workloads", "build")
    os.makedirs(folder, exist_ok=True)
    for i in range(FILES):
        workloads.made(p, f"build/f{i + 1}.c", lambda i=i: [f"int f{i}(int x)\n{{\n\treturn x * {i} + 1;\n}}\n"])
    workloads.made(p, "build/Makefile", lambda: ["OBJECTS := $(shell seq -f 'f%g.o' $(COUNT))\n", "all: $(OBJECTS)\n",
                                                 "%.o: %.c\n\t@gcc -O0 -c $< -o $@\n", ".PHONY: all\n"])
    return Program("make -j2, gcc -O0", lambda work: [make, "-s", "-B", "-j2", "-C", folder, f"COUNT={min(work, FILES)}"], 50)


matrices = _compiled("matrices, C", "matmul.c", 1000, 3, folder=count_programs.KERNELS)
fourier = _compiled("FFT, C", "fft.c", 400, folder=count_programs.KERNELS)
quicksort = _compiled("qsort, C", "quicksort.c", 3000000, folder=count_programs.KERNELS)
montecarlo = _compiled("Monte Carlo, Fortran", "montecarlo.f90", 5000000)
chains = _compiled("decay chains, C++", "chains.cc", 100000)
hydro = _compiled("hydrodynamics, OpenMP", "hydro.c", 1000, flags=["-fopenmp"])
contended = _compiled("contended mutex, 4 threads", "contended.c", 2000000, flags=["-pthread"])
barrier = _compiled("barrier, 4 threads", "barrier.c", 500, flags=["-pthread"])
spinning = _compiled("spin-then-wait barrier, 4 threads", "spinning.c", 20000, flags=["-pthread"])
pipeline = _compiled("pipeline, 8 threads", "pipeline.c", 2000, flags=["-pthread"], libraries=["-lz"])
messages = _compiled("messages through pipes, 4 threads", "messages.c", 100000, flags=["-pthread"])
idle = _compiled("2 busy threads, 1,000 idle", "idle.c", 300000, flags=["-pthread"])
births = _compiled("short threads, 2 at a time", "births.c", 40000, flags=["-pthread"])
two_ranks, four_ranks = _lattice(2), _lattice(4)


def redis(p):
    return Redis(p)


ALL = (matrices, fourier, quicksort, montecarlo, chains, hydro, contended, barrier, spinning, pipeline, messages, two_ranks,
       four_ranks, speedtest, redis, python3, lua, xz, idle, births, shell, xargs, build)
HARD = (chains, hydro, contended, spinning, messages, two_ranks, speedtest, idle, births, shell, xargs)
