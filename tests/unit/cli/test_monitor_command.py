"""`hubbub monitor --check` shows the settings, and no password."""

import json
from importlib import resources

import pytest

from hubbub.cli.main import main
from hubbub.store import Store

SAMPLE = (resources.files("hubbub.monitor") / "sample.toml").read_text()


def test_checking_prints_no_password(tmp_path, capsys, monkeypatch):
    path = tmp_path / "site.toml"
    begin = SAMPLE.index("[store]")
    end = SAMPLE.index("[publish]")
    for address in (
        "postgresql://ann:s3cret@db.example/site",
        "postgresql://db.example/site?user=ann&password=s3cret&sslmode=require",
    ):
        path.write_text(f'{SAMPLE[:begin]}[store]\nurl = "{address}"\n{SAMPLE[end:]}')
        monkeypatch.setattr("hubbub.monitor.assembly._compare", lambda *_: [])  # there is no such machine
        assert main(["monitor", str(path), "--check", "--json"]) == 0
        shown = capsys.readouterr()
        assert "s3cret" not in shown.out + shown.err
        assert "db.example" in json.loads(shown.out)["settings"]["store"]["url"]


def test_checking_finds_what_a_start_would_refuse_and_prints_no_password_either(tmp_path, capsys):
    """As it was: `in order`, and the password of an address that is misspelt."""
    path = tmp_path / "site.toml"
    begin, end = SAMPLE.index("[store]"), SAMPLE.index("[publish]")
    for address in (
        "host=db.example password=s3cret",
        "postgresql//ann:s3cret@db.example/site",
        "mysql://ann:s3cret@db/x",
    ):
        path.write_text(f'{SAMPLE[:begin]}[store]\nurl = "{address}"\n{SAMPLE[end:]}')
        assert main(["monitor", str(path), "--check", "--json"]) == 2
        shown = capsys.readouterr()
        assert "s3cret" not in shown.out + shown.err
        assert "not the address of a store" in shown.out


def test_a_short_timeout_shortens_the_stay_that_nobody_asked_for(tmp_path, capsys):
    """As it was: `--check` said "in order", the start refused, and the promise of the stream was fixed by then."""
    path = tmp_path / "site.toml"
    path.write_text(SAMPLE.replace('timeout = "30min"', 'timeout = "1min"'))
    assert main(["monitor", str(path), "--check"]) == 0
    text = SAMPLE.replace('timeout = "30min"', 'timeout = "1min"').replace("# [collect]", "[collect]")
    path.write_text(text.replace('# stay = "2min"', 'stay = "2min"'))
    capsys.readouterr()
    assert main(["monitor", str(path), "--check"]) == 2
    assert "`stay` must lie" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("epsilon = 1.0", "epsilon = true", "`privacy.epsilon`: `epsilon` must be a number; got bool"),
        ("epsilon = 1.0", "epsilon = 1e-300", "between 1e-300 and 1e300"),
        ("epsilon = 1.0", "epsilon = 1e-12", "`scale` must lie between"),
        ("epsilon = 1.0", "epsilon = 1e6\nallow_weak = true", "`scale` must lie between"),
        ("max_ticks = 20", "max_ticks = true", "`privacy.max_ticks`: input should be a valid integer"),
        ("public = true", 'public = "yes"', "`publish.public`: input should be a valid boolean"),
        ("# [collect]", "[collect]\nstay = 5", "`collect.stay`: is not a span of time; got '5'"),
        ("news = ", "other = ", "The key 'other' is listed"),
        ('kind = "log"\npath = "access.log"\nformat = "combined"', 'kind = "http"\nspool = "FILE"', "is a file"),
        ('path = "access.log"', 'path = "FOLDER"', "is a folder"),
    ],
)
def test_checking_finds_what_nobody_can_mean(tmp_path, capsys, old, new, told):
    """As it was: all of these were "in order", and some started: `true` is the number 1."""
    path = tmp_path / "site.toml"
    assert old in SAMPLE
    path.write_text(SAMPLE.replace(old, new.replace("FILE", str(path)).replace("FOLDER", str(tmp_path))))
    assert main(["monitor", str(path), "--check"]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("source", ['kind = "counts"', 'kind = "http"'])
def test_noise_that_nobody_can_draw_is_refused_before_the_stream_is_made(tmp_path, capsys, source):
    """As it was: the stream and its promise were made, and the first tick stopped the monitor."""
    path = tmp_path / "site.toml"
    text = SAMPLE.replace('kind = "log"\npath = "access.log"\nformat = "combined"', source)
    path.write_text(text.replace("epsilon = 1.0", "epsilon = 1e-12").replace("site.db", str(tmp_path / "site.db")))
    assert main(["monitor", str(path), "--no-serve"]) == 2
    assert "`scale` must lie between" in capsys.readouterr().err
    with Store.open(tmp_path / "site.db") as store:
        assert store.streams() == []


def test_checking_tells_of_a_log_that_is_not_there(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "site.toml"
    path.write_text(SAMPLE)
    assert main(["monitor", str(path), "--check"]) == 0
    log, store = capsys.readouterr().err.splitlines()
    assert log == "There is no log access.log yet. It is waited for; is `path` in [source] right?"
    assert store.startswith("There is no store site.db yet.")
    (tmp_path / "access.log").touch()
    assert main(["monitor", str(path), "--check"]) == 0
    assert capsys.readouterr().err == f"{store}\n"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["access.log", "site.toml"], "nothing was started"


def test_a_refusal_prints_no_password(tmp_path, capsys):
    path = tmp_path / "site.toml"
    begin = SAMPLE.index("[store]")
    end = SAMPLE.index("[publish]")
    # Nobody listens on port 1 of this machine, so the driver itself says no.
    address = "postgresql://ann:s3cret@127.0.0.1:1/site?password=s3cret"
    path.write_text(f'{SAMPLE[:begin]}[store]\nurl = "{address}"\n{SAMPLE[end:]}')
    for more in ([], ["--json"]):
        assert main(["monitor", str(path), *more]) == 1
        shown = capsys.readouterr()
        assert "does not answer" in shown.out + shown.err
        assert "s3cret" not in shown.out + shown.err


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_leaves_out_the_ticks_and_nothing_else(tmp_path, capsys, quiet):
    (tmp_path / "access.log").write_text('10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] "GET / HTTP/1.1" 200 5 "-" "x"\n')
    with Store.open(tmp_path / "site.db"):
        (tmp_path / "site.db").chmod(0o644)
    path = tmp_path / "site.toml"
    span = "follow = false\nstart = 2026-01-01T00:00:00Z\nend = 2026-01-01T00:00:20Z"
    text = SAMPLE.replace('path = "access.log"', f'path = "{tmp_path}/access.log"\n{span}')
    path.write_text(text.replace('url = "site.db"', f'url = "{tmp_path}/site.db"'))
    assert main(["monitor", str(path), "--no-serve", *(["--quiet"] if quiet else [])]) == 0
    said = capsys.readouterr().err
    assert ("tick 0" in said) is not quiet
    assert "could be read by other users" in said
