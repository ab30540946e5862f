"""Switch jumps of large programs: how many does Sonde resolve?

objdump's listing, not Sonde, decides what a switch jump is: an indirect jump whose target was computed, in the few
instructions before it, from a load with a scaled or byte index. Each of these must end a block whose successors are
known. The last column counts indirect jumps that Sonde leaves unresolved and that the listing does not call a switch."""

import collections
import re
import subprocess

import measure
import programs

BACK = 14  # instructions before the jump that are looked at
INDEXED = {
    # ldrb w1, [x2, w3, uxtw]; ldrsw x1, [x2, x3, lsl #2]; ldrh, ldr the same
    "a64": re.compile(r"^(ldrs?[bhw]?)\s+([wx]\d+), \[([wx]\d+), ([wx]\d+)(, (uxtw|sxtw|lsl)( #\d)?)?\]"),
    "x64": re.compile(r"\(,?%\w+,%?\w*,?[48]\)|0x[0-9a-f]+\(,%\w+,8\)"),
}


def _register(name):
    """The number of an A64 register, whichever width."""
    return name.lstrip("wx")


def _a64_is_switch(window):
    """window: instructions up to the jump, oldest first."""
    m = re.match(r"br\s+(x\d+)", window[-1][1])
    if not m:
        return False
    wanted = {_register(m[1])}
    for _, text in reversed(window[:-1]):
        load = INDEXED["a64"].match(text)
        if load and _register(load[2]) in wanted:
            return True
        if re.match(r"(ret|b|br|bl|blr)\b", text):
            return False
        operands = re.findall(r"\b[wx](\d+)\b", text)
        if operands and operands[0] in wanted and text.startswith("add"):
            wanted |= set(operands[1:])
        elif operands and operands[0] in wanted and not text.startswith(("add", "cmp", "str", "stp")):
            wanted.discard(operands[0])
    return False


def _x64_is_switch(window):
    text = window[-1][1]
    if re.search(r"jmp\w*\s+\*(0x)?[0-9a-f]*\((%\w+)?,%\w+,8\)", text):
        return True
    m = re.search(r"jmp\w*\s+\*(%\w+)", text)
    if not m:
        return False
    for _, before in reversed(window[:-1]):
        if re.match(r"(movslq|movs[lq]\w*)\s+.*\(%\w+,%\w+,4\)", before):
            return True
        if re.match(r"mov\s+.*\(,?(%\w+)?,?%\w+,8\)," + re.escape(m[1]), before):
            return True
        if re.match(r"(notrack |bnd )?(ret|jmp|call)", before):
            return False
    return False


def switch_jumps(path, arch):
    """Addresses of switch jumps by objdump's listing."""
    is_switch = {"a64": _a64_is_switch, "x64": _x64_is_switch}[arch]
    jump = {"a64": re.compile(r"br\s+x"), "x64": re.compile(r"(notrack |bnd )?jmp\w*\s+\*")}[arch]
    window, out = collections.deque(maxlen=BACK), []
    command = [f"{programs.TRIPLES[arch]}-objdump", "-d", "--no-show-raw-insn", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as p:
        section_is_plt = False
        for line in p.stdout:
            if line.startswith("Disassembly of section"):
                section_is_plt = ".plt" in line
            head, tab, text = line.partition(":\t")
            if not tab:
                continue
            text = text.strip().replace("\t", " ")
            window.append((int(head, 16), text))
            if jump.match(text) and not section_is_plt and is_switch(list(window)):
                out.append(window[-1][0])
    return out


def block_ends(sonde, path):
    """For each block of `sonde dump cfg`: how it ends, by the address behind it; and unresolved ones."""
    ends, unresolved, function = {}, [], "?"
    with subprocess.Popen([sonde, "dump", "cfg", path], stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            if line.startswith("function "):
                function = line.split()[1]
                continue
            m = re.match(r"  block \d+ (0x[0-9a-f]+)-(0x[0-9a-f]+) insns=\d+ end=(\S+)", line)
            if not m:
                continue
            ends[int(m[2], 16)] = m[3]
            if m[3] == "unresolved":
                unresolved.append((int(m[2], 16), function))
    return ends, unresolved


def next_addresses(path, arch, jumps):
    """The address behind each jump."""
    if arch == "a64":
        return {j: j + 4 for j in jumps}
    wanted, out, last = set(jumps), {}, None
    command = [f"{programs.TRIPLES[arch]}-objdump", "-d", "--no-show-raw-insn", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as p:
        for line in p.stdout:
            head, tab, _ = line.partition(":\t")
            if tab:
                va = int(head, 16)
                if last in wanted:
                    out[last] = va
                last = va
    return out


def inputs(p, quick):
    host = programs.HOST
    out = [("python3", lambda: p.system("python3"), host)]
    if not quick:
        out += [("gdb", lambda: p.system("gdb"), host), ("cc1", lambda: p.system("cc1"), host),
                ("sqlite3, gcc", lambda: p.sqlite("x64"), "x64"), ("sqlite3, clang", lambda: p.sqlite("x64", "clang"), "x64"),
                ("libstdc++", lambda: p.package_file("x64", "libstdc++6", "**/libstdc++.so.6*"), "x64"),
                ("python3", lambda: p.package_file("x64", "python3.11-minimal", "usr/bin/python3.11"), "x64")]
    return out


def report(sonde, p, quick, log):
    rows, rest = [], []
    for name, make, arch in inputs(p, quick):
        log(f"jump tables: {name} {arch}")
        try:
            path = make()
        except programs.Missing as e:
            log(f"  not measured: {e}")
            rows.append((name, arch, "not measured", "", "", ""))
            continue
        jumps = switch_jumps(path, arch)
        ends, unresolved = block_ends(sonde, path)
        behind = next_addresses(path, arch, jumps)
        missed = [(j, ends.get(behind.get(j, j), "not reached")) for j in jumps if ends.get(behind.get(j, j)) != "switch"]
        total = len([e for e in ends.values() if e == "switch"])
        rows.append((name, arch, len(jumps), measure.percent(len(jumps) - len(missed), len(jumps)), total, len(unresolved)))
        rest += [f"- {name} {arch}: jump at {j:#x}: {end}" for j, end in missed[:40]]
        rest += [f"- {name} {arch}: unresolved in {proc}, ending {va:#x}" for va, proc in unresolved[:40]
                 if va not in behind.values()]
    text = measure.table(("program", "architecture", "switch jumps by listing", "resolved (goal 99 %)",
                          "jumps Sonde calls a switch", "indirect jumps left unresolved"), rows)
    return text + ("\n\nThe rest:\n\n" + "\n".join(rest) if rest else "\n\nNothing is left over.")
