"""Bar charts as SVG, written by hand: panels of horizontal bars on logarithmic axes."""

import html
import math

WIDTH = 860
LEFT = 190  # for the names
RIGHT = 90  # for the values
BAR = 15
GAP = 6
HEAD = 46
INK, GRID, PAPER = "#1f2328", "#d8dee4", "#ffffff"
OURS, DURABLE, OTHER = "#0b6e4f", "#4a6fa5", "#a9b4c2"


def text(x, y, content, anchor="start", size=12, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}" fill="{INK}">{html.escape(content)}</text>')


def short(value):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.{0 if value >= 10 * size else 1}f}{unit}".replace(".0", "")
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def colour(name, durable):
    return OURS if name.startswith("wallock") else DURABLE if durable else OTHER


def panel(title, bars, top):
    """bars: (name, value, durable); the best is on top already. Returns lines and the height."""
    values = [value for _, value, _ in bars if value > 0]
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)
    span = WIDTH - LEFT - RIGHT

    def x(value):
        return LEFT + span * (math.log10(value) - low) / (high - low)

    bottom = top + HEAD + len(bars) * (BAR + GAP)
    lines = [text(16, top + 20, title, size=14, weight="bold")]
    for power in range(low, high + 1):
        at = x(10.0 ** power)
        lines.append(f'<line x1="{at:.1f}" y1="{top + HEAD - 6}" x2="{at:.1f}" y2="{bottom}" '
                     f'stroke="{GRID}"/>')
        lines.append(text(at, top + HEAD - 10, short(10.0 ** power), "middle", 10))
    for i, (name, value, durable) in enumerate(bars):
        y = top + HEAD + i * (BAR + GAP)
        end = x(value) if value > 0 else LEFT
        lines.append(text(LEFT - 8, y + BAR - 3, name, "end",
                          weight="bold" if name.startswith("wallock") else "normal"))
        lines.append(f'<rect x="{LEFT}" y="{y}" width="{max(end - LEFT, 1):.1f}" height="{BAR}" '
                     f'fill="{colour(name, durable)}"/>')
        lines.append(text(max(end, LEFT + 1) + 5, y + BAR - 3, short(value), size=11))
    return lines, bottom - top + 14


def legend(top):
    lines, x = [], 16
    for label, fill in (("wallock", OURS), ("flushed before every answer", DURABLE),
                        ("less than that", OTHER)):
        lines.append(f'<rect x="{x}" y="{top + 8}" width="12" height="12" fill="{fill}"/>')
        lines.append(text(x + 18, top + 18, label, size=11))
        x += 46 + 7 * len(label)
    return lines


def chart(panels):
    """panels: (title, bars). The whole picture."""
    lines, top = legend(0), 30
    for title, bars in panels:
        if not bars:
            continue
        more, height = panel(title, bars, top)
        lines += more
        top += height
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" '
         f'viewBox="0 0 {WIDTH} {top}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">',
         f'<rect width="{WIDTH}" height="{top}" fill="{PAPER}"/>', *lines, "</svg>", ""])
