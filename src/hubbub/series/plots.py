"""Plots as single HTML files that need nothing from the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hubbub.errors import InvalidInput
from hubbub.files import write_file


def check_page(path: Path) -> None:
    """Refuses an ending that no browser would open, before anything is spent."""
    if path.suffix != ".html":
        raise InvalidInput(f"{path.name} does not end in .html.", "The plot is one HTML file.")


def lines(
    path: Path,
    title: str,
    x: str,
    y: str,
    series: Mapping[str, Sequence[tuple[Any, float, float]]],
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    """One line per series of (x, y, error) points."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, points in series.items():
        columns = list(zip(*points, strict=True)) or [(), (), ()]
        figure.add_scatter(
            x=columns[0], y=columns[1], error_y={"type": "data", "array": columns[2]}, name=name, mode="lines+markers"
        )
    figure.update_layout(title=title, xaxis_title=x, yaxis_title=y, template="plotly_white")
    if log_x:
        figure.update_xaxes(type="log")
    if log_y:
        figure.update_yaxes(type="log")
    _write(figure, path)


def bands(path: Path, title: str, ticks: Sequence[Any], series: Mapping[str, tuple[Any, Any, Any]]) -> None:
    """Released series over time: a line per key for the value, a band for its interval."""
    import plotly.colors
    import plotly.graph_objects as go

    figure = go.Figure()
    palette = plotly.colors.qualitative.D3
    for number, (name, (values, lower, upper)) in enumerate(series.items()):
        colour = palette[number % len(palette)]
        shown = True if number < 5 else "legendonly"
        both = {"x": [*ticks, *reversed(ticks)], "y": [*upper, *reversed(lower)]}
        figure.add_scatter(
            **both, fill="toself", opacity=0.2, line={"width": 0}, fillcolor=colour, hoverinfo="skip",
            legendgroup=name, showlegend=False, visible=shown,
        )  # fmt: skip
        figure.add_scatter(x=ticks, y=values, name=name, legendgroup=name, line={"color": colour}, visible=shown)
    figure.update_layout(title=title, xaxis_title="tick", yaxis_title="count", template="plotly_white")
    _write(figure, path)


def _write(figure: Any, path: Path) -> None:
    check_page(path)
    write_file(path, figure.to_html(include_plotlyjs=True, full_html=True).encode())
