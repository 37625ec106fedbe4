"""Statistics without a trusted server: two servers that add up what they cannot see."""

from hubbub.gather.client import Client
from hubbub.gather.helper import Helper
from hubbub.gather.homomorphic import HomomorphicScheme
from hubbub.gather.leader import Leader
from hubbub.gather.noise import GaussianShares, LaplaceShares, NoisePlan, ServersGaussian, ServersLaplace
from hubbub.gather.opened import Opened
from hubbub.gather.prio3_scheme import Prio3Scheme
from hubbub.gather.query import Query
from hubbub.gather.scheme import Scheme
from hubbub.gather.sealing import SealKey
from hubbub.gather.top_down import Entry, Found, OwnEntries, Round, TopDown

__all__ = [
    "Client",
    "Entry",
    "Found",
    "GaussianShares",
    "Helper",
    "HomomorphicScheme",
    "LaplaceShares",
    "Leader",
    "NoisePlan",
    "Opened",
    "OwnEntries",
    "Prio3Scheme",
    "Query",
    "Round",
    "Scheme",
    "SealKey",
    "ServersGaussian",
    "ServersLaplace",
    "TopDown",
]
