"""What joins the rooms: events in, releases out, every tick in the ledger."""

from hubbub.monitor.monitor import Monitor

__all__ = ["Monitor"]
