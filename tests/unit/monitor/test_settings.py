"""One file says what a monitor does, and a mistake in it is named with its line before anything starts."""

import re
from datetime import timedelta
from fractions import Fraction
from importlib import resources
from pathlib import Path

import pytest

from hubbub.errors import InvalidInput
from hubbub.monitor.durations import duration
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.settings_page import settings_page
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
    assert (ranges.share, ranges.method) == ("1/2", "auto")
    counted = load(spoken.replace('window = "1d"', "window = 500")).ranges
    assert counted.ticks(timedelta(seconds=10)) == 500
    assert load(spoken.replace('window = "1d"', 'window = "95s"')).ranges.ticks(timedelta(seconds=10)) == 10


@pytest.mark.parametrize(
    ("table", "words", "hint"),
    [
        ("window = 0", "`ranges.window`: must be at least one tick", ""),
        ("window = true", "`ranges.window`", ""),
        ('window = "soon"', "not a span of time", ""),
        ("window = 10\nshare = 1", "`ranges.share`: must lie between 0 and 1; got 1", ""),
        ("window = 10\nshare = 0", "`ranges.share`: `share` must be above 0", ""),
        ("window = 10\nshare = true", "`ranges.share`: `share` must be a number", ""),
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


GRANT = f"""{SAMPLE}
[grant]
name = "visitors"
population = "visitors of example.org"
"""


def test_a_stream_has_a_grant_of_its_own_until_it_names_one(load):
    own = load(SAMPLE).part()
    assert (own.grant.name, own.grant.population, own.share) == ("site", "", 1)
    assert own.grant.guarantee == load(SAMPLE).privacy.guarantee()
    whole = load(GRANT).part()
    assert (whole.grant.name, whole.grant.population, whole.share) == ("visitors", "visitors of example.org", 1)
    for written, share in (('"1/3"', Fraction(1, 3)), ("0.1", Fraction(1, 10)), ("1", 1)):
        part = load(f"{GRANT}share = {written}\n").part()
        assert part.share == share
        assert part.guarantee.epsilon == share
    apart = load(f'{GRANT}apart_from = ["staff"]\n').part()
    assert apart.grant.apart_from == ("staff",)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("share = 0", "`grant.share`: `share` must be above 0; got 0"),
        ("share = 1.5", "`grant.share`: must lie above 0"),
        ("share = true", "`share` must be a number"),
        ('share = "half"', "`share` must be a number such as 0.5"),
        ('apart_from = ["visitors of example.org"]', "names other populations"),
        ("shares = 1", "no setting `grant.shares`"),
    ],
)
def test_a_mistake_in_a_grant_is_named(load, line, words):
    with pytest.raises(InvalidInput, match=re.escape(words)):
        load(f"{GRANT}{line}\n")


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
        ('protect = "session"\nmax_items = 3', Session(20, timedelta(minutes=30), 3)),
        ('protect = "window"\nmax_ticks = 6\nmax_items = 2', Window(6, 2)),
    ],
)
def test_units(load, privacy, unit):
    text = SAMPLE.replace('protect = "session"', privacy).replace("max_ticks = 20 ", "# ", 1)
    assert load(text).privacy.unit() == unit


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ('protect = "event"\nmax_ticks = 20', "the unit 'event' has no `max_ticks`; got 20"),
        ('protect = "event"\nmax_items = 2', "the unit 'event' has no `max_items`; got 2"),
        ('protect = "session"\nhorizon = 365', "the unit 'session' has no `horizon`; got 365"),
        ('protect = "user"\nhorizon = 10\nmax_ticks = 20', "`max_ticks` must be at most `horizon`"),
    ],
)
def test_what_a_unit_has_no_use_for_is_refused(load, privacy, words):
    """As it was: left aside without a word, as if it were enforced."""
    text = SAMPLE.replace('protect = "session"', privacy).replace("max_ticks = 20 ", "# ", 1)
    with pytest.raises(InvalidInput) as refused:
        load(text)
    assert words in refused.value.message


@pytest.mark.parametrize(
    ("budget", "kind", "amount"),
    [
        ("epsilon = 0.1", "pure", Fraction(1, 10)),
        ('epsilon = "1/3"', "pure", Fraction(1, 3)),
        ("epsilon = 1.0\ndelta = 1e-9", "approximate", Fraction(1)),
        ('epsilon = "1/3"\ndelta = "1e-9"', "approximate", Fraction(1, 3)),
        ("rho = 0.5", "zcdp", Fraction(1, 2)),
        ('rho = "1/30"', "zcdp", Fraction(1, 30)),
    ],
)
def test_budgets(load, budget, kind, amount):
    guarantee = load(SAMPLE.replace("epsilon = 1.0", budget)).privacy.guarantee()
    assert guarantee.kind == kind
    assert (guarantee.rho if kind == "zcdp" else guarantee.epsilon) == amount
    assert guarantee.delta == (Fraction(1, 10**9) if kind == "approximate" else 0)


@pytest.mark.parametrize("budget", ["", "delta = 1e-9", "epsilon = 1.0\nrho = 0.5", "epsilon = 1.0\ndelta = 1.5"])
def test_budgets_that_cannot_be(load, budget):
    with pytest.raises(InvalidInput, match="privacy"):
        load(SAMPLE.replace("epsilon = 1.0", budget))


def test_lines_are_found_in_tables_and_dotted_names():
    assert line_of("a.b = 1", ("a", "b")) == 1
    assert line_of("[a]\n[a.b]\nc = 1", ("a", "b", "c")) == 3
    assert line_of("[a]\nx = 1", ("a", "missing")) == 1
    assert line_of("x = 1", ("y",)) is None


def test_the_reference_of_settings_is_the_declaration():
    written = (ROOT / "docs" / "settings.md").read_text()
    assert written == settings_page(), "run: python -m hubbub.monitor.settings_page > docs/settings.md"


def test_a_refusal_without_a_hint_ends_once(load):
    """As it was: "for each key. .\""""
    text = SAMPLE.replace("[method]\n", '[method]\nname = "ukf"\n[method.options]\nprocess_variance = nan\n')
    with pytest.raises(InvalidInput, match="one for each key") as caught:
        load(text)
    assert ". ." not in caught.value.message
    assert ".." not in caught.value.message
