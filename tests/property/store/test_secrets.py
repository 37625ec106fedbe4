"""No error of the store tells a password, whichever way it was given; what strangers are told names nothing at all."""

from __future__ import annotations

import traceback
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import HubbubError, LedgerBroken, SchemaMismatch, StoreSetBack, StoreUnavailable
from hubbub.store import Store
from hubbub.store.address import shown
from hubbub.store.unavailable import unavailable

SECRET = "S3cr3t"
USER, HOST, DATABASE = "planteduser", "127.0.0.1", "planteddatabase"

# The secret with whatever else people put into passwords; some of it must be encoded in a URL, and some forget to.
PASSWORD = st.text(st.sampled_from("aZ0%/@:?#&= '\\\"é[]"), max_size=6).map(lambda rest: SECRET + rest)
PARAMETER = st.sampled_from(["password", "sslpassword", "passfile", "options", "pasword", "application_name", "port"])


@st.composite
def addresses(draw: st.DrawFn) -> str:
    raw = draw(PASSWORD)
    coded = draw(st.sampled_from([raw, quote(raw, safe=""), quote(raw)]))
    name = draw(PARAMETER)
    return draw(
        st.sampled_from(
            [
                f"postgresql://{USER}:{coded}@{HOST}:1/{DATABASE}",
                f"postgresql://{USER}@{HOST}:1/{DATABASE}?{name}={coded}",
                f"postgresql:///{DATABASE}?host={HOST}&port=1&user={USER}&{name}={coded}",
                f"postgresql://{USER}:{coded}@{HOST}:1/{DATABASE}?connect_timeout={coded}",
                f"postgresql://{USER}@{HOST}:{coded}/{DATABASE}",
                f"postgresql+psycopg://{USER}:{coded}@{HOST}:1/{DATABASE}",
                f"postgres://{USER}:{coded}@{HOST}:1/{DATABASE}",
                f"mysql://{USER}:{coded}@{HOST}/{DATABASE}",
                f"{coded}://{USER}@{HOST}/{DATABASE}",
                f"postgresql:{USER}:{coded}@{HOST}/{DATABASE}",
                f"{USER}:{coded}@{HOST}/{DATABASE}",
                f"host={HOST} port=1 user={USER} password={raw} dbname={DATABASE}",
                f"password = {raw} host={HOST}",
                f"sqlite:///nowhere/{DATABASE}?password={coded}",
                f"sqlite://{USER}:{coded}@{HOST}/{DATABASE}",
            ]
        )
    )


def said(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + str(error) + repr(error)


@settings(max_examples=300)
@given(address=addresses())
def test_no_error_tells_a_password(address: str) -> None:
    with pytest.raises(HubbubError) as caught:
        Store.open(address, patience=0.1)
    error = caught.value
    assert SECRET not in said(error)
    assert SECRET not in f"{error.message}{error.hint}{error.public}"
    for planted in (USER, DATABASE, HOST):
        assert planted not in error.public


@pytest.mark.parametrize("kind", [LedgerBroken, SchemaMismatch, StoreSetBack, StoreUnavailable])
def test_strangers_get_fixed_words(kind: type[HubbubError]) -> None:
    error = kind(f"The store {HOST} of {USER}.", f"Look at {DATABASE}.")
    assert error.public
    assert not any(planted in error.public for planted in (HOST, USER, DATABASE))


def test_what_the_driver_says_stays_behind() -> None:
    class Refused(Exception):
        sqlstate = "28P01"

    assert SECRET not in said(unavailable(Refused(f"password {SECRET} is wrong"), "postgresql://host/database"))


def test_owners_see_host_and_database() -> None:
    address = f"postgresql://{USER}:{SECRET}@db.example:5433/site?password={SECRET}&sslmode=require"
    assert shown(address) == "postgresql://db.example:5433/site"
    assert shown("sqlite:///site.db") == shown("site.db") == "site.db"
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:1/site"):
        Store.open(f"postgresql://{USER}:{SECRET}@127.0.0.1:1/site", patience=0.1)
