"""The programs that are counted: Debian's, as they are shipped, and small ones of our own.

Each has a size: 1 is a run of one to three seconds, small ones are for what is slow."""

import os
import re

import programs
import workloads

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
COMPILERS = {".c": "gcc", ".cc": "g++", ".f90": "gfortran"}
LANGUAGES = {".c": "C", ".cc": "C++", ".f90": "Fortran"}


class Program:
    """modules: what a user who asks about the program's own code would count. command: a function of the size."""

    def __init__(self, name, language, modules, command):
        self.name, self.language, self.modules, self.command = name, language, modules, command


def _lines(p, count):
    return workloads.made(p, f"lines-{count:.0f}.txt", lambda: workloads.numbers(int(count)))


def _compressor(name, modules, lines, *options):
    def make(p):
        tool = workloads.tool(name)
        return Program(name, "C", modules, lambda size: [tool, *options, "-k", "-c", _lines(p, lines * size)])
    return make


def _kernel(file, name, number, power=1.0, modules="main"):
    """One of bench/kernels; its work grows with that power of its argument."""
    base, extension = os.path.splitext(file)

    def make(p):
        program = p.build(f"kernel-{base}", programs.HOST, [os.path.join(KERNELS, file)], ["-s"], COMPILERS[extension],
                          libraries=["-lm"])
        return Program(name, LANGUAGES[extension], modules, lambda size: [program, f"{number * size ** (1 / power):.0f}"])
    return make


def sqlite3(p):
    tool = workloads.tool("sqlite3")
    with open(workloads.input_file("work.sql"), encoding="ascii") as f:
        script = f.read()

    def command(size):
        text = re.sub(r"i < (\d+)", lambda m: f"i < {int(m[1]) * size:.0f}", script)
        return [tool, "-batch", "-init", "/dev/null", ":memory:", f".read {workloads.made(p, f'work-{size}.sql', lambda: text)}"]
    return Program("sqlite3", "C", "main,libsqlite3*", command)


def lua(p):
    tool = workloads.tool("lua5.4")
    return Program("lua5.4", "C", "main", lambda size: [tool, workloads.input_file("work.lua"), f"{20 * size:.0f}"])


def python3(p):
    tool = p.system("python3")
    return Program("python3", "C", "main,*/lib-dynload/*",
                   lambda size: [tool, "-S", "-E", workloads.input_file("work.py"), f"{12 * size:.0f}"])


def perl(p):
    tool = workloads.tool("perl")
    return Program("perl", "C", "main", lambda size: [tool, workloads.input_file("work.pl"), f"{10 * size:.0f}"])


def mawk(p):
    tool = workloads.tool("mawk")
    return Program("mawk", "C", "main", lambda size: [tool, "-f", workloads.input_file("work.awk"), _lines(p, 1500000 * size)])


def grep(p):
    tool = workloads.tool("grep")
    pattern = "([0-9])[0-9]*\\1 .*(brown|red) (fox|dog) [0-9]*7$"
    return Program("grep", "C", "main,libc.so*", lambda size: [tool, "-c", "-E", pattern, _lines(p, 700000 * size)])


def cc1(p):
    tool = p.system("cc1")

    def command(size):
        functions = round(60 * size)
        source = workloads.made(p, f"functions-{functions}.i", lambda: workloads.c_source(functions))
        return [tool, "-quiet", "-fpreprocessed", "-O2", source, "-o", "/dev/null"]
    return Program("cc1", "C++", "main", command)


def povray(p):
    tool = workloads.tool("povray")

    def command(size):
        width = 260 * size ** 0.5
        return [tool, "+I" + workloads.input_file("work.pov"), "-O/dev/null", "-D", f"+W{width:.0f}", f"+H{width * 0.75:.0f}",
                "+A0.1", "+WT1", "-GA"]
    return Program("povray", "C++", "main", command)


ALL = (_compressor("xz", "main,liblzma*", 120000, "-2", "-T1"), _compressor("bzip2", "main,libbz2*", 300000),
       _compressor("gzip", "main", 600000), _compressor("zstd", "main", 400000, "-q", "-12", "--single-thread"), sqlite3, lua,
       python3, perl, mawk, grep, cc1, povray, _kernel("fft.c", "FFT", 500), _kernel("matmul.c", "matrices", 1200, 3),
       _kernel("matmul.f90", "matrices in blocks", 1100, 3), _kernel("stencil.f90", "stencil", 1500),
       _kernel("quicksort.c", "qsort", 5000000, modules="main,libc.so*"), _kernel("sort.cc", "std::sort", 5000000),
       _kernel("calls.c", "recursion", 14, 12), _kernel("shapes.cc", "virtual calls", 18000))
