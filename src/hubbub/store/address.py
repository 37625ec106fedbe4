"""Where a store is: reading an address, and showing it without what is secret in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from hubbub.errors import InvalidParameter

# What is not an address of ours but may hold a password: it must never be taken for a path and shown as one.
_WORDS = re.compile(r"(?:^|\s)\w+\s*=")  # host=db password=…: libpq's other way of writing
_SERVER = re.compile(r"postgres|[^/]*:.*@", re.IGNORECASE | re.DOTALL)  # postgresql:user:…, user:…@host


def parse(address: str | Path) -> URL:
    """The address as a URL; a refusal never repeats what was given."""
    text = os.fspath(address)
    if "://" not in text:
        if isinstance(address, str) and (_WORDS.search(text) or (_SERVER.match(text) and not Path(text).exists())):
            raise wrong("It looks like a server's, but is not written as a URL.")
        return _file(URL.create("sqlite", database=text))
    try:
        url = make_url(text)
        kind = url.get_backend_name()
    except (sa.exc.ArgumentError, ValueError):  # both repeat the text, and with it a password
        raise wrong("It cannot be read as an address.") from None
    if kind == "sqlite":
        if url.query or url.host or url.username or url.password:
            raise wrong("A file has neither a user nor a host nor parameters.")
        return _file(url)
    if kind != "postgresql":
        raise wrong("Its kind is neither sqlite nor postgresql.")
    return url


def shown(address: str | Path | URL) -> str:
    """The address for the owner's eyes: a path, or host and database; no user, no password, no parameters.

    >>> shown("postgresql://me:secret@db.example:5433/hubbub?password=secret")
    'postgresql://db.example:5433/hubbub'
    """
    url = address if isinstance(address, URL) else parse(address)
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    return URL.create("postgresql", host=url.host, port=url.port, database=url.database).render_as_string()


def _file(url: URL) -> URL:
    if url.database in (None, "", ":memory:"):
        raise wrong("A ledger must outlive the process, so it cannot be kept in memory.")
    return url


def wrong(why: str) -> InvalidParameter:
    return InvalidParameter(
        f"This is not the address of a store. {why}",
        "Give a path (site.db), or a server such as postgresql://host/database with its user and password.",
    )
