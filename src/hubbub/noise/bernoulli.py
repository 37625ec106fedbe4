"""A coin that shows heads with probability exp(-x), exactly."""

from __future__ import annotations

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, exact
from hubbub.noise.digits import Uniform, exp_bounds
from hubbub.noise.source import ByteSource
from hubbub.noise.system import DEFAULT


def bernoulli_exp(x: Exact, source: ByteSource | None = None) -> bool:
    """True with probability exp(-x), for any rational x >= 0.

    Digits of a uniform number are compared with digits of exp(-x) until they differ.

    >>> bernoulli_exp(0)
    True
    """
    rate = exact(x, "x")
    if rate < 0:
        raise InvalidParameter(f"`x` must be at least 0; got {x}.", "exp(-x) is a probability only then.")
    uniform = Uniform(DEFAULT if source is None else source)
    uniform.extend()
    return uniform.below(lambda bits: exp_bounds(rate, bits))
