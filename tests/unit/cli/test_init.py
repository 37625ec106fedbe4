import json
import os

from hubbub.cli.main import main
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.toml import read_toml


def test_init_writes_a_file_that_works(tmp_path, capsys):
    path = tmp_path / "site.toml"
    assert main(["init", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"written": str(path)}
    assert read_toml(path, MonitorSettings).stream.name == "site"
    assert path.stat().st_mode & 0o777 == 0o600, "it may come to hold a password"


def test_init_overwrites_only_when_told(tmp_path, capsys):
    path = tmp_path / "site.toml"
    path.write_text("mine")
    path.chmod(0o644)
    assert main(["init", str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main(["init", str(path), "--force"]) == 0
    assert path.stat().st_mode & 0o777 == 0o600


def test_init_where_nothing_can_be_written(tmp_path, capsys):
    assert main(["init", str(tmp_path / "no" / "such" / "folder.toml")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_init_leaves_what_is_no_file_as_it_is(tmp_path, capsys):
    """As it was: `--force` on a device, as root, took it away from everybody else."""
    pipe = tmp_path / "site.toml"
    os.mkfifo(pipe, 0o644)
    pipe.chmod(0o644)
    assert main(["init", str(pipe), "--force"]) == 2
    assert "no regular file" in capsys.readouterr().err
    assert pipe.stat().st_mode & 0o777 == 0o644
