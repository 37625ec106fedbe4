"""Counts by context and item, down a hierarchy, a level a round, as deep as there is enough to count."""

from hubbub.gather.top_down.found import Found
from hubbub.gather.top_down.own_entries import Entry, OwnEntries
from hubbub.gather.top_down.round import Round
from hubbub.gather.top_down.top_down import TopDown
from hubbub.gather.top_down.tree import ContextTree

__all__ = ["ContextTree", "Entry", "Found", "OwnEntries", "Round", "TopDown"]
