"""`hubbub token`: who may read and who may send."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from hubbub.cli.output import Json, Output
from hubbub.errors import InvalidParameter

app = typer.Typer(help="Make, list and revoke the tokens of a store.", no_args_is_help=True)

StoreAddress = Annotated[str, typer.Argument(help="The store: a path, sqlite:///path or postgresql://….")]


@app.command()
def add(
    store: StoreAddress,
    role: Annotated[str, typer.Option(help="reader (looks), curator (looks behind the scenes) or ingest (sends).")],
    json: Json = False,
) -> None:
    """Make a token and print it, once: only its hash is kept. A store that is not there yet is made."""
    from hubbub.server.access import ROLES
    from hubbub.store import Store

    if role not in ROLES:
        raise InvalidParameter(f"There is no role {role!r}.", f"Known: {', '.join(ROLES)}.")
    output = Output(json)
    with Store.open(store) as opened:
        if not opened.streams():
            output.note("The store has no stream yet: the monitor's settings must name the same one.")
        secret = opened.tokens.add(role)
        made = opened.tokens.lookup(secret)
    number = None if made is None else made.id
    output.note(f"Token {number} for the role {role}. It is shown this once; keep it safe.")
    output.text(secret)
    output.document({"id": number, "role": role, "token": secret})


@app.command("list")
def list_(store: StoreAddress, json: Json = False) -> None:
    """List the tokens of a store: number, role, and whether they still work."""
    from hubbub.store import Store

    output = Output(json)
    with Store.open(store, create=False, read_only=True) as opened:
        tokens = opened.tokens.list()
    rows = [[token.id, token.role, _minute(token.created), _minute(token.revoked)] for token in tokens]
    output.table("", ["token", "role", "made", "revoked"], rows)
    output.document(
        {
            "tokens": [
                {
                    "id": token.id,
                    "role": token.role,
                    "created": token.created.isoformat(),
                    "revoked": None if token.revoked is None else token.revoked.isoformat(),
                }
                for token in tokens
            ]
        }
    )


@app.command()
def revoke(
    store: StoreAddress,
    number: Annotated[int, typer.Argument(help="The token's number, from `hubbub token list`.")],
    json: Json = False,
) -> None:
    """Make a token void, at once: a running server asks the store each time."""
    from hubbub.store import Store

    output = Output(json)
    with Store.open(store, create=False) as opened:
        if not opened.tokens.revoke(number):
            raise InvalidParameter(f"There is no valid token {number}.", "`hubbub token list` shows those there are.")
    output.text(f"Token {number} is void.")
    output.document({"id": number, "revoked": True})


def _minute(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d %H:%M}"
