"""kill -9, cut files and full disks: a decision is never taken twice, and what is in doubt is silent."""

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from hubbub.contexts import Compiled, ContextChain, Day, Remembering, Secret
from hubbub.contexts.coins import CoinPolicy
from hubbub.errors import HubbubError

CHILD = Path(__file__).with_name("day_child.py")
TICKS = 4000
HEAD = len("hubbub-context-day 1 ") + 64 + 1


@pytest.fixture
def policy(tmp_path):
    """Each tick shown with chance 1/2: two runs that decide anew agree on 64 ticks once in 10^19."""
    chain = ContextChain.of_weights(
        ("s", "x"), np.array([0.0, 1.0]), np.tile([[0.0, 0.0], [0.0, 1.0]], (TICKS - 1, 1, 1))
    )
    path = tmp_path / "policy.bin"
    CoinPolicy(chain, [Secret("s")], "0.1", np.ones((TICKS, 2), dtype=np.int64), 2).compile().save(path)
    return path


def killed(policy, day, lines):
    """What a process printed before it was killed."""
    with subprocess.Popen([sys.executable, CHILD, policy, day], stdout=subprocess.PIPE, text=True) as child:
        seen = [child.stdout.readline() for _ in range(lines)]
        child.kill()
        rest = child.stdout.read()
    found = seen + [line + "\n" for line in rest.split("\n")[:-1]]  # a last line without its end was cut
    return [(int(tick), None if shown == "None" else shown) for tick, shown in (line.split() for line in found)]


def test_what_was_shown_before_a_kill_stays_decided(policy, tmp_path):
    random, day = Random(1), tmp_path / "monday.day"
    shown = []
    for _ in range(8):
        shown += killed(policy, day, random.randrange(1, 90))
    with Day(Compiled.load(policy), day) as again:
        outputs = again.outputs
    assert [tick for tick, _ in shown] == sorted({tick for tick, _ in shown}), "a tick was decided twice"
    assert all(outputs[tick] == context for tick, context in shown)
    assert {context for _, context in shown} == {None, "x"}


def test_without_a_file_a_restart_decides_anew(policy):
    """The control: the same kills, nothing kept."""
    first, second = killed(policy, "-", 64), killed(policy, "-", 64)
    assert first[:64] != second[:64]


def test_a_full_disk_shows_nothing(policy, tmp_path):
    """At every size from an empty file on: what was printed is in the file, and then nothing is shown."""
    for size in range(0, 140, 9):
        day = tmp_path / f"{size}.day"
        done = subprocess.run(
            [sys.executable, CHILD, policy, day, str(size)], capture_output=True, text=True, check=False
        )
        lines = done.stdout.split("\n")[:-1]
        assert ("StoreUnavailable" in done.stderr) == (size < HEAD), done.stderr
        assert not lines or lines.pop() == "refused"
        with Day(Compiled.load(policy), day) as again:
            assert [str(shown) for shown in again.outputs][: len(lines)] == [line.split()[1] for line in lines]


def test_a_file_that_is_cut_anywhere_is_silent_or_goes_on(tmp_path):
    """A policy of pieces: what was decided in the whole lines stands, a cut line silences the rest of the day."""
    chain = ContextChain.fit(["abcabc"] * 3 + ["acbacb"] * 3 + ["sbcabc"], smoothing=0)
    policy = Remembering.plan(chain, [Secret("s")], "0.3")
    whole = tmp_path / "whole.day"
    with policy.start_day(whole) as day:
        told = [day.offer(tick, context) for tick, context in enumerate("abcabc"[:4])]
    content = whole.read_bytes()
    head = content.index(b"\n") + 1
    for length in range(head, len(content)):
        cut = tmp_path / f"{length}.day"
        cut.write_bytes(content[:length])
        lines = content[head:length].count(b"\n")
        with policy.start_day(cut) as again:
            torn = not content[:length].endswith(b"\n")
            assert again.outputs == told[:lines] + [None] * torn
            rest = [again.offer(tick, "abcabc"[tick]) for tick in range(lines + torn, 6)]
            assert not torn or rest == [None] * len(rest)
        with policy.start_day(cut) as later:
            assert later.outputs == told[:lines] + [None] * torn + rest
    for length in range(1, head):
        cut = tmp_path / f"head {length}.day"
        cut.write_bytes(content[:length])
        with pytest.raises(HubbubError, match="cut short in its first line"):
            policy.start_day(cut)


def test_a_clock_that_jumps_ahead_silences_pieces_also_after_a_restart(tmp_path):
    chain = ContextChain.fit(["abcabc", "acbacb"], smoothing=0)
    policy = Remembering.plan(chain, [Secret("c", first=5, last=5)], "0.9")
    with policy.start_day(tmp_path / "a.day") as day:
        first = day.offer(0, "a")
        assert [day.offer(tick, "abcabc"[tick]) for tick in (2, 3)] == [None, None]
        with pytest.raises(HubbubError, match="not after tick 3"):
            day.offer(1, "b")
    with policy.start_day(tmp_path / "a.day") as day:
        assert [day.offer(tick, "abcabc"[tick]) for tick in (4, 5)] == [None, None]
        assert day.outputs == [first] + [None] * 5
    assert first == "a"
