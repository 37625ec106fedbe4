"""`python -m hubbub`, and the installed command `hubbub`: the command line, or the word that it is not installed."""

from __future__ import annotations

import sys

from hubbub.extras import missing


def run() -> None:
    """The entry point of the installed command."""
    try:
        from hubbub.cli.main import main
    except ModuleNotFoundError as error:
        told = missing(error)
        if told is None:
            raise
        sys.exit(f"error {told.message}\nhint  {told.hint}")
    sys.exit(main())


if __name__ == "__main__":
    run()
