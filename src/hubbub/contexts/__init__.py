"""On the person's side: streams of contexts that never give the sensitive ones away."""

from hubbub.contexts.adversary import SUPPRESSED, Adversary, Belief
from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy, MaskSensitive
from hubbub.contexts.compiled import Compiled
from hubbub.contexts.day import Day
from hubbub.contexts.hybrid import Hybrid
from hubbub.contexts.optimum import best_possible
from hubbub.contexts.policy import Policy
from hubbub.contexts.probabilistic import Probabilistic
from hubbub.contexts.secret import Secret
from hubbub.contexts.simulatable import Simulatable
from hubbub.contexts.worst import largest_rise

__all__ = [
    "SUPPRESSED",
    "Adversary",
    "Belief",
    "CoinPolicy",
    "Compiled",
    "ContextChain",
    "Day",
    "Hybrid",
    "MaskSensitive",
    "Policy",
    "Probabilistic",
    "Secret",
    "Simulatable",
    "best_possible",
    "largest_rise",
]
