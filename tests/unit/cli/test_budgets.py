"""Every command that is given a budget takes all three kinds of it; a method that cannot keep one says what it can."""

import json
import signal

import pytest

import hubbub as hb
from hubbub.cli.main import main
from hubbub.errors import InvalidParameter

BUDGETS = {
    "pure": ["--epsilon", "1/2"],
    "approximate": ["--epsilon", "1/2", "--delta", "1e-9"],
    "zcdp": ["--rho", "1/8"],
}


@pytest.fixture(autouse=True)
def handlers():
    """The demo listens to signals, and leaves its ears behind in this process."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("flu,measles\n" + "\n".join(f"{500 + t},{t}" for t in range(12)))
    (tmp_path / "queries.csv").write_text("from,to\n0,5\n")
    return path


def commands(counts):
    queries = str(counts.parent / "queries.csv")
    return {
        "release": ["release", str(counts), "--unit", "session", "--max-ticks", "3"],
        "ranges": ["ranges", str(counts), queries, "--unit", "session", "--max-ticks", "3"],
        "plan": ["plan", "--ticks", "10", "--runs", "1", "--method", "lpa"],
        "audit": ["audit", "--runs", "300"],
        "audit --exact": ["audit", "--exact", "--ticks", "9"],
        "audit --replay": ["audit", "--replay", "--pairs", "2"],
        "risk": ["risk", "--rate", "0.01", "--periods", "50", "--level", "500"],
        "demo": ["demo", "--port", "0", "--visitors", "10", "--seconds", "0.1"],
    }


@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.parametrize(
    "name", ["release", "ranges", "plan", "audit", "audit --exact", "audit --replay", "risk", "demo"]
)
def test_every_command_takes_every_kind(counts, capsys, name, kind):
    assert main([*commands(counts)[name], *BUDGETS[kind], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "name", ["release", "ranges", "plan", "audit", "audit --exact", "audit --replay", "risk", "demo"]
)
@pytest.mark.parametrize(
    "budget", [["--epsilon", "1", "--rho", "1"], ["--rho", "1", "--delta", "1e-9"], ["--epsilon", "1", "--delta", "2"]]
)
def test_every_command_refuses_what_is_no_budget(counts, capsys, name, budget):
    assert main([*commands(counts)[name], *budget]) == 2
    assert "`delta`" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["release", "--method", "dft"], ["audit", "--replay", "--method", "dft", "--unit", "user"]],
    ids=["release", "audit"],
)
@pytest.mark.parametrize("kind", ["approximate", "zcdp"])
def test_a_method_that_cannot_keep_a_kind_names_those_it_can(counts, capsys, words, kind):
    where = [str(counts)] if words[0] == "release" else []
    assert main([*words, *where, *BUDGETS[kind]]) == 2
    assert f"`dft` cannot promise {kind}; it can promise pure." in " ".join(capsys.readouterr().err.split())


ENTRANCES = {
    "Monitor": lambda **budget: hb.Monitor(["flu"], unit="session", max_ticks=3, **budget).guarantee,
    "Ranges": lambda **budget: hb.Ranges(["flu"], unit="session", max_ticks=3, window=16, **budget).guarantee,
    "release_series": lambda **budget: hb.release_series({"flu": [5, 6]}, max_ticks=1, **budget).guarantee,
    "plan": lambda **budget: hb.plan(ticks=5, methods=["lpa"], runs=1, **budget).expectations[0].guarantee,
    "audit": lambda **budget: hb.audit("lpa", runs=300, **budget).guarantee,
}
"""Where a program names a budget; each gives back what it promises."""


@pytest.mark.parametrize("name", ENTRANCES)
def test_every_entrance_of_a_program_takes_every_kind(name):
    enter = ENTRANCES[name]
    assert [enter(epsilon="1/3").kind, enter(epsilon=1, delta=1e-9).kind, enter(rho="1/8").kind] == list(BUDGETS)
    for wrong in ({"epsilon": 1, "rho": 1}, {"rho": 1, "delta": 1e-9}, {"epsilon": 1, "delta": 0}):
        with pytest.raises(InvalidParameter, match="`delta`"):
            enter(**wrong)
