"""Online mechanisms for vectors of counts."""

from hubbub.release.lpa import Lpa
from hubbub.release.methods import METHODS, make_releaser
from hubbub.release.releaser import Estimate, Releaser

__all__ = ["METHODS", "Estimate", "Lpa", "Releaser", "make_releaser"]
