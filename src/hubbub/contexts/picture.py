"""Pictures of a day as SVG files, which every browser opens: they need nothing that would have to be installed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidInput
from hubbub.files import write_file

if TYPE_CHECKING:
    from hubbub.contexts.adversary import Adversary
    from hubbub.contexts.chain import ContextChain

_COLOURS = ("#0072b2", "#c14f00", "#007f5c", "#a3527f", "#8a6100", "#7a4fa3", "#5b5b5b", "#4c7a00", "#2f7fae")
_TURNS = (0, 45, 135, 90)
"""Beyond the ninth context colours come again, under stripes at these angles."""
_LEFT, _WIDTH, _LINE = 110, 760, 20
_LEGEND = 190
_LONGEST = 24
_FILL = 'fill=""'


class Picture:
    """Parts one below the other; `save` writes them."""

    def __init__(self, contexts: Sequence[str], ticks: int, title: str) -> None:
        self._contexts, self._ticks = contexts, ticks
        self._parts = [_text(8, 24, title, "b")]
        self._below = 44

    def share(self, table: NDArray[np.float64]) -> None:
        """[t, i]: how likely each context is at each tick, piled up."""
        height, top = 260.0, self._below
        edges = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)
        ticks = range(len(table))
        for place, name in enumerate(self._contexts):
            upper, lower = (top + height * (1 - edges[:, place + side]) for side in (1, 0))
            corners = [(self._x(t + side), upper[t]) for t in ticks for side in (0, 1)]
            corners += [(self._x(t + side), lower[t]) for t in reversed(ticks) for side in (1, 0)]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
            self._filled(place, f'<polygon points="{points}" {_FILL}><title>{escape(name)}</title></polygon>')
        for part in (0, 50, 100):
            self._parts.append(_text(_LEFT - 8, top + height * (1 - part / 100) + 4, f"{part} %", "end"))
        self._below += int(height)
        self.axis()

    def ribbon(self, caption: str, day: Sequence[int | None]) -> None:
        """A day, or what is shown of it: None is suppressed."""
        self._parts.append(_text(_LEFT - 8, self._below + 21, caption, "end"))
        for context, run in groupby(enumerate(day), key=lambda pair: pair[1]):
            ticks = [tick for tick, _ in run]
            first, end = self._x(ticks[0]), self._x(ticks[-1] + 1)
            what = "suppressed" if context is None else self._contexts[context]
            said = f"<title>ticks {ticks[0]} to {ticks[-1]}: {escape(what)}</title>"
            shape = (
                f'<rect x="{first:.1f}" y="{self._below}" width="{end - first:.1f}" height="32" {_FILL}>{said}</rect>'
            )
            if context is None:
                self._parts.append(shape.replace(_FILL, 'fill="url(#nothing)"'))
            else:
                self._filled(context, shape)
        self._below += 40

    def belief(self, caption: str, first: int, before: Sequence[float], after: Sequence[float], delta: float) -> None:
        """From tick `first` on: what was believed before, what is afterwards, and how far it might have risen."""
        height, top = 80, self._below
        for part in (0, 100):
            y = top + height * (1 - part / 100)
            self._parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}" class="grid"/>')
            self._parts.append(_text(_LEFT - 8, y + 4, f"{part} %", "end"))
        self._parts.append(_text(_LEFT - 8, top + height / 2 + 4, _short(caption, 14), "end"))
        limits = [min(1.0, share + delta) for share in before]
        for kind, shares in (("limit", limits), ("before", before), ("after", after)):
            steps = " ".join(
                f"{self._x(first + k + side):.1f},{top + height * (1 - share):.1f}"
                for k, share in enumerate(shares)
                for side in (0, 1)
            )
            self._parts.append(f'<polyline points="{steps}" class="{kind}"/>')
        for k, share in enumerate(after):
            if share > before[k] + delta + 1e-9:
                x, y = self._x(first + k + 0.5), top + height * (1 - share)
                corners = f"{x - 5:.1f},{y + 9:.1f} {x + 5:.1f},{y + 9:.1f} {x:.1f},{y:.1f}"
                self._parts.append(f'<polygon points="{corners}" class="breach"><title>a breach</title></polygon>')
        self._below += height + 24

    def note(self, text: str) -> None:
        self._parts.append(_text(8, self._below + 12, text))
        self._below += _LINE

    def save(self, path: str | Path) -> None:
        write_file(check_picture(Path(path)), self.svg().encode())

    def svg(self) -> str:
        parts, height = self._with_legend()
        patterns = "".join(
            f'<pattern id="turn{k}" width="7" height="7" patternUnits="userSpaceOnUse" '
            f'patternTransform="rotate({angle})"><rect width="2" height="7" fill="#fff" fill-opacity=".5"/></pattern>'
            for k, angle in enumerate(_TURNS)
        )
        width = _LEFT + _WIDTH + 12
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">'
            f"<style>{_STYLE}</style><defs>{patterns}{_NOTHING}</defs>"
            f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'
        )

    def _with_legend(self) -> tuple[list[str], int]:
        kept, self._parts = self._parts, []
        across = (_LEFT + _WIDTH) // _LEGEND
        for place, name in enumerate(self._contexts):
            x, y = 8 + place % across * _LEGEND, self._below + 8 + place // across * _LINE
            self._filled(place, f'<rect x="{x}" y="{y}" width="18" height="13" {_FILL}/>')
            self._parts.append(_text(x + 24, y + 11, _short(name, _LONGEST)))
        legend, self._parts = self._parts, kept
        return kept + legend, self._below + 16 + (len(self._contexts) + across - 1) // across * _LINE

    def _filled(self, context: int, shape: str) -> None:
        self._parts.append(shape.replace(_FILL, f'fill="{_COLOURS[context % len(_COLOURS)]}"'))
        turn = context // len(_COLOURS) % len(_TURNS)
        if turn:
            self._parts.append(shape.replace(_FILL, f'fill="url(#turn{turn})"'))

    def axis(self) -> None:
        """Ticks, counted from 0."""
        step = max(1, -(-self._ticks // 16))
        for tick in range(0, self._ticks + 1, step):
            self._parts.append(_text(self._x(tick), self._below + 14, str(tick), "middle"))
        self._parts.append(_text(_LEFT - 8, self._below + 14, "tick", "end"))
        self._below += 28

    def _x(self, tick: float) -> float:
        return _LEFT + _WIDTH * tick / self._ticks


def check_picture(path: Path) -> Path:
    """Refuses an ending that nobody would open as a picture."""
    if path.suffix != ".svg":
        raise InvalidInput(f"{path.name} does not end in .svg.", "The picture is one SVG file; browsers open it.")
    return path


def chain_picture(chain: ContextChain) -> Picture:
    """How likely each context is at each time of the day."""
    made = Picture(chain.contexts, chain.ticks, f"A day of {chain.ticks} ticks: how likely each context is")
    made.share(chain.steps.prior)
    return made


def belief_picture(adversary: Adversary, outputs: Sequence[str | None], day: Sequence[str] | None = None) -> Picture:
    """What was shown, with the day itself if it is known, and what somebody believes in each secret then."""
    chain = adversary.chain
    made = Picture(
        chain.contexts, chain.ticks, "What was shown of a day, and what somebody believes who knows the habits"
    )
    if day is not None:
        made.ribbon("the day", [chain.number(name) for name in day])
    made.ribbon("shown", [None if name is None else chain.number(name) for name in outputs])
    made.axis()
    found = adversary.about(outputs)
    for (secret, names), group in groupby(found, key=lambda belief: (belief.secret, belief.contexts)):
        beliefs = list(group)
        ticks = secret.ticks(chain)
        times = len(ticks) if secret.sometime else 1
        delta = adversary.policy.delta if secret.delta is None else secret.delta
        made.belief(
            " or ".join(names) + (", ever" if secret.sometime else ""),
            ticks.start,
            [float(belief.prior) for belief in beliefs] * times,
            [float(belief.posterior) for belief in beliefs] * times,
            float(delta),
        )
    made.note("Belief: dotted before the day, the line after it, dashed how far it may rise; a triangle is a breach.")
    return made


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    anchor = f' text-anchor="{kind}"' if kind in ("end", "middle") else ' class="b"' if kind == "b" else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{anchor}>{escape(words)}</text>'


_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1b2129}.b{font-weight:650}.grid{stroke:#dfe3e8}polyline{fill:none}"
    ".limit{stroke:#1b2129;stroke-dasharray:6 3}.before{stroke:#59636f;stroke-width:1.5;stroke-dasharray:2 3}"
    ".after{stroke:#0072b2;stroke-width:2.25}.breach{fill:#d55e00}"
)
_NOTHING = (
    '<pattern id="nothing" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#f6f7f9"/><rect width="1.5" height="6" fill="#b6bec8"/></pattern>'
)
