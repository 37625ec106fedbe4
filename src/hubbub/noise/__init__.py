"""Exact integer noise from cryptographic bytes. The only room that draws randomness for privacy."""

from hubbub.noise.bernoulli import bernoulli_exp
from hubbub.noise.distribution import IntegerNoise
from hubbub.noise.gaussian import DiscreteGaussian
from hubbub.noise.laplace import DiscreteLaplace
from hubbub.noise.lottery import Lottery
from hubbub.noise.polya import PolyaShare
from hubbub.noise.simulation import SeededSource, simulation
from hubbub.noise.source import ByteSource, require_secure
from hubbub.noise.system import SystemSource

__all__ = [
    "ByteSource",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "IntegerNoise",
    "Lottery",
    "PolyaShare",
    "SeededSource",
    "SystemSource",
    "bernoulli_exp",
    "require_secure",
    "simulation",
]
