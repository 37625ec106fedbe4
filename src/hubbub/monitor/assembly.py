"""From a settings file to a running pipeline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

from hubbub.collect import Collector, Filters, KeyDomain, Live, Replay, Source, SteadyClock
from hubbub.collect.clock import Clock
from hubbub.collect.sources import AccessLog, FollowedFile, JsonLines, LineFile, event_file
from hubbub.collect.sources import KafkaSource as Kafka
from hubbub.collect.sources import NatsSource as Nats
from hubbub.errors import InvalidParameter
from hubbub.models import NavigationModel
from hubbub.monitor.counts_desk import CountsDesk
from hubbub.monitor.paired import AnyCurator, RangePlan, open_curator
from hubbub.monitor.pipeline import Pipeline, where_to_resume
from hubbub.monitor.settings import (
    CountsSource,
    FileSource,
    HttpSource,
    KafkaSource,
    LogSource,
    MonitorSettings,
    NatsSource,
)
from hubbub.monitor.spool import Spool
from hubbub.privacy import Guarantee
from hubbub.release import Releaser, make_releaser, usual_method
from hubbub.released import Keys, Release
from hubbub.store import Store

LIVE_LATENESS = timedelta(seconds=5)


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
    domain = _domain(settings)
    if isinstance(settings.source, CountsSource):
        curator = _curator(settings, store, domain.keys)
        return CountsDesk(store, curator, on_release=on_release, say=say), None
    time = _time(settings)
    source = _source(settings, now)
    curator = _curator(settings, store, domain.keys)
    resume = where_to_resume(store, curator, source, now)
    collector = Collector(
        domain,
        settings.privacy.unit(),
        settings.stream.tick,
        time,
        identify=settings.collect.identify,
        stay=settings.collect.stay,
        filters=_filters(settings),
        clock=now,
        resume=resume,
    )
    if resume is None:
        # The calendar must outlive a crash before the first tick: tick 0 is what it was.
        store.keep_place(settings.stream.name, collector.resume_point(-1).to_dict())
    pipeline = Pipeline(store, curator, source, collector, clock=now, on_release=on_release, say=say)
    return pipeline, source if isinstance(source, Spool) else None


def _curator(settings: MonitorSettings, store: Store, keys: Keys) -> AnyCurator:
    model = settings.method.model
    known = {} if model is None else {"model": NavigationModel.load(model)}

    def make(keys: Keys, guarantee: Guarantee) -> Releaser:
        method = settings.method.name or usual_method(guarantee, len(keys), modelled=model is not None)
        return make_releaser(method, keys, guarantee, **known)

    ranges = settings.ranges
    plan = None
    if ranges is not None:
        plan = RangePlan(ranges.ticks(settings.stream.tick), Fraction(str(ranges.share)), ranges.method)
    return open_curator(store, settings.stream.name, keys, settings.privacy.guarantee(), make, plan)


def _domain(settings: MonitorSettings) -> KeyDomain:
    keys = settings.keys
    other = keys.other or None
    if keys.file is not None:
        return KeyDomain.from_file(keys.file, other=other)
    return KeyDomain(keys.routes or keys.names or [], other=other)


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


def _source(settings: MonitorSettings, clock: Clock) -> Source:
    source = settings.source
    if isinstance(source, LogSource):
        lines = JsonLines() if source.format == "json" else AccessLog()
        return FollowedFile(source.path, lines, clock=clock) if source.follow else LineFile(_there(source.path), lines)
    if isinstance(source, FileSource):
        return event_file(_there(source.path), {"time": source.time, "person": source.person, "path": source.key})
    if isinstance(source, HttpSource):
        return Spool(source.spool, clock)
    if isinstance(source, NatsSource):
        return Nats(source.stream, servers=source.servers, subject=source.subject, clock=clock)
    assert isinstance(source, KafkaSource)
    return Kafka(source.topic, source.servers, clock=clock)


def _there(path: Path) -> Path:
    if not path.exists():
        raise InvalidParameter(f"There is no file {path}.", "Check `path` in [source]; it is read from this folder.")
    return path
