"""Which extra brings a package: the base is small, and whoever misses a part is told the one command that helps."""

from __future__ import annotations

from hubbub.errors import MissingExtra

EXTRAS = {
    "Crypto": "gather-client",
    "confluent_kafka": "kafka",
    "dp_accounting": "accounting",
    "fastapi": "server",
    "google": "spatial",
    "h3": "spatial",
    "httptools": "server",
    "jinja2": "server",
    "nats": "nats",
    "plotly": "server",
    "polars": "collect",
    "psycopg": "postgres",
    "rich": "collect",
    "rustworkx": "spatial",
    "shapely": "spatial",
    "sqlalchemy": "collect",
    "starlette": "server",
    "tenseal": "gather",
    "typer": "collect",
    "uvicorn": "server",
}
"""By the name under which it is imported. A test holds this against pyproject.toml."""


def missing(error: ModuleNotFoundError) -> MissingExtra | None:
    """What to say instead of `error`; None if no extra of ours brings what is missing.

    >>> print(missing(ModuleNotFoundError("No module named 'polars'", name="polars")))
    This needs the package `polars`, which is not installed. pip install 'hubbub[collect]'
    """
    package = (error.name or "").partition(".")[0]
    return MissingExtra.of(package.replace("_", "-"), EXTRAS[package]) if package in EXTRAS else None
