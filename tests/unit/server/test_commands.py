"""`hubbub token` and `hubbub serve`."""

import json
import os
import signal
import subprocess
import sys

import httpx
import pytest
from tests.support.site import Site

from hubbub.cli.main import main
from hubbub.store import Store


@pytest.fixture
def path(tmp_path):
    site = Site(tmp_path).run(2)
    site.close()
    return site.path


def test_a_token_is_shown_once_and_can_be_revoked(path, capsys):
    assert main(["token", "add", str(path), "--role", "reader", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    with Store.open(path) as store:
        assert store.tokens.lookup(made["token"]).role == "reader"
    assert main(["token", "list", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "reader" in shown
    assert made["token"] not in shown
    assert main(["token", "revoke", str(path), str(made["id"])]) == 0
    assert main(["token", "list", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2])["tokens"][0]["revoked"]
    assert main(["token", "revoke", str(path), str(made["id"])]) == 2


def test_wrong_roles_and_stores_are_refused(path, capsys):
    assert main(["token", "add", str(path), "--role", "boss"]) == 2
    assert "reader, curator, ingest" in capsys.readouterr().err
    assert main(["token", "list", str(path.parent / "nothing.db")]) == 1
    assert main(["serve", str(path.parent / "nothing.db")]) == 1
    assert main(["serve", str(path), "--title", "x" * 81]) == 2


def test_a_taken_port_is_refused(path, capsys):
    import socket

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        assert main(["serve", str(path), "--port", str(held.getsockname()[1])]) == 2
    assert "Choose another with --port" in capsys.readouterr().err


def test_serving_until_told_to_stop(path):
    command = [sys.executable, "-m", "hubbub", "serve", str(path), "--port", "0", "--public", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as run:
        said = "".join(run.stdout.readline() for _ in range(4))
        address = json.loads(said)["address"]
        for _ in range(100):
            try:
                answer = httpx.get(f"{address}/healthz")
                break
            except httpx.TransportError:
                continue
        assert answer.status_code == 200
        run.send_signal(signal.SIGTERM)
        assert run.wait(20) in (0, -signal.SIGTERM)


def test_a_token_can_be_made_before_the_first_start(tmp_path, capsys):
    path = tmp_path / "city.db"
    assert main(["token", "add", str(path), "--role", "ingest"]) == 0
    said = capsys.readouterr()
    assert "no stream yet" in said.err
    with Store.open(path) as store:
        assert store.tokens.lookup(said.out.strip()).role == "ingest"
