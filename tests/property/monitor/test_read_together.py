"""Many batches read in one go get the counts that each would get alone, and give the same events in the same order."""

import json

from hypothesis import given
from hypothesis import strategies as st

from hubbub.collect.sources import JsonLines
from hubbub.monitor.spool.together import read_together

GOOD = st.builds(
    lambda path: json.dumps({"time": "2026-01-01T00:00:00Z", "session": "a", "key": path}).encode(),
    st.text(max_size=8),
)
BAD = st.sampled_from([b"{", b"null", b"[]", b"\xff\xfe", b"{}", b'{"time": "noon", "session": "a", "key": "/"}', b"x"])
BLANK = st.sampled_from([b"", b" ", b"\t\r", b"\xc2\xa0", b"\xc2\x85", b"\x1c", b"\x0b", b"\xe2\x80\xa8", b"\xe2"])
BODY = st.lists(st.one_of(GOOD, BAD, BLANK), max_size=6).map(b"\n".join)


@given(st.lists(BODY, min_size=1, max_size=8))
def test_together_is_as_apart(bodies):
    lines = JsonLines()
    events, counted = read_together(lines, bodies)
    apart = [lines.parse(body) for body in bodies]
    assert counted == [(found.height, malformed) for found, malformed in apart]
    assert events["path"].to_list() == [path for found, _ in apart for path in found["path"].to_list()]
    assert events["time"].to_list() == [time for found, _ in apart for time in found["time"].to_list()]
