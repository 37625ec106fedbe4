"""What has not been released: values that may not be seen, and the one place where they are wrapped."""

from hubbub.confidential.confidential import Confidential
from hubbub.confidential.counts import Counts

__all__ = ["Confidential", "Counts"]
