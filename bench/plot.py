"""Small line charts as SVG: panels side by side, each with curves that rise in steps over time."""

import os
from xml.sax.saxutils import escape

COLORS = ("#b2182b", "#2166ac", "#1b7837", "#762a83")
DASHES = ("", "6 3", "2 2", "8 2 2 2")
WIDTH, HEIGHT = 300, 190          # of a panel's axes
LEFT, TOP, RIGHT, BOTTOM = 52, 30, 14, 40
TICKS = (1, 2, 5)


class Panel:
    """curves: {name: [moments at which one more was found]}, and how many make a whole, of which per cent are shown; without,
    the number itself is."""

    def __init__(self, title, curves, whole=None):
        self.title, self.curves, self.whole = title, curves, whole

    def top(self):
        return 100.0 if self.whole else max([len(t) for t in self.curves.values()] + [1])

    def last(self):
        return max([t[-1] for t in self.curves.values() if t] + [0.1])


def _step(most):
    """A round distance of marks on an axis, for four to eight of them."""
    power = 0.01
    while True:
        for tick in TICKS:
            if most / (tick * power) <= 7:
                return tick * power
        power *= 10


def _marks(most):
    step, n = _step(most), 0
    while n * step <= most * 1.001:
        yield n * step
        n += 1


def _text(x, y, text, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _line(x1, y1, x2, y2, color):
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{color}" fill="none"/>'


class _Axes:
    """Where things are in a panel."""

    def __init__(self, panel, at):
        self.panel, self.at = panel, at
        self.widest, self.highest = panel.last() * 1.05, panel.top()

    def x(self, value):
        return self.at[0] + LEFT + WIDTH * value / self.widest

    def y(self, value):
        return self.at[1] + TOP + HEIGHT * (1 - value / self.highest)

    def frame(self, unit):
        yield _text(self.x(self.widest / 2), self.at[1] + 18, self.panel.title, more=' font-weight="bold"')
        for v in _marks(self.highest):
            yield _line(self.x(0), self.y(v), self.x(self.widest), self.y(v), "#ddd")
            yield _text(self.x(0) - 5, self.y(v) + 4, f"{v:g}", "end")
        for v in _marks(self.widest):
            yield _line(self.x(v), self.y(0), self.x(v), self.y(0) + 4, "#444")
            yield _text(self.x(v), self.y(0) + 17, f"{v:g}")
        yield _line(self.x(0), self.y(0), self.x(self.widest), self.y(0), "#444")
        yield _line(self.x(0), self.y(0), self.x(0), self.y(self.highest), "#444")
        yield _text(self.x(self.widest / 2), self.y(0) + 32, "seconds")
        x, y = self.at[0] + 13, self.y(self.highest / 2)
        yield _text(x, y, unit, more=f' transform="rotate(-90 {x:.1f} {y:.1f})"')

    def curve(self, times, style):
        scale = 100.0 / self.panel.whole if self.panel.whole else 1.0
        path = f"M{self.x(0):.1f} {self.y(0):.1f}"
        for n, t in enumerate(times):
            path += f"H{self.x(t):.1f}V{self.y((n + 1) * scale):.1f}"
        path += f"H{self.x(self.widest):.1f}"
        dash = f' stroke-dasharray="{DASHES[style]}"' if DASHES[style] else ""
        return f'<path d="{path}" stroke="{COLORS[style]}" stroke-width="2" fill="none"{dash}/>'


def _legend(names, wide, y):
    for i, name in enumerate(names):
        x = LEFT + i * min(190, (wide - LEFT) // len(names))
        dash = f' stroke-dasharray="{DASHES[i]}"' if DASHES[i] else ""
        yield f'<path d="M{x} {y}h28" stroke="{COLORS[i]}" stroke-width="2" fill="none"{dash}/>'
        yield _text(x + 34, y + 4, name, "start")


def chart(panels, names, unit, columns=2):
    """The file's text. names: of the curves, the same in all panels."""
    columns = min(columns, len(panels))
    across, down = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    wide, high = columns * across, -(-len(panels) // columns) * down + 26
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
             'font-family="sans-serif" font-size="12" fill="#222">', f'<rect width="{wide}" height="{high}" fill="#fff"/>']
    for i, panel in enumerate(panels):
        axes = _Axes(panel, (i % columns * across, i // columns * down))
        parts += axes.frame(unit)
        parts += [axes.curve(panel.curves[n], style) for style, n in enumerate(names) if n in panel.curves]
    return "\n".join([*parts, *_legend(names, wide, high - 14), "</svg>"]) + "\n"


def written(folder, name, text):
    """Writes it, and gives what refers to it."""
    with open(os.path.join(folder, f"{name}.svg"), "w", encoding="ascii") as f:
        f.write(text)
    return f"![{name}]({name}.svg)"
