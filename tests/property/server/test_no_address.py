"""No answer tells where the store lies or how to get in: every route, in every state that a store can be in.

Planted words stand in every part of the address (user, password, host, database, parameters, folder, file) and in the
messages of foreign exceptions. States: in order, away (a real driver whose server does not answer), locked by another
process, damaged, no database at all, and a driver that raises something nobody foresaw.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.site import Site

from hubbub.errors import HubbubError, StoreUnavailable
from hubbub.masking import masked, without_secrets
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.store.database import Database
from hubbub.store.times import now
from hubbub.store.tokens import Tokens

PLANTED = ("plantuser", "plantword", "planthost", "plantbase", "plantquery", "plantfolder", "plantfile", "plantnote")
SECRET = ("plantword", "plantquery")
ADDRESS = (
    "postgresql://plantuser:plantword@planthost.invalid:5/plantbase"
    "?password=plantquery&host=127.0.0.1&port=1&application_name=plantnote"
)
STATES = ("in order", "away", "locked", "damaged", "no database", "unforeseen")

ROUTES = (
    "/", "/top", "/about", "/guarantee", "/curator", "/login", "/metrics", "/healthz", "/openapi.json", "/nothing",
    "/assets/style.css", "/key?name=news", "/ranges", "/v1/streams", "/v1/streams/{s}/releases",
    "/v1/streams/{s}/range?from=0&to=2", "/v1/streams/{s}/top", "/v1/streams/{s}/alerts", "/v1/streams/{s}/budget",
    "/v1/streams/{s}/status", "/v1/streams/{s}/events", "/v1/streams/{s}/counts", "/v1/streams/{s}/truth",
)  # fmt: skip

COUNTS = b'{"tick": 3, "values": {"front": 1, "news": 1}}'


class Pipeline:
    """Passes on what the store says, as a pipeline does."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def push(self, *given: Any) -> None:  # noqa: ARG002
        self.site.store.budget("site")
        raise StoreUnavailable(f"Events cannot be kept in plantfolder/{ADDRESS}.", f"Look at {ADDRESS}.")

    def release(self, *given: Any, **more: Any) -> None:  # noqa: ARG002
        self.site.store.budget("site")
        raise StoreUnavailable(f"The store {ADDRESS} is full.", f"Look at {ADDRESS}.")

    def status(self, stream: str) -> dict[str, float]:
        self.site.store.budget(stream)
        return {"lag_seconds": 0.4}


class Unforeseen:
    """A driver whose exceptions quote the address."""

    is_sqlite = True
    where = ADDRESS

    def read(self):
        raise RuntimeError(f"connection to {ADDRESS} failed")

    write = read


class Ear(logging.Handler):
    """Hears every logger, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.said: list[str] = []

    def emit(self, record):
        self.said.append(logging.Formatter().format(record))


@pytest.fixture(scope="module")
def ear():
    heard, root = Ear(), logging.getLogger()
    root.addHandler(heard)
    yield heard
    root.removeHandler(heard)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("plantfolder"), ("front", "news"), ranges=32).run(3)
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(site, ear):
    tokens = {role: site.store.tokens.add(role) for role in ("reader", "curator", "ingest")}
    pipeline = Pipeline(site)
    chosen = ServerSettings(public=True, port=0, poll_seconds=0.05)
    app = create_app(site.store, settings=chosen, events=pipeline, counts=pipeline, status=pipeline)
    with Serving(app) as serving, httpx.Client(base_url=serving.address, timeout=20) as client:
        yield client, tokens, app


@pytest.fixture(scope="module")
def databases(site, tmp_path_factory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("plantfolder")
    damaged, none, locked = (folder / f"plantfile-{name}.db" for name in ("damaged", "none", "locked"))
    whole = site.path.read_bytes()
    damaged.write_bytes(whole[:100] + b"plantnote." * (len(whole) // 10))
    none.write_bytes(b"plantnote is no database\n" * 100)
    holder = sqlite3.connect(locked, isolation_level=None)
    holder.execute("PRAGMA locking_mode=EXCLUSIVE")
    holder.execute("CREATE TABLE plantbase (plantnote)")
    holder.execute("BEGIN EXCLUSIVE")

    def at(where: Any) -> Database:
        return Database.at(where, create=False, read_only=False, patience=0.01)

    made = {"away": at(ADDRESS), "damaged": at(damaged), "no database": at(none), "locked": at(locked)}
    yield made | {"in order": site.store.database, "unforeseen": Unforeseen()}
    holder.close()
    for database in made.values():
        database.close()


def everything(answer: httpx.Response) -> str:
    return answer.text + repr(sorted(answer.headers.items()))


@pytest.mark.parametrize("state", STATES)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(ROUTES),
    st.sampled_from(["site", "site.ranges", "other"]),
    st.sampled_from(["GET", "HEAD", "POST"]),
    st.sampled_from([None, "reader", "curator", "ingest"]),
    st.sampled_from(["*/*", "text/html", "text/csv"]),
)
@example("/v1/streams/{s}/events", "site", "POST", "ingest", "*/*")
@example("/v1/streams/{s}/counts", "site", "POST", "ingest", "*/*")
@example("/v1/streams/{s}/budget", "site", "GET", None, "*/*")
@example("/curator", "site", "GET", "curator", "text/html")
@example("/healthz", "site", "GET", None, "*/*")
def test_no_answer_tells_of_the_store(server, site, databases, ear, state, path, stream, method, role, accept):
    client, tokens, _ = server
    store, before = site.store, site.store.database
    store.database, store.tokens = databases[state], Tokens(databases[state], now)
    try:
        kind = "application/x-ndjson" if "events" in path else "application/json"
        headers = {"Accept": accept, "Content-Type": kind, "Idempotency-Key": "one"}
        headers |= {"Authorization": f"Bearer {tokens[role]}"} if role else {}
        content = (COUNTS if "counts" in path else b"{}") if method == "POST" else None
        answer = client.request(method, path.replace("{s}", stream), headers=headers, content=content)
        for word in PLANTED:
            assert word not in everything(answer), (state, path)
        for word in SECRET:
            assert word not in "\n".join(ear.said), "the owner's log is masked"
    finally:
        store.database, store.tokens = before, Tokens(before, now)


def test_the_states_are_what_they_are_called(databases):
    """The control: each state makes the store say what it says, with planted words in it."""
    for state in STATES[1:-1]:
        with pytest.raises(HubbubError) as refused, databases[state].read() as connection:
            connection.exec_driver_sql("SELECT * FROM streams")
        assert any(word in refused.value.message for word in PLANTED), state
    with pytest.raises(RuntimeError, match="plantword"):
        databases["unforeseen"].read()


def test_live_events_do_not_tell_either(server, site, databases):
    client, _, app = server
    store, before = site.store, site.store.database
    with client.stream("GET", "/v1/streams/site/live", headers={"Last-Event-ID": "0"}) as answer:
        lines = answer.iter_lines()
        store.database = databases["away"]
        try:
            app.state.desk.feed.wake()
            got = "".join(next(lines) for _ in range(9))
        finally:
            store.database = before
    assert '"tick":2' in got
    assert not any(word in got for word in PLANTED)


@pytest.mark.parametrize(("state", "why"), [("away", "The store postgresql"), ("damaged", "is damaged|not a database")])
def test_the_owner_is_told_why(site, databases, ear, state, why):
    """The reasons are in the log, with the address, without what opens it."""
    store, before = site.store, site.store.database
    ear.said.clear()
    # A server of its own: each says the same kind of thing once a minute.
    app = create_app(store, settings=ServerSettings(public=True, port=0))
    with Serving(app) as serving, httpx.Client(base_url=serving.address, timeout=20) as client:
        try:
            store.database = databases[state]
            client.get("/v1/streams/site/budget")
        finally:
            store.database = before
    said = "\n".join(ear.said)
    assert any(words in said for words in why.split("|")), said
    assert not any(word in said for word in SECRET)


# A password in clear holds anything but what ends it; where it is quoted, anything at all.
plain = st.text(st.characters(codec="ascii", exclude_categories=["C"], exclude_characters="@"), min_size=6)
AROUND = (
    "The store does not answer. postgresql://ann:db.example/site?sslmode=require&password=host dbname nats 127.0.0.1"
)


@given(plain.filter(lambda text: "***" not in text and text not in AROUND and quote(text, safe="") not in AROUND))
def test_a_password_is_masked_wherever_it_stands(secret):
    quoted = quote(secret, safe="")
    for text in (
        f"postgresql://ann:{secret}@db.example/site",
        f"postgresql://ann:{quoted}@db.example/site?sslmode=require",
        f"postgresql://db.example/site?password={quoted}",
        f"postgresql:///site?sslmode=require&password={quoted}&application_name=hubbub",
        f"nats://{quoted}@127.0.0.1:4222",
        "host=db.example password='" + secret.replace("\\", "\\\\").replace("'", "\\'") + "' dbname=site",
    ):
        for shown in (masked(text), masked(f"The store {text} does not answer."), repr(without_secrets({"a": [text]}))):
            assert secret not in shown
            assert quoted not in shown
