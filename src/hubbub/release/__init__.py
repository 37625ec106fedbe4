"""Online mechanisms for vectors of counts."""

from hubbub.release.adaptive import Adaptive
from hubbub.release.ba import Ba
from hubbub.release.bd import Bd
from hubbub.release.dft import Dft
from hubbub.release.fast import TABLE_3_1, Fast
from hubbub.release.lpa import Lpa
from hubbub.release.mkf import Mkf
from hubbub.release.navigation import Navigation
from hubbub.release.pegasus import Pegasus
from hubbub.release.pid import PidSettings
from hubbub.release.releaser import Releaser
from hubbub.release.sample import Sample
from hubbub.release.ukf import Ukf

__all__ = [
    "TABLE_3_1",
    "Adaptive",
    "Ba",
    "Bd",
    "Dft",
    "Fast",
    "Lpa",
    "Mkf",
    "Navigation",
    "Pegasus",
    "PidSettings",
    "Releaser",
    "Sample",
    "Ukf",
]
