"""One file per group of routes."""

__all__: list[str] = []
