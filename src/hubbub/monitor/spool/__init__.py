"""Events that were sent to us, kept on disk from the acknowledgement until they are settled."""

from hubbub.monitor.spool.spool import Spool

__all__ = ["Spool"]
