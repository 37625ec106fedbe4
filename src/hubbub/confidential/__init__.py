"""What has not been released: values that may not be seen, and the one place where they are wrapped."""

from hubbub.confidential.confidential import Confidential
from hubbub.confidential.counts import Counts
from hubbub.confidential.cut import Cut
from hubbub.confidential.gathered import Gathered
from hubbub.confidential.labels import named
from hubbub.confidential.sealed import Sealed

__all__ = ["Confidential", "Counts", "Cut", "Gathered", "Sealed", "named"]
