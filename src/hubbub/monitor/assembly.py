"""From a settings file to a running pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from hubbub.collect import Collector, Filters, Found, KeyDomain, Live, Replay, Resume, Source, SteadyClock
from hubbub.collect.calendar import Calendar, microseconds
from hubbub.collect.clock import Clock
from hubbub.collect.layout import PATHS, POSITIONS, Layout
from hubbub.collect.sources import AccessLog, DocumentFile, FollowedFile, JsonLines, LineFile, event_file
from hubbub.collect.sources import KafkaSource as Kafka
from hubbub.collect.sources import NatsSource as Nats
from hubbub.collect.sources.documents import UNFOLD, as_it_is
from hubbub.confidential import Counts, Gathered
from hubbub.errors import GuaranteeChanged, InvalidParameter, OlderLayout
from hubbub.itemlogs import ItemLog, TickLog
from hubbub.mechanism import OnlineMechanism, read_options
from hubbub.methods import make_mechanism, method_named, usual_method, usual_on_map
from hubbub.models import NavigationModel
from hubbub.monitor.counts_desk import CountsDesk
from hubbub.monitor.key_finding import (
    KeyFinding,
    KeyPlan,
    expect_offered,
    newest_lists,
    streams_with_found_keys,
)
from hubbub.monitor.paired import AnyCurator, RangePlan, Wanted, open_streams, streams_of
from hubbub.monitor.pins import attested, counting
from hubbub.monitor.pipeline import GRACE, Pipeline
from hubbub.monitor.settings import KeySettings, MonitorSettings
from hubbub.monitor.source_settings import (
    CountsSource,
    FileSource,
    HttpSource,
    KafkaSource,
    LogSource,
    NatsSource,
)
from hubbub.monitor.spool import Spool
from hubbub.privacy import Guarantee
from hubbub.released import Discovered, Domain, Release, Tick
from hubbub.store import Store
from hubbub.store.address import parse, shown
from hubbub.store.sqlite_file import SqliteFile
from hubbub.store.stream import keys_name

LIVE_LATENESS = timedelta(seconds=5)

Counted: TypeAlias = KeyDomain | Domain
"""Keys that somebody listed, with their paths, or a map."""


def open_pipeline(
    settings: MonitorSettings,
    store: Store,
    *,
    clock: Clock | None = None,
    on_release: Callable[[Release], None],
    say: Callable[[str], None],
) -> tuple[Pipeline | CountsDesk, Spool | None]:
    """Everything that can be wrong is found here, before the first tick; then the pipeline, where it left off.

    The second part is where events come in over HTTP, if they do.
    """
    now = clock or SteadyClock()
    domain, filters = _domain(settings), _filters(settings)
    time = None if isinstance(settings.source, CountsSource) else _time(settings)
    # What is refused must be refused before the stream is made: with it, its promise is fixed.
    if store.find(settings.stream.name) is None:
        _try_out(settings, domain)
    calendar = _calendar(settings, store, time, now())
    facts = _facts(settings, domain, filters, time, calendar.start)
    if time is None:
        curator = open_streams(store, _streams(settings, domain, facts))
        desk = CountsDesk(store, curator, calendar, clock=now, on_release=on_release, say=say)
        return desk, None
    when = replace(time, start=calendar.start) if isinstance(time, Live) else time

    finding: KeyFinding | None = None

    def collect(resume: Resume | None) -> Collector:
        return _collector(settings, domain, filters, when, now, resume, finding)

    collect(None)  # what it refuses must be refused before, too
    for remark in remarks(settings):
        say(remark)
    source = _source(settings, time)
    try:
        curator, finding = _open(settings, store, _streams(settings, domain, facts), say)
    except BaseException:
        source.close()
        raise
    pipeline = Pipeline(
        store, curator, source, collect, clock=now, on_release=on_release, say=say, grace=GRACE, finding=finding
    )
    return pipeline, source if isinstance(source, Spool) else None


def check(settings: MonitorSettings) -> list[str]:
    """What can be found wrong without reading a source or changing a store; raises what a start would raise.

    What is no mistake but not in place yet is told, a sentence each.
    """
    parse(settings.store.url)
    domain, filters = _domain(settings), _filters(settings)
    time = None if isinstance(settings.source, CountsSource) else _time(settings)
    if time is not None:
        _collector(settings, domain, filters, time, SteadyClock(), None)
    _try_out(settings, domain)
    return [*remarks(settings), *_compare(settings, domain, filters, time)]


def _compare(
    settings: MonitorSettings, domain: Counted, filters: Filters, time: Live | Replay | None
) -> list[str]:  # fmt: skip
    """Refuse what the store would refuse at a start, and leave the store as it is; a word where there is none yet."""
    url = parse(settings.store.url)
    if url.get_backend_name() == "sqlite":
        file = SqliteFile(url.database or "", read_only=True, patience=0)
        if not file.exists():
            file.require_folder()
            if settings.keys is not None:
                expect_offered(settings.keys.patterns, [], Discovered(), keys_name(settings.stream.name))
            return [f"There is no store {settings.store.url} yet. A start makes it, and with it fixes this promise."]
    try:
        store = Store.open(settings.store.url, create=False, read_only=True, untouched=True)
    except OlderLayout:
        return [
            f"The store {shown(url)} is empty, or an earlier version of Hubbub wrote it. A start brings it to this "
            "version; until then these settings cannot be compared with it."
        ]
    with store:
        begins = _calendar(settings, store, time, SteadyClock()()).start
        wanted = _streams(settings, domain, _facts(settings, domain, filters, time, begins))
        store.expect_streams([one.definition(store) for one in wanted])
        if settings.found_keys is not None and settings.found_keys.patterns:
            name = keys_name(settings.stream.name)
            lists = [] if store.find(name) is None else newest_lists(store, name, settings.found_keys.keep)
            now = Discovered() if store.find(settings.stream.name) is None else store.domain(settings.stream.name)
            expect_offered(settings.found_keys.patterns, lists, now, name)
    return []


def _try_out(settings: MonitorSettings, domain: Counted) -> None:
    """Release a tick of zeros into a store of its own: noise that nobody can draw is found by a first release only."""
    with TemporaryDirectory() as folder, Store.open(Path(folder) / "trial.db", marks=Path(folder)) as trial:
        wanted = _streams(settings, domain, {"attested": attested(settings)})
        trial.create_streams([one.definition(trial) for one in wanted])
        for one in wanted:
            with one.curate(trial) as curator:
                curator.release(_nothing(one.mechanism))


def _nothing(mechanism: OnlineMechanism[Any]) -> Gathered:
    if mechanism.traits.finds_keys:
        return TickLog(Tick(0), ItemLog.of([]))
    return Counts.of(mechanism.keys, Tick(0), [0] * len(mechanism.keys))


def remarks(settings: MonitorSettings) -> list[str]:
    """What the owner should know of the source before it is read; what can never be one is refused."""
    source = settings.source
    if isinstance(source, HttpSource) and source.spool.exists() and not source.spool.is_dir():
        raise InvalidParameter(
            f"The spool {source.spool} is a file.", "Name a folder in `spool`; it is made if absent."
        )
    if isinstance(source, LogSource | FileSource) and source.path.is_dir():
        raise InvalidParameter(f"{source.path} is a folder.", "Name the file itself in `path` of [source].")
    if isinstance(source, LogSource) and source.follow and not source.path.exists():
        return [f"There is no log {source.path} yet. It is waited for; is `path` in [source] right?"]
    return []


def stay_of(settings: MonitorSettings) -> bool | timedelta:
    """How long a visitor stays; where nobody said, no longer than a session lasts, and on a map not at all."""
    stay = settings.collect.stay
    if "stay" not in settings.collect.model_fields_set and settings.grid is not None:
        return False  # a vehicle is where it was seen, and counts in the ticks in which it was
    if "stay" not in settings.collect.model_fields_set and isinstance(stay, timedelta):
        return min(stay, settings.privacy.timeout)
    return stay


def _collector(
    settings: MonitorSettings,
    domain: Counted,
    filters: Filters,
    time: Live | Replay,
    clock: Clock,
    resume: Resume | None,
    finding: KeyFinding | None = None,
) -> Collector:
    return Collector(
        domain if settings.found_keys is None else _found(settings.found_keys, settings, time, clock, finding),
        settings.privacy.unit(),
        settings.stream.tick,
        time,
        identify=settings.collect.identify,
        stay=stay_of(settings),
        filters=filters,
        clock=clock,
        resume=resume,
    )


def _found(
    keys: KeySettings, settings: MonitorSettings, time: Live | Replay, clock: Clock, finding: KeyFinding | None
) -> Found:
    """Pages that lists find. Periods lie on round times: a day begins at midnight, in UTC."""
    assert keys.discover is not None
    periods = Calendar.around(time.start or clock(), keys.discover)
    timeout = microseconds(settings.privacy.timeout)
    if finding is None:
        return Found(periods, timeout, Discovered(other=keys.other or "other"))
    return Found(periods, timeout, finding.decide(), given=finding.given)


def _calendar(settings: MonitorSettings, store: Store, time: Live | Replay | None, now: datetime) -> Calendar:
    """When the stream's tick 0 began: fixed on its first day; for a new one, the next round time."""
    length = settings.stream.tick
    stream = store.find(settings.stream.name)
    if stream is not None:
        if "begins" not in stream.counting:
            raise GuaranteeChanged(
                f"The stream {stream.name!r} was made by an earlier version of Hubbub, which did not fix how its "
                "counts come about, and could count a session more often than it promised.",
                "Start a stream under another name; what both publish about somebody adds up. docs/store.md says more.",
            )
        if not isinstance(time, Replay):
            return Calendar(datetime.fromisoformat(stream.counting["begins"]), length)
    if isinstance(time, Replay):
        # What the settings say, also of a stream that exists: with another start its ticks would be other hours, and
        # hours that are out would be released again. So it is compared with what was fixed, and refused.
        return Calendar(time.start, length)
    return Calendar(Calendar.around(now, length).start + length, length)


def _facts(
    settings: MonitorSettings, domain: Counted, filters: Filters, time: Live | Replay | None, begins: datetime
) -> dict[str, Any]:
    """What is fixed with the streams."""
    return {
        "counting": counting(settings, domain, filters, time, begins, stay_of(settings)),
        "attested": attested(settings),
    }


def _streams(settings: MonitorSettings, domain: Counted, facts: Mapping[str, Any]) -> list[Wanted]:
    name, part, make = settings.stream.name, settings.part(), _maker(settings)
    finding = _finding_plan(settings)
    if finding is None:
        keys = domain.keys if isinstance(domain, KeyDomain) else domain
        return streams_of(name, keys, part, make, _plan(settings), facts)
    assert isinstance(domain, KeyDomain)
    return streams_with_found_keys(name, part, make, finding, domain.other or "other", facts)


def _open(
    settings: MonitorSettings, store: Store, wanted: Sequence[Wanted], say: Callable[[str], None]
) -> tuple[AnyCurator, KeyFinding | None]:
    """The curator of what is counted and, where keys are found, what finds them."""
    plan = _finding_plan(settings)
    if plan is None:
        return open_streams(store, wanted), None
    store.create_streams([one.definition(store) for one in wanted])
    counts, found = wanted
    with ExitStack() as opened:
        lists = opened.enter_context(found.curate(store))
        curator = opened.enter_context(counts.curate(store))
        finding = KeyFinding(store, curator, lists, plan, say)
        finding.decide()
        opened.pop_all()
    return curator, finding


def _finding_plan(settings: MonitorSettings) -> KeyPlan | None:
    keys = settings.found_keys
    if keys is None:
        return None
    return KeyPlan(Fraction(keys.share), keys.max_items, keys.keep, tuple(keys.patterns))


def _maker(settings: MonitorSettings) -> Callable[[Domain, Guarantee], OnlineMechanism]:
    model = settings.method.model
    known: dict[str, Any] = {} if model is None else {"model": NavigationModel.load(model)}

    def make(keys: Domain, guarantee: Guarantee) -> OnlineMechanism:
        many = max(len(keys), 2) if settings.found_keys else len(keys)  # what is found are keys, sooner or later
        usual = usual_on_map(keys) if settings.grid else usual_method(guarantee, many, modelled=model is not None)
        method = settings.method.name or usual
        options = read_options(method_named(method), settings.method.options)
        return make_mechanism(method, keys, guarantee, **options, **known)

    return make


def _plan(settings: MonitorSettings) -> RangePlan | None:
    ranges = settings.ranges
    if ranges is None:
        return None
    return RangePlan(ranges.ticks(settings.stream.tick), Fraction(ranges.share), ranges.method)


def _domain(settings: MonitorSettings) -> Counted:
    if settings.grid is not None:
        return settings.grid.domain()
    keys = settings.keys
    assert keys is not None
    other = keys.other or None
    if keys.file is not None:
        return KeyDomain.from_file(keys.file, other=other)
    return KeyDomain(keys.routes or keys.names or {}, other=other)  # of found keys: `other` alone


def _filters(settings: MonitorSettings) -> Filters:
    if not isinstance(settings.source, LogSource):
        return Filters.none()
    everything = Filters.none()
    usual = Filters()
    return Filters(
        everything.bots if settings.collect.bots else usual.bots,
        everything.assets if settings.collect.assets else usual.assets,
    )


def _time(settings: MonitorSettings) -> Live | Replay:
    """Live streams close ticks by the clock; a file that is read once has a span that somebody says aloud."""
    source, lateness = settings.source, settings.collect.lateness
    if isinstance(source, FileSource) or (isinstance(source, LogSource) and not source.follow):
        if source.start is None or source.end is None:
            raise InvalidParameter(
                "A file that is read once needs `start` and `end` in [source]: which span it covers is published.",
                "Write them as TOML times, e.g. start = 2026-01-01T00:00:00Z.",
            )
        return Replay(source.start, source.end, lateness)
    return Live(LIVE_LATENESS if lateness is None else lateness)


def _source(settings: MonitorSettings, time: Live | Replay) -> Source:
    source = settings.source
    layout = PATHS if settings.grid is None else POSITIONS
    lines = JsonLines(layout=layout)
    unfold = UNFOLD[getattr(source, "format", "lines")] if not isinstance(source, LogSource) else as_it_is
    if isinstance(source, LogSource):
        format = lines if source.format == "json" else AccessLog()
        return FollowedFile(source.path, format) if source.follow else LineFile(_there(source.path), format)
    if isinstance(source, FileSource):
        if source.format != "lines":
            return DocumentFile(_there(source.path), JsonLines(_names(source, layout), layout=layout), unfold)
        return event_file(_there(source.path), _names(source, layout), layout=layout)
    if isinstance(source, HttpSource):
        # After so long a batch that is sent again would come too late for every tick it could belong to.
        late = settings.stream.tick + (time.lateness or timedelta(0))
        ahead = time.max_ahead if isinstance(time, Live) else timedelta(0)
        return Spool(
            source.spool, repeatable=late + ahead, stream=settings.stream.name, lines=lines, unfold=unfold
        )  # fmt: skip
    if isinstance(source, NatsSource):
        return Nats(source.stream, servers=source.servers, subject=source.subject, lines=lines, unfold=unfold)
    assert isinstance(source, KafkaSource)
    return Kafka(source.topic, source.servers, lines=lines, unfold=unfold)


def _names(source: FileSource, layout: Layout) -> dict[str, str]:
    """Which column holds what. On a map only what somebody said: the usual names are found by themselves."""
    names = {"time": source.time, "person": source.person}
    if layout is PATHS:
        return names | {"path": source.key}
    names |= {"x": source.x, "y": source.y}
    return {name: column for name, column in names.items() if name in source.model_fields_set}


def _there(path: Path) -> Path:
    if not path.exists():
        raise InvalidParameter(f"There is no file {path}.", "Check `path` in [source]; it is read from this folder.")
    return path
