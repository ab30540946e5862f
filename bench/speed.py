"""Time and memory, as ratios of runs that alternate."""

import os
import shutil

import measure
import programs


def ratio(a, b):
    return f"1/{b / a:.1f}" if a < b else f"{a / b:.2f}"


def _row(what, mine, peer, peer_name, goal):
    reached = "" if goal[0] is None else "yes" if mine.seconds / peer.seconds <= goal[0] else "**no**"
    return (what, f"{mine.seconds:.3f} s", f"{peer_name}: {peer.seconds:.3f} s",
            ratio(mine.seconds, peer.seconds), goal[1], reached)


def against_objdump(sonde, p, rounds):
    gdb = p.system("gdb")
    r = measure.interleaved({"sonde": [sonde, "structure", "--no-cache", "--no-debug", "--stats", gdb],
                             "objdump": ["objdump", "-d", gdb]}, rounds)
    return [_row("gdb without DWARF", r["sonde"], r["objdump"], "`objdump -d`", (0.1, "at most 1/10"))]


def of_cc1(sonde, p, rounds):
    cc1 = p.system("cc1")
    commands = {"sonde": [sonde, "structure", "--no-cache", "--no-debug", "--stats", cc1], "objdump": ["objdump", "-d", cc1]}
    if shutil.which("hpcstruct"):
        commands["hpcstruct"] = ["hpcstruct", "-j", str(os.cpu_count()), "-o", "/dev/null", cc1]
    r = measure.interleaved(commands, rounds)
    rows = [_row("cc1 without DWARF", r["sonde"], r["objdump"], "`objdump -d`", (None, "(for scale)"))]
    if "hpcstruct" in r:
        rows.append(_row("cc1", r["sonde"], r["hpcstruct"], "hpcstruct", (0.1, "at most 1/10")))
    memory = measure.sonde_json(sonde, "--no-debug", "--stats", cc1)["stats"]["peak_memory"]
    rows.append(("cc1, peak memory", f"{memory >> 20} MB", "", "", "under 1000 MB", "yes" if memory < 1e9 else "**no**"))
    return rows


def with_dwarf(sonde, p, rounds):
    sqlite = p.sqlite(programs.HOST, debug=True)
    r = measure.interleaved({"sonde": [sonde, "structure", "--no-cache", "--stats", sqlite],
                             "readelf": ["eu-readelf", "--debug-dump=info", sqlite]}, rounds)
    return [_row("sqlite3 -O2 -g with DWARF", r["sonde"], r["readelf"], "`eu-readelf --debug-dump=info`", (1, "at most 1"))]


def against_libdw(sonde, p, rounds):
    """The same work with Sonde's reader and with libdw alone. Clang writes no sibling attributes."""
    reader = measure.built(sonde, "dwarf_read")
    rows = []
    for compiler in "gcc", "clang":
        sqlite = p.sqlite(programs.HOST, compiler, debug=True)
        r = measure.interleaved({"sonde": [reader, "sonde", sqlite], "libdw": [reader, "libdw", sqlite]}, rounds)
        rows.append(_row(f"DWARF of sqlite3 alone, {compiler} -O2 -g", r["sonde"], r["libdw"], "libdw", (1, "at most 1")))
    return rows


def from_cache(sonde, p, rounds):
    """First run into an empty cache, second run from it."""
    rows = []
    for name, make in (("sqlite3 -O2 -g", lambda: p.sqlite(programs.HOST, debug=True)), ("gdb", lambda: p.system("gdb"))):
        path, folder = make(), p.path("cache")
        firsts, seconds = [], []
        for _ in range(rounds):
            shutil.rmtree(folder, ignore_errors=True)
            for runs in (firsts, seconds):
                r = measure.timed([sonde, "structure", "--stats", path], {"XDG_CACHE_HOME": folder})
                if r.status:
                    raise RuntimeError(r.error[:200])
                runs.append(r)
        middle = rounds // 2
        first = sorted(firsts, key=lambda r: r.seconds)[middle]
        second = sorted(seconds, key=lambda r: r.seconds)[middle]
        rows.append(_row(f"{name}, second run", second, first, "first run", (0.1, "at most 1/10")))
    return rows


def report(sonde, p, quick, log):
    rounds, rows = (3, []) if quick else (7, [])
    for part in (against_objdump, of_cc1, with_dwarf, against_libdw, from_cache):
        log(f"speed: {part.__name__.replace('_', ' ')}")
        try:
            rows += part(sonde, p, min(rounds, 3) if part is of_cc1 else rounds)
        except (programs.Missing, FileNotFoundError) as e:
            log(f"  not measured: {e}")
            rows.append((part.__name__.replace("_", " "), "not measured", "", "", "", ""))
    return measure.table(("what", "Sonde", "peer", "ratio", "goal", "reached"), rows)
