"""What joins the rooms: events in, releases out, every tick in the ledger."""

__all__: list[str] = []
