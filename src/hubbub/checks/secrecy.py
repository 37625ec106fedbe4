"""Confidential values appear nowhere: not printed, logged, pickled, stored, nor in errors."""

from __future__ import annotations

import contextlib
import io
import logging
import pickle
import struct
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from hubbub.checks.failure import expect
from hubbub.checks.subject import KEYS, Subject, counts
from hubbub.confidential import Counts
from hubbub.errors import HubbubError
from hubbub.mechanism import OnlineMechanism
from hubbub.noise import simulation
from hubbub.privacy import Guarantee, Session
from hubbub.released import Keys, Tick

PLANTED = (777_000_111, 777_000_222, 777_000_333)
_SEEDS = range(5)
_QUIET = Guarantee.pure(Session(max_ticks=20), "1/100")


def confidential_values_stay_inside(subject: Subject) -> None:
    """Recognisable counts are planted, and everything the releaser lets out is searched for them.

    Noise may give back a planted number by chance (about one run in five hundred), so a place is reported only if it
    shows one for each of five seeds.
    """
    places: set[str] | None = None
    for seed in _SEEDS:
        seen = {place for place, text in _let_out(subject, seed) if shows(text)}
        places = seen if places is None else places & seen
    expect(not places, f"A confidential count was found in: {', '.join(sorted(places or ()))}.")


def _let_out(subject: Subject, seed: int) -> Iterator[tuple[str, str | bytes]]:
    """(where, what) of everything that leaves a releaser that was fed the planted counts."""
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    printed = io.StringIO()
    try:
        with (
            simulation(seed) as source,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(record=True) as warned,
        ):
            warnings.simplefilter("always")
            releaser = subject.make(_QUIET, source)
            sealed = [subject.counts(tick, PLANTED) for tick in range(3)]
            releases = [releaser.release(c) for c in sealed]
            yield "repr of the counts", f"{sealed!r} {sealed[0]}"
            yield "repr of a release", "".join(repr(release.to_dict()) for release in releases)
            yield "str of a release", "".join(map(str, releases))
            yield "repr of the releaser", f"{releaser!r} {releaser}"
            snapshot = releaser.snapshot()
            yield "the snapshot's facts", f"{snapshot!r}"
            yield "the snapshot's bytes", snapshot.to_bytes()
            yield "the pickled releaser", _pickled(releaser)
            yield from _refusals(releaser)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    yield "the log", logged.getvalue()
    yield "standard output or error", printed.getvalue()
    yield "warnings", " ".join(str(w.message) for w in warned)


def _pickled(releaser: OnlineMechanism) -> bytes:
    try:
        return pickle.dumps(releaser)
    except Exception as refused:  # a releaser need not be picklable; how it refuses is searched too
        return str(refused).encode()


def _refusals(releaser: OnlineMechanism) -> Iterator[tuple[str, str]]:
    others = Keys(["x", "y", "z"])
    attempts: dict[str, Callable[[], Counts]] = {
        "a tick twice": lambda: counts(2, PLANTED, releaser.keys),
        "a tick far ahead": lambda: counts(2**40, PLANTED, releaser.keys),
        "other keys": lambda: counts(9, PLANTED, others),
        "a fraction": lambda: counts(9, [x + 0.5 for x in PLANTED], releaser.keys),  # type: ignore[misc]
        "a negative count": lambda: counts(9, [-x for x in PLANTED], releaser.keys),
        "too many counts": lambda: counts(9, [*PLANTED, *PLANTED], releaser.keys),
        "a value that is no number": lambda: counts(9, [str(x) for x in PLANTED], releaser.keys),  # type: ignore[misc]
    }
    for what, make in attempts.items():
        try:
            releaser.release(make())
        except HubbubError as refused:
            chain: BaseException | None = refused
            while chain is not None:
                yield f"the error for {what}", f"{chain} {chain.args} {getattr(chain, 'hint', '')}"
                chain = chain.__cause__ or chain.__context__
    with contextlib.suppress(HubbubError):
        releaser.predict(Tick(0))


def shows(text: str | bytes) -> bool:
    data = text.encode() if isinstance(text, str) else text
    for value in PLANTED:
        plain = (str(value).encode(), f"{value:,}".encode(), str(value).replace("_", "").encode())
        binary = (
            struct.pack("<q", value),
            struct.pack(">q", value),
            np.float64(value).tobytes(),
            struct.pack("<i", value),
        )
        if any(form in data for form in (*plain, *(binary if isinstance(text, bytes) else ()))):
            return True
    return False


assert len(PLANTED) == len(KEYS)
