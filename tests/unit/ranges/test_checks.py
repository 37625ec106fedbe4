"""The promises of every releaser, kept by range streams as well."""

import pytest

from hubbub.checks import CHECKS, CheckFailed, Subject, check_releaser
from hubbub.ranges import RangeStream, Tree


def factory(keys, guarantee, *, source=None):
    return RangeStream(keys, guarantee, window=64, strategy=Tree((8,)), source=source)


SUBJECT = Subject(factory, coverage_runs=300)
ELSEWHERE = {
    "guarantee_survives_an_audit",  # tests/statistical/ranges/test_audit.py, on more strategies
    "neighbours_look_the_same",  # tests/property/ranges/test_ranges_replay.py, which moves the noise of whole trees
    "restore_gives_the_same_future",  # see below
}


@pytest.mark.parametrize("name", sorted(set(CHECKS) - ELSEWHERE))
def test_a_range_stream_keeps_it(name):
    check_releaser(SUBJECT, only=[name])


def test_one_promise_is_not_kept_and_must_not_be():
    """An unbroken stream goes on in its segment, a restored one begins another: otherwise the noise of the open segment
    would have to be in the snapshot, and with it the counts (docs/proofs/ranges.md)."""
    with pytest.raises(CheckFailed, match="tick 8 is released differently"):
        check_releaser(SUBJECT, only=["restore_gives_the_same_future"])
