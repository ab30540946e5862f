"""Real programs of Debian at work: what sampling is measured on.

Each is a command of a few seconds of CPU time that needs no network and no input but what is made here, in the
work folder, the same every time. Programs are run as Debian ships them: optimised and stripped."""

import os
import shutil

import programs

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inputs")


class Workload:
    """command: what is run. env: added to the environment. threads: it computes with several."""

    def __init__(self, name, command, threads=False, env=None):
        self.name, self.command, self.threads, self.env = name, command, threads, env or {}


def input_file(name):
    return os.path.join(INPUTS, name)


def tool(name):
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin:/usr/games")
    if not found:
        raise programs.Missing(f"{name} is not installed")
    return found


def made(p, name, text):
    """A file of the work folder; text is a function that gives its lines."""
    path = p.path("workloads", name)
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "w", encoding="ascii") as f:
            f.writelines(text())
        os.rename(path + ".part", path)
    return path


def numbers(count):
    """Lines that compress and sort neither too well nor too badly."""
    x = 12345
    for i in range(count):
        x = (x * 1103515245 + 12345) & 0x7fffffff
        yield f"{i} {x} {x % 97} the quick brown fox {x >> 20}\n"


def c_source(functions):
    """A C file of the kind that keeps an optimiser busy: loops, switches, pointers, calls."""
    yield "struct node { struct node *next; long key, value[4]; };\n"
    for i in range(functions):
        yield f"""
static long step{i}(struct node *n, long a, long b)
{{
	long sum = {i};
	for (; n; n = n->next) {{
		switch ((n->key + a) % 7) {{
		case 0: sum += n->value[0] * b; break;
		case 1: sum ^= n->value[1] << (a & 15); break;
		case 2: sum -= n->value[2] / ((b & 7) + 1); break;
		case 3: for (long i = 0; i < a; i++) sum += n->value[i & 3] * i; break;
		case 5: n->value[sum & 3] = sum; break;
		default: sum = sum * 31 + n->key;
		}}
		if (sum > {1000 + i} && n->next && n->next->key < sum)
			n = n->next;
	}}
	return sum;
}}
long entry{i}(struct node *n, double *v, int c)
{{
	double total = 0;
	for (int i = 0; i < c; i++)
		for (int j = i; j < c; j++)
			total += v[i] * v[j] + (double)step{i}(n, i, j){f' + (double)entry{i - 1}(n->next, v, c - 1)' if i else ''};
	return (long)total + step{i}(n, c, {i});
}}
"""


def python3(p):
    return Workload("python3", [p.system("python3"), "-S", "-E", input_file("work.py")])


def gdb(p):
    """Reads DWARF with its worker threads, then expands and searches all of it."""
    program = p.build("work-debug", programs.HOST, [input_file("work.cc")], ["-g"], compiler="g++", level="-O1")
    return Workload("gdb", [tool("gdb"), "-nx", "-batch", "-x", input_file("work.gdb"), program], threads=True)


def xz(p):
    return Workload("xz -T2", [tool("xz"), "-2", "-T2", "--block-size=1MiB", "-k", "-c",
                               made(p, "fewer.txt", lambda: numbers(160000))], threads=True)


def xz_one(p):
    return Workload("xz -T1", [tool("xz"), "-2", "-T1", "-k", "-c", made(p, "fewer.txt", lambda: numbers(160000))])


def bzip2(p):
    return Workload("bzip2", [tool("bzip2"), "-k", "-c", made(p, "fewer.txt", lambda: numbers(160000))])


def openssl(p):
    return Workload("openssl, keys", [tool("openssl"), "speed", "-seconds", "1", "rsa2048", "ecdsap256"])


def openssl_digests(p):
    return Workload("openssl, digests", [tool("openssl"), "speed", "-seconds", "1", "-bytes", "8192", "sha256", "sha512",
                                         "md5", "aes-256-cbc"])


def povray(p):
    return Workload("povray", [tool("povray"), "+I" + input_file("work.pov"), "-O/dev/null", "-D", "+W320", "+H240", "+A0.1",
                               "+WT2", "-GA"], threads=True)


def ffmpeg(p):
    return Workload("ffmpeg", [tool("ffmpeg"), "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x360:d=9", "-c:v",
                               "libx264", "-preset", "fast", "-threads", "2", "-f", "null", "-"], threads=True)


def sqlite3(p):
    return Workload("sqlite3", [tool("sqlite3"), "-batch", "-init", "/dev/null", ":memory:",
                                f".read {input_file('work.sql')}"])


def cc1(p):
    source = made(p, "work.c", lambda: c_source(100))
    return Workload("cc1", [p.system("cc1"), "-quiet", "-O2", source, "-o", "/dev/null"])


def clang(p):
    source = made(p, "work.c", lambda: c_source(100))
    return Workload("clang", [tool("clang"), "-O2", "-w", "-S", source, "-o", "/dev/null"])


def cc1plus(p):
    path = p.system("cc1").replace("cc1", "cc1plus")
    if not os.path.exists(path):
        raise programs.Missing("cc1plus is not installed")
    return Workload("cc1plus", [path, "-quiet", "-O1", "-D_GNU_SOURCE", "-imultiarch",
                                programs.TRIPLES[programs.HOST], input_file("work.cc"), "-o", "/dev/null"])


def fortran(p):
    program = p.build("work-fortran", programs.HOST, [input_file("work.f90")], ["-s"], compiler="gfortran")
    return Workload("gfortran's program", [program])


def perl(p):
    return Workload("perl", [tool("perl"), input_file("work.pl")])


def sort(p):
    return Workload("sort", [tool("sort"), "--parallel=2", "-k3,3n", "-k2,2", "-S", "256M",
                             made(p, "numbers.txt", lambda: numbers(900000))], threads=True)


ALL = (python3, gdb, xz, openssl, openssl_digests, povray, ffmpeg, sqlite3, cc1, cc1plus, clang, fortran, perl, sort)


def available(p, log, makers=ALL):
    """Those that can be had here."""
    out = []
    for make in makers:
        try:
            out.append(make(p))
        except programs.Missing as e:
            log(f"  not measured: {e}")
    return out
