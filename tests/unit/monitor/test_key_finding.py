"""Keys that nobody listed, from the bytes of a log to what is released: real files, a real store, a clock set by hand.

A weak epsilon makes noise vanish and thresholds low, so that counts can be read off the releases.
"""

import json
from datetime import timedelta

import pytest
from pydantic import ValidationError
from tests.support.found_site import FoundSite, busy

from hubbub.errors import InvalidParameter, UnknownStream
from hubbub.monitor.assembly import check


@pytest.fixture
def site(tmp_path):
    made = FoundSite(tmp_path)
    yield made
    made.close()
    made.store.close()


def test_the_next_period_counts_what_a_period_found(site):
    site.open()
    site.minutes()  # the first tick begins at the next full minute
    busy(site, minutes=20)
    assert site.lists()[0] == ("/", "/news") or site.lists()[0] == ("/news", "/")
    assert all(one.keys() == {"other"} for one in site.counts()[:9])
    later = site.counts()[9:]
    assert later == 11 * [{"/": 30, "/news": 30, "other": 1}]


def test_a_list_of_what_was_sent_by_http_is_whole_after_a_restart(tmp_path):
    """Half of its sessions came before: the spool still has them."""
    site = FoundSite(tmp_path, http=True).open()
    site.minutes()
    site.visit("/early", 40, "e", ago=-20)
    site.minutes(4)
    site.die()
    site.open()
    site.visit("/late", 40, "l", ago=-20)
    site.minutes(6)
    assert site.lists() == [("/early", "/late")]
    site.visit("/early", 7, "again", ago=-20)
    site.minutes(2)
    assert site.counts()[-2] == {"/early": 7, "/late": 0, "other": 0}
    site.close()
    site.store.close()


def test_what_one_session_saw_is_never_named(site):
    site.open()
    site.minutes()
    busy(site, minutes=32)
    told = json.dumps([site.lists(), site.said, [one.to_dict() for one in site.store.decisions("site")]])
    assert "/secret" not in told
    assert len(site.lists()) == 3


def test_a_key_that_is_not_found_again_retires(site):
    site.open()
    site.minutes()
    busy(site, minutes=9)
    busy(site, minutes=31, name="q", pages=["/"])
    assert site.lists()[1:] == [("/",), ("/",), ("/",)]
    seen = [set(one) for one in site.counts()]
    assert {"/", "/news", "other"} in seen
    assert seen[-1] == {"/", "other"}


def test_a_session_counts_under_its_bound_whatever_the_keys_do(site):
    """One visitor, every minute, over the change of keys: three ticks, and not one more."""
    site.open()
    site.minutes()
    for minute in range(9):
        site.visit("/", 30, f"p{minute}", ago=-20)
        if minute >= 7:
            site.visit("/", 1, "loyal", ago=-20)
        site.minutes()
    for _ in range(9, 14):
        site.visit("/", 1, "loyal", ago=-20)
        site.minutes()
    assert [sum(one.values()) for one in site.counts()[7:]] == [31, 31, 1, 0, 0, 0, 0][: len(site.counts()) - 7]


@pytest.mark.parametrize("at", range(1, 24, 2))
@pytest.mark.parametrize("how", ["close", "die"])
def test_a_restart_changes_nothing(tmp_path, at, how):
    """Also in the midst of a period: it is read again from its beginning."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    once, twice = FoundSite(tmp_path / "a").open(), FoundSite(tmp_path / "b").open()
    for site in (once, twice):
        site.minutes()
        for minute in range(24):
            for page in ("/", "/news"):
                site.visit(page, 30, f"{minute // 2}{page}", ago=-20)
            if site is twice and minute == at:
                getattr(site, how)()
                site.open()
            site.minutes()
        site.close()
    assert once.lists() == twice.lists()
    assert once.counts() == twice.counts()
    for site in (once, twice):
        assert all(site.store.verify(name).ok for name in ("site", "site.keys"))
        site.store.close()


def test_a_crash_between_a_list_and_its_decision_is_made_good(site, monkeypatch):
    from hubbub.store import Curator

    site.open()
    site.minutes()
    busy(site, minutes=8)
    site.visit("/", 30, "last", ago=-20)

    def fall(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Curator, "change_domain", fall)
        with pytest.raises(KeyboardInterrupt):
            site.minutes(3)
    assert len(site.lists()) == 1
    assert site.store.domain("site").names == ("other",)
    site.die()
    site.open()
    assert set(site.store.domain("site").names) == {"/", "/news", "other"}
    busy(site, minutes=2, name="r")
    assert site.counts()[-1] == {"/": 30, "/news": 30, "other": 1}


def test_a_period_that_nobody_watched_changes_no_keys(site):
    site.open()
    site.minutes()
    busy(site, minutes=12)
    keys = site.store.domain("site")
    site.die()
    site.log.unlink()  # nothing of what came meanwhile can be read
    site.log.touch()
    site.now += timedelta(hours=2)
    site.open()
    site.minutes(3)
    assert site.lists()[-1] is None
    assert site.store.domain("site").names == keys.names


@pytest.mark.parametrize("stops", [None, 7, 12, 19])
def test_a_file_that_is_read_once_has_the_lists_of_all_its_periods(site, stops):
    """Also where it is read in two goes; the last list belongs to a period that ends with the file."""
    for _ in range(20):
        for page in ("/", "/news"):
            site.visit(page, 30, f"{site.now}{page}", ago=-20)
        site.now += timedelta(minutes=1)
    start = site.now - timedelta(minutes=20)
    site.source |= {"follow": False, "start": start, "end": site.now}
    site.open()
    if stops is not None:
        publish = site.pipeline._publish

        def until(ended):
            publish(ended)
            if getattr(ended, "counts", None) is not None and ended.counts.tick.index == stops:
                raise KeyboardInterrupt

        site.pipeline._publish = until
        with pytest.raises(KeyboardInterrupt):
            site.pipeline.run()
        site.open()
    site.pipeline.run()
    assert site.lists() == 2 * [("/", "/news")]
    assert site.counts() == 10 * [{"other": 60}] + 10 * [{"/": 30, "/news": 30, "other": 0}]
    site.pipeline = None


@pytest.mark.parametrize("dies", [4, 9, 10, 13])
def test_two_monitors_make_each_list_once_and_one_goes_on_without_the_other(tmp_path, dies):
    """Both read the same log into the same store; whoever is first makes a list, and both count by it."""
    first = FoundSite(tmp_path)
    second = FoundSite(tmp_path)
    first.open()
    second.open()
    first.minutes()
    second.minutes()
    for minute in range(24):
        for page in ("/", "/news"):
            first.visit(page, 30, f"{minute}{page}", ago=-20)
        for one in (first, second) if minute % 2 else (second, first):
            if one.pipeline is not None:
                one.minutes()
        if minute == dies:
            first.die()
        first.now = second.now
    second.minutes(4)  # it waits a while before it takes over
    assert second.lists()[:2] == [("/", "/news"), ("/", "/news")]
    assert [one for one in second.counts() if one and one.keys() != {"other"}][:3] == 3 * [
        {"/": 30, "/news": 30, "other": 0}
    ]
    ticks = [release.tick.index for release in second.store.releases("site")]
    assert ticks == list(range(len(ticks)))
    assert all(second.store.verify(name).ok for name in ("site", "site.keys"))
    for one in (first, second):
        one.close()
        one.store.close()


def test_a_period_of_predictions_has_no_list_after_a_restart_that_lost_its_past(site):
    """Its ticks were in doubt before and after: an empty list would make keys retire."""
    site.open()
    site.minutes()
    busy(site, minutes=12)
    keys = site.store.domain("site").names
    for _ in range(3):
        site.die()
        site.log.unlink()
        site.log.write_text('{"time": "2025-12-31T00:00:00+00:00", "person": "y", "path": "/"}\n')
        site.open()
        site.minutes(9)  # whoever is counted before was counted too often: all of these ticks are predicted
    measured = [one is not None for one in site.counts()]
    for number, names in enumerate(site.lists()[1:], start=1):
        ticks = measured[10 * number - 1 : 10 * number + 9]
        assert names != () or any(ticks), number
    assert site.lists()[1] is None
    assert site.store.domain("site").names == keys


@pytest.mark.parametrize("name", ["site.keys", "staff"])
def test_events_for_another_stream_are_not_taken(tmp_path, name):
    """Its people may be others, under another promise."""
    site = FoundSite(tmp_path, http=True).open()
    line = b'{"time": "2026-01-01T10:01:00+00:00", "person": "a", "path": "/"}\n'
    with pytest.raises(UnknownStream, match="this monitor counts 'site'"):
        site.spool.push(name, line)
    with pytest.raises(UnknownStream):
        site.spool.push_many(name, [(line, None, "")])
    assert site.spool.push("site", line).accepted == 1
    site.close()
    site.store.close()


class TestPatterns:
    def visited(self, site):
        site.open()
        site.minutes()
        busy(site, minutes=12, pages=["/", "/article/1", "/article/22", "/article/303"])

    def test_one_that_is_offered_counts_in_place_of_its_names(self, site):
        self.visited(site)
        site.close()
        site.keys["patterns"] = ["/article/*"]
        site.open()
        busy(site, minutes=3, name="q", pages=["/", "/article/4"])
        assert site.counts()[-1] == {"/article/*": 30, "/": 30, "other": 1}

    def test_one_that_was_never_offered_is_refused(self, site):
        self.visited(site)
        site.close()
        site.keys["patterns"] = ["/secret/*"]
        with pytest.raises(InvalidParameter, match="does not follow from what was published"):
            site.open()

    @pytest.mark.parametrize("pattern", ["/article/*", "/", "other", "*", ""])
    def test_none_is_offered_before_the_first_list(self, site, pattern):
        site.keys["patterns"] = [pattern]
        for start in (site.open, lambda: check(site.settings())):
            with pytest.raises(InvalidParameter, match="does not follow"):
                start()

    @pytest.mark.parametrize("pattern", ["/secret/*", "/", "other", "*"])
    def test_a_check_refuses_what_a_start_would_refuse(self, site, pattern):
        """A name that was published is no pattern either."""
        self.visited(site)
        site.close()
        site.keys["patterns"] = [pattern]
        for start in (site.open, lambda: check(site.settings())):
            with pytest.raises(InvalidParameter, match="does not follow"):
                start()
        site.keys["patterns"] = ["/article/*"]
        assert check(site.settings()) == []


class TestSettings:
    @pytest.mark.parametrize(
        ("change", "word"),
        [
            (lambda s: s.privacy.update(protect="user", horizon=50), "about sessions"),
            (lambda s: s.privacy.pop("delta"), "needs a delta"),
            (lambda s: s.privacy.update(max_items=2), "would count there twice"),
            (lambda s: s.keys.update(discover="10s"), "at least as long as a tick"),
            (lambda s: s.keys.update(names=["/"]), "exactly one of"),
            (lambda s: s.keys.update(other=False), "needs a name"),
            (lambda s: s.keys.update(other="/front"), "looks like a page"),
            (lambda s: s.keys.update(share=1), "between 0 and 1"),
            (lambda s: s.keys.update(max_items=0), "greater than or equal"),
        ],
    )
    def test_what_cannot_be_is_refused(self, site, change, word):
        change(site)
        with pytest.raises(ValidationError, match=word):
            site.settings()

    def test_a_method_that_cannot_change_keys_is_refused_before_a_stream_is_made(self, site):
        site.method = {"name": "adaptive"}
        with pytest.raises(InvalidParameter, match="cannot go on with other keys"):
            site.open()
        assert site.store.streams() == []

    def test_one_word_will_do(self, site):
        site.keys = "discover"
        assert site.settings().keys.discover == timedelta(days=1)
        assert check(site.settings()) == []

    @pytest.mark.parametrize("change", [{"discover": "20m"}, {"max_items": 3}, {"share": "1/3"}])
    def test_what_belongs_to_the_promise_is_fixed(self, site, change):
        from hubbub.errors import GuaranteeChanged, SchemaMismatch

        site.open().close()
        site.keys |= change
        with pytest.raises((GuaranteeChanged, SchemaMismatch)):
            site.open()

    def test_the_two_streams_share_one_promise(self, site):
        site.open()
        grant = site.store.grant("site")
        assert grant.left == 0
        assert grant.slips_left == 0
        assert set(grant.shares) == {"site", "site.keys"}
