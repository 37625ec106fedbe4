"""What spends budget: measuring sees counts and draws, estimating sees noisy values, and one base joins the two."""

from hubbub.mechanism.estimate import Estimate
from hubbub.mechanism.measurement import Measurement
from hubbub.mechanism.mechanism import Mechanism
from hubbub.mechanism.offline import OfflineMechanism
from hubbub.mechanism.online import MOST_MISSING, OnlineMechanism
from hubbub.mechanism.option import REQUIRED, Option, options_of, read_options
from hubbub.mechanism.traits import Traits

__all__ = [
    "MOST_MISSING",
    "REQUIRED",
    "Estimate",
    "Measurement",
    "Mechanism",
    "OfflineMechanism",
    "OnlineMechanism",
    "Option",
    "Traits",
    "options_of",
    "read_options",
]
