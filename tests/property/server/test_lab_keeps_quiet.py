"""With the Lab on, an original value reaches its own tab and nothing else: no log, no refusal, no address, no file.

The planted number is sent in tables, live values and every field. It may come back where the answer is for the tab
itself (`/lab/series`), and noise may hit it by chance in a released number; those are not searched, all else is.
"""

from __future__ import annotations

import logging
import os
import threading

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub.lab.playground import Playground
from hubbub.server import ServerSettings, Serving, create_lab_app

PLANTED = "777000111"
RELEASED = ("value", "standard_error", "lower", "upper", "measurement", "text")
PATHS = ("/lab/series", "/lab/run", "/lab/plan", "/lab/script", "/lab/live", "/lab/live/x", "/lab/nothing")


class Ear(logging.Handler):
    """Hears every logger, tracebacks included."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []
        self._lock = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        with self._lock:
            self.said.append(logging.Formatter().format(record))


class Leaky(Playground):
    """Fails in the worst way: with what it was given in its message."""

    def script(self, asked):
        raise ValueError(f"cannot write {asked}")


@pytest.fixture(scope="module")
def ear():
    heard, root = Ear(), logging.getLogger()
    root.addHandler(heard)
    before = root.level
    root.setLevel(logging.DEBUG)
    yield heard
    root.setLevel(before)
    root.removeHandler(heard)


@pytest.fixture(scope="module")
def client(ear, tmp_path_factory):
    here = tmp_path_factory.mktemp("empty")
    before = os.getcwd()
    os.chdir(here)
    with (
        Serving(create_lab_app(Leaky(), settings=ServerSettings(port=0))) as serving,
        httpx.Client(base_url=serving.address, timeout=30) as made,
    ):
        yield made
    os.chdir(before)
    assert list(here.iterdir()) == [], "something was written"


NUMBERS = [PLANTED, f"-{PLANTED}", f"{PLANTED}.5", "5"]
OTHERS = [f"x{PLANTED}", "", "NaN", f"2026-01-{PLANTED}", f"{PLANTED}e30"]


def rows_of(cells):
    rows = st.lists(st.lists(st.sampled_from(cells), min_size=1, max_size=3), max_size=4)
    return rows.map(lambda rows: "\n".join(",".join(row) for row in rows))


# Names of columns are public and may be repeated; in a table without names, no cell of the first line may be.
nameless = rows_of(NUMBERS)
named = rows_of(NUMBERS + OTHERS).map(lambda rows: f"date,a,b\n{rows}")
values = st.sampled_from([int(PLANTED), -int(PLANTED), float(PLANTED) + 0.5, PLANTED, None, [int(PLANTED)], True])
bodies = st.fixed_dictionaries(
    {"epsilon": st.sampled_from(["0.01", "0", PLANTED]), "method": st.sampled_from(["lpa", "sample", PLANTED])},
    optional={
        "table": st.one_of(nameless, named),
        "column": st.just(PLANTED),
        "gaps": st.sampled_from(["zero", "predict", PLANTED]),
        "sample": st.sampled_from(["calm", PLANTED]),
        "unit": st.sampled_from(["event", "user", PLANTED]),
        "value": values,
        "level": st.just(-int(PLANTED)),
        "horizon": st.just(int(PLANTED)),
        "length": st.just(3),
    },
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PATHS), bodies, st.sampled_from(["*/*", "text/html"]))
def test_no_refusal_and_no_log_repeats_what_was_sent(client, ear, path, body, accept):
    answer = client.post(path, json=body, headers={"Accept": accept})
    assert answer.status_code in (200, 201, 404, 405, 409, 422, 500)
    if answer.status_code >= 400:
        assert PLANTED not in answer.text + repr(sorted(answer.headers.items()))
    assert PLANTED not in repr(sorted(answer.headers.items()))
    assert PLANTED not in "\n".join(ear.said)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(values, min_size=1, max_size=4))
def test_a_live_run_repeats_no_value(client, ear, typed):
    run = client.post("/lab/live", json={"method": "lpa", "unit": "event", "epsilon": "0.01"}).json()["run"]
    for value in typed:
        answer = client.post(f"/lab/live/{run}", json={"value": value}).json()
        assert PLANTED not in str({name: said for name, said in answer.items() if name not in RELEASED})
    client.delete(f"/lab/live/{run}")
    assert PLANTED not in "\n".join(ear.said)


def test_the_walk_would_find_a_leak(client):
    """The control: the tab that sent a table gets it back."""
    assert PLANTED in client.post("/lab/series", json={"table": f"count\n{PLANTED}\n"}).text
