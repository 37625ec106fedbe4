"""One file says what a monitor does, and a mistake in it is named with its line before anything starts."""

import re
from datetime import timedelta
from importlib import resources
from pathlib import Path

import pytest

from hubbub.errors import InvalidInput
from hubbub.monitor.durations import duration
from hubbub.monitor.reference import reference
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.toml import line_of, read_toml
from hubbub.privacy import Event, Session, User, Window

SAMPLE = (resources.files("hubbub.monitor") / "sample.toml").read_text()
ROOT = Path(__file__).parents[3]


@pytest.fixture
def load(tmp_path):
    def read(text):
        path = tmp_path / "site.toml"
        path.write_text(text)
        return read_toml(path, MonitorSettings)

    return read


def test_the_sample_is_a_working_file(load):
    settings = load(SAMPLE)
    assert settings.stream.tick == timedelta(seconds=10)
    assert settings.source.kind == "log"
    assert settings.privacy.unit() == Session(20, timedelta(minutes=30))
    assert settings.publish.public


def test_ranges_are_off_until_asked_for(load):
    assert load(SAMPLE).ranges is None
    spoken = re.sub(r"^# (\[ranges\]|window|share|method)", r"\1", SAMPLE, flags=re.MULTILINE)
    ranges = load(spoken).ranges
    assert ranges.ticks(timedelta(seconds=10)) == 8640
    assert (ranges.share, ranges.method) == (0.5, "auto")
    counted = load(spoken.replace('window = "1d"', "window = 500")).ranges
    assert counted.ticks(timedelta(seconds=10)) == 500
    assert load(spoken.replace('window = "1d"', 'window = "95s"')).ranges.ticks(timedelta(seconds=10)) == 10


@pytest.mark.parametrize(
    ("table", "words", "hint"),
    [
        ("window = 0", "`ranges.window`: must be at least one tick", ""),
        ("window = true", "`ranges.window`", ""),
        ('window = "soon"', "not a span of time", ""),
        ("window = 10\nshare = 1", "`ranges.share`", ""),
        ('window = 10\nmethod = "magic"', "there is no method 'magic'; known: auto", ""),
        ("windov = 10", "no setting `ranges.windov`", "mean `window`"),
        ("", "`ranges.window` is missing", ""),
    ],
)
def test_a_mistake_in_ranges_is_named(load, table, words, hint):
    with pytest.raises(InvalidInput) as refused:
        load(f"{SAMPLE}\n[ranges]\n{table}\n")
    assert words in refused.value.message
    assert hint in refused.value.hint


def test_commented_out_settings_show_the_default(load):
    shown = dict(re.findall(r"^# (\w+) = ([^#\n]+?) *(?:#.*)?$", SAMPLE, re.MULTILINE))
    settings = load(SAMPLE)
    assert shown["follow"] == "true"
    assert settings.source.follow
    assert duration(shown["stay"].strip('"')) == settings.collect.stay
    assert shown["identify"] == '["person"]'
    assert settings.collect.identify == ["person"]
    assert shown["host"].strip('"') == settings.publish.host
    assert int(shown["port"]) == settings.publish.port


@pytest.mark.parametrize(
    ("change", "words", "hint"),
    [
        (("epsilon = 1.0", "epsilom = 1.0"), "no setting `privacy.epsilom`", "mean `epsilon`"),
        (("epsilon = 1.0", "epsilon = 0"), "line 23: `privacy.epsilon`", "settings.md"),
        (("epsilon = 1.0", "epsilon = 50.0"), "promises practically nothing", "settings.md"),
        (('tick = "10s"', 'tick = "10"'), "line 6: `stream.tick`: is not a span of time", ""),
        (('tick = "10s"', "tick = 10"), "line 6: `stream.tick`: is not a span of time", ""),
        (('tick = "10s"', 'tick = "0s"'), "longer than nothing", ""),
        (('kind = "log"', 'kind = "pigeon"'), "line 8", ""),
        (('name = "site"', 'name = "My Site"'), "line 5: `stream.name`", ""),
        (('path = "access.log"', ""), "`source.path` is missing", "hubbub init"),
        (("[store]", "[stoer]"), "no setting `stoer`", "mean `store`"),
        (("[store]", "[zzz]"), "no setting `zzz`", "Known here: collect"),
        (('protect = "session"', 'protect = "user"'), "needs a horizon", ""),
        (("[keys.routes]", 'names = ["a"]\n[keys.routes]'), "exactly one of", ""),
        (("public = true", 'public = true\nstream = "x"'), "not needed", ""),
        (("public = true", "public = true\npublic = true"), "line 47", "quotes"),
        (('name = "site"', "name = site"), "line 5", "quotes"),
    ],
)
def test_a_mistake_is_named_with_its_line(load, change, words, hint):
    assert change[0] in SAMPLE
    with pytest.raises(InvalidInput) as refused:
        load(SAMPLE.replace(*change, 1))
    assert words in refused.value.message
    assert hint in refused.value.hint
    assert "site.toml" in refused.value.message


def test_several_mistakes_are_counted(load):
    with pytest.raises(InvalidInput, match="1 more"):
        load(SAMPLE.replace("epsilon = 1.0", "epsilon = -1").replace('tick = "10s"', 'tick = "x"'))


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(InvalidInput, match="no settings file"):
        read_toml(tmp_path / "nothing.toml", MonitorSettings)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_toml(tmp_path / "binary.toml", MonitorSettings)


@pytest.mark.parametrize(
    ("privacy", "unit"),
    [
        ('protect = "event"', Event()),
        ('protect = "window"\nmax_ticks = 6', Window(6)),
        ('protect = "user"\nhorizon = 365\nmax_ticks = 2', User(2, 365)),
        ('protect = "user"\nhorizon = 10', User(10, 10)),
    ],
)
def test_units(load, privacy, unit):
    text = SAMPLE.replace('protect = "session"', privacy).replace("max_ticks = 20 ", "# ", 1)
    assert load(text).privacy.unit() == unit


def test_lines_are_found_in_tables_and_dotted_names():
    assert line_of("a.b = 1", ("a", "b")) == 1
    assert line_of("[a]\n[a.b]\nc = 1", ("a", "b", "c")) == 3
    assert line_of("[a]\nx = 1", ("a", "missing")) == 1
    assert line_of("x = 1", ("y",)) is None


def test_the_reference_of_settings_is_the_declaration():
    written = (ROOT / "docs" / "settings.md").read_text()
    assert written == reference(), "run: python -m hubbub.monitor.reference > docs/settings.md"
