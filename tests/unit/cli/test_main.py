"""The one style in which every command speaks, fails and exits."""

import json
import subprocess
import sys

import pytest
import typer

import hubbub
from hubbub.cli import main as entry
from hubbub.cli.output import Json, Output
from hubbub.errors import BudgetExceeded, InvalidParameter, MissingExtra


@pytest.fixture
def command(monkeypatch):
    """Put one throw-away command, `try`, in place of the real ones."""

    def install(body):
        def attempt(as_json: Json = False) -> None:
            body(Output(as_json))

        def build(only):
            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
            app.command("try")(attempt)
            app.callback()(lambda: None)
            return app

        monkeypatch.setattr(entry, "build", build)

    return install


def speak(out):
    out.note("working")
    out.text("[three] words")
    out.table("Counts", ["key", "value"], [["front", 3]])
    with out.progress("counting", total=2) as bar:
        bar.advance(bar.task_ids[0])
    out.document({"answer": 3})


def test_people_get_tables(command, capsys):
    command(speak)
    assert entry.main(["try"]) == 0
    said = capsys.readouterr()
    assert "front" in said.out
    assert "[three] words" in said.out
    assert "answer" not in said.out
    assert "working" in said.err


def test_programs_get_one_document_and_nothing_else(command, capsys):
    command(speak)
    assert entry.main(["try", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"answer": 3}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BudgetExceeded("Too much.", "Spend less."), 1),
        (InvalidParameter("`epsilon` is [odd].", "Use 1."), 2),
        (MissingExtra.of("psycopg", "postgres"), 1),
    ],
)
def test_a_refusal_has_one_style(command, capsys, error, code):
    def refuse(out):
        raise error

    command(refuse)
    assert entry.main(["try"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[0] == f"error {error.message}"
    assert said.err.splitlines()[1] == f"hint  {error.hint}"

    assert entry.main(["try", "--json"]) == code
    assert json.loads(capsys.readouterr().out) == {
        "error": {"code": error.code, "message": error.message, "hint": error.hint}
    }


def test_ctrl_c_says_so(command, capsys):
    def interrupt(out):
        raise KeyboardInterrupt

    command(interrupt)
    assert entry.main(["try"]) == 130


def test_wrong_use_is_exit_code_2(capsys):
    assert entry.main(["no-such-command"]) == 2
    assert "--help" in capsys.readouterr().err


def test_help_and_version(capsys):
    assert entry.main([]) == 0
    assert "never the person" in capsys.readouterr().out
    assert entry.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == hubbub.__version__


def test_the_installed_command_runs():
    done = subprocess.run([sys.executable, "-m", "hubbub", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hubbub.__version__


def test_codes_are_words():
    assert BudgetExceeded("x").code == "budget_exceeded"
