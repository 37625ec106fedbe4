"""What decides who counts where is part of the promise: another setting is refused, by name."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta

import pytest

from hubbub.errors import GuaranteeChanged, InvalidInput
from hubbub.monitor.assembly import check, open_pipeline
from hubbub.monitor.pins import attested, hash_of
from hubbub.monitor.settings import MonitorSettings
from hubbub.store import Store

NOW = datetime(2026, 1, 1, 10, 0, 3, tzinfo=UTC)


@pytest.fixture
def facts(tmp_path):
    (tmp_path / "access.log").touch()
    return {
        "stream": {"name": "site", "tick": "10s"},
        "source": {"kind": "log", "path": str(tmp_path / "access.log")},
        "keys": {"routes": {"front": "/", "news": "/news/*"}},
        "privacy": {"epsilon": 1.0, "max_ticks": 5, "timeout": "5min"},
        "store": {"url": str(tmp_path / "site.db")},
    }


def begin(facts):
    settings = MonitorSettings.model_validate(facts)
    with Store.open(settings.store.url) as store:
        pipeline, _ = open_pipeline(settings, store, clock=lambda: NOW, on_release=lambda _: None, say=lambda _: None)
        pipeline.close()
        return store.stream("site")


def test_the_stream_remembers_how_its_counts_come_about(facts):
    made = begin(facts)
    counting = made.counting
    assert counting["tick"] == 10_000_000
    assert counting["begins"] == "2026-01-01T10:00:10+00:00", "the first whole tick"
    assert counting["routes"] == {"front": "/", "news": "/news/*"}
    assert (counting["stay"], counting["lateness"], counting["max_ahead"]) == (120_000_000, 5_000_000, 10_000_000)
    assert counting["source"] == {"kind": "log", "format": "combined"}
    assert counting["filters"]["methods"] == ["GET"]
    assert set(made.attested) == {"keys", "identity"}
    assert begin(facts) == made, "the same settings go on"


@pytest.mark.parametrize(
    ("table", "setting", "value", "named"),
    [
        ("stream", "tick", "1s", "tick"),
        ("collect", "stay", "1min", "stay"),
        ("collect", "stay", False, "stay"),
        ("collect", "identify", ["person", "agent"], "identify"),
        ("collect", "bots", True, "filters"),
        ("collect", "assets", True, "filters"),
        ("collect", "lateness", "7s", "lateness"),
        ("keys", "routes", {"front": "/", "news": "/*"}, "routes"),
        ("keys", "other", "rest", "keys"),
        ("source", "format", "common", "source"),
        ("privacy", "timeout", "6min", "guarantee"),
        ("privacy", "max_ticks", 6, "guarantee"),
        ("privacy", "max_items", 2, "guarantee"),
        ("privacy", "epsilon", "1/2", "another guarantee: `epsilon` was 1 when the stream was made, now 1/2"),
        ("privacy", "delta", 1e-9, "another guarantee: `delta` was 0 when the stream was made, now 1/1000000000"),
        ("privacy", "rho", 0.5, "another guarantee: `epsilon` was 1 .* now null; `rho` was null .* now 1/2"),
    ],
)
def test_another_setting_is_refused_by_name(facts, table, setting, value, named):
    begin(facts)
    other = copy.deepcopy(facts)
    other.setdefault(table, {})[setting] = value
    if setting == "rho":
        del other["privacy"]["epsilon"]
    with pytest.raises(GuaranteeChanged, match=named):
        begin(other)


def test_where_the_log_lies_may_change(facts, tmp_path):
    made = begin(facts)
    (tmp_path / "moved.log").touch()
    facts["source"]["path"] = str(tmp_path / "moved.log")
    assert begin(facts) == made


def test_a_stream_of_an_earlier_version_is_not_gone_on_with(facts):
    settings = MonitorSettings.model_validate(facts)
    from hubbub.released import Keys

    with Store.open(settings.store.url) as store:
        store.create_stream("site", Keys(["front", "news", "other"]), settings.privacy.guarantee(), "navigation")
    with pytest.raises(GuaranteeChanged, match="earlier version"):
        begin(facts)


def test_what_is_vouched_for_fits_the_source(facts):
    def words(**change):
        return attested(MonitorSettings.model_validate(facts | change))

    assert "address in the log" in words()["identity"]
    assert "browser" in words(collect={"identify": ["person", "agent"]})["identity"]
    assert "came with each event" in words(source={"kind": "http"})["identity"]
    assert "stands for itself" in words(privacy={"epsilon": 1.0, "protect": "event"})["identity"]
    counts = words(source={"kind": "counts"})
    assert "vouches that the bound was enforced" in counts["counts"]
    assert "one key a tick" in counts["counts"], "stored streams hold these words, and are compared with them"
    assert "whoever counted" in counts["identity"]


def test_a_model_is_known_by_its_hash(facts, tmp_path):
    model = tmp_path / "site.model"
    model.write_bytes(b"one")
    first = attested(MonitorSettings.model_validate(facts | {"method": {"model": str(model)}}))["model"]
    assert hash_of(model) in first
    model.write_bytes(b"two")
    assert attested(MonitorSettings.model_validate(facts | {"method": {"model": str(model)}}))["model"] != first
    with pytest.raises(InvalidInput, match="cannot be read"):
        hash_of(tmp_path / "absent")


@pytest.mark.parametrize("budget", [{"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-9}, {"rho": "1/8"}], ids=str)
def test_every_guarantee_goes_on_with_itself_and_with_ranges(facts, budget):
    """A promise of each kind is kept by a live stream and its ranges together, and found again."""
    numbers = {"max_ticks": 5, "timeout": "5min"}
    other = {**facts, "privacy": {**budget, **numbers}, "ranges": {"window": 20, "share": "1/3"}}
    made = begin(other)
    assert made.part.share * 3 == 2
    assert made.part.grant.guarantee == MonitorSettings.model_validate(other).privacy.guarantee()
    assert begin(other) == made
    with pytest.raises(GuaranteeChanged, match="guarantee"):
        begin({**other, "ranges": {"window": 20, "share": "1/2"}})


@pytest.mark.parametrize("kind", ["log", "events"])
@pytest.mark.parametrize("shift", [timedelta(hours=-1), timedelta(seconds=-5), timedelta(minutes=10)])
def test_a_recorded_span_cannot_begin_at_another_time(facts, tmp_path, kind, shift):
    """With another start the same hours would be other ticks, and be released again under one budget."""
    (tmp_path / "events.csv").write_text("time,person,path\n")
    start = datetime(2026, 1, 1, 8, tzinfo=UTC)
    span = {"start": start.isoformat(), "end": (start + timedelta(hours=1)).isoformat()}
    if kind == "log":
        facts["source"] |= span | {"follow": False}
    else:
        facts["source"] = {"kind": "events", "path": str(tmp_path / "events.csv"), **span}
    made = begin(facts)
    assert made.counting["begins"] == "2026-01-01T08:00:00+00:00"
    assert begin(facts) == made
    changed = copy.deepcopy(facts)
    changed["source"]["start"] = (start + shift).isoformat()
    with pytest.raises(GuaranteeChanged, match="begins"):
        begin(changed)
    with pytest.raises(GuaranteeChanged, match="begins"):
        check(MonitorSettings.model_validate(changed))
