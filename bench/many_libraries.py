"""A program with 100 libraries and 3 GB, made in less than a minute.

The code of a few functions, compiled once, is put into each library again and again by the assembler, with a symbol of its
own and unwind information each time. So the libraries have as many functions, symbols and loops as large ones have, and
read-only data to be as large; what is zero takes no place on the disk. One library is larger than all others:

    LIBRARIES - 1 of them   SMALL functions, SMALL_DATA of data      25 MB
    one                     LARGE functions, LARGE_DATA of data     450 MB"""

import concurrent.futures
import os

import programs

LIBRARIES = 100
SMALL, SMALL_DATA = 6000, 21 << 20
LARGE, LARGE_DATA = 400000, 195 << 20
BODIES = 4
ENTRIES = 8   # functions of a library that are called

# Leaf functions that refer to nothing, so that their bytes run anywhere.
BODY = """#include <stdint.h>
#define ROUND(k) x ^= x << (k % 23 + 1); x += (x >> 7) * k; if (x & 1 << k % 13) x = x * 31 + k; else y ^= x >> k % 11;
#define FOUR(k) ROUND(k) ROUND(k + 1) ROUND(k + 2) ROUND(k + 3)
uint64_t body{n}(uint64_t x)
{{
	uint64_t y = {n};
	for (unsigned i = 0; i < (x & 7) + 3; i++) {{
		FOUR({n} + 3)
		for (unsigned j = i; j < 4; j++) {{
			ROUND({n} + 5)
		}}
	}}
	if (x % 5 == {n})
		for (unsigned i = 0; i < 6; i++) {{
			FOUR({n} + 9)
		}}
	return x ^ y;
}}
"""
MAIN_HEAD = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
"""
MAIN_TAIL = """
__attribute__((noinline)) static uint64_t visit(uint64_t x)
{
	for (unsigned i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		for (int k = 0; k < 500; k++)
			x = entries[i](x);
	return x;
}
int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	uint64_t x = 1;
	while (now() < end)
		x = visit(x);
	printf("%d\\n", x == 0);
	return 0;
}
"""


def _symbol(library, i):
    """A name as C++ makes them."""
    return f"_ZN4made7Library{library}8Operator{i}7forwardEm" if i >= ENTRIES else f"entry_{library}_{i}"


def _bodies(folder):
    """Files with the bare code of the functions."""
    out = []
    for n in range(BODIES):
        source, made, code = (os.path.join(folder, f"body{n}.{kind}") for kind in ("c", "o", "bin"))
        with open(source, "w", encoding="ascii") as f:
            f.write(BODY.format(n=n))
        programs.run("gcc", "-O1", "-fPIC", "-fno-jump-tables", "-ffunction-sections", "-fno-asynchronous-unwind-tables", "-c",
                     source, "-o", made)
        programs.run("objcopy", "-O", "binary", "-j", f".text.body{n}", made, code)
        out.append(code)
    return out


def _assembly(library, functions, data, bodies):
    """The text of a library."""
    yield "\t.text\n"
    for i in range(functions):
        name = _symbol(library, i)
        yield (f"\t.balign 16\n\t.globl {name}\n\t.type {name}, %function\n{name}:\n\t.cfi_startproc\n"
               f'\t.incbin "{bodies[i % len(bodies)]}"\n\t.cfi_endproc\n\t.size {name}, .-{name}\n')
    yield f"\t.section .rodata\n\t.zero {data}\n"
    yield '\t.section .note.GNU-stack, "", %progbits\n'


def _make_library(folder, library, functions, data, bodies):
    source, made, out = (os.path.join(folder, f"{library}{kind}") for kind in (".s", ".o", ".full"))
    with open(source, "w", encoding="ascii") as f:
        f.writelines(_assembly(library, functions, data, bodies))
    programs.run("gcc", "-c", source, "-o", made)
    # Without local symbols: the assembler calls what it includes data ($d).
    programs.run("gcc", "-shared", "-nostdlib", "-Wl,--build-id", "-Wl,--hash-style=gnu", "-Wl,--discard-all",
                 f"-Wl,-soname,libmade{library}.so", made, "-o", out)
    programs.run("cp", "--sparse=always", out, os.path.join(folder, f"libmade{library}.so"))
    for path in (source, made, out):
        os.remove(path)


def _make_program(folder, count, out):
    source = os.path.join(folder, "main.c")
    names = [f"entry_{library}_{i}" for library in range(count) for i in range(ENTRIES)]
    with open(source, "w", encoding="ascii") as f:
        f.write(MAIN_HEAD)
        f.writelines(f"uint64_t {name}(uint64_t);\n" for name in names)
        f.write("static uint64_t (*const entries[])(uint64_t) = {\n" + "".join(f"\t{name},\n" for name in names) + "};\n")
        f.write(MAIN_TAIL)
    programs.run("gcc", "-O2", "-w", source, "-o", out, f"-L{folder}", f"-Wl,-rpath,{folder}",
                 *(f"-lmade{library}" for library in range(count)))


def _made(p, name, sizes):
    """The program of libraries with so many functions and bytes of data each."""
    folder = p.path("built", name)
    out = os.path.join(folder, "program")
    if not os.path.exists(out):
        os.makedirs(folder, exist_ok=True)
        bodies = _bodies(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda job: _make_library(folder, job[0], *job[1], bodies), enumerate(sizes)))
        _make_program(folder, len(sizes), out + ".part")
        os.rename(out + ".part", out)
    return out


def program(p):
    """usage: program SECONDS"""
    return _made(p, "many-libraries", [(LARGE, LARGE_DATA)] + [(SMALL, SMALL_DATA)] * (LIBRARIES - 1))


def largest(p):
    """Its largest library."""
    return os.path.join(os.path.dirname(program(p)), "libmade0.so")
