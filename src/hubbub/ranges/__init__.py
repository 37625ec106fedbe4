"""Range sums over a sliding window of a stream: any interval, free of charge, from what is released tick by tick."""

from hubbub.ranges.answer import PairAnswer, RangeAnswer
from hubbub.ranges.chooser import METHODS
from hubbub.ranges.fenwick import Fenwick
from hubbub.ranges.history import QueryHistory
from hubbub.ranges.old_streams import doubt
from hubbub.ranges.pair import PairWindow
from hubbub.ranges.ranges import Ranges
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.stream import RangeStream
from hubbub.ranges.toeplitz import Toeplitz
from hubbub.ranges.tree import Tree
from hubbub.ranges.window import RangeWindow

__all__ = [
    "METHODS",
    "Fenwick",
    "PairAnswer",
    "PairWindow",
    "QueryHistory",
    "RangeAnswer",
    "RangeStream",
    "RangeWindow",
    "Ranges",
    "Strategy",
    "Toeplitz",
    "Tree",
    "doubt",
]
