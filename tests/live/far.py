"""Copies of programs and libraries that lie far from all others in their own addresses.

callgrind subtracts from an address where its object was loaded, but names another object when it has lost track of calls.
With modules whose addresses do not overlap, the address alone tells. Only position-independent files can be moved: their
code does not know where it is; what their tables say of addresses is moved along. Debugging information is not."""

import os
import struct

# Entries of the dynamic section that are addresses.
POINTERS = {3, 4, 5, 6, 7, 12, 13, 23, 25, 26, 32, 0x6ffffef5, 0x6ffffef6, 0x6ffffef7, 0x6ffffff0, 0x6ffffffc, 0x6ffffffe}
DT_RELA, DT_RELASZ, DT_SYMTAB, DT_JMPREL, DT_PLTRELSZ, DT_RELR = 7, 8, 6, 23, 2, 36
PT_DYNAMIC, PT_LOAD, PT_NOTE, NT_GNU_BUILD_ID = 2, 1, 4, 3
SHT_SYMTAB, SHT_DYNSYM, SHF_ALLOC, STT_TLS, SHN_ABS = 2, 11, 2, 6, 0xfff1
# Relocation types: (relative, by a resolver, slot of the PLT).
RELOCATIONS = {0xB7: (1027, 1032, 1026), 0x3E: (8, 37, 7)}


class Far:
    def __init__(self, data, shift):
        self.data, self.shift = bytearray(data), shift
        self.machine, = struct.unpack_from("<H", data, 18)
        kind, = struct.unpack_from("<H", data, 16)
        if data[:6] != b"\x7fELF\x02\x01" or kind != 3:
            raise ValueError("not a position-independent file")
        self._header_tables()
        self._dynamic()
        self._symbols()
        self._identity()
        self._segments()

    def _add(self, at):
        value, = struct.unpack_from("<Q", self.data, at)
        struct.pack_into("<Q", self.data, at, value + self.shift)

    def _header_tables(self):
        phoff, shoff = struct.unpack_from("<QQ", self.data, 32)
        phsize, phcount, shsize, shcount = struct.unpack_from("<HHHH", self.data, 54)
        self.segments = [phoff + i * phsize for i in range(phcount)]
        self.sections = [shoff + i * shsize for i in range(shcount)]

    def _offset(self, va):
        for at in self.segments:
            kind, _, offset, start, _, size = struct.unpack_from("<IIQQQQ", self.data, at)
            if kind == PT_LOAD and start <= va < start + size:
                return offset + va - start
        raise ValueError(f"{va:#x} is not in the file")

    def _dynamic(self):
        at = next(struct.unpack_from("<Q", self.data, s + 8)[0] for s in self.segments
                  if struct.unpack_from("<I", self.data, s)[0] == PT_DYNAMIC)
        entries = {}
        while True:
            tag, value = struct.unpack_from("<QQ", self.data, at)
            entries[tag] = value
            if tag == 0:
                break
            if tag in POINTERS:
                self._add(at + 8)
            at += 16
        if DT_RELR in entries:
            raise ValueError("packed relocations")
        for table, size in ((DT_RELA, DT_RELASZ), (DT_JMPREL, DT_PLTRELSZ)):
            if table in entries:
                self._relocations(self._offset(entries[table]), entries[size] // 24)

    def _relocations(self, at, count):
        relative, resolver, slot = RELOCATIONS[self.machine]
        for r in range(at, at + count * 24, 24):
            where, kind = struct.unpack_from("<QI", self.data, r)
            if kind in (relative, resolver):
                self._add(r + 16)
            elif kind == slot:
                self._add(self._offset(where))  # leads to the code that binds it
            self._add(r)

    def _symbols(self):
        for at in self.sections:
            _, kind, _, _, offset, size, _, _, _, _ = struct.unpack_from("<IIQQQQIIQQ", self.data, at)
            if kind not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            for s in range(offset, offset + size, 24):
                info, section = struct.unpack_from("<BxH", self.data, s + 4)
                if section not in (0, SHN_ABS) and info & 15 != STT_TLS:
                    self._add(s + 8)

    def _identity(self):
        """It is another file: what is known of the first by its build id is not true of it."""
        for at in self.segments:
            kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", self.data, at)
            if kind == PT_NOTE and b"GNU\0" in self.data[offset:offset + size]:
                self._change_build_id(offset, offset + size)

    def _change_build_id(self, at, end):
        while at + 12 <= end:
            name, size, kind = struct.unpack_from("<III", self.data, at)
            at += 12 + ((name + 3) & ~3)
            if kind == NT_GNU_BUILD_ID:
                self.data[at] ^= 0xff
            at += (size + 3) & ~3

    def _segments(self):
        """Last, because offsets are found by them."""
        if struct.unpack_from("<Q", self.data, 24)[0]:  # libraries have no entry
            self._add(24)
        for at in self.segments:
            if struct.unpack_from("<Q", self.data, at + 40)[0]:  # has memory
                self._add(at + 16)
                self._add(at + 24)
        for at in self.sections:
            if struct.unpack_from("<Q", self.data, at + 8)[0] & SHF_ALLOC:
                self._add(at + 16)


def copy(source, out, shift):
    with open(source, "rb") as f:
        moved = Far(f.read(), shift).data
    with open(out, "wb") as f:
        f.write(moved)
    os.chmod(out, 0o755)
    return str(out)
