"""One module per command, named as the command is. A module has `command` (a function) or `app` (a group)."""

__all__: list[str] = []
