"""Batches that arrive together: one thread, one write, and an answer for each."""

import threading

from tests.support.spools import body, opened, paths

from hubbub.collect.sources.lines import MAX_LINE
from hubbub.errors import InvalidInput, Overloaded
from hubbub.monitor.spool.receipt import Receipt
from hubbub.server.errors import KeyReused


def test_each_has_its_own_answer(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/old"), "old", "ann")
        found = spool.push_many(
            "s",
            [
                (body("/a", "/b") + b"\nnoise", None, "ann"),
                (body("/old"), "old", "ann"),
                (body("/old"), "old", "bob"),
                (body("/other"), "old", "ann"),
                (body("/new"), "new", "ann"),
                (body("/new"), "new", "ann"),
                (b"", None, "ann"),
            ],
        )
        assert [(one.accepted, one.malformed, one.duplicate) for one in found if isinstance(one, Receipt)] == [
            (2, 1, False), (1, 0, True), (1, 0, False), (1, 0, False), (1, 0, True), (0, 0, False),
        ]  # fmt: skip
        assert isinstance(found[3], KeyReused)
        assert paths(spool) == ["/old", "/a", "/b", "/old", "/new"]
        assert spool.push_many("s", []) == []
    with opened(tmp_path) as spool:
        assert paths(spool) == ["/old", "/a", "/b", "/old", "/new"], "and is on disk"


def test_a_bad_key_fails_for_its_own_sender_alone(tmp_path, monkeypatch):
    with opened(tmp_path) as spool:

        def faulty(lines):
            raise RuntimeError("a fault in a library")

        large = b" " * 70_000
        with monkeypatch.context() as library:
            library.setattr(spool._lines, "parse", faulty)
            refused = spool.push_many("s", [(body("/b"), "x" * 201, "bob"), (large, None, "eve")])
        found = spool.push_many("s", [(body("/a"), "k", "ann"), (body("/b"), "x" * 201, "bob"), (body("/c"), None, "")])
        assert [type(one) for one in refused] == [InvalidInput, RuntimeError]
        assert [type(one) for one in found] == [Receipt, InvalidInput, Receipt]
        assert paths(spool) == ["/a", "/c"]


def test_what_does_not_fit_is_refused_by_itself(tmp_path):
    with opened(tmp_path, max_bytes=3000) as spool:
        small, large = body("/a"), body("/b") + b"\n" + b" " * 4000
        found = spool.push_many("s", [(small, None, "ann"), (large, None, "ann"), (small, None, "ann")])
        assert [type(one) for one in found] == [Receipt, Overloaded, Receipt]


def test_both_ways_in_at_once(tmp_path):
    with opened(tmp_path) as spool:

        def one_by_one(name):
            for number in range(15):
                spool.push("s", body(f"/{name}/{number}"), None, name)

        def together(name):
            for number in range(15):
                spool.push_many("s", [(body(f"/{name}/{number}/{i}"), None, name) for i in range(4)])

        ways = [(way, f"{way.__name__}{i}") for way in (one_by_one, together) for i in "ab"]
        threads = [threading.Thread(target=way, args=[name]) for way, name in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = paths(spool)
    assert len(found) == len(set(found)) == 2 * 15 + 2 * 60


def test_a_line_that_is_too_long_is_skipped_and_counted_whichever_way_it_comes(tmp_path):
    """One rule for all sources: a file skips a line above 64 kB, so a body does too."""
    longest = body("/" + "x" * (MAX_LINE - len(body("/"))))
    longer = body("/" + "y" * (MAX_LINE - len(body("/")) + 1))
    assert (len(longest), len(longer)) == (MAX_LINE, MAX_LINE + 1)
    with opened(tmp_path) as spool:
        one = spool.push("s", b"\n".join([body("/a"), longer, longest, longer]))
        two, three = spool.push_many("s", [(longer, None, "ann"), (body("/b") + b"\n" + longer + b"\n", None, "bob")])
        assert [(each.accepted, each.malformed) for each in (one, two, three)] == [(2, 2), (0, 1), (1, 1)]
        found = ["/a", "/" + "x" * (MAX_LINE - len(body("/"))), "/b"]
        assert paths(spool) == found
    with opened(tmp_path) as spool:
        assert paths(spool) == found, "and the same is read again"
