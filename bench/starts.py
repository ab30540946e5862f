"""Function starts on stripped copies, against the symbols that were removed.

The truth is every FUNC or IFUNC symbol in executable sections, with aliases merged. PLT stubs have no symbols and are
left out. Addresses with another kind of name (labels of assembly code, `.cold` parts, the linker's stubs) count
neither as right nor as wrong."""

import os
import shutil
import struct
import subprocess

import measure
import programs

FUNC, IFUNC, SHF_EXECINSTR = 2, 10, 4


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.machine, = struct.unpack_from("<H", self.bytes, 18)
        shoff, = struct.unpack_from("<Q", self.bytes, 40)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 58)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, shoff + i * size) for i in range(count)]
        self.names = [self.text(self.headers[names][4] + h[0]) for h in self.headers]

    def text(self, offset):
        return self.bytes[offset:self.bytes.index(b"\0", offset)].decode(errors="replace")

    def symbols(self):
        """(name, type, section number, address) of .symtab, or of .dynsym where that is all."""
        kinds = [h for h in self.headers if h[1] == 2] or [h for h in self.headers if h[1] == 11]
        for h in kinds:
            strings = self.headers[h[6]][4]
            for at in range(h[4], h[4] + h[5], 24):
                name, info, _, section, va, _ = struct.unpack_from("<IBBHQQ", self.bytes, at)
                yield self.text(strings + name), info & 15, section, va

    def code(self):
        """[start, end) of executable sections other than PLTs."""
        return [(h[3], h[3] + h[5]) for h, n in zip(self.headers, self.names)
                if h[2] & SHF_EXECINSTR and not n.startswith(".plt") and n != ".iplt"]


def truth(path):
    """Starts, and addresses that count neither way."""
    elf = Elf(path)
    starts, neutral = set(), set()
    for name, kind, section, va in elf.symbols():
        if section == 0 or section >= len(elf.headers) or not elf.headers[section][2] & SHF_EXECINSTR:
            continue
        if name.startswith(("$x", "$d")):
            continue
        if kind in (FUNC, IFUNC) and ".cold" not in name:
            starts.add(va)
        else:
            neutral.add(va)
    return starts, neutral - starts, elf


def found(sonde, path, elf):
    ranges = elf.code()
    # Positions alone, without line information, are all that is asked.
    functions = measure.sonde_json(sonde, "--no-debug", path)["functions"]
    starts = (int(p["start"], 16) for p in functions if not p["plt"])
    return {va for va in starts if any(a <= va < b for a, b in ranges)}


def strip(path, out, frames):
    machine = Elf(path).machine
    triple = programs.TRIPLES["a64" if machine == 0xB7 else "x64"]
    shutil.copyfile(path, out)
    os.chmod(out, 0o755)
    if not frames:
        subprocess.run([f"{triple}-objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", out], check=True,
                       capture_output=True)
    subprocess.run([f"{triple}-strip", "-s", out], check=True)
    return out


def inputs(p, quick):
    """(name, file with symbols, file to strip); the second where symbols are in a separate file."""
    makers = [
        ("bzip2, gcc, aarch64", lambda: p.bzip2("a64")),
        ("lua, clang, x86-64", lambda: p.lua("x64", "clang")),
        ("C++ exceptions, static, gcc, aarch64", lambda: p.corpus("exceptions.cc", "a64", "g++", ("-static",))),
    ]
    if not quick:
        makers += [
            ("bzip2, gcc -O0, x86-64", lambda: p.bzip2("x64", level="-O0")),
            ("bzip2, clang -O3, aarch64", lambda: p.bzip2("a64", "clang", "-O3")),
            ("lua, gcc, aarch64", lambda: p.lua("a64")),
            ("lua, gcc -O3, x86-64", lambda: p.lua("x64", level="-O3")),
            ("sqlite3, gcc, aarch64", lambda: p.sqlite("a64")),
            ("sqlite3, clang, x86-64", lambda: p.sqlite("x64", "clang")),
            ("sqlite3, gcc, x86-64", lambda: p.sqlite("x64")),
            ("C, static glibc, gcc, x86-64", lambda: p.corpus("sorting.c", "x64", "gcc", ("-static",))),
            ("C, static-PIE glibc, gcc, aarch64", lambda: p.corpus("sorting.c", "a64", "gcc", ("-static-pie", "-fPIE"))),
            ("C++ with its library, g++, x86-64", lambda: p.corpus("templates.cc", "x64", "g++",
                                                                   ("-static-libstdc++", "-std=c++17"))),
            ("Fortran, static, gfortran, aarch64", lambda: p.corpus("nests.f90", "a64", "gfortran", ("-cpp", "-static"))),
            ("Rust, host", p.rust),
        ]
    return makers


def measure_one(sonde, p, name, make, rows, totals, worst):
    path = make()
    starts, neutral, elf = truth(path)
    for frames in (True, False):
        copy = strip(path, p.path("stripped"), frames)
        got = found(sonde, copy, elf)
        right, wrong, missed = got & starts, got - starts - neutral, starts - got
        rows.append((name, "with" if frames else "without", len(starts), measure.percent(len(right), len(right) + len(wrong)),
                     measure.percent(len(right), len(starts))))
        t = totals[frames]
        t[0] += len(right)
        t[1] += len(wrong)
        t[2] += len(starts)
        worst.append((name, frames, sorted(wrong)[:5], sorted(missed)[:5]))


def report(sonde, p, quick, log):
    rows, totals, worst = [], {True: [0, 0, 0], False: [0, 0, 0]}, []
    for name, make in inputs(p, quick) + [("sonde itself", lambda: sonde)]:
        log(f"starts: {name}")
        try:
            measure_one(sonde, p, name, make, rows, totals, worst)
        except programs.Missing as e:
            log(f"  not measured: {e}")
            rows.append((name, "", "not measured", "", ""))
    for frames, goal in ((True, "99 %"), (False, "97 %")):
        right, wrong, all_starts = totals[frames]
        rows.append((f"**all** (goal {goal})", "with" if frames else "without", all_starts,
                     f"**{measure.percent(right, right + wrong)}**", f"**{measure.percent(right, all_starts)}**"))
    for name, frames, wrong, missed in worst:
        log(f"  {name} {'with' if frames else 'without'} .eh_frame: wrong {[hex(a) for a in wrong]} "
            f"missed {[hex(a) for a in missed]}")
    return measure.table(("program", ".eh_frame", "functions", "precision", "recall"), rows)
