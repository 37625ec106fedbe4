"""docs/personal.md followed to the letter."""

import re
import shlex
import shutil
from pathlib import Path

from hubbub.cli.main import main

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "personal.md").read_text()


def test_the_python_prints_what_it_says(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    space = {}
    exec(compile(code, "personal.md", "exec"), space)
    promise, *printed = capsys.readouterr().out.splitlines()
    assert "at most 10 afterwards" in promise
    said = [text.split(":")[0] for text in re.findall(r"^print\(.*\) +# (?!b')(.*)$", code, re.MULTILINE)]
    assert printed == ['b\'{"node": "0,0 x4", "k": 2}\'', *said]
    assert len(said) == 2
    answer = space["server"].answer(space["request"]).decode().replace(space["town"].digest, "DIGEST")
    assert f"    {answer}\n" in PAGE


def test_the_commands_do_what_they_say(capsys, tmp_path, monkeypatch):
    shutil.copy(DOCS / "samples" / "personal_log.csv", tmp_path / "log.csv")
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^ {4}hubbub (select .*)$", PAGE, re.MULTILINE)
    shown = []

    def run(serving):
        """The server runs while the last line asks it."""
        with serving:
            assert main(shlex.split(lines[4].replace("http://127.0.0.1:8082", serving.address))) == 0
        shown.append(capsys.readouterr().out)

    monkeypatch.setattr("hubbub.server.Serving.run", run)
    for line in lines[:4]:
        assert main(shlex.split(line.replace("--port 8082", "--port 0"))) == 0
    assert "shown: pharmacy\ntold:  0,0 x4" in shown[0]
    assert "bakery" in shown[0], "what was chosen"
