"""`hubbub lab` and `hubbub serve --lab`: started, looked at, stopped; refused to the network."""

import json
import signal
import subprocess
import sys
import urllib.request

import pytest

from hubbub.cli.main import main
from hubbub.store import Store


def started(*arguments):
    command = [sys.executable, "-m", "hubbub", *arguments, "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text = ""
    for line in process.stdout:
        text += line
        if line == "}\n":
            break
    assert text, process.stderr.read()
    return process, json.loads(text)


def page(address):
    with urllib.request.urlopen(address, timeout=20) as answer:
        return answer.read().decode()


def stop(process, number=signal.SIGINT):
    process.send_signal(number)
    assert process.wait(timeout=30) in (0, 130, -number), process.stderr.read()
    process.stdout.close()
    process.stderr.close()


def test_the_lab_starts_with_one_word_and_ends_with_ctrl_c():
    process, said = started("lab")
    assert said["address"].endswith("/lab")
    assert "Playground" in page(said["address"])
    stop(process)


def test_a_dashboard_with_the_lab(tmp_path):
    with Store.open(tmp_path / "x.db"):
        pass
    process, said = started("serve", str(tmp_path / "x.db"), "--public", "--lab")
    assert 'href="/lab"' in page(said["address"])
    assert "Playground" in page(said["address"] + "/lab")
    stop(process, signal.SIGTERM)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1"])
def test_it_is_not_opened_to_a_network(tmp_path, capsys, host):
    with Store.open(tmp_path / "x.db"):
        pass
    assert main(["lab", "--host", host]) == 2
    assert main(["serve", str(tmp_path / "x.db"), "--lab", "--host", host]) == 2
    said = capsys.readouterr().err
    assert "confidential data" in said
    assert "--lab-anywhere" in said
