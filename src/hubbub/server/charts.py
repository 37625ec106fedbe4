"""Small drawings as SVG paths; the browser's `chart.js` draws the same ones anew when a tick comes."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub.server.curves import Curve

WIDTH, HEIGHT = 600.0, 100.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Path data for a box of 600 by 100: the band, the line where it was measured, and where it was predicted."""

    band: str
    line: str
    predicted: str


def draw(curve: Curve, first: int, last: int, top: float) -> Drawing:
    """`first` and `last` are the ticks at the box's edges, `top` the value at its upper edge.

    >>> draw(Curve.of([(0, 0.0, 0.0, 5.0, 0), (1, 10.0, 5.0, 10.0, 0)]), 0, 1, 10.0).line
    'M0 100L600 0'
    """
    across, down = WIDTH / max(1, last - first), HEIGHT / (top or 1.0)

    def y(value: float) -> str:
        return f"{min(max(HEIGHT - down * value, 0.0), HEIGHT):.4g}"

    band: list[str] = []
    measured: list[str] = []
    predicted: list[str] = []
    run: list[tuple[str, str, str]] = []
    before: str | None = None
    for tick, value, lower, upper, was_predicted in curve.points:
        if value is None:
            before = None
            band.append(_closed(run))
            run = []
            continue
        x = f"{across * (tick - first):.4g}"
        here = f"{x} {y(value)}"
        if before is not None:
            (predicted if was_predicted else measured).append(f"M{before}L{here}")
        before = here
        if lower is None or upper is None:
            band.append(_closed(run))
            run = []
        else:
            run.append((x, y(upper), y(lower)))
    band.append(_closed(run))
    return Drawing("".join(band), _joined(measured), _joined(predicted))


def nice_top(curves: list[Curve]) -> float:
    """A round number just above everything in these curves: one digit and zeros.

    >>> nice_top([Curve.of([(0, 12.0, 3.0, 31.0, 0)])])
    40.0
    """
    largest = max((c.top for c in curves), default=0.0)
    if largest <= 0:
        return 1.0
    power = 10.0 ** len(str(int(largest)))
    return next(power * part for part in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0) if power * part >= largest)


def _closed(run: list[tuple[str, str, str]]) -> str:
    if len(run) < 2:
        return ""
    over = "L".join(f"{x} {upper}" for x, upper, _ in run)
    under = "L".join(f"{x} {lower}" for x, _, lower in reversed(run))
    return f"M{over}L{under}Z"


def _joined(pieces: list[str]) -> str:
    """Pieces that begin where the one before ended become one line."""
    path: list[str] = []
    at = ""
    for piece in pieces:
        start, _, end = piece[1:].partition("L")
        path.append(f"L{end}" if start == at else piece)
        at = end
    return "".join(path)
