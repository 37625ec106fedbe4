"""A deterministic test of privacy: the same noisy values for two neighbours, and everything else must be the same."""

from hubbub.checks.replay.audit import ReplayFinding, replay_method
from hubbub.checks.replay.ranges import RangePair, draw_ranges, replay_ranges
from hubbub.checks.replay.releaser import replay_releaser
from hubbub.checks.replay.replayed import Replayed
from hubbub.checks.replay.script import CountPair, draw_pair
from hubbub.checks.replay.tape import Tape
from hubbub.checks.replay.whole_series import replay_series

__all__ = [
    "CountPair",
    "RangePair",
    "ReplayFinding",
    "Replayed",
    "Tape",
    "draw_pair",
    "draw_ranges",
    "replay_method",
    "replay_ranges",
    "replay_releaser",
    "replay_series",
]
