"""On the person's side: streams of contexts that never give the sensitive ones away."""

from hubbub.contexts.adversary import SUPPRESSED, Adversary, Belief
from hubbub.contexts.again import Hindsight, Replanned, hindsight, plan_again
from hubbub.contexts.ceiling import ceiling
from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy, MaskSensitive
from hubbub.contexts.compiled import Compiled
from hubbub.contexts.day import Day
from hubbub.contexts.hybrid import Hybrid
from hubbub.contexts.optimum import best_possible
from hubbub.contexts.policy import Policy
from hubbub.contexts.probabilistic import Probabilistic
from hubbub.contexts.remembering import Remembering
from hubbub.contexts.secret import Secret
from hubbub.contexts.several import ForSeveral
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
    "ForSeveral",
    "Hindsight",
    "Hybrid",
    "MaskSensitive",
    "Policy",
    "Probabilistic",
    "Remembering",
    "Replanned",
    "Secret",
    "Simulatable",
    "best_possible",
    "ceiling",
    "hindsight",
    "largest_rise",
    "plan_again",
]
