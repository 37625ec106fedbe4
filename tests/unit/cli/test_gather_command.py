"""`hubbub gather`: what it prints and writes, and what it refuses before anything is served or sent."""

from __future__ import annotations

import json

import pytest
from tests.support.gathering import Gathering

from hubbub.cli.main import main
from hubbub.server import ServerSettings, Serving, create_gather_app

PLAN = ["gather", "plan", "colours", "--clients", "20", "--minimum", "5", "--epsilon", "1"]


def told(capsys, *words):
    code = main([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_plan_is_told_in_words(tmp_path, capsys):
    opens = ["--opens", "2026-07-01T12:00:00+00:00", "--lasts", "600"]
    assert main([*PLAN, "--out", str(tmp_path / "q"), "--ask", "histogram:2", "--labels", "a,b", *opens]) == 0
    said = capsys.readouterr()
    assert "by at most a factor e^1" in said.out
    assert "until 2026-07-01T12:10:00+00:00" in said.out
    assert "delete what is left here" in said.err
    code, facts = told(capsys, *PLAN, "--out", tmp_path / "q", "--opens", "tomorrow")
    assert (code, facts["error"]["code"]) == (2, "invalid_parameter")


def test_issuers_plans_and_tickets(tmp_path, capsys):
    code, keys = told(capsys, "gather", "issuer-keys", tmp_path / "issuer.keys")
    assert code == 0
    code, facts = told(capsys, *PLAN, "--out", tmp_path / "q", "--tickets", keys["public"])
    assert code == 0
    assert json.loads((tmp_path / "q" / "plan.json").read_text())["issuer"]
    code, wrong = told(capsys, *PLAN, "--out", tmp_path / "s", "--tickets", tmp_path / "issuer.keys")
    assert (code, wrong["error"]["hint"]) == (2, "Give issuer.keys.public.")
    code, wrong = told(capsys, *PLAN, "--out", tmp_path / "s", "--tickets", tmp_path / "nothing")
    assert (code, wrong["error"]["hint"]) == (2, "Give the issuer's public keys.")
    (tmp_path / "codes").write_text("invitation-of-ann\n")
    words = ["gather", "ticket", facts["plan"], "--issuer", "http://127.0.0.1:9", "--code", tmp_path / "codes"]
    code, refused = told(capsys, *words, "--out", tmp_path / "tickets", "--patience", "0")
    assert (code, refused["error"]["code"]) == (1, "gather_unavailable")
    code, refused = told(capsys, *words[:-1], tmp_path / "nothing", "--out", tmp_path / "tickets")
    assert (code, refused["error"]["code"]) == (2, "invalid_input")
    assert refused["error"]["hint"] == "Give a file with your invitation."


def test_status_and_results(tmp_path, capsys):
    with Gathering(tmp_path) as world, Serving(create_gather_app(world.leader, settings=ServerSettings(port=0))) as on:
        assert told(capsys, "gather", "status", on.address)[1]["state"] == "running"
        assert told(capsys, "gather", "result", on.address)[1]["state"] == "open"
        assert main(["gather", "result", on.address]) == 0
        assert "round 0: open" in capsys.readouterr().out
        world.send(0, 1, 1)
        world.finish()
        assert main(["gather", "result", on.address]) == 0
        said = capsys.readouterr().out
        assert "3 answered, of at most 20" in said
        assert "noisy sum" in said
        assert main(["gather", "status", on.address]) == 0
        assert "1 of 1 rounds over" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["client", "--leader", "http://127.0.0.1:9", "1"],
        ["client", "--leader", "http://127.0.0.1:9", "--plan", "x", "--helper", "http://127.0.0.1:9", "1"],
        ["client", "--leader", "http://example.org", "--plan", "x", "1"],
        ["leader", "x", "--keys", "y", "--rounds", "z", "--helper", "http://127.0.0.1:9"],
        ["helper", "x", "--keys", "y", "--rounds", "z"],
        ["issuer", "x", "--keys", "y", "--codes", "z", "--given", "g"],
        ["live", "x"],
    ],
)
def test_what_is_refused(tmp_path, capsys, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    code, facts = told(capsys, "gather", *words)
    assert code == 2
    assert facts["error"]["hint"]


def test_half_a_certificate(tmp_path, capsys):
    told(capsys, *PLAN, "--out", tmp_path / "q")
    words = ["gather", "helper", tmp_path / "q" / "plan.json", "--keys", tmp_path / "q" / "helper.keys"]
    code, facts = told(capsys, *words, "--rounds", tmp_path / "r", "--certificate", tmp_path / "c.pem")
    assert (code, "certificate and its key" in facts["error"]["message"]) == (2, True)


def test_an_address_of_something_else(capsys, monkeypatch):
    from hubbub.gather.line import Line

    monkeypatch.setattr(Line, "get", lambda *_: b"[1]")
    code, facts = told(capsys, "gather", "status", "http://127.0.0.1:9")
    assert (code, "no server of a query" in facts["error"]["message"]) == (2, True)


def test_a_live_file_that_is_not_there(tmp_path, capsys):
    code, wrong = told(capsys, "gather", "live", tmp_path / "live.toml")
    assert (code, wrong["error"]["hint"]) == (2, "docs/gather.md has a sample.")
    (tmp_path / "live.toml").write_text("")
    code, wrong = told(capsys, "gather", "live", tmp_path / "live.toml")
    assert (code, wrong["error"]["hint"]) == (2, "docs/gather.md has a sample.")
