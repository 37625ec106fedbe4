"""What joins the rooms: events in, releases out, every tick in the ledger."""

from hubbub.monitor.lists import Lists, read_lists
from hubbub.monitor.monitor import Monitor

__all__ = ["Lists", "Monitor", "read_lists"]
