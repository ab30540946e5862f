"""The loops that an annotated source has: reads LOOP lines (loop.h says what they mean) and the nesting."""

import re

LOOP = re.compile(r"\bLOOP\((\w+), (\d+)((?:, \w+)*)\)")
END = re.compile(r"/\*END (\w+)\*/")


class Loop:
    """One loop of the source; `lines` are those that may count as its own."""

    def __init__(self, name, depth, flags, line):
        self.name, self.depth, self.flags = name, depth, flags
        self.line, self.end = line, line
        self.lines = {line}

    def __repr__(self):
        return f"{self.name}:{self.line}"


class Source:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as f:
            self.text = f.read().splitlines()
        self.loops, self.made, self.bodies = [], set(), []
        self._scan()
        self.by_line = {l.line: l for l in self.loops}
        for loop in self.loops:
            self._own_lines(loop)

    def _scan(self):
        fortran = self.path.endswith(".f90")
        for number, line in enumerate(self.text, 1):
            if re.search(r"/\*MADE|!MADE", line):
                self.made.add(number)
            if line.startswith("#"):
                continue
            m = LOOP.search(line)
            if m:
                flags = set(m[3].replace(",", " ").split())
                loop = Loop(m[1], int(m[2]), flags, number)
                self.loops.append(loop)
                loop.end = self._end_of_do(number) if fortran else self._end(number, loop)
            if "/*BODY*/" in line:
                self.bodies.append((number, self._closing_brace(number)))

    def _end(self, number, loop):
        for i, line in enumerate(self.text, 1):
            m = END.search(line)
            if m and m[1] == loop.name:
                return i
        return self._closing_brace(number)

    def _closing_brace(self, number):
        """The line on which the brace closes that the line leaves open."""
        depth = 0
        for i in range(number, len(self.text) + 1):
            line = re.sub(r'"(\\.|[^"])*"|\'(\\.|[^\'])*\'|//.*|/\*.*?\*/', "", self.text[i - 1])
            for c in line[line.find("{") if i == number else 0:]:
                depth += {"{": 1, "}": -1}.get(c, 0)
            if depth <= 0:
                return i
        raise ValueError(f"{self.path}:{number}: no closing brace")

    def _end_of_do(self, number):
        depth = 0
        for i in range(number, len(self.text) + 1):
            line = self.text[i - 1].strip()
            if re.match(r"(\w+:\s*)?do\b", line):
                depth += 1
            elif line.startswith("end do"):
                depth -= 1
                if depth == 0:
                    return i
        raise ValueError(f"{self.path}:{number}: no end do")

    def _own_lines(self, loop):
        text = self.text[loop.line - 1]
        if loop.flags & {"multi", "tail", "irreducible"}:
            loop.lines = set(self._function(loop.line))
        elif re.search(r"for \(;;\)|while \((1|true)\)|^\s*do ;", text):
            # An endless loop has no code on its own line: the first of its body will do.
            loop.lines |= set(range(loop.line, loop.end + 1))
            for inner in self.loops:
                if loop.line < inner.line <= loop.end:
                    loop.lines -= set(range(inner.line, inner.end + 1))
        elif re.search(r"\bdo \{", text) or "END" in self.text[loop.end - 1]:
            loop.lines.add(loop.end)
        for inner in self.loops:
            # Merged with its parent, a shared loop may lend it its line.
            if "shared" in inner.flags and loop.line < inner.line <= loop.end:
                loop.lines.add(inner.line)

    def _function(self, line):
        """The lines of the C function around a line, by the braces in the first column."""
        first = max(i for i in range(1, line + 1) if self.text[i - 1].startswith("{"))
        last = min(i for i in range(line, len(self.text) + 1) if self.text[i - 1].startswith("}"))
        return range(first - 1, last + 1)

    def around(self, line):
        """The loops around a line, outermost first, back to the function that the line is in."""
        body = max((b for b in self.bodies if b[0] <= line <= b[1]), default=(0, 0))
        return [l for l in self.loops if l.line <= line <= l.end and l.line >= body[0]]

    def allowed_lines(self):
        """Every line that a loop found in this file may have."""
        lines = set(self.made)
        for loop in self.loops:
            lines |= loop.lines
        return lines
