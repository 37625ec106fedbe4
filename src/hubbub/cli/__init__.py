"""The command line: one file per command in `commands/`."""

__all__: list[str] = []
