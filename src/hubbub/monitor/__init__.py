"""What joins the rooms: events in, releases out, every tick in the ledger."""

from hubbub.monitor.monitor import Monitor
from hubbub.monitor.settings import MonitorSettings

__all__ = ["Monitor", "MonitorSettings"]
