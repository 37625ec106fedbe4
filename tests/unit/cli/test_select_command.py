"""`hubbub select`: from a hierarchy to a plan, to a choice, to a server that a client asks."""

import json
import re

import pytest

from hubbub.cli.main import main

LOG = """context,result,shown,clicked
"0,0",cafe,100,40
"0,0",bar,100,5
"1,1",bar,100,60
"3,3",gym,100,30
"""


def answer(capsys, *words, code=0):
    assert main([str(word) for word in words]) == code
    return capsys.readouterr().out


@pytest.fixture
def made(tmp_path, capsys):
    tree, log, plan = tmp_path / "tree.json", tmp_path / "log.csv", tmp_path / "plan.json"
    log.write_text(LOG)
    said = json.loads(answer(capsys, "select", "hierarchy", "grid:4x4", "--out", tree, "--json"))
    assert said["contexts"] == 16
    planned = answer(capsys, "select", "plan", tree, "--sensitive", "1,1", "--leaves", 4, "--out", plan, "--json")
    assert json.loads(planned)["coarser"] == [{"node": "0,0 x2", "contexts": 4}]
    return tree, log, plan


def test_choosing(made, capsys, tmp_path):
    tree, log, _ = made
    said = json.loads(answer(capsys, "select", "choose", log, "--hierarchy", tree, "--k", 2, "--json"))
    assert said["results"] == ["cafe", "bar"]
    assert said["value"] <= said["bound"]
    bids = tmp_path / "bids.csv"
    bids.write_text("result,bid\ngym,9\n")
    words = ["select", "choose", log, "--hierarchy", tree, "--bids", bids, "--k", 1, "--ban", "cafe"]
    assert "gym" in answer(capsys, *words)
    bids.write_text('result,bid,node\ngym,9,"3,3"\nbar,0,"0,0 x2"\nbar,5,"2,0 x2"\ncafe,1,\n')
    there = ["select", "choose", log, "--hierarchy", tree, "--bids", bids, "--k", 1, "--json", "--node"]
    found = {name: json.loads(answer(capsys, *there, name))["results"] for name in ("3,3", "0,0 x2", "2,0 x2")}
    assert found == {"3,3": ["gym"], "0,0 x2": ["cafe"], "2,0 x2": ["bar"]}
    bids.write_text("result,bid,node\ngym,9,nowhere\n")
    assert "line 2 names a node" in json.loads(answer(capsys, *there, "3,3", code=2))["error"]["message"]
    bids.write_text("result,bid\npool,9\n")
    assert "never shown" in json.loads(answer(capsys, *words, "--json", code=2))["error"]["message"]


def test_a_client_asks_a_server_that_runs(made, capsys, tmp_path, monkeypatch):
    tree, log, plan = made
    ran = []

    def run(serving):
        """What a client says and gets while the command serves."""
        with serving:
            address = f"{serving.address}/v1/select"
            assert json.loads(capsys.readouterr().out)["address"] == address
            asked = (
                "select",
                "ask",
                plan,
                "--context",
                "1,1",
                "--server",
                address,
                "--pin",
                tmp_path / "pin",
                "--json",
            )
            assert json.loads(answer(capsys, *asked)) == {"shown": "bar", "told": "0,0 x2"}
            capsys.readouterr()
            assert main([str(word) for word in ("select", "ask", plan, "--context", "3,3", "--server", address)]) == 0
            far, note = capsys.readouterr()
            assert "No --pin" in note
            assert re.search(r"shown: .*\ntold:  3,3", far)
            answer(capsys, "select", "plan", tree, "--sensitive", "3,3", "--leaves", 4, "--out", plan)
            refused = json.loads(answer(capsys, *asked, code=2))
            assert "another plan" in refused["error"]["message"]
        ran.append(True)

    monkeypatch.setattr("hubbub.server.Serving.run", run)
    answer(capsys, "select", "serve", log, "--hierarchy", tree, "--port", 0, "--json")
    assert ran


def test_a_plan_for_who_knows_how_often_contexts_occur(made, capsys, tmp_path):
    tree, log, plan = made
    words = ("select", "plan", tree, "--sensitive", "0,0", "--out", plan, "--json", "--prior")
    by_log = json.loads(answer(capsys, *words, log, "--rise", "0.1"))
    assert by_log["coarser"] == [{"node": "0,0 x4", "contexts": 16}]  # 201 of 421: no part of it may say more
    assert "holds the given prior" in by_log["promise"]
    known = tmp_path / "known.csv"
    known.write_text('context,weight\n"2,2",500\n"1,1",1e1\n')
    assert json.loads(answer(capsys, *words, known, "--rise", "0.1"))["coarser"] != by_log["coarser"]
    for text, said in (
        ('context,weight\n"0,0",-1\n', "line 2 has no number of at least 0 for weight"),
        ('context,weight\n"0,0",many\n', "line 2 has no number"),
        ("context,weight\nnowhere,1\n", "line 2 names a context"),
        ("context,times\n", "lacks a column"),
        ('context,weight\n"0,0"\n', "too short"),
    ):
        known.write_text(text)
        refused = json.loads(answer(capsys, *words, known, "--rise", "0.1", code=2))
        assert said in refused["error"]["message"]
    assert "--rise" in json.loads(answer(capsys, *words, log, "--leaves", 4, code=2))["error"]["message"]
    assert (
        "cannot be read" in json.loads(answer(capsys, *words, tmp_path / "x", "--rise", 1, code=2))["error"]["message"]
    )


def test_several_attributes(capsys, tmp_path):
    (tmp_path / "queries.csv").write_text("name,parent\nfood,\ntea,food\npizza,food\n")
    tree, plan = tmp_path / "tree.json", tmp_path / "plan.json"
    parts = ["place=grid:4x4", f"query=categories:{tmp_path / 'queries.csv'}"]
    said = answer(capsys, "select", "hierarchy", *parts, "--order", "query,place", "--out", tree)
    assert said.startswith("32 contexts")
    said = answer(capsys, "select", "plan", tree, "--sensitive", "place=1,1", "--leaves", 4, "--out", plan)
    assert "place 1,1: at most 25 afterwards" in said
    log = tmp_path / "log.csv"
    log.write_text('place,query,result,shown,clicked\n"1,1",tea,cafe,50,10\n')
    chosen = answer(capsys, "select", "choose", log, "--hierarchy", tree, "--json")
    assert json.loads(chosen)["results"] == ["cafe"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("log.csv", "context,result,shown\n", "lacks a column"),
        ("log.csv", "context,result,shown,clicked\nhere,cafe,1,1\n", "line 2 names a context"),
        ("log.csv", 'context,result,shown,clicked\n"0,0",cafe,many,1\n', "no whole numbers"),
        ("log.csv", 'context,result,shown,clicked\n"0,0",cafe\n', "too short"),
        ("log.csv", 'context,result,shown,clicked\n"0,0",cafe,1,2\n', "line 2 has more clicks"),
        ("log.csv", 'context,result,shown,clicked\n"0,0",,1,1\n', "line 2 has no name"),
        ("log.csv", "context,result,shown,clicked\n", "Nothing was shown"),
        ("log.csv", b"\xff\xfe", "not a CSV file"),
        ("tree.json", "{}", "not a hierarchy"),
        ("tree.json", "[" * 200_000, "not a hierarchy"),
        ("tree.json", '{"format":"hubbub-context-hierarchy","version":1,"kind":"moon"}', "not the description"),
    ],
)
def test_files_that_cannot_be_read_say_why(made, capsys, name, text, words):
    tree, log, _ = made
    path = tree if name == "tree.json" else log
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    said = json.loads(answer(capsys, "select", "choose", log, "--hierarchy", tree, "--json", code=2))
    assert words in said["error"]["message"]
    assert said["error"]["hint"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["moon:3"], "cannot be read"),
        (["grid:4"], "cannot be read"),
        (["decimals:1"], "cannot be read"),
        (["decimals:5,5,4,4"], "south below north"),
        (["grid:4x4", "grid:2x2"], "need a name each"),
        (["categories:none.csv"], "cannot be read"),
    ],
)
def test_hierarchies_that_cannot_be_read_say_why(capsys, tmp_path, parts, words):
    said = answer(capsys, "select", "hierarchy", *parts, "--out", tmp_path / "x.json", "--json", code=2)
    assert words in json.loads(said)["error"]["message"]


def test_a_tree_with_a_circle_or_a_node_twice(capsys, tmp_path):
    for text, words in (("a,b\nb,a\n", "circle"), ("a,\na,\n", "second time")):
        (tmp_path / "tree.csv").write_text("name,parent\n" + text)
        part = f"categories:{tmp_path / 'tree.csv'}"
        said = answer(capsys, "select", "hierarchy", part, "--out", tmp_path / "x.json", "--json", code=2)
        assert words in json.loads(said)["error"]["message"]


def test_what_a_client_cannot_use_is_told_and_no_traceback(made, capsys, tmp_path):
    _, _, plan = made
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)
    asked = ("--context", "1,1", "--server")
    for words, said in (
        ((plan, *asked, "notaurl"), "begins with http"),
        ((plan, *asked, "file:///etc/passwd"), "begins with http"),
        ((plan, *asked, "http://127.0.0.1:9/"), "does not answer"),
        ((deep, *asked, "http://127.0.0.1:9/"), "not whole"),
    ):
        found = json.loads(answer(capsys, "select", "ask", *words, "--json", code=2))
        assert said in found["error"]["message"]


@pytest.mark.parametrize("setting", [("--floor", 3), ("--cost", -1), ("--floor", "nan")])
def test_a_server_with_settings_that_cannot_be_does_not_start(made, capsys, monkeypatch, setting):
    tree, log, _ = made
    monkeypatch.setattr("hubbub.server.Serving.run", lambda _: pytest.fail("it listens"))
    said = answer(capsys, "select", "serve", log, "--hierarchy", tree, "--port", 0, *setting, "--json", code=2)
    assert setting[0].removeprefix("--") in json.loads(said)["error"]["message"]


def test_a_name_with_a_plus_is_one_name(capsys, tmp_path):
    (tmp_path / "tree.csv").write_text("name,parent\nall,\nC++,all\nC,all\nD,all\nE,all\n")
    tree, plan = tmp_path / "tree.json", tmp_path / "plan.json"
    answer(capsys, "select", "hierarchy", f"categories:{tmp_path / 'tree.csv'}", "--out", tree)
    said = answer(capsys, "select", "plan", tree, "--sensitive", "C++", "--leaves", 2, "--out", plan)
    assert "C++: at most 50 afterwards" in said
    said = answer(capsys, "select", "plan", tree, "--sensitive", "C+D", "--leaves", 2, "--out", plan)
    assert "C or D: at most 50 afterwards" in said


def test_files_that_are_not_there(made, capsys, tmp_path):
    tree, log, _ = made
    none = tmp_path / "none"
    for words in (
        ("choose", none, "--hierarchy", tree),
        ("choose", log, "--hierarchy", none),
        ("choose", log, "--hierarchy", tree, "--bids", none),
        ("ask", none, "--context", "1,1", "--server", "http://127.0.0.1:9/"),
    ):
        said = json.loads(answer(capsys, "select", *words, "--json", code=2))
        assert "cannot be read" in said["error"]["message"]
    bids = tmp_path / "bids.csv"
    bids.write_text("result,bid\ncafe,much\n")
    said = answer(capsys, "select", "choose", log, "--hierarchy", tree, "--bids", bids, "--json", code=2)
    assert "no number for the bid" in json.loads(said)["error"]["message"]
    bids.write_text("result,bid\nnowhere,-2\n")
    said = answer(capsys, "select", "choose", log, "--hierarchy", tree, "--bids", bids, "--json", code=2)
    assert "line 2 has a bid below 0" in json.loads(said)["error"]["message"]
