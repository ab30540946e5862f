"""The loops that a C source has, by a parser that knows statements only and reads what the preprocessor leaves.

    scan.py FILE.i     prints them
"""

import re
import sys

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d[\w.]*|\S')
MARKER = re.compile(r'#(?:line)? ?(\d+) "((?:\\.|[^"\\])*)"')
CLOSING = {"(": ")", "[": "]", "{": "}"}
# What does not come back.
ENDING = re.compile(r"(exit|abort|_exit|__assert_fail|longjmp|_longjmp|siglongjmp)$")


class Token:
    __slots__ = ("text", "file", "line")

    def __init__(self, text, file, line):
        self.text, self.file, self.line = text, file, line


class Loop:
    """`lines` are those of its head; `first`: of its body's statements up to the first that branches; `calls`: what its
    condition calls; `jumps`: what may leave it in the middle, `jumps_last`: whether the body's last statement may;
    `labels`: whether the body has any."""

    def __init__(self, kind, token):
        self.kind, self.file, self.line = kind, token.file, token.line
        self.lines, self.first, self.jumps, self.calls = set(), [], set(), set()
        self.labels = self.endless = self.jumps_last = self.begins_with_loop = False
        self.test_line = token.line  # of `do`: where its condition is

    def __repr__(self):
        return f"{self.file}:{self.line} {self.kind}{' endless' if self.endless else ''} first {self.first} " \
               f"jumps {sorted(self.jumps)} {'last ' if self.jumps_last else ''}labels {self.labels} calls {sorted(self.calls)}"


def tokens(text):
    result, file, line = [], "", 0
    for row in text.splitlines():
        marker = MARKER.match(row)
        if marker:
            line, file = int(marker[1]), marker[2]
            continue
        if not row.startswith("#"):
            result += [Token(m, file, line) for m in TOKEN.findall(row)]
        line += 1
    return result


class Scanner:
    def __init__(self, text):
        self.t = tokens(text)
        self.loops = []
        self.around = []  # of loops and switches, the innermost last
        self.inlined = set()  # functions that are so always
        self.last = 0  # where the last statement of the block before begins
        self._file()

    def _text(self, i):
        return self.t[i].text if i < len(self.t) else ""

    def _close(self, i):
        """Behind what closes the bracket at i."""
        depth = 0
        while i < len(self.t):
            if self.t[i].text in CLOSING:
                depth += 1
            elif self.t[i].text in (")", "]", "}"):
                depth -= 1
                if depth == 0:
                    return i + 1
            i += 1
        return i

    def _file(self):
        """A brace behind a parenthesis begins a function, or behind declarations of parameters, as they once were."""
        i, inlined = 0, False
        while i < len(self.t):
            inlined |= "always_inline" in self.t[i].text
            if inlined and self._text(i + 1) == "(" and re.match(r"[a-z]\w*$", self.t[i].text) and \
                    self.t[i].text != "__attribute__" and "inline" not in self.t[i].text:
                self.inlined.add(self.t[i].text)
                inlined = False
            if self.t[i].text == "{":
                function = i and self.t[i - 1].text in (")", ";")
                end = self._close(i)
                if function:
                    self._statement(i)
                i = end
            else:
                i += 1

    def _statement(self, i):
        """Scans one, and returns where the next begins."""
        word = self._text(i)
        if word == "{":
            end, last = self._close(i), i + 1
            i += 1
            while i < end - 1:
                last = last if self._text(i) == ";" else i
                i = self._statement(i)
            self.last = last
            return end
        if word in ("for", "while", "do"):
            return self._loop(i)
        if word == "if":
            i = self._statement(self._close(i + 1))
            return self._statement(i + 1) if self._text(i) == "else" else i
        if word == "switch":
            self.around.append(None)
            i = self._statement(self._close(i + 1))
            self.around.pop()
            return i
        if word in ("case", "default"):
            for loop in reversed(self.around):
                if not loop:
                    break
                loop.labels = True
            while self._text(i) not in (":", ""):
                i = self._close(i) if self._text(i) in CLOSING else i + 1
            return i + 1
        if re.match(r"[A-Za-z_]", word) and self._text(i + 1) == ":":
            for loop in self.around:
                if loop:
                    loop.labels = True
            return i + 2
        return self._simple(i)

    def _simple(self, i):
        if self._text(i) in ("break", "return", "goto"):
            self._jump(self._text(i))
        while self._text(i) not in (";", ""):
            if ENDING.match(self._text(i)) and self._text(i + 1) == "(":
                self._jump("end")
            i = self._close(i) if self._text(i) in CLOSING else i + 1
        return i + 1

    def _jump(self, word):
        if word == "break":
            if self.around and self.around[-1]:
                self.around[-1].jumps.add(word)
            return
        for loop in self.around:
            if loop:
                loop.jumps.add(word)

    def _loop(self, i):
        loop = Loop(self._text(i), self.t[i])
        self.loops.append(loop)
        self.around.append(loop)
        if loop.kind == "do":
            body, end = i + 1, self._body(loop, i + 1)
            test, after = (end + 1, self._close(end + 1)) if self._text(end) == "while" else (end, end)
            loop.test_line = self.t[min(test, len(self.t) - 1)].line
            after += 1
        else:
            test, body = i + 1, self._close(i + 1)
            after = self._body(loop, body)
        head = self.t[test:self._close(test)]
        loop.lines = {t.line for t in head}
        words = [t.text for t in head[1:-1]]
        if loop.kind == "for":
            words = words[words.index(";") + 1:] if ";" in words else words
            words = words[:words.index(";")] if ";" in words else words
        loop.calls = {a.text for a, b in zip(head, head[1:]) if b.text == "(" and re.match(r"[A-Za-z_]", a.text)}
        loop.endless = "".join(words).strip("()") in ("", "1", "Bool)1", "true")
        self.around.pop()
        self._first(loop, body)
        inner = self._text(body + 1) if self._text(body) == "{" else self._text(body)
        loop.begins_with_loop = inner in ("for", "while", "do")
        return after

    def _body(self, loop, i):
        end = self._statement(i)
        last = self.last if self._text(i) == "{" else i
        words = [t.text for t in self.t[last:end]]
        loop.jumps_last = words[:1] in (["if"], ["switch"], ["{"]) and any(
            w in ("break", "return", "goto") or ENDING.match(w) for w in words)
        return end

    def _first(self, loop, i):
        """Lines of the first simple statements of the body."""
        end = self._close(i) - 1 if self._text(i) == "{" else None
        if end is not None:
            i += 1
        while end is None or i < end:
            word = self._text(i)
            if word in ("if", "for", "while", "do", "switch", "case", "default", "{", ";") or self._text(i + 1) == ":":
                return
            begin = i
            while self._text(i) not in (";", ""):
                i = self._close(i) if self._text(i) in CLOSING else i + 1
            i += 1
            if self._has_code(begin, i):
                loop.first.append(self.t[begin].line)
            if end is None:
                return

    def _has_code(self, begin, end):
        """Whether it assigns or calls: what does nothing may still have a line, of which gcov tells something else."""
        words = [t.text for t in self.t[begin:end]]
        call = any(b == "(" and re.match(r"[A-Za-z_]", a) and a != "sizeof" for a, b in zip(words, words[1:]))
        return words[0] != "(" and ("=" in words or call)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", errors="replace") as source:
        for each in Scanner(source.read()).loops:
            print(each)
