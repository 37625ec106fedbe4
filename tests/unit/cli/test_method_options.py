"""Options of a method from every entrance, by the one declaration."""

import json

import pytest

from hubbub.cli.main import main
from hubbub.errors import InvalidInput
from hubbub.lab.playground.asked import options_asked
from hubbub.monitor.settings import MethodSettings


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("flu\n" + "\n".join(str(400 + 7 * (t % 5)) for t in range(40)) + "\n")
    return str(path)


def document(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_release_takes_them(capsys, counts):
    base = ["release", counts, "--epsilon", "1", "--unit", "user", "--method", "fast", "--option", "sampling=fixed"]
    assert document(capsys, *base, "--option", "samples=4")["measured"] == 4
    assert document(capsys, *base, "--option", "samples=20")["measured"] == 20


def test_release_of_the_whole_series_at_once(capsys, counts):
    told = document(
        capsys, "release", counts, "--epsilon", "1", "--unit", "user", "--method", "dft", "--option", "coefficients=3"
    )
    assert (told["method"], told["ticks"], told["measured"]) == ("dft", 40, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "fast", "--option", "sampels=4"], "Did you mean `samples`?"),
        (["--method", "fast", "--option", "samples=many"], "`samples` must be a whole number"),
        (["--method", "fast", "--option", "samples"], "name=value"),
        (["--option", "samples=4"], "--method"),
    ],
)
def test_what_is_wrong_is_said(capsys, counts, arguments, words):
    assert main(["release", counts, "--epsilon", "1", "--unit", "user", *arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_plan_gives_them_to_those_that_have_them(capsys):
    base = ["plan", "--epsilon", "1", "--ticks", "30", "--runs", "1", "--method", "sample", "--method", "lpa"]
    told = document(capsys, *base, "--option", "samples=3")
    assert {one["method"] for one in told["expectations"]} == {"sample", "lpa"}
    assert main([*base, "--option", "particles=3"]) == 2
    assert "no option 'particles'" in capsys.readouterr().err


def test_settings_check_them():
    assert MethodSettings(name="fast", options={"samples": 50}).options == {"samples": 50}
    for wrong, words in (
        ({"name": "fast", "options": {"sampels": 50}}, "Did you mean `samples`"),
        ({"name": "magic", "options": {"samples": 50}}, "There is no method"),
        ({"options": {"samples": 50}}, "give its `name`"),
    ):
        with pytest.raises(ValueError, match=words):
            MethodSettings(**wrong)


def test_the_lab_takes_small_ones_and_opens_no_files():
    assert options_asked("pegasus", {"smoother": "average", "threshold": "1/2"})["smoother"] == "average"
    with pytest.raises(InvalidInput, match="opens no files"):
        options_asked("navigation", {"model": "site.npz"})
    with pytest.raises(InvalidInput, match="at most 5,000"):
        options_asked("fast", {"particles": "1000000"})
