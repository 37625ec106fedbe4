"""Online mechanisms for vectors of counts."""

from hubbub.release.lpa import Lpa
from hubbub.release.releaser import Estimate, Releaser

__all__ = ["Estimate", "Lpa", "Releaser"]
