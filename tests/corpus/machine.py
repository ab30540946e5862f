"""Independent views of a binary, to check Sonde against: marks planted by the corpus, inline chains from
llvm-symbolizer, and loops found the naive way in objdump's listing."""

import collections
import json
import re
import struct
import subprocess

NORETURN = re.compile(
    r"<(exit|abort|_exit|die|die_silently|spin|__assert_fail|longjmp|_longjmp|__longjmp_chk|__cxa_throw|__cxa_rethrow"
    r"|_Unwind_Resume|_ZSt\d+__throw_\w+|__clang_call_terminate|_ZSt9terminatev|_gfortran_\w*(error|stop)\w*"
    r"|__stack_chk_fail|_gfortran_os_error_at|__libc_start_main)(@plt|@@?\w+)*>")
PREFIX = {0xB7: "aarch64-linux-gnu-", 0x3E: "x86_64-linux-gnu-"}


class Elf:
    """Just enough of an ELF64 file: machine and sections."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.bytes = f.read()
        self.machine, = struct.unpack_from("<H", self.bytes, 18)
        shoff, = struct.unpack_from("<Q", self.bytes, 40)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, shoff + i * size) for i in range(count)]
        strings = headers[names][4]
        self.sections = {}
        for h in headers:
            end = self.bytes.index(b"\0", strings + h[0])
            self.sections[self.bytes[strings + h[0]:end].decode()] = h

    def tool(self, name):
        return PREFIX[self.machine] + name

    def section(self, name):
        h = self.sections.get(name)
        return self.bytes[h[4]:h[4] + h[5]] if h and h[1] != 8 else b""


def marks(elf):
    """(address, source line) of each planted mark. Records whose code the linker dropped hold address 0."""
    data = elf.section(".loopmark")
    pairs = struct.iter_unpack("<QQ", data[:len(data) // 16 * 16])
    return [(va, line) for va, line in pairs if va > 1]


def inline_chains(elf, addresses):
    """For each address its frames, innermost first: (function, base name of the file, line). From LLVM's
    symbolizer, since those of binutils and elfutils lose frames of clang's programs."""
    text = "".join(f"{a:#x}\n" for a in addresses)
    out = subprocess.run(["llvm-symbolizer", "-e", elf.path, "--inlines", "--output-style=JSON"], input=text,
                         capture_output=True, text=True, check=True).stdout
    chains = {}
    for line in out.splitlines():
        reply = json.loads(line)
        chains[int(reply["Address"], 16)] = [
            (f["FunctionName"], f["FileName"].rpartition("/")[2], f["Line"]) for f in reply.get("Symbol", [])]
    return chains


class Insn:
    __slots__ = ("va", "next", "name", "target", "calls", "symbol")


BRANCH = re.compile(r"(b\.\w+|cbn?z|tbn?z|j(?!mp)\w+|loop\w*)$")
LISTED = re.compile(r"\s*([0-9a-f]+):\t(\S+)\s*(.*)$")


def _listing(elf):
    """objdump's instructions of .text, and the symbol that each is behind."""
    out = subprocess.run([elf.tool("objdump"), "-d", "-j", ".text", "--no-show-raw-insn", elf.path],
                         capture_output=True, text=True, check=True).stdout
    insns, symbol, starts = [], None, {}
    for line in out.splitlines():
        m = re.match(r"([0-9a-f]+) <(.*)>:$", line)
        if m:
            symbol = m[2]
            starts[int(m[1], 16)] = symbol
            continue
        m = LISTED.match(line)
        if not m or symbol is None:
            continue
        i = Insn()
        i.va, i.name, i.symbol = int(m[1], 16), m[2], symbol
        if i.name in ("bnd", "notrack", "rep", "repz", "lock", "data16", "cs", "ds") and m[3]:
            i.name = m[3].split()[0]
        i.calls = m[3]
        t = re.search(r"(?:^|[\s,])([0-9a-f]+) <", " " + m[3])
        i.target = int(t[1], 16) if t else None
        if insns:
            insns[-1].next = i.va
        i.next = None
        insns.append(i)
    return insns, starts


class Naive:
    """Flow graphs from the listing alone, with direct branches only; loops by textbook definitions."""

    def __init__(self, elf):
        insns, starts = _listing(elf)
        self.insns = {i.va: i for i in insns}
        self.starts = {va for va, s in starts.items() if ".cold" not in s}
        self.names = starts
        self.loops, self.partial, self.seen = {}, set(), {}
        for va in sorted(self.starts):
            self._function(va)

    def _successors(self, i, start):
        """Addresses that follow instruction i; None if they cannot be told."""
        name = i.name
        if name in ("ret", "retq", "udf", "brk", "ud2", "hlt", "retaa", "retab", "eret"):
            return []
        if name in ("br", "braa", "brab"):
            return None
        if name in ("b", "jmp", "jmpq"):
            if i.target is None:
                return None
            return [] if i.target in self.starts and i.target != start else [i.target]
        if name in ("bl", "blr", "call", "callq"):
            return [] if NORETURN.search(i.calls) else [i.next]
        if BRANCH.match(name) and i.target is not None:
            return [i.next] if i.target in self.starts and i.target != start else [i.next, i.target]
        return [i.next]

    def _function(self, start):
        successors, work = {}, [start]
        while work:
            va = work.pop()
            if va in successors or va not in self.insns or (va != start and va in self.starts):
                continue
            next_vas = self._successors(self.insns[va], start)
            if next_vas is None:
                self.partial.add(start)
                next_vas = []
            successors[va] = [n for n in next_vas if n in self.insns and (n not in self.starts or n == start)]
            work += successors[va]
        for va in successors:
            self.seen.setdefault(va, start)
        self._find_loops(start, successors)

    def _find_loops(self, start, successors):
        nodes, edges = _blocks(start, successors)
        dominators = _dominators(start, nodes, edges)
        predecessors = collections.defaultdict(list)
        for n in nodes:
            for s in edges[n]:
                predecessors[s].append(n)
        for n in nodes:
            for s in edges[n]:
                if s in dominators[n]:
                    self._add_back_edge(start, n, s, nodes, predecessors)

    def _add_back_edge(self, start, latch, header, nodes, predecessors):
        members, work = {header}, [latch]
        while work:
            n = work.pop()
            if n not in members:
                members.add(n)
                work += predecessors[n]
        loop = self.loops.setdefault((start, header), {"insns": set(), "latches": set(), "header": header,
                                                       "function": start})
        loop["insns"].update(va for m in members for va in nodes[m])
        loop["latches"].add(nodes[latch][-1])

    def exits(self, loop):
        """Branches that leave the loop."""
        for va in loop["insns"]:
            i = self.insns[va]
            if BRANCH.match(i.name) and i.target is not None and not {i.next, i.target} <= loop["insns"]:
                yield va

    def tests(self, loop):
        """Those that decide between another round and leaving."""
        return [va for va in self.exits(loop) if va in loop["latches"]]

    def loops_at(self, va):
        return [l for l in self.loops.values() if va in l["insns"]]


def _blocks(start, successors):
    """Basic blocks by first address, and edges between them."""
    count = collections.Counter(s for n in successors.values() for s in n)
    leaders = {start} | {s for n in successors.values() if len(n) != 1 for s in n}
    leaders |= {s for s, c in count.items() if c > 1}
    nodes, edges = {}, {}
    for leader in leaders & successors.keys():
        run = [leader]
        while len(successors[run[-1]]) == 1 and successors[run[-1]][0] not in leaders:
            run.append(successors[run[-1]][0])
        nodes[leader], edges[leader] = run, successors[run[-1]]
    return nodes, edges


def _dominators(start, nodes, edges):
    """Sets of dominators, by iteration to the fixed point."""
    order, seen, stack = [], {start}, [(start, iter(edges[start]))]
    while stack:
        n, it = stack[-1]
        for s in it:
            if s not in seen:
                seen.add(s)
                stack.append((s, iter(edges[s])))
                break
        else:
            order.append(n)
            stack.pop()
    order.reverse()
    predecessors = collections.defaultdict(list)
    for n in nodes:
        for s in edges[n]:
            predecessors[s].append(n)
    dominators = {n: None for n in nodes}
    dominators[start] = {start}
    changed = True
    while changed:
        changed = False
        for n in order:
            if n == start:
                continue
            known = [dominators[p] for p in predecessors[n] if dominators[p] is not None]
            new = set.intersection(*known) | {n}
            if new != dominators[n]:
                dominators[n], changed = new, True
    return {n: d if d is not None else set() for n, d in dominators.items()}
