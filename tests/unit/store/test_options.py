"""A stream remembers the options it was made with, and is opened with no others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import GuaranteeChanged
from hubbub.models import NavigationModel
from hubbub.privacy import Guarantee, Session, User
from hubbub.ranges import RangeStream
from hubbub.release import Adaptive, Fast, Lpa, Navigation, Pegasus, Sample
from hubbub.released import Keys, Tick
from hubbub.store import Curator, Store

KEYS = Keys(["front", "news"])
USER = Guarantee.pure(User(horizon=100), 1)
SITE = NavigationModel.of(KEYS, [[0.5, 0.1], [0.3, 0.6]], [200.0, 40.0])
OTHER = NavigationModel.of(KEYS, [[0.4, 0.1], [0.3, 0.6]], [200.0, 40.0])


def one_tick(store: Store, mechanism: Lpa) -> None:
    with store.curate("site", mechanism) as curator:
        curator.release(Counts.of(KEYS, Tick(curator.next_tick), np.array([812, 240])))


@pytest.mark.parametrize(
    ("made", "same", "other", "words"),
    [
        (
            lambda: Fast(KEYS, USER, samples=10),
            lambda: Fast(KEYS, USER, samples=10),
            lambda: Fast(KEYS, USER, samples=50),
            "`samples` was 10 when the stream was made, now 50",
        ),
        (
            lambda: Fast(KEYS, USER),
            lambda: Fast(KEYS, USER, samples=15),
            lambda: Fast(KEYS, USER, filter="particle", samples=15),
            "`filter` was kalman when the stream was made, now particle",
        ),
        (
            lambda: Fast(KEYS, USER, filter="particle"),
            lambda: Fast(KEYS, USER, filter="particle", seed=0),
            lambda: Fast(KEYS, USER, filter="particle", seed=1),
            "`seed` was 0 when the stream was made, now 1",
        ),
        (
            lambda: Navigation(KEYS, USER, model=SITE),
            lambda: Navigation(KEYS, USER, model=SITE),
            lambda: Navigation(KEYS, USER, model=OTHER),
            "`model` was sha256 ",
        ),
        (
            lambda: Pegasus(KEYS, USER, threshold="1/2"),
            lambda: Pegasus(KEYS, USER, threshold=0.5),
            lambda: Pegasus(KEYS, USER),
            "`threshold` was 1/2 when the stream was made, now 2",
        ),
        (
            lambda: RangeStream(KEYS, USER, window=64),
            lambda: RangeStream(KEYS, USER, window=64, method="auto"),
            lambda: RangeStream(KEYS, USER, window=64, method="two-level"),
            "`method` was auto when the stream was made, now two-level",
        ),
    ],
)
def test_other_options_under_the_same_name_are_refused(
    store: Store, made: Callable[[], Lpa], same: Callable[[], Lpa], other: Callable[[], Lpa], words: str
) -> None:
    one_tick(store, made())
    with pytest.raises(GuaranteeChanged) as refused:
        store.curate("site", other())
    assert words in refused.value.message
    assert "under another name" in refused.value.hint
    with pytest.raises(GuaranteeChanged):
        Curator(store.ledger("site"), other())
    one_tick(store, same())
    assert store.stream("site").mechanism == made().options
    assert store.verify("site").ok


def unrecorded(store: Store, mechanism: Lpa, facts: dict[str, object] | None = None) -> None:
    """A stream as an earlier version made it."""
    store.create_stream("site", mechanism.keys, mechanism.guarantee, mechanism.name, facts)
    assert store.stream("site").mechanism == {}


def test_a_stream_without_recorded_options_goes_on_with_the_defaults(path: Path) -> None:
    with Store.open(path) as store:
        unrecorded(store, Fast(KEYS, USER))
    with Store.open(path) as store:
        one_tick(store, Fast(KEYS, USER))
        one_tick(store, Fast(KEYS, USER, samples=15))
        with pytest.raises(GuaranteeChanged) as refused:
            store.curate("site", Fast(KEYS, USER, samples=50, filter="particle"))
        said = refused.value.message
        assert "`samples` was not recorded when the stream was made" in said
        assert "go on with the default alone, 15; now it is 50" in said
        assert 'go on with the default alone, "kalman"; now it is "particle"' in said
        assert store.stream("site").options == {}


def test_what_must_be_given_is_known_to_the_state(store: Store) -> None:
    unrecorded(store, RangeStream(KEYS, USER, window=64))
    one_tick(store, RangeStream(KEYS, USER, window=64))
    with pytest.raises(GuaranteeChanged, match="`method` was not recorded"):
        store.curate("site", RangeStream(KEYS, USER, window=64, method="none"))


def test_a_model_that_the_owner_vouched_for_by_its_hash_goes_on(store: Store) -> None:
    facts = {"attested": {"model": "The model was learned from public data (sha256 abc)."}}
    unrecorded(store, Navigation(KEYS, USER), facts)
    with store.curate("site", Navigation(KEYS, USER, model=SITE), facts) as curator:
        assert curator.next_tick == 0


def test_a_model_that_nobody_named_is_refused(store: Store) -> None:
    unrecorded(store, Navigation(KEYS, USER))
    with pytest.raises(GuaranteeChanged, match="`model` was not recorded"):
        store.curate("site", Navigation(KEYS, USER, model=SITE))


def test_an_option_that_is_younger_than_its_stream_had_its_default(store: Store) -> None:
    fast = Fast(KEYS, USER, samples=20)
    recorded = {name: value for name, value in fast.options.items() if name != "seed"}
    store.create_stream("site", KEYS, USER, "fast", {"mechanism": recorded})
    one_tick(store, Fast(KEYS, USER, samples=20))
    with pytest.raises(GuaranteeChanged, match="`samples` was 20"):
        store.curate("site", Fast(KEYS, USER))
    with pytest.raises(GuaranteeChanged, match="`seed` was not recorded"):
        store.curate("site", Fast(KEYS, USER, samples=20, seed=3))


def test_methods_without_options_record_that_they_have_none(store: Store) -> None:
    one_tick(store, Lpa(KEYS, Guarantee.pure(Session(max_ticks=3), 1)))
    assert store.stream("site").options == {"mechanism": {}}


@pytest.mark.parametrize("periods", [None, (7.0,), (7, 365.25)])
def test_rhythms_are_recorded_as_they_are(store: Store, periods: tuple[float, ...] | None) -> None:
    one_tick(store, Adaptive(KEYS, USER, periods=periods))
    one_tick(store, Adaptive(KEYS, USER, periods=periods))
    with pytest.raises(GuaranteeChanged, match="`periods`"):
        store.curate("site", Adaptive(KEYS, USER, periods=(12,)))


def test_another_method_is_still_another_method(store: Store) -> None:
    one_tick(store, Sample(KEYS, USER))
    with pytest.raises(GuaranteeChanged, match="another method"):
        store.curate("site", Fast(KEYS, USER))
