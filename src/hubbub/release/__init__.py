"""Online mechanisms for vectors of counts."""

from hubbub.release.lpa import Lpa
from hubbub.release.methods import METHODS, make_releaser
from hubbub.release.mkf import Mkf
from hubbub.release.navigation import Navigation
from hubbub.release.releaser import Estimate, Releaser
from hubbub.release.ukf import Ukf

__all__ = ["METHODS", "Estimate", "Lpa", "Mkf", "Navigation", "Releaser", "Ukf", "make_releaser"]
